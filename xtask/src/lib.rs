//! The project's own chores: `tidy`, the rules of the tree that a machine can check.

pub mod tidy;
