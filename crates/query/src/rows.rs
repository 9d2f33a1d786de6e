//! What a SELECT does with rows, wherever they come from: filter, order, project, collect.
//!
//! `SELECT n FROM t WHERE n > 1 ORDER BY n DESC LIMIT 2` over rows with `n` = 1, 4, 2, 3: the condition takes 4, 2, 3; [`Best`] keeps
//! 4, 3; projected they are the answer, whose total is 3.

mod best;
mod order;
mod scan;
#[cfg(test)]
mod tests;

pub use best::Best;
pub use order::{Key, Order, Sorted};
pub use scan::{Scanned, Source, scan};
