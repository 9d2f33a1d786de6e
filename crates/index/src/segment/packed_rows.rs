//! Rows whose long texts are packed. A merge packs them; [`super::packing`] writes what is read here.
//!
//! The texts of [`super::packing::TEXT_BYTES_MIN`] bytes and more are left out of a row ([`relation::row::leave_out`]), and stand behind
//! it, compressed together with a dictionary of the segment. So numbers, short strings and documents are read in one step as before,
//! and only a long text costs an unpacking.
//!
//! ```text
//! form   row                           lengths (LEB128)   texts
//! 18     7, 'ab', two texts left out   300 1200           zstd of the 1,500 bytes
//! ```
//!
//! The form has the number of the dictionary in bits 0 to 2, and the flags [`NARROW`], [`PACKED`] and [`FRAME`]. A row without long
//! texts, with more than [`TEXTS_BYTES_MAX`] of them, or with texts that take no less room packed, has nothing behind it.
//!
//! Texts of one block of zstd are that block alone, without the [`BLOCK_HEAD_BYTES`] that a frame has before it. A reader puts
//! these back: a frame header that says no length and a window of 128 KiB, and a block header with the length of what is there.
//!
//! Invariants:
//! - Each dictionary is written twice, far apart, as all rows depend on it. A reader takes the first copy that is not damaged.
//! - No more memory is taken than the lengths say, and these are at most [`TEXTS_BYTES_MAX`] together.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use relation::codec::cut_small;
use relation::json::JsonStep;
use relation::row::{self, KeptRow};
use relation::value::Value;
use smallvec::SmallVec;
use zstd_safe::{DCtx, DDict, DParameter, FrameFormat};

use super::checked::CheckedFile;
use super::commit::{Commit, Kind, Section};
use crate::error::{Error, Result};
use crate::limits::COUNTED_BYTES_MIN;

/// Most bytes of the texts of a row that are packed.
pub(super) const TEXTS_BYTES_MAX: usize = 4 << 20;

/// Most dictionaries of a segment.
pub(super) const DICTIONARIES_MAX: usize = 8;

/// Largest dictionary, in bytes.
pub(super) const DICTIONARY_BYTES_MAX: usize = 256 << 10;

/// Bits of the form of a row: the number of its dictionary.
pub(super) const DICTIONARY: u8 = 0b0000_0111;

/// Flag in the form of a row: its head is narrow.
pub(super) const NARROW: u8 = 0b0000_1000;

/// Flag: its texts are packed behind it.
pub(super) const PACKED: u8 = 0b0001_0000;

/// Flag: they are a whole frame of zstd, without its magic number.
pub(super) const FRAME: u8 = 0b0010_0000;

/// Bytes of a frame before its only block: two of the frame's header, three of the block's.
pub(super) const BLOCK_HEAD_BYTES: usize = 5;

/// Low bits of the header of a block that is compressed and the last one.
pub(super) const LAST_COMPRESSED: u32 = 0b101;

/// Largest block of zstd, in bytes.
const BLOCK_BYTES_MAX: usize = 128 << 10;

const _: () = assert!(
    DICTIONARIES_MAX == DICTIONARY as usize + 1,
    "the form of a row has the number of any dictionary"
);

/// Memory of unpacked texts that a thread keeps. Bytes.
const KEPT_BYTES_MAX: usize = 256 << 10;

const NOT_WRITTEN: &str = "packed texts are not those that were written";

/// The dictionaries of a segment with packed rows.
pub(super) struct Unpacking {
    /// Number among all that this process has opened; never reused.
    number: u64,
    dictionaries: Vec<PackDictionary>,
}

struct PackDictionary {
    /// Where it stands in the file: once before the rows, once behind the forward lists.
    copies: Vec<Section>,
    prepared: OnceLock<DDict<'static>>,
}

/// Number of segments with packed rows that this process has opened.
static OPENED: AtomicU64 = AtomicU64::new(1);

/// A row as a segment or a tail has it.
#[derive(Clone, Copy)]
pub(crate) struct StoredRow<'f> {
    /// The row; its long texts are left out if `packed` is there.
    kept: KeptRow<'f>,
    packed: Option<PackedTexts<'f>>,
}

