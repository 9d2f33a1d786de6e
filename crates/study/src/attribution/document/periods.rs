//! By day, week and month; and the list of orders.

use std::collections::BTreeMap;

use report::{
    Axis, Cell, Column, Curve, CurveKind, Curves, Drawing, Picture, Scale, Section, Table, Unit,
};

use super::{Report, cell, text_column};
use crate::attribution::amount::{Sum, apportion};
use crate::attribution::channels::ChannelId;
use crate::attribution::model::Model;
use crate::attribution::tally::{DAY_MS, Earned};
use crate::log::LogTime;

/// The name of the period of a day.
type Period = fn(i64) -> String;

const PERIODS: [(&str, &str, Period); 3] = [
    ("days", "day", |day| date(day)),
    // Monday is the first day of a week, and 1970-01-01 was a Thursday.
    ("weeks", "week", |day| date(day - (day + 3).rem_euclid(7))),
    ("months", "month", |day| date(day)[..7].to_owned()),
];

/// `2024-04-28` of a day since 1970, in UTC.
fn date(day: i64) -> String {
    moment(day * DAY_MS)[..10].to_owned()
}

/// `2024-04-28 12:38:02`, in UTC.
fn moment(at_ms: i64) -> String {
    let time = LogTime {
        local_ms: at_ms,
        offset_minutes: Some(0),
    };
    let mut out = Vec::new();
    time.write_rfc3339(&mut out);
    let text = String::from_utf8_lossy(&out).replace('T', " ");
    text[..text.len().min(19)].to_owned()
}

/// Orders and money by period, then by channel and model.
pub(super) fn section(report: &Report) -> Section {
    let mut section = Section {
        name: "periods".to_owned(),
        title: "By day, week and month".to_owned(),
        text: vec![
            "Days are those of UTC, by the time of the order; weeks begin on Monday.".into(),
        ],
        ..Section::default()
    };
    for (name, period, name_of) in PERIODS {
        section.tables.push(totals(report, name, period, name_of));
    }
    for (name, period, name_of) in PERIODS {
        let by_channel = by_channel(report, name, period, name_of);
        section.tables.push(by_channel);
    }
    let days = report.tally.days.iter();
    let points = days.map(|(day, earned)| (*day as f64, earned.conversions.value()));
    let first = report.tally.days.keys().next().copied().unwrap_or_default();
    let drawing = Drawing::Curves(Curves {
        kind: CurveKind::Points,
        across: Axis::new(
            format!("days since {}", date(first)),
            Unit::Whole,
            Scale::Linear,
        ),
        upward: Axis::new("transactions", report.transactions_unit(), Scale::Linear),
        curves: vec![Curve::new(
            "transactions",
            points.map(|(day, y)| (day - first as f64, y)).collect(),
        )],
    });
    let title = "Transactions by day";
    section
        .pictures
        .push(Picture::new("days_curve", title, drawing));
    section
}

fn totals(report: &Report, name: &str, period: &str, name_of: Period) -> Table {
    let mut columns = vec![text_column(period)];
    columns.extend(report.earned_columns());
    let mut table = Table::new(name, format!("By {period}"), columns);
    let mut sums: BTreeMap<String, Earned> = BTreeMap::new();
    for (day, earned) in &report.tally.days {
        sums.entry(name_of(*day)).or_default().merge(*earned);
    }
    for (period, earned) in sums {
        table.rows.push(vec![
            period.into(),
            report.transactions(earned.conversions),
            report.revenue(earned.value),
        ]);
    }
    table
}

/// The sums of the channels of a period, for each model.
type Channels = BTreeMap<ChannelId, Vec<Earned>>;

