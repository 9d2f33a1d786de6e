//! The weights of ADR 028, word for word and row by row: slow, and nothing shared with the index but the parsed query.

use std::collections::{BTreeMap, BTreeSet};

use query::analysis::Words;
use query::options::{Options, Ranker};
use query::pattern::Matcher;
use query::reference;
use query::tree::{FieldSet, Node, Term};

/// All that weights depend on beside the row.
pub(crate) struct Table<'a> {
    /// The words of every row.
    pub(crate) rows: Vec<&'a Words>,
    /// The weight of each text column.
    pub(crate) fields: Vec<i64>,
}

/// A word where it counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Counted {
    field: u8,
    position: u32,
    word: String,
}

/// What a query asks for outside of negations: each term, and its place in the query.
#[derive(Default)]
struct Asked {
    terms: Vec<(Term, i64)>,
    places: i64,
}

/// A query on a table.
pub(crate) struct Oracle<'a> {
    options: &'a Options,
    root: &'a Node,
    table: Table<'a>,
    asked: Asked,
    /// In how many rows each word stands that the query asks for.
    documents: BTreeMap<String, u64>,
}

impl<'a> Oracle<'a> {
    /// `root`: the query, or what is stepped through for it.
    pub(crate) fn new(options: &'a Options, root: &'a Node, table: Table<'a>) -> Oracle<'a> {
        let mut asked = Asked::default();
        asked.collect(root);
        Oracle {
            options,
            root,
            documents: asked.documents(&table),
            asked,
            table,
        }
    }

    /// The weight of a row that matches.
    pub(crate) fn weight(&self, row: &Words) -> i64 {
        let (asked, weights) = (&self.asked, &self.table.fields);
        let mut counted = BTreeSet::new();
        collect(self.root, row, &mut counted);
        let sum = |factor: &dyn Fn(&Field<'_>) -> i64| -> i64 {
            let fields = 0..weights.len() as u8;
            fields
                .filter_map(|field| Field::of(field, &counted))
                .map(|field| factor(&field) * weights[usize::from(field.field)])
                .sum()
        };
        let bm25 = || self.bm25(row, &counted);
        match self.options.ranker() {
            Ranker::ProximityBm25 => sum(&|field| field.lcs(asked)) * 1000 + bm25(),
            Ranker::Bm25 => sum(&|_| 1) * 1000 + bm25(),
            Ranker::None => 1,
            Ranker::Wordcount => sum(&|field| field.counted.len() as i64),
            Ranker::Proximity => sum(&|field| field.lcs(asked)),
            Ranker::Matchany => {
                let max_lcs = weights.iter().sum::<i64>() * asked.places;
                sum(&|field| field.words() + (field.lcs(asked) - 1) * max_lcs)
            }
            Ranker::Fieldmask => counted.iter().fold(0, |mask, at| mask | 1 << at.field),
            Ranker::Sph04 => {
                let factor = |field: &Field<'_>| {
                    let first = field.counted.iter().map(|at| at.position).min();
                    let is_exact = field.is_exactly(asked, row);
                    4 * field.lcs(asked) + 2 * i64::from(first == Some(1)) + i64::from(is_exact)
                };
                sum(&factor) * 1000 + bm25()
            }
            Ranker::Bm25a => self.bm25a(row, &counted),
        }
    }

    fn bm25(&self, row: &Words, counted: &BTreeSet<Counted>) -> i64 {
        let words = self.documents.len().max(1);
        let (share, unit) = match self.options.idf.unnormalized {
            false => (words as f64, 20),
            // A sum of so many must stay below 2 to the power of 30.
            true => (1.0, 20 - (words as f64).log2().ceil() as u32),
        };
        let all = self.table.rows.len() as f64;
        let (mut sum, mut published) = (0i128, 0f64);
        for (word, hits) in hits(row, counted) {
            let n = self.documents[&word] as f64;
            let rarity = match self.options.idf.plain {
                true => all / n,
                false => (all - n + 1.0) / n,
            };
            let idf = rarity.ln() / (2.0 * (1.0 + all).ln()) / share;
            let points = (1000.0 * f64::from(1u32 << unit) * idf).round() as i128;
            sum += points * i128::from(5 * hits) / i128::from(5 * hits + 6);
            published += hits as f64 / (hits as f64 + 1.2) * idf;
        }
        let bm25 = (sum + (500 << unit)).div_euclid(1 << unit) as i64;
        let published = ((published + 0.5) * 1000.0) as i64;
        assert!(
            (bm25 - published).abs() <= 1,
            "{bm25} is not Sphinx's {published}"
        );
        bm25
    }

