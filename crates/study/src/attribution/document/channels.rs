//! Channels by models, and what stands behind Markov models.

use report::{Bars, Cell, Column, Drawing, Group, Matrix, Picture, Section, Table, Unit};

use super::{Report, cell, text_column};
use crate::attribution::chain::{Next, State};
use crate::attribution::figures::{ChainFigures, Column as Share, Figures};
use crate::attribution::model::Model;

/// Channels of a picture.
const DRAWN_CHANNELS_MAX: usize = 30;

/// Name of the row of totals.
const TOTAL: &str = "(total)";

/// What a table shows of a model.
type Pick = fn(&Figures) -> &Share;

/// Transactions and revenue side by side.
pub(super) fn section(report: &Report) -> Section {
    let parts: [(&str, &str, Pick, u8); 2] = [
        (
            "transactions",
            "Transactions by channel and model",
            |figures| &figures.conversions,
            report.places.conversions,
        ),
        (
            "revenue",
            "Revenue by channel and model",
            |figures| &figures.value,
            report.places.value,
        ),
    ];
    let tables = parts.map(|(name, title, pick, places)| {
        let unit = Unit::Decimal { places };
        let mut table = Table::new(name, title, columns(report, unit));
        for (at, channel) in report.channels.iter().enumerate() {
            let mut row: Vec<Cell> = vec![channel.as_str().into()];
            let shares = report.figures.iter().map(pick);
            row.extend(shares.map(|share| cell(share.units[at], places)));
            table.rows.push(row);
        }
        let mut row: Vec<Cell> = vec![TOTAL.into()];
        let shares = report.figures.iter().map(pick);
        row.extend(shares.map(|share| cell(share.total, places)));
        table.rows.push(row);
        table
    });
    let pictures = parts.map(|(name, title, pick, places)| {
        Picture::new(
            format!("{name}_bars"),
            title,
            bars(report, pick, Unit::Decimal { places }),
        )
    });
    let mut text = Vec::new();
    if report
        .figures
        .iter()
        .any(|figures| figures.model == Model::AllTouches)
    {
        text.push(
            "all-touches gives the whole order to each channel: its channels add up to more than the total, which is the true one."
                .to_owned(),
        );
    }
    Section {
        name: "channels".to_owned(),
        title: "Channels".to_owned(),
        text,
        pictures: pictures.into(),
        tables: tables.into(),
    }
}

fn columns(report: &Report, unit: Unit) -> Vec<Column> {
    let models = report
        .figures
        .iter()
        .map(|figures| Column::new(figures.model.key(), figures.model.name(), unit));
    std::iter::once(text_column("channel"))
        .chain(models)
        .collect()
}

/// Bars of the channels with the largest figures of the first model.
fn bars(report: &Report, pick: Pick, unit: Unit) -> Drawing {
    let mut order: Vec<usize> = (0..report.channels.len()).collect();
    if let Some(first) = report.figures.first().map(pick) {
        order.sort_by_key(|at| std::cmp::Reverse(first.units[*at]));
    }
    let groups = order.iter().take(DRAWN_CHANNELS_MAX).map(|at| Group {
        name: report.channels[*at].clone(),
        values: report
            .figures
            .iter()
            .map(|figures| Some(pick(figures).exact[*at]))
            .collect(),
    });
    Drawing::Bars(Bars {
        unit,
        series: report
            .figures
            .iter()
            .map(|figures| figures.model.name().to_owned())
            .collect(),
        groups: groups.collect(),
    })
}

/// The figures as computed.
pub(super) fn exact(report: &Report) -> Section {
    let parts: [(&str, &str, Pick); 2] = [
        ("transactions_exact", "Transactions, unrounded", |figures| {
            &figures.conversions
        }),
        ("revenue_exact", "Revenue, unrounded", |figures| {
            &figures.value
        }),
    ];
    let tables = parts.map(|(name, title, pick)| {
        let mut table = Table::new(name, title, columns(report, Unit::Decimal { places: 9 }));
        for (at, channel) in report.channels.iter().enumerate() {
            let mut row: Vec<Cell> = vec![channel.as_str().into()];
            let figures = report.figures.iter();
            row.extend(figures.map(|figures| Cell::Decimal(pick(figures).exact[at])));
            table.rows.push(row);
        }
        table
    });
    Section {
        name: "exact".to_owned(),
        title: "Unrounded figures".to_owned(),
        tables: tables.into(),
        ..Section::default()
    }
}

