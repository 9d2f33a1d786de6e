//! Tallies: the occurrences of a query's words that rankers count in a document; ADR 028, "Hits".
//!
//! Example: in `x | "a b"` the places are `x` 0, `a` 1 and `b` 2. In the text `a b x` the word `x` counts alone, at
//! position 3. `a b` counts joined: position 1, place 1, span 2, weight 2.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::operators::units_of_all;
use super::spans::spans;
use super::terms::Places;
use crate::reference::Span;
use crate::tree::{FieldPlace, FieldSet, Node, Term, Word};

/// The occurrences that count in one document.
#[derive(Debug, Default)]
pub struct Tally<'w> {
    /// The words whose rarity counts, each once, in no order.
    pub rare: Vec<&'w str>,
    /// Words that count alone: text, field, position; in the order of the document.
    pub words: Vec<(&'w str, u8, u32)>,
    /// Words that count together, in no order.
    pub joined: Vec<Joined>,
    /// A bit for each field in which `bm25` finds the tree.
    pub fields: u64,
}

/// Words of a phrase, a `~N` or a NEAR that count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Number of the field.
    pub field: u8,
    /// Position of the first of them, from 1.
    pub position: u32,
    /// Place in the query, from 0.
    pub place: u32,
    /// Places by which the following occurrence is shifted, plus 1.
    pub span: u32,
    /// The number of words that it counts as in a run.
    pub weight: u32,
}

/// An occurrence: a word, or several joined words, at a place of the document.
#[derive(Clone, Copy)]
struct Hit {
    field: u8,
    start: u32,
    /// Number of positions that it covers.
    length: u32,
    place: u32,
    span: u32,
    weight: u32,
    /// The term's number, if it is a single word.
    term: Option<usize>,
}

impl Hit {
    fn at(&self) -> u64 {
        u64::from(self.field) << 32 | u64::from(self.start)
    }
}

/// Walks a tree in the order of its text.
struct Teller<'p, 'd> {
    places: &'p Places<'d>,
    /// Place in the query of the next term.
    next: u32,
    /// By term: a bit for each field in which its rarity counts.
    rare: Vec<u64>,
    /// False in operands whose rarity and fields do not count.
    is_rated: bool,
    fields: u64,
}

/// The tally of a document that `root` matches. Cost: near to linear in the places of the tree's words, times its
/// depth.
pub(super) fn of<'w>(root: &Node, places: &Places<'w>) -> Tally<'w> {
    let mut teller = Teller {
        places,
        next: 0,
        rare: vec![0; places.terms()],
        is_rated: true,
        fields: 0,
    };
    let hits = teller.hits(root);
    let mut tally = Tally {
        fields: teller.fields,
        ..Tally::default()
    };
    let mut alone: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for hit in &hits {
        match hit.term {
            Some(term) => alone.entry(hit.at()).or_default().push(term),
            None => tally.joined.push(Joined {
                field: hit.field,
                position: hit.start,
                place: hit.place,
                span: hit.span,
                weight: hit.weight,
            }),
        }
    }
    let mut told: FxHashSet<&str> = FxHashSet::default();
    let mut met: FxHashSet<(&str, u8)> = FxHashSet::default();
    for (text, field, position) in places.words.iter() {
        let is_rare = |term: usize| teller.rare[term] >> field & 1 == 1;
        if met.insert((text, field)) && places.stands_for(text, is_rare) && told.insert(text) {
            tally.rare.push(text);
        }
        let at = u64::from(field) << 32 | u64::from(position);
        let here = alone.get(&at).map_or(&[][..], Vec::as_slice);
        if !here.is_empty() && places.stands_for(text, |term| here.contains(&term)) {
            tally.words.push((text, field, position));
        }
    }
    tally
}

