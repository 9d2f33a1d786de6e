//! Opening refuses damage to synced frames and names file and offset; it cuts damage to frames without a sync.

use std::sync::Arc;

use crc32c::crc32c;
use disk::{Disk, FaultDisk, MemoryDisk, everything_lost};

use super::{DIR, flip, kept, open, open_with, put, record, segment_files, small};
use crate::frame::{self, HEADER_BYTES, Origin, SegmentId};
use crate::{Error, FileJournal, JournalOptions, Log, Position};

/// Length of each record in these tests: a frame takes two pages, a segment holds two frames. Bytes.
const RECORD_BYTES: usize = 5000;
const FRAME_BYTES: u64 = 8192;
/// Length of a frame without its padding: a flipped bit behind it does no harm. Bytes.
const USED_BYTES: u64 = HEADER_BYTES as u64 + 8 + RECORD_BYTES as u64;

/// A journal of `frames` synced frames of one record each.
fn journal_of(frames: u64) -> MemoryDisk {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk);
    for number in 1..=frames {
        put(&mut journal, &record(number, RECORD_BYTES));
    }
    disk
}

fn knowing(synced: u64) -> JournalOptions {
    JournalOptions {
        known_synced: Position(synced),
        ..small()
    }
}

/// File and offset of the damage that opening reports.
#[track_caller]
fn damage(disk: &MemoryDisk, options: JournalOptions) -> (String, u64) {
    match open_with(disk, options) {
        Err(Error::Corrupt { file, offset, .. }) => (file, offset),
        Err(error) => panic!("{error:?}"),
        Ok(journal) => panic!("opened: {:?}", journal.status()),
    }
}

#[test]
fn a_flipped_bit_in_a_synced_frame_is_refused_with_file_and_offset() {
    for frame in 0..6 {
        let (segment, at) = (frame as usize / 2, frame % 2 * FRAME_BYTES);
        for byte in (0..72)
            .chain((72..USED_BYTES).step_by(331))
            .chain([USED_BYTES - 1])
        {
            let disk = journal_of(6);
            let path = segment_files(&disk)[segment].clone();
            flip(&disk, &path, at + byte);
            assert_eq!(
                damage(&disk, knowing(6)),
                (path.clone(), at),
                "frame {frame}, byte {byte}"
            );
            if frame < 5 {
                // The headers that follow say so, too.
                assert_eq!(
                    damage(&disk, knowing(0)),
                    (path, at),
                    "frame {frame}, byte {byte}"
                );
            }
        }
    }
}

#[test]
fn padding_may_rot() {
    let disk = journal_of(4);
    flip(&disk, &segment_files(&disk)[0], USED_BYTES + 1);
    assert_eq!(kept(&mut open_with(&disk, knowing(4)).unwrap()).len(), 4);
}

#[test]
fn damage_to_the_last_frame_is_a_torn_tail_unless_the_caller_knows_better() {
    let disk = journal_of(3);
    let path = segment_files(&disk)[1].clone();
    flip(&disk, &path, 100);
    assert_eq!(damage(&disk, knowing(3)), (path.clone(), 0));
    let (journal, recovered) = FileJournal::open(Arc::new(disk.clone()), DIR, knowing(2)).unwrap();
    assert_eq!(journal.status().last, Position(2));
    assert_eq!((recovered.records, recovered.bytes_cut), (2, FRAME_BYTES));
}

#[test]
fn frames_behind_a_torn_one_are_cut_when_none_was_synced() {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk);
    put(&mut journal, b"synced");
    for number in 0..3 {
        journal.append(&[&record(number, 100)]).unwrap();
    }
    drop(journal);
    let path = segment_files(&disk)[0].clone();
    flip(&disk, &path, 4096 + 80);
    let (mut journal, recovered) = FileJournal::open(Arc::new(disk), DIR, small()).unwrap();
    assert_eq!(kept(&mut journal), [(1, b"synced".to_vec())]);
    assert_eq!(
        (
            recovered.bytes_cut,
            recovered.cut_offset,
            recovered.cut_file
        ),
        (3 * 4096, 4096, Some(path))
    );
    assert_eq!(put(&mut journal, b"next"), Position(2));
}

#[test]
fn a_torn_first_frame_is_cut_from_the_segment_that_it_began() {
    let disk = journal_of(3);
    let path = segment_files(&disk)[1].clone();
    flip(&disk, &path, 100);
    let (mut journal, recovered) = FileJournal::open(Arc::new(disk.clone()), DIR, small()).unwrap();
    assert_eq!(
        (recovered.cut_file, recovered.cut_offset),
        (Some(path.clone()), 0)
    );
    // The file is used again under another name, which makes the torn frame stale.
    assert!(!disk.exists(&path).unwrap());
    put(&mut journal, b"other");
    assert_eq!(
        kept(&mut open_with(&disk, knowing(3)).unwrap())[2],
        (3, b"other".to_vec())
    );
}

#[test]
fn a_segment_that_is_used_again_after_a_cut_survives_a_crash() {
    let image = journal_of(3);
    flip(&image, &segment_files(&image)[1], 100);
    let disk = FaultDisk::over(&image);
    let mut journal = open(&disk);
    put(&mut journal, b"other");
    let image = disk.crash(everything_lost);
    assert_eq!(
        open_with(&image, knowing(3)).unwrap().status().last,
        Position(3)
    );
}

