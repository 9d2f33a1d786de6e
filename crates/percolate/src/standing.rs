//! A standing query as its user saved it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Index of a query in its level.
pub(crate) type Ordinal = u32;

/// A saved search as it was given. The tree is compiled when the query is added, and not kept.
///
/// Shared by reference count: the set, its snapshots and the hits of a call point at the same query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandingQuery {
    /// Its id: any value, unique in its set.
    pub id: u64,
    /// Its text. This crate does not read it.
    pub text: Box<str>,
    /// Its tags. This crate does not read them.
    pub tags: Box<str>,
    /// Its attribute filter as text; empty without one. Equal texts in one set mean the same filter.
    pub filters: Box<str>,
    /// Its request in another protocol's language, such as Elasticsearch's; else empty. This crate does not read it.
    pub source: Box<str>,
    /// How often it was hit. Its owner counts; this crate does not.
    pub count: HitCount,
}

/// How often a query was hit, and when last. All holders of the query see it change. The two numbers are not read at
/// one instant.
#[derive(Debug, Default)]
pub struct HitCount {
    documents: AtomicU64,
    last_s: AtomicI64,
}

impl HitCount {
    /// Adds documents that hit the query, the last of them at `at_s`, in seconds since 1970-01-01 UTC.
    pub fn add(&self, documents: u64, at_s: i64) {
        self.documents.fetch_add(documents, Relaxed);
        self.last_s.store(at_s, Relaxed);
    }

    /// Sets both numbers.
    pub fn set(&self, documents: u64, last_s: i64) {
        self.documents.store(documents, Relaxed);
        self.last_s.store(last_s, Relaxed);
    }

    /// The number of documents that hit the query, and the time of the last one in seconds since 1970-01-01 UTC, 0
    /// for none.
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

/// Always equal: counts do not tell two queries apart.
impl PartialEq for HitCount {
    fn eq(&self, _: &HitCount) -> bool {
        true
    }
}
