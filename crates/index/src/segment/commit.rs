//! The file `commit`: what the segment is, and the checksums of its other files. Written last, in two
//! copies from format 6 on; layout in `docs/formats/segment.md`.

use disk::{Copies, Disk};
use language::analysis::Analyzer;

use super::checked::{BLOCK_BYTES, Sums};
use crate::error::{Error, Result};

/// Version of a segment's files; a higher one is refused. Raise it with any change of a layout, and
/// keep the old reader. Add a fixture of the new form beside those in `tests/fixtures/`, and
/// describe it in `docs/formats/segment.md`.
pub(super) const FORMAT_VERSION: u32 = 7;

const MAGIC: [u8; 8] = *b"seineseg";

/// Largest commit file that is read, in bytes: twice the checksums for half a terabyte.
const COMMIT_BYTES_MAX: u64 = 256 << 20;

/// Kind of a section of the file `rows`. Where nothing else is said, it is an array of 8-byte numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Document ids, rising, one for each row; before format 5.
    Ids,
    /// End of each row in `Rows`.
    RowEnds,
    /// End of each row's list in `Forward`.
    ForwardEnds,
    /// Occurrences of each word. Only in format 1; the file `words` has them now.
    Hits,
    /// A column's integers, one for each row; before format 5.
    Integers(u16),
    /// A column's floats, one for each row.
    Floats(u16),
    /// Encoded rows, one behind another.
    Rows,
    /// Forward lists, one behind another.
    Forward,
    /// Length class of each row, one byte each.
    Lengths,
    /// Codes of a keyed column, rising; see [`super::keys`].
    KeyCodes(u16),
    /// The row of each of these codes, 4 bytes each.
    KeyDocs(u16),
    /// Names of the paths in documents that are kept as numbers; see [`super::paths`]. 1: of numbers alone; 0: truths are among
    /// them, as 0 and 1, so that they serve no condition.
    Paths(u16),
    /// The numbers at the path of this place in `Paths`, one for each row; before format 5.
    PathNumbers(u16),
    /// A bit for each row that has a number there. Left out where each row has one.
    PathRows(u16),
    /// A column's integers, one for each row; see [`super::packed`].
    PackedIntegers(u16),
    /// The place of each row's text in the column's `Texts`, as packed integers.
    TextPlaces(u16),
    /// The distinct texts of a column; see [`super::text_list`].
    Texts(u16),
    /// The numbers at the path of this place in `Paths`, as packed integers.
    PackedPathNumbers(u16),
    /// Rows of a merge, whose long texts are packed; see [`super::packed_rows`].
    PackedRows,
    /// Ends of `PackedRows` (0) and of `PackedForward` (1), in groups; see [`super::stretches`].
    GroupedEnds(u16),
    /// A dictionary of packed texts, by its number. Each is there twice.
    PackDictionary(u16),
    /// Forward lists of a merge, in codes; see [`super::forward_codes`].
    PackedForward,
    /// The words with a code of their own, 4 bytes each.
    CommonWords,
    /// In the file `positions`, behind all lists: see [`super::pairs`].
    Pairs,
    /// The ids of a page of 65,536 rows, by its number; see [`super::ids`].
    PackedIds(u16),
}

/// A section of the file `rows`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) kind: Kind,
    /// From the start of the file, in bytes.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Content of the file `commit`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Commit {
    /// Version of the segment's files.
    pub(super) format: u32,
    /// Journal position: the last record whose rows may be in the segment.
    pub(super) position: u64,
    /// Version of the analysis that made the words.
    pub(super) analysis: u32,
    /// Rows; at least 1.
    pub(super) rows: u32,
    /// Distinct words; 0 in format 1, which does not store it.
    pub(super) words: u32,
    /// Text columns of the table; 0 in format 1.
    pub(super) fields: u8,
    /// Words of all rows, every occurrence counted.
    pub(super) hits: u64,
    pub(super) sections: Vec<Section>,
    /// The other files: name, length and checksums.
    pub(super) files: Vec<(String, Sums)>,
}

impl Commit {
    /// Reads the file and gives its first sound copy. Errors: `Io`, `Corrupt`, `NewerFormat`.
    pub(super) fn read(disk: &dyn Disk, path: &str) -> Result<Commit> {
        let bytes = read_whole(disk, path, COMMIT_BYTES_MAX)?;
        Copies::of(&bytes).first_sound(|start, copy| Commit::decode(path, start, copy))
    }

