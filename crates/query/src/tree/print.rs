//! Trees as query text, which parses to the same tree again.

use std::fmt;

use super::{FieldSet, Node, Word};

/// Query text of a tree over named fields; see [`Node::display`].
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    node: &'a Node,
    fields: &'a [&'a str],
}

impl Node {
    /// The tree as query text, fully bracketed. `fields` are the names of the text columns, in order; one that has no name is
    /// `f` with its number. What [`crate::parse`] made, it makes again from this text and the same fields.
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
            Node::And(children) => self.list(f, children, " "),
            Node::Or(children) => self.list(f, children, " | "),
            node => self.operand(f, node),
        }
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

    fn operand(&self, f: &mut fmt::Formatter<'_>, node: &Node) -> fmt::Result {
        match node {
            Node::All => Ok(()),
            Node::Word(Word { term, fields }) => self.limited(f, *fields, &|f| {
                let text = &term.text;
                let escape = if text.starts_with('@') { r"\" } else { "" };
                write!(f, "{escape}{text}")
            }),
            Node::Phrase { words, fields } => self.limited(f, *fields, &|f| {
                f.write_str("\"")?;
                for (number, (word, _)) in words.iter().enumerate() {
                    write!(f, "{}{}", if number > 0 { " " } else { "" }, word.text)?;
                }
                f.write_str("\"")
            }),
            Node::And(_) | Node::Or(_) => write!(f, "({})", node.display(self.fields)),
            Node::Not(child) => {
                f.write_str("-")?;
                self.operand(f, child)
            }
            _ => Ok(()),
        }
    }

    /// `(@f …)`: the bracket ends the limit.
    fn limited(
        &self,
        f: &mut fmt::Formatter<'_>,
        fields: FieldSet,
        inside: &dyn Fn(&mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        if fields == FieldSet::ALL {
            return inside(f);
        }
        let count = if self.fields.is_empty() {
            64
        } else {
            self.fields.len().min(64) as u8
        };
        let named: Vec<u8> = (0..count).filter(|field| fields.holds(*field)).collect();
        let (sign, named) = if named.is_empty() {
            ("!", (0..count).collect())
        } else {
            ("", named)
        };
        write!(f, "(@{sign}(")?;
        for (number, field) in named.into_iter().enumerate() {
            f.write_str(if number > 0 { "," } else { "" })?;
            match self.fields.get(usize::from(field)) {
                Some(name) => f.write_str(name)?,
                None => write!(f, "f{field}")?,
            }
        }
        f.write_str(") ")?;
        inside(f)?;
        f.write_str(")")
    }
}
