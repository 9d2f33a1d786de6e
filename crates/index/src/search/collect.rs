//! Where rows go that an executor finds: to a collector for each thread, all of which are merged in any order.

mod collector;
mod count;
mod top;

pub(super) use collector::{Collector, FoundRow, WEIGHT_WITHOUT_MATCH};
pub(super) use count::Count;
pub(super) use top::Top;
