//! Collectors: take the rows that the executor finds. Each thread has its own; they are merged in
//! any order.

mod collector;
mod count;
mod filed;
mod marks;
mod top;

pub(super) use collector::{Collector, FoundPage, FoundRow, WEIGHT_WITHOUT_MATCH};
pub(super) use count::Count;
pub(super) use filed::Filed;
pub(super) use marks::Marks;
pub(super) use top::Top;
