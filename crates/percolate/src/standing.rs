//! A standing query: what a user saved.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// A query's place in its level.
pub(crate) type Ordinal = u32;

/// A saved search, as it was given. Its tree is compiled when it is added and not kept.
///
/// Shared by reference count: the set, its snapshots and the hits of a call all point at the same one.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// How often it was hit, as its owner counts. Not looked at here.
    pub count: HitCount,
}

/// How often a query was hit, and when last. Everyone who holds the query sees it move; the two numbers are not read
/// at one instant.
#[derive(Debug, Default)]
pub struct HitCount {
    documents: AtomicU64,
    last_s: AtomicI64,
}

impl HitCount {
    /// So many more documents hit the query, the last one at `at_s`, seconds since 1970-01-01 UTC.
    pub fn add(&self, documents: u64, at_s: i64) {
        self.documents.fetch_add(documents, Relaxed);
        self.last_s.store(at_s, Relaxed);
    }

    /// Sets both numbers.
    pub fn set(&self, documents: u64, last_s: i64) {
        self.documents.store(documents, Relaxed);
        self.last_s.store(last_s, Relaxed);
    }

    /// Documents that hit it, and the seconds since 1970-01-01 UTC of the last one, 0 for none.
    #[must_use]
    pub fn get(&self) -> (u64, i64) {
        (self.documents.load(Relaxed), self.last_s.load(Relaxed))
    }
}

impl Clone for HitCount {
    fn clone(&self) -> HitCount {
        let (documents, last_s) = self.get();
        let clone = HitCount::default();
        clone.set(documents, last_s);
        clone
    }
}

/// Two queries are the same whatever was counted.
impl PartialEq for HitCount {
    fn eq(&self, _: &HitCount) -> bool {
        true
    }
}
