//! Memory that is used again from document to document.

use std::fmt;
use std::sync::Arc;

use super::window::{Hit, Window};
use crate::meter::Meter;
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
#[derive(Default)]
pub struct Buffers {
    meter: Option<Arc<dyn Meter + Send + Sync>>,
    /// By term: whether its occurrences are there, as those of a word that the tree has elsewhere.
    pub(super) told: Vec<bool>,
    spans: Vec<Vec<Span>>,
    pub(super) numbered: Vec<(Span, usize)>,
    pub(super) counts: Vec<i64>,
    pub(super) ends: Vec<u64>,
    hits: Vec<Vec<Hit>>,
    pub(super) window: Window,
}

impl fmt::Debug for Buffers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Buffers({} lists)", self.spans.len())
    }
}

impl Buffers {
    /// From now on `meter` ends the work on a document, between two nodes of the tree. What it gives then is of no use: the caller
    /// must ask the meter.
    pub fn stop_by(&mut self, meter: Arc<dyn Meter + Send + Sync>) {
        self.meter = Some(meter);
    }

    /// Whether the work is to end.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.meter
            .as_deref()
            .is_some_and(|meter| meter.is_stopped())
    }

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
