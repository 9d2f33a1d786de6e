//! Functions of texts. Characters are Unicode scalar values; letters outside ASCII have cases too, but comparisons and LIKE
//! fold ASCII alone, as all comparisons of texts do.

use std::borrow::Cow;

use regex::Regex;

use super::super::function::Function;
use super::number::whole;
use crate::limits::{COMPUTED_TEXT_BYTES_MAX, LEVENSHTEIN_CHARS_MAX};
use crate::pattern::{ESCAPE, like_escaped};
use crate::value::Value;

/// The value of a function of texts; `None`: it is another kind of function.
pub(super) fn value(function: Function, arguments: &[Value]) -> Option<Value> {
    let at = |place: usize| arguments.get(place).unwrap_or(&Value::Null);
    let text = |place: usize| text_of(at(place));
    let count = |place: usize| at(place).number().map(whole);
    let of_first = |change: &dyn Fn(&str) -> String| Some(Value::Str(change(&text(0)?)));
    let value = match function {
        Function::Concat => concat(arguments, ""),
        Function::ConcatWs => concat_with(arguments),
        Function::CharLength => text(0).map(|text| Value::Int(text.chars().count() as i128)),
        Function::Length => length(at(0)),
        Function::Crc32 => text(0).map(|text| Value::Int(crc32(text.as_bytes()).into())),
        Function::Hex => hex(at(0)),
        Function::Lower => of_first(&str::to_lowercase),
        Function::Upper => of_first(&str::to_uppercase),
        Function::Ltrim => of_first(&|text| text.trim_start_matches(' ').to_owned()),
        Function::Rtrim => of_first(&|text| text.trim_end_matches(' ').to_owned()),
        Function::Trim => of_first(&|text| text.trim_matches(' ').to_owned()),
        Function::Reverse => of_first(&|text| text.chars().rev().collect()),
        Function::ToString => of_first(&str::to_owned),
        Function::Left => two(text(0), count(1), |text, count| {
            text.chars().take(count.max(0) as usize).collect()
        }),
        Function::Right => two(text(0), count(1), |text, count| {
            let skipped = text.chars().count().saturating_sub(count.max(0) as usize);
            text.chars().skip(skipped).collect()
        }),
        Function::Repeat => two(text(0), count(1), |text, count| repeated(&text, count)),
        Function::Space => count(0).map(|count| Value::Str(repeated(" ", count))),
        Function::Lpad | Function::Rpad => pad(function, text(0), count(1), text(2)),
        Function::Replace => replace(text(0), text(1), text(2)),
        Function::Substring => substring(text(0), count(1), arguments.get(2), count(2)),
        Function::SubstringIndex => substring_index(text(0), text(1), count(2)),
        Function::Instr => locate(text(0), text(1), 1),
        Function::Locate => {
            let from = if arguments.len() > 2 {
                count(2)
            } else {
                Some(1)
            };
            from.and_then(|from| locate(text(1), text(0), from))
        }
        Function::Like => return like(arguments, Some(ESCAPE)),
        _ => return None,
    };
    Some(value.unwrap_or(Value::Null))
}

/// `text LIKE pattern`, with the character that makes the next one of the pattern plain.
pub(super) fn like(arguments: &[Value], escape: Option<char>) -> Option<Value> {
    let text = arguments.first().and_then(text_of);
    let found = text.zip(arguments.get(1).and_then(text_of));
    Some(found.map_or(Value::Null, |(text, pattern)| {
        Value::Int(like_escaped(&pattern, &text, escape).into())
    }))
}

/// Whether an expression is found in a text.
pub(super) fn found(regex: &Regex, arguments: &[Value]) -> Option<Value> {
    let text = text_of(arguments.first()?)?;
    Some(Value::Int(regex.is_match(&text).into()))
}

/// A value as a text; `None` for NULL. Bytes that are no UTF-8 are replaced.
pub(super) fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::Null => return None,
        Value::Str(text) => Cow::Borrowed(text),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes),
        other => Cow::Owned(other.to_string()),
    })
}

/// Two arguments, of which none is NULL.
fn two(
    text: Option<Cow<'_, str>>,
    count: Option<i64>,
    compute: impl FnOnce(Cow<'_, str>, i64) -> String,
) -> Option<Value> {
    Some(Value::Str(compute(text?, count?)))
}

fn concat(parts: &[Value], separator: &str) -> Option<Value> {
    let mut joined = String::new();
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&text_of(part)?);
        if joined.len() > COMPUTED_TEXT_BYTES_MAX {
            return None;
        }
    }
    Some(Value::Str(joined))
}

/// As CONCAT, with the first argument between the others; NULLs among these are left out.
fn concat_with(arguments: &[Value]) -> Option<Value> {
    let (separator, parts) = arguments.split_first()?;
    let parts: Vec<Value> = parts
        .iter()
        .filter(|part| **part != Value::Null)
        .cloned()
        .collect();
    concat(&parts, &text_of(separator)?)
}

