//! Cursors of AND, of OR and quorums, and of MAYBE.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::END;
use super::{Boxed, Cursor};
use crate::search::rank::Occurrences;

/// The rows that all of some cursors have, and none of others.
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

    fn record(&mut self, row: &mut Occurrences) {
        for cursor in &mut self.required {
            cursor.record(row);
        }
    }
}

/// The rows that at least `least` of some cursors have.
pub(super) struct AnyCursor<'a> {
    children: Vec<Boxed<'a>>,
    least: usize,
    /// `(doc, child)` of every child that stands behind the row.
    ahead: BinaryHeap<Reverse<(u32, usize)>>,
    /// The children that stand on the row.
    here: Vec<usize>,
    doc: u32,
}

impl<'a> AnyCursor<'a> {
    pub(super) fn new(children: Vec<Boxed<'a>>, least: usize) -> Self {
        let ahead = children
            .iter()
            .zip(0..)
            .map(|(child, at)| Reverse((child.doc(), at)))
            .collect();
        let mut cursor = AnyCursor {
            children,
            least,
            ahead,
            here: Vec::new(),
            doc: 0,
        };
        cursor.settle(0);
        cursor
    }

    fn settle(&mut self, mut target: u32) -> u32 {
        loop {
            self.gather(target);
            if self.doc == END || self.here.len() >= self.least {
                return self.doc;
            }
            target = self.doc + 1;
        }
    }

    /// Moves to the first row at or after `target` of any child.
    fn gather(&mut self, target: u32) {
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
    }
}

impl Cursor for AnyCursor<'_> {
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

    fn record(&mut self, row: &mut Occurrences) {
        for at in &self.here {
            self.children[*at].record(row);
        }
    }
}

/// The rows of one cursor. The words of another count too where it has the row.
pub(super) struct MaybeCursor<'a> {
    wanted: Boxed<'a>,
    welcome: Boxed<'a>,
}

impl<'a> MaybeCursor<'a> {
    pub(super) fn new(wanted: Boxed<'a>, welcome: Boxed<'a>) -> Self {
        MaybeCursor { wanted, welcome }
    }
}

impl Cursor for MaybeCursor<'_> {
    fn doc(&self) -> u32 {
        self.wanted.doc()
    }

    fn seek(&mut self, target: u32) -> u32 {
        self.wanted.seek(target)
    }

    fn cost(&self) -> u64 {
        self.wanted.cost()
    }

    fn record(&mut self, row: &mut Occurrences) {
        self.wanted.record(row);
        let doc = self.wanted.doc();
        if self.welcome.seek(doc) == doc {
            self.welcome.record(row);
        }
    }
}
