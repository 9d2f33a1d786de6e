//! `seine tail`: shows the messages of a category as a server takes them.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::ops::Range;
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::{Arg, ArgAction, ArgMatches, Command};
use language::analysis::{Analyzer, Words};
use language::highlight;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use percolate::{Documents, Hits, Scratch};
use serde_json::{Value, json};
use ureq::Agent;

use crate::check_command::named;
use crate::marks::Form;
use crate::output::{Exit, print_error};
use crate::queries::Queries;

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("tail")
        .about("Show the messages of a category as a server takes them.")
        .long_about(
            "Show the messages of a category as a server takes them, from now on, until Ctrl-C.\n\n\
             A message is shown after its sync. A terminal that reads too slowly is told how many messages it missed; it holds \
             nobody back.\n\n\
             Exit status 1: the server refused, or it has ended.",
        )
        .arg(
            Arg::new("addr")
                .long("addr")
                .value_name("ADDR")
                .default_value("127.0.0.1:9308")
                .help("Address of the server's HTTP door."),
        )
        .arg(crate::login::user())
        .arg(
            Arg::new("match")
                .long("match")
                .value_name("QUERY")
                .help("Show only messages that this standing query finds in their first 64 KiB, with the words that it names marked."),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("One JSON object a message; marks are byte ranges of the message."),
        )
        .arg(
            Arg::new("category")
                .value_name("CATEGORY")
                .required(true)
                .help("The category; a * at the end stands for any rest of the name."),
        )
}

/// Follows until the server ends or standard output is closed.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let mut tail = Tail {
        filter: match matches.get_one::<String>("match") {
            Some(text) => Some(Filter::new(text)?),
            None => None,
        },
        form: Form::of_output(matches.get_flag("json")),
        names_categories: named(matches, "category").ends_with('*'),
        out: io::stdout().lock(),
    };
    let lines = follow(matches)?;
    match tail.all(lines) {
        Ok(()) => Err("the server has ended the stream".into()),
        // The reader of the output has closed it, as `head` does: no error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
    }
}

/// The server's stream of messages. Error: its refusal.
fn follow(matches: &ArgMatches) -> Result<impl BufRead + use<>, String> {
    let (addr, category) = (named(matches, "addr"), named(matches, "category"));
    let url = format!(
        "http://{addr}/tail/{}",
        utf8_percent_encode(category, PLAIN)
    );
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    let mut request = agent.get(url);
    if let Ok(password) = std::env::var("SEINE_PASSWORD") {
        let login = STANDARD.encode(format!("{}:{password}", named(matches, "user")));
        request = request.header("authorization", format!("Basic {login}"));
    }
    let mut reply = request.call().map_err(|error| format!("{addr}: {error}"))?;
    if reply.status() != 200 {
        let text = reply.body_mut().read_to_string().unwrap_or_default();
        let told: Value = serde_json::from_str(&text).unwrap_or_default();
        let why = told["error"]["reason"].as_str().unwrap_or(&text);
        return Err(format!("{addr}: {why}"));
    }
    Ok(BufReader::new(reply.into_body().into_reader()))
}

/// Bytes of a category that stand in an address as they are.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'/')
    .remove(b'*');

/// The standing query of `--match`.
struct Filter {
    queries: Queries,
    words: Words,
    scratch: Scratch,
    hits: Hits,
}

impl Filter {
    fn new(text: &str) -> Result<Filter, String> {
        let queries = Queries::read(text.as_bytes());
        let queries = queries.map_err(|bad| format!("--match: {}", bad.join("; ")))?;
        for warning in &queries.warnings {
            print_error(format_args!("--match: {warning}"));
        }
        Ok(Filter {
            queries,
            words: Words::new(),
            scratch: Scratch::new(),
            hits: Hits::new(),
        })
    }

    /// The words to mark; `None`: the query does not find the message.
    fn marks(&mut self, message: &str) -> Option<Vec<Range<usize>>> {
        let analyzer = Analyzer::default();
        self.words.clear();
        self.words.push_field(&analyzer, 0, message);
        let documents = Documents::of(std::slice::from_ref(&self.words));
        let matched = self
            .queries
            .snapshot
            .matches(&documents, &mut self.scratch, &mut self.hits);
        if matched.is_err() {
            print_error("the query takes too much on a message, which is left out: narrow it");
            return None;
        }
        let (id, _) = self.hits.ids().next()?;
        let root = self.queries.root(id)?;
        Some(highlight::ranges(root, 0, message, &analyzer))
    }
}

struct Tail<Out> {
    filter: Option<Filter>,
    form: Form,
    /// The category stands before each message.
    names_categories: bool,
    out: Out,
}

impl<Out: Write> Tail<Out> {
    fn all(&mut self, mut lines: impl BufRead) -> io::Result<()> {
        let mut line = String::new();
        while lines.read_line(&mut line)? > 0 {
            self.show(line.trim_end())?;
            line.clear();
        }
        Ok(())
    }

    /// Shows one line of the stream; an empty one is a sign of life.
    fn show(&mut self, line: &str) -> io::Result<()> {
        if line.is_empty() {
            return Ok(());
        }
        let mut read: Value = serde_json::from_str(line)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
        if let Some(skipped) = read["skipped"].as_u64() {
            print_error(format_args!(
                "{skipped} messages are not shown: they came faster than they are read"
            ));
            return Ok(());
        }
        let message = read["message"].as_str().unwrap_or_default();
        let marks = match &mut self.filter {
            None => None,
            Some(filter) => match filter.marks(message) {
                None => return Ok(()),
                marks => marks,
            },
        };
        let text = if self.form == Form::Json {
            if let Some(marks) = marks {
                let marks: Vec<[usize; 2]> =
                    marks.iter().map(|mark| [mark.start, mark.end]).collect();
                read["marks"] = json!(marks);
            }
            read.to_string()
        } else {
            let text = self.form.marked(message, &marks.unwrap_or_default());
            match self.names_categories {
                true => format!("{}\t{text}", read["category"].as_str().unwrap_or_default()),
                false => text,
            }
        };
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: Option<&str>, form: Form, lines: &str) -> String {
        let mut tail = Tail {
            filter: query.map(|query| Filter::new(query).unwrap()),
            form,
            names_categories: false,
            out: Vec::new(),
        };
        tail.all(lines.as_bytes()).unwrap();
        String::from_utf8(tail.out).unwrap()
    }

    #[test]
    fn only_what_the_query_finds_is_shown_with_its_words_marked() {
        let lines = "\n{\"category\":\"web\",\"message\":\"an error in web\"}\n{\"skipped\":3}\n\
                     {\"category\":\"web\",\"message\":\"a test error\"}\n";
        assert_eq!(
            shown(None, Form::Stars, lines),
            "an error in web\na test error\n"
        );
        let query = Some("error -test");
        assert_eq!(shown(query, Form::Stars, lines), "an *error* in web\n");
        let json = "{\"category\":\"web\",\"marks\":[[3,8]],\"message\":\"an error in web\"}\n";
        assert_eq!(shown(query, Form::Json, lines), json);
        let colour = shown(
            None,
            Form::Colour,
            "{\"category\":\"web\",\"message\":\"a\\u001bb\"}\n",
        );
        assert_eq!(colour, "a b\n", "no control characters go to a terminal");
        assert!(Filter::new("a \"b").is_err());
    }
}
