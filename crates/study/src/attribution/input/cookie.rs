//! Cookies of MultiTouch Analytics, as its events were exported: one a line, the cookie of one order.
//!
//! ```text
//! __ORD!1042!129.90!1719652678*google!cpc!!1719652001*__ORD!987!20.00!1718000000*newsletter!email!june!1717990000
//! order: id, revenue, time     touch: source, medium, subcategory, time       an older order         an older touch
//! ```
//!
//! Records are joined by `*`, fields by `!`: the order first, then touches from the youngest to the oldest, with older orders among
//! them. Times are seconds since 1970, of the browser. Nothing escapes `!` and `*`: a name with one of them makes a record with other
//! fields, and the line does not count. Exports cut long labels: if the last record is cut, the records before it count.

use super::lines::{Line, LineReader};
use super::{Lines, Places, Refused, Source};
use crate::attribution::amount::Amount;
use crate::attribution::channels::{ChannelId, Origin};
use crate::attribution::events::{Events, OrderKind};
use crate::attribution::limits::{AHEAD_MS_MAX, COOKIE_BYTES_MAX};
use crate::decode::decoded;

/// The first field of an order.
const ORDER: &[u8] = b"__ORD";

/// Lines between two reports of progress.
const PROGRESS_EVERY: u64 = 16_384;

/// A record of a cookie.
enum Record {
    Order(Vec<u8>, Amount, i64),
    Touch(ChannelId, i64),
}

/// Reads files of cookies into `events`. Returns how each file was read, and the number of cookies whose last record was cut.
///
/// # Errors
/// A message: too many channels, orders or touches.
pub fn read_cookies(
    sources: Vec<Source>,
    events: &mut Events,
    places: &mut Places,
    now_ms: i64,
    on_progress: &mut dyn FnMut(u64),
) -> Result<(Vec<Lines>, u64), String> {
    let mut all = Vec::new();
    let mut cut = 0;
    for source in sources {
        let mut lines = Lines::new(&source.name);
        let read = decoded(source.read).map_err(|error| format!("{}: {error}", lines.name))?;
        let mut reader = LineReader::new(read);
        loop {
            let (text, number) = match reader.next() {
                Line::Text(text, number) => (text, number),
                Line::TooLong(number) => {
                    lines.count += 1;
                    lines.refuse(Refused::Line("a line above 1 MiB"), number, String::new)?;
                    continue;
                }
                Line::Cut(why) => {
                    lines.cut = Some(why);
                    break;
                }
                Line::End => break,
            };
            // Comments and the header of an export.
            if text.starts_with(b"#") || text.to_ascii_lowercase().starts_with(b"event label") {
                continue;
            }
            lines.count += 1;
            if lines.count.is_multiple_of(PROGRESS_EVERY) {
                on_progress(lines.count);
            }
            let label = label(text);
            match read_cookie(&label, events, places, now_ms) {
                Ok(is_cut) => cut += u64::from(is_cut),
                Err(refused) => lines.refuse(refused, number, || {
                    String::from_utf8_lossy(text).into_owned()
                })?,
            }
        }
        all.push(lines);
    }
    Ok((all, cut))
}

/// The first field of a line: quoted as in CSV, or up to a tab, or without the numbers behind it.
fn label(text: &[u8]) -> Vec<u8> {
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let mut out = Vec::new();
        let mut rest = quoted.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            if byte == b'"' && rest.next_if_eq(&b'"').is_none() {
                break;
            }
            out.push(byte);
        }
        return out;
    }
    let mut label = text.split(|byte| *byte == b'\t').next().unwrap_or_default();
    while let Some(comma) = label.iter().rposition(|byte| *byte == b',') {
        let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        if !label[comma + 1..].iter().all(is_number) {
            break;
        }
        label = &label[..comma];
    }
    label.to_vec()
}

/// Reads a cookie and adds its order. Returns whether its last record was cut.
fn read_cookie(
    label: &[u8],
    events: &mut Events,
    places: &mut Places,
    now_ms: i64,
) -> Result<bool, Refused> {
    if label.len() > COOKIE_BYTES_MAX {
        return Err(Refused::Line("a cookie above 4,096 bytes"));
    }
    if !label.starts_with(b"__ORD!") {
        return Err(Refused::Line("a cookie that does not begin with __ORD!"));
    }
    let count = label.split(|byte| *byte == b'*').count();
    let mut records = Vec::with_capacity(count);
    let mut read_places = *places;
    let mut is_cut = false;
    let mut before_ms = now_ms.saturating_add(AHEAD_MS_MAX);
    for (at, text) in label.split(|byte| *byte == b'*').enumerate() {
        let Some(fields) = fields_of(text) else {
            let is_last = at + 1 == count;
            if at > 0 && is_last && text.iter().filter(|byte| **byte == b'!').count() <= 3 {
                is_cut = true;
                break;
            }
            return Err(Refused::Line("a record without four fields and a time"));
        };
        let (names, at_ms) = fields;
        if at_ms > before_ms {
            return Err(Refused::Line(match at {
                0 => "an order from the future",
                _ => "records that are not from the youngest to the oldest",
            }));
        }
        before_ms = at_ms;
        records.push(record_of(names, at_ms, events, &mut read_places)?);
    }
    *places = read_places;
    for (at, record) in records.iter().enumerate() {
        let added = match record {
            Record::Order(id, value, at_ms) => {
                let kind = match at {
                    0 => OrderKind::Counts,
                    _ => OrderKind::Before,
                };
                events.order(label, id, *value, *at_ms, kind)
            }
            Record::Touch(channel, at_ms) => events.touch(label, *channel, *at_ms),
        };
        added.map_err(Refused::All)?;
    }
    Ok(is_cut)
}

/// The three texts of a record and its time in milliseconds.
fn fields_of(text: &[u8]) -> Option<([&[u8]; 3], i64)> {
    let mut fields = text.split(|byte| *byte == b'!');
    let names = [fields.next()?, fields.next()?, fields.next()?];
    let time = fields.next()?;
    let is_time = (1..=10).contains(&time.len()) && time.iter().all(u8::is_ascii_digit);
    if !is_time || fields.next().is_some() {
        return None;
    }
    let seconds: i64 = std::str::from_utf8(time).ok()?.parse().ok()?;
    Some((names, seconds * 1_000))
}

fn record_of(
    names: [&[u8]; 3],
    at_ms: i64,
    events: &mut Events,
    places: &mut Places,
) -> Result<Record, Refused> {
    let [source, medium, subcategory] = names;
    if source == ORDER {
        let value = places.value(subcategory)?;
        return Ok(Record::Order(medium.to_vec(), value, at_ms));
    }
    let origin = Origin {
        source,
        medium,
        subcategory,
    };
    let channel = events.channels.of_origin(origin, &mut Vec::new())?;
    Ok(Record::Touch(channel, at_ms))
}
