//! Trees as Manticore shows them: for SHOW PLAN, EXPLAIN QUERY and `profile` of a search.
//!
//! Example: `@title "red fox" (hat | bag*)` over `title` and `body` is
//!
//! ```text
//! AND(
//!   PHRASE(fields=(title), KEYWORD(red, querypos=1), KEYWORD(fox, querypos=2)),
//!   OR(
//!     AND(fields=(title), KEYWORD(hat, querypos=3)),
//!     AND(fields=(title), KEYWORD(bag*, querypos=4, pattern))))
//! ```

use std::fmt::{self, Write as _};

use super::{FieldSet, Form, Node, Term, Unit, Word};

/// Levels that are indented; deeper ones stand below each other. A deep tree would have more blanks than words.
const INDENTED_MAX: usize = 20;

/// A node of a tree, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outline {
    /// A word or a pattern.
    Keyword {
        /// Its text, as words of documents are compared with it.
        word: String,
        /// Its place in the query, from 1.
        place: u32,
        /// `field_start`, `field_end`, `pattern`, `regex`.
        marks: Vec<&'static str>,
    },
    /// A condition on several words, or on a word in some fields.
    Operator {
        /// `AND`, `PHRASE` and so on.
        name: &'static str,
        /// `fields=(title)`, `distance=3` and so on.
        limits: Vec<String>,
        /// What it is a condition on, in the order of the query.
        children: Vec<Outline>,
    },
}

impl Node {
    /// The tree as it is shown. `fields` are the names of the text columns in order.
    #[must_use]
    pub fn outline(&self, fields: &[&str]) -> Outline {
        Outliner { fields, place: 0 }.node(self)
    }
}

/// Numbers the words while it goes through a tree.
struct Outliner<'f> {
    fields: &'f [&'f str],
    /// Places of the query so far.
    place: u32,
}

impl Outliner<'_> {
    fn node(&mut self, node: &Node) -> Outline {
        let (name, limits, children) = match node {
            Node::All => ("ALL", Vec::new(), Vec::new()),
            Node::Word(word) => return self.word(word, Vec::new()),
            Node::Repeated { word, times } => {
                return self.word(word, vec![format!("times={times}")]);
            }
            Node::Phrase { words, fields } => {
                let start = self.place;
                let each = words
                    .iter()
                    .map(|(term, distance)| keyword(term, start + distance + 1));
                let children = each.collect();
                self.place = start + node.places();
                ("PHRASE", self.limits(*fields, 0), children)
            }
            Node::Proximity {
                terms,
                fields,
                slack,
            } => {
                let children = terms.iter().map(|term| self.keyword(term)).collect();
                self.place += 1;
                let mut limits = self.limits(*fields, 0);
                limits.push(format!("distance={slack}"));
                ("PROXIMITY", limits, children)
            }
            Node::Quorum { parts, least } => {
                let children = self.each(parts);
                self.place += 1;
                ("QUORUM", vec![format!("count={least}")], children)
            }
            Node::Order(parts) => ("BEFORE", Vec::new(), self.each(parts)),
            Node::Near {
                left,
                right,
                distance,
            } => (
                "NEAR",
                vec![format!("distance={distance}")],
                self.pair(left, right),
            ),
            Node::NotNear {
                left,
                right,
                distance,
            } => (
                "NOTNEAR",
                vec![format!("distance={distance}")],
                self.pair(left, right),
            ),
            Node::Together {
                unit: Unit::Sentence,
                parts,
            } => ("SENTENCE", Vec::new(), self.each(parts)),
            Node::Together {
                unit: Unit::Paragraph,
                parts,
            } => ("PARAGRAPH", Vec::new(), self.each(parts)),
            Node::Maybe(left, right) => ("MAYBE", Vec::new(), self.pair(left, right)),
            Node::And(parts) => ("AND", Vec::new(), self.each(parts)),
            Node::Or(parts) => ("OR", Vec::new(), self.each(parts)),
            Node::Not(part) => ("NOT", Vec::new(), vec![self.node(part)]),
        };
        Outline::Operator {
            name,
            limits,
            children,
        }
    }

    fn each(&mut self, parts: &[Node]) -> Vec<Outline> {
        parts.iter().map(|part| self.node(part)).collect()
    }

    fn pair(&mut self, left: &Node, right: &Node) -> Vec<Outline> {
        let left = self.node(left);
        vec![left, self.node(right)]
    }

    /// A word is an AND of itself: its field limit needs an operator.
    fn word(&mut self, word: &Word, further: Vec<String>) -> Outline {
        let mut limits = self.limits(word.fields, word.term.place.within);
        limits.extend(further);
        Outline::Operator {
            name: "AND",
            limits,
            children: vec![self.keyword(&word.term)],
        }
    }

    fn keyword(&mut self, term: &Term) -> Outline {
        self.place += 1;
        keyword(term, self.place)
    }

    fn limits(&self, fields: FieldSet, within: u32) -> Vec<String> {
        let mut limits = Vec::new();
        let is_in = |at: usize| fields.holds(u8::try_from(at).unwrap_or(u8::MAX));
        let named = self.fields.iter().enumerate();
        let named = named.filter(|(at, _)| is_in(*at)).map(|(_, name)| *name);
        let named: Vec<&str> = named.collect();
        if named.len() < self.fields.len() {
            limits.push(format!("fields=({})", named.join(", ")));
        }
        if within > 0 {
            limits.push(format!("max_field_pos={within}"));
        }
        limits
    }
}

