//! Clauses, and the tree that their operators make of them.
//!
//! Example: with OR as the default operator, `a AND b c NOT d` has the clauses `+a +b c -d`. `c` is optional beside
//! required clauses, so the tree is `And [ Maybe(And [ a, b ], c), Not d ]`.

use crate::parser::{ONLY_NEGATION, Parser, only_excludes, refuse};
use crate::tree::{Node, QueryError};

/// Whether a clause is required, optional or excluded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occur {
    Must,
    Should,
    MustNot,
}

/// An operator between clauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    None,
    And,
    Or,
}

/// Clauses by their kind.
#[derive(Default)]
struct Sorted {
    musts: Vec<Node>,
    shoulds: Vec<Node>,
    nots: Vec<Node>,
    /// `*:*` is among the required clauses, or among the optional ones.
    all_must: bool,
    all_should: bool,
}

impl Parser<'_> {
    /// Reads clauses up to a closing bracket, which it leaves, or to the end.
    pub(super) fn clauses(&mut self, all: bool, depth: u32) -> Result<Option<Node>, QueryError> {
        let mut clauses: Vec<(Occur, Option<Node>, usize)> = Vec::new();
        loop {
            self.cursor.skip_blank();
            let between = self.between(clauses.is_empty())?;
            if matches!(self.cursor.peek(), None | Some(')')) {
                if between != Between::None {
                    return self.missing_beside(between.name());
                }
                break;
            }
            let start = self.cursor.at;
            let Some(sign) = self.sign()? else {
                continue; // a sign that stands alone
            };
            let node = self.clause(all, depth)?;
            if let Some((before, ..)) = clauses.last_mut()
                && *before != Occur::MustNot
            {
                match between {
                    Between::And => *before = Occur::Must,
                    Between::Or if all => *before = Occur::Should,
                    _ => {}
                }
            }
            let unsaid = match between {
                Between::And => Occur::Must,
                Between::Or => Occur::Should,
                Between::None if all => Occur::Must,
                Between::None => Occur::Should,
            };
            clauses.push((sign.unwrap_or(unsaid), node, start));
        }
        self.combined(clauses)
    }

    fn combined(
        &mut self,
        clauses: Vec<(Occur, Option<Node>, usize)>,
    ) -> Result<Option<Node>, QueryError> {
        let mut sorted = Sorted::default();
        for (occur, node, start) in clauses {
            match (occur, node) {
                (_, None) => {}
                (Occur::Must, Some(Node::All)) => sorted.all_must = true,
                (Occur::Should, Some(Node::All)) => sorted.all_should = true,
                (Occur::MustNot, Some(node)) => {
                    if only_excludes(&node) || node == Node::All {
                        return refuse(start, ONLY_NEGATION.to_owned());
                    }
                    self.negated_at = start;
                    self.count_node()?;
                    sorted.nots.push(Node::Not(Box::new(node)));
                }
                (Occur::Must, Some(Node::And(parts))) => sorted.musts.extend(parts),
                (Occur::Must, Some(node)) => sorted.musts.push(node),
                (Occur::Should, Some(node)) if only_excludes(&node) => {
                    return refuse(
                        start,
                        "query is non-computable (NOT is not allowed within OR)".to_owned(),
                    );
                }
                (Occur::Should, Some(Node::Or(parts))) => sorted.shoulds.extend(parts),
                (Occur::Should, Some(node)) => sorted.shoulds.push(node),
            }
        }
        self.tree(sorted)
    }

    fn tree(&mut self, sorted: Sorted) -> Result<Option<Node>, QueryError> {
        let Sorted {
            mut musts,
            shoulds,
            mut nots,
            all_must,
            all_should,
        } = sorted;
        let positive = |node: &Node| !matches!(node, Node::Not(_));
        let anything = all_must || all_should;
        if !musts.iter().any(positive) {
            // Without a required clause one optional clause must match, unless `*:*` is enough.
            nots.append(&mut musts);
            if anything {
                return if nots.is_empty() {
                    Ok(Some(Node::All))
                } else {
                    refuse(self.negated_at, ONLY_NEGATION.to_owned())
                };
            }
            let node = self.list(shoulds, Node::Or)?;
            musts.extend(node.into_iter().flat_map(Node::into_all));
        } else if !shoulds.is_empty() && !all_should {
            let (excluding, wanted): (Vec<Node>, Vec<Node>) =
                musts.into_iter().partition(|node| !positive(node));
            nots.extend(excluding);
            let wanted = self.list(wanted, Node::And)?;
            let more = self.list(shoulds, Node::Or)?;
            musts = match (wanted, more) {
                (Some(wanted), Some(more)) => {
                    self.count_node()?;
                    vec![Node::Maybe(Box::new(wanted), Box::new(more))]
                }
                (wanted, _) => wanted.into_iter().collect(),
            };
        }
        musts.extend(nots);
        self.list(musts, Node::And)
    }

    fn list(
        &mut self,
        mut nodes: Vec<Node>,
        list: fn(Vec<Node>) -> Node,
    ) -> Result<Option<Node>, QueryError> {
        if nodes.len() < 2 {
            return Ok(nodes.pop());
        }
        self.count_node()?;
        Ok(Some(list(nodes)))
    }

    /// Reads an operator at the cursor and the blanks behind it.
    fn between(&mut self, first: bool) -> Result<Between, QueryError> {
        let at = self.cursor.at;
        let between = if self.cursor.take("&&") || self.keyword("AND") {
            Between::And
        } else if self.cursor.take("||") || self.keyword("OR") {
            Between::Or
        } else {
            return Ok(Between::None);
        };
        if first {
            self.cursor.at = at;
            return self.missing_beside(between.name());
        }
        self.cursor.skip_blank();
        let next = self.cursor.at;
        if self.cursor.take("&&")
            || self.cursor.take("||")
            || self.keyword("AND")
            || self.keyword("OR")
        {
            self.cursor.at = next;
            return self.missing_beside(between.name());
        }
        Ok(between)
    }

    /// Reads the sign before a clause. `None`: it stands alone, as a `-` between blanks does.
    fn sign(&mut self) -> Result<Option<Option<Occur>>, QueryError> {
        let start = self.cursor.at;
        if self.keyword("NOT") {
            self.cursor.skip_blank();
            return match self.cursor.peek() {
                None | Some(')') => self.missing_beside("NOT"),
                Some('+' | '-' | '!') => refuse(start, "double negation".to_owned()),
                _ => Ok(Some(Some(Occur::MustNot))),
            };
        }
        let occur = match self.cursor.peek() {
            Some('+') => Occur::Must,
            Some('-' | '!') => Occur::MustNot,
            _ => return Ok(Some(None)),
        };
        self.cursor.bump();
        match self.cursor.peek() {
            None | Some(')') => Ok(None),
            Some(c) if c.is_whitespace() => {
                self.warn("a +, - or ! that stands alone is passed over: write -word to exclude");
                Ok(None)
            }
            Some('-' | '!') if occur == Occur::MustNot => {
                refuse(start, "double negation".to_owned())
            }
            _ => Ok(Some(Some(occur))),
        }
    }

    /// Takes an operator in capitals.
    fn keyword(&mut self, word: &str) -> bool {
        let behind = self.cursor.ahead().strip_prefix(word);
        let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '+' | '-' | '!');
        let found = behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(ends));
        found && self.cursor.take(word)
    }
}

impl Between {
    fn name(self) -> &'static str {
        match self {
            Between::And => "AND",
            Between::Or | Between::None => "OR",
        }
    }
}
