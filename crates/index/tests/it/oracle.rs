//! The weights of ADR 028, word for word and row by row: slow, and nothing shared with the index but the parsed query and
//! [`Tally`], which says what of a row's text counts.

use std::collections::{BTreeMap, BTreeSet};

use language::analysis::Words;
use language::pattern::Matcher;
use language::tree::{Node, Term};
use language::verify::{Joined, Tally, Verifier};
use relation::options::{Options, Ranker};

/// All that weights depend on beside the row.
pub(crate) struct Table<'a> {
    /// The words of every row.
    pub(crate) rows: Vec<&'a Words>,
    /// The weight of each text column.
    pub(crate) fields: Vec<i64>,
}

/// A word at a position where it counts, or several words that count as one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Counted {
    field: u8,
    position: u32,
    /// The word; for several words, their place in the query.
    what: String,
    /// Place in the query, what it shifts the words behind it by, and how many words it is; those of a word are in the query.
    joined: Option<(i64, i64, i64)>,
}

/// What a query asks for outside of negations: each term, its place in the query, and whether it counts by itself.
#[derive(Default)]
struct Asked {
    terms: Vec<(Term, i64, bool)>,
    /// Place of the next term.
    next: i64,
    /// Place of the last term, plus one.
    end: i64,
    /// Whether a run may go on at an earlier place of the query: not in trees that are stepped through.
    is_free: bool,
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
    pub(crate) fn new(
        options: &'a Options,
        root: &'a Node,
        table: Table<'a>,
        is_stepped: bool,
    ) -> Oracle<'a> {
        let mut asked = Asked {
            is_free: !is_stepped,
            ..Asked::default()
        };
        asked.collect(root, true);
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
        let verifier = Verifier::new(self.root);
        let tally = verifier.tally(row);
        let counted = counted(&tally);
        let sum = |factor: &dyn Fn(&Field<'_>) -> i64| -> i64 {
            let fields = 0..weights.len() as u8;
            fields
                .filter_map(|field| Field::of(field, &counted))
                .map(|field| factor(&field) * weights[usize::from(field.field)])
                .sum()
        };
        let found = || -> i64 {
            let weights = weights.iter().enumerate();
            let found = weights.filter(|(field, _)| tally.fields >> field & 1 == 1);
            found.map(|(_, weight)| weight).sum()
        };
        let runs = || match asked.next <= 1 {
            true => found(),
            false => sum(&|field| field.lcs(asked)),
        };
        let bm25 = || self.bm25(row, &tally.rare);
        match self.options.ranker() {
            Ranker::ProximityBm25 => runs() * 1000 + bm25(),
            Ranker::Bm25 => found() * 1000 + bm25(),
            Ranker::None => 1,
            Ranker::Wordcount => sum(&|field| field.counted.len() as i64),
            Ranker::Proximity => runs(),
            Ranker::Matchany => {
                let max_lcs = weights.iter().sum::<i64>() * self.distinct() as i64;
                sum(&|field| field.words() + (field.lcs(asked) - 1) * max_lcs)
            }
            Ranker::Fieldmask => counted.iter().fold(0, |mask, at| mask | 1 << at.field),
            Ranker::Sph04 => {
                let factor = |field: &Field<'_>| {
                    let first = field.counted.iter().map(|at| at.position).min();
                    let is_exact = field.ends_as_asked(asked, row);
                    4 * field.lcs(asked) + 2 * i64::from(first == Some(1)) + i64::from(is_exact)
                };
                sum(&factor) * 1000 + bm25()
            }
            Ranker::Bm25a => self.bm25a(row, &tally.rare),
        }
    }

    /// Distinct words of the query: excluded ones too, and a pattern is one.
    fn distinct(&self) -> usize {
        let mut terms = BTreeSet::new();
        self.root.each_term(&mut |term| {
            terms.insert((term.form as u8, &term.text));
        });
        terms.len()
    }

    fn bm25(&self, row: &Words, rare: &[&str]) -> i64 {
        let words = self.documents.len().max(1);
        let share = match self.options.idf.unnormalized {
            false => self.distinct().max(1),
            true => 1,
        };
        // A sum of so many must stay below 2 to the power of 30.
        let unit = match share < words {
            false => 20,
            true => 20 - (words as f64).log2().ceil() as u32,
        };
        let share = share as f64;
        let all = self.table.rows.len() as f64;
        let (mut sum, mut published) = (0i128, 0f64);
        for (word, hits) in hits(row, rare) {
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

    fn bm25a(&self, row: &Words, rare: &[&str]) -> i64 {
        let unit = 15 - (self.documents.len().max(1) as f64).log2().ceil() as u32;
        let rows = self.table.rows.len() as i128;
        let all: i128 = self.table.rows.iter().map(|row| row.len() as i128).sum();
        let length = i128::from(length(row.len()));
        let (mut sum, mut published) = (0i128, 0f64);
        for (word, hits) in hits(row, rare) {
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
    fn collect(&mut self, node: &Node, is_alone: bool) {
        match node {
            Node::All => {}
            Node::Not(part) => self.next += i64::from(part.places()),
            Node::Word(word) | Node::Repeated { word, .. } => {
                self.add(&word.term, self.next, is_alone);
            }
            Node::Proximity { terms, .. } => {
                for term in terms {
                    self.add(term, self.next, false);
                }
                self.next += 1;
            }
            Node::Phrase { words, .. } => {
                let first = self.next;
                for (term, distance) in words {
                    self.add(term, first + i64::from(*distance), false);
                }
            }
            Node::Quorum { parts, .. } => {
                parts.iter().for_each(|part| self.collect(part, is_alone));
                self.next += 1;
            }
            Node::And(parts)
            | Node::Or(parts)
            | Node::Order(parts)
            | Node::Together { parts, .. } => {
                parts.iter().for_each(|part| self.collect(part, is_alone));
            }
            Node::Maybe(left, right) => {
                self.collect(left, is_alone);
                self.collect(right, is_alone);
            }
            Node::Near { left, right, .. } => {
                self.collect(left, false);
                self.collect(right, false);
            }
            Node::NotNear { left, right, .. } => {
                self.collect(left, is_alone);
                self.next += i64::from(right.places());
            }
        }
    }

    fn add(&mut self, term: &Term, place: i64, is_alone: bool) {
        self.terms.push((term.clone(), place, is_alone));
        self.next = place + 1;
        self.end = self.next;
    }

    /// The places at which the query has a word by itself.
    fn places_of(&self, word: &str) -> Vec<i64> {
        let terms = self.terms.iter();
        let here = terms.filter(|(term, _, is_alone)| *is_alone && is(term, word));
        here.map(|(_, place, _)| *place).collect()
    }

    /// In how many rows each word stands that the query asks for.
    fn documents(&self, table: &Table<'_>) -> BTreeMap<String, u64> {
        let mut documents = BTreeMap::new();
        for (term, ..) in &self.terms {
            if term.form == language::tree::Form::Whole {
                documents.insert(term.text.to_string(), 0);
            }
        }
        for row in &table.rows {
            let words: BTreeSet<&str> = row.iter().map(|(word, ..)| word).collect();
            for word in words {
                if self.terms.iter().any(|(term, ..)| is(term, word)) {
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

/// Every place at which something counts.
fn counted(tally: &Tally<'_>) -> BTreeSet<Counted> {
    let word = |(word, field, position): &(&str, u8, u32)| Counted {
        field: *field,
        position: *position,
        what: (*word).to_owned(),
        joined: None,
    };
    let several = |joined: &Joined| Counted {
        field: joined.field,
        position: joined.position,
        what: format!("several at {}", joined.place),
        joined: Some((
            i64::from(joined.place),
            i64::from(joined.span),
            i64::from(joined.weight),
        )),
    };
    let words = tally.words.iter().map(word);
    words.chain(tally.joined.iter().map(several)).collect()
}

/// A position, and of what may stand there in a run the place in the query, the span, the words.
type Steps = (i64, Vec<(i64, i64, i64)>);

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
        let words: BTreeSet<&str> = self.counted.iter().map(|at| at.what.as_str()).collect();
        words.len() as i64
    }

    /// By position, what may stand there in a run.
    fn steps(&self, asked: &Asked) -> Vec<Steps> {
        let mut steps: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for at in &self.counted {
            let here = steps.entry(at.position).or_default();
            match at.joined {
                Some(joined) => here.push(joined),
                None => {
                    let places = asked.places_of(&at.what).into_iter();
                    here.extend(places.map(|place| (place, 1, 1)));
                }
            }
        }
        let steps = steps.into_iter();
        steps.map(|(at, steps)| (i64::from(at), steps)).collect()
    }

    /// From each hit on, position by position, as far as the next one is where the query wants it.
    fn lcs(&self, asked: &Asked) -> i64 {
        let steps = self.steps(asked);
        let mut lcs = 0;
        for start in 0..steps.len() {
            let hits = steps[start].1.iter();
            let runs = hits.map(|hit| longest(&steps[start..], *hit, asked.is_free));
            lcs = runs.fold(lcs, i64::max);
        }
        lcs
    }

    /// Whether the query's last word is the field's last one, at its own position, and goes on from the hit before.
    fn ends_as_asked(&self, asked: &Asked, row: &Words) -> bool {
        let last = row.iter().filter(|(_, field, _)| *field == self.field);
        let last = last.map(|(_, _, position)| i64::from(position)).max();
        let steps = self.steps(asked);
        let Some(at) = steps
            .iter()
            .position(|(position, _)| *position == asked.end)
        else {
            return false;
        };
        let is_end = |hits: &[(i64, i64, i64)]| hits.contains(&(asked.end - 1, 1, 1));
        let before = at.checked_sub(1).map(|before| &steps[before]);
        let goes_on = asked.end == 1
            || before.is_some_and(|(position, hits)| {
                let leads = |(place, span, _): &(i64, i64, i64)| {
                    position - place + span - 1 == 1 && (asked.is_free || *place < asked.end - 1)
                };
                hits.iter().any(leads)
            });
        last == Some(asked.end) && is_end(&steps[at].1) && goes_on
    }
}

/// Words of the longest run that begins with a hit at the first of the positions.
fn longest(steps: &[Steps], hit: (i64, i64, i64), is_free: bool) -> i64 {
    let (place, span, weight) = hit;
    let wanted = steps[0].0 - place + span - 1;
    let Some((position, next)) = steps.get(1) else {
        return weight;
    };
    let goes_on = next
        .iter()
        .filter(|next| position - next.0 == wanted && (is_free || next.0 > place));
    let rest = goes_on
        .map(|next| longest(&steps[1..], *next, is_free))
        .max();
    weight + rest.unwrap_or(0)
}

/// The distinct words that count, with their occurrences in the whole row.
fn hits(row: &Words, rare: &[&str]) -> BTreeMap<String, i64> {
    let all = |word: &str| row.iter().filter(|(other, ..)| *other == word).count() as i64;
    let hits = rare.iter().map(|word| ((*word).to_owned(), all(word)));
    hits.collect()
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
