//! Touches and orders as pages and back ends send them: one JSON object each, checked as a whole.
//!
//! ```text
//! a page      {"id":"3f0c…16 hexadecimal digits","time":1719652001,"source":"google","medium":"cpc","subcat":""}
//! a page      {"id":"51a7…","time":1719652678,"order":"1042","value":"129.90","currency":"EUR"}
//! a back end  {"order":"1042","value":"129.90","currency":"EUR","visitor":"5b1e…"}
//! a back end  {"order":"1042-r1","of":"1042","value":"-20.00","currency":"EUR"}       a refund
//! ```
//!
//! Money is a text or a number of JSON, and is kept digit by digit. A key that is unknown, there twice or of another kind refuses the
//! object.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::amount::Amount;
use super::limits::{AHEAD_MS_MAX, CHANNEL_BYTES_MAX, RECORDED_AGE_S_MAX, RECORDED_ID_BYTES_MAX};

/// Digits of the id that a page makes.
const ID_DIGITS: usize = 16;

/// Bytes of the name of a currency. `EUR`, `USD`.
const CURRENCY_BYTES_MAX: usize = 16;

/// What a page told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// 63 random bits, above 0.
    pub id: u64,
    /// Seconds since 1970, by the visitor's clock.
    pub time_s: i64,
    /// A touch or an order.
    pub told: Told,
}

/// A touch or an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A visitor came.
    Touch(Touch),
    /// A visitor ordered.
    Order(Order),
}

/// Where a visitor came from. The three texts make the name of a channel, of at most [`CHANNEL_BYTES_MAX`] bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    /// As `google`; not empty.
    pub source: String,
    /// As `cpc`; may be empty.
    pub medium: String,
    /// As the page named it; may be empty.
    pub subcat: String,
}

/// Money for an order, or back for a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its id, of 1 to [`RECORDED_ID_BYTES_MAX`] bytes.
    pub id: String,
    /// Its money; negative for a refund.
    pub value: Amount,
    /// The name of the currency; may be empty.
    pub currency: String,
}

/// What a back end told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackEndOrder {
    /// What was ordered, with the money as the back end knows it.
    pub order: Order,
    /// The visitor's id; `None`: that of an order that is recorded.
    pub visitor: Option<String>,
    /// The id of that order: its own, unless the back end names another.
    pub of: String,
    /// Seconds since 1970; `None`: now.
    pub time_s: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeaconObject<'a> {
    id: String,
    time: i64,
    source: Option<String>,
    medium: Option<String>,
    subcat: Option<String>,
    order: Option<String>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    currency: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderObject<'a> {
    order: String,
    #[serde(borrow)]
    value: &'a RawValue,
    currency: Option<String>,
    visitor: Option<String>,
    of: Option<String>,
    time: Option<i64>,
}

/// Reads what a page sent.
///
/// # Errors
/// What is wrong with it, and where.
pub fn beacon(body: &[u8], now_ms: i64) -> Result<Beacon, String> {
    let object: BeaconObject<'_> =
        serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let id = id_of(&object.id)?;
    let time_s = checked_time(object.time, now_ms)?;
    let told = match (object.source, object.order, object.value) {
        (Some(source), None, None) if object.currency.is_none() => {
            let touch = Touch {
                source,
                medium: object.medium.unwrap_or_default(),
                subcat: object.subcat.unwrap_or_default(),
            };
            Told::Touch(checked_touch(touch)?)
        }
        (None, Some(id), Some(value)) if object.medium.is_none() && object.subcat.is_none() => {
            let currency = object.currency.unwrap_or_default();
            Told::Order(checked_order(id, value, currency)?)
        }
        _ => {
            return Err(
                "neither a touch (source, medium, subcat) nor an order (order, value, currency)"
                    .to_owned(),
            );
        }
    };
    Ok(Beacon { id, time_s, told })
}

/// Reads what a back end sent.
///
/// # Errors
/// What is wrong with it, and where.
pub fn back_end_order(body: &[u8], now_ms: i64) -> Result<BackEndOrder, String> {
    let object: OrderObject<'_> =
        serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let order = checked_order(
        object.order,
        object.value,
        object.currency.unwrap_or_default(),
    )?;
    if object.visitor.is_some() && object.of.is_some() {
        return Err("visitor and of: one of them names the visitor".to_owned());
    }
    let visitor = object
        .visitor
        .map(|id| checked_id("visitor", id))
        .transpose()?;
    let of = match object.of {
        Some(id) => checked_id("of", id)?,
        None => order.id.clone(),
    };
    let time = object.time.map(|time_s| checked_time(time_s, now_ms));
    Ok(BackEndOrder {
        order,
        visitor,
        of,
        time_s: time.transpose()?,
    })
}

fn id_of(text: &str) -> Result<u64, String> {
    let is_hex = text.len() == ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u64::from_str_radix(text, 16).ok().filter(|_| is_hex);
    id.filter(|id| (1..=i64::MAX as u64).contains(id))
        .ok_or_else(|| {
            "id: expected 16 hexadecimal digits of a number of 63 bits, not 0".to_owned()
        })
}

fn checked_time(time_s: i64, now_ms: i64) -> Result<i64, String> {
    let now_s = now_ms.div_euclid(1_000);
    let from = now_s - RECORDED_AGE_S_MAX;
    let to = now_s + AHEAD_MS_MAX / 1_000;
    match (from..=to).contains(&time_s) {
        true => Ok(time_s),
        false => Err(format!(
            "time: {time_s} is not in seconds since 1970, within 180 days before and one day after {now_s}"
        )),
    }
}

fn checked_touch(touch: Touch) -> Result<Touch, String> {
    let names = [
        ("source", &touch.source),
        ("medium", &touch.medium),
        ("subcat", &touch.subcat),
    ];
    for (key, text) in names {
        if text.chars().any(is_forbidden) {
            return Err(format!("{key}: a control character, ! or *"));
        }
    }
    if touch.source.is_empty() {
        return Err("source: is empty".to_owned());
    }
    // The name of the channel has a character between two parts.
    let bytes: usize = names.iter().map(|(_, text)| text.len() + 1).sum();
    if bytes > CHANNEL_BYTES_MAX + 1 {
        return Err(format!(
            "source, medium and subcat together are longer than {} bytes",
            CHANNEL_BYTES_MAX - 2
        ));
    }
    Ok(touch)
}

fn checked_order(id: String, value: &RawValue, currency: String) -> Result<Order, String> {
    let id = checked_id("order", id)?;
    let text = value.get();
    let digits = match text.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').unwrap_or(rest),
        None => text,
    };
    let written =
        Amount::parse(digits.as_bytes()).map_err(|why| format!("value: {}", why.reason()))?;
    if written.is_rounded {
        return Err("value: more than six digits behind the point".to_owned());
    }
    if currency.len() > CURRENCY_BYTES_MAX
        || !currency.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return Err(format!(
            "currency: expected at most {CURRENCY_BYTES_MAX} letters and digits, such as EUR"
        ));
    }
    Ok(Order {
        id,
        value: written.amount,
        currency,
    })
}

fn checked_id(key: &str, id: String) -> Result<String, String> {
    match id.len() {
        1..=RECORDED_ID_BYTES_MAX if !id.chars().any(is_forbidden) => Ok(id),
        _ => Err(format!(
            "{key}: expected 1 to {RECORDED_ID_BYTES_MAX} bytes without control characters, ! and *"
        )),
    }
}

/// The old library's cookie has no way to write `!` and `*`.
fn is_forbidden(letter: char) -> bool {
    letter.is_control() || matches!(letter, '!' | '*')
}

#[cfg(test)]
mod tests;
