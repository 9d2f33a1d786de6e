//! Operators between operands that are written as words or as `<<`.

use super::{Parser, refuse};
use crate::tree::{QueryError, Unit};

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Loose(Loose),
    Or,
    Maybe,
    Together(Unit),
}

/// An operator between conjunctions: these bind most loosely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loose {
    Order,
    Near(u32),
    NotNear(u32),
}

impl Infix {
    /// The name by which users know it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Infix::Loose(Loose::Order) => "<<",
            Infix::Loose(Loose::Near(_)) => "NEAR",
            Infix::Loose(Loose::NotNear(_)) => "NOTNEAR",
            Infix::Or => "|",
            Infix::Maybe => "MAYBE",
            Infix::Together(Unit::Sentence) => "SENTENCE",
            Infix::Together(Unit::Paragraph) => "PARAGRAPH",
        }
    }
}

/// Whether a word is Sphinx's limit to zones: `ZONE:h1`, `ZONE:(h1,h2)`, or the same with ZONESPAN.
fn is_zone(word: &str, next: &str) -> bool {
    let name = word
        .strip_prefix("ZONE:")
        .or_else(|| word.strip_prefix("ZONESPAN:"));
    name.is_some_and(|name| {
        name.starts_with(char::is_alphabetic) || (name.is_empty() && next.starts_with('('))
    })
}

impl Parser<'_> {
    /// The operator at the cursor and its length in bytes.
    pub(super) fn infix(&self) -> Result<Option<(Infix, usize)>, QueryError> {
        let ahead = self.cursor.ahead();
        if ahead.starts_with("<<") {
            return Ok(Some((Infix::Loose(Loose::Order), 2)));
        }
        if !ahead.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Ok(None);
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, '|' | '(' | ')' | '"');
        let end = ahead.find(ends).unwrap_or(ahead.len());
        let word = ahead.get(..end).unwrap_or_default();
        let infix = match word {
            "MAYBE" => Infix::Maybe,
            "SENTENCE" => Infix::Together(Unit::Sentence),
            "PARAGRAPH" => Infix::Together(Unit::Paragraph),
            zone if is_zone(zone, ahead.get(end..).unwrap_or_default()) => {
                return refuse(self.cursor.at, "not yet: zones".to_owned());
            }
            _ => match word.split_once('/') {
                Some((name @ "NEAR", count)) if self.counts(count) => {
                    Infix::Loose(Loose::Near(self.distance(name, count)?))
                }
                Some((name @ "NOTNEAR", count)) if self.counts(count) => {
                    Infix::Loose(Loose::NotNear(self.distance(name, count)?))
                }
                _ => return Ok(None),
            },
        };
        Ok(Some((infix, end)))
    }

    /// Whether a text behind `NEAR/` is read as a distance, right or wrong.
    fn counts(&self, count: &str) -> bool {
        !self.leniency.as_before || count.starts_with(|c: char| c.is_ascii_digit())
    }

    fn distance(&self, name: &str, count: &str) -> Result<u32, QueryError> {
        match count.parse() {
            Ok(distance) if distance > 0 => Ok(distance),
            _ => refuse(
                self.cursor.at,
                format!("{name} takes a whole number from 1 to {}", u32::MAX),
            ),
        }
    }
}
