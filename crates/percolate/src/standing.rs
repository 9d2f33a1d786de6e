//! A standing query: what a user saved.

/// A saved search, as it was given. Its tree is compiled when it is added and not kept.
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
    /// Its attribute filter as text. Equal texts of one set mean the same filter.
    pub filters: Box<str>,
    /// What a door that speaks another language was given; empty otherwise. Not looked at here.
    pub source: Box<str>,
}