fn by_channel(report: &Report, name: &str, period: &str, name_of: Period) -> Table {
    let models: Vec<Model> = report.tally.sums().map(|(model, _)| model).collect();
    let mut columns = vec![text_column(period), text_column("channel")];
    for model in &models {
        columns.push(Column::new(
            format!("{}_transactions", model.key()),
            format!("{}, transactions", model.name()),
            report.transactions_unit(),
        ));
        columns.push(Column::new(
            format!("{}_revenue", model.key()),
            format!("{}, revenue", model.name()),
            report.revenue_unit(),
        ));
    }
    let title = format!("By {period}, channel and model");
    let mut table = Table::new(format!("channel_{name}"), title, columns);
    let mut periods: BTreeMap<String, Channels> = BTreeMap::new();
    for ((day, channel), sums) in report.tally.by_day.iter().flatten() {
        let channels = periods.entry(name_of(*day)).or_default();
        let all = channels.entry(*channel);
        let all = all.or_insert_with(|| vec![Earned::default(); models.len()]);
        for (all, sum) in all.iter_mut().zip(sums) {
            all.merge(*sum);
        }
    }
    for (period, channels) in periods {
        push_period(report, &mut table, &period, &channels, &models);
    }
    table
}

/// The rows of a period. The channels add up to the period's total.
fn push_period(
    report: &Report,
    table: &mut Table,
    period: &str,
    channels: &Channels,
    models: &[Model],
) {
    let mut rows: Vec<Vec<Cell>> = channels
        .keys()
        .map(|channel| vec![period.into(), report.name(*channel).into()])
        .collect();
    for (at, model) in models.iter().enumerate() {
        let column = |of: fn(&Earned) -> Sum, places: u8| -> Vec<Cell> {
            let sums: Vec<Sum> = channels.values().map(|sums| of(&sums[at])).collect();
            let units = if *model == Model::AllTouches {
                sums.iter().map(|sum| sum.units(places)).collect()
            } else {
                apportion(&sums, places)
            };
            units.into_iter().map(|units| cell(units, places)).collect()
        };
        let conversions = column(|earned| earned.conversions, report.places.conversions);
        let values = column(|earned| earned.value, report.places.value);
        for (row, cells) in rows.iter_mut().zip(conversions.into_iter().zip(values)) {
            row.extend([cells.0, cells.1]);
        }
    }
    table.rows.extend(rows);
}

/// The youngest orders: their touches, and the share of each channel.
pub(super) fn orders(report: &mut Report, rows: usize) -> Section {
    let orders: Vec<_> = report
        .tally
        .listed()
        .into_iter()
        .take(rows)
        .cloned()
        .collect();
    let shares: Vec<_> = orders
        .iter()
        .map(|order| report.tally.shares_of(order))
        .collect();
    let columns = vec![
        text_column("order"),
        text_column("time"),
        Column::new("revenue", "revenue", report.revenue_unit()),
        Column::new("touches", "touches", Unit::Whole),
        text_column("touch_list"),
    ];
    let mut lists = Table::new("touch_lists", "Touches of the youngest orders", columns);
    let mut columns = vec![text_column("order"), text_column("channel")];
    columns.extend(
        report
            .tally
            .sums()
            .map(|(model, _)| Column::new(model.key(), model.name(), Unit::Share)),
    );
    let title = "Shares of the channels in the youngest orders";
    let mut parts = Table::new("order_shares", title, columns);
    for (order, shares) in orders.iter().zip(shares) {
        let touches = order.touches.iter();
        let touches: Vec<String> = touches
            .map(|(channel, at)| format!("{} {}", moment(*at), report.name(*channel)))
            .collect();
        lists.rows.push(vec![
            order.id.as_str().into(),
            moment(order.at_ms).into(),
            Cell::Decimal(order.value.0 as f64 / 1e6),
            touches.len().into(),
            touches.join(" > ").into(),
        ]);
        for (channel, shares) in shares {
            let mut row: Vec<Cell> = vec![order.id.as_str().into(), report.name(channel).into()];
            row.extend(shares.into_iter().map(Cell::Decimal));
            parts.rows.push(row);
        }
    }
    Section {
        name: "orders".to_owned(),
        title: "Orders".to_owned(),
        text: vec!["An order without a touch in its window is in the first table only.".to_owned()],
        tables: vec![lists, parts],
        ..Section::default()
    }
}
