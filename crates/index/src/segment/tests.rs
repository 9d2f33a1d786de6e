//! Tests of the files of a segment; whole segments are tested in `tests/it`.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use disk::{Disk, MemoryDisk};
use language::analysis::{Analyzer, Words};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::value::Value;

use super::checked::{CheckedFile, SummedWriter, Sums};
use super::commit::{Commit, Kind, Section};
use super::dictionary::{Dictionary, DictionaryWriter};
use super::forward_codes::CommonCodes;
use super::from_tail::write_segment;
use super::merge::{MergeForm, Source, merge_segments};
use super::packed_rows::{StoredRow, Unpacking};
use super::packing::{Packer, Packing};
use super::reader::Segment;
use super::stretches::Stretches;
use super::{forward, forward_codes, packed, rising, stretches};
use crate::edits::Edits;
use crate::error::Error;
use crate::postings::PAGE_BITS;
use crate::removed::WordCount;
use crate::tail::{Tail, TailWriter};

fn find(dictionary: &Dictionary, word: &[u8]) -> Option<u32> {
    let near = dictionary.near(word).unwrap();
    let block = dictionary.block_of(word, near).unwrap()?;
    dictionary.find_in(block, word).unwrap()
}

proptest! {
    #[test]
    fn a_forward_list_comes_back(words in vec((any::<u32>(), any::<u32>()), 0..20)) {
        let mut words: Vec<_> = words.iter().map(|(word, hits)| WordCount { word: *word, hits: *hits }).collect();
        words.sort_unstable_by_key(|word| word.word);
        words.dedup_by_key(|word| word.word);
        let mut bytes = Vec::new();
        forward::encode(&words, &mut bytes);
        prop_assert_eq!(forward::decode(&bytes), Some(words));
    }

    #[test]
    fn strangers_bytes_are_no_forward_list(bytes in vec(any::<u8>(), 0..40)) {
        let _ = forward::decode(&bytes);
    }
}

fn commit() -> Commit {
    let kinds = [
        Kind::Ids,
        Kind::RowEnds,
        Kind::ForwardEnds,
        Kind::Hits,
        Kind::Integers(3),
        Kind::Floats(4),
        Kind::Rows,
        Kind::Forward,
        Kind::Lengths,
        Kind::KeyCodes(5),
        Kind::KeyDocs(5),
        Kind::Paths(1),
        Kind::PathNumbers(1),
        Kind::PathRows(1),
        Kind::PackedIntegers(6),
        Kind::TextPlaces(7),
        Kind::Texts(7),
        Kind::PackedPathNumbers(2),
        Kind::PackedRows,
        Kind::GroupedEnds(1),
        Kind::PackDictionary(1),
        Kind::PackedForward,
        Kind::CommonWords,
        Kind::Pairs,
        Kind::PackedIds(2),
    ];
    let section = |(kind, start): (&Kind, u64)| Section {
        kind: *kind,
        start,
        bytes: 8,
    };
    Commit {
        format: 2,
        words: 9,
        fields: 3,
        position: 1 << 40,
        analysis: 1,
        rows: 3,
        hits: 77,
        sections: kinds.iter().zip(0..).map(section).collect(),
        files: vec![
            (
                "rows".to_owned(),
                Sums {
                    bytes: (16 << 10) + 1,
                    blocks: vec![1, 2],
                },
            ),
            ("terms".to_owned(), Sums::default()),
        ],
    }
}

fn read(bytes: &[u8]) -> crate::Result<Commit> {
    let disk = MemoryDisk::new();
    disk.create("commit").unwrap().write_at(0, bytes).unwrap();
    Commit::read(&disk, "commit")
}

#[test]
fn a_commit_comes_back() {
    assert_eq!(read(&commit().encode()).unwrap(), commit());
}

#[test]
fn a_segment_of_a_newer_analysis_is_refused() {
    let newer = Commit {
        analysis: language::analysis::Analyzer::version() + 1,
        ..commit()
    };
    let refused = read(&newer.encode());
    assert!(matches!(refused, Err(Error::NewerFormat { .. })));
}

#[test]
fn a_damaged_or_cut_commit_is_an_error() {
    let bytes = commit().encode();
    for at in 0..bytes.len() {
        assert!(read(&bytes[..at]).is_err());
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(matches!(
            read(&damaged),
            Err(Error::Corrupt { .. } | Error::NewerFormat { .. })
        ));
    }
}

