//! Compares chunks and look-ups of the tail with plain lists.

use std::sync::Arc;

use language::analysis::{Analyzer, Words};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{FAN, Tail, TailWriter, check, gallop};
use crate::error::Error;
use crate::limits::FIELD_POSITION_MAX;
use crate::removed::{Frequency, Removed, WordCount};

fn insert(writer: &mut TailWriter, id: u64, text: &str) {
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, text);
    writer
        .insert(id, relation::row::encode(&[]), &words)
        .unwrap();
}

#[test]
fn single_rows_make_few_chunks() {
    let mut tail = Tail::default();
    let mut writer = TailWriter::new(&tail, Arc::default());
    for id in 0..20_000u64 {
        insert(
            &mut writer,
            id,
            if id % 3 == 0 { "cat cat dog" } else { "eel" },
        );
        tail.publish(&mut writer);
        assert!(tail.chunks().len() <= 4 * (FAN - 1) + id as usize / 4096 + 1);
    }
    assert_eq!(tail.rows(), 20_000);
    assert!((0..20_000).all(|ordinal| tail.row(ordinal).id == u64::from(ordinal)));
    let cat = tail.dictionary.find("cat").unwrap();
    assert_eq!(
        tail.frequency(cat),
        Frequency {
            documents: 6_667,
            hits: 13_334
        }
    );
    let list = tail.list(cat, true);
    let (mut walk, mut positions) = (list.walk(), Vec::new());
    for ordinal in (0..20_000).step_by(3) {
        assert_eq!(walk.next().map(|posting| posting.doc), Some(ordinal));
        walk.positions(&mut positions);
        assert_eq!(positions, [1, 2]);
    }
    assert!(walk.next().is_none());
}

#[test]
fn a_place_beyond_24_bits_is_refused() {
    let last = FIELD_POSITION_MAX;
    assert!(check([(0, 1), (1, last)].into_iter()).is_ok());
    let refused = check([(0, last), (3, last + 1)].into_iter());
    assert!(matches!(refused, Err(Error::TextTooLong { field: 3 })));
}

#[test]
fn an_id_that_came_twice_is_found_twice() {
    let mut tail = Tail::default();
    let mut writer = TailWriter::new(&tail, Arc::default());
    for round in 0..3 {
        for id in [9, 4, 6] {
            writer.delete(id);
            insert(&mut writer, id, "cat");
        }
        if round < 2 {
            tail.publish(&mut writer);
        }
    }
    tail.publish(&mut writer);
    let mut found = Vec::new();
    tail.find(&[1, 4, 6, 7], &mut |ordinal| found.push(ordinal));
    found.sort_unstable();
    assert_eq!(found, [1, 2, 4, 5, 7, 8]);
    assert_eq!(writer.ordinal(4), Some(7));
}

proptest! {
    #[test]
    fn galloping_finds_what_scanning_finds(mut list in vec(0..60u32, 0..50), target in 0..70u32) {
        list.sort_unstable();
        let scanned = list.iter().take_while(|entry| **entry < target).count();
        prop_assert_eq!(gallop(&list, |entry| *entry < target), scanned);
    }

    #[test]
    fn removed_words_add_up(rows in vec(vec((0..30u32, 1..5u32), 0..6), 0..80)) {
        let mut removed = Removed::default();
        let mut plain = vec![Frequency::default(); 30];
        for mut row in rows {
            row.sort_unstable();
            row.dedup_by_key(|(word, _)| *word);
            let words: Vec<_> = row.iter().map(|(word, hits)| WordCount { word: *word, hits: *hits }).collect();
            removed.add(&words);
            for (word, hits) in row {
                plain[word as usize].documents += 1;
                plain[word as usize].hits += u64::from(hits);
            }
        }
        for (word, frequency) in (0..).zip(&plain) {
            prop_assert_eq!(removed.frequency(word), *frequency);
        }
        prop_assert_eq!(removed.hits(), plain.iter().map(|frequency| frequency.hits).sum::<u64>());
    }
}
