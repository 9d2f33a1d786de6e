//! Constants: numbers, strings, bytes, TRUE, FALSE, NULL.

use crate::lexer::{Lexer, SyntaxError, TokenKind};
use crate::value::{Number, Value};

/// Reads a constant of a list with an optional sign. TRUE and FALSE are truths of a document, see [`super::evaluate::as_compared`].
pub(super) fn constant(lexer: &mut Lexer<'_>) -> Result<Value, SyntaxError> {
    let minus = lexer.take(TokenKind::Minus);
    if !minus {
        lexer.take(TokenKind::Plus);
    }
    match literal(lexer)? {
        Some(Value::Int(number)) if minus => Ok(Value::Int(-number)),
        Some(Value::Float(number)) if minus => Ok(Value::Float(-number)),
        Some(value) if !minus => Ok(value),
        None if !minus => match word_literal(lexer) {
            Some(Word::Null) => Ok(Value::Null),
            Some(Word::Truth(truth)) => Ok(Value::of_truth(truth)),
            None => Err(lexer.unexpected("a constant")),
        },
        _ => Err(lexer.unexpected("a number")),
    }
}

/// Takes a number, a string or bytes, if one comes next; also behind an introducer such as `_binary` or `_utf8mb4`.
pub(super) fn literal(lexer: &mut Lexer<'_>) -> Result<Option<Value>, SyntaxError> {
    let value = match lexer.peek().kind {
        TokenKind::Integer | TokenKind::Decimal => number(lexer.bytes(lexer.peek())),
        TokenKind::Hex => Value::Bytes(lexer.string(lexer.peek())),
        TokenKind::String => return Ok(Some(strings(lexer))),
        TokenKind::Word if is_introducer(lexer) => {
            let binary = lexer.at_word("_binary");
            lexer.next();
            let bytes = lexer.string(lexer.peek());
            if binary {
                Value::Bytes(bytes)
            } else {
                text(bytes)
            }
        }
        TokenKind::Invalid(_) => return Err(lexer.unexpected("a value")),
        _ => return Ok(None),
    };
    lexer.next();
    Ok(Some(value))
}

/// Takes a number in hexadecimal or octal digits, if one comes next.
pub(super) fn whole_hex(lexer: &mut Lexer<'_>) -> Result<Option<i128>, SyntaxError> {
    let token = lexer.peek().clone();
    let digits = String::from_utf8_lossy(lexer.bytes(&token)).into_owned();
    let (digits, radix) = match (&token.kind, digits.as_bytes()) {
        (TokenKind::Hex, [b'0', b'x' | b'X', ..]) => (digits.get(2..).unwrap_or_default(), 16),
        (TokenKind::Integer, [b'0', _, ..]) => (digits.as_str(), 8),
        _ => return Ok(None),
    };
    let number = i128::from_str_radix(digits, radix)
        .map_err(|_| lexer.error(&token, "malformed octal or hexadecimal number"))?;
    lexer.next();
    Ok(Some(number))
}

/// A constant that is a word.
pub(super) enum Word {
    Null,
    Truth(bool),
}

/// Takes TRUE, FALSE or NULL, if one comes next.
pub(super) fn word_literal(lexer: &mut Lexer<'_>) -> Option<Word> {
    const WORDS: [(&str, Word); 3] = [
        ("NULL", Word::Null),
        ("TRUE", Word::Truth(true)),
        ("FALSE", Word::Truth(false)),
    ];
    let (_, word) = WORDS.into_iter().find(|(word, _)| lexer.take_word(word))?;
    Some(word)
}

/// Whether `_binary`, `_utf8`, `_utf8mb4`, … stands right before a string.
fn is_introducer(lexer: &Lexer<'_>) -> bool {
    lexer.bytes(lexer.peek()).starts_with(b"_") && {
        let mut ahead = lexer.clone();
        ahead.next();
        matches!(ahead.peek().kind, TokenKind::String | TokenKind::Hex)
    }
}

/// Takes a string and the strings directly behind it, which MySQL joins.
fn strings(lexer: &mut Lexer<'_>) -> Value {
    let mut bytes = Vec::new();
    while lexer.peek().kind == TokenKind::String {
        bytes.extend_from_slice(&lexer.string(lexer.peek()));
        lexer.next();
    }
    text(bytes)
}

/// A text if the bytes are UTF-8, else bytes.
fn text(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::Str(text),
        Err(error) => Value::Bytes(error.into_bytes()),
    }
}

/// A number. Whole numbers are exact while 128 bits hold them.
fn number(digits: &[u8]) -> Value {
    match Number::at_start(digits) {
        Number::Whole(number) => Value::Int(number),
        Number::Real(number) => Value::Float(number),
    }
}