#[test]
fn a_commit_that_lies_about_lengths_is_an_error() {
    let mut lying = commit();
    lying.files[0].1.bytes = u64::MAX;
    assert!(matches!(read(&lying.encode()), Err(Error::Corrupt { .. })));
}

/// A file with these bytes.
fn checked(bytes: &[u8]) -> CheckedFile {
    let disk = MemoryDisk::new();
    let mut writer = SummedWriter::create(&disk, "bytes").unwrap();
    writer.write_all(bytes).unwrap();
    let sums = writer.finish().unwrap();
    CheckedFile::open(&disk, "bytes".to_owned(), sums).unwrap()
}

/// The rows `0 .. numbers.len()` of a section that begins at byte 3 are read together and one by one.
fn check_packed(numbers: &[i64]) {
    let mut bytes = vec![0xee; 3];
    packed::encode(numbers, &mut bytes);
    let file = checked(&bytes);
    let section = Section {
        kind: Kind::PackedIntegers(0),
        start: 3,
        bytes: bytes.len() as u64 - 3,
    };
    let (rows, page) = (numbers.len() as u32, 1 << PAGE_BITS);
    for start in (0..rows).step_by(page as usize) {
        let docs = start + 1.min(rows - start - 1)..rows.min(start + page);
        let read = packed::read(&file, section, docs.clone()).unwrap().unwrap();
        for doc in docs.clone() {
            let number = numbers[doc as usize];
            assert_eq!(read.get((doc - docs.start) as usize), number, "row {doc}");
        }
        let last = docs.end - 1;
        for doc in [start, last] {
            assert_eq!(
                packed::number(&file, section, doc).unwrap(),
                numbers[doc as usize]
            );
        }
    }
    if rows > page {
        assert!(
            packed::read(&file, section, page - 1..page + 1)
                .unwrap()
                .is_none()
        );
    }
}

#[test]
fn packed_integers_come_back_page_by_page() {
    let page = 1 << PAGE_BITS;
    let spans = [0, 0xff, 0x100, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000];
    let of_page = |span: i64| (0..page).map(move |at| 7 - if at % 3 == 0 { span } else { 0 });
    let mut numbers: Vec<i64> = spans.iter().flat_map(|span| of_page(*span)).collect();
    check_packed(&numbers);
    numbers.extend([i64::MIN, i64::MAX, 0]);
    check_packed(&numbers);
    check_packed(&[i64::MAX]);
}

#[test]
fn hostile_packed_integers_are_errors() {
    let section = Section {
        kind: Kind::PackedIntegers(0),
        start: 0,
        bytes: 20,
    };
    for head in [16 * 16 + 3, 16 * 16 + 9, 16 * 400 + 1, u64::MAX] {
        let mut bytes = 0_i64.to_le_bytes().to_vec();
        bytes.extend(head.to_le_bytes());
        bytes.extend([1, 2, 3, 4]);
        let file = checked(&bytes);
        assert!(packed::read(&file, section, 0..3).is_err(), "{head}");
        assert!(packed::number(&file, section, 0).is_err(), "{head}");
    }
    assert!(packed::number(&checked(&[0; 20]), section, 1 << PAGE_BITS).is_err());
}

proptest! {
    #[test]
    fn packed_integers_of_any_span_come_back(
        base: i64,
        bits in 0..65_u32,
        seeds in vec(any::<u64>(), 1..100),
    ) {
        let below = |seed: u64| seed.checked_shr(64 - bits).unwrap_or(0);
        let numbers: Vec<i64> = seeds.iter().map(|seed| base.wrapping_add_unsigned(below(*seed))).collect();
        check_packed(&numbers);
    }
}

/// Rising numbers of several shapes, and numbers near them.
fn rising() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    let number = prop_oneof![0..300_u64, any::<u64>(), Just(u64::MAX)];
    (vec(number.clone(), 0..300), vec(number, 1..20)).prop_map(|(mut numbers, wanted)| {
        numbers.sort_unstable();
        (numbers, wanted)
    })
}

