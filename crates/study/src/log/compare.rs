//! Two logs side by side, such as those before and after a release.
//!
//! | section | tables | pictures |
//! |---|---|---|
//! | `times` | `times`: each measure of both logs and the difference | both cumulative curves |
//! | `servers`, `indexes`, `words` | the same, a row for each name that a log has | – |
//! | `slower`, `faster` | the same: queries that both logs have often enough | – |

use std::collections::{BTreeMap, BTreeSet};

use report::{
    Axis, Cell, Column, CurveKind, Curves, Document, Drawing, Picture, Section, Table, Unit,
    in_text,
};

use super::anonymous::Words;
use super::document::{DocumentOptions, cumulative_curve, fact, has_rows, seconds_axis};
use super::histogram::Histogram;
use super::queries::QueryCount;
use super::summary::{Group, Summary, WORD_CLASSES};

/// A query is compared if each log has it at least this often.
pub const COMPARED_COUNT_MIN: u64 = 10;

/// One of the two logs.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its name in the report.
    pub name: &'a str,
    /// What it says.
    pub summary: &'a Summary,
}

/// What a row tells of a distribution.
struct Measure {
    name: &'static str,
    title: &'static str,
    unit: Unit,
    value: fn(&Histogram) -> Option<f64>,
}

const MEASURES: [Measure; 10] = [
    Measure {
        name: "queries",
        title: "queries",
        unit: Unit::Whole,
        value: |times| Some(times.count() as f64),
    },
    Measure {
        name: "mean_seconds",
        title: "mean",
        unit: Unit::Seconds,
        value: |times| times.mean_us().map(|us| us / 1e6),
    },
    Measure {
        name: "p50_seconds",
        title: "median",
        unit: Unit::Seconds,
        value: |times| quantile(times, 0.5),
    },
    Measure {
        name: "p90_seconds",
        title: "90 % within",
        unit: Unit::Seconds,
        value: |times| quantile(times, 0.9),
    },
    Measure {
        name: "p99_seconds",
        title: "99 % within",
        unit: Unit::Seconds,
        value: |times| quantile(times, 0.99),
    },
    Measure {
        name: "max_seconds",
        title: "longest",
        unit: Unit::Seconds,
        value: |times| (times.count() > 0).then(|| times.max_us() as f64 / 1e6),
    },
    Measure {
        name: "within_1ms_share",
        title: "within 1 ms",
        unit: Unit::Share,
        value: |times| times.share_within(1_000),
    },
    Measure {
        name: "within_10ms_share",
        title: "within 10 ms",
        unit: Unit::Share,
        value: |times| times.share_within(10_000),
    },
    Measure {
        name: "within_100ms_share",
        title: "within 100 ms",
        unit: Unit::Share,
        value: |times| times.share_within(100_000),
    },
    Measure {
        name: "within_500ms_share",
        title: "within 500 ms",
        unit: Unit::Share,
        value: |times| times.share_within(500_000),
    },
];

fn quantile(times: &Histogram, share: f64) -> Option<f64> {
    times.quantile_us(share).map(|us| us as f64 / 1e6)
}

/// The comparison of `after` with `before`. A difference is positive where `after` has more.
pub fn compare(before: Side<'_>, after: Side<'_>, options: &DocumentOptions) -> Document {
    let (slower, faster) = changed(before.summary, after.summary, options);
    let words = |summary: &Summary| -> BTreeMap<String, Histogram> {
        let classes = WORD_CLASSES.iter().zip(summary.by_words());
        classes
            .map(|((name, _, _), times)| ((*name).to_owned(), times.clone()))
            .collect()
    };
    let sections = [
        times(before, after),
        groups(
            "servers",
            "By server",
            "server",
            &of_groups(before.summary.servers()),
            &of_groups(after.summary.servers()),
        ),
        groups(
            "indexes",
            "By index",
            "index",
            &of_groups(before.summary.indexes()),
            &of_groups(after.summary.indexes()),
        ),
        groups(
            "words",
            "By number of query words",
            "words",
            &words(before.summary),
            &words(after.summary),
        ),
        slower,
        faster,
    ];
    let counts = [before, after].map(|side| side.summary.counts().queries);
    Document {
        title: "Two query logs".to_owned(),
        notes: notes([before, after], options),
        facts: vec![
            fact("queries", "queries", Unit::Whole, counts[0] + counts[1]),
            fact("before_queries", "queries before", Unit::Whole, counts[0]),
            fact("after_queries", "queries after", Unit::Whole, counts[1]),
        ],
        sections: sections.into_iter().filter(has_rows).collect(),
    }
}

