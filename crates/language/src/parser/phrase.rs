//! Texts in quotes: phrases, proximity and quorum.
//!
//! Examples, each with its node:
//!
//! ```text
//! "a * b"          Phrase [ (a, 0), (b, 2) ]
//! "( a | b ) c"    Or [ Phrase [ a, c ], Phrase [ b, c ] ]
//! "a b"~3          Proximity { a b, slack 3 }
//! "a b c"/2        Quorum { a b c, least 2 }
//! "a b c d"/0.5    Quorum { a b c d, least 2 }
//! "a a b"/2        Quorum { a, a at least twice, b, least 2 }
//! ```

use std::collections::{HashMap, HashSet};

use super::raw::Raw;
use super::words::Run;
use super::{Parser, refuse};
use crate::analysis::in_run;
use crate::limits::{PHRASE_VARIANTS_MAX, QUORUM_WORDS_MAX};
use crate::tree::{Node, QueryError, Term, Word};

/// A piece of a phrase.
enum PhraseItem {
    Text(Run),
    /// `( a | b )`
    Any(Vec<Run>),
}

/// The suffix behind the closing quote.
enum Suffix {
    None,
    /// `~N`
    Proximity(u32),
    /// `/N`
    Count(u32),
    /// `/0.5`, in billionths.
    Share(u64),
}

/// The share 1.0, in billionths.
const WHOLE: u64 = 1_000_000_000;

