//! What does not depend on a model: numbers of touches, overlap of channels, paths, time lag.

use std::cmp::Reverse;

use report::{
    Axis, Bars, Cell, Column, Curve, CurveKind, Curves, Drawing, Group, Picture, Scale, Section,
    Table, Unit,
};

use super::{Report, text_column};
use crate::attribution::channels::ChannelId;
use crate::attribution::limits::{LAG_DAYS_MAX, TOUCH_ROWS_MAX};
use crate::attribution::paths::PathCount;
use crate::attribution::tally::{Earned, Reached};

/// Orders by number of touches, of all channels together and of each.
pub(super) fn touches(report: &Report) -> Section {
    let mut columns = vec![text_column("touches")];
    columns.extend(report.earned_columns());
    let mut table = Table::new("touch_counts", "Orders by number of touches", columns);
    for (count, earned) in &report.tally.by_touches {
        let mut row = vec![row_name(*count, TOUCH_ROWS_MAX).into()];
        row.extend(earned_cells(report, *earned));
        table.rows.push(row);
    }
    let mut columns = vec![text_column("channel"), text_column("touches")];
    columns.extend(report.earned_columns());
    let title = "Orders by number of touches of each channel";
    let mut by_channel = Table::new("channel_touch_counts", title, columns);
    for ((channel, count), earned) in &report.tally.by_channel_touches {
        let mut row = vec![
            report.name(*channel).into(),
            row_name(*count, TOUCH_ROWS_MAX).into(),
        ];
        row.extend(earned_cells(report, *earned));
        by_channel.rows.push(row);
    }
    let groups = report.tally.by_touches.iter().map(|(count, earned)| Group {
        name: row_name(*count, TOUCH_ROWS_MAX),
        values: vec![Some(earned.conversions.value())],
    });
    Section {
        name: "touches".to_owned(),
        title: "Numbers of touches".to_owned(),
        pictures: vec![picture_of(
            report,
            "touch_counts_bars",
            "Orders by number of touches",
            groups.collect(),
        )],
        tables: vec![table, by_channel],
        ..Section::default()
    }
}

/// The name of a row; the last one stands for all larger numbers.
fn row_name(number: usize, most: usize) -> String {
    match number > most {
        true => format!("> {most}"),
        false => number.to_string(),
    }
}

fn picture_of(report: &Report, name: &str, title: &str, groups: Vec<Group>) -> Picture {
    let bars = Bars {
        unit: report.transactions_unit(),
        series: vec!["transactions".to_owned()],
        groups,
    };
    Picture::new(name, title, Drawing::Bars(bars))
}

fn earned_cells(report: &Report, earned: Earned) -> [Cell; 2] {
    [
        report.transactions(earned.conversions),
        report.revenue(earned.value),
    ]
}

fn reached_cells(report: &Report, reached: Reached) -> [Cell; 3] {
    let [transactions, revenue] = earned_cells(report, reached.earned);
    [transactions, revenue, report.transactions(reached.touches)]
}

/// How many channels, and which, an order had.
pub(super) fn overlap(report: &Report, rows: usize) -> Section {
    let columns = |first: &str| {
        let mut columns = vec![text_column(first)];
        columns.extend(report.earned_columns());
        columns.push(Column::new(
            "touches",
            "touches",
            report.transactions_unit(),
        ));
        columns
    };
    let title = "Orders by number of channels";
    let mut overlap = Table::new("overlap", title, columns("channels"));
    for (count, reached) in &report.tally.by_channels {
        let mut row = vec![count.to_string().into()];
        row.extend(reached_cells(report, *reached));
        overlap.rows.push(row);
    }
    let title = "Orders by combination of channels";
    let mut combinations = Table::new("combinations", title, columns("combination"));
    let mut sets: Vec<_> = report.tally.combinations.iter().flatten().collect();
    sets.sort_unstable_by_key(|(set, reached)| (Reverse(reached.earned.conversions), *set));
    for (set, reached) in sets.into_iter().take(rows) {
        let mut row = vec![report.names(set, "+").into()];
        row.extend(reached_cells(report, *reached));
        combinations.rows.push(row);
    }
    let groups = report.tally.by_channels.iter();
    let groups = groups.map(|(count, reached)| Group {
        name: count.to_string(),
        values: vec![Some(reached.earned.conversions.value())],
    });
    Section {
        name: "overlap".to_owned(),
        title: "Overlap of channels".to_owned(),
        pictures: vec![picture_of(
            report,
            "overlap_bars",
            "Orders by number of channels",
            groups.collect(),
        )],
        tables: vec![overlap, combinations],
        ..Section::default()
    }
}

