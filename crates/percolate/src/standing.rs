//! A standing query: what a user saved.

use query::tree::Node;

/// A saved search, as it was given, with its parsed tree.
///
/// Shared by reference count: the set, its snapshots and the hits of a call all point at the same one.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingQuery {
    /// Its number; unique in its set, any value.
    pub id: u64,
    /// The text it was written in. Not looked at here.
    pub text: Box<str>,
    /// Its tags. Not looked at here.
    pub tags: Box<str>,
    /// Its attribute filter as text. Not looked at here: the caller decides what a filter refuses.
    pub filters: Box<str>,
    /// What it asks for.
    pub root: Node,
}