impl Teller<'_, '_> {
    /// The occurrences of a node that matches, by place in the document, then in the query.
    fn hits(&mut self, node: &Node) -> Vec<Hit> {
        let first = self.next;
        let mut hits = match node {
            Node::All | Node::Not(_) => Vec::new(),
            Node::Word(Word { term, fields })
            | Node::Repeated {
                word: Word { term, fields },
                ..
            } => self.word(term, *fields),
            Node::Phrase { words, fields } => {
                words.iter().for_each(|(term, _)| self.rate(term, *fields));
                self.phrase(node, words)
            }
            Node::Proximity {
                terms,
                fields,
                slack,
            } => self.proximity(terms, *fields, *slack),
            Node::Near {
                left,
                right,
                distance,
            } => {
                let rated = std::mem::take(&mut self.fields);
                let (left, right) = (self.hits(left), self.hits(right));
                let mut hits = near(&left, &right, *distance);
                if hits.is_empty() {
                    hits = [left, right].concat(); // both operands are the same word, for which Sphinx joins none
                    hits.iter_mut().for_each(|hit| hit.term = None);
                }
                self.fields = rated;
                self.find_first(&hits);
                hits
            }
            Node::NotNear { left, .. } => {
                let lonely = spans(node, self.places).unwrap_or_default();
                let mut hits = self.hits(left);
                hits.retain(|hit| lonely.binary_search_by_key(&hit.at(), at).is_ok());
                hits
            }
            Node::Order(parts) => self.order(parts),
            Node::Together { unit, parts } => {
                let found: Option<Vec<_>> =
                    parts.iter().map(|part| spans(part, self.places)).collect();
                let common = units_of_all(*unit, &found.unwrap_or_default(), self.places.words);
                let mut hits = self.all(parts);
                let words = self.places.words;
                hits.retain(|hit| {
                    let begin = Span {
                        field: hit.field,
                        start: hit.start,
                        end: hit.start,
                    };
                    common.holds(&begin, words)
                });
                hits
            }
            Node::And(parts) => self.all(parts),
            Node::Or(parts) | Node::Quorum { parts, .. } => self.matching(parts),
            Node::Maybe(left, right) => {
                let mut hits = self.hits(left);
                hits.append(&mut self.matching(std::slice::from_ref(right)));
                hits
            }
        };
        self.next = first + node.places();
        hits.sort_by_key(|hit| (hit.at(), hit.place));
        hits
    }

    fn all(&mut self, parts: &[Node]) -> Vec<Hit> {
        parts.iter().flat_map(|part| self.hits(part)).collect()
    }

    /// The occurrences of the parts that match.
    fn matching(&mut self, parts: &[Node]) -> Vec<Hit> {
        let mut hits = Vec::new();
        for part in parts {
            match spans(part, self.places) {
                Some(_) => hits.append(&mut self.hits(part)),
                None => self.next += part.places(),
            }
        }
        hits
    }

    /// Notes that a term's rarity counts in these fields; for a pattern, that of its words.
    fn rate(&mut self, term: &Term, fields: FieldSet) {
        if let Some(number) = self.places.number(term).filter(|_| self.is_rated) {
            self.rare[number] |= fields.0;
        }
    }

    /// Notes the field of the first of several joined words.
    fn find_first(&mut self, hits: &[Hit]) {
        let first = hits.iter().map(Hit::at).min().filter(|_| self.is_rated);
        self.fields |= first.map_or(0, |at| 1 << (at >> 32));
    }

    fn word(&mut self, term: &Term, fields: FieldSet) -> Vec<Hit> {
        self.rate(term, fields);
        if self.is_rated {
            // As in Sphinx, `^`, `$` and `[N]` do not matter to the fields of `bm25`.
            let anywhere = Term {
                place: FieldPlace::default(),
                ..term.clone()
            };
            let standing = self.places.standing(&anywhere, fields);
            let bits = standing.iter().map(|span| 1 << span.field);
            self.fields = bits.fold(self.fields, |fields, bit: u64| fields | bit);
        }
        let number = self.places.number(term);
        let place = self.next;
        let hit = |span: Span| Hit {
            field: span.field,
            start: span.start,
            length: 1,
            place,
            span: 1,
            weight: 1,
            term: number,
        };
        let standing = self.places.standing(term, fields);
        standing.into_iter().map(hit).collect()
    }