/// The most frequent paths.
pub(super) fn paths(report: &Report, rows: usize) -> Section {
    let mut columns = vec![text_column("path")];
    columns.extend(report.earned_columns());
    columns.push(Column::new(
        "nulls",
        "without order",
        report.transactions_unit(),
    ));
    let mut table = Table::new("paths", "Most frequent paths", columns);
    let all = report.paths.iter().flat_map(|paths| paths.iter());
    for (path, count) in most_frequent(all, rows) {
        table.rows.push(vec![
            report.names(path, " > ").into(),
            Cell::Decimal(count.conversions.0 as f64 / 1e6),
            Cell::Decimal(count.value.0 as f64 / 1e6),
            Cell::Decimal(count.nulls.0 as f64 / 1e6),
        ]);
    }
    Section {
        name: "paths".to_owned(),
        title: "Paths".to_owned(),
        tables: vec![table],
        ..Section::default()
    }
}

/// A path and what it led to.
type Counted<'p> = (&'p [ChannelId], PathCount);

/// The first `rows` of paths in the order of the table, without a list of all of them.
fn most_frequent<'p>(all: impl Iterator<Item = Counted<'p>>, rows: usize) -> Vec<Counted<'p>> {
    let key =
        |(path, count): &Counted<'p>| (Reverse(count.conversions), Reverse(count.nulls), *path);
    let room = 2 * rows.max(FEWEST_SORTED);
    let mut best: Vec<Counted<'p>> = Vec::new();
    for path in all {
        best.push(path);
        if best.len() == room {
            best.select_nth_unstable_by_key(room / 2, key);
            best.truncate(room / 2);
        }
    }
    best.sort_unstable_by_key(key);
    best.truncate(rows);
    best
}

/// Paths that are looked at together, at least.
const FEWEST_SORTED: usize = 1_024;

/// Days from the first touch to the order.
pub(super) fn lag(report: &Report) -> Section {
    let mut columns = vec![text_column("days")];
    columns.extend(report.earned_columns());
    columns.push(Column::new("share_within", "share within", Unit::Share));
    let title = "Orders by whole days since the first touch";
    let mut table = Table::new("lag", title, columns);
    let all = report.tally.total.conversions.value();
    let mut within = Earned::default();
    let mut points = Vec::new();
    for (days, earned) in &report.tally.by_lag {
        within.merge(*earned);
        let share = (all > 0.0).then(|| within.conversions.value() / all);
        let mut row = vec![row_name(*days, LAG_DAYS_MAX).into()];
        row.extend(earned_cells(report, *earned));
        row.push(share.into());
        table.rows.push(row);
        points.extend(share.map(|share| (*days as f64, share)));
    }
    let drawing = Drawing::Curves(Curves {
        kind: CurveKind::Cumulative,
        across: Axis::new("days since the first touch", Unit::Whole, Scale::Linear),
        upward: Axis::shares("share of orders within"),
        curves: vec![Curve::new("orders", points)],
    });
    let title = "Share of orders within a number of days";
    Section {
        name: "lag".to_owned(),
        title: "Time from first touch to order".to_owned(),
        pictures: vec![Picture::new("lag_curve", title, drawing)],
        tables: vec![table],
        ..Section::default()
    }
}
