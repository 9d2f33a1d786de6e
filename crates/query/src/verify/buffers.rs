//! Memory that is used again from document to document.

use super::window::{Hit, Window};
use crate::reference::Span;

/// Spans of a document: those of a term as the document has them, or others.
pub(super) enum Spans<'d> {
    Lent(&'d [Span]),
    Own(Vec<Span>),
}

impl std::ops::Deref for Spans<'_> {
    type Target = [Span];

    fn deref(&self) -> &[Span] {
        match self {
            Spans::Lent(spans) => spans,
            Spans::Own(spans) => spans,
        }
    }
}

/// Memory that is used again from document to document.
#[derive(Debug, Default)]
pub struct Buffers {
    spans: Vec<Vec<Span>>,
    pub(super) numbered: Vec<(Span, usize)>,
    pub(super) counts: Vec<i64>,
    pub(super) ends: Vec<u64>,
    hits: Vec<Vec<Hit>>,
    pub(super) window: Window,
}

impl Buffers {
    /// An empty list.
    pub(super) fn take(&mut self) -> Vec<Span> {
        let mut spans = self.spans.pop().unwrap_or_default();
        spans.clear();
        spans
    }

    /// An empty list of occurrences.
    pub(super) fn take_hits(&mut self) -> Vec<Hit> {
        let mut hits = self.hits.pop().unwrap_or_default();
        hits.clear();
        hits
    }

    /// Takes a list of occurrences back for later use.
    pub(super) fn give_hits(&mut self, hits: Vec<Hit>) {
        self.hits.push(hits);
    }

    /// The list as one that may be changed.
    pub(super) fn own(&mut self, spans: Spans<'_>) -> Vec<Span> {
        match spans {
            Spans::Own(spans) => spans,
            Spans::Lent(lent) => {
                let mut spans = self.take();
                spans.extend_from_slice(lent);
                spans
            }
        }
    }

    /// Takes a list back for later use.
    pub(super) fn give(&mut self, spans: Spans<'_>) {
        if let Spans::Own(spans) = spans {
            self.spans.push(spans);
        }
    }
}