    fn bm25a(&self, row: &Words, counted: &BTreeSet<Counted>) -> i64 {
        let unit = 15 - (self.documents.len().max(1) as f64).log2().ceil() as u32;
        let rows = self.table.rows.len() as i128;
        let all: i128 = self.table.rows.iter().map(|row| row.len() as i128).sum();
        let length = i128::from(length(row.len()));
        let (mut sum, mut published) = (0i128, 0f64);
        for (word, hits) in hits(row, counted) {
            let n = self.documents[&word] as f64;
            let idf = (1.0 + (rows as f64 - n + 0.5) / (n + 0.5)).ln();
            let points = (1000.0 * f64::from(1u32 << unit) * idf).round() as i128;
            let matched = 10 * i128::from(hits) * all;
            let tf = (matched << 30) / (matched + 3 * all + 9 * length * rows);
            sum += (points * tf) >> 30;
            let average = all as f64 / rows as f64;
            let relative = 0.25 + 0.75 * length as f64 / average;
            published += 1000.0 * idf * hits as f64 / (hits as f64 + 1.2 * relative);
        }
        let bm25a = (sum >> unit) as i64;
        // Each word is cut to a unit, of which there may be few in a point.
        let off = 1 + ((self.documents.len() as i64) >> unit);
        assert!(
            (bm25a - published as i64).abs() <= off,
            "{bm25a} is not {published}"
        );
        bm25a
    }
}

impl Asked {
    fn collect(&mut self, node: &Node) {
        match node {
            Node::All | Node::Not(_) => {}
            Node::Word(word) => {
                self.terms.push((word.term.clone(), self.places));
                self.places += 1;
            }
            Node::Phrase { words, .. } => {
                let place = |(term, distance): &(Term, u32)| {
                    (term.clone(), self.places + i64::from(*distance))
                };
                let terms: Vec<_> = words.iter().map(place).collect();
                self.places = terms.last().expect("a word").1 + 1;
                self.terms.extend(terms);
            }
            Node::And(parts) | Node::Or(parts) | Node::Quorum { parts, .. } => {
                parts.iter().for_each(|part| self.collect(part));
            }
            Node::Maybe(left, right) => {
                self.collect(left);
                self.collect(right);
            }
            other => panic!("{other:?} has no weight"),
        }
    }

    /// The places at which the query has a word.
    fn places_of(&self, word: &str) -> Vec<i64> {
        let terms = self.terms.iter();
        let here = terms.filter(|(term, _)| is(term, word));
        here.map(|(_, place)| *place).collect()
    }

    /// In how many rows each word stands that the query asks for.
    fn documents(&self, table: &Table<'_>) -> BTreeMap<String, u64> {
        let mut documents = BTreeMap::new();
        for (term, _) in &self.terms {
            if term.form == query::tree::Form::Whole {
                documents.insert(term.text.to_string(), 0);
            }
        }
        for row in &table.rows {
            let words: BTreeSet<&str> = row.iter().map(|(word, ..)| word).collect();
            for word in words {
                if self.terms.iter().any(|(term, _)| is(term, word)) {
                    *documents.entry(word.to_owned()).or_insert(0) += 1;
                }
            }
        }
        documents
    }
}

fn is(term: &Term, word: &str) -> bool {
    Matcher::new(term).expect("a pattern").is_match(word)
}

/// Every place at which a word counts: of each part of the tree that matches, outside of negations.
fn collect(node: &Node, row: &Words, counted: &mut BTreeSet<Counted>) {
    if !reference::matches(node, row) {
        return;
    }
    let at = |(word, field, position): (&str, u8, u32)| Counted {
        field,
        position,
        word: word.to_owned(),
    };
    match node {
        Node::All | Node::Not(_) => {}
        Node::Word(word) => {
            let here = row
                .iter()
                .filter(|(text, field, _)| word.fields.holds(*field) && is(&word.term, text));
            counted.extend(here.map(at));
        }
        Node::Phrase { words, fields } => phrase(words, *fields, row, counted),
        Node::And(parts) | Node::Or(parts) | Node::Quorum { parts, .. } => {
            parts.iter().for_each(|part| collect(part, row, counted));
        }
        Node::Maybe(left, right) => {
            collect(left, row, counted);
            collect(right, row, counted);
        }
        other => panic!("{other:?} has no weight"),
    }
}

