//! The ids of the rows of a segment, rising.
//!
//! A page of 65,536 rows is a section: its lowest id (8 bytes); for each row the distance from it, in 0, 1, 2, 4 or 8 bytes; the
//! lowest id again. The length of the section tells how many bytes a distance has. Example, the ids 1,000,000, 1,000,003 and
//! 1,000,700:
//!
//! ```text
//! 1,000,000    0 3 700    1,000,000         8 + 3 · 2 + 8 bytes
//! ```
//!
//! The lowest id is there twice, since all rows of the page depend on it: the second one is read where the first is damaged.
//! Before format 5 the ids were one section of 8-byte numbers.

use std::ops::Range;
use std::sync::OnceLock;

use super::checked::CheckedFile;
use super::commit::{Commit, Kind, Section};
use super::rising;
use crate::error::Result;
use crate::integers::{Distances, Integers};
use crate::postings::{PAGE_BITS, PAGE_ROWS};

/// Bytes of the lowest id.
const LOWEST_BYTES: usize = 8;

/// Where the ids of a segment are in the file `rows`.
pub(super) enum Ids {
    /// 8 bytes a row.
    Wide(Section),
    Pages(Vec<Page>),
}

/// The ids of one page.
pub(super) struct Page {
    /// Once it was read.
    lowest: OnceLock<u64>,
    /// Where the section begins in the file.
    start: usize,
    /// Bytes of a distance: 0, 1, 2, 4 or 8.
    width: usize,
    rows: usize,
}

/// Appends the section of a page. `ids`: rising, at least one.
pub(super) fn encode(ids: &[u64], out: &mut Vec<u8>) {
    let (Some(lowest), Some(highest)) = (ids.first(), ids.last()) else {
        return;
    };
    let width = match highest - lowest {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    out.extend(lowest.to_le_bytes());
    for id in ids {
        out.extend_from_slice(&(id - lowest).to_le_bytes()[..width]);
    }
    out.extend(lowest.to_le_bytes());
}

impl Ids {
    /// Finds the sections; `None` where one is missing or has not the length of its rows.
    pub(super) fn find(commit: &Commit, file: &CheckedFile) -> Option<Ids> {
        let is_inside = |section: &Section| {
            let end = section.start.checked_add(section.bytes);
            end.is_some_and(|end| end <= file.len() as u64)
        };
        if let Some(wide) = commit.section(Kind::Ids) {
            let is_whole = is_inside(&wide) && wide.bytes == 8 * u64::from(commit.rows);
            return is_whole.then_some(Ids::Wide(wide));
        }
        let mut pages = Vec::new();
        for section in &commit.sections {
            let Kind::PackedIds(number) = section.kind else {
                continue;
            };
            let before = pages.len() as u64 * u64::from(PAGE_ROWS);
            let rows = u64::from(commit.rows).saturating_sub(before);
            let rows = rows.min(PAGE_ROWS.into());
            let bytes = section.bytes.checked_sub(2 * LOWEST_BYTES as u64)?;
            let width = bytes.checked_div(rows)?;
            let is_whole = is_inside(section)
                && usize::from(number) == pages.len()
                && [0, 1, 2, 4, 8].contains(&width)
                && bytes == width * rows;
            pages.push(is_whole.then_some(Page {
                lowest: OnceLock::new(),
                start: section.start as usize,
                width: width as usize,
                rows: rows as usize,
            })?);
        }
        let is_whole = pages.len() as u32 == commit.rows.div_ceil(PAGE_ROWS);
        is_whole.then_some(Ids::Pages(pages))
    }

    /// The id of a row. Errors: `Corrupt`, as all below.
    #[inline]
    pub(super) fn get(&self, file: &CheckedFile, doc: u32) -> Result<u64> {
        match self {
            Ids::Wide(section) => file.number(section.start as usize, doc as usize),
            Ids::Pages(pages) => match pages.get((doc >> PAGE_BITS) as usize) {
                Some(page) => page.get(file, in_page(doc)),
                None => Err(file.corrupt(0, "a row without an id")),
            },
        }
    }

    /// The bytes of the file that have the id of a row.
    #[inline]
    pub(super) fn place(&self, doc: u32) -> Range<usize> {
        let (start, width) = match self {
            Ids::Wide(section) => (section.start as usize + 8 * doc as usize, 8),
            Ids::Pages(pages) => match pages.get((doc >> PAGE_BITS) as usize) {
                Some(page) => (page.place(in_page(doc)), page.width),
                None => (0, 0),
            },
        };
        start..start + width
    }

    /// The first row among `docs` whose id is not below `id`; their end if there is none. Cost: a logarithm of how far the row is from
    /// where even ids would have it.
    pub(super) fn first_at(&self, file: &CheckedFile, docs: Range<u32>, id: u64) -> Result<u32> {
        let among = docs.start as usize..docs.end as usize;
        let number = |at: usize| self.get(file, at as u32);
        let near = rising::near(among.clone(), id, number)?;
        Ok(rising::first_not_below(among, near, id, number)? as u32)
    }

    /// Tells the processor to fetch the place among the rows where even ids would have `id`.
    pub(super) fn fetch_near(&self, file: &CheckedFile, docs: u32, id: u64) {
        let number = |at: usize| self.get(file, at as u32);
        if let Ok(near) = rising::near(0..docs as usize, id, number) {
            file.fetch(self.place(near as u32));
        }
    }

    /// The ids of neighbouring rows as integers, if all are `i64`; `None` if the rows are of several pages.
    pub(super) fn column<'f>(
        &self,
        file: &'f CheckedFile,
        docs: Range<u32>,
    ) -> Result<Option<Integers<'f>>> {
        if docs.is_empty() {
            return Ok(Some(Integers::new(0, Distances::Zero(0))));
        }
        let last = docs.end - 1;
        let bytes = |(first, last): (Range<usize>, Range<usize>)| file.range(first.start, last.end);
        let places = (self.place(docs.start), self.place(last));
        let Ids::Pages(pages) = self else {
            return Ok(Some(Integers::whole(bytes(places)?.as_chunks().0)));
        };
        let page = pages.get((docs.start >> PAGE_BITS) as usize);
        let Some(page) = page.filter(|_| docs.start >> PAGE_BITS == last >> PAGE_BITS) else {
            return Ok(None);
        };
        let bytes = bytes(places)?;
        let distances = Distances::of(bytes, page.width, docs.len());
        let lowest = page.lowest(file)?.cast_signed();
        Ok(Some(Integers::new(lowest, distances)))
    }
}

