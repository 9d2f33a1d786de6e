//! Packs the long texts of rows while segments are merged; [`super::packed_rows`] has the form.
//!
//! A text is packed by the first merge that it is in. Later merges copy the packed bytes, and the dictionaries that these need. A
//! merge trains a dictionary only if none of its sources has one, nor any other segment of the table.
//!
//! Example: a merge of three segments, of 9,000, 5,000 and 300 rows.
//!
//! ```text
//! sources        0: dictionary A        1: dictionaries A, B     2: sealed, none
//! new            A is 0, B is 1
//! numbers        0: [0]                 1: [0, 1]                2: []
//! rows           copied                 copied                   packed with A, the dictionary of the largest source
//! ```

use relation::codec::put_number;
use relation::row;
use zstd_safe::{CCtx, CDict, CParameter, FrameFormat};

use super::commit::Kind;
use super::packed_rows::{
    BLOCK_HEAD_BYTES, DICTIONARIES_MAX, FRAME, LAST_COMPRESSED, NARROW, PACKED, TEXTS_BYTES_MAX,
};
use super::reader::Segment;
use super::row_source::RowSource;
use super::write::RowsWriter;
use crate::error::{Error, Result};

/// Shortest text that is packed, in bytes. Shorter ones are mostly strings that conditions and groups read row by row.
pub(super) const TEXT_BYTES_MIN: usize = 64;

/// Size of a trained dictionary, in bytes. With its tables it fits the second cache of a processor.
const DICTIONARY_BYTES: usize = 64 << 10;

/// Least part of the sampled texts that a dictionary is smaller than.
const DICTIONARY_PART: usize = 32;

/// Texts that a dictionary is trained from, in bytes.
const SAMPLE_BYTES: usize = 2 << 20;

/// Rows that these are taken from, at most.
const SAMPLE_ROWS: u32 = 16_384;

/// Fewer bytes of texts are not worth a dictionary.
const SAMPLE_BYTES_MIN: usize = 16 << 10;

/// Level of zstd.
const LEVEL: i32 = 3;

/// The dictionaries of a new segment.
pub(super) struct Packing {
    pub(super) dictionaries: Vec<Vec<u8>>,
}

/// By source and its dictionary: the number in the new segment; `None` where its texts must be packed again.
pub(super) type Numbers = Vec<Vec<Option<u8>>>;

impl Packing {
    /// Takes the dictionaries of the sources, those of large ones first, and of `other` if they have none. Errors: `Corrupt`.
    pub(super) fn new<'s>(
        sources: impl Iterator<Item = &'s Segment>,
        other: Option<&Segment>,
    ) -> Result<(Packing, Numbers)> {
        let sources: Vec<&Segment> = sources.collect();
        let mut order: Vec<usize> = (0..sources.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(sources[*at].rows()));
        let mut packing = Packing {
            dictionaries: Vec::new(),
        };
        let mut numbers = vec![Vec::new(); sources.len()];
        for at in order {
            for dictionary in sources[at].pack_dictionaries()? {
                let number = packing.number(dictionary);
                numbers[at].push(number);
            }
        }
        if let (true, Some(other)) = (packing.dictionaries.is_empty(), other) {
            let first = other.pack_dictionaries()?.first().copied();
            first.map(|dictionary| packing.number(dictionary));
        }
        Ok((packing, numbers))
    }

    /// The number of a dictionary in the new segment, which takes it if there is room.
    fn number(&mut self, dictionary: &[u8]) -> Option<u8> {
        let known = self.dictionaries.iter().position(|own| own == dictionary);
        if known.is_none() && self.dictionaries.len() < DICTIONARIES_MAX {
            self.dictionaries.push(dictionary.to_vec());
            return Some(self.dictionaries.len() as u8 - 1);
        }
        known.map(|number| number as u8)
    }

    /// Trains a dictionary of the rows if there is none yet; none of few or odd texts. Cost: [`SAMPLE_BYTES`] of texts. Errors:
    /// those of the source.
    pub(super) fn train(&mut self, rows: u32, source: &dyn RowSource) -> Result<()> {
        if !self.dictionaries.is_empty() {
            return Ok(());
        }
        let (mut samples, mut lengths) = (Vec::new(), Vec::new());
        // Steps of the golden section: the first rows lie all over the table, however few they are.
        let step = (f64::from(rows) * 0.618) as u64 | 1;
        for at in 0..u64::from(rows.min(SAMPLE_ROWS)) {
            let doc = (at * step % u64::from(rows)) as u32;
            let from = samples.len();
            let row = source.columns(doc)?;
            let row = row.encoded()?;
            let kept = &mut Vec::new();
            let mut texts = Vec::new();
            let left = row::leave_out(&row, TEXT_BYTES_MIN, kept, &mut samples, &mut texts);
            left.ok_or_else(not_a_row)?;
            if samples.len() - from > TEXTS_BYTES_MAX {
                samples.truncate(from);
            }
            if samples.len() > from {
                lengths.push(samples.len() - from);
            }
            if samples.len() >= SAMPLE_BYTES {
                break;
            }
        }
        if samples.len() >= SAMPLE_BYTES_MIN {
            let bytes = DICTIONARY_BYTES.min(samples.len() / DICTIONARY_PART);
            let mut dictionary = Vec::with_capacity(bytes);
            let trained = zstd_safe::train_from_buffer(&mut dictionary, &samples, &lengths);
            if trained.is_ok() {
                self.dictionaries.push(dictionary);
            }
        }
        Ok(())
    }
}

