//! The project's own chores: `tidy`, the rules of the tree that a machine can check, and `mutate`, bugs that tests must see.

pub mod mutate;
pub mod tidy;
