//! What stands in quotes: phrases, proximity and quorum.

use super::raw::Raw;
use super::words::Run;
use super::{Parser, refuse};
use crate::limits::{PHRASE_VARIANTS_MAX, QUORUM_WORDS_MAX};
use crate::tree::{Node, QueryError, Term, Word};

/// A piece of a phrase.
enum Part {
    Text(Run),
    /// `( a | b )`
    Any(Vec<Run>),
}

/// What follows the closing quote.
enum Suffix {
    None,
    /// `~N`
    Proximity(u32),
    /// `/N`
    Count(u32),
    /// `/0.5`
    Share(f64),
}

impl Parser<'_> {
    /// `"…"`; the cursor stands on the opening quote. `exact`: words as written.
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
                let count = |parts: usize| ((parts as f64 * share).ceil() as u32).max(1);
                return self.quorum(parts, start, &count);
            }
        };
        let height = u32::from(!nodes.is_empty());
        self.joined(nodes, height, Node::Or)
    }

    fn parts(&mut self, exact: bool) -> Result<Vec<Part>, QueryError> {
        let start = self.cursor.at;
        self.cursor.bump();
        let mut parts = Vec::new();
        let mut raw = Raw::default();
        loop {
            match self.cursor.peek() {
                None => return refuse(start, "unclosed quote".to_owned()),
                Some('"') => break,
                Some('(') if self.opens_alternatives() => {
                    parts.push(Part::Text(self.run(&raw, exact)?));
                    raw = Raw::default();
                    parts.push(Part::Any(self.alternatives(exact)?));
                }
                Some('|') => {
                    let hint = r#"alternatives in a phrase stand in brackets: "( a | b ) c""#;
                    return refuse(self.cursor.at, hint.to_owned());
                }
                Some(_) => self.take_into(&mut raw)?,
            }
        }
        self.cursor.bump();
        parts.push(Part::Text(self.run(&raw, exact)?));
        Ok(parts)
    }

    /// Whether the bracket at the cursor holds a `|`; else it is punctuation.
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

    /// `( a | b )`; the cursor stands on the opening bracket.
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

    fn suffix(&mut self) -> Result<Suffix, QueryError> {
        let start = self.cursor.at;
        let mut ahead = self.cursor.ahead().chars();
        let sign = ahead.next();
        let next = ahead.next();
        if !next.is_some_and(|c| c.is_ascii_digit() || (c == '.' && sign == Some('/'))) {
            return Ok(Suffix::None);
        }
        match sign {
            Some('~') => {
                self.cursor.bump();
                match self.cursor.take_while(|c| c.is_ascii_digit()).parse() {
                    Ok(slack) if slack > 0 => Ok(Suffix::Proximity(slack)),
                    _ => refuse(
                        start,
                        format!("proximity takes a whole number from 1 to {}", u32::MAX),
                    ),
                }
            }
            Some('/') => {
                self.cursor.bump();
                let number = self.cursor.take_while(|c| c.is_ascii_digit() || c == '.');
                let share = number
                    .parse()
                    .ok()
                    .filter(|share| (0.0..=1.0).contains(share));
                match (number.parse::<u32>(), share) {
                    (Ok(count), _) if count > 0 => Ok(Suffix::Count(count)),
                    (Err(_), Some(share)) => Ok(Suffix::Share(share)),
                    _ => refuse(
                        start,
                        "a quorum takes a number of words from 1, or a share from 0.0 to 1.0"
                            .to_owned(),
                    ),
                }
            }
            _ => Ok(Suffix::None),
        }
    }

    /// A phrase, or a proximity, for each choice among the alternatives; each once.
    fn variants(
        &mut self,
        parts: &[Part],
        start: usize,
        slack: Option<u32>,
    ) -> Result<Vec<Node>, QueryError> {
        let choices = |part: &Part| match part {
            Part::Text(_) => 1,
            Part::Any(runs) => runs.len(),
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
            let words = chosen(parts, number);
            for _ in &words {
                self.count_word()?;
            }
            if let Some(node) = self.in_quotes(words, slack)
                && !nodes.contains(&node)
            {
                self.count_node()?;
                nodes.push(node);
            }
        }
        Ok(nodes)
    }

    /// The words of one choice as a node.
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
        parts: Vec<Part>,
        start: usize,
        least: &dyn Fn(usize) -> u32,
    ) -> Result<Option<Node>, QueryError> {
        let mut words = Vec::new();
        for part in parts {
            match part {
                Part::Text(run) => {
                    for (term, _) in run.terms {
                        words.push(self.quorum_word(term)?);
                    }
                }
                Part::Any(runs) => {
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
        if words.len() < 2 {
            self.height = 3;
            return Ok(words.pop());
        }
        let count = words.len();
        let mut least = least(count);
        if least as usize > count {
            self.warn("a quorum asks for more words than it has: all of them are wanted");
            least = count as u32;
        }
        self.count_node()?;
        self.grow(4)?;
        let parts = words;
        Ok(Some(Node::Quorum { parts, least }))
    }

    fn quorum_word(&mut self, term: Term) -> Result<Node, QueryError> {
        self.count_word()?;
        self.count_node()?;
        let fields = self.limit.fields;
        Ok(Node::Word(Word { term, fields }))
    }
}

/// The words of the choice of that number, with their positions in the phrase.
fn chosen(parts: &[Part], mut number: usize) -> Vec<(Term, u32)> {
    let mut words = Vec::new();
    let mut length = 0;
    for part in parts {
        let run = match part {
            Part::Text(run) => Some(run),
            Part::Any(runs) => {
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
