//! The words of a document in one buffer, and the fast path that makes them.
//!
//! ASCII text is copied once and lowered in place; a word is a stretch of that copy, found 64 bytes at a time as the edges of
//! a bit mask. Nothing is allocated per word. Text with anything else in it takes the general path of `fold.rs`, which a
//! property holds equal to this one.

use super::{Analyzer, fold};
use crate::limits::{DOCUMENT_BYTES_MAX, WORD_BYTES_MAX};

/// The words of one document, in one buffer: made once, read by the matcher and by the index.
///
/// Words of a field follow each other in rising position; fields follow each other in the order pushed.
#[derive(Clone, Debug, Default)]
pub struct Words {
    folded: String,
    marks: Vec<Mark>,
    /// Bytes of text pushed so far, before folding.
    source_bytes: usize,
}

/// Where one word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    start: u32,
    bytes: u16,
    field: u8,
    position: u32,
}

impl Words {
    /// No words.
    #[must_use]
    pub fn new() -> Words {
        Words::default()
    }

    /// Forgets the words and keeps the memory.
    pub fn clear(&mut self) {
        self.folded.clear();
        self.marks.clear();
        self.source_bytes = 0;
    }

    /// Adds the words of one field. Fields are pushed in rising number, each once; positions start from 1 in each.
    /// Cost: about 2 ns a byte of ASCII text; allocates only to grow its buffers.
    pub fn push_field(&mut self, analyzer: &Analyzer, field: u8, text: &str) {
        let room = DOCUMENT_BYTES_MAX - self.source_bytes;
        let text = text
            .get(..text.floor_char_boundary(room))
            .unwrap_or_default();
        self.source_bytes += text.len();
        if text.is_ascii() {
            self.push_ascii(field, text);
        } else {
            analyzer.words(text, &mut |word| {
                self.push_word(field, word.position, word.text)
            });
        }
    }

    /// The words in order: (folded text, field, position in the field from 1).
    pub fn iter(&self) -> impl Iterator<Item = (&str, u8, u32)> + '_ {
        self.marks.iter().map(|mark| {
            let start = mark.start as usize;
            let text = self
                .folded
                .get(start..start + usize::from(mark.bytes))
                .unwrap_or_default();
            (text, mark.field, mark.position)
        })
    }

    /// How many words there are, marked ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    fn push_word(&mut self, field: u8, position: u32, text: &str) {
        let start = self.folded.len() as u32; // fits, see DOCUMENT_BYTES_MAX
        self.folded.push_str(text);
        self.marks.push(Mark {
            start,
            bytes: text.len() as u16,
            field,
            position,
        });
    }

    fn push_ascii(&mut self, field: u8, text: &str) {
        let base = self.folded.len();
        self.folded.push_str(text);
        if let Some(lowered) = self.folded.get_mut(base..) {
            lowered.make_ascii_lowercase();
        }
        let lowered = self.folded.as_bytes().get(base..).unwrap_or_default();
        let marks = &mut self.marks;
        let mut position = 0;
        each_word(lowered, |start, end| {
            position += 1;
            let word_start = (base + start) as u32;
            let bytes = (end - start).min(WORD_BYTES_MAX) as u16;
            marks.push(Mark {
                start: word_start,
                bytes,
                field,
                position,
            });
            if is_marked(lowered, start) {
                let bytes = (end - start + 1).min(WORD_BYTES_MAX) as u16;
                marks.push(Mark {
                    start: word_start - 1,
                    bytes,
                    field,
                    position,
                });
            }
        });
    }
}

/// Calls `visit` with (start, end) of every run of lower-case ASCII text.
#[inline]
fn each_word(lowered: &[u8], mut visit: impl FnMut(usize, usize)) {
    let (blocks, tail) = lowered.as_chunks::<64>();
    let mut last = [0; 64];
    for (slot, byte) in last.iter_mut().zip(tail) {
        *slot = *byte;
    }
    let mut open = None; // start of a run that reaches into the block at hand
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let base = number * 64;
        let mask = run_mask(block);
        let shifted = mask << 1 | u64::from(open.is_some());
        let (mut starts, mut ends) = (mask & !shifted, !mask & shifted);
        if let Some(start) = open {
            if ends == 0 {
                continue;
            }
            visit(start, base + ends.trailing_zeros() as usize);
            ends &= ends - 1;
            open = None;
        }
        while ends != 0 {
            let start = base + starts.trailing_zeros() as usize;
            visit(start, base + ends.trailing_zeros() as usize);
            starts &= starts - 1;
            ends &= ends - 1;
        }
        if starts != 0 {
            open = Some(base + starts.trailing_zeros() as usize);
        }
    }
    if let Some(start) = open {
        visit(start, lowered.len());
    }
}

/// Bit `i` is set if byte `i` belongs to a run. Written so that the compiler compares sixteen bytes at once.
#[inline]
fn run_mask(block: &[u8; 64]) -> u64 {
    let mut flags = [0; 64];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is_lowered_run_byte(*byte));
    }
    let mut mask = 0;
    for (number, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The product gathers the low bits of eight bytes in its top byte.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= gathered << (number * 8);
    }
    mask
}

#[inline]
fn is_lowered_run_byte(byte: u8) -> bool {
    byte.wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10 || byte == b'_'
}

/// Whether the run that begins at `start` is written `#run` or `@run`, and not in the middle of something like `a@run`.
#[inline]
fn is_marked(lowered: &[u8], start: usize) -> bool {
    let Some(mark) = start.checked_sub(1) else {
        return false;
    };
    if !lowered
        .get(mark)
        .is_some_and(|byte| fold::is_mark(char::from(*byte)))
    {
        return false;
    }
    let before = mark.checked_sub(1).and_then(|at| lowered.get(at));
    !before.is_some_and(|byte| is_lowered_run_byte(*byte))
}