    /// What is wrong with the file; an error for each damaged copy.
    pub(super) fn damages(disk: &dyn Disk, path: &str) -> Vec<Error> {
        match read_whole(disk, path, COMMIT_BYTES_MAX) {
            Ok(bytes) => Copies::of(&bytes).damages(|at, copy| Commit::decode(path, at, copy)),
            Err(error) => vec![error],
        }
    }

    /// Reads and checks one copy, which begins at `start` of the file.
    fn decode(path: &str, start: usize, bytes: &[u8]) -> Result<Commit> {
        let mut fields = Fields {
            path,
            start,
            whole: bytes,
            rest: bytes,
        };
        if fields.array()? != MAGIC {
            return Err(fields.corrupt_at(0, "not a segment's commit"));
        }
        let found = fields.u32()?;
        // First the checksum, which ends the content in every version: a damaged byte is no newer version.
        let (content, sum) = bytes.split_at(bytes.len() - 4);
        if crc32c::crc32c(content).to_le_bytes() != sum {
            return Err(fields.corrupt_at(0, "the commit has not the checksum that was written"));
        }
        if found > FORMAT_VERSION {
            return Err(Error::NewerFormat {
                file: path.to_owned(),
                found,
                known: FORMAT_VERSION,
            });
        }
        fields.rest = &content[content.len().min(12)..];
        fields.commit(found)
    }

    /// The bytes of one copy, its checksum included.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.format.to_le_bytes());
        out.extend(self.analysis.to_le_bytes());
        out.extend(self.position.to_le_bytes());
        out.extend(self.hits.to_le_bytes());
        out.extend(self.rows.to_le_bytes());
        if self.format > 1 {
            out.extend(self.words.to_le_bytes());
            out.push(self.fields);
        }
        out.extend((self.sections.len() as u32).to_le_bytes());
        for Section { kind, start, bytes } in &self.sections {
            let (code, column) = kind.code();
            out.extend(code.to_le_bytes());
            out.extend(column.to_le_bytes());
            out.extend(start.to_le_bytes());
            out.extend(bytes.to_le_bytes());
        }
        out.extend((self.files.len() as u32).to_le_bytes());
        for (name, sums) in &self.files {
            out.push(name.len() as u8);
            out.extend(name.as_bytes());
            out.extend(sums.bytes.to_le_bytes());
            out.extend(sums.blocks.iter().flat_map(|sum| sum.to_le_bytes()));
        }
        out.extend(crc32c::crc32c(&out).to_le_bytes());
        out
    }

    /// The first section of a kind; `None` if there is none.
    pub(super) fn section(&self, kind: Kind) -> Option<Section> {
        self.sections
            .iter()
            .copied()
            .find(|section| section.kind == kind)
    }
}

impl Kind {
    /// Whether the section only repeats what the rows say.
    pub(super) fn is_copy(self) -> bool {
        use Kind::{PackedPathNumbers, PathNumbers, PathRows, Paths, TextPlaces, Texts};
        matches!(
            self,
            Paths(_)
                | PathNumbers(_)
                | PackedPathNumbers(_)
                | PathRows(_)
                | TextPlaces(_)
                | Texts(_)
        )
    }

    /// Number of the kind in the file, and its column, path or page; 0 where it has none.
    fn code(self) -> (u16, u16) {
        match self {
            Kind::Ids => (1, 0),
            Kind::RowEnds => (2, 0),
            Kind::ForwardEnds => (3, 0),
            Kind::Hits => (4, 0),
            Kind::Integers(column) => (5, column),
            Kind::Floats(column) => (6, column),
            Kind::Rows => (7, 0),
            Kind::Forward => (8, 0),
            Kind::Lengths => (9, 0),
            Kind::KeyCodes(column) => (10, column),
            Kind::KeyDocs(column) => (11, column),
            Kind::Paths(alone) => (12, alone),
            Kind::PathNumbers(path) => (13, path),
            Kind::PathRows(path) => (14, path),
            Kind::PackedIntegers(column) => (15, column),
            Kind::TextPlaces(column) => (16, column),
            Kind::Texts(column) => (17, column),
            Kind::PackedPathNumbers(path) => (18, path),
            Kind::PackedRows => (20, 0),
            Kind::GroupedEnds(of) => (21, of),
            Kind::PackDictionary(number) => (22, number),
            Kind::PackedForward => (23, 0),
            Kind::CommonWords => (24, 0),
            Kind::Pairs => (25, 0),
            Kind::PackedIds(page) => (26, page),
        }
    }