/// What a reader must know before the figures.
fn notes(sides: [Side<'_>; 2], options: &DocumentOptions) -> Vec<String> {
    let [before, after] = sides;
    let mut notes = vec![format!("Before: {}. After: {}.", before.name, after.name)];
    for side in sides {
        let counts = side.summary.counts();
        if counts.unknown > 0 {
            notes.push(format!(
                "{} of {} lines of {} are of unknown form and are not counted as queries.",
                in_text(counts.unknown, Unit::Whole),
                in_text(counts.lines, Unit::Whole),
                side.name
            ));
        }
        if counts.lost > 0 {
            notes.push(format!(
                "{} queries of {} are missing: the server could not write their lines.",
                in_text(counts.lost, Unit::Whole),
                side.name
            ));
        }
    }
    if matches!(options.words, Words::Hashed(_)) {
        notes.push("Words of queries are shown as hashes.".to_owned());
    }
    notes
}

fn of_groups(groups: BTreeMap<&str, Group>) -> BTreeMap<String, Histogram> {
    groups
        .into_iter()
        .map(|(name, group)| (name.to_owned(), group.times))
        .collect()
}

fn times(before: Side<'_>, after: Side<'_>) -> Section {
    let columns = vec![
        Column::new("measure", "measure", Unit::Text),
        Column::new("before", "before", Unit::Decimal { places: 6 }),
        Column::new("after", "after", Unit::Decimal { places: 6 }),
        Column::new("difference", "difference", Unit::Decimal { places: 6 }),
        Column::new("ratio", "after / before", Unit::Decimal { places: 3 }),
    ];
    let mut table = Table::new("times", "Response times in seconds, and shares", columns);
    let both = [before, after].map(|side| side.summary.times());
    for measure in &MEASURES {
        let [old, new] = both.each_ref().map(measure.value);
        table.rows.push(vec![
            measure.title.into(),
            old.into(),
            new.into(),
            difference(old, new),
            ratio(old, new),
        ]);
    }
    let whole_ms = [before, after]
        .iter()
        .all(|side| side.summary.counts().has_whole_ms());
    let curves = [before, after]
        .into_iter()
        .zip(&both)
        .map(|(side, times)| cumulative_curve(side.name, times, whole_ms));
    let drawing = Drawing::Curves(Curves {
        kind: CurveKind::Cumulative,
        across: seconds_axis(),
        upward: Axis::shares("share answered within"),
        curves: curves.collect(),
    });
    Section {
        name: "times".to_owned(),
        title: "Response times".to_owned(),
        text: Vec::new(),
        pictures: vec![Picture::new(
            "cumulative",
            "Share of queries answered within a time",
            drawing,
        )],
        tables: vec![table],
    }
}

fn difference(old: Option<f64>, new: Option<f64>) -> Cell {
    old.zip(new).map(|(old, new)| new - old).into()
}

fn ratio(old: Option<f64>, new: Option<f64>) -> Cell {
    old.zip(new)
        .filter(|(old, _)| *old > 0.0)
        .map(|(old, new)| new / old)
        .into()
}

/// A row for each name of either log: three columns for each measure.
fn groups(
    name: &str,
    title: &str,
    of: &str,
    before: &BTreeMap<String, Histogram>,
    after: &BTreeMap<String, Histogram>,
) -> Section {
    let mut columns = vec![Column::new("name", of, Unit::Text)];
    for measure in &MEASURES {
        columns.push(Column::new(
            format!("{}_before", measure.name),
            format!("{}, before", measure.title),
            measure.unit,
        ));
        columns.push(Column::new(
            format!("{}_after", measure.name),
            "after",
            measure.unit,
        ));
        columns.push(Column::new(
            format!("{}_difference", measure.name),
            "difference",
            measure.unit,
        ));
    }
    let mut table = Table::new(name, title, columns);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let none = Histogram::default();
    let of_name = |side: &'_ BTreeMap<String, Histogram>, name: &String| {
        side.get(name).unwrap_or(&none).clone()
    };
    let mut rows: Vec<(u64, Vec<Cell>)> = Vec::new();
    for name in names {
        let (old, new) = (of_name(before, name), of_name(after, name));
        let queries = old.count() + new.count();
        if queries == 0 {
            continue;
        }
        let mut row = vec![Cell::from(name.as_str())];
        for measure in &MEASURES {
            let (old, new) = ((measure.value)(&old), (measure.value)(&new));
            row.extend([old.into(), new.into(), difference(old, new)]);
        }
        rows.push((queries, row));
    }
    // The sort keeps equal ones in the order of their names.
    rows.sort_by_key(|(queries, _)| std::cmp::Reverse(*queries));
    table.rows = rows.into_iter().map(|(_, row)| row).collect();
    Section {
        name: name.to_owned(),
        title: title.to_owned(),
        tables: vec![table],
        ..Section::default()
    }
}

