//! Functions of texts. Characters are Unicode scalar values; letters outside ASCII have cases too, but comparisons and LIKE
//! fold ASCII alone, as all comparisons of texts do.

use std::borrow::Cow;
use std::fmt::Write;

use language::meter::{PIECE_BYTES, Work, each_place, each_place_backwards, pieces};
use language::pattern::{ESCAPE, Within, like_escaped};

use super::super::function::Function;
use super::number::whole;
use crate::limits::{COMPUTED_TEXT_BYTES_MAX, LEVENSHTEIN_CHARS_MAX};
use crate::value::Value;

/// Units of a byte, beside the one that each call counts: of a checksum, of digits, of letters in another case, and of a byte that
/// is no UTF-8.
const CRC_UNITS: u64 = 3;
const HEX_UNITS: u64 = 4;
const CASE_UNITS: u64 = 16;
const LOSSY_UNITS: u64 = 12;

/// Units of a character that is moved.
const CHAR_UNITS: u64 = 5;

/// Units of a number or a node of a document that becomes text.
const SHOWN_UNITS: u64 = 30;

/// Numbers that become text between two looks at the meter.
const SHOWN_AT_ONCE: usize = 1 << 14;

/// The value of a function of texts; `None`: it is another kind of function.
pub(super) fn value(function: Function, arguments: &[Value], work: &Work<'_>) -> Option<Value> {
    let at = |place: usize| arguments.get(place).unwrap_or(&Value::Null);
    let text = |place: usize| text_of(at(place), work);
    let count = |place: usize| at(place).number().map(whole);
    let trimmed = |trim: fn(&str) -> &str| text(0).and_then(|text| part(trim(&text), work));
    let value = match function {
        Function::Concat => concat(arguments, "", work),
        Function::ConcatWs => concat_with(arguments, work),
        Function::CharLength => text(0).map(|text| Value::Int(text.chars().count() as i128)),
        Function::Length => length(at(0), work),
        Function::Crc32 => text(0).and_then(|text| crc32(text.as_bytes(), work)),
        Function::Hex => hex(at(0), work),
        Function::Lower => text(0).and_then(|text| cased(&text, str::to_lowercase, work)),
        Function::Upper => text(0).and_then(|text| cased(&text, str::to_uppercase, work)),
        Function::Ltrim => trimmed(|text| text.trim_start_matches(' ')),
        Function::Rtrim => trimmed(|text| text.trim_end_matches(' ')),
        Function::Trim => trimmed(|text| text.trim_matches(' ')),
        Function::Reverse => text(0).and_then(|text| reverse(&text, work)),
        Function::ToString => trimmed(|text| text),
        Function::Left => two(text(0), count(1), |text, count| {
            part(first_chars(&text, count.max(0) as usize).0, work)
        }),
        Function::Right => two(text(0), count(1), |text, count| {
            let skipped = text.chars().count().saturating_sub(count.max(0) as usize);
            part(first_chars(&text, skipped).1, work)
        }),
        Function::Repeat => two(text(0), count(1), |text, count| {
            repeated(&text, count, work)
        }),
        Function::Space => count(0).and_then(|count| repeated(" ", count, work)),
        Function::Lpad | Function::Rpad => pad(function, (text(0), count(1), text(2)), work),
        Function::Replace => replace(text(0), text(1), text(2), work),
        Function::Substring => {
            let places = (count(1), arguments.get(2), count(2));
            substring(text(0), places, work)
        }
        Function::SubstringIndex => substring_index(text(0), text(1), count(2), work),
        Function::Instr => locate(text(0), text(1), 1, work),
        Function::Locate => {
            let from = if arguments.len() > 2 {
                count(2)
            } else {
                Some(1)
            };
            from.and_then(|from| locate(text(1), text(0), from, work))
        }
        Function::Like => return like(arguments, Some(ESCAPE), work),
        _ => return None,
    };
    Some(value.unwrap_or(Value::Null))
}

/// `text LIKE pattern`, with the character that makes the next one of the pattern plain.
pub(super) fn like(arguments: &[Value], escape: Option<char>, work: &Work<'_>) -> Option<Value> {
    let text = text_of(arguments.first()?, work);
    let found = text.zip(text_of(arguments.get(1)?, work));
    let found = found.and_then(|(text, pattern)| like_escaped(&pattern, &text, escape, work));
    Some(found.map_or(Value::Null, |found| Value::Int(found.into())))
}