/// Packs rows one after another, with dictionary 0.
pub(super) struct Packer<'d> {
    context: CCtx<'d>,
    texts: Vec<u8>,
    lengths: Vec<usize>,
    frame: Vec<u8>,
}

impl Packing {
    /// With this dictionary alone.
    #[cfg(test)]
    pub(super) fn with(dictionary: Vec<u8>) -> Packing {
        Packing {
            dictionaries: vec![dictionary],
        }
    }

    /// Dictionary 0 in the form that packs; `None` if there is none.
    pub(super) fn prepare(&self) -> Option<CDict<'static>> {
        CDict::try_create(self.dictionaries.first()?, LEVEL)
    }
}

impl<'d> Packer<'d> {
    /// `None` without memory.
    pub(super) fn new(dictionary: &'d CDict<'static>) -> Option<Packer<'d>> {
        let mut context = CCtx::try_create()?;
        let parameters = [
            CParameter::Format(FrameFormat::Magicless),
            CParameter::ContentSizeFlag(false),
            CParameter::DictIdFlag(false),
        ];
        for parameter in parameters {
            context.set_parameter(parameter).ok()?;
        }
        context.ref_cdict(dictionary).ok()?;
        Some(Packer {
            context,
            texts: Vec::new(),
            lengths: Vec::new(),
            frame: Vec::new(),
        })
    }

    /// Appends a row: packed if it has long texts and takes less room so, else whole. Errors: `Internal`, where the bytes are no
    /// row.
    pub(super) fn append(&mut self, encoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        self.texts.clear();
        self.lengths.clear();
        let (texts, lengths) = (&mut self.texts, &mut self.lengths);
        out.push(0);
        let is_narrow = row::leave_out(encoded, TEXT_BYTES_MIN, out, texts, lengths);
        let narrow = if is_narrow.ok_or_else(not_a_row)? {
            NARROW
        } else {
            0
        };
        if texts.is_empty() {
            out[start] = narrow;
            return Ok(());
        }
        for length in lengths {
            put_number(out, *length as u64);
        }
        let packed = self.pack();
        match packed {
            Some((flags, packed)) if out.len() - start + packed.len() <= encoded.len() => {
                out[start] = narrow | flags;
                out.extend_from_slice(packed);
                Ok(())
            }
            _ => {
                out.truncate(start);
                append_whole(encoded, out)
            }
        }
    }

    /// The texts, packed, and flags that say how; `None` if they are too long or cannot be packed.
    fn pack(&mut self) -> Option<(u8, &[u8])> {
        if self.texts.len() > TEXTS_BYTES_MAX {
            return None;
        }
        self.frame.clear();
        self.frame
            .reserve(zstd_safe::compress_bound(self.texts.len()));
        self.context.compress2(&mut self.frame, &self.texts).ok()?;
        let (head, block) = self.frame.split_first_chunk::<BLOCK_HEAD_BYTES>()?;
        let [0, _, block_head @ ..] = head else {
            return Some((PACKED | FRAME, &self.frame));
        };
        let only = (block.len() as u32) << 3 | LAST_COMPRESSED;
        match only.to_le_bytes()[..3] == *block_head {
            true => Some((PACKED, block)),
            false => Some((PACKED | FRAME, &self.frame)),
        }
    }
}

impl RowsWriter<'_> {
    /// Writes the dictionaries of packed rows.
    pub(super) fn dictionaries(&mut self, packing: &Packing) -> Result<()> {
        for (dictionary, number) in packing.dictionaries.iter().zip(0..) {
            self.bytes(Kind::PackDictionary(number), dictionary)?;
        }
        Ok(())
    }

    /// Writes rows whose long texts are packed, and the dictionaries.
    pub(super) fn packed_rows(&mut self, packing: &Packing, source: &dyn RowSource) -> Result<()> {
        self.dictionaries(packing)?;
        let dictionary = packing.prepare();
        let mut packer = dictionary.as_ref().and_then(Packer::new);
        self.stretches(Kind::PackedRows, Kind::GroupedEnds(0), |doc, bytes| {
            if source.copy_packed(doc, bytes)? {
                return Ok(());
            }
            let row = source.columns(doc)?;
            let row = row.encoded()?;
            match &mut packer {
                Some(packer) => packer.append(&row, bytes),
                None => append_whole(&row, bytes),
            }
        })
    }
}

/// Appends a row without packing its texts. Errors: `Internal`, where the bytes are no row.
fn append_whole(encoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let form = out.len();
    out.push(0);
    let none = (&mut Vec::new(), &mut Vec::new());
    let is_narrow = row::leave_out(encoded, usize::MAX, out, none.0, none.1);
    if is_narrow.ok_or_else(not_a_row)? {
        out[form] = NARROW;
    }
    Ok(())
}

fn not_a_row() -> Error {
    Error::Internal {
        what: "a row that is merged is not an encoded row".into(),
    }
}
