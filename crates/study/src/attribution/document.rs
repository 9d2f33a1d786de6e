//! Figures as tables and pictures.
//!
//! | section | tables | pictures |
//! |---|---|---|
//! | `channels` | `transactions`, `revenue`: channels by models, side by side | the same as bars |
//! | `exact` | `transactions_exact`, `revenue_exact`: unrounded | – |
//! | `chains` | `markov_effects`, `markov_transitions`; of order 2 and 3 `markov_2_effects` … | transitions of order 1 |
//! | `touches` | `touch_counts`, `channel_touch_counts` | orders by number of touches |
//! | `overlap` | `overlap`, `combinations` | orders by number of channels |
//! | `paths` | `paths` | – |
//! | `lag` | `lag` | share of orders by days since the first touch |
//! | `periods` | `days`, `weeks`, `months`, and each by channel | orders by day |
//! | `orders` | `touch_lists`, `order_shares` | – |
//! | `problems` | `unknown`, `inputs` | – |
//!
//! A section without rows is left out.

mod channels;
mod counts;
mod periods;

use report::{Cell, Column, Document, Fact, Section, Table, Unit};

use super::amount::Sum;
use super::channels::ChannelId;
use super::figures::{Figures, Places};
use super::input::Lines;
use super::paths::PathTable;
use super::tally::Tally;

/// All that a report shows.
#[derive(Debug)]
pub struct Report {
    /// The names of the channels, in order.
    pub channels: Vec<String>,
    /// What each model gives them.
    pub figures: Vec<Figures>,
    /// Sums of orders.
    pub tally: Tally,
    /// The different paths; `None`: too many.
    pub paths: Option<PathTable>,
    /// Digits behind the point.
    pub places: Places,
    /// How each file was read.
    pub lines: Vec<Lines>,
    /// Further figures of the whole: key, title, number.
    pub counts: Vec<(&'static str, &'static str, u64)>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct DocumentOptions {
    /// Rows of each list.
    pub rows: usize,
    /// Whether unrounded figures are shown, too.
    pub exact: bool,
}

/// The report as a document.
pub fn document(report: &mut Report, options: DocumentOptions) -> Document {
    let shares = periods::orders(report, options.rows);
    let report = &*report;
    let mut sections = vec![channels::section(report)];
    if options.exact {
        sections.push(channels::exact(report));
    }
    sections.extend([
        channels::chains(report, options.rows),
        counts::touches(report),
        counts::overlap(report, options.rows),
        counts::paths(report, options.rows),
        counts::lag(report),
        periods::section(report),
        shares,
        problems(report),
    ]);
    let has_rows = |section: &Section| section.tables.iter().any(|table| !table.rows.is_empty());
    Document {
        title: "Attribution".to_owned(),
        notes: notes(report),
        facts: facts(report),
        sections: sections.into_iter().filter(has_rows).collect(),
    }
}

impl Report {
    fn name(&self, channel: ChannelId) -> &str {
        &self.channels[usize::from(channel.0)]
    }

    /// Names of channels in a row.
    fn names(&self, channels: &[ChannelId], between: &str) -> String {
        let names: Vec<&str> = channels.iter().map(|channel| self.name(*channel)).collect();
        names.join(between)
    }

    fn transactions(&self, sum: Sum) -> Cell {
        cell(sum.units(self.places.conversions), self.places.conversions)
    }

    fn revenue(&self, sum: Sum) -> Cell {
        cell(sum.units(self.places.value), self.places.value)
    }

    fn transactions_unit(&self) -> Unit {
        Unit::Decimal {
            places: self.places.conversions,
        }
    }

    fn revenue_unit(&self) -> Unit {
        Unit::Decimal {
            places: self.places.value,
        }
    }

