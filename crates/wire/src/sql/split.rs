//! Several statements in one text, and SHOW's LIKE.

use super::values::comment_bytes;

/// Cuts a text of several statements at each `;` outside strings, names and comments. Leaves out pieces of only white space
/// and comments.
///
/// Cost: one pass over the text; no allocation.
pub fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (statement, behind) = first(rest)?;
        rest = behind;
        Some(statement)
    })
}

/// The first statement of a text, and the text behind its `;`. `None`: the text has no statement.
#[must_use]
pub fn first(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = text;
    while !rest.is_empty() {
        let (length, says_something) = statement_bytes(rest);
        let (statement, behind) = rest.split_at(length);
        rest = behind.get(1..).unwrap_or_default();
        if says_something {
            return Some((statement, rest));
        }
    }
    None
}

/// Whether a text has no statement. Cost: linear in the bytes before the first statement.
#[must_use]
pub fn is_blank(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        at += match byte {
            b';' => 1,
            b'/' | b'-' | b'#' => match comment_bytes(rest) {
                0 => return false,
                _ if rest.starts_with(b"/*!") => return false,
                comment => comment,
            },
            _ if byte.is_ascii_whitespace() => 1,
            _ => return false,
        };
    }
    true
}

/// Count of bytes up to the next `;`, and whether they hold anything but white space and comments.
fn statement_bytes(text: &[u8]) -> (usize, bool) {
    let mut at = 0;
    let mut says_something = false;
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        match byte {
            b';' => return (at, says_something),
            b'\'' | b'"' | b'`' => {
                says_something = true;
                at += quoted_bytes(rest, byte);
            }
            b'/' | b'-' | b'#' => {
                let comment = comment_bytes(rest);
                // MySQL executes the text in /*! … */.
                says_something |= comment == 0 || rest.starts_with(b"/*!");
                at += comment.max(1);
            }
            _ => {
                let plain = plain_bytes(rest);
                says_something |= !plain.trim_ascii().is_empty();
                at += plain.len();
            }
        }
    }
    (at, says_something)
}

/// The bytes up to the next that may begin a string, a comment or the end of a statement; the first byte at least.
fn plain_bytes(rest: &[u8]) -> &[u8] {
    let is_special = |byte: &u8| matches!(byte, b';' | b'\'' | b'"' | b'`' | b'/' | b'-' | b'#');
    let length = rest.iter().skip(1).position(is_special);
    &rest[..length.map_or(rest.len(), |length| length + 1)]
}

/// Length of a quoted string or name, in bytes. Without a closing quote it reaches to the end. A doubled quote counts as the end
/// of one string and the beginning of another.
fn quoted_bytes(rest: &[u8], quote: u8) -> usize {
    let escape = if quote == b'`' { quote } else { b'\\' };
    let mut at = 1;
    while let Some(inside) = rest.get(at..) {
        let ends = |byte: &u8| *byte == quote || *byte == escape;
        let Some(found) = inside.iter().position(ends) else {
            break;
        };
        at += found + 1;
        if inside[found] == quote {
            return at;
        }
        at += 1;
    }
    rest.len()
}
