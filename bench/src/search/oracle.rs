//! The slow, obvious count: it looks at every record, for a sample of the queries.

use std::collections::HashSet;

use language::analysis::Words;
use language::tree::Unit;

use super::{
    corpus::{Corpus, analyzer, placed},
    definition::{Matching, NEAR, QUORUM},
};

/// Count of queries in the sample, evenly drawn from the list.
const SAMPLE: usize = 50;

/// Index and right total of each query of the sample.
pub(super) fn totals(
    corpus: &Corpus,
    queries: &[Vec<String>],
    matching: Matching,
) -> Vec<(usize, u64)> {
    let step = (queries.len() / SAMPLE).max(1);
    let mut totals: Vec<(usize, u64)> = (0..queries.len())
        .step_by(step)
        .map(|number| (number, 0))
        .collect();
    let analyzer = analyzer(matching.is_operator());
    let (records, copies) = corpus.distinct();
    let mut read = Words::new();
    for text in records {
        read.clear();
        read.push_field(&analyzer, 0, text);
        let record = Record::new(&read);
        for (number, total) in &mut totals {
            *total += u64::from(record.is_found(&queries[*number], matching)) * copies;
        }
    }
    totals
}

struct Record<'w> {
    read: &'w Words,
    /// Each word with its position.
    placed: Vec<(&'w str, u32)>,
    distinct: HashSet<&'w str>,
}

impl<'w> Record<'w> {
    fn new(read: &'w Words) -> Record<'w> {
        let placed: Vec<(&str, u32)> = placed(read).collect();
        let distinct = placed.iter().map(|(word, _)| *word).collect();
        Record {
            read,
            placed,
            distinct,
        }
    }

    fn is_found(&self, query: &[String], matching: Matching) -> bool {
        let mut held = query
            .iter()
            .map(|word| self.distinct.contains(word.as_str()));
        match matching {
            Matching::Any => held.any(|held| held),
            Matching::All => held.all(|held| held),
            Matching::Phrase => {
                let stands = |place: &[(&str, u32)]| place.iter().map(|(word, _)| word).eq(query);
                held.all(|held| held) && self.placed.windows(query.len()).any(stands)
            }
            Matching::Near => self.pairs(query).any(|(a, b)| a.abs_diff(b) <= NEAR),
            Matching::Quorum => held.filter(|held| *held).count() >= QUORUM,
            Matching::Sentence => {
                let sentence = |place| self.read.unit_at(Unit::Sentence, 0, place);
                self.pairs(query).any(|(a, b)| sentence(a) == sentence(b))
            }
            Matching::Start => self
                .placed
                .first()
                .is_some_and(|(word, _)| *word == query[0]),
            Matching::Before => self.pairs(query).any(|(a, b)| a < b),
            Matching::Prefix => self
                .placed
                .iter()
                .any(|(word, _)| word.starts_with(&query[0])),
        }
    }

    /// The positions of the first two words of a query, each of one with each of the other.
    fn pairs(&self, query: &[String]) -> impl Iterator<Item = (u32, u32)> {
        let places = move |word: &String| {
            let own = self.placed.iter().filter(move |(own, _)| own == word);
            own.map(|(_, place)| *place).collect::<Vec<_>>()
        };
        let [first, second] = [0, 1].map(|at| query.get(at).map(places).unwrap_or_default());
        first
            .into_iter()
            .flat_map(move |a| second.clone().into_iter().map(move |b| (a, b)))
    }
}

#[cfg(test)]
mod tests {
    use super::totals;
    use crate::search::{corpus::Corpus, definition::Matching};

    #[test]
    fn each_matching_counts_its_own() {
        let text = b"1\ta b\n2\tb a\n3\tb c\n4\td\n".to_vec();
        let corpus = Corpus::tsv(text, 1, 2).unwrap();
        let queries = [vec!["a".to_owned(), "b".to_owned()]];
        let count = |matching| totals(&corpus, &queries, matching)[0].1;
        assert_eq!(count(Matching::Any), 6);
        assert_eq!(count(Matching::All), 4);
        assert_eq!(count(Matching::Phrase), 2);
        assert_eq!(count(Matching::Near), 4);
        assert_eq!(count(Matching::Sentence), 4);
        assert_eq!(count(Matching::Before), 2);
        assert_eq!(count(Matching::Start), 2);
        assert_eq!(count(Matching::Prefix), 4);
        assert_eq!(count(Matching::Quorum), 0);
    }

    #[test]
    fn ends_of_sentences_count_as_positions_and_part_words() {
        let text = b"1\tbig x x x x cat\n2\tBig. X x x x cat.\n3\tx big x x x x x cat\n".to_vec();
        let corpus = Corpus::tsv(text, 1, 1).unwrap();
        let queries = [vec!["big".to_owned(), "cat".to_owned()]];
        let count = |matching| totals(&corpus, &queries, matching)[0].1;
        assert_eq!((count(Matching::Near), count(Matching::Sentence)), (1, 2));
    }
}