fn keyword(term: &Term, place: u32) -> Outline {
    let marks = [
        (term.place.first, "field_start"),
        (term.place.last, "field_end"),
        (term.form == Form::Pattern, "pattern"),
        (term.form == Form::Regex, "regex"),
    ];
    Outline::Keyword {
        word: term.text.to_string(),
        place,
        marks: marks
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, mark)| mark)
            .collect(),
    }
}

/// On one line; with `{:#}` each operator inside another on a line of its own.
impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, f.alternate().then_some(1))
    }
}

impl Outline {
    /// `level`: levels of operators around its operands, if these have lines of their own.
    fn write(&self, f: &mut fmt::Formatter<'_>, level: Option<usize>) -> fmt::Result {
        match self {
            Outline::Keyword { word, place, marks } => {
                write!(f, "KEYWORD({word}, querypos={place}")?;
                for mark in marks {
                    write!(f, ", {mark}")?;
                }
                f.write_char(')')
            }
            Outline::Operator {
                name,
                limits,
                children,
            } => {
                write!(f, "{name}({}", limits.join(", "))?;
                for (at, child) in children.iter().enumerate() {
                    if at > 0 || !limits.is_empty() {
                        f.write_char(',')?;
                    }
                    match (level, child) {
                        (Some(level), Outline::Operator { .. }) => {
                            write!(f, "\n{:1$}", "", 2 * level.min(INDENTED_MAX))?
                        }
                        _ if at > 0 || !limits.is_empty() => f.write_char(' ')?,
                        _ => {}
                    }
                    child.write(f, level.map(|level| level + 1))?;
                }
                f.write_char(')')
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analyzer;

    fn check(text: &str, expected: &str) {
        let fields = ["title", "body"];
        let query = crate::parse(text, &fields, &Analyzer::default()).unwrap();
        assert_eq!(query.root.outline(&fields).to_string(), expected);
    }

    #[test]
    fn operators_are_shown_with_their_limits_and_places() {
        check("", "ALL()");
        check("red", "AND(KEYWORD(red, querypos=1))");
        check(
            "@title[5] red | ^fox$",
            "OR(AND(fields=(title), max_field_pos=5, KEYWORD(red, querypos=1)), \
             AND(fields=(title), max_field_pos=5, KEYWORD(fox, querypos=2, field_start, field_end)))",
        );
        check(
            "\"a * b\" c",
            "AND(PHRASE(KEYWORD(a, querypos=1), KEYWORD(b, querypos=3)), AND(KEYWORD(c, querypos=4)))",
        );
        check(
            "\"a b\"~3 (c NEAR/2 d*)",
            "AND(PROXIMITY(distance=3, KEYWORD(a, querypos=1), KEYWORD(b, querypos=2)), \
             NEAR(distance=2, AND(KEYWORD(c, querypos=4)), AND(KEYWORD(d*, querypos=5, pattern))))",
        );
        check(
            "a MAYBE b -c",
            "AND(MAYBE(AND(KEYWORD(a, querypos=1)), AND(KEYWORD(b, querypos=2))), NOT(AND(KEYWORD(c, querypos=3))))",
        );
    }

    #[test]
    fn a_tree_on_several_lines_has_an_operator_a_line() {
        let query = crate::parse("\"red fox\" (hat | bag)", &[], &Analyzer::default()).unwrap();
        let lines = "AND(\n  PHRASE(KEYWORD(red, querypos=1), KEYWORD(fox, querypos=2)),\n  OR(\n    \
                     AND(KEYWORD(hat, querypos=3)),\n    AND(KEYWORD(bag, querypos=4))))";
        assert_eq!(format!("{:#}", query.root.outline(&[])), lines);
    }
}