/// Removal effects and transitions of Markov models.
pub(super) fn chains(report: &Report, rows: usize) -> Section {
    let mut section = Section {
        name: "chains".to_owned(),
        title: "Markov chains".to_owned(),
        ..Section::default()
    };
    for figures in &report.figures {
        if let Some(chain) = &figures.chain {
            let key = figures.model.key();
            section.text.push(format!(
                "{}: {} states, {} transitions between them.",
                figures.model.name(),
                chain.chain.states().len(),
                chain.chain.edge_count()
            ));
            section.tables.push(effects(report, chain, &key));
            section.tables.push(transitions(report, chain, &key, rows));
            if figures.model == Model::Markov1 && report.channels.len() <= DRAWN_CHANNELS_MAX {
                section.pictures.push(matrix(report, chain));
            }
        }
    }
    section
}

fn effects(report: &Report, chain: &ChainFigures, key: &str) -> Table {
    let columns = vec![
        text_column("channel"),
        Column::new("transactions_effect", "of transactions", Unit::Share),
        Column::new("revenue_effect", "of revenue", Unit::Share),
    ];
    let mut table = Table::new(
        format!("{key}_effects"),
        format!("Removal effects, {key}"),
        columns,
    );
    for (channel, effect) in report.channels.iter().zip(&chain.effects) {
        table.rows.push(vec![
            channel.as_str().into(),
            effect.conversions.into(),
            effect.value.into(),
        ]);
    }
    table
}

fn state_name(report: &Report, state: &State) -> String {
    report.names(state.channels(), " > ")
}

fn next_name(report: &Report, next: &Next) -> String {
    match next {
        Next::State(state) => state_name(report, state),
        Next::Conversion => "(conversion)".to_owned(),
        Next::Null => "(null)".to_owned(),
    }
}

/// All transitions of order 1; of higher orders the most frequent ones.
fn transitions(report: &Report, chain: &ChainFigures, key: &str, rows: usize) -> Table {
    let columns = vec![
        text_column("from"),
        text_column("to"),
        Column::new("count", "count", report.transactions_unit()),
        Column::new("probability", "probability", Unit::Share),
    ];
    let mut table = Table::new(
        format!("{key}_transitions"),
        format!("Transitions, {key}"),
        columns,
    );
    let mut all: Vec<_> = chain.chain.transitions().collect();
    let is_first_order = chain
        .chain
        .states()
        .iter()
        .all(|state| state.channels().len() == 1);
    if !is_first_order {
        // The order of states decides between equal counts, since the sort is stable.
        all.sort_by(|left, right| right.count.total_cmp(&left.count));
        all.truncate(rows);
    }
    table.rows = all
        .iter()
        .map(|transition| {
            let from = match &transition.from {
                None => "(start)".to_owned(),
                Some(state) => state_name(report, state),
            };
            vec![
                from.into(),
                next_name(report, &transition.to).into(),
                transition.count.into(),
                transition.probability.into(),
            ]
        })
        .collect();
    table
}

/// The probabilities of order 1 as a grid.
fn matrix(report: &Report, chain: &ChainFigures) -> Picture {
    let count = report.channels.len();
    let place = |state: &State| usize::from(state.channels()[0].0);
    let mut values = vec![vec![None; count + 2]; count + 1];
    for transition in chain.chain.transitions() {
        let row = transition.from.map_or(0, |state| 1 + place(&state));
        let column = match transition.to {
            Next::State(state) => place(&state),
            Next::Conversion => count,
            Next::Null => count + 1,
        };
        values[row][column] = Some(transition.probability);
    }
    let names = report.channels.iter().cloned();
    let ends = ["(conversion)".to_owned(), "(null)".to_owned()];
    let drawing = Drawing::Matrix(Matrix {
        unit: Unit::Share,
        down: "from".to_owned(),
        across: "to".to_owned(),
        rows: std::iter::once("(start)".to_owned())
            .chain(names.clone())
            .collect(),
        columns: names.chain(ends).collect(),
        values,
    });
    Picture::new("markov_matrix", "Probabilities of transitions", drawing)
}
