//! Compares pairs with texts that are looked through one by one.

use proptest::collection::vec;
use proptest::prelude::*;

use super::rows::{DENSE, PairRows, encode, list_bytes};
use super::{PairPage, WORD_ROWS, WordLists, is_bare, write};
use crate::error::Error;
use crate::postings::{List, ListForm, ListWriter, PAGE_ROWS};

/// By row, then by field: the numbers of its words.
type Texts = Vec<Vec<Vec<usize>>>;

/// Words of all tests. Their numbers in the segment are three times these.
const WORDS: usize = 9;

/// The bytes of the posting list and the places of each word; `None` of a word in too few rows.
fn lists(texts: &Texts, fields: u8) -> Vec<Option<(Vec<u8>, Vec<u8>)>> {
    let of_word = |word: usize| {
        let (mut postings, mut positions) = (Vec::new(), Vec::new());
        let rows = texts.len() as u32;
        let mut list = ListWriter::new(rows, fields > 1, &mut postings, &mut positions);
        let mut held = 0;
        for (row, text) in (0..).zip(texts) {
            let mut places = Vec::new();
            for (field, words) in (0u32..).zip(text) {
                let of_field = words.iter().zip(1u32..).filter(|(own, _)| **own == word);
                places.extend(of_field.map(|(_, position)| field << 24 | position));
            }
            if !places.is_empty() {
                list.push(row, 3, &places);
                held += 1;
            }
        }
        if held < WORD_ROWS {
            return None;
        }
        list.finish();
        Some((postings, positions))
    };
    (0..WORDS).map(of_word).collect()
}

/// The bytes of the section.
fn section(texts: &Texts, fields: u8) -> Vec<u8> {
    let lists = lists(texts, fields);
    let words: Vec<usize> = (0..WORDS).filter(|word| lists[*word].is_some()).collect();
    let numbers: Vec<u32> = words.iter().map(|word| 3 * *word as u32).collect();
    let open = |at: usize| {
        let (postings, positions) = lists[words[at]].as_ref().unwrap();
        Ok(List::open(
            (texts.len() as u32, ListForm::Narrow),
            fields > 1,
            postings,
            positions,
        )
        .unwrap())
    };
    let given = WordLists {
        rows: texts.len() as u32,
        hits: texts.iter().flatten().map(|words| words.len() as u64).sum(),
        fields,
        words: &numbers,
        list: &open,
        check: &|| Ok(()),
    };
    let mut out = Vec::new();
    write(&given, &mut |bytes| {
        out.extend_from_slice(bytes);
        Ok(())
    })
    .unwrap();
    out
}

/// Compares each pair of each page; returns how many are kept.
fn check(texts: &Texts, fields: u8) -> usize {
    let bytes = section(texts, fields);
    let pages = texts.chunks(PAGE_ROWS as usize);
    let ends = &bytes[bytes.len() - 8 * pages.len()..];
    let (mut start, mut kept) = (0, 0);
    for (texts, end) in pages.zip(ends.as_chunks().0) {
        let end = u64::from_le_bytes(*end) as usize;
        let page = PairPage::open(&bytes[start..end], texts.len() as u32);
        start = end;
        let Some(page) = page else { continue };
        let holds = |word: usize| {
            let holding = |text: &&Vec<Vec<usize>>| text.iter().flatten().any(|own| *own == word);
            texts.iter().filter(holding).count() as u32
        };
        for left in 0..WORDS {
            for right in 0..WORDS {
                let mut found = Vec::new();
                let rows = page.rows(3 * left as u32, 3 * right as u32);
                rows.each(|low| found.push(low));
                let mut own: Vec<u16> = Vec::new();
                for (text, low) in texts.iter().zip(0..=u16::MAX) {
                    let pairs =
                        |words: &Vec<usize>| words.windows(2).any(|two| two == [left, right]);
                    own.extend(text.iter().any(pairs).then_some(low));
                }
                if page.keeps([holds(left), holds(right)]) {
                    assert_eq!((found.len(), &found), (rows.len(), &own), "{left} {right}");
                    let mut every: Vec<u16> = (0..=u16::MAX).step_by(3).collect();
                    rows.narrow(&mut every);
                    own.retain(|low| low % 3 == 0);
                    assert_eq!(every, own, "{left} {right}");
                    kept += 1;
                } else {
                    assert!(found.is_empty(), "{left} {right}");
                }
            }
        }
    }
    kept
}

/// Low numbers more often.
fn word() -> impl Strategy<Value = usize> {
    (0..WORDS, 0..WORDS, 0..WORDS).prop_map(|(a, b, c)| a.min(b).min(c))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_pair_that_is_kept_has_exactly_the_rows_in_which_its_words_follow_each_other(
        samples in vec(vec(vec(word(), 0..7), 1..=2), 1..20),
        order in vec(any::<prop::sample::Index>(), 1..700),
    ) {
        let text = |at: &prop::sample::Index| {
            let mut text = samples[at.index(samples.len())].clone();
            text.resize(2, Vec::new());
            text
        };
        let two: Texts = order.iter().map(text).collect();
        check(&two, 2);
        let one: Texts = two.iter().map(|text| text[..1].to_vec()).collect();
        check(&one, 1);
    }
}