impl Parser<'_> {
    /// Reads `"…"`; the cursor stands on the opening quote. `exact`: words as written, no stems.
    pub(super) fn phrase(&mut self, exact: bool) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        let parts = self.parts(exact)?;
        let suffix = self.suffix()?;
        self.boost();
        let nodes = match suffix {
            Suffix::None => self.variants(&parts, start, None)?,
            Suffix::Proximity(slack) => self.variants(&parts, start, Some(slack))?,
            Suffix::Count(count) => return self.quorum(parts, start, &|_| count),
            Suffix::Share(share) => {
                // At most QUORUM_WORDS_MAX: it fits.
                let count = |parts: usize| ((parts as u64 * share + WHOLE / 2) / WHOLE) as u32;
                return self.quorum(parts, start, &|parts| count(parts).max(1));
            }
        };
        let height = u32::from(!nodes.is_empty());
        self.joined(nodes, height, Node::Or)
    }

    fn parts(&mut self, exact: bool) -> Result<Vec<PhraseItem>, QueryError> {
        let start = self.cursor.at;
        self.cursor.bump();
        let mut parts = Vec::new();
        let mut raw = Raw::default();
        loop {
            match self.cursor.peek() {
                None => return refuse(start, "unclosed quote".to_owned()),
                Some('"') => break,
                Some('R') => self.take_word_of_phrase(&mut raw)?,
                Some('(') if self.opens_alternatives() => {
                    parts.push(PhraseItem::Text(self.run(&raw, exact)?));
                    raw = Raw::default();
                    parts.push(PhraseItem::Any(self.alternatives(exact)?));
                }
                Some('|') => {
                    let hint = r#"alternatives in a phrase stand in brackets: "( a | b ) c""#;
                    return refuse(self.cursor.at, hint.to_owned());
                }
                Some(_) => self.take_into(&mut raw)?,
            }
        }
        self.cursor.bump();
        parts.push(PhraseItem::Text(self.run(&raw, exact)?));
        Ok(parts)
    }

    /// Takes the character at the cursor. Error: it begins a regular expression, whose letters are no words of the phrase.
    fn take_word_of_phrase(&mut self, raw: &mut Raw) -> Result<(), QueryError> {
        let begins = !raw.is_stuck() && self.cursor.ahead().starts_with("REGEX(");
        if begins && !self.leniency.as_before {
            let message =
                "not yet: REGEX(…) in quotes: write wildcards, or the expression beside them";
            return refuse(self.cursor.at, message.to_owned());
        }
        self.take_into(raw)
    }

    /// Whether the bracket at the cursor holds a `|`. If not, it is punctuation.
    fn opens_alternatives(&self) -> bool {
        let mut bar = false;
        let mut ahead = self.cursor.ahead().chars().skip(1);
        while let Some(c) = ahead.next() {
            match c {
                '\\' => {
                    ahead.next();
                }
                '|' => bar = true,
                ')' => return bar,
                '(' | '"' => return false,
                _ => {}
            }
        }
        false
    }

    /// Reads `( a | b )`; the cursor stands on the opening bracket.
    fn alternatives(&mut self, exact: bool) -> Result<Vec<Run>, QueryError> {
        self.cursor.bump();
        let mut runs = Vec::new();
        let mut raw = Raw::default();
        loop {
            match self.cursor.peek() {
                Some(c @ ('|' | ')')) => {
                    let run = self.run(&raw, exact)?;
                    raw = Raw::default();
                    if run.terms.is_empty() {
                        return self.missing_beside("|");
                    }
                    runs.push(run);
                    self.cursor.bump();
                    if c == ')' {
                        return Ok(runs);
                    }
                }
                _ => self.take_into(&mut raw)?,
            }
        }
    }

    /// Reads `~N`, `/N` or `/0.5` behind the closing quote, with blanks before and inside it.
    fn suffix(&mut self) -> Result<Suffix, QueryError> {
        let behind = self.cursor.at;
        if !self.leniency.as_before {
            self.cursor.skip_blank();
        }
        let start = self.cursor.at;
        let sign = self.cursor.peek();
        if !matches!(sign, Some('~' | '/')) {
            self.cursor.at = behind;
            return Ok(Suffix::None);
        }
        self.cursor.bump();
        if !self.leniency.as_before {
            self.cursor.skip_blank();
        }
        let has_point = !self.leniency.as_before || sign == Some('/');
        let number = self
            .cursor
            .take_while(|c| c.is_ascii_digit() || (has_point && c == '.'));
        let is_number = number.starts_with(|c: char| c.is_ascii_digit() || sign == Some('/'));
        if self.leniency.as_before && !is_number {
            self.cursor.at = behind;
            return Ok(Suffix::None);
        }
        let ends = self.leniency.as_before || !self.cursor.peek().is_some_and(in_run);
        let number = if ends { number } else { "" };
        match sign {
            Some('~') => match number.parse() {
                Ok(slack) if slack > 0 => Ok(Suffix::Proximity(slack)),
                Ok(_) => refuse(start, "proximity threshold too low (0)".to_owned()),
                _ => refuse(
                    start,
                    format!("proximity takes a whole number from 1 to {}", u32::MAX),
                ),
            },
            _ => match (number.parse::<u32>(), share(number)) {
                (Ok(count), _) if count > 0 => Ok(Suffix::Count(count)),
                (Err(_), Some(share)) => Ok(Suffix::Share(share)),
                _ => refuse(
                    start,
                    "a quorum takes a number of words from 1, or a share from 0.0 to 1.0"
                        .to_owned(),
                ),
            },
        }
    }

    /// A phrase, or a proximity, for each choice of alternatives; equal ones once.
    fn variants(
        &mut self,
        parts: &[PhraseItem],
        start: usize,
        slack: Option<u32>,
    ) -> Result<Vec<Node>, QueryError> {
        let choices = |part: &PhraseItem| match part {
            PhraseItem::Text(_) => 1,
            PhraseItem::Any(runs) => runs.len(),
        };
        let count = parts.iter().map(choices).try_fold(1usize, |all, some| {
            all.checked_mul(some)
                .filter(|all| *all <= PHRASE_VARIANTS_MAX)
        });
        let Some(count) = count else {
            return refuse(
                start,
                format!(
                    "the alternatives of a phrase stand for more than {PHRASE_VARIANTS_MAX} phrases"
                ),
            );
        };
        let mut nodes = Vec::new();
        for number in 0..count {
            let mut words = chosen(parts, number);
            for _ in &words {
                self.count_word()?;
            }
            let slack = slack.map(|slack| slack.saturating_add(without_repeats(&mut words)));
            if let Some(node) = self.in_quotes(words, slack)
                && !nodes.contains(&node)
            {
                self.count_node()?;
                nodes.push(node);
            }
        }
        Ok(nodes)
    }

    /// The node of one choice's words. `None` without a word.
    pub(super) fn in_quotes(
        &self,
        mut words: Vec<(Term, u32)>,
        slack: Option<u32>,
    ) -> Option<Node> {
        let fields = self.limit.fields;
        if words.len() < 2 {
            let (term, _) = words.pop()?;
            return Some(Node::Word(Word { term, fields }));
        }
        if let Some(slack) = slack {
            let terms = words.into_iter().map(|(term, _)| term).collect();
            return Some(Node::Proximity {
                terms,
                fields,
                slack,
            });
        }
        let first = words.first().map_or(0, |(_, position)| *position);
        words
            .iter_mut()
            .for_each(|(_, position)| *position -= first);
        Some(Node::Phrase { words, fields })
    }

    fn quorum(
        &mut self,
        parts: Vec<PhraseItem>,
        start: usize,
        least: &dyn Fn(usize) -> u32,
    ) -> Result<Option<Node>, QueryError> {
        let mut words = Vec::new();
        for part in parts {
            match part {
                PhraseItem::Text(run) => {
                    for (term, _) in run.terms {
                        words.push(self.quorum_word(term)?);
                    }
                }
                PhraseItem::Any(runs) => {
                    let mut branches = Vec::new();
                    for run in runs {
                        let mut all = Vec::new();
                        for (term, _) in run.terms {
                            all.push(self.quorum_word(term)?);
                        }
                        branches.extend(self.joined(all, 1, Node::And)?);
                    }
                    words.extend(self.joined(branches, 2, Node::Or)?);
                }
            }
        }
        if words.len() > QUORUM_WORDS_MAX {
            return refuse(
                start,
                format!("a quorum has more than {QUORUM_WORDS_MAX} words"),
            );
        }
        let count = words.len();
        let mut least = least(count);
        if least as usize > count {
            self.warn("a quorum asks for more words than it has: all of them are wanted");
            least = count as u32;
        }
        let mut parts = Vec::with_capacity(count);
        let mut times: HashMap<Word, u32> = HashMap::new();
        for part in words {
            let Node::Word(word) = part else {
                parts.push(part);
                continue;
            };
            let asked = times.entry(word.clone()).or_default();
            *asked += 1;
            let times = *asked;
            if times == 1 {
                parts.push(Node::Word(word));
            } else if least > 1 {
                // With `least` 1 a repeated word asks for nothing more.
                parts.push(Node::Repeated { word, times });
            }
        }
        if parts.len() < 2 {
            self.height = 3;
            return Ok(parts.pop());
        }
        least = least.min(parts.len() as u32);
        self.count_node()?;
        self.grow(4)?;
        Ok(Some(Node::Quorum { parts, least }))
    }

    fn quorum_word(&mut self, term: Term) -> Result<Node, QueryError> {
        self.count_word()?;
        self.count_node()?;
        let fields = self.limit.fields;
        Ok(Node::Word(Word { term, fields }))
    }
}