proptest! {
    #[test]
    fn a_number_is_found_from_any_place_where_it_is_expected(
        (numbers, wanted) in rising(),
        from in 0..300_usize,
        near in 0..400_usize,
    ) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let file = checked(&bytes);
        let from = from.min(numbers.len());
        for wanted in wanted.iter().chain(&numbers) {
            let right = from + numbers[from..].partition_point(|number| number < wanted);
            let number = |at: usize| file.number(0, at);
            let even = rising::near(from..numbers.len(), *wanted, number).unwrap();
            for near in [near, even] {
                let found = rising::first_not_below(from..numbers.len(), near, *wanted, number).unwrap();
                prop_assert_eq!(found, right);
            }
        }
    }
}

/// Words that share beginnings, some of them longer than a key, some with zero bytes.
fn words() -> impl Strategy<Value = std::collections::BTreeSet<Vec<u8>>> {
    let letter = prop_oneof![4 => 97..100u8, 1 => Just(0u8), 1 => Just(0xffu8)];
    let word = (0..4usize, vec(letter, 0..12)).prop_map(|(common, rest)| {
        let mut word = b"internationalisation"[..common * 6].to_vec();
        word.extend(rest);
        word
    });
    proptest::collection::btree_set(word, 0..200)
}

proptest! {
    #[test]
    fn a_dictionary_finds_its_words_and_no_other(words in words(), others in words()) {
        let disk = MemoryDisk::new();
        let mut writer = DictionaryWriter::new(SummedWriter::create(&disk, "dictionary").unwrap());
        for word in &words {
            writer.push(word).unwrap();
        }
        prop_assert_eq!(writer.words() as usize, words.len());
        let sums = writer.close().unwrap().finish().unwrap();
        let file = CheckedFile::open(&disk, "dictionary".to_owned(), sums).unwrap();
        let dictionary = Dictionary::new(file, words.len() as u32).unwrap();
        for (word, number) in words.iter().zip(0..) {
            prop_assert_eq!(find(&dictionary, word), Some(number));
        }
        for other in others.iter().filter(|other| !words.contains(*other)) {
            prop_assert_eq!(find(&dictionary, other), None);
        }
        for from in others.iter().chain(&words) {
            let mut stream = dictionary.from(from).unwrap();
            for (number, word) in words.iter().enumerate().filter(|(_, word)| *word >= from) {
                prop_assert!(stream.advance().unwrap());
                prop_assert_eq!((stream.word(), stream.number() as usize), (word.as_slice(), number));
            }
            prop_assert!(!stream.advance().unwrap());
        }
    }
}

proptest! {
    #[test]
    fn a_list_in_codes_comes_back(
        rows in vec(1..9_u32, 1..300),
        picked in vec((any::<u32>(), 1..400_u32), 0..40),
        wide in any::<u32>(),
    ) {
        let codes = CommonCodes::new(&rows);
        let mut words: Vec<_> = picked
            .iter()
            .map(|(word, hits)| WordCount { word: word % rows.len() as u32, hits: *hits })
            .collect();
        if let Some(word) = words.first_mut() {
            word.hits = wide.max(1);
        }
        words.sort_by_key(|word| word.word);
        words.dedup_by_key(|word| word.word);
        let mut bytes = Vec::new();
        codes.append(&mut words.clone(), &mut bytes);
        prop_assert_eq!(forward_codes::decode(&codes.encode(), &bytes), Some(words));
    }

    #[test]
    fn strangers_bytes_are_no_list_in_codes(
        common in vec(any::<u8>(), 0..20),
        bytes in vec(prop_oneof![any::<u8>(), Just(0), Just(1)], 0..40),
    ) {
        let _ = forward_codes::decode(&common, &bytes);
    }

    #[test]
    fn byte_strings_are_found_by_ends_of_any_width(
        lengths in vec(prop_oneof![9 => 0..40_usize, 1 => Just(70_000)], 1..200),
        strangers in any::<Option<u8>>(),
    ) {
        let mut content = Vec::new();
        let mut ends = Vec::new();
        for (length, at) in lengths.iter().zip(0..) {
            content.extend(std::iter::repeat_n(at as u8, *length));
            ends.push(content.len() as u64);
        }
        let mut grouped = stretches::group(&ends);
        if let Some(byte) = strangers {
            let at = usize::from(byte) * grouped.len() / 256;
            grouped[at] ^= byte;
        }
        let section = |start: usize, bytes: usize| Section {
            kind: Kind::PackedRows,
            start: start as u64,
            bytes: bytes as u64,
        };
        let (disk, head) = (MemoryDisk::new(), content.len());
        let sections = (section(head, grouped.len()), section(0, head));
        let file = written(&disk, &[content, grouped].concat());
        let rows = lengths.len() as u32;
        let read = Stretches::grouped(sections.0, sections.1, rows).unwrap();
        for (doc, length) in (0..).zip(&lengths) {
            read.fetch_place(&file, doc);
            read.fetch(&file, doc, 100);
            match strangers {
                None => prop_assert_eq!(read.read(&file, doc).unwrap(), vec![doc as u8; *length]),
                Some(_) => drop(read.read(&file, doc)),
            }
        }
        let short = section(head, sections.0.bytes as usize - 1);
        prop_assert!(Stretches::grouped(short, sections.1, rows).is_none());
    }
}