/// The words of a phrase at each place where all of it stands.
fn phrase(terms: &[(Term, u32)], fields: FieldSet, row: &Words, counted: &mut BTreeSet<Counted>) {
    let all: Vec<_> = row
        .iter()
        .filter(|(_, field, _)| fields.holds(*field))
        .collect();
    for (_, field, start) in &all {
        let whole: Option<Vec<Counted>> = terms
            .iter()
            .map(|(term, distance)| {
                let there = |(text, other, position): &&(&str, u8, u32)| {
                    other == field && *position == start + distance && is(term, text)
                };
                all.iter()
                    .find(there)
                    .map(|(word, field, position)| Counted {
                        field: *field,
                        position: *position,
                        word: (*word).to_owned(),
                    })
            })
            .collect();
        counted.extend(whole.into_iter().flatten());
    }
}

/// What counts in one field.
struct Field<'a> {
    field: u8,
    counted: Vec<&'a Counted>,
}

impl<'a> Field<'a> {
    fn of(field: u8, counted: &'a BTreeSet<Counted>) -> Option<Field<'a>> {
        let counted: Vec<_> = counted.iter().filter(|at| at.field == field).collect();
        (!counted.is_empty()).then_some(Field { field, counted })
    }

    fn words(&self) -> i64 {
        let words: BTreeSet<&str> = self.counted.iter().map(|at| at.word.as_str()).collect();
        words.len() as i64
    }

    /// Positions at which something counts, and by how much each is ahead of the places that the query has it at.
    fn shifts(&self, asked: &Asked) -> BTreeMap<u32, BTreeSet<i64>> {
        let mut shifts: BTreeMap<u32, BTreeSet<i64>> = BTreeMap::new();
        for at in &self.counted {
            let places = asked.places_of(&at.word).into_iter();
            let here = places.map(|place| i64::from(at.position) - place);
            shifts.entry(at.position).or_default().extend(here);
        }
        shifts
    }

    /// From each position on, as far as one shift goes.
    fn lcs(&self, asked: &Asked) -> i64 {
        let shifts: Vec<_> = self.shifts(asked).into_values().collect();
        let from = |start: usize| {
            let run = |shift: &i64| {
                let behind = shifts[start..].iter();
                behind.take_while(|here| here.contains(shift)).count()
            };
            shifts[start].iter().map(run).max().expect("a place")
        };
        (0..shifts.len()).map(from).max().expect("a position") as i64
    }

    /// Whether the field is the query: at each of its positions, and no more, what the query has there.
    fn is_exactly(&self, asked: &Asked, row: &Words) -> bool {
        let last = row.iter().filter(|(_, field, _)| *field == self.field);
        let last = last.map(|(_, _, position)| i64::from(position)).max();
        let shifts = self.shifts(asked);
        let stands = |position: i64| {
            let here = shifts.get(&(position as u32));
            here.is_some_and(|shifts| shifts.contains(&1))
        };
        last == Some(asked.places) && (1..=asked.places).all(stands)
    }
}

/// The distinct words that count, with their occurrences in the whole row.
fn hits(row: &Words, counted: &BTreeSet<Counted>) -> BTreeMap<String, i64> {
    let mut hits = BTreeMap::new();
    for word in counted.iter().map(|at| &at.word) {
        let all = row.iter().filter(|(other, ..)| other == word).count();
        hits.insert(word.clone(), all as i64);
    }
    hits
}

/// The length that stands for all of one class: classes end at the powers of √2, but for the second of them.
fn length(words: usize) -> i64 {
    let ends = (0..32).filter(|power| *power != 1);
    let ends = ends.map(|power| 2f64.powf(f64::from(power) / 2.0).round() as i64);
    let mut least = 1;
    for end in ends {
        if words as i64 <= end {
            return least + (end - least) / 2;
        }
        least = end + 1;
    }
    65_536
}
