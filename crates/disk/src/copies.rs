//! A small file that holds its content twice: damage of one byte, or of one page, leaves the other copy.
//!
//! | offset | bytes |
//! |---|---|
//! | 0 | the content: *n* bytes |
//! | n | zeroes up to the next page of 4,096 bytes |
//! | s | the content again, up to the end of the file |
//!
//! The second copy begins on a page of its own. Its place is not written anywhere, because it follows from the file's length:
//! the only multiple of 4,096 from half of the length on and less than 2,048 bytes behind the half.
//!
//! Example: content of 1,178 bytes is a file of 5,274. Half of that is 2,637, so the second copy begins at 4,096.
//!
//! The content tells by a checksum of its own whether it is sound. A file that holds one copy, as an earlier format wrote it, is
//! read as well: the whole of it is then the content.
//!
//! Operations: [`in_two_copies`] makes the bytes, [`Copies`] finds the content in them.

use crate::PAGE_BYTES;

/// The bytes of a file that holds `content` twice.
#[must_use]
pub fn in_two_copies(content: &[u8]) -> Vec<u8> {
    let second = content.len().next_multiple_of(PAGE_BYTES);
    let mut bytes = Vec::with_capacity(second + content.len());
    bytes.extend_from_slice(content);
    bytes.resize(second, 0);
    bytes.extend_from_slice(content);
    bytes
}

/// The copies of the content in the bytes of a file.
pub struct Copies<'a> {
    bytes: &'a [u8],
    /// Where the second copy begins; `None` for a length that no file of two copies has.
    second: Option<usize>,
}

impl<'a> Copies<'a> {
    /// The copies in the bytes of a whole file, which may be damaged or of one copy.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Copies<'a> {
        let second = bytes.len().div_ceil(2).next_multiple_of(PAGE_BYTES);
        let length = bytes.len().checked_sub(second);
        let is_content = |length: usize| length.next_multiple_of(PAGE_BYTES) == second;
        Copies {
            bytes,
            second: length.is_some_and(is_content).then_some(second),
        }
    }

    /// The first copy that `check` takes. `check` gets a copy and its offset in the file.
    ///
    /// # Errors
    /// That of the first copy, where `check` takes none.
    pub fn first_sound<T, E>(
        &self,
        mut check: impl FnMut(usize, &'a [u8]) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some([first, second]) = self.both() else {
            return check(0, self.bytes);
        };
        let refused = match check(0, first.1) {
            Ok(found) => return Ok(found),
            Err(refused) => refused,
        };
        let found = check(second.0, second.1).or_else(|_| check(0, self.bytes));
        found.map_err(|_| refused)
    }

    /// The error of each copy that `check` refuses; none for a file of one copy that it takes.
    pub fn damages<T, E>(&self, mut check: impl FnMut(usize, &'a [u8]) -> Result<T, E>) -> Vec<E> {
        let Some(both) = self.both() else {
            return check(0, self.bytes).err().into_iter().collect();
        };
        let checked = both.map(|(start, copy)| check(start, copy).err());
        let errors: Vec<E> = checked.into_iter().flatten().collect();
        match errors.len() {
            2 if check(0, self.bytes).is_ok() => Vec::new(),
            _ => errors,
        }
    }

    /// Both copies with their offsets.
    fn both(&self) -> Option<[(usize, &'a [u8]); 2]> {
        let second = self.second?;
        let copy = self.bytes.get(second..)?;
        Some([(0, self.bytes.get(..copy.len())?), (second, copy)])
    }
}
