//! Reads the repeated parts of long statements by comparing bytes: a million ids are written in one way.
//!
//! Example: behind `id = 1 OR id = 2 OR id = 3 OR …` the parser has read `OR id = 2 ` as tokens. Its [`Pattern`] has the pieces
//! `OR id = ` and ` ` around one whole number. As long as the text goes on with these pieces and a number between them, and
//! then with the first piece again, the next alternative differs from the last one in its number alone.
//!
//! That it begins again is what makes it whole: `OR id = 3 AND n > 1 OR …` does not end with the pieces, and the parser of
//! tokens reads it.

use crate::lexer::{Lexer, TokenKind};
use crate::value::Value;

/// A constant that a pattern has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read<'t> {
    /// Digits without a sign.
    Whole(i64),
    /// A string in single quotes that has neither a backslash nor a quote in it.
    Text(&'t str),
}

impl Read<'_> {
    /// The constant as a value.
    #[must_use]
    pub fn value(self) -> Value {
        match self {
            Read::Whole(number) => Value::Int(number.into()),
            Read::Text(text) => Value::Str(text.to_owned()),
        }
    }
}

/// A part of a text that may come again with other constants.
#[derive(Clone, Debug)]
pub struct Pattern<'t> {
    /// The bytes before, between and behind the constants: one more than constants. The first is not empty.
    pieces: Vec<&'t [u8]>,
    /// For each constant whether it is a text.
    texts: Vec<bool>,
}

impl<'t> Pattern<'t> {
    /// The pattern of a part that the parser has read, and its constants. `None`: it has none, or a comment might begin in it.
    #[must_use]
    pub fn of(part: &'t [u8]) -> Option<(Pattern<'t>, Vec<Read<'t>>)> {
        if part.iter().any(|byte| matches!(byte, b'/' | b'#')) {
            return None;
        }
        let (mut pieces, mut texts, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        let mut behind = 0;
        let mut lexer = Lexer::new(part);
        loop {
            let token = lexer.next();
            let is_text = match token.kind {
                TokenKind::Integer => false,
                TokenKind::String => true,
                TokenKind::End => break,
                TokenKind::Invalid(_) => return None,
                _ => continue,
            };
            pieces.push(&part[behind..token.range.start]);
            texts.push(is_text);
            let (constant, bytes) = constant(&part[token.range.start..], is_text)?;
            constants.push(constant);
            behind = token.range.start + bytes;
        }
        pieces.push(&part[behind..]);
        let is_usable = !constants.is_empty() && !pieces[0].is_empty();
        is_usable.then_some((Pattern { pieces, texts }, constants))
    }

    /// Number of constants.
    #[must_use]
    pub fn width(&self) -> usize {
        self.texts.len()
    }

    /// Reads the part at the beginning of `text`, if it is there and the same part begins again behind it. Gives the constants to
    /// `take`, with their number. Returns the part's length.
    #[must_use]
    pub fn read<'a>(&self, text: &'a [u8], constants: &mut Vec<Read<'a>>) -> Option<usize> {
        constants.clear();
        let first = self.pieces[0];
        let mut at = first.len();
        if !text.starts_with(first) {
            return None;
        }
        for (piece, is_text) in self.pieces[1..].iter().zip(&self.texts) {
            let (found, bytes) = constant(text.get(at..)?, *is_text)?;
            at += bytes;
            if !text.get(at..)?.starts_with(piece) {
                return None;
            }
            at += piece.len();
            constants.push(found);
        }
        text.get(at..)?.starts_with(first).then_some(at)
    }
}

/// The constant at the beginning of a text, and its length.
fn constant(text: &[u8], is_text: bool) -> Option<(Read<'_>, usize)> {
    if is_text {
        let inside = text.strip_prefix(b"'")?;
        let end = inside
            .iter()
            .position(|byte| matches!(byte, b'\'' | b'\\'))?;
        if inside[end] == b'\\' || inside.get(end + 1) == Some(&b'\'') {
            return None;
        }
        let read = std::str::from_utf8(&inside[..end]).ok()?;
        return Some((Read::Text(read), end + 2));
    }
    let mut number = 0_i64;
    let mut digits = 0;
    while let Some(digit @ b'0'..=b'9') = text.get(digits) {
        number = number
            .checked_mul(10)?
            .checked_add(i64::from(digit - b'0'))?;
        digits += 1;
    }
    (digits > 0).then_some((Read::Whole(number), digits))
}