/// The long texts of a row.
#[derive(Clone, Copy)]
struct PackedTexts<'f> {
    file: &'f CheckedFile,
    unpacking: &'f Unpacking,
    doc: u32,
    form: u8,
    /// Where `bytes` begin in the file.
    at: usize,
    /// Lengths and texts.
    bytes: &'f [u8],
}

/// What stands behind a row.
struct Head<'f> {
    lengths: SmallVec<[usize; 4]>,
    texts: &'f [u8],
}

impl Unpacking {
    /// The dictionaries that a commit lists; `None` if no part of a file can be one.
    pub(super) fn new(commit: &Commit, file_bytes: u64) -> Option<Unpacking> {
        let mut dictionaries = Vec::new();
        for number in 0..=DICTIONARIES_MAX as u16 {
            let sections = commit.sections.iter();
            let copies = sections.filter(|section| section.kind == Kind::PackDictionary(number));
            let copies: Vec<Section> = copies.copied().collect();
            if copies.is_empty() {
                break;
            }
            let fits = |copy: &Section| {
                let end = copy.start.checked_add(copy.bytes);
                copy.bytes <= DICTIONARY_BYTES_MAX as u64
                    && end.is_some_and(|end| end <= file_bytes)
            };
            if !copies.iter().all(fits) {
                return None;
            }
            dictionaries.push(PackDictionary {
                copies,
                prepared: OnceLock::new(),
            });
        }
        (dictionaries.len() <= DICTIONARIES_MAX).then(|| Unpacking {
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            dictionaries,
        })
    }

    /// The bytes of the dictionaries. Errors: `Corrupt`, where all copies of one are damaged.
    pub(super) fn dictionaries<'f>(&self, file: &'f CheckedFile) -> Result<Vec<&'f [u8]>> {
        let dictionaries = self.dictionaries.iter();
        dictionaries
            .map(|dictionary| dictionary.bytes(file))
            .collect()
    }
}

impl PackDictionary {
    fn bytes<'f>(&self, file: &'f CheckedFile) -> Result<&'f [u8]> {
        let mut first = None;
        for copy in &self.copies {
            let start = copy.start as usize;
            match file.range(start, start + copy.bytes as usize) {
                Ok(bytes) => return Ok(bytes),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| file.corrupt(0, "a dictionary of rows is missing")))
    }

    fn prepared(&self, file: &CheckedFile) -> Result<&DDict<'static>> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let prepared = DDict::try_create(self.bytes(file)?).ok_or_else(|| {
            let at = self.copies.first().map_or(0, |copy| copy.start as usize);
            file.corrupt(at, "a dictionary of rows is not what was written")
        })?;
        Ok(self.prepared.get_or_init(|| prepared))
    }
}

impl<'f> StoredRow<'f> {
    /// A row with all its texts.
    #[inline]
    pub(crate) fn whole_row(encoded: &'f [u8]) -> StoredRow<'f> {
        StoredRow {
            kept: KeptRow::whole(encoded),
            packed: None,
        }
    }

    /// A row of a merged segment. `at`: where `bytes` begin in the file. Errors: `Corrupt`.
    #[inline]
    pub(super) fn of_merge(
        file: &'f CheckedFile,
        unpacking: &'f Unpacking,
        doc: u32,
        at: usize,
        bytes: &'f [u8],
    ) -> Result<StoredRow<'f>> {
        let read = bytes.split_first().and_then(|(form, bytes)| {
            let (kept, rest) = KeptRow::cut(bytes, form & NARROW != 0)?;
            let is_packed = form & PACKED != 0;
            (is_packed || rest.is_empty()).then_some((*form, kept, rest))
        });
        let (form, kept, rest) = read.ok_or_else(|| file.corrupt(at, "not an encoded row"))?;
        let packed = (form & PACKED != 0).then_some(PackedTexts {
            file,
            unpacking,
            doc,
            form,
            at: at + bytes.len() - rest.len(),
            bytes: rest,
        });
        Ok(StoredRow { kept, packed })
    }

    /// Number of columns; `None` where the row is none.
    pub(crate) fn column_count(&self) -> Option<usize> {
        self.kept.column_count()
    }