#[test]
fn pages_have_their_own_pairs_and_long_lists_are_bitmaps() {
    let text = |row: usize| {
        let words = match row % 7 {
            0..3 => vec![0, 1, 2],
            3 => vec![1, 0],
            4 => vec![0, 1, 0, 1],
            _ if row.is_multiple_of(50) => vec![2, 5, 0],
            _ => vec![row % 3],
        };
        vec![words]
    };
    let texts: Texts = (0..PAGE_ROWS as usize + 5_000).map(text).collect();
    let zero_one = |text: &&Vec<Vec<usize>>| text[0].windows(2).any(|two| two == [0, 1]);
    let dense = texts[..PAGE_ROWS as usize].iter().filter(zero_one).count();
    assert!(dense > DENSE);
    assert!(check(&texts, 1) >= 2 * 9);
}

#[test]
fn a_page_whose_pairs_take_much_room_keeps_fewer() {
    // Every pair of words in every second row or so, at one word a row and pair.
    let texts: Texts = (0..3_000)
        .map(|row| vec![vec![row % WORDS, row / WORDS % WORDS]])
        .collect();
    let bytes = section(&texts, 1);
    let share = u32::from_le_bytes(*bytes.first_chunk().unwrap());
    assert!(share <= super::SHARE);
    check(&texts, 1);
}

#[test]
fn two_words_at_one_place_leave_a_page_without_pairs() {
    let rows = 300;
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    let mut list = ListWriter::new(rows, false, &mut postings, &mut positions);
    (0..rows).for_each(|row| list.push(row, 1, &[4]));
    list.finish();
    let open = |_| Ok(List::open((rows, ListForm::Narrow), false, &postings, &positions).unwrap());
    let mut given = WordLists {
        rows,
        hits: 600,
        fields: 1,
        words: &[3, 5],
        list: &open,
        check: &|| Ok(()),
    };
    let mut out = Vec::new();
    let mut write_to = |given: &WordLists<'_>| {
        out.clear();
        write(given, &mut |bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        })
        .map(|()| out.clone())
    };
    assert_eq!(write_to(&given).unwrap(), [0; 8]);
    given.check = &|| Err(Error::Stopped);
    assert!(matches!(write_to(&given), Err(Error::Stopped)));
}

proptest! {
    #[test]
    fn strangers_bytes_give_some_rows_or_none(bytes in vec(any::<u8>(), 0..200), count in 0..4u8) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_chunk_mut() {
            *first = [0, 1, 0, 0, 1, 0, 0, 0, count, 0, 0, 0];
        }
        if let Some(end) = bytes.get_mut(16..20) {
            end.copy_from_slice(&[count, 0, 0, 0]); // so that the left word has all pairs
        }
        if let Some(page) = PairPage::open(&bytes, 500) {
            let word = |at: usize| {
                let word = bytes.get(at..).and_then(|word| word.first_chunk());
                word.map_or(0, |word| u32::from_le_bytes(*word))
            };
            let rows = page.rows(word(12), word(20));
            let mut lows: Vec<u16> = (0..500).collect();
            rows.narrow(&mut lows);
            rows.each(|_| {});
            prop_assert!(page.keeps([500, 500]) && lows.len() <= 500);
        }
    }
}

#[test]
fn marked_words_are_in_no_pair() {
    let words = ["", "#tag", "@you", "=ran", "ran", "7"];
    let bare = words.map(|word| is_bare(word.as_bytes()));
    assert_eq!(bare, [false, false, false, false, true, true]);
}

proptest! {
    #[test]
    fn rows_of_any_number_come_back(rows in 1..=PAGE_ROWS, seeds in vec(any::<u16>(), 1..400), is_run in any::<bool>()) {
        let place = |(at, seed): (usize, &u16)| match is_run {
            true => (usize::from(seeds[0]) + at) as u32 % rows,
            false => u32::from(*seed) % rows,
        };
        let mut list: Vec<u16> = seeds.iter().enumerate().map(|seed| place(seed) as u16).collect();
        list.sort_unstable();
        list.dedup();
        let mut bytes = vec![7; 3];
        encode(&list, rows, &mut bytes);
        let count = list.len() as u32;
        prop_assert_eq!(bytes.len(), 3 + list_bytes(count, rows));
        let found = PairRows::open(&bytes[3..], count, rows).unwrap();
        let mut all = Vec::new();
        found.each(|low| all.push(low));
        prop_assert_eq!((found.len(), all), (list.len(), list));
        prop_assert!(PairRows::open(&bytes[4..], count, rows).is_none());
    }
}
