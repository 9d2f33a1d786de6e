//! Flags: models, channels and lists.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use study::attribution::amount::Amount;
use study::attribution::channels::Naming;
use study::attribution::events::Window;
use study::attribution::input::{Factors, Source, read_factors, read_maps};
use study::attribution::limits::ROWS_MAX;
use study::attribution::model::{MODELS, Model};

use crate::files::shown;
use crate::time_option::parse_time;

/// Models of a report that names none.
const DEFAULT_MODELS: &str = "first,last,linear,position-based";

/// Days of a window: 100 years.
const DAYS_MAX: i64 = 36_525;

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// What the flags say.
pub(super) struct Options {
    pub(super) models: Vec<Model>,
    /// Shares of first, middle and last touches in hundredths of a percent.
    pub(super) position: [u16; 3],
    pub(super) naming: Naming,
    /// Names of direct channels; empty: those that look so.
    pub(super) direct: Vec<String>,
    pub(super) rows: usize,
    pub(super) window: Window,
    pub(super) half_life_ms: i64,
    pub(super) currency: Option<String>,
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
            .default_value("40,20,40")
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
            .default_value("source-med-subcat")
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
        .default_value("45"),
        text(
            "half-life",
            "DAYS",
            "Days in which the weight of a touch halves, of time-decay; a quarter of the window without it.",
        ),
        text(
            "from",
            "TIME",
            "Only orders from this time on, in UTC: 2024-06-29 or '2024-06-29 21:17'.",
        )
        .value_parser(parse_time),
        text("to", "TIME", "Only orders before this time.").value_parser(parse_time),
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
            "Only orders of --touches in this currency.",
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
        let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
        let rows = matches.get_one::<u64>("top").copied().unwrap_or_default();
        let mut naming = Naming::new(text("channel-name"));
        if let Some(path) = matches.get_one::<PathBuf>("channels") {
            read_maps(source(path)?, &mut naming)?;
        }
        let direct = matches.get_many::<String>("direct");
        let window = window(matches)?;
        let half_life_ms = match matches.get_one::<String>("half-life") {
            Some(days) => parse_days("half-life", days)?,
            None => (window.window_ms / 4).max(1),
        };
        Ok(Options {
            models: parse_models(text("model"))?,
            position: parse_position(text("position-shares"))?,
            naming,
            direct: direct.into_iter().flatten().cloned().collect(),
            rows: usize::try_from(rows).unwrap_or(ROWS_MAX),
            window,
            half_life_ms,
            currency: matches.get_one::<String>("currency").cloned(),
        })
    }

    /// Whether a channel is direct.
    pub(super) fn is_direct(&self, channel: &str) -> bool {
        let lower = channel.to_lowercase();
        match self.direct.as_slice() {
            [] => lower.starts_with("direct") || lower.starts_with("(direct)"),
            names => names.iter().any(|name| name == channel),
        }
    }
}

fn window(matches: &ArgMatches) -> Result<Window, String> {
    let days = matches.get_one::<String>("window");
    let requires_first = matches.get_many::<String>("requires-first-touch");
    let window = Window {
        window_ms: parse_days("window", days.map_or("45", String::as_str))?,
        is_single_order: matches.get_flag("single-order"),
        requires_first: requires_first.into_iter().flatten().cloned().collect(),
        from_ms: matches.get_one("from").copied(),
        to_ms: matches.get_one("to").copied(),
        factors: match matches.get_one::<PathBuf>("adjust") {
            Some(path) => read_factors(source(path)?)?,
            None => Factors::default(),
        },
    };
    if let (Some(from), Some(to)) = (window.from_ms, window.to_ms)
        && from >= to
    {
        return Err("--to is not after --from: no order is between them".to_owned());
    }
    Ok(window)
}

/// Days, with or without a fraction, in milliseconds.
fn parse_days(flag: &str, text: &str) -> Result<i64, String> {
    let days = Amount::parse(text.as_bytes()).map(|days| days.amount.0);
    match days {
        Ok(days) if days > 0 && days <= DAYS_MAX * 1_000_000 => Ok(days * (DAY_MS / 1_000) / 1_000),
        Ok(_) | Err(_) => Err(format!(
            "--{flag} {text}: it is a number of days above 0, at most {DAYS_MAX}"
        )),
    }
}

/// A small file that a flag names.
pub(super) fn source(path: &Path) -> Result<Source, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", shown(path)))?;
    Ok(Source {
        name: shown(path),
        read: Box::new(file),
    })
}

fn parse_models(text: &str) -> Result<Vec<Model>, String> {
    let mut models = Vec::new();
    for name in text.split(',').map(str::trim) {
        let named = match (name, Model::parse(name)) {
            ("all", _) => MODELS.iter().map(|row| row.model).collect(),
            (_, Some(model)) => vec![model],
            (_, None) => {
                let names = MODELS.map(|row| row.name).join(", ");
                return Err(format!("{name} is no model: there are {names}, and all"));
            }
        };
        for model in named {
            if !models.contains(&model) {
                models.push(model);
            }
        }
    }
    Ok(models)
}

/// `40,20,40` as hundredths of a percent.
fn parse_position(text: &str) -> Result<[u16; 3], String> {
    let refused = || {
        format!(
            "--position-shares {text}: it is three percentages that are 100 together, such as 40,20,40, with at most two digits \
             behind the point"
        )
    };
    let mut shares = Vec::new();
    for part in text.split(',') {
        let share = Amount::parse(part.trim().as_bytes()).map_err(|_| refused())?;
        let hundredths = u16::try_from(share.amount.0 / 10_000).map_err(|_| refused())?;
        if share.places > 2 {
            return Err(refused());
        }
        shares.push(hundredths);
    }
    let sum: u32 = shares.iter().map(|share| u32::from(*share)).sum();
    let shares = <[u16; 3]>::try_from(shares).map_err(|_| refused())?;
    if sum != 10_000 {
        return Err(refused());
    }
    Ok(shares)
}