/// The queries whose mean rose, and those whose mean fell: those first that cost or save the most time at the frequency of
/// `after`.
fn changed(before: &Summary, after: &Summary, options: &DocumentOptions) -> (Section, Section) {
    let often = |pair: &(QueryCount, QueryCount)| {
        pair.0.count >= COMPARED_COUNT_MIN && pair.1.count >= COMPARED_COUNT_MIN
    };
    let mut pairs: Vec<(f64, QueryCount, QueryCount)> = before
        .queries()
        .pairs(after.queries())
        .filter(often)
        .map(|(old, new)| ((mean_us(&new) - mean_us(&old)) * new.count as f64, old, new))
        .collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.text.cmp(&b.1.text)));
    let slower = pairs.iter().take_while(|(cost, _, _)| *cost > 0.0);
    let faster = pairs.iter().rev().take_while(|(cost, _, _)| *cost < 0.0);
    (
        query_section("slower", "Queries that got slower", slower, options),
        query_section("faster", "Queries that got faster", faster, options),
    )
}

fn mean_us(query: &QueryCount) -> f64 {
    query.sum_us as f64 / query.count.max(1) as f64
}

fn query_section<'p>(
    name: &str,
    title: &str,
    pairs: impl Iterator<Item = &'p (f64, QueryCount, QueryCount)>,
    options: &DocumentOptions,
) -> Section {
    let columns = vec![
        Column::new("count_before", "times before", Unit::Whole),
        Column::new("count_after", "after", Unit::Whole),
        Column::new("mean_before_seconds", "mean before", Unit::Seconds),
        Column::new("mean_after_seconds", "after", Unit::Seconds),
        Column::new("difference_seconds", "difference", Unit::Seconds),
        Column::new("total_difference_seconds", "in all", Unit::Seconds),
        Column::new("query", "query", Unit::Text),
    ];
    let mut table = Table::new(name, title, columns);
    table
        .rows
        .extend(pairs.take(options.top).map(|(cost, old, new)| {
            vec![
                old.count.into(),
                new.count.into(),
                (mean_us(old) / 1e6).into(),
                (mean_us(new) / 1e6).into(),
                ((mean_us(new) - mean_us(old)) / 1e6).into(),
                (cost / 1e6).into(),
                options.words.show(&old.text).into(),
            ]
        }));
    Section {
        name: name.to_owned(),
        title: title.to_owned(),
        text: vec![format!(
            "Queries that each log has at least {COMPARED_COUNT_MIN} times."
        )],
        tables: vec![table],
        ..Section::default()
    }
}

#[cfg(test)]
mod tests;
