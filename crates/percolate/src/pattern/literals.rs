//! Patterns by the literal that every matching word holds.
//!
//! Example: the infixes `land` and `burgh` set the bits 4 and 5 of `lengths`. For `holland` the stretches of 4 bytes
//! are looked up (`holl`, `olla`, `llan`, `land`) and those of 5 bytes. One stretch is looked up once, even if the
//! word repeats it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Bytes filed of a longer literal: its first, or of a suffix its last.
const FILED_BYTES_MAX: usize = 16;

/// From a literal to the indexes of its patterns.
#[derive(Clone, Debug, Default)]
pub(super) struct Literals {
    places: HashMap<Box<[u8]>, Vec<u32>, FxBuildHasher>,
    /// Bit `n`: a literal of `n` bytes is filed.
    lengths: u32,
}

impl Literals {
    /// Files a pattern under its literal. Of a long one it files the end if `by_end`, else the beginning.
    pub(super) fn add(&mut self, literal: &[u8], place: u32, by_end: bool) {
        let length = literal.len().min(FILED_BYTES_MAX);
        let start = if by_end { literal.len() - length } else { 0 };
        let filed = &literal[start..start + length];
        self.lengths |= 1 << length;
        match self.places.get_mut(filed) {
            Some(places) => places.push(place),
            None => {
                self.places.insert(filed.into(), vec![place]);
            }
        }
    }

    /// Calls `visit` with the patterns whose literal the word begins with.
    pub(super) fn at_start(&self, word: &[u8], visit: &mut dyn FnMut(&[u32])) {
        for length in self.lengths_up_to(word.len()) {
            self.look_up(&word[..length], visit);
        }
    }

    /// Calls `visit` with the patterns whose literal the word ends with.
    pub(super) fn at_end(&self, word: &[u8], visit: &mut dyn FnMut(&[u32])) {
        for length in self.lengths_up_to(word.len()) {
            self.look_up(&word[word.len() - length..], visit);
        }
    }

    /// Calls `visit` with the patterns whose literal the word holds, each once.
    pub(super) fn anywhere(&self, word: &[u8], visit: &mut dyn FnMut(&[u32])) {
        for length in self.lengths_up_to(word.len()) {
            for (start, stretch) in word.windows(length).enumerate() {
                let came = word[..start + length - 1].windows(length);
                let mut came = came.take(start);
                if !came.any(|earlier| earlier == stretch) {
                    self.look_up(stretch, visit);
                }
            }
        }
    }

    fn look_up(&self, literal: &[u8], visit: &mut dyn FnMut(&[u32])) {
        if let Some(places) = self.places.get(literal) {
            visit(places);
        }
    }

    fn lengths_up_to(&self, bytes: usize) -> impl Iterator<Item = usize> {
        let lengths = self.lengths;
        (1..=bytes.min(FILED_BYTES_MAX)).filter(move |length| lengths >> length & 1 == 1)
    }
}
