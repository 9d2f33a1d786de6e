//! Operators between operands, from the loosest to the tightest.

use super::infix::{Infix, Loose};
use super::{Parser, only_excludes, refuse};
use crate::tree::{Node, QueryError, Unit};

/// An operand: its tree (`None` if it has no word), its height, and the byte at which it begins.
pub(super) struct Side {
    pub(super) node: Option<Node>,
    height: u32,
    start: usize,
}

/// A function that reads one operand at a depth.
type Reader<'a> = fn(&mut Parser<'a>, u32) -> Result<Option<Node>, QueryError>;

impl<'a> Parser<'a> {
    /// `<<`, `NEAR/N` and `NOTNEAR/N`. Reads up to the end or a closing bracket, which it leaves.
    pub(super) fn chain(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let mut left = self.side(depth, Self::conjunction)?;
        let mut in_order = false; // whether `left` is an `Order` made here, to which `<<` adds a part
        while let Some((infix, bytes)) = self.infix()? {
            if self.cursor.at == left.start {
                return self.missing_beside(infix.name());
            }
            let Infix::Loose(loose) = infix else {
                break; // a conjunction has read all others
            };
            let at = self.cursor.at;
            let right = self.right_side(&left, (infix, bytes), depth, Self::conjunction)?;
            if left.node.is_none() && matches!(loose, Loose::NotNear(_)) {
                return refuse(at, "NOTNEAR needs a word on its left".to_owned());
            }
            let chained = in_order && loose == Loose::Order;
            if left.node.is_some() && right.node.is_some() {
                in_order = loose == Loose::Order;
            }
            left = self.both(left, right, chained, |left, right| match loose {
                Loose::Near(distance) => Node::Near {
                    left: Box::new(left),
                    right: Box::new(right),
                    distance,
                },
                Loose::NotNear(distance) => Node::NotNear {
                    left: Box::new(left),
                    right: Box::new(right),
                    distance,
                },
                Loose::Order => Node::Order(list(chained, left, right)),
            })?;
        }
        self.height = left.height;
        Ok(left.node)
    }

    /// Words side by side. Reads up to a looser operator, a closing bracket or the end.
    fn conjunction(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let mut children = Vec::new();
        let mut height = 0;
        loop {
            self.cursor.skip_blank();
            if matches!(self.cursor.peek(), None | Some(')'))
                || matches!(self.infix()?, Some((Infix::Loose(_), _)))
            {
                break;
            }
            match self.alternation(depth)? {
                Some(Node::And(grandchildren)) if !self.leniency.any_word => {
                    height = height.max(self.height.saturating_sub(1));
                    children.extend(grandchildren);
                }
                Some(child) => {
                    height = height.max(self.height);
                    children.push(child);
                }
                None => {}
            }
        }
        if self.leniency.any_word {
            return self.any_of(children, height);
        }
        self.joined(children, height, Node::And)
    }

    /// At least one of the children, and none of the excluded ones.
    fn any_of(&mut self, children: Vec<Node>, height: u32) -> Result<Option<Node>, QueryError> {
        let is_excluded = |child: &Node| matches!(child, Node::Not(_));
        let (mut parts, wanted): (Vec<_>, Vec<_>) = children.into_iter().partition(is_excluded);
        let flat = wanted.into_iter().flat_map(Node::into_any);
        if let Some(any) = self.joined(flat.collect(), height, Node::Or)? {
            parts.insert(0, any);
        }
        let height = self.height.max(height);
        self.joined(parts, height, Node::And)
    }

    /// Makes one node of children, of which the highest has `height`. Several become a `list`, none is `None`.
    pub(super) fn joined(
        &mut self,
        mut children: Vec<Node>,
        height: u32,
        list: fn(Vec<Node>) -> Node,
    ) -> Result<Option<Node>, QueryError> {
        if children.len() < 2 {
            self.height = height;
            return Ok(children.pop());
        }
        self.count_node()?;
        self.grow(height + 1)?;
        Ok(Some(list(children)))
    }

    /// `|` and MAYBE.
    pub(super) fn alternation(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        self.cursor.skip_blank();
        self.alternation_at = self.cursor.at;
        let mut left = self.side(depth, Self::together)?;
        loop {
            self.cursor.skip_blank();
            let bar = self.cursor.peek() == Some('|');
            left = match self.infix()? {
                _ if bar => {
                    let right = self.right_side(&left, (Infix::Or, 1), depth, Self::together)?;
                    self.either(left, right)?
                }
                Some((Infix::Maybe, bytes)) => {
                    let infix = (Infix::Maybe, bytes);
                    let right = self.right_side(&left, infix, depth, Self::together)?;
                    if left.node.is_none() {
                        continue; // without a left side the right one has nothing to add to
                    }
                    self.both(left, right, false, |left, right| {
                        Node::Maybe(Box::new(left), Box::new(right))
                    })?
                }
                _ => break,
            };
        }
        self.height = left.height;
        Ok(left.node)
    }