/// Bytes of a text, numbers of a set, items or members of a document.
fn length(value: &Value) -> Option<Value> {
    let length = match value {
        Value::Set(numbers) => numbers.len(),
        Value::Json(document) => match document.items() {
            Some(items) => items,
            None => document.members(),
        },
        other => text_of(other)?.len(),
    };
    Some(Value::Int(length as i128))
}

/// The digits of a number in base 16, or two for each byte of a text.
fn hex(value: &Value) -> Option<Value> {
    let digits = match value {
        Value::Int(number) => format!("{:X}", *number as u64),
        other => {
            let text = text_of(other)?;
            let bytes = other.text_bytes().unwrap_or(text.as_bytes());
            bytes.iter().map(|byte| format!("{byte:02X}")).collect()
        }
    };
    Some(Value::Str(digits))
}

/// Empty above the limit too: [`super::strict`] cannot see what was not built.
fn repeated(text: &str, count: i64) -> String {
    let count = usize::try_from(count).unwrap_or(0);
    match text.len().checked_mul(count) {
        Some(bytes) if bytes <= COMPUTED_TEXT_BYTES_MAX => text.repeat(count),
        _ => String::new(),
    }
}

fn pad(
    function: Function,
    text: Option<Cow<'_, str>>,
    count: Option<i64>,
    with: Option<Cow<'_, str>>,
) -> Option<Value> {
    let (text, with) = (text?, with?);
    let count = usize::try_from(count?)
        .ok()
        .filter(|count| *count <= COMPUTED_TEXT_BYTES_MAX / 4)?;
    let chars = text.chars().count();
    if chars >= count {
        return Some(Value::Str(text.chars().take(count).collect()));
    }
    if with.is_empty() {
        return Some(Value::Str(String::new()));
    }
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
) -> Option<Value> {
    let (text, from, to) = (text?, from?, to?);
    if from.is_empty() {
        return Some(Value::Str(text.into_owned()));
    }
    let places = text.matches(&*from).count();
    let bytes = text.len() + places.saturating_mul(to.len());
    (bytes <= COMPUTED_TEXT_BYTES_MAX).then(|| Value::Str(text.replace(&*from, &to)))
}

/// From a place that counts from 1, or from the end if negative; 0 is no place, so the result is empty.
fn substring(
    text: Option<Cow<'_, str>>,
    from: Option<i64>,
    third: Option<&Value>,
    count: Option<i64>,
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
    let rest = text.chars().skip(skipped.max(0) as usize);
    Some(Value::Str(rest.take(count.max(0) as usize).collect()))
}

/// What stands before the `count`-th delimiter, or, if negative, behind the one that is so far from the end.
fn substring_index(
    text: Option<Cow<'_, str>>,
    delimiter: Option<Cow<'_, str>>,
    count: Option<i64>,
) -> Option<Value> {
    let (text, delimiter, count) = (text?, delimiter?, count?);
    if delimiter.is_empty() || count == 0 {
        return Some(Value::Str(String::new()));
    }
    let nth = (count.unsigned_abs() - 1) as usize;
    let part = match count > 0 {
        true => text
            .match_indices(&*delimiter)
            .nth(nth)
            .map_or(&*text, |(at, _)| text.get(..at).unwrap_or_default()),
        false => text
            .rmatch_indices(&*delimiter)
            .nth(nth)
            .map_or(&*text, |(at, found)| {
                text.get(at + found.len()..).unwrap_or_default()
            }),
    };
    Some(Value::Str(part.to_owned()))
}

/// The place of a text in another, from 1, at or behind `from`; 0: it is not there. ASCII letters have no case.
fn locate(text: Option<Cow<'_, str>>, wanted: Option<Cow<'_, str>>, from: i64) -> Option<Value> {
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
    Some(Value::Int(match rest.find(&wanted) {
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
) -> Option<Value> {
    let chars =
        |at: usize| -> Option<Vec<char>> { Some(text_of(arguments.get(at)?)?.chars().collect()) };
    let (a, b) = (chars(0)?, chars(1)?);
    let longest = a.len().max(b.len());
    if longest > LEVENSHTEIN_CHARS_MAX {
        return None;
    }
    let distance = match delta {
        Some(delta) if a.len().abs_diff(b.len()) as u64 > delta => longest,
        _ => edits(&a, &b),
    };
    Some(match normalizes {
        false => Value::Int(distance as i128),
        true if longest == 0 => Value::Float(0.0),
        true => Value::Float(distance as f64 / longest as f64),
    })
}

fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, left) in a.iter().enumerate() {
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
    row.last().copied().unwrap_or(0)
}

/// CRC-32 as in MySQL and zlib (polynomial 0xEDB88320, reflected).
fn crc32(bytes: &[u8]) -> u32 {
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
    !bytes.iter().fold(!0, step)
}