    fn phrase(&mut self, node: &Node, words: &[(Term, u32)]) -> Vec<Hit> {
        let place = self.next;
        let hit = |span: Span| Hit {
            field: span.field,
            start: span.start,
            length: span.end - span.start + 1,
            place,
            span: span.end - span.start + 1,
            weight: words.len() as u32,
            term: None,
        };
        let mut standing = spans(node, self.places).unwrap_or_default();
        let mut last: Option<Span> = None;
        standing.retain(|span| {
            let is_apart =
                last.is_none_or(|last| (last.field, last.end) < (span.field, span.start));
            last = if is_apart { Some(*span) } else { last };
            is_apart
        });
        let hits: Vec<Hit> = standing.into_iter().map(hit).collect();
        self.find_first(&hits);
        hits
    }

    /// An occurrence wherever a word completes the set of all terms in the window of their latest places. The first
    /// of these places is then forgotten.
    fn proximity(&mut self, terms: &[Term], fields: FieldSet, slack: u32) -> Vec<Hit> {
        let mut standing: Vec<(Span, usize)> = Vec::new();
        for (number, term) in terms.iter().enumerate() {
            self.rate(term, fields);
            let of_term = self.places.standing(term, fields).into_iter();
            standing.extend(of_term.map(|span| (span, number)));
        }
        standing.sort_unstable();
        let most = slack.saturating_add(terms.len() as u32 - 1);
        let mut window = Window::of(terms.len());
        let mut hits = Vec::new();
        for (span, number) in standing {
            window.add(span, number, most);
            let Some(first) = window.whole() else {
                continue;
            };
            let length = span.start - first.start + 1;
            hits.push(Hit {
                field: span.field,
                start: first.start,
                length,
                place: self.next,
                span: length,
                weight: window.in_runs.max(1),
                term: None,
            });
            window.drop_first();
        }
        self.find_first(&hits);
        hits
    }

    /// The operands of each match, taken from the left as soon as it is whole. Rarity and fields are those of the
    /// first operand.
    fn order(&mut self, parts: &[Node]) -> Vec<Hit> {
        let is_rated = self.is_rated;
        let mut stream: Vec<(u64, usize, Hit)> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let hits = self.hits(part);
            stream.extend(hits.into_iter().map(|hit| (hit.at(), number, hit)));
            self.is_rated = false;
        }
        self.is_rated = is_rated;
        stream.sort_by_key(|(at, number, hit)| (*at, *number, hit.place));
        let mut hits = Vec::new();
        let (mut longest, mut recent) = (Chain::default(), Chain::default());
        for (_, number, hit) in stream {
            if longest.field != Some(hit.field) {
                (longest, recent) = (Chain::default(), Chain::default());
                longest.add(number, hit);
            } else if longest.add(number, hit) {
                if longest.hits.len() == parts.len() {
                    hits.append(&mut longest.hits);
                    recent = Chain::default();
                    recent.end = longest.end;
                }
            } else if number == 0 {
                recent = Chain::default();
                recent.add(0, hit);
                if longest.hits.is_empty() {
                    longest = recent.clone();
                }
            } else if recent.add(number, hit) && recent.hits.len() == longest.hits.len() {
                longest = std::mem::take(&mut recent);
            }
        }
        hits
    }
}

/// The leading operands of a `<<` that were found.
#[derive(Clone, Default)]
struct Chain {
    hits: Vec<Hit>,
    /// The next operand stands at this position or behind it.
    end: u32,
    field: Option<u8>,
}

impl Chain {
    /// Adds an operand if it is the next one and stands behind the last. Returns whether it was added.
    fn add(&mut self, number: usize, hit: Hit) -> bool {
        let fits = number == self.hits.len()
            && (number == 0 && self.field.is_none() || hit.start >= self.end);
        if fits {
            self.hits.push(hit);
            self.end = hit.start + hit.span;
            self.field = Some(hit.field);
        }
        fits
    }
}

