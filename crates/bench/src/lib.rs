//! Load, timing, comparison; a figure is printed only for a right answer.

pub mod client;
pub mod random;
pub mod workload;
