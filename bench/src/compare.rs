//! `seine bench compare`: compares the results of two servers, versions or settings, by the measures of the study of distributed
//! search. The results come from live servers or from files.

mod ask;

pub use ask::{Asking, results_of};
pub use study::results::{Measures, Results, compare, read, write};
