//! Finds the end of one token.

use super::{Token, TokenKind};

/// The token at or after byte `at`. `in_comment` is kept from call to call: whether `/*!` was opened.
pub(super) fn token(text: &[u8], at: usize, in_comment: &mut bool) -> Token {
    let start = match skip_blank(text, at, in_comment) {
        Ok(start) => start,
        Err(open) => {
            return Token {
                kind: TokenKind::Invalid("unclosed comment"),
                range: open..text.len(),
            };
        }
    };
    let rest = text.get(start..).unwrap_or_default();
    let Some(first) = rest.first() else {
        return Token {
            kind: TokenKind::End,
            range: start..start,
        };
    };
    let (kind, bytes) = match first {
        b'\'' | b'"' => quoted(rest, TokenKind::String, "unclosed string"),
        b'`' => quoted(rest, TokenKind::Quoted, "unclosed backtick"),
        b'0'..=b'9' => number(rest),
        b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => number(rest),
        b'@' => variable(rest),
        b'x' | b'X' if rest.get(1) == Some(&b'\'') => hex_string(rest),
        byte if is_word_byte(*byte) => (TokenKind::Word, word_bytes(rest)),
        _ => symbol(rest),
    };
    Token {
        kind,
        range: start..start + bytes,
    }
}

/// Bytes of names: letters, digits, `_`, `$`, and everything outside ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

fn word_bytes(rest: &[u8]) -> usize {
    count(rest, is_word_byte)
}

/// The number of leading bytes that are `wanted`.
fn count(rest: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    rest.iter().take_while(|byte| wanted(**byte)).count()
}

/// Skips white space and comments. Error: the byte of a comment that is never closed.
fn skip_blank(text: &[u8], at: usize, in_comment: &mut bool) -> Result<usize, usize> {
    let mut at = at;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        at += match rest {
            [b, ..] if b.is_ascii_whitespace() || *b == 0x0B => 1,
            [b'#', ..] | [b'-', b'-'] => count(rest, |byte| byte != b'\n'),
            [b'-', b'-', b, ..] if b.is_ascii_whitespace() || b.is_ascii_control() => {
                count(rest, |byte| byte != b'\n')
            }
            [b'/', b'*', b'!', inside @ ..] if !*in_comment => {
                *in_comment = true;
                3 + version_digits(inside)
            }
            [b'/', b'*', inside @ ..] => {
                let end = inside.windows(2).position(|pair| pair == b"*/").ok_or(at)?;
                2 + end + 2
            }
            [b'*', b'/', ..] if *in_comment => {
                *in_comment = false;
                2
            }
            [] if *in_comment => {
                *in_comment = false;
                return Err(at);
            }
            _ => return Ok(at),
        };
    }
}

/// The version at the beginning of `/*!40101 … */`: five or six digits.
fn version_digits(inside: &[u8]) -> usize {
    let digits = count(inside, |byte| byte.is_ascii_digit());
    if digits >= 5 { digits.min(6) } else { 0 }
}

/// A string or a name in quotes. The opening quote closes it; doubled, it stands for itself. Strings also have
/// backslashes.
fn quoted(rest: &[u8], kind: TokenKind, unclosed: &'static str) -> (TokenKind, usize) {
    let quote = rest.first();
    let mut at = 1;
    loop {
        match rest.get(at) {
            None => return (TokenKind::Invalid(unclosed), rest.len()),
            Some(b'\\') if kind == TokenKind::String => at += 2,
            byte if byte == quote && rest.get(at + 1) == quote => at += 2,
            byte if byte == quote => return (kind, at + 1),
            Some(_) => at += 1,
        }
    }
}

