//! Words of queries: from the characters between operators to terms.

use std::ops::Range;

use super::raw::{Raw, Sign};
use super::{Parser, refuse};
use crate::analysis::{in_run, is_mark};
use crate::pattern::{Matcher, is_wildcard};
use crate::tree::{FieldPlace, Form, Node, QueryError, Term, Word};

/// The terms of a piece of text, and the number of positions that it takes.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// Each term with its position, from 1.
    pub(super) terms: Vec<(Term, u32)>,
    pub(super) length: u32,
}

/// A word of a piece of text before it becomes a term.
struct WrittenWord {
    text: String,
    form: Form,
    position: u32,
    source: Range<usize>,
}

impl Parser<'_> {
    /// Reads a word, which analysis may split into several or drop; the cursor stands on its first character.
    pub(super) fn word(&mut self) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        let mut raw = Raw::default();
        while let Some(c) = self.cursor.peek() {
            let begun = self.cursor.at > start;
            match c {
                _ if c.is_whitespace() => break,
                '|' | '(' | ')' | '"' => break,
                '@' if begun && (!raw.is_stuck() || self.names_field()) => break,
                '<' if self.cursor.ahead().starts_with("<<") => break,
                '~' if !self.leniency.as_before && raw.is_stuck() && self.at_fuzziness() => {
                    let message = r"not yet: fuzzy words, word~: write \~ for the sign";
                    return refuse(self.cursor.at, message.to_owned());
                }
                '=' if begun && !raw.is_stuck() && self.cursor.ahead().starts_with("=\"") => break,
                _ => self.take_into(&mut raw)?,
            }
        }
        if !raw.escaped {
            self.warn_of_capitals(&raw.text);
        }
        let terms = self.run(&raw, false)?.terms;
        if terms.is_empty() && raw.has_wildcards() {
            self.warn("wildcards without a letter are passed over");
        }
        let mut nodes = Vec::with_capacity(terms.len());
        for (term, _) in terms {
            self.count_word()?;
            self.count_node()?;
            let fields = self.limit.fields;
            nodes.push(Node::Word(Word { term, fields }));
        }
        self.joined(nodes, 1, Node::And)
    }

    /// Whether the `~` at the cursor ends a word, with a number behind it or none: `google~1`. In `a~b` it is punctuation.
    fn at_fuzziness(&self) -> bool {
        let behind = self.cursor.ahead().trim_start_matches('~');
        let behind = behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let ends = |c: char| c.is_whitespace() || matches!(c, '|' | '(' | ')' | '"' | '^');
        behind.chars().next().is_none_or(ends)
    }

    /// Whether the `@` at the cursor, inside of a word, begins a field limit: a field of that name is known.
    /// Otherwise it is part of an address.
    fn names_field(&self) -> bool {
        let name = self.cursor.ahead().trim_start_matches('@');
        let end = name.find(|c| !in_run(c)).unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default();
        let is_known = |field: &&str| field.eq_ignore_ascii_case(name);
        !self.leniency.as_before && self.fields.iter().any(is_known)
    }

    /// The terms of a piece of text. `exact`: all words as written, no stems.
    pub(super) fn run(&mut self, raw: &Raw, exact: bool) -> Result<Run, QueryError> {
        let mut found = Vec::new();
        let mut length = 0;
        let mut from = 0;
        for piece in patterns(raw) {
            self.plain(&raw.text, from..piece.start, &mut length, &mut found);
            from = piece.end;
            self.pattern(raw, piece, &mut length, &mut found)?;
        }
        self.plain(&raw.text, from..raw.text.len(), &mut length, &mut found);
        let terms = self.terms(raw, found, exact);
        Ok(Run { terms, length })
    }

    /// Adds the words of a stretch without wildcards. A marked word (`#tag`) replaces the bare words that it covers,
    /// since it says more.
    fn plain(
        &self,
        text: &str,
        part: Range<usize>,
        length: &mut u32,
        found: &mut Vec<WrittenWord>,
    ) {
        let (base, start) = (*length, part.start);
        let mut covered_until = 0;
        let part = text.get(part).unwrap_or_default();
        self.analyzer.folded(part, &mut |word| {
            *length = base + word.position;
            if word.text.starts_with(is_mark) {
                found.pop();
                covered_until = word.source.end;
            } else if word.source.start < covered_until {
                return;
            }
            found.push(WrittenWord {
                text: word.text.to_owned(),
                form: Form::Whole,
                position: base + word.position,
                source: start + word.source.start..start + word.source.end,
            });
        });
    }

    /// Adds a word with wildcards. Wildcards alone are a gap (`*` in a phrase) or nothing.
    fn pattern(
        &mut self,
        raw: &Raw,
        source: Range<usize>,
        length: &mut u32,
        found: &mut Vec<WrittenWord>,
    ) -> Result<(), QueryError> {
        let written = raw.text.get(source.clone()).unwrap_or_default();
        let mut text = String::new();
        let mut letters = String::new();
        let mut place = 0;
        let mut parted = false;
        let mut fold = |letters: &mut String, text: &mut String| {
            self.analyzer.folded(letters, &mut |word| {
                parted |= word.position > 1;
                text.push_str(word.text);
            });
            letters.clear();
        };
        for (at, c) in written.char_indices() {
            match raw.wildcard(source.start + at) {
                Some(_) if c == '*' && text.ends_with('*') && letters.is_empty() => {}
                Some(sign) => {
                    place = sign;
                    fold(&mut letters, &mut text);
                    text.push(c);
                }
                None if at == 0 && is_mark(c) => text.push(c),
                None => letters.push(c),
            }
        }
        fold(&mut letters, &mut text);
        if parted || text.chars().any(crate::analysis::stands_alone) {
            let why = "a wildcard beside a Chinese, Japanese or Korean character, each of which is a word";
            return refuse(place, why.to_owned());
        }
        *length += 1;
        if text.chars().all(|c| is_wildcard(c) || is_mark(c)) {
            if text != "*" {
                *length -= 1;
                self.warn("wildcards without a letter are passed over");
            }
            return Ok(());
        }
        if self.analyzer.settings().stems() && !text.starts_with(is_mark) {
            text.insert(0, '=');
        }
        self.check_pattern(&text, place)?;
        found.push(WrittenWord {
            text,
            form: Form::Pattern,
            position: *length,
            source,
        });
        Ok(())
    }

    fn check_pattern(&self, text: &str, place: usize) -> Result<(), QueryError> {
        let term = Term {
            text: text.into(),
            form: Form::Pattern,
            place: FieldPlace::default(),
        };
        let settings = self.analyzer.settings();
        Matcher::new(&term)
            .and_then(|matcher| settings.allow(matcher.literal()))
            .or_else(|message| refuse(place, message))
    }

    /// The words as terms, with the signs beside them.
    fn terms(&self, raw: &Raw, found: Vec<WrittenWord>, exact: bool) -> Vec<(Term, u32)> {
        let starts: Vec<usize> = found.iter().map(|word| word.source.start).collect();
        let mut behind = 0;
        let mut terms = Vec::with_capacity(found.len());
        for (number, word) in found.into_iter().enumerate() {
            let Range { start, end } = word.source;
            let next = starts.get(number + 1).copied().unwrap_or(raw.text.len());
            let place = FieldPlace {
                first: raw.has(Sign::First, behind, start),
                last: raw.has(Sign::Last, end, next),
                within: self.limit.within,
            };
            let exact = exact || raw.has(Sign::Exact, behind, start);
            behind = end;
            let source = raw.text.get(start..end).unwrap_or_default();
            let text = match word.form {
                Form::Whole if !word.text.starts_with(is_mark) => {
                    self.analyzer.term(&word.text, source, exact)
                }
                _ => word.text,
            };
            let term = Term {
                text: text.into(),
                form: word.form,
                place,
            };
            terms.push((term, word.position));
        }
        terms
    }

    /// Warns of AND, OR, NOT, and NEAR without a distance: other engines have them as operators, here they are words.
    fn warn_of_capitals(&mut self, text: &str) {
        match text {
            "AND" => self.warn("AND is searched as a word: words side by side must all be there"),
            "OR" => self.warn("OR is searched as a word: write | between alternatives"),
            "NOT" => self.warn("NOT is searched as a word: write -word to exclude"),
            "NEAR" => self.warn("NEAR is searched as a word: write NEAR/3 for the operator"),
            "NOTNEAR" => {
                self.warn("NOTNEAR is searched as a word: write NOTNEAR/3 for the operator")
            }
            _ => {}
        }
    }
}

/// The stretches of letters and wildcards that hold a wildcard, each with the mark before it.
fn patterns(raw: &Raw) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    if !raw.has_wildcards() {
        return pieces;
    }
    let mut open: Option<(usize, bool)> = None;
    let mut before = [' ', ' '];
    for (at, c) in raw.text.char_indices() {
        let wild = raw.wildcard(at).is_some();
        if wild || in_run(c) {
            let marked = is_mark(before[1]) && !in_run(before[0]);
            let (_, holds) = open.get_or_insert((at - usize::from(marked), false));
            *holds |= wild;
        } else if let Some((start, holds)) = open.take()
            && holds
        {
            pieces.push(start..at);
        }
        before = [before[1], c];
    }
    if let Some((start, true)) = open {
        pieces.push(start..raw.text.len());
    }
    pieces
}
