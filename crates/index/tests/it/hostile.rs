//! Segments whose bytes were written wrong, with the checksums that go with them: every decoder gives some answer or an error. None
//! panics, runs on, or takes memory that the file does not pay for.

use std::sync::Arc;

use disk::{Copies, Disk, MemoryDisk};
use index::{Control, Memory, OnDamage, Table};
use language::tree::Query;
use relation::request::Select;

use crate::model::shape;
use crate::packed::text;
use crate::subject::{DIR, Subject, filtered, order, row, search, select_all, times, tree};

/// Checksums cover blocks of this many bytes.
const BLOCK_BYTES: usize = 16 << 10;

/// Changes of one file each, [`times`] as many.
const CHANGES: u64 = 10;

/// Random numbers (Knuth's).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end.max(1) as u64) as usize
    }
}

/// Common words, so that a merge lists their pairs; long texts, ids far apart, and words of one row.
fn written(is_merged: bool) -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::new(Arc::new(disk.clone()));
    for id in 1..200 {
        let body = format!(
            "cat black dog w{id} black cat {}",
            text(id, [40, 200, 700][id as usize % 3])
        );
        let title = ["cat", "black dog", ""][id as usize % 3];
        let row = row(&body, id as i64 % 7, title, 0.5, &text(id % 5, 90));
        subject.insert(id * id, row);
        if is_merged && id == 90 {
            subject.seal();
        }
    }
    subject.seal();
    if is_merged {
        subject.optimize();
    }
    (disk, subject)
}

fn content(disk: &MemoryDisk, path: &str) -> Vec<u8> {
    let file = disk.open(path).expect("a file");
    file.map().expect("its content").to_vec()
}

fn write(disk: &MemoryDisk, path: &str, bytes: &[u8]) {
    let file = disk.open(path).expect("a file");
    file.write_at(0, bytes).expect("written");
}

/// Writes a file of a segment, its checksums, and that of the commit.
fn write_summed(disk: &MemoryDisk, segment: &str, name: &str, bytes: &[u8]) {
    write(disk, &format!("{segment}/{name}"), bytes);
    let mut commit = commit_of(disk, segment);
    let entry: Vec<u8> = [&[name.len() as u8], name.as_bytes()].concat();
    let at = commit
        .windows(entry.len())
        .rposition(|window| window == entry);
    let sums = at.expect("the file's checksums") + entry.len() + 8;
    for (block, at) in bytes.chunks(BLOCK_BYTES).zip((sums..).step_by(4)) {
        commit[at..at + 4].copy_from_slice(&crc32c::crc32c(block).to_le_bytes());
    }
    write_commit(disk, segment, commit);
}

/// The content of a segment's commit, which the file has twice.
fn commit_of(disk: &MemoryDisk, segment: &str) -> Vec<u8> {
    let bytes = content(disk, &format!("{segment}/commit"));
    let first = Copies::of(&bytes).first_sound(|_, copy| Ok::<_, ()>(copy.to_vec()));
    first.expect("a copy")
}

/// Writes both copies of a commit, with the checksum of their bytes.
fn write_commit(disk: &MemoryDisk, segment: &str, mut commit: Vec<u8>) {
    let end = commit.len() - 4;
    let sum = crc32c::crc32c(&commit[..end]);
    commit[end..].copy_from_slice(&sum.to_le_bytes());
    let bytes = disk::in_two_copies(&commit);
    write(disk, &format!("{segment}/commit"), &bytes);
}

/// Asks for everything that the table holds, in every way.
fn ask(disk: &MemoryDisk, subject: &Subject) {
    let Ok(mut table) = Table::open(Arc::new(disk.clone()), DIR, shape(), &subject.manifest) else {
        return;
    };
    let snapshot = table.snapshot();
    let texts = [
        "\"black dog\" | cat",
        "\"the of\" | \"cat black dog\"",
        "w1* NEAR/9 cat",
        "^cat MAYBE dog$",
        "\"cat dog w7\"/2",
        "the -measurement",
    ];
    let queries = texts.map(|text| Query {
        root: tree(text),
        warnings: Vec::new(),
    });
    let selects: [Select; 4] = [
        filtered("n BETWEEN 2 AND 4 AND f = 0.5"),
        filtered("id IN (1, 4, 900, 39601)"),
        filtered("s < 'm'"),
        Select {
            order: vec![order("title", true), order("n", false)],
            ..select_all()
        },
    ];
    let all = select_all();
    let asked = queries.iter().map(|query| (&all, Some(query)));
    let asked = asked.chain(selects.iter().map(|select| (select, None)));
    for (select, query) in asked {
        let control = Control {
            memory: Arc::new(Memory::new(64 << 20)),
            on_damage: OnDamage::Skip,
            ..Control::default()
        };
        if let Ok(answer) = search(&snapshot, select, query, &control) {
            assert!(answer.rows.len() <= 1 << 16, "rows of one page");
            answer.rows.for_each(drop);
        }
    }
    if let Ok(true) = table.can_delete(100 * 100) {
        let _ = table.delete(100 * 100);
    }
    let given: Arc<dyn Disk> = Arc::new(disk.clone());
    let _ = index::verify(&given, DIR, &subject.manifest.segments[0]);
}

#[test]
fn bytes_that_were_written_wrong_give_some_answer_or_an_error() {
    for is_merged in [true, false] {
        let (disk, subject) = written(is_merged);
        let segment = format!("{DIR}/{}", subject.manifest.segments[0].directory);
        ask(&disk, &subject);
        let names = ["rows", "dictionary", "words", "postings", "positions"];
        let files = names.map(|name| content(&disk, &format!("{segment}/{name}")));
        let commit = commit_of(&disk, &segment);
        let mut numbers = Numbers(u64::from(is_merged));
        for change in 0..CHANGES * u64::from(times()) {
            let at = numbers.below(names.len());
            let mut bytes = files[at].clone();
            for _ in 0..1 + numbers.below(4) {
                let place = numbers.below(bytes.len());
                let byte = [0, 0xff, 0x80, numbers.below(256) as u8][numbers.below(4)];
                let length = 1 + numbers.below(9);
                let end = bytes.len().min(place + length);
                bytes[place..end].fill(byte);
            }
            write_summed(&disk, &segment, names[at], &bytes);
            eprintln!("change {change} of {}", names[at]);
            ask(&disk, &subject);
            write(&disk, &format!("{segment}/{}", names[at]), &files[at]);
            write_commit(&disk, &segment, commit.clone());
        }
        // Sections elsewhere, and of other lengths.
        for _ in 0..CHANGES * u64::from(times()) / 4 {
            let mut wrong = commit.clone();
            let place = 12 + numbers.below(wrong.len() - 16);
            wrong[place] = wrong[place].wrapping_add(1 << numbers.below(8));
            write_commit(&disk, &segment, wrong);
            eprintln!("byte {place} of commit");
            ask(&disk, &subject);
        }
        write_commit(&disk, &segment, commit);
        ask(&disk, &subject);
    }
}