/// Whether an expression is found in a text.
pub(super) fn found(regex: &Within, arguments: &[Value], work: &Work<'_>) -> Option<Value> {
    let text = text_of(arguments.first()?, work)?;
    Some(Value::Int(regex.is_in(&text, work)?.into()))
}

/// A value as a text; `None` for NULL, and where the work is stopped. Bytes that are no UTF-8 are replaced.
pub(super) fn text_of<'v>(value: &'v Value, work: &Work<'_>) -> Option<Cow<'v, str>> {
    Some(match value {
        Value::Null => return None,
        Value::Str(text) => Cow::Borrowed(text),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(lossy(bytes, work)?),
        },
        Value::Set(numbers) => Cow::Owned(listed(numbers, work)?),
        Value::Json(document) => {
            let mut text = Vec::new();
            document.write_text_within(&mut text, work)?;
            Cow::Owned(String::from_utf8_lossy(&text).into_owned())
        }
        Value::Int(_) | Value::Float(_) => Cow::Owned(value.to_string()),
    })
}

/// The numbers of a set, with commas.
fn listed(numbers: &[i64], work: &Work<'_>) -> Option<String> {
    let mut text = String::new();
    for piece in numbers.chunks(SHOWN_AT_ONCE) {
        work.begin(SHOWN_UNITS * piece.len() as u64)?;
        for number in piece {
            let comma = if text.is_empty() { "" } else { "," };
            let _ = write!(text, "{comma}{number}");
        }
    }
    Some(text)
}

fn lossy(bytes: &[u8], work: &Work<'_>) -> Option<String> {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        work.begin(LOSSY_UNITS + chunk.valid().len() as u64 / 4)?;
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Some(text)
}

/// A part of a text as a value; `None` where it is longer than a computed text, which is NULL.
fn part(text: &str, work: &Work<'_>) -> Option<Value> {
    if text.len() > COMPUTED_TEXT_BYTES_MAX {
        return None;
    }
    work.copy(text.len())?;
    Some(Value::Str(text.to_owned()))
}

/// A text before and behind its `count`-th character.
fn first_chars(text: &str, count: usize) -> (&str, &str) {
    match text.char_indices().nth(count) {
        Some((at, _)) => text.split_at(at),
        None => (text, ""),
    }
}

fn reverse(text: &str, work: &Work<'_>) -> Option<Value> {
    if text.len() > COMPUTED_TEXT_BYTES_MAX {
        return None;
    }
    work.begin(CHAR_UNITS * text.len() as u64)?;
    Some(Value::Str(text.chars().rev().collect()))
}

/// A text in another case. The case of a capital sigma depends on the letters around it, so a text that has one is not cut.
fn cased(text: &str, change: fn(&str) -> String, work: &Work<'_>) -> Option<Value> {
    let change = |piece: &str| {
        work.begin(CASE_UNITS * piece.len() as u64)?;
        Some(change(piece))
    };
    // The shortest form of three bytes is one: the letter K of the sign for kelvin.
    if text.len() / 3 > COMPUTED_TEXT_BYTES_MAX {
        return None;
    }
    if text.contains('Σ') {
        return change(text).map(Value::Str);
    }
    let mut changed = String::new();
    for piece in pieces(text) {
        changed.push_str(&change(piece)?);
        if changed.len() > COMPUTED_TEXT_BYTES_MAX {
            return None;
        }
    }
    Some(Value::Str(changed))
}

/// Two arguments, of which none is NULL.
fn two(
    text: Option<Cow<'_, str>>,
    count: Option<i64>,
    compute: impl FnOnce(Cow<'_, str>, i64) -> Option<Value>,
) -> Option<Value> {
    compute(text?, count?)
}

fn concat(parts: &[Value], separator: &str, work: &Work<'_>) -> Option<Value> {
    let mut joined = String::new();
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            joined.push_str(separator);
        }
        let part = text_of(part, work)?;
        if joined.len() + part.len() > COMPUTED_TEXT_BYTES_MAX {
            return None;
        }
        work.copy(part.len())?;
        joined.push_str(&part);
    }
    Some(Value::Str(joined))
}

/// As CONCAT, with the first argument between the others; NULLs among these are left out.
fn concat_with(arguments: &[Value], work: &Work<'_>) -> Option<Value> {
    let (separator, parts) = arguments.split_first()?;
    let parts: Vec<Value> = parts
        .iter()
        .filter(|part| **part != Value::Null)
        .cloned()
        .collect();
    concat(&parts, &text_of(separator, work)?, work)
}