#[test]
fn a_frame_that_followed_another_one_is_refused() {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk);
    put(&mut journal, b"first");
    put(&mut journal, b"second");
    let path = segment_files(&disk)[0].clone();
    let file = disk.open(&path).unwrap();
    let mut bytes = vec![0; 4096];
    file.read_at(0, &mut bytes).unwrap();
    let segment = frame::Header::decode(&bytes).unwrap().segment;
    let origin = Origin {
        segment,
        first: Position(1),
        synced: Position(0),
        chain: 0,
    };
    frame::encode(&origin, &[b"another first"], &mut bytes);
    file.write_at(0, &bytes).unwrap();
    assert_eq!(damage(&disk, knowing(2)), (path, 4096));
}

#[test]
fn a_missing_segment_is_refused() {
    let disk = journal_of(8);
    let files = segment_files(&disk);
    disk.remove(&files[1]).unwrap();
    assert_eq!(damage(&disk, small()), (files[2].clone(), 0));
}

#[test]
fn a_missing_journal_is_refused_where_the_caller_knows_of_one() {
    assert_eq!(damage(&MemoryDisk::new(), knowing(1)), (DIR.to_owned(), 0));
}

#[test]
fn missing_newest_segments_are_refused_where_the_caller_knows_of_them() {
    let disk = journal_of(6);
    let files = segment_files(&disk);
    for path in &files[2..] {
        disk.remove(path).unwrap();
    }
    assert_eq!(
        damage(&disk, knowing(5)),
        (files[1].clone(), 2 * FRAME_BYTES)
    );
    assert_eq!(
        open_with(&disk, knowing(4)).unwrap().status().last,
        Position(4)
    );
}

#[test]
fn a_segment_cut_short_is_refused() {
    let disk = journal_of(6);
    let path = segment_files(&disk)[1].clone();
    disk.open(&path)
        .unwrap()
        .set_len(FRAME_BYTES + 4096)
        .unwrap();
    assert_eq!(damage(&disk, small()), (path, FRAME_BYTES));
}

#[test]
fn the_start_of_a_trimmed_journal_is_refused_when_damaged() {
    let disk = journal_of(8);
    open(&disk).trim(Position(5)).unwrap();
    let path = segment_files(&disk)[0].clone();
    for byte in [0, 30, 100] {
        flip(&disk, &path, byte);
        assert_eq!(damage(&disk, small()), (path.clone(), 0));
        flip(&disk, &path, byte);
    }
    assert_eq!(open(&disk).status().first, Position(5));
}

#[test]
fn a_frame_in_another_place_than_it_was_written_to_is_no_frame() {
    let disk = journal_of(4);
    let file = disk.open(&segment_files(&disk)[0]).unwrap();
    let mut frame = vec![0; FRAME_BYTES as usize];
    file.read_at(0, &mut frame).unwrap();
    file.write_at(FRAME_BYTES, &frame).unwrap();
    assert_eq!(
        damage(&disk, small()),
        (segment_files(&disk)[0].clone(), FRAME_BYTES)
    );
}

#[test]
fn damage_that_comes_while_the_journal_is_open_is_found_by_reading() {
    let disk = journal_of(4);
    let mut journal = open(&disk);
    let path = segment_files(&disk)[0].clone();
    flip(&disk, &path, FRAME_BYTES + 80);
    let error = journal
        .read(Position(1), &mut |position, _| position < Position(9))
        .unwrap_err();
    assert!(
        matches!(&error, Error::Corrupt { file, offset, .. } if *file == path && *offset == FRAME_BYTES)
    );
    let said = error.to_string();
    assert!(said.contains(&path) && said.contains("8192"), "{said}");
    // Sound records are still visited.
    let mut seen = 0;
    journal
        .read(Position(3), &mut |_, _| {
            seen += 1;
            true
        })
        .unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn a_newer_format_is_refused_with_both_versions() {
    let disk = journal_of(3);
    let path = segment_files(&disk)[0].clone();
    let file = disk.open(&path).unwrap();
    let mut header = [0; HEADER_BYTES];
    file.read_at(FRAME_BYTES, &mut header).unwrap();
    header[4..6].copy_from_slice(&7u16.to_le_bytes());
    let crc = crc32c(&header[..HEADER_BYTES - 4]);
    header[HEADER_BYTES - 4..].copy_from_slice(&crc.to_le_bytes());
    file.write_at(FRAME_BYTES, &header).unwrap();
    let error = open_with(&disk, small()).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("journal file {path} has format version 7; this program reads up to version 1")
    );
}

#[test]
fn a_record_cannot_imitate_a_frame() {
    let disk = MemoryDisk::new();
    let mut journal = open(&disk);
    put(&mut journal, b"first");
    // A client that knows everything but the segment's salt sends a frame that says "2 was synced".
    let mut forged = Vec::new();
    let segment = SegmentId { epoch: 1, salt: 1 };
    let origin = Origin {
        segment,
        first: Position(3),
        synced: Position(2),
        chain: 0,
    };
    frame::encode(&origin, &[b"forged"], &mut forged);
    let mut record = vec![0; 4096 - HEADER_BYTES - 8];
    record.extend_from_slice(&forged);
    journal.append(&[&record]).unwrap();
    drop(journal);
    // Its frame is torn: the record is in the file, the header is not.
    flip(&disk, &segment_files(&disk)[0], 4096);
    assert_eq!(open(&disk).status().last, Position(1));
}
