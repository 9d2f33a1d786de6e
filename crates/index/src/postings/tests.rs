//! Compares lists with plain vectors.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::Index;

use relation::codec::cut_small;

use super::bits::packed_bytes;
use super::page::{WORDS, doc_bits};
use super::posting::{BLOCK, LONG, ListEntry};
use super::writer::write_page;
use super::{List, ListForm, ListWriter, PAGE_BITS, PAGE_ROWS, Run, code};

/// By doc: length class of the row, and the word's places.
type Rows = BTreeMap<u32, (u8, Vec<u32>)>;

fn places(many_fields: bool) -> impl Strategy<Value = Vec<u32>> {
    let fields = if many_fields { 1..4u32 } else { 1..2 };
    let most = prop_oneof![9 => 1..4usize, 1 => 7..30usize];
    (fields, most).prop_flat_map(|(fields, most)| {
        vec(
            (0..fields, prop_oneof![3 => 1..300u32, 1 => 1..1u32 << 24]),
            1..=most,
        )
        .prop_map(|places| {
            let places = places
                .into_iter()
                .map(|(field, position)| field << 24 | position);
            let mut places: Vec<u32> = places.collect();
            places.sort_unstable();
            places.dedup();
            places
        })
    })
}

/// Short lists, long lists, lists with dense and with empty pages.
fn rows(many_fields: bool) -> impl Strategy<Value = (u32, Rows)> {
    let shape = prop_oneof![
        (Just(300u32), 1..200usize),
        (Just(70_000), 1..600usize),
        (Just(1 << 25), 1..300usize),
    ];
    let row = move || (0..32u8, places(many_fields));
    let sparse =
        shape.prop_flat_map(move |(rows, most)| (Just(rows), btree_map(0..rows, row(), 1..=most)));
    let dense =
        (vec(row(), 1..4), 1..9u32, 200_000..300_000u32).prop_map(|(samples, step, rows)| {
            let docs = (70_000..140_000u32)
                .step_by(step as usize)
                .chain([rows - 1]);
            let row = |doc: u32| (doc, samples[(doc * 7 / 3) as usize % samples.len()].clone());
            (rows, docs.map(row).collect())
        });
    prop_oneof![3 => sparse, 1 => dense]
}

fn written(rows: u32, many_fields: bool, given: &Rows) -> (ListEntry, Vec<u8>, Vec<u8>) {
    let (mut postings, mut positions) = (vec![7; 3], vec![9; 5]);
    let mut writer = ListWriter::new(rows, many_fields, &mut postings, &mut positions);
    for (doc, (class, places)) in given {
        writer.push(*doc, *class, places);
    }
    let entry = writer.finish();
    (entry, postings.split_off(3), positions.split_off(5))
}

/// A list that was written, in the form in which segments before version 5 have it.
fn widened(rows: u32, given: &Rows, postings: &[u8], positions: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let docs: Vec<u32> = given.keys().copied().collect();
    let mut rest = postings;
    cut_small(&mut rest).unwrap();
    let (head, mut rest) = postings.split_at(postings.len() - rest.len());
    let mut wide = head.to_vec();
    if docs.len() < LONG {
        let [narrow, bits] = [ListForm::Narrow, ListForm::Wide].map(|form| doc_bits(rows, form));
        rest = &rest[packed_bytes(docs.len(), narrow)..];
        for doc in &docs {
            wide.extend(&doc.to_le_bytes()[..bits as usize / 8]);
        }
    } else {
        let codes = usize::from(u16::from_le_bytes([rest[0], rest[1]]));
        let head = 2 + 5 * codes + 4 * rows.div_ceil(PAGE_ROWS) as usize;
        wide.extend(&rest[..head]);
        let mut narrow = Vec::new();
        for page in docs.chunk_by(|a, b| a >> PAGE_BITS == b >> PAGE_BITS) {
            write_page(page, ListForm::Narrow, &mut narrow);
            write_page(page, ListForm::Wide, &mut wide);
        }
        rest = &rest[head + narrow.len()..];
    }
    wide.extend(rest);
    let blocks = docs.len().div_ceil(BLOCK);
    if blocks == 1 {
        return (wide, positions.to_vec());
    }
    let (entries, content) = positions.split_at(6 * blocks);
    let entries = entries.as_chunks::<6>().0.iter();
    let mut wide_positions: Vec<u8> = entries
        .flat_map(|entry| [entry.as_slice(), &[0; 4]].concat())
        .collect();
    wide_positions.extend(content);
    (wide, wide_positions)
}

/// A list that was written, in both forms.
fn both_forms(rows: u32, given: &Rows, many_fields: bool) -> [(ListForm, Vec<u8>, Vec<u8>); 2] {
    let (_, postings, positions) = written(rows, many_fields, given);
    let wide = widened(rows, given, &postings, &positions);
    [
        (ListForm::Narrow, postings, positions),
        (ListForm::Wide, wide.0, wide.1),
    ]
}

