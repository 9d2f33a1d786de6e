use std::sync::Arc;

use language::analysis::{Analyzer, Words};
use language::tree::{FieldSet, Node, Word};
use proptest::{
    prelude::Rng,
    test_runner::{RngAlgorithm, TestRng},
};

use super::{Plain, matches};
use crate::{Documents, Hits, QuerySet, Scratch, StandingQuery, limits::SCANNED_MAX};

/// A generator of the same numbers in every run.
struct Draws(TestRng);

impl Draws {
    fn of(seed: u8) -> Draws {
        Draws(TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    /// Draws a word; some come much more often than others.
    fn word(&mut self) -> String {
        let end = 1 + self.below(3_000);
        format!("w{}", self.below(end))
    }
}

fn queries(draws: &mut Draws, count: u64) -> QuerySet {
    let mut set = QuerySet::new();
    for id in 0..count {
        let mut word = || Node::Word(Word::whole(&*draws.word(), FieldSet::ALL));
        let parts = vec![
            word(),
            word(),
            Node::Not(Box::new(word())),
            Node::Or(vec![word(), word()]),
        ];
        let parts = parts.into_iter().take(2 + id as usize % 3).collect();
        let query = StandingQuery {
            id,
            text: Box::default(),
            tags: Box::default(),
            filters: Box::default(),
            source: Box::default(),
            count: Default::default(),
        };
        set.insert(Arc::new(query), &Node::And(parts), None);
    }
    set
}

fn documents(draws: &mut Draws) -> Vec<Words> {
    let document = |number| {
        let text: Vec<String> = (0..number % 100).map(|_| draws.word()).collect();
        let mut words = Words::new();
        words.push_field(&Analyzer::default(), 0, &text.join(" "));
        words
    };
    (0..150).map(document).collect()
}

/// Asserts that both forms find the same pairs, and returns their number.
fn compare(queries: &mut QuerySet, documents: &[Words]) -> u64 {
    let snapshot = queries.snapshot();
    let rows = |hits: &Hits| -> Vec<(u64, Vec<u32>)> {
        let rows = hits.ids();
        rows.map(|(id, documents)| (id, documents.to_vec()))
            .collect()
    };
    let documents = Documents::of(documents);
    let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
    assert_eq!(
        matches(&snapshot, &documents, &mut scratch, &mut hits),
        Ok(())
    );
    let (found, work) = (rows(&hits), hits.work());
    assert_eq!(
        snapshot.matches_by(Plain, &documents, &mut scratch, &mut hits),
        Ok(())
    );
    assert_eq!(found, rows(&hits));
    assert_eq!(work.matches, hits.work().matches);
    assert_eq!(work.candidates, hits.work().candidates);
    work.matches
}

#[test]
fn the_code_for_this_processor_finds_what_the_plain_code_finds() {
    let mut draws = Draws::of(1);
    let mut queries = queries(&mut draws, 20_000);
    assert!(compare(&mut queries, &documents(&mut draws)) > 1_000);
}

#[test]
fn small_sets_are_scanned_to_the_same_answer_by_vectors() {
    let mut draws = Draws::of(3);
    let documents = documents(&mut draws);
    let found: u64 = (1..=SCANNED_MAX as u64)
        .map(|count| compare(&mut queries(&mut draws, count), &documents))
        .sum();
    assert!(found > 10, "{found}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn words_looked_up_by_vectors_are_those_looked_up_one_by_one() {
    use crate::{
        dictionary::Dictionary,
        scratch::{Plain, Steps},
        word_terms::WordTerms,
    };
    let Some(vectors) = super::x86::Vectors::new() else {
        return;
    };
    let mut draws = Draws::of(2);
    let mut word = || {
        let text = draws.word();
        text.repeat(1 + draws.below(6) as usize) // some are too long to be keys
    };
    let mut dictionary = Dictionary::default();
    for number in 0..2_000_u32 {
        dictionary.intern(&Word::whole(word(), FieldSet::ALL));
        if number % 50 == 0 {
            dictionary.intern(&Word::whole(word(), FieldSet(2)));
        }
        if number == 1_500 {
            dictionary.compact();
        }
    }
    let (mut plain, mut wide) = (WordTerms::default(), WordTerms::default());
    let mut documents = Vec::new();
    for number in 0..300 {
        let text: Vec<String> = (0..number % 40).map(|_| word()).collect();
        let mut words = Words::new();
        words.push_field(&Analyzer::default(), 0, &text.join(" "));
        documents.push(words);
        if documents.len() > number % 7 {
            let first = plain.len();
            Plain.look_up(dictionary.view(), &documents, &mut plain);
            vectors.look_up(dictionary.view(), &documents, &mut wide);
            assert_eq!(wide.from(first), plain.from(first));
            assert_eq!(wide.ends, plain.ends);
            documents.clear();
        }
    }
}
