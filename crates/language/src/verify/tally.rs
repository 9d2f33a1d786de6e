//! Tallies: the occurrences of a query's words that rankers count in a document; ADR 028, "Hits".
//!
//! Example: in `x | "a b"` the places are `x` 0, `a` 1 and `b` 2. In the text `a b x` the word `x` counts alone, at
//! position 3. `a b` counts joined: position 1, place 1, span 2, weight 2.

use rustc_hash::{FxHashMap, FxHashSet};

use super::buffers::Buffers;
use super::document::Document;
use super::operators::{Units, common_units};
use super::places::Places;
use super::prepared::{Kind, Prepared, Proximity, Standing};
use super::spans::{each, spans};
use super::window::Hit;
use crate::limits::ROW_OCCURRENCES_MAX;
use crate::reference::Span;

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

/// What counts in one document, its terms by number.
#[derive(Debug, Default)]
pub struct Counts {
    /// The occurrences, by place in the document, then in the query.
    pub hits: Vec<Hit>,
    /// By term, a bit for each field in which its rarity counts.
    pub rare: Vec<u64>,
    /// As [`Tally::fields`].
    pub fields: u64,
}

/// Walks a tree in the order of its text.
struct Teller<'p, 'd, D> {
    document: &'d D,
    buffers: &'p mut Buffers,
    /// Place in the query of the next term.
    next: u32,
    /// By term: a bit for each field in which its rarity counts.
    rare: &'p mut [u64],
    /// False in operands whose rarity and fields do not count.
    is_rated: bool,
    /// Whether occurrences are joined with others, so that the places of a word in the query matter.
    joins: bool,
    /// Whether some of the occurrences may be dropped.
    drops: bool,
    /// Whether there were more occurrences than are kept.
    is_full: bool,
    fields: u64,
}

/// Occurrences up to which nobody looks whether some are the same.
const FEW_HITS: usize = if cfg!(test) { 4 } else { 1 << 12 };

/// What counts in a document that `root` matches; `false` where that is more than [`ROW_OCCURRENCES_MAX`] occurrences.
/// Cost: near to linear in the places of the tree's words, times its depth.
pub(super) fn count<D: Document>(
    root: &Prepared,
    terms: usize,
    document: &D,
    buffers: &mut Buffers,
    counts: &mut Counts,
) -> bool {
    counts.rare.clear();
    counts.rare.resize(terms, 0);
    buffers.told.clear();
    buffers.told.resize(terms, false);
    let mut teller = Teller {
        document,
        buffers,
        next: 0,
        rare: &mut counts.rare,
        is_rated: true,
        joins: false,
        drops: false,
        is_full: false,
        fields: 0,
    };
    let hits = teller.hits(root);
    counts.fields = teller.fields;
    let is_whole = !teller.is_full;
    let before = std::mem::replace(&mut counts.hits, hits);
    buffers.give_hits(before);
    is_whole
}