    /// One column, as [`row::decode_column`]. Errors: `Corrupt`, as all below.
    #[inline]
    pub(crate) fn column(&self, column: usize) -> Result<Option<Value>> {
        let Some((packed, number)) = self.packed_text(column) else {
            return Ok(self.kept.column(column));
        };
        let text = packed.with_texts(self.kept, |head, texts| {
            String::from_utf8(head.text(texts, number)?.to_vec()).ok()
        })?;
        Ok(Some(Value::Str(text)))
    }

    /// Bytes that reading a column copies or unpacks; 0 below [`COUNTED_BYTES_MIN`]. No text is unpacked.
    #[inline]
    pub(crate) fn column_bytes(&self, column: usize) -> usize {
        if let Some((packed, _)) = self.packed_text(column) {
            let head = Head::read(packed.bytes, self.kept.left_out_count());
            return head.map_or(0, |head| head.lengths.iter().sum());
        }
        match self.kept.bytes().len() {
            0..COUNTED_BYTES_MIN => 0,
            _ => self.kept.column_bytes(column),
        }
    }

    /// A column's number, as [`row::decode_number`]; no text is unpacked.
    pub(crate) fn number(&self, column: usize) -> Option<Value> {
        self.kept.number(column)
    }

    /// The bytes of a column's text, as [`row::text`].
    #[inline]
    pub(crate) fn text(&self, column: usize) -> Result<Option<Option<Cow<'f, [u8]>>>> {
        let Some((packed, number)) = self.packed_text(column) else {
            let text = self.kept.text(column);
            return Ok(text.map(|text| text.map(Cow::Borrowed)));
        };
        let text = packed.with_texts(self.kept, |head, texts| {
            head.text(texts, number).map(<[u8]>::to_vec)
        })?;
        Ok(Some(Some(Cow::Owned(text))))
    }

    /// The bytes of a column's document, as [`row::document`]. Documents are never packed.
    pub(crate) fn document(&self, column: usize) -> Option<Option<&'f [u8]>> {
        self.kept.document(column)
    }

    /// What stands at a path in a column's document, as [`row::decode_path`].
    pub(crate) fn at_path(&self, column: usize, path: &[JsonStep]) -> Option<Value> {
        self.kept.at_path(column, path)
    }

    /// The row with all its texts.
    pub(crate) fn encoded(&self) -> Result<Cow<'f, [u8]>> {
        match self.packed {
            None if !self.kept.is_narrow() => Ok(Cow::Borrowed(self.kept.bytes())),
            None => {
                let row = self.kept.put_back(&[], &[]);
                row.map(Cow::Owned).ok_or_else(not_a_row)
            }
            Some(packed) => {
                let kept = self.kept;
                let put_back = |head: &Head<'_>, texts: &[u8]| kept.put_back(texts, &head.lengths);
                packed.with_texts(kept, put_back).map(Cow::Owned)
            }
        }
    }

    /// All columns, as [`row::decode`].
    pub(crate) fn decode(&self) -> Result<Option<Vec<Value>>> {
        match self.packed {
            None if !self.kept.is_narrow() => Ok(row::decode(self.kept.bytes())),
            _ => {
                let columns = 0..self.column_count().unwrap_or(0);
                columns.map(|column| self.column(column)).collect()
            }
        }
    }

    /// Appends the row as it is packed, with other numbers of dictionaries. `false`, and nothing is appended: it has no packed
    /// texts, or its dictionary has no new number.
    pub(super) fn copy_packed(&self, numbers: &[Option<u8>], out: &mut Vec<u8>) -> bool {
        let Some(packed) = self.packed else {
            return false;
        };
        let number = numbers.get(usize::from(packed.form & DICTIONARY));
        let Some(number) = number.copied().flatten() else {
            return false;
        };
        out.push(packed.form & !DICTIONARY | number);
        out.extend_from_slice(self.kept.bytes());
        out.extend_from_slice(packed.bytes);
        true
    }

    /// The packed texts, and the number of the column's text among them; `None` for a column that is not packed.
    #[inline]
    fn packed_text(&self, column: usize) -> Option<(PackedTexts<'f>, usize)> {
        let packed = self.packed?;
        Some((packed, self.kept.left_out(column)?))
    }
}

/// The last texts that a thread has unpacked, and what it unpacks with.
struct Unpacker {
    context: DCtx<'static>,
    /// Segment and row of `texts`; `None`: they are of none.
    of: Option<(u64, u32)>,
    texts: Vec<u8>,
    /// A frame that was put together.
    frame: Vec<u8>,
}