/// Bytes of a text, numbers of a set, items or members of a document.
fn length(value: &Value, work: &Work<'_>) -> Option<Value> {
    let length = match value {
        Value::Set(numbers) => numbers.len(),
        Value::Json(document) => match document.items() {
            Some(items) => items,
            None => document.members(),
        },
        other => text_of(other, work)?.len(),
    };
    Some(Value::Int(length as i128))
}

/// The digits of a number in base 16, or two for each byte of a text.
fn hex(value: &Value, work: &Work<'_>) -> Option<Value> {
    const DIGITS: [u8; 16] = *b"0123456789ABCDEF";
    if let Value::Int(number) = value {
        return Some(Value::Str(format!("{:X}", *number as u64)));
    }
    let text = text_of(value, work)?;
    let bytes = value.text_bytes().unwrap_or(text.as_bytes());
    if bytes.len() > COMPUTED_TEXT_BYTES_MAX / 2 {
        return None;
    }
    work.begin(HEX_UNITS * bytes.len() as u64)?;
    let digit = |half: u8| char::from(DIGITS[usize::from(half & 15)]);
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(*byte)]);
    Some(Value::Str(digits.collect()))
}

/// Empty above the limit too: [`super::strict`] cannot see what was not built.
fn repeated(text: &str, count: i64, work: &Work<'_>) -> Option<Value> {
    let count = usize::try_from(count).unwrap_or(0);
    Some(Value::Str(match text.len().checked_mul(count) {
        Some(bytes) if bytes <= COMPUTED_TEXT_BYTES_MAX => {
            work.copy(bytes)?;
            text.repeat(count)
        }
        _ => String::new(),
    }))
}

/// A text, the number of characters that it is to have, and what fills it up.
type Padded<'t> = (Option<Cow<'t, str>>, Option<i64>, Option<Cow<'t, str>>);

fn pad(function: Function, (text, count, with): Padded<'_>, work: &Work<'_>) -> Option<Value> {
    let (text, with) = (text?, with?);
    let count = usize::try_from(count?)
        .ok()
        .filter(|count| *count <= COMPUTED_TEXT_BYTES_MAX / 4)?;
    let chars = text.chars().count();
    if chars >= count {
        return part(first_chars(&text, count).0, work);
    }
    if with.is_empty() {
        return Some(Value::Str(String::new()));
    }
    work.begin(CHAR_UNITS * (count - chars) as u64)?;
    let padding: String = with.chars().cycle().take(count - chars).collect();
    Some(Value::Str(match function {
        Function::Lpad => padding + &text,
        _ => text.into_owned() + &padding,
    }))
}

fn replace(
    text: Option<Cow<'_, str>>,
    from: Option<Cow<'_, str>>,
    to: Option<Cow<'_, str>>,
    work: &Work<'_>,
) -> Option<Value> {
    let (text, from, to) = (text?, from?, to?);
    if from.is_empty() {
        return part(&text, work);
    }
    let (mut replaced, mut behind) = (String::new(), 0);
    let mut fits = true;
    each_place(&text, &from, work, &mut |at| {
        let kept = &text[behind..at];
        fits = replaced.len() + kept.len() + to.len() <= COMPUTED_TEXT_BYTES_MAX;
        if fits {
            work.spend(CHAR_UNITS + (kept.len() + to.len()) as u64 / 4);
            replaced.push_str(kept);
            replaced.push_str(&to);
            behind = at + from.len();
        }
        fits && !work.is_stopped()
    })?;
    let rest = &text[behind..];
    if !fits || replaced.len() + rest.len() > COMPUTED_TEXT_BYTES_MAX {
        return None;
    }
    work.copy(rest.len())?;
    Some(Value::Str(replaced + rest))
}

/// From a place that counts from 1, or from the end if negative; 0 is no place, so the result is empty. `places`: the place, the
/// third argument, and the number that it is.
fn substring(
    text: Option<Cow<'_, str>>,
    (from, third, count): (Option<i64>, Option<&Value>, Option<i64>),
    work: &Work<'_>,
) -> Option<Value> {
    let (text, from) = (text?, from?);
    let count = match third {
        None => i64::MAX,
        Some(_) => count?,
    };
    let chars = text.chars().count() as i64;
    let skipped = match from {
        0 => chars,
        1.. => from - 1,
        _ if from.unsigned_abs() > chars.unsigned_abs() => chars,
        _ => chars + from,
    };
    work.begin(text.len() as u64)?;
    let (_, rest) = first_chars(&text, skipped.max(0) as usize);
    part(first_chars(rest, count.max(0) as usize).0, work)
}