/// Digits with a point and an exponent; `0x…`; a name that begins with a digit.
fn number(rest: &[u8]) -> (TokenKind, usize) {
    let word = word_bytes(rest);
    if let [b'0', b'x' | b'X', digits @ ..] = rest {
        let digits = count(digits, |byte| byte.is_ascii_hexdigit());
        if digits > 0 && digits + 2 == word {
            return (TokenKind::Hex, word);
        }
    }
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let whole = count(rest, is_digit);
    let mut end = whole;
    if rest.get(end) == Some(&b'.') {
        end += 1 + count(rest.get(end + 1..).unwrap_or_default(), is_digit);
    }
    end += exponent(rest.get(end..).unwrap_or_default());
    let goes_on = rest.get(end).is_some_and(|byte| is_word_byte(*byte));
    if goes_on && whole == end {
        (TokenKind::Word, word)
    } else if goes_on {
        (TokenKind::Invalid("malformed number"), end)
    } else if end == whole {
        (TokenKind::Integer, end)
    } else {
        (TokenKind::Decimal, end)
    }
}

/// The bytes of `e5`, `E-5`; 0 if there is no exponent.
fn exponent(rest: &[u8]) -> usize {
    let sign = match rest {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => return 0,
    };
    match count(rest.get(sign..).unwrap_or_default(), |byte| {
        byte.is_ascii_digit()
    }) {
        0 => 0,
        digits => sign + digits,
    }
}

/// `@name`, `@@name`, `@@session.name`.
fn variable(rest: &[u8]) -> (TokenKind, usize) {
    let marks = count(rest, |byte| byte == b'@').min(2);
    let name = count(rest.get(marks..).unwrap_or_default(), |byte| {
        is_word_byte(byte) || byte == b'.'
    });
    match name {
        0 => (TokenKind::Invalid("a name must follow @"), marks),
        _ => (TokenKind::Variable, marks + name),
    }
}

/// `x'4D'`.
fn hex_string(rest: &[u8]) -> (TokenKind, usize) {
    let digits = rest.get(2..).unwrap_or_default();
    let digit_count = count(digits, |byte| byte.is_ascii_hexdigit());
    if digit_count % 2 == 0 && digits.get(digit_count) == Some(&b'\'') {
        (TokenKind::Hex, digit_count + 3)
    } else {
        (
            TokenKind::Invalid("malformed hexadecimal string"),
            2 + digit_count,
        )
    }
}

/// Operators and punctuation, the longest that fits.
fn symbol(rest: &[u8]) -> (TokenKind, usize) {
    const SYMBOLS: [(&[u8], TokenKind); 32] = [
        (b"<=>", TokenKind::NullSafeEqual),
        (b"<=", TokenKind::LessOrEqual),
        (b"<>", TokenKind::NotEqual),
        (b"<<", TokenKind::ShiftLeft),
        (b">=", TokenKind::GreaterOrEqual),
        (b">>", TokenKind::ShiftRight),
        (b"!=", TokenKind::NotEqual),
        (b"&&", TokenKind::And),
        (b"||", TokenKind::Or),
        (b":=", TokenKind::Assign),
        (b"(", TokenKind::Open),
        (b")", TokenKind::Close),
        (b",", TokenKind::Comma),
        (b";", TokenKind::Semicolon),
        (b".", TokenKind::Dot),
        (b":", TokenKind::Colon),
        (b"?", TokenKind::Question),
        (b"=", TokenKind::Equal),
        (b"<", TokenKind::Less),
        (b">", TokenKind::Greater),
        (b"+", TokenKind::Plus),
        (b"-", TokenKind::Minus),
        (b"*", TokenKind::Star),
        (b"/", TokenKind::Slash),
        (b"%", TokenKind::Percent),
        (b"!", TokenKind::Bang),
        (b"~", TokenKind::Tilde),
        (b"&", TokenKind::Ampersand),
        (b"|", TokenKind::Bar),
        (b"^", TokenKind::Caret),
        (b"[", TokenKind::OpenBracket),
        (b"]", TokenKind::CloseBracket),
    ];
    match rest.first() {
        Some(b'{') => (TokenKind::OpenBrace, 1),
        Some(b'}') => (TokenKind::CloseBrace, 1),
        _ => SYMBOLS
            .iter()
            .find(|(bytes, _)| rest.starts_with(bytes))
            .map_or(
                (TokenKind::Invalid("unexpected character"), 1),
                |(bytes, kind)| (*kind, bytes.len()),
            ),
    }
}