/// The tally of a document that `root` matches.
pub(super) fn of_words<'w>(root: &Prepared, places: &Places<'w>) -> Tally<'w> {
    let mut counts = Counts::default();
    let terms = places.terms().listed().len();
    count(root, terms, places, &mut Buffers::default(), &mut counts);
    let mut tally = Tally {
        fields: counts.fields,
        ..Tally::default()
    };
    let mut alone: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for hit in &counts.hits {
        match hit.term {
            Some(term) => alone.entry(hit.at()).or_default().push(term as usize),
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
        let is_rare = |term: usize| counts.rare[term] >> field & 1 == 1;
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

impl<D: Document> Teller<'_, '_, D> {
    /// The occurrences of a node that matches, by place in the document, then in the query.
    fn hits(&mut self, node: &Prepared) -> Vec<Hit> {
        let first = self.next;
        if self.is_full || self.buffers.is_stopped() {
            return self.take();
        }
        let mut hits = match &node.kind {
            Kind::All | Kind::Not(_) => self.take(),
            Kind::Word(word) | Kind::Repeated(word, _) => self.word(word),
            Kind::Phrase(words) => self.phrase(node, words),
            Kind::Proximity(asked) => self.proximity(asked),
            Kind::Near(asked) => self.near(&asked.left, &asked.right, asked.distance),
            Kind::NotNear(left, ..) => {
                let drops = std::mem::replace(&mut self.drops, true);
                let mut hits = self.hits(left);
                self.drops = drops;
                if let Some(lonely) = spans(node, self.document, self.buffers) {
                    hits.retain(|hit| lonely.binary_search_by_key(&hit.at(), at).is_ok());
                    self.buffers.give(lonely);
                }
                hits
            }
            Kind::Order(parts) => self.order(parts),
            Kind::Together(unit, parts) => {
                let document = self.document;
                let found = each(parts, document, self.buffers).unwrap_or_default();
                let common: Units = common_units(*unit, &found, document).collect();
                found.into_iter().for_each(|part| self.buffers.give(part));
                let drops = std::mem::replace(&mut self.drops, true);
                let mut hits = self.all(parts);
                self.drops = drops;
                hits.retain(|hit| {
                    let begin = Span {
                        field: hit.field,
                        start: hit.start,
                        end: hit.start,
                    };
                    common.hold(&begin)
                });
                hits
            }
            Kind::And(parts) => self.all(parts),
            Kind::AtLeast(parts, _) => self.matching(parts),
            Kind::Maybe(left, right) => {
                let mut hits = self.hits(left);
                let welcome = self.matching(std::slice::from_ref(&**right));
                self.append(&mut hits, welcome);
                hits
            }
        };
        self.next = first + node.places;
        if !hits.is_sorted_by_key(|hit| (hit.at(), hit.place)) {
            hits.sort_by_key(|hit| (hit.at(), hit.place));
        }
        hits
    }

    fn take(&mut self) -> Vec<Hit> {
        self.buffers.take_hits()
    }

    /// Adds `more` to `hits`, and takes its memory back.
    fn append(&mut self, hits: &mut Vec<Hit>, more: Vec<Hit>) {
        match hits.len() + more.len() > ROW_OCCURRENCES_MAX {
            true => self.is_full = true,
            false => hits.extend_from_slice(&more),
        }
        self.buffers.give_hits(more);
    }

    fn all(&mut self, parts: &[Prepared]) -> Vec<Hit> {
        let (mut hits, mut few) = (self.take(), FEW_HITS);
        for part in parts {
            let more = self.hits(part);
            self.append(&mut hits, more);
            self.keep_each_once(&mut hits, &mut few);
        }
        hits
    }

    /// Keeps one of the occurrences of a term at one place, of which a query that has the term often gives as many. `few`: the number
    /// of occurrences from which it is worth the time.
    fn keep_each_once(&mut self, hits: &mut Vec<Hit>, few: &mut usize) {
        if self.joins || hits.len() <= *few {
            return;
        }
        hits.sort_by_key(|hit| (hit.at(), hit.term, hit.place));
        hits.dedup_by(|hit, kept| {
            hit.term.is_some() && (hit.at(), hit.term) == (kept.at(), kept.term)
        });
        *few = hits.len().saturating_mul(2).max(FEW_HITS);
    }

    /// The occurrences of the parts that match.
    fn matching(&mut self, parts: &[Prepared]) -> Vec<Hit> {
        let (mut hits, mut few) = (self.take(), FEW_HITS);
        for part in parts {
            match spans(part, self.document, self.buffers) {
                Some(found) => {
                    self.buffers.give(found);
                    let more = self.hits(part);
                    self.append(&mut hits, more);
                    self.keep_each_once(&mut hits, &mut few);
                }
                None => self.next += part.places,
            }
        }
        hits
    }

    /// Joins the operands of a NEAR. The field is that of the first joined word.
    fn near(&mut self, left: &Prepared, right: &Prepared, distance: u32) -> Vec<Hit> {
        let rated = std::mem::take(&mut self.fields);
        let joins = std::mem::replace(&mut self.joins, true);
        let (mut stream, right) = (self.hits(left), self.hits(right));
        self.joins = joins;
        stream.iter_mut().for_each(|hit| hit.operand = 0);
        let of_left = stream.len();
        self.append(&mut stream, right);
        let of_right = stream.iter_mut().skip(of_left);
        of_right.for_each(|hit| hit.operand = 1);
        stream.sort_by_key(|hit| (hit.at(), hit.place));
        let mut hits = self.take();
        near(&stream, distance, &mut hits);
        if hits.is_empty() {
            // Both operands are the same word, for which Sphinx joins none.
            hits.extend_from_slice(&stream);
            hits.iter_mut().for_each(|hit| hit.term = None);
        }
        self.buffers.give_hits(stream);
        self.fields = rated;
        self.find_first(&hits);
        hits
    }

    /// Notes that a term's rarity counts in these fields; for a pattern, that of its words.
    fn rate(&mut self, word: &Standing) {
        if let Some(rare) = self.rare.get_mut(word.term).filter(|_| self.is_rated) {
            *rare |= word.fields.0;
        }
    }

    /// Notes the field of the first of several joined words.
    fn find_first(&mut self, hits: &[Hit]) {
        let first = hits.iter().map(Hit::at).min().filter(|_| self.is_rated);
        self.fields |= first.map_or(0, |at| 1 << (at >> 32));
    }

    fn word(&mut self, word: &Standing) -> Vec<Hit> {
        self.rate(word);
        if self.is_rated {
            // As in Sphinx, `^`, `$` and `[N]` do not matter to the fields of `bm25`.
            let standing = self.document.standing(word.term).iter();
            let bits = standing.map(|span| 1 << span.field);
            let found = bits.fold(0, |fields, bit: u64| fields | bit);
            self.fields |= found & word.fields.0;
        }
        if !self.joins && !self.drops && word.is_free() {
            let told = self.buffers.told.get_mut(word.term);
            if told.is_some_and(|told| std::mem::replace(told, true)) {
                return self.take();
            }
        }
        let place = self.next;
        let hit = |span: &Span| Hit {
            field: span.field,
            start: span.start,
            length: 1,
            place,
            span: 1,
            weight: 1,
            term: Some(word.term as u32),
            operand: 0,
        };
        let standing = word.spans(self.document, self.buffers);
        let mut hits = self.take();
        hits.extend(standing.iter().map(hit));
        self.buffers.give(standing);
        hits
    }

    fn phrase(&mut self, node: &Prepared, words: &[(Standing, u32)]) -> Vec<Hit> {
        words.iter().for_each(|(word, _)| self.rate(word));
        let place = self.next;
        let mut hits = self.take();
        let Some(standing) = spans(node, self.document, self.buffers) else {
            return hits;
        };
        let mut last: Option<Span> = None;
        for span in standing.iter() {
            let is_apart =
                last.is_none_or(|last| (last.field, last.end) < (span.field, span.start));
            if !is_apart {
                continue;
            }
            last = Some(*span);
            hits.push(Hit {
                field: span.field,
                start: span.start,
                length: span.end - span.start + 1,
                place,
                span: span.end - span.start + 1,
                weight: words.len() as u32,
                term: None,
                operand: 0,
            });
        }
        self.buffers.give(standing);
        self.find_first(&hits);
        hits
    }

    /// An occurrence wherever a word completes the set of all terms in the window of their latest places. The first
    /// of these places is then forgotten.
    fn proximity(&mut self, asked: &Proximity) -> Vec<Hit> {
        let mut standing = std::mem::take(&mut self.buffers.numbered);
        standing.clear();
        for (number, (term, _)) in asked.listed.iter().enumerate() {
            self.rate(term);
            let of_term = term.spans(self.document, self.buffers);
            standing.extend(of_term.iter().map(|span| (*span, number)));
            self.buffers.give(of_term);
        }
        standing.sort_unstable();
        let most = asked.slack.saturating_add(asked.listed.len() as u32 - 1);
        let mut hits = self.take();
        let window = &mut self.buffers.window;
        window.clear(asked.listed.len());
        for (span, number) in &standing {
            window.add(*span, *number, most);
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
                operand: 0,
            });
            window.drop_first();
        }
        self.buffers.numbered = standing;
        self.find_first(&hits);
        hits
    }

    /// The operands of each match, taken from the left as soon as it is whole. Rarity and fields are those of the
    /// first operand.
    fn order(&mut self, parts: &[Prepared]) -> Vec<Hit> {
        let (is_rated, joins) = (self.is_rated, self.joins);
        self.joins = true;
        let mut stream = self.take();
        for (number, part) in (0..).zip(parts) {
            let mut hits = self.hits(part);
            hits.iter_mut().for_each(|hit| hit.operand = number);
            self.append(&mut stream, hits);
            self.is_rated = false;
        }
        (self.is_rated, self.joins) = (is_rated, joins);
        stream.sort_by_key(|hit| (hit.at(), hit.operand, hit.place));
        let mut hits = self.take();
        let (mut longest, mut recent) = (Chain::default(), Chain::default());
        for hit in &stream {
            let (number, hit) = (hit.operand, *hit);
            if longest.field != Some(hit.field) {
                longest.clear();
                recent.clear();
                longest.add(number, hit);
            } else if longest.add(number, hit) {
                if longest.hits.len() == parts.len() {
                    hits.append(&mut longest.hits);
                    recent.clear();
                    recent.end = longest.end;
                }
            } else if number == 0 {
                recent.clear();
                recent.add(0, hit);
                if longest.hits.is_empty() {
                    longest.clone_from(&recent);
                }
            } else if recent.add(number, hit) && recent.hits.len() == longest.hits.len() {
                std::mem::swap(&mut longest, &mut recent);
                recent.clear();
            }
        }
        self.buffers.give_hits(stream);
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
    fn clear(&mut self) {
        self.hits.clear();
        (self.end, self.field) = (0, None);
    }

    /// Adds an operand if it is the next one and stands behind the last. Returns whether it was added.
    fn add(&mut self, number: u32, hit: Hit) -> bool {
        let fits = number as usize == self.hits.len()
            && (number == 0 && self.field.is_none() || hit.start >= self.end);
        if fits {
            self.hits.push(hit);
            self.end = hit.start + hit.span;
            self.field = Some(hit.field);
        }
        fits
    }
}

fn at(span: &Span) -> u64 {
    u64::from(span.field) << 32 | u64::from(span.start)
}

/// Joins two operands near each other, by Sphinx's state machine. From each occurrence it looks for the next
/// occurrence of the other operand. After a match, the second occurrence opens the next match, in the role of the
/// operand that opened this one. `stream`: the occurrences of both, in order.
fn near(stream: &[Hit], most: u32, hits: &mut Vec<Hit>) {
    let mut opened: Option<(u32, Hit)> = None;
    for hit in stream {
        let (at, operand, hit) = (hit.at(), hit.operand, *hit);
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
}

/// Whether the second begins inside of the first, ends behind it, and has another length.
fn overlaps(first: &Hit, second: &Hit) -> bool {
    let end = first.at() + u64::from(first.length);
    end > second.at()
        && end < second.at() + u64::from(second.length)
        && first.length != second.length
}
