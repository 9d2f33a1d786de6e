//! A summary as tables and pictures.
//!
//! | section | tables | pictures |
//! |---|---|---|
//! | `times` | `times`, `bands` | cumulative and frequency |
//! | `servers`, `indexes`, `pairs` | the same | one curve of each, the busiest first |
//! | `words` | `words` | cumulative |
//! | `sizes` | `sizes` | cumulative |
//! | `rate` | `rate`, `hours`, `weekdays` | queries a second; hour by weekday |
//! | `queries` | `slowest`, `frequent`, `costly`, `empty` | – |
//! | `problems` | `errors`, `unknown`, `inputs` | – |
//!
//! A section without rows is left out. Among the facts are `queries`, a number; `indexes` is a list with `name` in each row.

mod distribution;
mod facts;
mod groups;
mod rate;
mod texts;

use report::{Cell, Document, Fact, Section, Unit};

use super::anonymous::Words;
use super::limits::SLOWEST_MAX;
use super::sizes::Sizes;
use super::source::InputReport;
use super::summary::Summary;

pub(crate) use distribution::{cumulative_curve, seconds, seconds_axis};

/// What a report shows.
#[derive(Clone, Debug)]
pub struct DocumentOptions {
    /// Rows of the lists of queries, at most [`SLOWEST_MAX`].
    pub top: usize,
    /// Small pictures of servers, of indexes and of pairs, each.
    pub panels_max: usize,
    /// Bytes of indexes, which go before what the lines tell.
    pub sizes: Sizes,
    /// How words of queries are shown.
    pub words: Words,
}

impl Default for DocumentOptions {
    /// 20 rows, 200 pictures, words as they are.
    fn default() -> DocumentOptions {
        DocumentOptions {
            top: 20,
            panels_max: 200,
            sizes: Sizes::new(),
            words: Words::Kept,
        }
    }
}

/// The report of a summary. `inputs` may be empty where nothing was read from files.
///
/// Cost: the lists of queries pass over the whole table of queries, some 0.1 s for a million.
pub fn document(summary: &Summary, inputs: &[InputReport], options: &DocumentOptions) -> Document {
    let options = &DocumentOptions {
        top: options.top.min(SLOWEST_MAX),
        ..options.clone()
    };
    let sections = [
        distribution::section(summary),
        groups::servers(summary, options),
        groups::indexes(summary, options),
        groups::pairs(summary, options),
        distribution::by_words(summary),
        groups::by_size(summary, options),
        rate::section(summary),
        texts::queries(summary, options),
        texts::problems(summary, inputs, options),
    ];
    Document {
        title: "Query log".to_owned(),
        notes: facts::notes(summary, inputs, options),
        facts: facts::facts(summary),
        sections: sections.into_iter().filter(has_rows).collect(),
    }
}

/// Whether a section shows anything.
pub(crate) fn has_rows(section: &Section) -> bool {
    section.tables.iter().any(|table| !table.rows.is_empty())
}

/// A fact whose name tells its unit.
pub(crate) fn fact(name: &str, title: &str, unit: Unit, value: impl Into<Cell>) -> Fact {
    Fact::new(name, title, unit, value)
}

/// `part` of `whole`; nothing of nothing.
pub(crate) fn share(part: u64, whole: u64) -> Cell {
    match whole {
        0 => Cell::Nothing,
        _ => Cell::Decimal(part as f64 / whole as f64),
    }
}

#[cfg(test)]
mod tests;
