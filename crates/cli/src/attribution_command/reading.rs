//! Files to a report: progress while they are read, and what is wrong afterwards.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ArgMatches;
use clap::parser::ValueSource;
use report::visible;
use study::attribution::bounds::Unbounded;
use study::attribution::document::Report;
use study::attribution::events::{EventCounts, Events};
use study::attribution::figures::{Places, figures};
use study::attribution::input::{
    Lines, Source, TouchOptions, read_cookies, read_paths, read_touches,
};
use study::attribution::model::Model;
use study::attribution::settings::Settings;
use study::attribution::tally::{Detail, Tally};

use super::options::{Options, flag};
use super::table;
use crate::files;
use crate::output::print_error;
use crate::progress::{Progress, Reading};

/// Unknown lines that an error quotes.
const QUOTED_MAX: usize = 3;

/// Characters of a quoted line.
const QUOTED_CHARS: usize = 100;

/// The forms of lines of touches and of cookies.
const FORMS: &str = "visitor,time,channel,value for --touches, __ORD!id!revenue!time*source!medium!subcat!time for --ga";

/// Flags that need the times of touches, which `--paths` has not.
const NEED_TIMES: [&str; 8] = [
    "window",
    "single-order",
    "from",
    "to",
    "half-life",
    "requires-first-touch",
    "adjust",
    "currency",
];

/// Reads the files and the table that the command line names.
///
/// # Errors
/// A file cannot be read, no line has a known form, a model has no answer.
pub(super) fn read(matches: &ArgMatches, options: Options) -> Result<Report, String> {
    let named = |input: &str| -> Vec<PathBuf> {
        let paths = matches.get_many(input);
        paths.into_iter().flatten().cloned().collect()
    };
    let paths = named("paths");
    if paths.is_empty() {
        return of_events(matches, [named("touches"), named("ga")], options);
    }
    if options.settings.models.contains(&Model::TimeDecay) {
        return Err(
            "time-decay needs times, and --paths has none: leave it out, or read --touches"
                .to_owned(),
        );
    }
    let is_given = |flag: &str| matches.value_source(flag) == Some(ValueSource::CommandLine);
    if let Some(flag) = NEED_TIMES.iter().find(|flag| is_given(flag)) {
        return Err(format!(
            "--{flag} needs times, and --paths has none: leave it out, or read --touches"
        ));
    }
    of_paths(&paths, options)
}

/// Opens files and shows how far they are read.
fn with_progress<T>(
    paths: &[PathBuf],
    work: impl FnOnce(Vec<Source>, &mut dyn FnMut(u64)) -> Result<T, String>,
) -> Result<T, String> {
    let opened = files::open(paths)?;
    let sources = opened.files.into_iter().map(|file| Source {
        name: file.name(),
        read: file.read,
    });
    let mut reading = Reading::new(Progress::on_terminal(), opened.total, &opened.read);
    work(sources.collect(), &mut |lines| {
        reading.show("lines", || lines)
    })
}

/// The report of counted paths.
fn of_paths(paths: &[PathBuf], mut options: Options) -> Result<Report, String> {
    let naming = std::mem::take(&mut options.naming);
    let counted = with_progress(paths, |sources, show| read_paths(sources, naming, show))?;
    refuse_empty(&counted.lines, "path,conversions,value,nulls")?;
    let settings = &options.settings;
    let rule = settings.rule(&counted.channels);
    let notes = notes(&counted.channels, settings);
    let detail = Detail::Report { rows: options.rows };
    let mut tally = Tally::new(&settings.models, rule, detail);
    tally.add_paths(&counted.paths);
    let figures = figures(
        &settings.models,
        &tally,
        Some(&counted.paths),
        &counted.channels,
        counted.places,
        &Unbounded,
    )?;
    Ok(Report {
        channels: counted.channels,
        figures,
        tally,
        paths: Some(counted.paths),
        places: counted.places,
        lines: counted.lines,
        counts: Vec::new(),
        notes,
    })
}

/// Touches and orders of all inputs, and what was left out of them.
struct Read {
    events: Events,
    places: Places,
    lines: Vec<Lines>,
    other_currencies: u64,
    cut_cookies: u64,
}