impl Page {
    #[inline]
    fn get(&self, file: &CheckedFile, at: usize) -> Result<u64> {
        let lowest = self.lowest(file)?;
        let start = self.place(at);
        let bytes = file.range(start, start + self.width)?;
        let distance = match bytes {
            [] => 0,
            [one] => u64::from(*one),
            [one, two] => u64::from(u16::from_le_bytes([*one, *two])),
            bytes => bytes
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        Ok(lowest.wrapping_add(distance))
    }

    /// Where the distance of a row of the page is in the file.
    #[inline]
    fn place(&self, at: usize) -> usize {
        self.start + LOWEST_BYTES + self.width * at
    }

    #[inline]
    fn lowest(&self, file: &CheckedFile) -> Result<u64> {
        match self.lowest.get() {
            Some(lowest) => Ok(*lowest),
            None => self.read_lowest(file),
        }
    }

    #[cold]
    fn read_lowest(&self, file: &CheckedFile) -> Result<u64> {
        let second = self.place(self.rows);
        let lowest = file
            .number(self.start, 0)
            .or_else(|_| file.number(second, 0))?;
        Ok(*self.lowest.get_or_init(|| lowest))
    }
}

/// The number of a row on its page.
fn in_page(doc: u32) -> usize {
    (doc % PAGE_ROWS) as usize
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use disk::{Disk, MemoryDisk};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::checked::{BLOCK_BYTES, SummedWriter};
    use super::*;

    /// A file with the sections of all pages from byte 3 on, and its commit.
    fn written(disk: &MemoryDisk, ids: &[u64]) -> (CheckedFile, Commit) {
        let mut writer = SummedWriter::create(disk, "rows").unwrap();
        writer.write_all(&[9; 3]).unwrap();
        let mut commit = Commit {
            rows: ids.len() as u32,
            ..Commit::default()
        };
        for (page, number) in ids.chunks(PAGE_ROWS as usize).zip(0..) {
            let mut bytes = Vec::new();
            encode(page, &mut bytes);
            commit.sections.push(Section {
                kind: Kind::PackedIds(number),
                start: writer.position(),
                bytes: bytes.len() as u64,
            });
            writer.write_all(&bytes).unwrap();
        }
        let sums = writer.finish().unwrap();
        let file = CheckedFile::open(disk, "rows".to_owned(), sums).unwrap();
        (file, commit)
    }

    fn check(ids: &[u64], wanted: &[u64], every: usize) {
        let (file, commit) = written(&MemoryDisk::new(), ids);
        let found = Ids::find(&commit, &file).unwrap();
        for at in (0..ids.len()).step_by(every) {
            assert_eq!(found.get(&file, at as u32).unwrap(), ids[at]);
        }
        for wanted in wanted {
            for from in [0, ids.len() / 3] {
                let right = from + ids[from..].partition_point(|id| id < wanted);
                let docs = from as u32..ids.len() as u32;
                let first = found.first_at(&file, docs, *wanted).unwrap();
                assert_eq!(first as usize, right);
            }
            found.fetch_near(&file, ids.len() as u32, *wanted);
        }
        let rows = ids.len() as u32;
        for start in (0..rows).step_by(PAGE_ROWS as usize) {
            let docs = start..rows.min(start + PAGE_ROWS);
            let column = found.column(&file, docs.clone()).unwrap().unwrap();
            for doc in docs.step_by(every) {
                let id = ids[doc as usize].cast_signed();
                assert_eq!(column.get((doc - start) as usize), id);
            }
        }
        if rows > PAGE_ROWS {
            let docs = PAGE_ROWS - 1..PAGE_ROWS + 1;
            assert!(found.column(&file, docs).unwrap().is_none());
        }
    }

    proptest! {
        #[test]
        fn ids_of_any_span_come_back_and_are_found(
            mut ids in prop_oneof![
                vec(any::<u64>(), 1..50),
                vec(1 << 40..(1_u64 << 40) + 300, 1..50),
                vec(0..100_000_u64, 1..50),
            ],
            mut wanted in vec(any::<u64>(), 0..5),
        ) {
            ids.sort_unstable();
            ids.dedup();
            wanted.extend(&ids);
            wanted.extend(ids.iter().map(|id| id.saturating_add(1)));
            check(&ids, &wanted, 1);
        }

        #[test]
        fn sections_of_another_length_are_refused(bytes in 0..60_u64, start in 0..60_u64, rows in 1..9_u32, page in 0..2_u16) {
            let disk = MemoryDisk::new();
            let (file, mut commit) = written(&disk, &[1, 5, 900]);
            commit.rows = rows;
            commit.sections[0] = Section { kind: Kind::PackedIds(page), start, bytes };
            if let Some(ids) = Ids::find(&commit, &file) {
                for doc in 0..rows {
                    ids.get(&file, doc).unwrap();
                }
                prop_assert!(ids.get(&file, PAGE_ROWS).is_err());
            }
        }
    }

    #[test]
    fn pages_have_their_own_widths() {
        let page = u64::from(PAGE_ROWS);
        let dense = 7..page + 7;
        let wide = (0..page).map(|at| 1 << 50 | at << 20);
        let ids: Vec<u64> = dense.chain(wide).chain([u64::MAX >> 1]).collect();
        let wanted = [0, 7, 8, 1 << 50, (1 << 50) + 1, u64::MAX];
        check(&ids, &wanted, 997);
    }

    #[test]
    fn damage_of_one_lowest_id_loses_the_rows_of_its_block_alone() {
        let ids: Vec<u64> = (7..u64::from(PAGE_ROWS) + 7).collect();
        for (damaged, lost) in [(0, 0..8_000), (3 + 8 + 2 * ids.len(), 65_530..ids.len())] {
            let disk = MemoryDisk::new();
            let (_, commit) = written(&disk, &ids);
            let mut bytes = disk.open("rows").unwrap().map().unwrap().to_vec();
            let blocks = bytes.chunks(BLOCK_BYTES).map(crc32c::crc32c).collect();
            let sums = super::super::checked::Sums {
                bytes: bytes.len() as u64,
                blocks,
            };
            bytes[damaged.max(3)] ^= 1;
            disk.open("rows").unwrap().write_at(0, &bytes).unwrap();
            let file = CheckedFile::open(&disk, "rows".to_owned(), sums).unwrap();
            let found = Ids::find(&commit, &file).unwrap();
            for at in (0..ids.len()).step_by(5) {
                match found.get(&file, at as u32) {
                    Ok(id) => assert_eq!(id, ids[at]),
                    Err(_) => assert!(!(8_192..57_000).contains(&at), "row {at}"),
                }
            }
            assert!(
                lost.step_by(9)
                    .all(|at| found.get(&file, at as u32).is_err())
            );
        }
    }
}
