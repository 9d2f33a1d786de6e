//! Phrases by pairs of words: compared with the slow executor, in segments that were sealed and merged, with deleted rows.

use super::*;
use crate::table::MergeRequest;

/// A table of one segment, merged from two with deleted rows, and a tail. More rows are deleted since.
fn merged(texts: usize) -> Arc<Snapshot> {
    let shape = shape(texts);
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "t", shape.clone()).unwrap();
    let mut chance = Chance(TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]));
    let mut number = 0;
    for (at, rows) in [2_000, 1_500, 300].into_iter().enumerate() {
        for _ in 0..rows {
            number += 1;
            let mut words = Words::new();
            let mut row = vec![Value::Int(i128::from(chance.below(50)))];
            for field in 0..texts as u8 {
                let text = chance.text();
                words.push_field(&shape.analyzer, field, &text);
                row.push(Value::Str(text));
            }
            let id = number * 7_919 % 1_000_003;
            table
                .insert(id, relation::row::encode(&row), &words)
                .unwrap();
        }
        for number in (number / 2..number).step_by(11) {
            table.delete(number * 7_919 % 1_000_003).unwrap();
        }
        drop(table.snapshot());
        if at < 2 {
            let job = table.freeze(number).unwrap();
            table.install(job.run().unwrap()).unwrap();
        }
    }
    table.optimize();
    let job = table.merge_job(MergeRequest::default()).unwrap();
    table.install_merged(job.run().unwrap()).unwrap();
    for number in (5..number).step_by(13) {
        table.delete(number * 7_919 % 1_000_003).unwrap();
    }
    table.snapshot()
}

/// With one text column, and with two.
fn both_merged() -> &'static [Arc<Snapshot>; 2] {
    static MADE: OnceLock<[Arc<Snapshot>; 2]> = OnceLock::new();
    MADE.get_or_init(|| [merged(1), merged(2)])
}

#[test]
fn a_merged_segment_keeps_pairs_of_common_words() {
    for snapshot in both_merged() {
        let pages = snapshot.parts.iter().map(|part| part.pairs(0));
        let kept = pages.map(|page| page.map(|page| page.keeps([300, 300])));
        let kept: Vec<Option<bool>> = kept.collect();
        assert_eq!(kept, [Some(true), None], "the segment, then the tail");
    }
}

/// Phrases of two to five words, some with a gap; in any field or one.
fn phrase() -> impl Strategy<Value = String> {
    let word = prop_oneof![6 => (0..5u64).prop_map(|word| format!("w{word}")),
        2 => (0..WORDS).prop_map(|word| format!("w{word}")), 1 => Just("*".to_owned())];
    let words = proptest::collection::vec(word, 2..6);
    let field = prop_oneof![4 => Just(""), 1 => Just("@body ")];
    (words, field).prop_filter_map("a word", |(words, field)| {
        let is_whole = words.first()? != "*" && words.last()? != "*";
        is_whole.then(|| format!("({field}\"{}\")", words.join(" ")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_phrase_is_found_weighed_and_counted_as_by_the_slow_executor(
        phrase in phrase(),
        beside in prop_oneof![3 => Just(""), 1 => Just(" w1"), 1 => Just(" | w7"), 1 => Just(" -w0")],
        table in 0..2usize,
        ranker in prop_oneof![1 => Just(Ranker::Bm25a), 1 => Just(Ranker::ProximityBm25), 1 => any_ranker()],
        keep in prop_oneof![Just(None), Just(Some(0)), (1..150u64).prop_map(Some), (1..8u64).prop_map(Some)],
        filter in filter(),
        backwards in any::<bool>(),
    ) {
        let snapshot = &both_merged()[table];
        let filter = filter.map(|filter| (filter, false));
        let text = format!("{phrase}{beside}");
        let [fast, slow] = both(snapshot, &text, ranker, keep, &[], filter, backwards);
        prop_assert_eq!(fast, slow);
    }
}