/// The latest places of the words of a `~N`, as far as they lie in the window.
struct Window {
    latest: Vec<Option<Span>>,
    /// Number of words with a known place.
    known: usize,
    /// The places that were added and may still be the latest, rising.
    order: VecDeque<(Span, usize)>,
    /// Number of known places by their shift: position less place in the query.
    shifts: FxHashMap<i64, u32>,
    /// Number of known places that share their shift with another: words in a run.
    in_runs: u32,
}

impl Window {
    fn of(words: usize) -> Window {
        Window {
            latest: vec![None; words],
            known: 0,
            order: VecDeque::new(),
            shifts: FxHashMap::default(),
            in_runs: 0,
        }
    }

    /// Adds a place behind all others, and forgets places `most` or more before it.
    fn add(&mut self, span: Span, number: usize, most: u32) {
        self.set(number, Some(span));
        self.order.push_back((span, number));
        while let Some((first, known)) = self.order.front().copied() {
            let is_latest = self.latest[known] == Some(first);
            if is_latest && first.field == span.field && span.start - first.start < most {
                break;
            }
            self.order.pop_front();
            if is_latest {
                self.set(known, None);
            }
        }
    }

    /// The first known place, if all words are known.
    fn whole(&self) -> Option<Span> {
        let first = self.order.front().map(|(first, _)| *first);
        first.filter(|_| self.known == self.latest.len())
    }

    fn drop_first(&mut self) {
        if let Some((_, number)) = self.order.pop_front() {
            self.set(number, None);
        }
    }

    fn set(&mut self, number: usize, span: Option<Span>) {
        let shift = |span: Span| i64::from(span.start) - number as i64;
        if let Some(before) = std::mem::replace(&mut self.latest[number], span) {
            self.known -= 1;
            let count = self.shifts.entry(shift(before)).or_default();
            self.in_runs -= shared(*count);
            *count -= 1;
            self.in_runs += shared(*count);
        }
        if let Some(now) = span {
            self.known += 1;
            let count = self.shifts.entry(shift(now)).or_default();
            self.in_runs -= shared(*count);
            *count += 1;
            self.in_runs += shared(*count);
        }
    }
}

fn shared(count: u32) -> u32 {
    if count > 1 { count } else { 0 }
}

fn at(span: &Span) -> u64 {
    u64::from(span.field) << 32 | u64::from(span.start)
}

/// Joins two operands near each other, by Sphinx's state machine. From each occurrence it looks for the next
/// occurrence of the other operand. After a match, the second occurrence opens the next match, in the role of the
/// operand that opened this one.
fn near(left: &[Hit], right: &[Hit], most: u32) -> Vec<Hit> {
    let of = |hits: &[Hit], operand: usize| -> Vec<(u64, u32, usize, Hit)> {
        let each = hits.iter();
        each.map(|hit| (hit.at(), hit.place, operand, *hit))
            .collect()
    };
    let mut stream = of(left, 0);
    stream.append(&mut of(right, 1));
    stream.sort_by_key(|(at, place, ..)| (*at, *place));
    let mut hits = Vec::new();
    let mut opened: Option<(usize, Hit)> = None;
    for (at, _, operand, hit) in stream {
        let Some((opener, first)) = opened else {
            opened = Some((operand, hit));
            continue;
        };
        let end = first.at() + u64::from(first.length);
        if at == first.at() {
            if operand < opener {
                let place = hit.place;
                opened = Some((operand, Hit { place, ..first }));
            }
        } else if hit.field != first.field
            || end + u64::from(most) <= at
            || operand == opener
            || overlaps(&first, &hit)
        {
            opened = Some((operand, hit));
        } else {
            hits.push(Hit {
                length: hit.start - first.start + hit.length,
                place: first.place.min(hit.place),
                span: 2,
                weight: first.weight + hit.weight,
                term: None,
                ..first
            });
            opened = Some((opener, hit));
        }
    }
    hits
}

/// Whether the second begins inside of the first, ends behind it, and has another length.
fn overlaps(first: &Hit, second: &Hit) -> bool {
    let end = first.at() + u64::from(first.length);
    end > second.at()
        && end < second.at() + u64::from(second.length)
        && first.length != second.length
}
