//! A place in a line that is being parsed.

/// The part of the line that is not parsed yet. A failed step leaves it where it was.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Steps over `text`.
    #[inline]
    pub(super) fn skip(&mut self, text: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// Takes the bytes before the next `end` and steps over it.
    #[inline]
    pub(super) fn take_until(&mut self, end: u8) -> Option<&'a [u8]> {
        let length = memchr::memchr(end, self.rest)?;
        let taken = &self.rest[..length];
        self.rest = &self.rest[length + 1..];
        Some(taken)
    }

    /// Takes a decimal number of at most 19 digits, so that it fits 64 bits.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        let mut length = 0;
        while let Some(digit @ b'0'..=b'9') = self.rest.get(length) {
            number = number
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'));
            length += 1;
        }
        let number = match length {
            1..=19 => number,
            // The LIMIT of all rows has 20 digits.
            20 => std::str::from_utf8(&self.rest[..length])
                .ok()?
                .parse()
                .ok()?,
            _ => return None,
        };
        self.rest = &self.rest[length..];
        Some(number)
    }

    /// Takes a decimal fraction such as `0.004` and returns it in units of `1 / 10^places`; further digits are dropped. With
    /// `places` 6, seconds are returned in microseconds.
    pub(super) fn fraction(&mut self, places: usize) -> Option<u64> {
        let mut after = *self;
        let mut number = after.number()?;
        let mut taken = 0;
        if after.skip(b".").is_some() {
            let digits = after
                .rest
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            (digits > 0).then_some(())?;
            for digit in &after.rest[..digits.min(places)] {
                number = number
                    .checked_mul(10)?
                    .checked_add(u64::from(digit - b'0'))?;
            }
            taken = digits.min(places);
            after.rest = &after.rest[digits..];
        }
        number = number.checked_mul(10_u64.pow((places - taken) as u32))?;
        *self = after;
        Some(number)
    }
}