fn given() -> impl Strategy<Value = (bool, (u32, Rows))> {
    any::<bool>().prop_flat_map(|many_fields| (Just(many_fields), rows(many_fields)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_list_gives_what_was_written((many_fields, (rows, given)) in given()) {
        let (entry, postings, positions) = written(rows, many_fields, &given);
        prop_assert_eq!(entry.documents as usize, given.len());
        prop_assert_eq!(entry.hits, given.values().map(|row| row.1.len() as u64).sum::<u64>());
        prop_assert_eq!((entry.postings_bytes, entry.positions_bytes), (postings.len() as u64, positions.len() as u64));
        for (form, postings, positions) in both_forms(rows, &given, many_fields) {
            let list = List::open((rows, form), many_fields, &postings, &positions).unwrap();
            prop_assert_eq!(list.documents(), entry.documents);
            for (block, rows) in given.values().collect::<Vec<_>>().chunks(BLOCK).enumerate() {
                let mut firsts = [0; BLOCK];
                prop_assert!(list.first_places(block, &mut firsts).is_some());
                let expected = rows.iter().map(|(_, places)| places[0]);
                prop_assert!(expected.eq(firsts[..rows.len()].iter().copied()), "block {}", block);
            }
            let (mut walk, mut found) = (list.walk(), Vec::new());
            for (doc, (class, places)) in &given {
                let posting = walk.next().unwrap();
                walk.positions(&mut found);
                let fields = places.iter().fold(0u64, |fields, place| fields | 1 << (place >> 24));
                prop_assert_eq!((posting.doc, posting.code, posting.fields), (*doc, code(places.len() as u32, *class), fields));
                prop_assert_eq!(posting.hits as usize, places.len());
                prop_assert_eq!(&found, places);
            }
            prop_assert!(walk.next().is_none());
        }
    }

    #[test]
    fn pages_find_count_and_unite_the_rows((rows, given) in rows(false), asked in vec(any::<Index>(), 0..50)) {
        for (form, postings, positions) in both_forms(rows, &given, false) {
            let list = List::open((rows, form), false, &postings, &positions).unwrap();
            let mut codes = [0u32; 256];
            list.each_code(|code, count| codes[usize::from(code)] += count);
            for (class, places) in given.values() {
                codes[usize::from(code(places.len() as u32, *class))] -= 1;
            }
            prop_assert_eq!(codes, [0; 256]);
            let mut all = Vec::new();
            for number in 0..rows.div_ceil(PAGE_ROWS) {
                let page = list.page(number as usize);
                let mut bitmap = [0; WORDS];
                page.unite(&mut bitmap);
                prop_assert_eq!(bitmap.iter().map(|word| word.count_ones() as usize).sum::<usize>(), page.len());
                let base = number << PAGE_BITS;
                let before = all.len();
                page.each(|low| all.push(base | u32::from(low)));
                let mut hint = 0;
                for (at, doc) in all[before..].iter().enumerate() {
                    prop_assert_eq!(page.find(*doc as u16, &mut hint), Some(at));
                    prop_assert_eq!(page.low(at), Some(*doc as u16));
                    prop_assert_eq!(bitmap[(doc >> 6) as usize % WORDS] >> (doc & 63) & 1, 1);
                }
            }
            prop_assert!(all.iter().eq(given.keys()));
            for doc in asked.iter().map(|index| index.index(rows as usize) as u32) {
                let found = list.page((doc >> PAGE_BITS) as usize).find(doc as u16, &mut 0);
                prop_assert_eq!(found.is_some(), given.contains_key(&doc));
            }
        }
    }

    #[test]
    fn damaged_bytes_never_panic(
        (many_fields, (rows, given)) in given(),
        flips in vec((any::<Index>(), any::<u8>()), 1..4),
        cut in any::<Option<Index>>(),
        (in_positions, is_wide) in any::<(bool, bool)>(),
    ) {
        let forms = both_forms(rows, &given, many_fields);
        let (form, mut postings, mut positions) = forms[usize::from(is_wide)].clone();
        let bytes = if in_positions { &mut positions } else { &mut postings };
        // Most fields of a list are at its front.
        let reach = bytes.len().min(64);
        for (at, (index, byte)) in flips.iter().enumerate() {
            let within = if at == 0 { reach } else { bytes.len() };
            bytes[index.index(within)] = *byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let Some(list) = List::open((rows, form), many_fields, &postings, &positions) else { return Ok(()) };
        let (mut walk, mut found, mut hint) = (list.walk(), Vec::new(), 0);
        while walk.next().is_some() {
            walk.positions(&mut found);
        }
        for number in 0..=rows.div_ceil(PAGE_ROWS) as usize {
            let page = list.page(number);
            page.unite(&mut [0; WORDS]);
            page.find(5_000, &mut hint);
            page.low(page.len() / 2);
            page.each(|_| {});
        }
        list.each_code(|_, _| {});
        let mut run = Run::default();
        for at in [0, list.documents(), u32::MAX] {
            list.positions(at, &mut run, &mut found);
            list.fields(at);
        }
    }
}

#[test]
fn a_word_of_one_row_takes_few_bytes() {
    let given = Rows::from([(60_000, (10, vec![17]))]);
    let (entry, ..) = written(65_536, false, &given);
    assert_eq!((entry.postings_bytes, entry.positions_bytes), (5, 3));
}