/// A file of these bytes.
fn written(disk: &MemoryDisk, bytes: &[u8]) -> CheckedFile {
    let mut writer = SummedWriter::create(disk, "rows").unwrap();
    writer.write_all(bytes).unwrap();
    let sums = writer.finish().unwrap();
    CheckedFile::open(disk, "rows".to_owned(), sums).unwrap()
}

/// A dictionary and a row `'ab', <long text>` that is packed with it, one behind the other.
fn packed_row(text: &str) -> (Vec<u8>, Vec<u8>) {
    let dictionary: Vec<u8> = b"the measurement of spectra ".repeat(20);
    let row = relation::row::encode(&["ab", text].map(|text| Value::Str(text.to_owned())));
    let packing = Packing::with(dictionary.clone());
    let prepared = packing.prepare().unwrap();
    let mut packed = Vec::new();
    Packer::new(&prepared)
        .unwrap()
        .append(&row, &mut packed)
        .unwrap();
    (dictionary, packed)
}

/// Reads a packed row in all ways. Errors: the first.
fn read_row(dictionary: &[u8], packed: &[u8]) -> crate::Result<Option<Vec<Value>>> {
    let disk = MemoryDisk::new();
    let file = written(&disk, &[dictionary, packed].concat());
    let commit = Commit {
        sections: vec![Section {
            kind: Kind::PackDictionary(0),
            start: 0,
            bytes: dictionary.len() as u64,
        }],
        ..commit()
    };
    let unpacking = Unpacking::new(&commit, file.len() as u64).unwrap();
    let at = dictionary.len();
    let bytes = file.range(at, file.len()).unwrap();
    let row = StoredRow::of_merge(&file, &unpacking, 7, at, bytes)?;
    let whole = row.encoded();
    let columns = row.column_count().unwrap_or(0);
    for column in 0..=columns.min(9) {
        row.column(column)?;
        row.text(column)?;
        let _ = (row.number(column), row.document(column));
    }
    whole.map(|row| relation::row::decode(&row))
}

#[test]
fn a_packed_row_comes_back_whether_its_texts_are_a_block_a_frame_or_not_packed() {
    let spectra = "the measurement of spectra, ".repeat(9);
    let long = spectra.repeat(3_000); // several blocks
    for text in ["short", &spectra, &long, &long.repeat(9)] {
        let (dictionary, packed) = packed_row(text);
        let row = ["ab", text].map(|text| Value::Str(text.to_owned()));
        assert_eq!(read_row(&dictionary, &packed).unwrap().unwrap(), row);
        let is_packed = (64..=4 << 20).contains(&text.len());
        assert_eq!(
            packed.len() < text.len() / 2,
            is_packed,
            "{} bytes",
            text.len()
        );
    }
}

