//! Touches and orders, as CSV or as JSON, an object a line:
//!
//! ```text
//! visitor,time,source,medium,value,order
//! v1,2024-06-29T09:00:00Z,google,cpc,,
//! v1,2024-06-29T09:31:18Z,,,129.90,1042
//! ```
//!
//! A line with money is an order; any other is a touch. An order is told by a page, or `confirmed` by a back end. The channel of a touch is `channel`, or made of `source`, `medium`, `subcat`.
//! A time is one of RFC 3339, without a zone one of UTC, or seconds since 1970. A refund is an order with negative money.

use std::io::Read;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lines::{Line, LineReader};
use super::rows::{Row, Rows, field, text_of};
use super::{Lines, Places, Refused, Source};
use crate::attribution::amount::Amount;
use crate::attribution::channels::Origin;
use crate::attribution::events::{Events, OrderKind};
use crate::attribution::limits::AHEAD_MS_MAX;
use crate::decode::decoded;
use crate::log::LogTime;

/// Lines between two reports of progress.
const PROGRESS_EVERY: u64 = 16_384;

/// What of a file counts.
#[derive(Clone, Debug)]
pub struct TouchOptions {
    /// The currency of orders; `None`: all have the same one.
    pub currency: Option<String>,
    /// Now. Later times do not count.
    pub now_ms: i64,
}

/// The columns of CSV and of a table, and the keys of JSON: the names of each.
pub(super) const COLUMNS: [&[&str]; 10] = [
    &["visitor"],
    &["time"],
    &["channel"],
    &["source"],
    &["medium"],
    &["subcat"],
    &["value"],
    &["order", "order_id"],
    &["currency"],
    &["confirmed"],
];

/// The fields of a line, in the order of [`COLUMNS`]; empty: missing.
type Fields<'a> = [&'a [u8]; COLUMNS.len()];

/// The fields of a line by their places among [`COLUMNS`].
pub(super) fn fields_of<'a>(of: impl Fn(usize) -> &'a [u8]) -> Fields<'a> {
    std::array::from_fn(of)
}

/// An object of JSON. Other keys are passed over, as other columns are.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    visitor: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    channel: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    medium: Option<&'a RawValue>,
    #[serde(borrow)]
    subcat: Option<&'a RawValue>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow, alias = "order_id")]
    order: Option<&'a RawValue>,
    #[serde(borrow)]
    currency: Option<&'a RawValue>,
    #[serde(borrow)]
    confirmed: Option<&'a RawValue>,
}

/// What is read, and what was seen.
pub(super) struct Touches<'a> {
    options: &'a TouchOptions,
    events: &'a mut Events,
    places: &'a mut Places,
    /// The currency of the orders so far.
    currency: Option<Vec<u8>>,
    /// Orders in another currency than the one asked for.
    pub(super) other_currencies: u64,
    scratch: Vec<u8>,
}

/// Reads files into `events`. Returns how each was read, and the number of orders in other currencies.
///
/// # Errors
/// A message: a file without a needed column, orders in two currencies of which none was asked for, too many channels or touches.
pub fn read_touches(
    sources: Vec<Source>,
    events: &mut Events,
    places: &mut Places,
    options: &TouchOptions,
    on_progress: &mut dyn FnMut(u64),
) -> Result<(Vec<Lines>, u64), String> {
    let mut touches = Touches::new(events, places, options);
    let mut all = Vec::new();
    for source in sources {
        let mut lines = Lines::new(&source.name);
        let mut read = decoded(source.read).map_err(|error| format!("{}: {error}", lines.name))?;
        let mut first = [0];
        let count = read
            .read(&mut first)
            .map_err(|error| format!("{}: {error}", lines.name))?;
        let whole = std::io::Cursor::new(first[..count].to_vec()).chain(read);
        if first[0] == b'{' {
            touches.read_json(LineReader::new(Box::new(whole)), &mut lines, on_progress)?;
        } else {
            let rows = Rows::open(Source {
                name: source.name,
                read: Box::new(whole),
            })?;
            touches.read_csv(rows, &mut lines, on_progress)?;
        }
        all.push(lines);
    }
    Ok((all, touches.other_currencies))
}

