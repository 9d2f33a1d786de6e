//! What a replay measured, as a report: that of a log, with the replay's own counts and the log's times beside it.

use std::collections::BTreeMap;

use report::{Cell as Value, Column, Document, Fact, Section, Table, Unit};

use super::super::document::seconds;
use super::super::histogram::Histogram;
use super::super::summary::Summary;
use super::Skipped;

/// Counts of a replay beside its [`Summary`].
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Requests that were sent.
    pub sent: u64,
    /// Those of `sent` whose connection broke before the answer.
    pub lost: u64,
    /// Entries that were not sent, by reason.
    pub skipped: BTreeMap<Skipped, u64>,
    /// Bodies of JSON requests without an address to send them to.
    pub bodies_skipped: u64,
    /// Entries that the filter left out.
    pub outside: u64,
    /// Lines of unknown form, half ones among them, and lines that are too long.
    pub unknown: u64,
    /// Requests without the filters of their line.
    pub without_filters: u64,
    /// Requests without the order of their line.
    pub without_order: u64,
    /// Connections of the log that shared a connection of the replay.
    pub shared_connections: u64,
    /// Requests that were sent more than 100 ms after their time.
    pub late: u64,
    /// The most that a request was late, in microseconds.
    pub late_us_max: u64,
    /// Times of the log of those requests that were answered.
    pub log_times: Histogram,
    /// Microseconds from the first request to the last answer.
    pub elapsed_us: u64,
}

/// A cell of a grid: the whole log, sent as fast as answered.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Connections that sent at the same time.
    pub clients: u64,
    /// Most threads of a search; `None` for the server's own choice.
    pub parts: Option<u64>,
    /// Times of the answered requests.
    pub times: Histogram,
    /// Requests that were sent.
    pub sent: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Microseconds from the first request to the last answer.
    pub elapsed_us: u64,
}

/// Puts the counts of a replay and the comparison with its log into a report of what was measured.
pub fn report(document: &mut Document, summary: &Summary, told: &Told) {
    document.title = "Replay of a query log".to_owned();
    let times = summary.times();
    document.notes.extend(notes(&times, told));
    document.facts.extend(facts(told));
    document
        .sections
        .insert(0, against(&times, &told.log_times));
}

/// Puts the grid before the other sections.
pub fn grid(document: &mut Document, cells: &[Cell]) {
    let columns = vec![
        Column::new("clients", "clients", Unit::Whole),
        Column::new("parts", "parts", Unit::Text),
        Column::new(
            "queries_per_second",
            "queries/s",
            Unit::Decimal { places: 1 },
        ),
        Column::new("elapsed_seconds", "elapsed", Unit::Seconds),
        Column::new("mean_seconds", "mean", Unit::Seconds),
        Column::new("p50_seconds", "median", Unit::Seconds),
        Column::new("p99_seconds", "99 % within", Unit::Seconds),
        Column::new("max_seconds", "max", Unit::Seconds),
        Column::new("sent", "sent", Unit::Whole),
        Column::new("failed", "failed", Unit::Whole),
    ];
    let mut table = Table::new("grid", "Clients × parts", columns);
    table.rows = cells.iter().map(row).collect();
    let section = Section {
        name: "grid".to_owned(),
        title: "Clients × parts".to_owned(),
        text: vec![
            "The log as fast as answered. The sections below are of the highest rate.".to_owned(),
        ],
        tables: vec![table],
        ..Section::default()
    };
    document.sections.insert(0, section);
}

fn row(cell: &Cell) -> Vec<Value> {
    let quantile = |share| cell.times.quantile_us(share).map(|us| us as f64 / 1e6);
    vec![
        cell.clients.into(),
        match cell.parts {
            Some(parts) => parts.into(),
            None => "auto".into(),
        },
        (cell.sent as f64 * 1e6 / cell.elapsed_us.max(1) as f64).into(),
        seconds(cell.elapsed_us),
        cell.times.mean_us().map(|us| us / 1e6).into(),
        quantile(0.5).into(),
        quantile(0.99).into(),
        seconds(cell.times.max_us()),
        cell.sent.into(),
        cell.failed.into(),
    ]
}