/// What stands before the `count`-th delimiter, or, if negative, behind the one that is so far from the end.
fn substring_index(
    text: Option<Cow<'_, str>>,
    delimiter: Option<Cow<'_, str>>,
    count: Option<i64>,
    work: &Work<'_>,
) -> Option<Value> {
    let (text, delimiter, count) = (text?, delimiter?, count?);
    if delimiter.is_empty() || count == 0 {
        return Some(Value::Str(String::new()));
    }
    let (mut left, mut found) = (count.unsigned_abs(), None);
    let mut visit = |at: usize| {
        left -= 1;
        found = (left == 0).then_some(at);
        left > 0
    };
    let kept = match count > 0 {
        true => {
            each_place(&text, &delimiter, work, &mut visit)?;
            found.map_or(&*text, |at| &text[..at])
        }
        false => {
            each_place_backwards(&text, &delimiter, work, &mut visit)?;
            found.map_or(&*text, |at| &text[at + delimiter.len()..])
        }
    };
    part(kept, work)
}

/// The place of a text in another, from 1, at or behind `from`; 0: it is not there. ASCII letters have no case.
fn locate(
    text: Option<Cow<'_, str>>,
    wanted: Option<Cow<'_, str>>,
    from: i64,
    work: &Work<'_>,
) -> Option<Value> {
    let (text, wanted) = (text?.to_ascii_lowercase(), wanted?.to_ascii_lowercase());
    let Some(skipped) = usize::try_from(from)
        .ok()
        .and_then(|from| from.checked_sub(1))
    else {
        return Some(Value::Int(0));
    };
    let begin = match text.char_indices().nth(skipped) {
        Some((begin, _)) => begin,
        None if text.chars().count() == skipped => text.len(),
        None => return Some(Value::Int(0)),
    };
    let rest = text.get(begin..).unwrap_or_default();
    let mut found = wanted.is_empty().then_some(0);
    if found.is_none() {
        each_place(rest, &wanted, work, &mut |at| {
            found = Some(at);
            false
        })?;
    }
    Some(Value::Int(match found {
        None => 0,
        Some(at) => {
            let before = rest.get(..at).unwrap_or_default().chars().count();
            (skipped + before + 1) as i128
        }
    }))
}

/// Insertions, removals and replacements of characters between two texts of at most [`LEVENSHTEIN_CHARS_MAX`] characters; a
/// longer one gives NULL. With `normalize=1` it is the share of the longer text, with `length_delta=n` it is the longer length
/// where the lengths differ by more than `n`.
pub(super) fn levenshtein(
    normalizes: bool,
    delta: Option<u64>,
    arguments: &[Value],
    work: &Work<'_>,
) -> Option<Value> {
    let chars = |at: usize| -> Option<Vec<char>> {
        let text = text_of(arguments.get(at)?, work)?;
        Some(text.chars().take(LEVENSHTEIN_CHARS_MAX + 1).collect())
    };
    let (a, b) = (chars(0)?, chars(1)?);
    let longest = a.len().max(b.len());
    if longest > LEVENSHTEIN_CHARS_MAX {
        return None;
    }
    let distance = match delta {
        Some(delta) if a.len().abs_diff(b.len()) as u64 > delta => longest,
        _ => edits(&a, &b, work)?,
    };
    Some(match normalizes {
        false => Value::Int(distance as i128),
        true if longest == 0 => Value::Float(0.0),
        true => Value::Float(distance as f64 / longest as f64),
    })
}

fn edits(a: &[char], b: &[char], work: &Work<'_>) -> Option<usize> {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, left) in a.iter().enumerate() {
        work.begin(2 * b.len() as u64)?;
        let mut diagonal = line;
        let mut before = line + 1;
        for (right, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cell;
            before = replaced.min(*cell + 1).min(before + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    Some(row.last().copied().unwrap_or(0))
}

/// CRC-32 as in MySQL and zlib (polynomial 0xEDB88320, reflected).
fn crc32(bytes: &[u8], work: &Work<'_>) -> Option<Value> {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let mut crc = at as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 {
                    crc >> 1 ^ 0xEDB8_8320
                } else {
                    crc >> 1
                };
                bit += 1;
            }
            table[at] = crc;
            at += 1;
        }
        table
    };
    let step = |crc: u32, byte: &u8| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)];
    let crc = bytes.chunks(PIECE_BYTES).try_fold(!0, |crc, piece| {
        work.begin(CRC_UNITS * piece.len() as u64)?;
        Some(piece.iter().fold(crc, step))
    })?;
    Some(Value::Int((!crc).into()))
}
