//! Rows of a SELECT, wherever they come from: filter, order, project, collect.
//!
//! Example: `SELECT n FROM t WHERE n > 1 ORDER BY n DESC LIMIT 2` over rows with `n` = 1, 4, 2, 3. The condition
//! accepts 4, 2 and
//! 3. [`Best`] keeps 4 and 3. Projected, they are the answer, and its total is 3.

mod best;
mod digest;
mod distinct;
mod groups;
mod join;
mod order;
mod paid;
mod scan;
mod sort;
#[cfg(test)]
mod tests;

pub use best::Best;
pub use distinct::DistinctRows;
pub use groups::{
    Aggregate, Block, BlockGroups, BlocksMade, Groups, PartRows, Place, Spread, Texts,
};
pub use join::{
    Answered, BoxedRows, Fetch, Join, JoinBounds, JoinRows, Joined, JoinedRows, ROWS_A_FETCH,
};
pub use order::{Key, Order, Sorted};
pub use scan::{Scan, Scanned, scan};