    fn from_code(code: u16, column: u16) -> Option<Kind> {
        Some(match code {
            1 => Kind::Ids,
            2 => Kind::RowEnds,
            3 => Kind::ForwardEnds,
            4 => Kind::Hits,
            5 => Kind::Integers(column),
            6 => Kind::Floats(column),
            7 => Kind::Rows,
            8 => Kind::Forward,
            9 => Kind::Lengths,
            10 => Kind::KeyCodes(column),
            11 => Kind::KeyDocs(column),
            12 => Kind::Paths(column),
            13 => Kind::PathNumbers(column),
            14 => Kind::PathRows(column),
            15 => Kind::PackedIntegers(column),
            16 => Kind::TextPlaces(column),
            17 => Kind::Texts(column),
            18 => Kind::PackedPathNumbers(column),
            20 => Kind::PackedRows,
            21 => Kind::GroupedEnds(column),
            22 => Kind::PackDictionary(column),
            23 => Kind::PackedForward,
            24 => Kind::CommonWords,
            25 => Kind::Pairs,
            26 => Kind::PackedIds(column),
            _ => return None,
        })
    }
}

/// Reads a file of at most `bytes_max` bytes whole. Errors: `Io`; `Corrupt` if its length cannot be right.
pub(super) fn read_whole(disk: &dyn Disk, path: &str, bytes_max: u64) -> Result<Vec<u8>> {
    let io = |error| Error::io(path, error);
    let file = disk.open(path).map_err(io)?;
    let length = file.len().map_err(io)?;
    if !(16..=bytes_max).contains(&length) {
        let what = "the file has not the length that was written";
        return Err(Error::Corrupt {
            file: path.to_owned(),
            offset: 0,
            what,
        });
    }
    let mut bytes = vec![0; length as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    Ok(bytes)
}

/// Reads the fields of a small file, one after another.
struct Fields<'a> {
    path: &'a str,
    /// Offset of `whole` in the file.
    start: usize,
    whole: &'a [u8],
    rest: &'a [u8],
}

impl Fields<'_> {
    fn commit(&mut self, format: u32) -> Result<Commit> {
        let (analysis, position, hits) = (self.u32()?, self.u64()?, self.u64()?);
        // A query's words would not match words made by another analysis.
        if analysis > Analyzer::version() {
            return Err(Error::NewerFormat {
                file: self.path.to_owned(),
                found: analysis,
                known: Analyzer::version(),
            });
        }
        let mut commit = Commit {
            format,
            position,
            analysis,
            hits,
            rows: self.u32()?,
            ..Commit::default()
        };
        if format > 1 {
            commit.words = self.u32()?;
            [commit.fields] = self.array()?;
        }
        for _ in 0..self.u32()? {
            let (code, column) = (self.array()?, self.array()?);
            let kind = Kind::from_code(u16::from_le_bytes(code), u16::from_le_bytes(column));
            let kind = kind.ok_or_else(|| self.corrupt("unknown kind of section"))?;
            commit.sections.push(Section {
                kind,
                start: self.u64()?,
                bytes: self.u64()?,
            });
        }
        for _ in 0..self.u32()? {
            let [length] = self.array()?;
            let name = self.take(usize::from(length))?.to_vec();
            let name = String::from_utf8(name).map_err(|_| self.corrupt("a name is not text"))?;
            let bytes = self.u64()?;
            let blocks = bytes.div_ceil(BLOCK_BYTES as u64).saturating_mul(4);
            let blocks = self.take(usize::try_from(blocks).unwrap_or(usize::MAX))?;
            let (blocks, _) = blocks.as_chunks::<4>();
            let blocks = blocks.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
            commit.files.push((name, Sums { bytes, blocks }));
        }
        Ok(commit)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| self.corrupt("the file ends early"))?;
        self.rest = rest;
        Ok(*head)
    }

    fn take(&mut self, bytes: usize) -> Result<&[u8]> {
        let (head, rest) = self
            .rest
            .split_at_checked(bytes)
            .ok_or_else(|| self.corrupt("the file ends early"))?;
        self.rest = rest;
        Ok(head)
    }

    /// The error of damage at the next field.
    fn corrupt(&self, what: &'static str) -> Error {
        let offset = self.rest.as_ptr().addr() - self.whole.as_ptr().addr();
        self.corrupt_at(offset as u64, what)
    }

    fn corrupt_at(&self, offset: u64, what: &'static str) -> Error {
        Error::Corrupt {
            file: self.path.to_owned(),
            offset: self.start as u64 + offset,
            what,
        }
    }
}