thread_local! {
    static UNPACKER: RefCell<Option<Unpacker>> = const { RefCell::new(None) };
}

impl<'f> PackedTexts<'f> {
    /// Calls `read` with the texts, one behind another. Errors: `Corrupt`, also where `read` returns `None`. Cost: unpacks all texts
    /// of the row, unless the thread did so for its last row.
    fn with_texts<T>(
        self,
        kept: KeptRow<'_>,
        read: impl FnOnce(&Head<'f>, &[u8]) -> Option<T>,
    ) -> Result<T> {
        let head = Head::read(self.bytes, kept.left_out_count()).ok_or_else(|| self.corrupt())?;
        let dictionaries = &self.unpacking.dictionaries;
        let dictionary = dictionaries.get(usize::from(self.form & DICTIONARY));
        let dictionary = dictionary
            .ok_or_else(|| self.corrupt())?
            .prepared(self.file)?;
        let of = (self.unpacking.number, self.doc);
        let read = UNPACKER.with_borrow_mut(|unpacker| {
            let unpacker = match unpacker {
                Some(unpacker) => unpacker,
                None => unpacker.insert(Unpacker::new()?),
            };
            if unpacker.of != Some(of) {
                unpacker.of = None;
                let bytes = head.lengths.iter().sum();
                unpacker.unpack(dictionary, self.form, head.texts, bytes)?;
                unpacker.of = Some(of);
            }
            read(&head, &unpacker.texts)
        });
        read.ok_or_else(|| self.corrupt())
    }

    #[cold]
    fn corrupt(&self) -> Error {
        self.file.corrupt(self.at, NOT_WRITTEN)
    }
}

impl<'f> Head<'f> {
    /// `None` where the bytes are none, or the texts too long.
    fn read(bytes: &'f [u8], texts: usize) -> Option<Head<'f>> {
        let mut rest = bytes;
        let mut lengths = SmallVec::new();
        let mut sum = 0;
        for _ in 0..texts {
            let length = cut_small(&mut rest)? as usize;
            sum += length;
            lengths.push(length);
            if sum > TEXTS_BYTES_MAX {
                return None;
            }
        }
        Some(Head {
            lengths,
            texts: rest,
        })
    }

    /// A text by its number.
    fn text<'t>(&self, texts: &'t [u8], number: usize) -> Option<&'t [u8]> {
        let start = self.lengths.get(..number)?.iter().sum::<usize>();
        texts.get(start..start + self.lengths.get(number)?)
    }
}

impl Unpacker {
    /// `None` without memory.
    fn new() -> Option<Unpacker> {
        let mut context = DCtx::try_create()?;
        let format = DParameter::Format(FrameFormat::Magicless);
        context.set_parameter(format).ok()?;
        Some(Unpacker {
            context,
            of: None,
            texts: Vec::new(),
            frame: Vec::new(),
        })
    }

    /// Unpacks texts of `bytes` bytes; `None` if they are not that.
    fn unpack(
        &mut self,
        dictionary: &DDict<'_>,
        form: u8,
        packed: &[u8],
        bytes: usize,
    ) -> Option<()> {
        let frame = match form & FRAME {
            0 => {
                if packed.len() > BLOCK_BYTES_MAX {
                    return None;
                }
                let block = (packed.len() as u32) << 3 | LAST_COMPRESSED;
                self.frame.clear();
                self.frame.extend([0, 7 << 3]); // a window of 1 KiB << 7
                self.frame.extend_from_slice(&block.to_le_bytes()[..3]);
                self.frame.extend_from_slice(packed);
                &self.frame[..]
            }
            _ => packed,
        };
        self.texts.clear();
        if self.texts.capacity() > KEPT_BYTES_MAX.max(bytes) {
            self.texts = Vec::new();
        }
        self.texts.reserve(bytes);
        let unpacked = self
            .context
            .decompress_using_ddict(&mut self.texts, frame, dictionary);
        (unpacked == Ok(bytes)).then_some(())
    }
}

fn not_a_row() -> Error {
    Error::Internal {
        what: "a row of a segment is not an encoded row".into(),
    }
}