fn read_events(
    matches: &ArgMatches,
    [touches, cookies]: [Vec<PathBuf>; 2],
    options: &mut Options,
) -> Result<Read, String> {
    let mut events = Events::new(std::mem::take(&mut options.naming));
    let mut places = Places::default();
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ms = since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    });
    let touch_options = TouchOptions {
        currency: options.settings.currency.clone(),
        now_ms,
    };
    let (mut lines, mut other_currencies) = with_progress(&touches, |sources, show| {
        read_touches(sources, &mut events, &mut places, &touch_options, show)
    })?;
    let (more, cut_cookies) = with_progress(&cookies, |sources, show| {
        read_cookies(sources, &mut events, &mut places, now_ms, show)
    })?;
    lines.extend(more);
    if let Some(table) = matches.get_one::<String>("table") {
        let into = (&mut events, &mut places);
        let (of_table, others) = table::read(matches, table, into, &touch_options)?;
        lines.push(of_table);
        other_currencies += others;
    }
    refuse_empty(&lines, FORMS)?;
    Ok(Read {
        events,
        places,
        lines,
        other_currencies,
        cut_cookies,
    })
}

/// The report of touches and cookies.
fn of_events(
    matches: &ArgMatches,
    files: [Vec<PathBuf>; 2],
    mut options: Options,
) -> Result<Report, String> {
    let read = read_events(matches, files, &mut options)?;
    let others = [
        (
            "other_currencies",
            "orders in other currencies",
            read.other_currencies,
        ),
        (
            "cut_cookies",
            "cookies whose last record is cut",
            read.cut_cookies,
        ),
    ];
    let settings = &options.settings;
    let attributed = read.events.attribute(
        &settings.window,
        &settings.models,
        Detail::Report { rows: options.rows },
        |channels| settings.rule(channels),
        &Unbounded,
    )?;
    let figures = figures(
        &settings.models,
        &attributed.tally,
        attributed.paths.as_ref(),
        &attributed.channels,
        read.places,
        &Unbounded,
    )?;
    let mut counts = shown_counts(&attributed.counts);
    counts.extend(others.into_iter().filter(|(_, _, count)| *count > 0));
    let mut notes = notes(&attributed.channels, settings);
    if !settings.window.factors.is_empty() {
        notes
            .push("Transactions and revenue are adjusted by the factors of their days.".to_owned());
    }
    Ok(Report {
        channels: attributed.channels,
        figures,
        tally: attributed.tally,
        paths: attributed.paths,
        places: read.places,
        lines: read.lines,
        counts,
        notes,
    })
}

/// Counts for the report; rare ones only where there are some.
fn shown_counts(counts: &EventCounts) -> Vec<(&'static str, &'static str, u64)> {
    let mut shown = vec![
        ("visitors", "visitors", counts.visitors),
        ("touch_count", "touches", counts.touches),
        ("order_count", "orders", counts.orders),
    ];
    let rare = [
        ("refunds", "refunds among them", counts.refunds),
        (
            "orders_without_touch",
            "orders without a touch in the window",
            counts.orders_without_touch,
        ),
        (
            "orders_outside",
            "orders outside --from and --to",
            counts.orders_outside,
        ),
        (
            "repeated_orders",
            "orders whose id was there before",
            counts.repeated_orders,
        ),
        (
            "repeated_touches",
            "touches that were there before",
            counts.repeated_touches,
        ),
    ];
    shown.extend(rare.into_iter().filter(|(_, _, count)| *count > 0));
    shown
}

/// Channels that a flag names and no touch has.
fn notes(channels: &[String], settings: &Settings) -> Vec<String> {
    let unmet = settings.unmet(channels, flag).into_iter();
    unmet.map(|sentence| sentence + ".").collect()
}

/// Refuses files in which no line is known, and tells of files that ended early.
fn refuse_empty(lines: &[Lines], form: &str) -> Result<(), String> {
    for lines in lines {
        if let Some(why) = &lines.cut {
            print_error(format_args!(
                "{}: the reading ended early after {} lines, which count: {why}",
                visible(&lines.name),
                lines.count
            ));
        }
    }
    if lines.iter().any(|lines| lines.count > lines.unknown) {
        return Ok(());
    }
    let count: u64 = lines.iter().map(|lines| lines.count).sum();
    let names: Vec<String> = lines.iter().map(|lines| visible(&lines.name)).collect();
    let mut message = match count {
        0 => format!("{}: no line to report on", names.join(", ")),
        count => format!(
            "{}: none of {count} lines has a known form",
            names.join(", ")
        ),
    };
    let examples = lines
        .iter()
        .flat_map(|lines| lines.examples.iter().map(|example| (&lines.name, example)));
    for (name, example) in examples.take(QUOTED_MAX) {
        let text: String = visible(&example.text).chars().take(QUOTED_CHARS).collect();
        message += &format!(
            "\n  {}:{}: {}: {text}",
            visible(name),
            example.line,
            example.why
        );
    }
    message += &format!("\nThe form is {form}: docs/attribution.md shows lines of it.");
    Err(message)
}