    /// Joins two sides into one flat `Or`.
    fn either(&mut self, left: Side, right: Side) -> Result<Side, QueryError> {
        let is_any = |side: &Side| matches!(side.node, Some(Node::Or(_)));
        let is_one = left.node.is_none() || right.node.is_none();
        let height = match (is_any(&left), is_any(&right)) {
            _ if is_one => left.height.max(right.height),
            (true, true) => left.height.max(right.height),
            (true, false) => left.height.max(right.height + 1),
            (false, true) => right.height.max(left.height + 1),
            (false, false) => {
                self.count_node()?;
                left.height.max(right.height) + 1
            }
        };
        self.grow(height)?;
        let sides = left.node.into_iter().chain(right.node);
        let mut branches: Vec<Node> = sides.flat_map(Node::into_any).collect();
        let node = match branches.len() {
            0 | 1 => branches.pop(),
            _ => Some(Node::Or(branches)),
        };
        let start = left.start;
        Ok(Side {
            node,
            height,
            start,
        })
    }

    /// SENTENCE and PARAGRAPH.
    fn together(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let mut left = self.side(depth, Self::operand)?;
        let mut last = None; // unit of `left` if it is a `Together` made here
        loop {
            self.cursor.skip_blank();
            let Some((Infix::Together(unit), bytes)) = self.infix()? else {
                break;
            };
            let infix = (Infix::Together(unit), bytes);
            let right = self.right_side(&left, infix, depth, Self::operand)?;
            let complete = left.node.is_some() && right.node.is_some();
            left = self.in_one(unit, last == Some(unit), left, right)?;
            if complete {
                last = Some(unit);
            }
        }
        self.height = left.height;
        Ok(left.node)
    }

    fn in_one(
        &mut self,
        unit: Unit,
        chained: bool,
        left: Side,
        right: Side,
    ) -> Result<Side, QueryError> {
        if self.analyzer.settings().units() {
            return self.both(left, right, chained, |left, right| Node::Together {
                unit,
                parts: list(chained, left, right),
            });
        }
        self.warn("SENTENCE and PARAGRAPH mean AND here: the table was made without index_sp='1'");
        let chained = matches!(left.node, Some(Node::And(_)));
        self.both(left, right, chained, |left, right| {
            let mut parts = list(chained, left, Node::All);
            parts.pop();
            parts.extend(right.into_all());
            Node::And(parts)
        })
    }

    /// Reads an operand behind blanks.
    fn side(&mut self, depth: u32, read: Reader<'a>) -> Result<Side, QueryError> {
        self.cursor.skip_blank();
        let start = self.cursor.at;
        self.height = 0;
        let node = read(self, depth)?;
        let height = self.height;
        Ok(Side {
            node,
            height,
            start,
        })
    }

    /// Reads the operator at the cursor and the operand behind it. Neither side may only exclude.
    fn right_side(
        &mut self,
        left: &Side,
        (infix, bytes): (Infix, usize),
        depth: u32,
        read: Reader<'a>,
    ) -> Result<Side, QueryError> {
        self.check_positive(left, infix)?;
        self.cursor.at += bytes;
        self.cursor.skip_blank();
        let at = self.cursor.at;
        if matches!(self.cursor.peek(), None | Some(')' | '|')) {
            return self.missing_beside(infix.name());
        }
        let right = self.side(depth, read)?;
        if self.cursor.at == at {
            return self.missing_beside(infix.name());
        }
        self.check_positive(&right, infix)?;
        Ok(right)
    }

    /// Joins two sides into one node; a side without a word leaves the other. `chained`: the right one becomes
    /// another part of the left one.
    fn both(
        &mut self,
        left: Side,
        right: Side,
        chained: bool,
        make: impl FnOnce(Node, Node) -> Node,
    ) -> Result<Side, QueryError> {
        let start = left.start;
        let (node, height) = match (left.node, right.node) {
            (Some(one), Some(other)) => {
                let below = if chained { 0 } else { 1 };
                let height = (left.height + below).max(right.height + 1);
                self.count_node()?;
                self.grow(height)?;
                (Some(make(one, other)), height)
            }
            (Some(one), None) => (Some(one), left.height),
            (None, node) => (node, right.height),
        };
        Ok(Side {
            node,
            height,
            start,
        })
    }

    /// Refuses an operand that only excludes.
    fn check_positive(&self, side: &Side, infix: Infix) -> Result<(), QueryError> {
        if side.node.as_ref().is_some_and(only_excludes) {
            let name = match infix {
                Infix::Or => "OR",
                infix => infix.name(),
            };
            return refuse(
                side.start,
                format!("query is non-computable (NOT is not allowed within {name})"),
            );
        }
        Ok(())
    }
}

/// The parts of `left` and `more`, if they are chained; else the two as parts.
fn list(chained: bool, left: Node, more: Node) -> Vec<Node> {
    let mut parts = match chained {
        true => left.into_parts(),
        false => vec![left],
    };
    parts.push(more);
    parts
}
