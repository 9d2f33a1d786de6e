//! Output of the demo: colours and a progress bar on a terminal, plain lines in a pipe or with NO_COLOR.

use std::io::{ErrorKind, IsTerminal, Write, stdin, stdout};
use std::ops::Range;

use crate::window::has_colour;

/// Most columns of a line. The text of a hit is cut to fit.
const COLUMNS: usize = 110;
/// Columns of the bar itself.
const BAR_COLUMNS: usize = 40;
/// Share of the work between two lines of progress, without a terminal.
const PLAIN_STEP_PERCENT: usize = 25;

/// Writes the demo's output.
pub(super) struct Screen {
    terminal: bool,
    /// Whether the last line is a bar that the next line overwrites.
    bar: bool,
    /// The last share shown as a plain line.
    percent: usize,
    closed: bool,
}

impl Screen {
    pub(super) fn new() -> Screen {
        Screen {
            terminal: has_colour(),
            bar: false,
            percent: 0,
            closed: false,
        }
    }

    /// Whether a person may read the screen and press Ctrl-C: standard input and output are a terminal.
    pub(super) fn has_person() -> bool {
        stdin().is_terminal() && stdout().is_terminal()
    }

    /// Whether the output was closed, as by `| head`: there is nobody to show anything to.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn title(&mut self, text: &str) {
        let text = self.styled("1", text);
        self.print(&text);
    }

    /// Prints a line, above the bar if there is one.
    pub(super) fn print(&mut self, text: &str) {
        let erase = if self.bar { "\r\x1b[2K" } else { "" };
        self.bar = false;
        self.write(&format!("{erase}{text}\n"));
    }

    pub(super) fn warn(&mut self, text: &str) {
        let word = self.styled("33", "warning");
        self.print(&format!("{word}  {text}"));
    }

    pub(super) fn fail(&mut self, text: &str) {
        let word = self.styled("31", "failed");
        self.print(&format!("{word}   {text}"));
    }

    /// Prints a checked fact.
    pub(super) fn check(&mut self, holds: bool, fact: &str) {
        let word = if holds {
            self.styled("32", "ok")
        } else {
            self.styled("31", "FAILED")
        };
        self.print(&format!("  {word}  {fact}"));
    }

    /// Prints a hit: the query, and the post with marks around the matched words.
    pub(super) fn hit(&mut self, query: &str, body: &str, marks: &[Range<usize>]) {
        let room = COLUMNS.saturating_sub(query.chars().count() + 12);
        let body = self.marked(body, marks, room);
        let query = self.styled("36", query);
        self.print(&format!("  hit  {query}  {body}"));
    }

    /// Shows progress: `done` of `total` posts.
    pub(super) fn progress(&mut self, done: usize, total: usize, note: &str) {
        let percent = done * 100 / total.max(1);
        if self.terminal {
            let bar = bar(done as u64, total as u64, BAR_COLUMNS);
            self.write(&format!("\r\x1b[2K{bar} {percent:3} %  {note}"));
            self.bar = true;
        } else if percent / PLAIN_STEP_PERCENT > self.percent / PLAIN_STEP_PERCENT {
            self.percent = percent;
            self.print(&format!("{percent:3} %  {note}"));
        }
    }

    /// Writes and flushes. Of its errors only a closed output is noted.
    fn write(&mut self, text: &str) {
        let mut out = stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.closed |= written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
    }

    fn styled(&self, code: &str, text: &str) -> String {
        if self.terminal {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// `room` characters of the text around its first mark. Marks are colours or stars.
    fn marked(&self, text: &str, marks: &[Range<usize>], room: usize) -> String {
        let (open, close) = if self.terminal {
            ("\x1b[1;33m", "\x1b[0m")
        } else {
            ("*", "*")
        };
        let window = window(text, marks.first(), room);
        let mut out = String::from(if window.start > 0 { "…" } else { "" });
        let mut at = window.start;
        for mark in marks
            .iter()
            .filter(|mark| mark.start >= window.start && mark.end <= window.end)
        {
            push_clean(&mut out, &text[at..mark.start]);
            out.push_str(open);
            push_clean(&mut out, &text[mark.clone()]);
            out.push_str(close);
            at = mark.end;
        }
        push_clean(&mut out, &text[at..window.end]);
        out.push_str(if window.end < text.len() { "…" } else { "" });
        out
    }
}

/// Appends a stranger's text. Control characters, which begin escape sequences, become spaces.
pub(crate) fn push_clean(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
}

/// Range of at most `room` whole characters of the text, with the first mark in it if possible.
fn window(text: &str, mark: Option<&Range<usize>>, room: usize) -> Range<usize> {
    let before = room / 3;
    let first = mark.map_or(0, |mark| mark.start);
    let back = text[..first]
        .char_indices()
        .rev()
        .take(before)
        .last()
        .map_or(first, |(at, _)| at);
    let start = if text.chars().count() <= room {
        0
    } else {
        back
    };
    let end = text[start..]
        .char_indices()
        .nth(room)
        .map_or(text.len(), |(at, _)| start + at);
    start..end
}

/// A number with commas: 12,345.
pub(crate) fn grouped(number: u64) -> String {
    report::in_text(number, report::Unit::Whole)
}

/// A bar of which the part `done` of `total` is full.
pub(crate) fn bar(done: u64, total: u64, columns: usize) -> String {
    let full = u128::from(done) * columns as u128 / u128::from(total.max(1));
    let full = (full as usize).min(columns);
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full))
}
