//! `OPTION scroll`: the rows behind a place in the order. [`relation::scroll`] has an example.
//!
//! The executor leaves rows out by what the first rows of all weigh, or by their ids. Behind a place that would be wrong, so the
//! job is not bounded: each row that matches is weighed, and the collector drops those in front of the place. A page costs what
//! the first page of an order by an expression costs, however deep it is.

use std::sync::Arc;

use language::meter::Meter;
use relation::bind::{BoundSelect, ScrollPage};
use relation::rows::Order;
use relation::scroll::{Position, Token};

use super::collect::{FoundRow, Top};
use super::exec::{self, Job};
use crate::control::Control;
use crate::error::Result;

/// Runs a job over the rows at and behind the place of a token, and keeps enough for a page.
pub(super) fn run(job: &mut Job<'_>, control: &Control, token: &Arc<Token>) -> (Top, Result<()>) {
    let keep = job.keep.take();
    let keep = keep.map(|keep| keep.saturating_add(token.last.rows));
    let top = || Top::behind(Arc::clone(&job.order), keep, Arc::clone(token));
    exec::run(job, control, &top)
}

/// The page: the rows without those of the place itself that were sent, then as OFFSET and LIMIT say.
/// `None`: the meter has stopped.
pub(super) fn behind(
    top: Top,
    token: &Token,
    select: &BoundSelect<'_>,
    meter: &dyn Meter,
) -> Option<Vec<FoundRow>> {
    let mut rows = top.into_sorted(0, meter)?;
    let at_place = |row: &&FoundRow| is_at(&select.order, row, &token.last);
    let sent = rows.iter().take_while(at_place).count();
    let sent = sent.min(usize::try_from(token.last.rows).unwrap_or(usize::MAX));
    let offset = usize::try_from(select.offset).unwrap_or(usize::MAX);
    rows.drain(..sent.saturating_add(offset).min(rows.len()));
    let limit = select.limit.map(usize::try_from);
    rows.truncate(limit.map_or(usize::MAX, |limit| limit.unwrap_or(usize::MAX)));
    Some(rows)
}

/// Where the last row of a page stands.
pub(super) fn last(page: &ScrollPage, order: &Order, rows: &[FoundRow]) -> Option<Position> {
    let last = rows.last()?;
    let mut place = Position {
        weight: last.weight,
        keys: last.keys.clone(),
        id: last.id,
        rows: 0,
    };
    let of_place = rows
        .iter()
        .rev()
        .take_while(|row| is_at(order, row, &place));
    let count = of_place.count();
    place.rows = count as u64;
    if let Some(before) = &page.behind
        && count == rows.len()
        && order.compare_places(&place, &before.last).is_eq()
    {
        place.rows = place.rows.saturating_add(before.last.rows);
    }
    Some(place)
}

fn is_at(order: &Order, row: &FoundRow, place: &Position) -> bool {
    order.compare_places(row, place).is_eq()
}
