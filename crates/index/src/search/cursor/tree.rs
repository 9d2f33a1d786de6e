//! All of several, any of several.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::END;
use super::super::rank::Hit;
use super::{Boxed, Cursor};

/// Rows of all of some cursors and of none of others.
pub(super) struct AndCursor<'a> {
    /// At least one, cheapest first.
    required: Vec<Boxed<'a>>,
    excluded: Vec<Boxed<'a>>,
    doc: u32,
}

impl<'a> AndCursor<'a> {
    pub(super) fn new(mut required: Vec<Boxed<'a>>, excluded: Vec<Boxed<'a>>) -> Self {
        required.sort_by_key(|cursor| cursor.cost());
        let mut cursor = AndCursor {
            required,
            excluded,
            doc: 0,
        };
        cursor.settle(0);
        cursor
    }

    fn settle(&mut self, mut target: u32) -> u32 {
        'rows: loop {
            for cursor in &mut self.required {
                let doc = cursor.seek(target);
                if doc == END {
                    self.doc = END;
                    return END;
                }
                if doc != target {
                    target = doc;
                    continue 'rows;
                }
            }
            if self
                .excluded
                .iter_mut()
                .all(|cursor| cursor.seek(target) != target)
            {
                self.doc = target;
                return target;
            }
            target += 1;
        }
    }
}

impl Cursor for AndCursor<'_> {
    fn doc(&self) -> u32 {
        self.doc
    }

    fn seek(&mut self, target: u32) -> u32 {
        if self.doc >= target {
            return self.doc;
        }
        self.settle(target)
    }

    fn cost(&self) -> u64 {
        self.required.first().map_or(0, |cursor| cursor.cost())
    }

    fn record(&mut self, hit: &mut Hit) {
        for cursor in &mut self.required {
            cursor.record(hit);
        }
    }
}

/// Rows of any of some cursors.
pub(super) struct OrCursor<'a> {
    children: Vec<Boxed<'a>>,
    /// `(doc, child)` of every child that stands behind the row.
    ahead: BinaryHeap<Reverse<(u32, usize)>>,
    /// The children that stand on the row.
    here: Vec<usize>,
    doc: u32,
}

impl<'a> OrCursor<'a> {
    pub(super) fn new(children: Vec<Boxed<'a>>) -> Self {
        let ahead = children
            .iter()
            .zip(0..)
            .map(|(child, at)| Reverse((child.doc(), at)))
            .collect();
        let mut cursor = OrCursor {
            children,
            ahead,
            here: Vec::new(),
            doc: 0,
        };
        cursor.settle(0);
        cursor
    }

    fn settle(&mut self, target: u32) -> u32 {
        for at in std::mem::take(&mut self.here) {
            self.ahead
                .push(Reverse((self.children[at].seek(target), at)));
        }
        while let Some(Reverse((doc, at))) = self.ahead.peek().copied()
            && doc < target
        {
            self.ahead.pop();
            self.ahead
                .push(Reverse((self.children[at].seek(target), at)));
        }
        self.doc = self.ahead.peek().map_or(END, |Reverse((doc, _))| *doc);
        while let Some(Reverse((doc, at))) = self.ahead.peek().copied()
            && doc == self.doc
            && doc != END
        {
            self.ahead.pop();
            self.here.push(at);
        }
        self.doc
    }
}

impl Cursor for OrCursor<'_> {
    fn doc(&self) -> u32 {
        self.doc
    }

    fn seek(&mut self, target: u32) -> u32 {
        if self.doc >= target {
            return self.doc;
        }
        self.settle(target)
    }

    fn cost(&self) -> u64 {
        self.children.iter().map(|child| child.cost()).sum()
    }

    fn record(&mut self, hit: &mut Hit) {
        for at in &self.here {
            self.children[*at].record(hit);
        }
    }
}
