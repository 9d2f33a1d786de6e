//! Flags: models, channels and lists.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use study::attribution::channels::Naming;
use study::attribution::input::{Source, read_factors, read_maps};
use study::attribution::limits::ROWS_MAX;
use study::attribution::model::MODELS;
use study::attribution::settings::{
    DEFAULT_MODELS, DEFAULT_NAME, DEFAULT_SHARES, DEFAULT_WINDOW, Form, SETTINGS, Settings,
};

use crate::files::shown;

/// What the flags say.
pub(super) struct Options {
    pub(super) settings: Settings,
    /// The names of touches, with the maps.
    pub(super) naming: Naming,
    pub(super) rows: usize,
}

/// Flags of models.
pub(super) fn models() -> [Arg; 2] {
    let names = MODELS.map(|row| format!("{}: {}", row.name, row.about));
    [
        Arg::new("model")
            .long("model")
            .value_name("NAMES")
            .default_value(DEFAULT_MODELS)
            .help("Models, separated by commas, or all.")
            .long_help(format!(
                "Models, separated by commas, or all:\n  {}",
                names.join("\n  ")
            )),
        Arg::new("position-shares")
            .long("position-shares")
            .value_name("PERCENT")
            .default_value(DEFAULT_SHARES)
            .help("Shares of the first touch, those between and the last one, of position-based."),
    ]
}

/// Flags of channels.
pub(super) fn channels() -> [Arg; 3] {
    [
        Arg::new("channels")
            .long("channels")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help(
                "Maps of names, CSV with the columns name, channel; a name /…/ is a regular expression.",
            ),
        Arg::new("channel-name")
            .long("channel-name")
            .value_name("PATTERN")
            .default_value(DEFAULT_NAME)
            .help("Name of a channel by source, medium (or med) and subcat; a missing part is (none)."),
        Arg::new("direct")
            .long("direct")
            .value_name("CHANNEL")
            .action(ArgAction::Append)
            .help(
                "A channel that last-non-direct passes over; may be given again. Without it: those that begin with direct or \
                 (direct).",
            ),
    ]
}

/// Flags of orders with times: of touches and cookies.
pub(super) fn windows() -> [Arg; 8] {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    [
        text(
            "window",
            "DAYS",
            "Days before an order in which touches count.",
        )
        .default_value(DEFAULT_WINDOW),
        text(
            "half-life",
            "DAYS",
            "Days in which the weight of a touch halves, of time-decay; a quarter of the window without it.",
        ),
        text(
            "from",
            "TIME",
            "Only orders from this time on, in UTC: 2024-06-29 or '2024-06-29 21:17'.",
        ),
        text("to", "TIME", "Only orders before this time."),
        Arg::new("single-order")
            .long("single-order")
            .action(ArgAction::SetTrue)
            .help("Touches before the visitor's order before do not count."),
        text(
            "requires-first-touch",
            "CHANNEL",
            "A channel that counts only as the first touch of its window; may be given again.",
        )
        .action(ArgAction::Append),
        text(
            "adjust",
            "FILE",
            "Factors of days, CSV with the columns day, transactions, revenue.",
        )
        .value_parser(value_parser!(PathBuf)),
        text(
            "currency",
            "NAME",
            "Only orders of --touches and --table in this currency.",
        ),
    ]
}

/// The flag of the length of lists.
pub(super) fn top() -> Arg {
    Arg::new("top")
        .long("top")
        .value_name("ROWS")
        .value_parser(value_parser!(u64).range(1..=ROWS_MAX as u64))
        .default_value("20")
        .help("Rows of each list: paths, combinations, orders.")
}

impl Options {
    /// The options of a command line.
    ///
    /// # Errors
    /// A model that is not known, shares that are not 100 together, a file of maps that cannot be read.
    pub(super) fn of_matches(matches: &ArgMatches) -> Result<Options, String> {
        let mut settings = Settings::default();
        for row in &SETTINGS {
            let name = row.name.replace('_', "-");
            let values: Vec<String> = match row.form {
                Form::Switch => vec![u8::from(matches.get_flag(&name)).to_string()],
                Form::Text | Form::Names => {
                    let values = matches.get_many::<String>(&name);
                    values.into_iter().flatten().cloned().collect()
                }
            };
            if !values.is_empty() {
                let set = settings.set(row.setting, &values);
                set.map_err(|why| format!("--{name}: {why}"))?;
            }
        }
        settings.check(flag)?;
        if let Some(path) = matches.get_one::<PathBuf>("adjust") {
            settings.window.factors = read_factors(source(path)?)?;
        }
        let mut naming = settings.naming();
        if let Some(path) = matches.get_one::<PathBuf>("channels") {
            read_maps(source(path)?, &mut naming)?;
        }
        let rows = matches.get_one::<u64>("top").copied().unwrap_or_default();
        Ok(Options {
            settings,
            naming,
            rows: usize::try_from(rows).unwrap_or(ROWS_MAX),
        })
    }
}

/// The flag of an option of the study.
pub(super) fn flag(option: &str) -> String {
    format!("--{}", option.replace('_', "-"))
}

/// A small file that a flag names.
pub(super) fn source(path: &Path) -> Result<Source, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", shown(path)))?;
    Ok(Source {
        name: shown(path),
        read: Box::new(file),
    })
}
