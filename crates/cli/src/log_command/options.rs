//! Flags that both reports have: which lines count, and how the report shows them.

use std::hash::RandomState;
use std::num::NonZeroUsize;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use study::log::anonymous::Words;
use study::log::document::DocumentOptions;
use study::log::limits::{SLOWEST_MAX, THREADS_MAX};
use study::log::{Filter, SummaryOptions};

use study::time_option::parse_time;

/// How logs are read and shown.
pub(super) struct Options {
    pub(super) summary: SummaryOptions,
    pub(super) document: DocumentOptions,
    pub(super) threads: NonZeroUsize,
}

/// Flags that choose lines.
pub(super) fn filters() -> [Arg; 4] {
    let name = |name: &'static str, help: &'static str| {
        let argument = Arg::new(name).long(name).value_name("NAME");
        argument.action(ArgAction::Append).help(help)
    };
    let time = |name: &'static str, help: &'static str| {
        let argument = Arg::new(name).long(name).value_name("TIME");
        argument.value_parser(parse_time).help(help)
    };
    [
        time(
            "from",
            "Only lines from this time on, by the log's clock: 2007-06-29 or '2007-06-29 21:17'.",
        ),
        time("to", "Only lines before this time."),
        name("index", "Only queries of this index; may be given again."),
        name(
            "server-only",
            "Only lines of this server; may be given again.",
        ),
    ]
}

/// Flags that say how the report shows queries, and how it is made.
pub(super) fn shown() -> [Arg; 3] {
    [
        Arg::new("top")
            .long("top")
            .value_name("ROWS")
            .value_parser(value_parser!(u64).range(1..=SLOWEST_MAX as u64))
            .default_value("20")
            .help("Rows of each list of queries."),
        Arg::new("anonymous")
            .long("anonymous")
            .action(ArgAction::SetTrue)
            .help("Show the words of queries as hashes, with another key each time."),
        Arg::new("threads")
            .long("threads")
            .value_name("NUMBER")
            .value_parser(value_parser!(u64).range(1..=THREADS_MAX as u64))
            .help("Threads that read lines; by default one for each core."),
    ]
}

impl Options {
    /// The options of a command line.
    ///
    /// # Errors
    /// A span of time that ends before it begins.
    pub(super) fn of_matches(matches: &ArgMatches) -> Result<Options, String> {
        let names = |name: &str| {
            let names = matches.get_many::<String>(name);
            names.into_iter().flatten().cloned().collect()
        };
        let number = |name: &str| {
            let number = matches.get_one::<u64>(name).copied();
            number.and_then(|number| usize::try_from(number).ok())
        };
        let filter = Filter {
            from_ms: matches.get_one("from").copied(),
            to_ms: matches.get_one("to").copied(),
            indexes: names("index"),
            servers: names("server-only"),
        };
        if let (Some(from), Some(to)) = (filter.from_ms, filter.to_ms)
            && from >= to
        {
            return Err("--to is not after --from: no line is between them".to_owned());
        }
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = number("threads").and_then(NonZeroUsize::new);
        let default = DocumentOptions::default();
        Ok(Options {
            summary: SummaryOptions {
                filter,
                ..SummaryOptions::default()
            },
            document: DocumentOptions {
                top: number("top").unwrap_or(default.top),
                words: match matches.get_flag("anonymous") {
                    true => Words::Hashed(RandomState::new()),
                    false => Words::Kept,
                },
                ..default
            },
            threads: threads.unwrap_or(cores),
        })
    }
}