fn notes(times: &Histogram, told: &Told) -> Vec<String> {
    let mut notes = vec![
        "Times are measured at the client: from the request to the last row. Days and hours are those of the replay, in UTC."
            .to_owned(),
    ];
    if let (Some(log), Some(ours)) = (told.log_times.mean_us(), times.mean_us())
        && log > 0.0
    {
        let (times, word) = match ours > log {
            true => (ours / log, "slower"),
            false => (log / ours.max(1e-3), "faster"),
        };
        notes.push(format!("The mean is {times:.2} × {word} than in the log."));
    }
    for (count, what) in [
        (
            told.without_filters,
            "sent without its filters, whose values the log does not tell",
        ),
        (
            told.without_order,
            "sent without its order, whose columns the log does not tell",
        ),
        (
            told.bodies_skipped,
            "a JSON request and not sent: --http names the server for them",
        ),
        (
            told.skipped.get(&Skipped::Refused).copied().unwrap_or(0),
            "refused: only SELECT and CALL PQ are sent",
        ),
    ] {
        if count > 0 {
            notes.push(format!("{count} of the log's entries: {what}."));
        }
    }
    notes
}

fn facts(told: &Told) -> Vec<Fact> {
    let count = |name: &str, title: &str, count: u64| Fact::new(name, title, Unit::Whole, count);
    let rate = told.sent as f64 * 1e6 / told.elapsed_us.max(1) as f64;
    let mut facts = vec![
        count("sent", "sent", told.sent),
        Fact::new(
            "elapsed_seconds",
            "elapsed",
            Unit::Seconds,
            seconds(told.elapsed_us),
        ),
        Fact::new(
            "queries_per_second",
            "queries/s",
            Unit::Decimal { places: 1 },
            rate,
        ),
        count("lost", "connection lost", told.lost),
        count("late", "sent > 100 ms late", told.late),
        Fact::new(
            "late_max_seconds",
            "latest",
            Unit::Seconds,
            seconds(told.late_us_max),
        ),
        count(
            "shared_connections",
            "connections shared",
            told.shared_connections,
        ),
    ];
    for reason in Skipped::ALL {
        let (name, title) = reason.texts();
        facts.push(count(
            name,
            title,
            told.skipped.get(&reason).copied().unwrap_or(0),
        ));
    }
    facts.extend([
        count("skipped_bodies", "not sent: no --http", told.bodies_skipped),
        count(
            "without_filters",
            "sent without filters",
            told.without_filters,
        ),
        count("without_order", "sent without order", told.without_order),
        count(
            "log_outside_filter",
            "outside the filter in the log",
            told.outside,
        ),
        count(
            "log_unknown_lines",
            "unknown lines of the log",
            told.unknown,
        ),
    ]);
    facts
}

/// Name of a measure, and its microseconds.
type Measure<'m> = (&'m str, &'m dyn Fn(&Histogram) -> Option<f64>);

/// The log's times beside the measured ones.
fn against(ours: &Histogram, log: &Histogram) -> Section {
    let columns = vec![
        Column::new("measure", "measure", Unit::Text),
        Column::new("log_seconds", "log", Unit::Seconds),
        Column::new("replay_seconds", "replay", Unit::Seconds),
        Column::new("ratio", "replay / log", Unit::Decimal { places: 2 }),
    ];
    let mut table = Table::new("against_log", "Against the log", columns);
    let quantile =
        |share: f64| move |times: &Histogram| times.quantile_us(share).map(|us| us as f64);
    let (p50, p90, p99) = (quantile(0.5), quantile(0.9), quantile(0.99));
    let measures: [Measure<'_>; 6] = [
        ("mean", &Histogram::mean_us),
        ("median", &p50),
        ("90 % within", &p90),
        ("99 % within", &p99),
        ("max", &|times| Some(times.max_us() as f64)),
        ("time in all", &|times| Some(times.sum_us() as f64)),
    ];
    if log.count() > 0 {
        table.rows.extend(measures.iter().map(|(name, measure)| {
            let (log, ours) = (measure(log), measure(ours));
            let ratio = log.zip(ours).filter(|(log, _)| *log > 0.0);
            vec![
                (*name).into(),
                log.map(|us| us / 1e6).into(),
                ours.map(|us| us / 1e6).into(),
                ratio.map(|(log, ours)| ours / log).into(),
            ]
        }));
    }
    Section {
        name: "against_log".to_owned(),
        title: "Against the log".to_owned(),
        text: vec![format!(
            "Of the {} requests that were answered both times.",
            log.count()
        )],
        tables: vec![table],
        ..Section::default()
    }
}
