//! Whether a statement of a stranger's log may be sent.
//!
//! The text is one statement, SELECT or CALL PQ, for every server, whatever its quotes and comments mean there. A text that two
//! dialects read in two ways is refused: a wrong refusal costs a query of the replay, a wrong leave costs a table.

/// Whether `text` is one SELECT or CALL PQ that changes nothing.
pub(super) fn may_be_sent(text: &[u8]) -> bool {
    let Some(plain) = outside_quotes(text) else {
        return false;
    };
    let plain = plain.trim_ascii();
    let plain = plain.strip_suffix(b";").unwrap_or(plain);
    if memchr::memchr(b';', plain).is_some() {
        return false;
    }
    let mut words = words(plain);
    let begins = match words.next() {
        Some(word) if word.eq_ignore_ascii_case(b"select") => true,
        Some(word) if word.eq_ignore_ascii_case(b"call") => words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case(b"pq")),
        Some(_) | None => false,
    };
    begins && !words.any(changes)
}

/// Words of a SELECT that writes a file, or takes rows of a queue and ends them.
fn changes(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    lower == b"into" || lower.starts_with(b"queue_") || lower == b"sleep"
}

fn words(plain: &[u8]) -> impl Iterator<Item = &[u8]> {
    plain
        .split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 0x80..)))
        .filter(|word| !word.is_empty())
}

/// The text with a blank for each quote and comment; `None` where dialects differ about their ends.
fn outside_quotes(text: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = &text[at..];
        let length = match byte {
            0 => return None,
            b'\'' | b'"' => quoted(rest, *byte)?,
            b'`' => {
                let end = memchr::memchr(b'`', &rest[1..])? + 2;
                // Only some dialects escape within such quotes.
                (memchr::memchr(b'\\', &rest[..end]).is_none()).then_some(end)?
            }
            b'/' if rest.starts_with(b"/*") => {
                let end = memchr::memmem::find(&rest[2..], b"*/")? + 4;
                // `/*!` holds text that MySQL runs; some dialects nest comments.
                let inside = &rest[2..end - 2];
                let is_plain =
                    !inside.starts_with(b"!") && memchr::memmem::find(inside, b"/*").is_none();
                is_plain.then_some(end)?
            }
            // Comments to the end of the line, for some dialects.
            b'#' => return None,
            b'-' if rest.starts_with(b"--") => return None,
            other => {
                plain.push(*other);
                at += 1;
                continue;
            }
        };
        plain.push(b' ');
        at += length;
    }
    Some(plain)
}

/// Length of a text in quotes: a backslash quotes the next byte, a doubled quote is inside.
fn quoted(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(quote, b'\\', rest.get(at..)?)?;
        if rest[at] == quote && rest.get(at + 1) != Some(&quote) {
            return Some(at + 1);
        }
        at += 2;
    }
}
