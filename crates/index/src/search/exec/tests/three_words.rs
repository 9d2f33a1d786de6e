//! ORs in which two words stay below the threshold.

use super::*;

/// Two segments of `rows` rows each; the second one has the lower ids. All texts have three words, and one in fifty is `w1 w2 w3`.
fn two_segments(rows: u64) -> Arc<Snapshot> {
    let shape = shape(1);
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "t", shape.clone()).unwrap();
    for (first, position) in [(1_000_000, rows), (1, 2 * rows)] {
        for at in 0..rows {
            let text = match at % 50 {
                0 => "w1 w2 w3",
                other => ["w1 x x", "x w2 x", "x x w3", "w1 w2 x"][other as usize % 4],
            };
            let mut words = Words::new();
            words.push_field(&shape.analyzer, 0, text);
            let row = [Value::Int(0), Value::Str(text.to_owned())];
            table
                .insert(first + at, relation::row::encode(&row), &words)
                .unwrap();
        }
        drop(table.snapshot());
        let job = table.freeze(position).unwrap();
        table.install(job.run().unwrap()).unwrap();
    }
    table.snapshot()
}

#[test]
fn rows_of_three_words_are_found_where_rows_of_two_cannot_enter() {
    // Arrays, then bitmaps. The first segment raises the threshold to the weight of three words.
    for rows in [600, 6_000] {
        let snapshot = two_segments(rows);
        for (backwards, text) in [false, true].map(|backwards| (backwards, "w1 | w2 | w3")) {
            let asked = |filter| {
                both(
                    &snapshot,
                    text,
                    Ranker::Bm25a,
                    Some(5),
                    &[],
                    filter,
                    backwards,
                )
            };
            let [fast, slow] = asked(None);
            assert_eq!(fast, slow, "{rows} rows, backwards {backwards}");
            let ids: Vec<u64> = fast.1.iter().map(|(id, ..)| *id).collect();
            assert_eq!(ids, [1, 51, 101, 151, 201]);
            let [fast, slow] = asked(Some(("id != 51", false)));
            assert_eq!(
                fast, slow,
                "{rows} rows, backwards {backwards}, a row refused"
            );
        }
    }
}
