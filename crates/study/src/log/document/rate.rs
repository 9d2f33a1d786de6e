//! Queries over time, by hour of the day and by weekday, all by the clock of the log.

use report::{
    Axis, Cell, Column, Curve, CurveKind, Curves, Drawing, Matrix, Picture, Scale, Section, Table,
    Unit, in_text,
};

use super::super::summary::{Minute, Summary};
use super::super::time::{LogTime, weekday};
use super::seconds;
use super::share;

/// Most rows of the table of the rate. A log with wrong years may have more: rows of 30 days.
const ROWS_MAX: i64 = 400;
/// Lengths of a row in minutes: the first that gives at most [`ROWS_MAX`] rows.
const STEPS: [i64; 10] = [1, 5, 15, 30, 60, 180, 360, 1_440, 10_080, 43_200];
const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

pub(super) fn section(summary: &Summary) -> Section {
    let minutes = summary.minutes().by_time();
    let left_out = summary.minutes().left_out().queries;
    let (table, curve, step) = rate(&minutes);
    let first = minutes
        .first()
        .map_or(0, |(minute, _)| minute.div_euclid(step) * step);
    let rate = Drawing::Curves(Curves {
        kind: CurveKind::Frequency,
        across: Axis::new(
            format!("hours since {}", time_text(first)),
            Unit::Decimal { places: 1 },
            Scale::Linear,
        ),
        upward: Axis::new(
            "queries a second",
            Unit::Decimal { places: 2 },
            Scale::Linear,
        ),
        curves: vec![curve],
    });
    let mut text = vec![format!(
        "Each row has {step} minutes by the clock of the log."
    )];
    if left_out > 0 {
        let left_out = in_text(left_out, Unit::Whole);
        text.push(format!(
            "{left_out} queries are of later minutes than the report can hold."
        ));
    }
    Section {
        name: "rate".to_owned(),
        title: "Over time".to_owned(),
        text,
        pictures: vec![
            Picture::new("rate_curve", "Queries a second over time", rate),
            Picture::new(
                "week",
                "Queries by weekday and hour",
                Drawing::Matrix(week(&minutes)),
            ),
        ],
        tables: vec![table, hours(&minutes), weekdays(&minutes)],
    }
}

/// The table, the curve and the length of a row. The table has the rows with queries; the curve falls to 0 between them.
fn rate(minutes: &[(i64, Minute)]) -> (Table, Curve, i64) {
    let columns = vec![
        Column::new("time", "time", Unit::Text),
        Column::new("queries", "queries", Unit::Whole),
        Column::new("rate", "a second", Unit::Decimal { places: 2 }),
        Column::new("mean_seconds", "mean", Unit::Seconds),
        Column::new("slow_share", "above 100 ms", Unit::Share),
    ];
    let mut table = Table::new("rate", "Queries over time", columns);
    let step = step_of(minutes);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let first = minutes
        .first()
        .map_or(0, |(minute, _)| minute.div_euclid(step));
    let hours = |row: i64| ((row - first) * step) as f64 / 60.0;
    let mut before = first;
    for part in minutes.chunk_by(|(a, _), (b, _)| a.div_euclid(step) == b.div_euclid(step)) {
        let row = part[0].0.div_euclid(step);
        let mut sums = Minute::default();
        part.iter().for_each(|(_, other)| sums.merge(*other));
        // The ends of a gap; its inside is the line between them.
        if row > before + 1 {
            points.push((hours(before + 1), 0.0));
        }
        if row > before + 2 {
            points.push((hours(row - 1), 0.0));
        }
        before = row;
        let rate = sums.queries as f64 / (step * 60) as f64;
        points.push((hours(row), rate));
        table.rows.push(vec![
            time_text(row * step).into(),
            sums.queries.into(),
            rate.into(),
            mean(&sums),
            share(sums.slow, sums.queries),
        ]);
    }
    (table, Curve::new("queries a second", points), step)
}

/// The length of a row in minutes.
fn step_of(minutes: &[(i64, Minute)]) -> i64 {
    let first = minutes.first().map_or(0, |(minute, _)| *minute);
    let last = minutes.last().map_or(0, |(minute, _)| *minute);
    let fits = |step: &i64| last.div_euclid(*step) - first.div_euclid(*step) < ROWS_MAX;
    STEPS
        .into_iter()
        .find(fits)
        .unwrap_or(STEPS[STEPS.len() - 1])
}

/// `2007-06-29 21:15` of a minute.
pub(super) fn time_text(minute: i64) -> String {
    let time = LogTime {
        local_ms: minute * 60_000,
        offset_minutes: None,
    };
    let mut text = Vec::new();
    time.write_rfc3339(&mut text);
    String::from_utf8_lossy(&text[..16.min(text.len())]).replace('T', " ")
}

fn mean(sums: &Minute) -> Cell {
    match sums.sum_us.checked_div(sums.queries) {
        Some(us) => seconds(us),
        None => Cell::Nothing,
    }
}

/// Sums of minutes by a number below `N`.
fn sums_by<const N: usize>(
    minutes: &[(i64, Minute)],
    number: impl Fn(i64) -> usize,
) -> [Minute; N] {
    let mut sums = [Minute::default(); N];
    minutes
        .iter()
        .for_each(|(minute, other)| sums[number(*minute)].merge(*other));
    sums
}

fn hour_of(minute: i64) -> usize {
    minute.div_euclid(60).rem_euclid(24) as usize
}

fn weekday_of(minute: i64) -> usize {
    weekday(minute * 60_000)
}

fn hours(minutes: &[(i64, Minute)]) -> Table {
    let sums: [Minute; 24] = sums_by(minutes, hour_of);
    let names = (0..24).map(|hour| format!("{hour:02}"));
    parts("hours", "By hour of the day", "hour", names.zip(sums))
}

fn weekdays(minutes: &[(i64, Minute)]) -> Table {
    let sums: [Minute; 7] = sums_by(minutes, weekday_of);
    parts(
        "weekdays",
        "By weekday",
        "weekday",
        WEEKDAYS.map(str::to_owned).into_iter().zip(sums),
    )
}

fn parts(
    name: &str,
    title: &str,
    part: &str,
    sums: impl Iterator<Item = (String, Minute)>,
) -> Table {
    let columns = vec![
        Column::new(part, part, Unit::Text),
        Column::new("queries", "queries", Unit::Whole),
        Column::new("mean_seconds", "mean", Unit::Seconds),
        Column::new("slow_share", "above 100 ms", Unit::Share),
    ];
    let mut table = Table::new(name, title, columns);
    let present = sums.filter(|(_, sums)| sums.queries > 0);
    table.rows.extend(present.map(|(name, sums)| {
        vec![
            name.into(),
            sums.queries.into(),
            mean(&sums),
            share(sums.slow, sums.queries),
        ]
    }));
    table
}

fn week(minutes: &[(i64, Minute)]) -> Matrix {
    let sums: [Minute; 168] = sums_by(minutes, |minute| weekday_of(minute) * 24 + hour_of(minute));
    let value = |sums: &Minute| (sums.queries > 0).then_some(sums.queries as f64);
    Matrix {
        unit: Unit::Whole,
        down: "weekday".to_owned(),
        across: "hour".to_owned(),
        rows: WEEKDAYS.map(str::to_owned).to_vec(),
        columns: (0..24).map(|hour| format!("{hour:02}")).collect(),
        values: sums
            .chunks(24)
            .map(|day| day.iter().map(value).collect())
            .collect(),
    }
}
