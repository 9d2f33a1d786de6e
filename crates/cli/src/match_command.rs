//! `seine match`: percolates the lines of standard input through the queries of a file, without a server.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use language::analysis::{Analyzer, Words};
use language::highlight;
use language::limits::DOCUMENT_BYTES_MAX;
use percolate::{Costly, Documents, Hits, Scratch, Unfinished};
use serde_json::json;

use crate::marks::Form;
use crate::output::print_error;
use crate::queries::Queries;

/// Exit code: no line hits a query.
const EXIT_NONE: u8 = 1;

/// Exit code: a query or the input is bad, as with grep.
const EXIT_TROUBLE: u8 = 2;

/// Most lines of a batch. A batch never waits for more lines.
const BATCH_LINES: usize = 256;

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("match")
        .about("Match each line of standard input against the queries of a file, without a server.")
        .long_about(
            "Match each line of standard input against the queries of a file, without a server.\n\n\
             Prints the number of the line, the id of the query and the line with its matched words marked, separated by tabs.\n\
             Exit status 0: some line was hit; 1: none was; 2: trouble.",
        )
        .arg(
            Arg::new("queries")
                .value_name("QUERIES")
                .required(true)
                .help("File with one query a line, or id TAB query. A query without an id gets the number of its line."),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("One JSON object a hit, one hit a line; marks are byte ranges."),
        )
}

/// Runs to the end of standard input.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let path = matches
        .get_one::<String>("queries")
        .map_or("", String::as_str);
    let queries = match std::fs::read(path) {
        Ok(bytes) => Queries::read(&bytes),
        Err(error) => return trouble(&[format!("{path}: {error}")]),
    };
    let queries = match queries {
        Ok(queries) => queries,
        Err(bad) => {
            return trouble(
                &bad.iter()
                    .map(|bad| format!("{path}: {bad}"))
                    .collect::<Vec<_>>(),
            );
        }
    };
    for warning in &queries.warnings {
        print_error(format_args!("{path}: {warning}"));
    }
    let form = Form::of_output(matches.get_flag("json"));
    let mut matcher = Matcher {
        queries: &queries,
        words: Vec::new(),
        scratch: Scratch::new(),
        hits: Hits::new(),
        out: io::BufWriter::new(io::stdout().lock()),
        form,
        lines_before: 0,
        found: false,
    };
    match matcher.all(BufReader::new(io::stdin().lock())) {
        Ok(()) if matcher.found => ExitCode::SUCCESS,
        Ok(()) => ExitCode::from(EXIT_NONE),
        // The reader of the output has closed it, as `head` does: no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => trouble(&[error.to_string()]),
    }
}

fn trouble(messages: &[String]) -> ExitCode {
    messages.iter().for_each(print_error);
    ExitCode::from(EXIT_TROUBLE)
}

struct Matcher<'q, Out> {
    queries: &'q Queries,
    words: Vec<Words>,
    scratch: Scratch,
    hits: Hits,
    out: Out,
    form: Form,
    /// Count of lines of earlier batches.
    lines_before: u64,
    found: bool,
}

impl<Out: Write> Matcher<'_, Out> {
    fn all(&mut self, mut input: BufReader<impl Read>) -> io::Result<()> {
        let mut lines: Vec<String> = Vec::new();
        loop {
            lines.clear();
            // Wait for the first line; take further lines only if they have arrived.
            while let Some(line) = self.line(&mut input, lines.len())? {
                lines.push(line);
                if lines.len() == BATCH_LINES || !input.buffer().contains(&b'\n') {
                    break;
                }
            }
            if lines.is_empty() {
                return Ok(());
            }
            self.batch(&lines)?;
            self.out.flush()?;
            self.lines_before += lines.len() as u64;
        }
    }

    /// The next line without its end; `None`: no line, or none yet. Bytes that are no UTF-8 are replaced.
    fn line(&self, input: &mut impl BufRead, read: usize) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let most = DOCUMENT_BYTES_MAX as u64 + 2;
        input.by_ref().take(most).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        if bytes.len() > DOCUMENT_BYTES_MAX {
            let number = self.lines_before + read as u64 + 1;
            let message = format!("line {number} is longer than {DOCUMENT_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(Some(match String::from_utf8(bytes) {
            Ok(line) => line,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }

    /// Matches the lines and prints their hits, by line, then by rising query id.
    fn batch(&mut self, lines: &[String]) -> io::Result<()> {
        let analyzer = Analyzer::default();
        self.words
            .resize_with(self.words.len().max(lines.len()), Words::new);
        for (words, line) in self.words.iter_mut().zip(lines) {
            words.clear();
            words.push_field(&analyzer, 0, line);
        }
        let documents = Documents::of(&self.words[..lines.len()]);
        self.queries
            .snapshot
            .matches(&documents, &mut self.scratch, &mut self.hits)
            .map_err(|why| io::Error::other(self.unfinished(why)))?;
        let mut pairs: Vec<(u32, u64)> = Vec::new();
        for (id, hit) in self.hits.ids() {
            pairs.extend(hit.iter().map(|line| (*line, id)));
        }
        pairs.sort_unstable();
        self.found |= !pairs.is_empty();
        for (line, id) in pairs {
            self.hit(
                self.lines_before + u64::from(line) + 1,
                id,
                &lines[line as usize],
            )?;
        }
        Ok(())
    }

    /// The message for a batch that the matcher did not finish.
    fn unfinished(&self, why: Unfinished) -> String {
        match why {
            Unfinished::TooCostly(Costly {
                query: Some(id),
                document,
                ..
            }) => {
                let line = self.lines_before + u64::from(document) + 1;
                format!("query {id} takes too much on line {line}: narrow it, or split the line")
            }
            _ => "too many hits at once: split the queries".to_owned(),
        }
    }

    fn hit(&mut self, number: u64, id: u64, line: &str) -> io::Result<()> {
        let marks = match self.queries.root(id) {
            Some(root) => highlight::ranges(root, 0, line, &Analyzer::default()),
            None => Vec::new(),
        };
        if self.form == Form::Json {
            let marks: Vec<[usize; 2]> = marks.iter().map(|mark| [mark.start, mark.end]).collect();
            let hit = json!({ "line": number, "id": id, "text": line, "marks": marks });
            return writeln!(self.out, "{hit}");
        }
        writeln!(
            self.out,
            "{number}\t{id}\t{}",
            self.form.marked(line, &marks)
        )
    }
}
