//! A table as one statement reads it, wherever its rows live: in a search table, among standing queries, in a queue, in memory, in a
//! system relation. Joins, unions, groups, facets and sub-selects ask this and nothing else.
//!
//! Example: `SELECT city, COUNT(*) FROM people WHERE age > 30 GROUP BY city`. The statement asks for groups of the rows with
//! `age > 30`. A search table makes them from blocks of its packed columns and gives the first row of each; a temporary table
//! declines, and gives the rows of the condition, which are then grouped one by one.
//!
//! A call is made once a table and statement, so it costs nothing beside the rows. Values are asked for row by row
//! ([`JoinRows`](crate::rows::JoinRows)) or, inside [`Source::group`], in typed blocks ([`Block`](crate::rows::Block)).

use std::marker::PhantomData;
use std::sync::Arc;

use crate::bind::{JoinColumn, JoinScope};
use crate::options::Options;
use crate::request::{Item, Select};
use crate::rows::{BlocksMade, BoxedRows, Groups, JoinRows};
use crate::value::Value;

/// What a statement may name of a table.
#[derive(Clone, Debug)]
pub struct Shape {
    /// All its columns; an `id` that the table implies is the first.
    pub columns: Vec<JoinColumn>,
    /// Number of leading columns that `*` shows.
    pub starred: usize,
    /// Whether rows have an implied `id`.
    pub has_id: bool,
    /// Whether its rows are standing queries: see [`TAGS_OF_STANDING`](crate::bind::TAGS_OF_STANDING).
    pub is_standing: bool,
    /// Whether MATCH may search it.
    pub takes_match: bool,
}

impl Shape {
    /// The table in a statement that calls it `name`. `rows`: how many it has; `is_searched`: MATCH searches it.
    #[must_use]
    pub fn scope(self, name: &str, rows: u64, is_searched: bool) -> JoinScope<'_> {
        JoinScope {
            name,
            columns: self.columns,
            starred: self.starred,
            has_id: self.has_id,
            rows,
            is_searched,
            is_standing: self.is_standing,
        }
    }
}

/// Rows that a statement asks a table for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its MATCH, its condition, and of a search table its LIMIT say which; the rest is not looked at.
    pub select: &'a Select,
    /// The options of the statement; `cutoff` is not looked at.
    pub options: &'a Options,
    /// The columns whose values are read, by their places in [`Shape::columns`], rising.
    pub needed: &'a [usize],
}

impl Asked<'_> {
    /// The SELECT of these rows with the needed columns, for a source that copies rows. It has one column at least: a row without
    /// any would be no row of an answer.
    #[must_use]
    pub fn copying(&self, shape: &Shape) -> Select {
        let needed = self.needed.iter().filter_map(|at| shape.columns.get(*at));
        let mut items: Vec<Item> = needed.map(|column| Item::column(&column.name)).collect();
        if items.is_empty() {
            items.extend(
                shape
                    .columns
                    .first()
                    .map(|column| Item::column(&column.name)),
            );
        }
        Select {
            matching: self.select.matching.clone(),
            filter: self.select.filter.clone(),
            ..Select::new(&*self.select.table, items)
        }
    }
}

/// What a statement may ask of a table. A source declines what it does no better than its reader.
pub trait Source: Send + Sync {
    /// Why a read fails.
    type Error;
    /// The memory, the stop switch and the threads of a read.
    type Control;

    /// What statements may name of it.
    fn shape(&self) -> Shape;

    /// Number of its rows, or an estimate where only a read tells.
    fn count(&self) -> u64;

    /// The rows that are asked for, in the table's own order.
    ///
    /// # Errors
    /// The condition does not suit the columns; a row cannot be read: a join must not lack rows in silence; no memory; stopped.
    fn locate(
        &self,
        asked: &Asked<'_>,
        control: &Self::Control,
    ) -> Result<BoxedRows<Self::Error>, Self::Error>;

    /// The groups of the rows that [`Source::locate`] would give, each with its first row, made without looking at one row after
    /// the other: one for each of `groupings`, all in one pass. `None` declines: the source cannot, or the statement, or a value in
    /// the rows, needs rows one by one.
    ///
    /// # Errors
    /// As [`Source::locate`].
    fn group(
        &self,
        _asked: &Asked<'_>,
        groupings: &[Arc<Groups>],
        _control: &Self::Control,
    ) -> Result<AllMade<Self::Error>, Self::Error> {
        Ok(groupings.iter().map(|_| None).collect())
    }
}

impl<E, C> std::fmt::Debug for dyn Source<Error = E, Control = C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}

/// One for each of some groupings; `None`: not made from blocks.
pub type AllMade<E> = Vec<Option<MadeGroups<E>>>;

/// Groups that were made from blocks of rows.
pub struct MadeGroups<E> {
    /// The first row of each group.
    pub rows: BoxedRows<E>,
    /// The groups, in the order of these rows.
    pub made: BlocksMade,
}

/// Rows that were copied, with the columns that were needed.
///
/// Example: of the columns `id`, `city`, `age` a statement needs `city`. `rows` is `[["Bonn"], ["Rome"]]` and `places` is
/// `[None, Some(0), None]`.
pub struct Copied<E> {
    rows: Vec<Vec<Value>>,
    /// For each column of the table its place in the rows; `None`: it is not needed.
    places: Vec<Option<usize>>,
    error: PhantomData<fn() -> E>,
}

impl<E> Copied<E> {
    /// Rows with the `needed` ones of a table's `columns` columns, in that order.
    #[must_use]
    pub fn new(rows: Vec<Vec<Value>>, columns: usize, needed: &[usize]) -> Copied<E> {
        let mut places = vec![None; columns];
        for (place, column) in needed.iter().enumerate() {
            places[*column] = Some(place);
        }
        Copied {
            rows,
            places,
            error: PhantomData,
        }
    }
}

impl<E> JoinRows for Copied<E> {
    type Error = E;

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: u32, column: usize) -> Result<Value, E> {
        let place = self.places.get(column).copied().flatten();
        let value = place.and_then(|place| self.rows[row as usize].get(place));
        Ok(value.cloned().unwrap_or(Value::Null))
    }
}