/// Removes words that repeat an earlier one, and returns their number.
fn without_repeats(words: &mut Vec<(Term, u32)>) -> u32 {
    let count = words.len();
    let mut met = HashSet::new();
    words.retain(|(term, _)| met.insert(term.clone()));
    (count - words.len()) as u32 // no more than words of a query
}

/// A share, written `0.5`, `.5` or `1.0`, in billionths; further digits are cut. `None`: no share, or above 1.
fn share(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.')?;
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let fraction = digits.fold(0, |sum, digit| {
        sum * 10 + u64::from(digit.wrapping_sub(b'0'))
    });
    let is_number = text.len() > 1 && text.bytes().filter(|byte| *byte == b'.').count() == 1;
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let share = whole.checked_mul(WHOLE)?.checked_add(fraction)?;
    (is_number && share <= WHOLE).then_some(share)
}

/// The words of one choice with their positions in the phrase. `number` counts the choices: the first alternatives
/// change fastest.
fn chosen(parts: &[PhraseItem], mut number: usize) -> Vec<(Term, u32)> {
    let mut words = Vec::new();
    let mut length = 0;
    for part in parts {
        let run = match part {
            PhraseItem::Text(run) => Some(run),
            PhraseItem::Any(runs) => {
                let run = runs.get(number % runs.len().max(1));
                number /= runs.len().max(1);
                run
            }
        };
        if let Some(run) = run {
            let placed = run.terms.iter();
            words.extend(placed.map(|(term, position)| (term.clone(), length + position)));
            length += run.length;
        }
    }
    words
}