#[test]
fn packed_texts_that_say_another_length_or_dictionary_are_an_error_that_names_file_and_byte() {
    let (dictionary, packed) = packed_row(&"the measurement of spectra, ".repeat(9));
    const TEXTS_AT: usize = 1 + 1 + 2 * 2 + 2; // behind form, count, slots and 'ab'
    let lying: [fn(&mut Vec<u8>); 5] = [
        |row| row[TEXTS_AT] ^= 1, // another length
        |row| drop(row.splice(TEXTS_AT..TEXTS_AT + 2, [0xff, 0xff, 0xff, 0x7f])), // 256 MiB
        |row| row[0] |= 1,        // a dictionary that is not there
        |row| row[0] |= 0x20,     // a block is no frame
        |row| row.truncate(row.len() - 3),
    ];
    for (number, lie) in lying.iter().enumerate() {
        let mut row = packed.clone();
        lie(&mut row);
        match read_row(&dictionary, &row) {
            Err(Error::Corrupt { file, offset, .. }) => {
                assert_eq!(
                    (file.as_str(), offset as usize),
                    ("rows", dictionary.len() + TEXTS_AT)
                );
            }
            other => panic!("lie {number}: {other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn strangers_bytes_are_no_packed_row(
        flips in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..9),
        cut in any::<proptest::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let (dictionary, mut packed) = packed_row(&"the measurement of spectra, ".repeat(9));
        for (at, byte) in flips {
            let at = at.index(packed.len());
            packed[at] ^= byte;
        }
        if is_cut {
            packed.truncate(cut.index(packed.len()));
        }
        match read_row(&dictionary, &packed) {
            Ok(_) | Err(Error::Corrupt { .. } | Error::Internal { .. }) => {}
            Err(other) => prop_assert!(false, "{other:?}"),
        }
    }
}

/// A text of 400 bytes of made-up words, other ones for each subject.
fn text_of(subject: &str, id: u64) -> String {
    let word = |at: u64| {
        format!(
            "{subject}{} ",
            id.wrapping_mul(31).wrapping_add(at * at) % 40
        )
    };
    let mut text: String = (0..60).map(word).collect();
    text.truncate(400);
    text
}

/// A segment of a seal, merged alone: it trains a dictionary of its own.
fn merged_alone(disk: &Arc<dyn Disk>, name: &str, ids: Range<u64>) -> Arc<Segment> {
    let mut tail = Tail::default();
    let mut writer = TailWriter::new(&tail, Arc::default());
    for id in ids {
        let mut words = Words::new();
        let text = text_of(name, id);
        words.push_field(&Analyzer::default(), 0, &text);
        let row = relation::row::encode(&[Value::Str(text)]);
        writer.insert(id, row, &words).unwrap();
    }
    tail.publish(&mut writer);
    let (sealed, rows) = (format!("{name}-sealed"), tail.rows());
    write_segment(disk, &sealed, &tail, (1, &[]), &Edits::default(), 1).unwrap();
    let segment = Segment::open(disk, &sealed, rows).unwrap();
    merged(disk, name, vec![Arc::new(segment)])
}

/// The segments as one.
fn merged(disk: &Arc<dyn Disk>, path: &str, segments: Vec<Arc<Segment>>) -> Arc<Segment> {
    let source = |segment| Source {
        segment,
        edits: Edits::default(),
    };
    let sources: Vec<Source> = segments.into_iter().map(source).collect();
    let stop = AtomicBool::new(false);
    let made = merge_segments(
        disk,
        path,
        &sources,
        MergeForm::Packed(None),
        (1, &[], 1),
        &stop,
    )
    .unwrap();
    Arc::new(Segment::open(disk, path, made.rows).unwrap())
}

#[test]
fn rows_packed_with_different_dictionaries_come_back_from_one_segment() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    // Ten dictionaries, of which a segment has eight: the rows of two are packed again.
    let names: Vec<String> = (0..10).map(|at| format!("s{at}x")).collect();
    let ids = |at: u64| 1_000 * at..1_000 * at + 60 + at;
    let each = names
        .iter()
        .zip(0..)
        .map(|(name, at)| merged_alone(&disk, name, ids(at)));
    let each: Vec<Arc<Segment>> = each.collect();
    for (segment, at) in each.iter().zip(0..) {
        assert_eq!(segment.pack_dictionaries().unwrap().len(), 1, "{at}");
    }
    let three = merged(&disk, "three", each[..3].to_vec());
    assert_eq!(three.pack_dictionaries().unwrap().len(), 3);
    let whole = merged(&disk, "whole", [&[three], &each[3..]].concat());
    assert_eq!(whole.pack_dictionaries().unwrap().len(), 8);
    let mut doc = 0;
    for (name, at) in names.iter().zip(0..) {
        for id in ids(at) {
            assert_eq!(whole.id(doc).unwrap(), id);
            let row = whole.row(doc).unwrap().decode().unwrap();
            assert_eq!(row, Some(vec![Value::Str(text_of(name, id))]));
            doc += 1;
        }
    }
    assert_eq!(doc, whole.rows());
}
