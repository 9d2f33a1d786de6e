//! Inputs to a summary: progress while it is read, and what is wrong afterwards.

use report::visible;
use study::log::Summary;
use study::log::anonymous::Words;
use study::log::limits::RECORD_BYTES_MAX;
use study::log::source::{InputReport, Progress as LogProgress, read_logs};

use super::inputs::Opened;
use super::options::Options;
use crate::output::print_error;
use crate::progress::{Progress, Reading};

/// Unknown lines that an error quotes.
const QUOTED_MAX: usize = 3;

/// Characters of a quoted line.
const QUOTED_CHARS: usize = 100;

/// What the logs say together, and how each was read.
pub(super) struct Read {
    pub(super) summary: Summary,
    pub(super) inputs: Vec<InputReport>,
}

/// Reads all inputs.
///
/// # Errors
/// No line has a known form.
pub(super) fn read(opened: Opened, options: &Options) -> Result<Read, String> {
    let Opened {
        inputs,
        total,
        read,
    } = opened;
    let mut reading = Reading::new(Progress::on_terminal(), total, &read);
    let mut show = |so_far: LogProgress| reading.show("lines", || so_far.lines);
    let (summary, inputs) = read_logs(inputs, &options.summary, options.threads, &mut show);
    drop(reading); // before what else is said
    for input in &inputs {
        if let Some(why) = &input.cut {
            print_error(format_args!(
                "{}: the reading ended early after {} lines, which count: {why}",
                visible(&input.name),
                input.lines
            ));
        }
    }
    let counts = summary.counts();
    if counts.queries == 0 && counts.outside > 0 {
        print_error(format_args!(
            "no query is within --from, --to, --index and --server-only: {} entries are outside",
            counts.outside
        ));
    }
    match refusal(&summary, &inputs, &options.document.words) {
        Some(message) => Err(message),
        None => Ok(Read { summary, inputs }),
    }
}

/// Why there is nothing to report; `None`: a line has a known form.
fn refusal(summary: &Summary, inputs: &[InputReport], words: &Words) -> Option<String> {
    let counts = summary.counts();
    if counts.queries + counts.failed + counts.others + counts.outside > 0 {
        return None;
    }
    let name = match inputs {
        [input] => visible(&input.name),
        inputs => format!("{} logs", inputs.len()),
    };
    if counts.unknown + counts.too_long == 0 {
        return Some(format!("{name}: no line to report on"));
    }
    let mut message = format!("{name}: none of {} lines has a known form", counts.lines);
    for (place, example) in summary.examples().iter().take(QUOTED_MAX) {
        let input = inputs.get(place.input as usize);
        let input = input.map_or_else(String::new, |input| visible(&input.name));
        let text = visible(&words.show_line(&example.text));
        let text: String = text.chars().take(QUOTED_CHARS).collect();
        message += &format!("\n  {input}:{}: {text}", place.line);
    }
    if counts.too_long > 0 {
        message += &format!(
            "\n  {} lines are longer than {} bytes",
            counts.too_long, RECORD_BYTES_MAX
        );
    }
    message += "\nKnown are query logs of Sphinx and Manticore, plain and sphinxql, and Seine's, also as JSON: docs/query-log.md \
                shows a line of each.";
    Some(message)
}
