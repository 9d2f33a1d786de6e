//! Terms that are compared by more than their letters: wildcards and regular expressions.
//!
//! In a table that stems, their text begins with `=` as the words that they are compared with do; nothing here knows of it.

mod glob;
mod literal;

#[cfg(test)]
mod tests;

use regex::{Regex, RegexBuilder};

use crate::limits::{REGEX_BYTES_MAX, REGEX_PROGRAM_BYTES_MAX};
use crate::tree::{Form, Term};
use glob::Glob;
pub(crate) use glob::is_wildcard;

/// A literal that every word holds which a term matches: where to begin looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// The word begins with it. Never empty.
    Prefix(Box<str>),
    /// The word ends with it. Never empty.
    Suffix(Box<str>),
    /// The word holds it somewhere. Never empty.
    Infix(Box<str>),
    /// There is none: any word may match.
    None,
}

impl Literal {
    /// The text; empty for [`Literal::None`].
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Literal::Prefix(text) | Literal::Suffix(text) | Literal::Infix(text) => text,
            Literal::None => "",
        }
    }
}

/// A term, ready to be compared with words. Its place in the field is not its matter.
#[derive(Clone, Debug)]
pub struct Matcher {
    kind: Kind,
    literal: Literal,
}

#[derive(Clone, Debug)]
enum Kind {
    Whole(Box<str>),
    Glob(Glob),
    Regex(Regex),
}

impl Matcher {
    /// Cost: a regular expression is compiled, to [`REGEX_PROGRAM_BYTES_MAX`] at most.
    ///
    /// # Errors
    /// What is wrong with the pattern, for its writer: it is too long or too big, or no regular expression.
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

    /// Whether a word of a document is one of those that the term stands for. A pattern with wildcards matches a marked word
    /// (`#tag`) only if it begins with the mark itself.
    #[must_use]
    pub fn is_match(&self, word: &str) -> bool {
        match &self.kind {
            Kind::Whole(text) => **text == *word,
            Kind::Glob(glob) => glob.is_match(word),
            Kind::Regex(regex) => regex.is_match(word),
        }
    }

    /// A literal that every matching word holds, the longest that is easily found.
    #[must_use]
    pub fn literal(&self) -> &Literal {
        &self.literal
    }
}

/// The expression over a whole word.
fn compiled(text: &str) -> Result<Regex, String> {
    if text.len() > REGEX_BYTES_MAX {
        return Err(format!(
            "the regular expression is longer than {REGEX_BYTES_MAX} bytes"
        ));
    }
    // By itself first: an unbalanced bracket must not pair with ours.
    regex_syntax::parse(text).map_err(|error| {
        let what = match error {
            regex_syntax::Error::Parse(error) => error.kind().to_string(),
            regex_syntax::Error::Translate(error) => error.kind().to_string(),
            _ => "not understood".to_owned(),
        };
        format!("bad regular expression: {what}")
    })?;
    RegexBuilder::new(&format!(r"\A(?:{text})\z"))
        .size_limit(REGEX_PROGRAM_BYTES_MAX)
        .dfa_size_limit(REGEX_PROGRAM_BYTES_MAX)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(bytes) => {
                format!("the regular expression compiles to more than {bytes} bytes")
            }
            _ => "bad regular expression".to_owned(),
        })
}
