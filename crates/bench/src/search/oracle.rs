//! The slow, obvious count: it looks at every record, for a sample of the queries.

use std::collections::HashSet;

use query::analysis::Analyzer;

use super::{
    corpus::{Corpus, words},
    definition::Matching,
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
    let analyzer = Analyzer::default();
    let (records, copies) = corpus.distinct();
    for text in records {
        let record = words(&analyzer, text);
        let distinct: HashSet<&str> = record.iter().map(String::as_str).collect();
        for (number, total) in &mut totals {
            let query = &queries[*number];
            let mut held = query.iter().map(|word| distinct.contains(word.as_str()));
            let found = match matching {
                Matching::Any => held.any(|held| held),
                Matching::All => held.all(|held| held),
                Matching::Phrase => {
                    held.all(|held| held) && record.windows(query.len()).any(|place| place == query)
                }
            };
            *total += u64::from(found) * copies;
        }
    }
    totals
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
    }
}