impl<'a> Touches<'a> {
    pub(super) fn new(
        events: &'a mut Events,
        places: &'a mut Places,
        options: &'a TouchOptions,
    ) -> Touches<'a> {
        Touches {
            options,
            events,
            places,
            currency: None,
            other_currencies: 0,
            scratch: Vec::new(),
        }
    }

    /// [`Events::bytes`] of those that were read.
    pub(super) fn event_bytes(&self, more: usize, text_bytes: usize) -> usize {
        self.events.bytes(more, text_bytes)
    }

    fn read_csv(
        &mut self,
        mut rows: Rows,
        lines: &mut Lines,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(), String> {
        let columns = COLUMNS.map(|names| rows.column(names));
        let [visitor, time, channel, source, ..] = columns;
        if visitor.is_none() || time.is_none() || (channel.is_none() && source.is_none()) {
            return Err(format!(
                "{}: the first line names the columns visitor, time, channel or source, and perhaps medium, subcat, value, order, \
                 currency, confirmed; it has {}",
                lines.name,
                rows.names()
            ));
        }
        let separator = rows.separator();
        loop {
            let (record, line) = match rows.next() {
                Row::Record(record, line) => (record, line),
                Row::Cut(why) => {
                    lines.cut = Some(why);
                    return Ok(());
                }
                Row::End => return Ok(()),
            };
            lines.count += 1;
            if lines.count.is_multiple_of(PROGRESS_EVERY) {
                on_progress(lines.count);
            }
            let fields = fields_of(|at| field(record, columns[at]));
            if let Err(refused) = self.add(&fields) {
                lines.refuse(refused, line, || text_of(record, separator))?;
            }
        }
    }

    fn read_json(
        &mut self,
        mut reader: LineReader,
        lines: &mut Lines,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(), String> {
        loop {
            let (added, text, number) = match reader.next() {
                Line::Text(text, number) => (self.add_json(text), text, number),
                Line::TooLong(number) => {
                    (Err(Refused::Line("a line above 1 MiB")), &b""[..], number)
                }
                Line::Cut(why) => {
                    lines.cut = Some(why);
                    return Ok(());
                }
                Line::End => return Ok(()),
            };
            lines.count += 1;
            if lines.count.is_multiple_of(PROGRESS_EVERY) {
                on_progress(lines.count);
            }
            if let Err(refused) = added {
                lines.refuse(refused, number, || {
                    String::from_utf8_lossy(text).into_owned()
                })?;
            }
        }
    }

    fn add_json(&mut self, text: &[u8]) -> Result<(), Refused> {
        let object: Object<'_> = serde_json::from_slice(text)
            .map_err(|_| Refused::Line("not one JSON object with each key once"))?;
        let values = [
            object.visitor,
            object.time,
            object.channel,
            object.source,
            object.medium,
            object.subcat,
            object.value,
            object.order,
            object.currency,
            object.confirmed,
        ];
        let mut texts: [String; COLUMNS.len()] = Default::default();
        for (text, value) in texts.iter_mut().zip(values) {
            *text = text_of_json(value)?;
        }
        self.add(&fields_of(|at| texts[at].trim().as_bytes()))
    }

    pub(super) fn add(&mut self, fields: &Fields<'_>) -> Result<(), Refused> {
        let [
            visitor,
            time,
            channel,
            source,
            medium,
            subcategory,
            value,
            order,
            currency,
            confirmed,
        ] = *fields;
        if visitor.is_empty() {
            return Err(Refused::Line("no visitor"));
        }
        let at_ms = time_of(time).ok_or(Refused::Line(
            "not a time such as 2024-06-29T09:00:00Z or 1719652678",
        ))?;
        if at_ms > self.options.now_ms.saturating_add(AHEAD_MS_MAX) {
            return Err(Refused::Line("a time in the future"));
        }
        let kind = match confirmed {
            b"" | b"0" => OrderKind::Counts,
            b"1" => OrderKind::Confirmed,
            [..] => return Err(Refused::Line("confirmed is neither 0 nor 1")),
        };
        let is_touch = !channel.is_empty() || !source.is_empty() || !medium.is_empty();
        match (is_touch, value.is_empty()) {
            (true, false) => Err(Refused::Line("a touch and an order in one line")),
            (false, true) => Err(Refused::Line("neither a channel nor money")),
            (true, true) => {
                let channel = if channel.is_empty() {
                    let origin = Origin {
                        source,
                        medium,
                        subcategory,
                    };
                    self.events.channels.of_origin(origin, &mut self.scratch)?
                } else {
                    self.events.channels.of_name(channel)?
                };
                let added = self.events.touch(visitor, channel, at_ms);
                added.map_err(Refused::All)
            }
            (false, false) => {
                let mut places = *self.places;
                let value = places.value(value)?;
                if !self.is_of_currency(currency)? {
                    self.other_currencies += 1;
                    return Ok(());
                }
                *self.places = places;
                let added = self.events.order(visitor, order, value, at_ms, kind);
                added.map_err(Refused::All)
            }
        }
    }

    /// Whether an order counts by its currency.
    fn is_of_currency(&mut self, currency: &[u8]) -> Result<bool, Refused> {
        if let Some(wanted) = &self.options.currency {
            return Ok(wanted.as_bytes() == currency);
        }
        let seen = self.currency.get_or_insert_with(|| currency.to_vec());
        if seen == currency {
            return Ok(true);
        }
        let shown = |name: &[u8]| match name {
            b"" => "(none)".to_owned(),
            name => String::from_utf8_lossy(name).into_owned(),
        };
        Err(Refused::All(format!(
            "orders are in {} and in {}, which do not add up: name one by the option currency",
            shown(seen),
            shown(currency)
        )))
    }
}

/// A text or a number of JSON; empty for null.
fn text_of_json(value: Option<&RawValue>) -> Result<String, Refused> {
    let Some(text) = value.map(RawValue::get) else {
        return Ok(String::new());
    };
    match text.as_bytes().first() {
        Some(b'"') => {
            serde_json::from_str(text).map_err(|_| Refused::Line("a text that is not JSON"))
        }
        Some(b'{' | b'[' | b't' | b'f') => Err(Refused::Line("a key that is no text or number")),
        Some(b'n') => Ok(String::new()),
        Some(_) | None => Ok(text.to_owned()),
    }
}

/// A time in milliseconds since 1970.
fn time_of(text: &[u8]) -> Option<i64> {
    if text
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        let seconds = Amount::parse(text).ok()?.amount;
        return Some(seconds.0.div_euclid(1_000));
    }
    let (time, rest) = LogTime::read_rfc3339(text)?;
    let offset = i64::from(time.offset_minutes.unwrap_or(0));
    rest.is_empty().then_some(time.local_ms - offset * 60_000)
}

#[cfg(test)]
mod tests;
