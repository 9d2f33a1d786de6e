//! Trees as query text, which parses to the same tree again.

mod field;
mod quoted;

use std::fmt;

use super::{FieldSet, Form, Node, Term, Unit, Word};

/// The query text of a tree over named fields; see [`Node::display`].
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    node: &'a Node,
    fields: &'a [&'a str],
}

impl Node {
    /// The tree as query text of [`crate::Syntax::Sphinx`], fully bracketed. `fields` are the names of the text
    /// columns in order; a field without a name is `f` and its number. A tree that [`crate::parse`] made comes out of
    /// the text again, given the same fields and an analyzer that does not stem. (A stem may have a stem of its own.)
    #[must_use]
    pub fn display<'a>(&'a self, fields: &'a [&'a str]) -> Printed<'a> {
        Printed { node: self, fields }
    }
}

/// As [`Node::display`] over sixty-four fields `f0` … `f63`.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display(&[]).fmt(f)
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Node::Or(children) if children.is_empty() => f.write_str("&"),
            Node::And(children) => self.list(f, children, " "),
            Node::Or(children) => self.list(f, children, " | "),
            Node::Order(parts) => self.list(f, parts, " << "),
            Node::Together { unit, parts } => self.list(f, parts, between(*unit)),
            Node::Near {
                left,
                right,
                distance,
            } => self.pair(f, left, format_args!("NEAR/{distance}"), right),
            Node::NotNear {
                left,
                right,
                distance,
            } => self.pair(f, left, format_args!("NOTNEAR/{distance}"), right),
            Node::Maybe(left, right) => self.pair(f, left, format_args!("MAYBE"), right),
            Node::All
            | Node::Word(_)
            | Node::Repeated { .. }
            | Node::Phrase { .. }
            | Node::Proximity { .. }
            | Node::Quorum { .. }
            | Node::Not(_) => self.operand(f, self.node),
        }
    }
}

fn between(unit: Unit) -> &'static str {
    match unit {
        Unit::Sentence => " SENTENCE ",
        Unit::Paragraph => " PARAGRAPH ",
    }
}

impl Printed<'_> {
    fn list(&self, f: &mut fmt::Formatter<'_>, children: &[Node], between: &str) -> fmt::Result {
        for (number, child) in children.iter().enumerate() {
            if number > 0 {
                f.write_str(between)?;
            }
            self.operand(f, child)?;
        }
        Ok(())
    }

    fn pair(
        &self,
        f: &mut fmt::Formatter<'_>,
        left: &Node,
        operator: fmt::Arguments<'_>,
        right: &Node,
    ) -> fmt::Result {
        self.operand(f, left)?;
        write!(f, " {operator} ")?;
        self.operand(f, right)
    }

    fn operand(&self, f: &mut fmt::Formatter<'_>, node: &Node) -> fmt::Result {
        match node {
            Node::All => Ok(()),
            Node::Word(Word { term, fields })
            | Node::Repeated {
                word: Word { term, fields },
                ..
            } => {
                let limit = Limit::of(*fields, term);
                self.limited(f, limit, &|f| write_term(f, term, false))
            }
            Node::Phrase { words, fields } => self.phrase(f, words, *fields),
            Node::Proximity {
                terms,
                fields,
                slack,
            } => self.proximity(f, terms, *fields, *slack),
            Node::Quorum { parts, least } => self.quorum(f, parts, *least),
            Node::Not(child) => {
                f.write_str("-")?;
                self.operand(f, child)
            }
            Node::And(_)
            | Node::Or(_)
            | Node::Order(_)
            | Node::Together { .. }
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Maybe(..) => write!(f, "({})", node.display(self.fields)),
        }
    }
}

/// A field limit, as it stands before its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    fields: FieldSet,
    within: u32,
}

impl Limit {
    const NONE: Limit = Limit {
        fields: FieldSet::ALL,
        within: 0,
    };

    fn of(fields: FieldSet, term: &Term) -> Limit {
        let within = term.place.within;
        Limit { fields, within }
    }
}

/// Writes a term with its signs, without its limit to the first positions.
fn write_term(f: &mut fmt::Formatter<'_>, term: &Term, in_quotes: bool) -> fmt::Result {
    if term.place.first {
        f.write_str("^")?;
    }
    match term.form {
        Form::Regex => write_regex(f, &term.text)?,
        _ if term.text.starts_with('@') && !in_quotes => write!(f, r"\{}", term.text)?,
        _ => f.write_str(&term.text)?,
    }
    if term.place.last {
        f.write_str("$")?;
    }
    Ok(())
}

/// Writes a regular expression with a delimiter that it does not hold.
fn write_regex(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let usual = "/#~!%&;,:@'".chars();
    let own = '\u{E000}'..='\u{F8FF}';
    let delimiter = usual.chain(own).find(|c| !text.contains(*c));
    let delimiter = delimiter.unwrap_or('/');
    write!(f, "REGEX({delimiter}{text}{delimiter})")
}
