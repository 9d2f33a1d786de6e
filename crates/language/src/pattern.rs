//! Terms that are compared by more than their letters: wildcards and regular expressions.
//!
//! In a table that stems, the text of a pattern begins with `=`, as the words do that it is compared with. This file
//! treats `=` as any other letter.

mod glob;
mod like;
mod literal;
mod within;

#[cfg(test)]
mod tests;

use crate::limits::REGEX_BYTES_MAX;
use crate::meter::{Unmetered, Work};
use crate::tree::{Form, Term};
pub(crate) use glob::is_wildcard;
use glob::{Glob, holds};
pub use like::like;
pub use like::{ESCAPE, like_escaped};
pub use within::Within;

/// A literal that every matching word holds: the word need only be compared if it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// Every matching word begins with it. Never empty.
    Prefix(Box<str>),
    /// Every matching word ends with it. Never empty.
    Suffix(Box<str>),
    /// Every matching word holds it somewhere. Never empty.
    Infix(Box<str>),
    /// No literal is known: any word may match.
    None,
}

impl Literal {
    /// Whether a word holds the literal where it must. Cost: the word's bytes, without a look at their encoding.
    #[must_use]
    pub fn is_in(&self, word: &[u8]) -> bool {
        match self {
            Literal::Prefix(text) => word.starts_with(text.as_bytes()),
            Literal::Suffix(text) => word.ends_with(text.as_bytes()),
            Literal::Infix(text) => holds(word, text.as_bytes()),
            Literal::None => true,
        }
    }

    /// The text that every matching word begins with; empty where none is known.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match self {
            Literal::Prefix(text) => text,
            Literal::Suffix(_) | Literal::Infix(_) | Literal::None => "",
        }
    }

    /// The literal's text; empty for [`Literal::None`].
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Literal::Prefix(text) | Literal::Suffix(text) | Literal::Infix(text) => text,
            Literal::None => "",
        }
    }
}

/// A term, ready to be compared with words. It ignores the term's place in the field.
#[derive(Clone, Debug)]
pub struct Matcher {
    kind: Kind,
    literal: Literal,
}

#[derive(Clone, Debug)]
enum Kind {
    Whole(Box<str>),
    Glob(Glob),
    Regex(Within),
}

impl Matcher {
    /// Prepares a term. Cost: a regular expression is compiled, to [`REGEX_PROGRAM_BYTES_MAX`](crate::limits::REGEX_PROGRAM_BYTES_MAX) at most.
    ///
    /// # Errors
    /// A message for the pattern's writer: it is too long, compiles to too much, or is no regular expression.
    pub fn new(term: &Term) -> Result<Matcher, String> {
        match term.form {
            Form::Whole => Ok(Matcher {
                kind: Kind::Whole(term.text.clone()),
                literal: Literal::Prefix(term.text.clone()),
            }),
            Form::Pattern => {
                let (glob, literal) = Glob::new(&term.text)?;
                let kind = Kind::Glob(glob);
                Ok(Matcher { kind, literal })
            }
            Form::Regex => Ok(Matcher {
                kind: Kind::Regex(compiled(&term.text)?),
                literal: literal::of_regex(&term.text),
            }),
        }
    }

    /// Whether a word of a document matches. A pattern that begins with a wildcard matches no marked word (`#tag`):
    /// it must begin with the mark itself.
    #[must_use]
    pub fn is_match(&self, word: &str) -> bool {
        match &self.kind {
            Kind::Whole(text) => **text == *word,
            Kind::Glob(glob) => glob.is_match(word),
            // Words are short: nobody need be able to stop it.
            Kind::Regex(regex) => regex.is_in(word, &Work::new(&Unmetered)) == Some(true),
        }
    }

    /// Memory that it takes at most beside its literal, in bytes. Cost: a few loads.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.kind {
            Kind::Whole(text) => text.len(),
            Kind::Glob(glob) => glob.memory(),
            Kind::Regex(regex) => regex.memory(),
        }
    }

    /// A literal that every matching word holds: the longest that is easily found.
    #[must_use]
    pub fn literal(&self) -> &Literal {
        &self.literal
    }
}

/// How a regular expression begins, in a query (`REGEX(/…/)`) and in an expression (`REGEXP '…'`, `REGEXP_LIKE(…)`).
const REGEX_NAME: &[u8] = b"regex";

/// Whether a text may hold a regular expression, which takes milliseconds to compile. Cost: a look at each byte.
#[must_use]
pub fn names_regex(text: &[u8]) -> bool {
    let mut places = text.windows(REGEX_NAME.len());
    places.any(|place| place.eq_ignore_ascii_case(REGEX_NAME))
}

/// Compiles an expression that is searched for inside a text. `folds`: letters have no case.
///
/// # Errors
/// A message for the expression's writer.
pub fn compiled_within(text: &str, folds: bool) -> Result<Within, String> {
    check(text)?;
    Within::new(text, folds).map_err(refusal)
}

/// Refuses what is too long or no expression.
fn check(text: &str) -> Result<(), String> {
    if text.len() > REGEX_BYTES_MAX {
        return Err(format!(
            "the regular expression is longer than {REGEX_BYTES_MAX} bytes"
        ));
    }
    // Without brackets around it, which an unbalanced bracket could pair with.
    regex_syntax::parse(text).map_err(|error| {
        let what = match error {
            regex_syntax::Error::Parse(error) => error.kind().to_string(),
            regex_syntax::Error::Translate(error) => error.kind().to_string(),
            _ => "not understood".to_owned(),
        };
        format!("bad regular expression: {what}")
    })?;
    Ok(())
}

/// The message of a compiler that stopped: at its bound of `bytes`, or for another reason.
fn refusal(bytes: Option<usize>) -> String {
    bytes.map_or_else(
        || "bad regular expression".to_owned(),
        |bytes| format!("the regular expression compiles to more than {bytes} bytes"),
    )
}

/// Compiles an expression over a whole word.
fn compiled(text: &str) -> Result<Within, String> {
    check(text)?;
    Within::whole(text).map_err(refusal)
}