    /// The columns of orders and money.
    fn earned_columns(&self) -> [Column; 2] {
        [
            Column::new("transactions", "transactions", self.transactions_unit()),
            Column::new("revenue", "revenue", self.revenue_unit()),
        ]
    }
}

/// A number of units of `places` digits. Up to 2^53 units it has all its digits.
fn cell(units: i128, places: u8) -> Cell {
    Cell::Decimal(units as f64 / 10_f64.powi(i32::from(places)))
}

/// A column of words.
fn text_column(name: &str) -> Column {
    Column::new(name, name, Unit::Text)
}

fn facts(report: &Report) -> Vec<Fact> {
    let total = report.tally.total;
    let mut facts = vec![
        Fact::new(
            "total_transactions",
            "transactions",
            report.transactions_unit(),
            report.transactions(total.conversions),
        ),
        Fact::new(
            "total_revenue",
            "revenue",
            report.revenue_unit(),
            report.revenue(total.value),
        ),
        Fact::new(
            "channel_count",
            "channels",
            Unit::Whole,
            report.channels.len(),
        ),
    ];
    if let Some(paths) = &report.paths {
        let nulls = paths.iter().map(|(_, count)| count.nulls);
        let mut sum = Sum::default();
        nulls.for_each(|nulls| sum.add(nulls));
        facts.push(Fact::new(
            "path_count",
            "different paths",
            Unit::Whole,
            paths.len(),
        ));
        facts.push(Fact::new(
            "paths_without_order",
            "paths without order",
            report.transactions_unit(),
            report.transactions(sum),
        ));
    }
    for (name, title, number) in &report.counts {
        facts.push(Fact::new(*name, *title, Unit::Whole, *number));
    }
    let lines: u64 = report.lines.iter().map(|lines| lines.count).sum();
    let unknown: u64 = report.lines.iter().map(|lines| lines.unknown).sum();
    facts.push(Fact::new("lines", "lines", Unit::Whole, lines));
    facts.push(Fact::new(
        "unknown_lines",
        "lines of unknown form",
        Unit::Whole,
        unknown,
    ));
    facts
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes = report.notes.clone();
    for lines in &report.lines {
        if lines.unknown > 0 {
            notes.push(format!(
                "{} of {} lines of {} are of unknown form and do not count.",
                lines.unknown, lines.count, lines.name
            ));
        }
        if let Some(why) = &lines.cut {
            notes.push(format!(
                "{}: the reading ended early after {} lines, which count: {why}.",
                lines.name, lines.count
            ));
        }
    }
    if report.places.rounded_amounts > 0 {
        notes.push(format!(
            "{} amounts have more than six digits behind the point and are rounded to a millionth.",
            report.places.rounded_amounts
        ));
    }
    let outgrown = [
        (report.paths.is_none(), "paths"),
        (report.tally.combinations.is_none(), "combinations"),
        (report.tally.by_day.is_none(), "channels by day"),
    ];
    for (_, what) in outgrown.iter().filter(|(is_outgrown, _)| *is_outgrown) {
        notes.push(format!(
            "The table of {what} is left out: it would have too many rows."
        ));
    }
    notes
}

/// What the reading could not use.
fn problems(report: &Report) -> Section {
    let columns = vec![
        text_column("input"),
        Column::new("line", "line", Unit::Whole),
        text_column("reason"),
        text_column("text"),
    ];
    let mut unknown = Table::new("unknown", "Lines of unknown form, by example", columns);
    for lines in &report.lines {
        for example in &lines.examples {
            unknown.rows.push(vec![
                lines.name.as_str().into(),
                example.line.into(),
                example.why.into(),
                example.text.as_str().into(),
            ]);
        }
    }
    let columns = vec![
        text_column("input"),
        Column::new("lines", "lines", Unit::Whole),
        Column::new("unknown", "unknown", Unit::Whole),
        Column::new("cut", "ended early", Unit::Text),
    ];
    let mut inputs = Table::new("inputs", "Inputs", columns);
    for lines in &report.lines {
        inputs.rows.push(vec![
            lines.name.as_str().into(),
            lines.count.into(),
            lines.unknown.into(),
            lines.cut.clone().into(),
        ]);
    }
    Section {
        name: "problems".to_owned(),
        title: "Inputs and unknown lines".to_owned(),
        tables: vec![unknown, inputs],
        ..Section::default()
    }
}
