//! Options of CREATE TABLE that only queues have.

use engine::{QueueOptions, WhenFull};

use crate::errors::{self, Failure};
use crate::units::{duration, size};

/// Names of the options.
pub(super) const NAMES: [&str; 11] = [
    "visible_again",
    "max_deliveries",
    "dead",
    "groups",
    "rows_max",
    "bytes_max",
    "when_full",
    "order_by",
    "unique_by",
    "unique_for",
    "deliver_at",
];

/// Sets one option; false if [`NAMES`] lacks it. Errors: `INVALID`, a bad value.
pub(super) fn set(options: &mut QueueOptions, name: &str, value: &str) -> Result<bool, Failure> {
    if !NAMES.contains(&name) {
        return Ok(false);
    }
    let lower = value.trim().to_lowercase();
    let done = match name {
        "visible_again" => time_us(value).map(|us| options.visible_again_us = Some(us)),
        "max_deliveries" => number(&lower).and_then(|count| {
            let count = u32::try_from(count).map_err(|_| "at most 4294967295".to_owned())?;
            options.max_deliveries = Some(count);
            Ok(())
        }),
        "dead" => {
            options.dead = Some(lower);
            Ok(())
        }
        "groups" => {
            options.groups = names(&lower);
            Ok(())
        }
        "rows_max" => number(&lower).map(|rows| options.rows_max = Some(rows)),
        "bytes_max" => size(&lower).map(|bytes| options.bytes_max = Some(bytes)),
        "when_full" => when_full(&lower).map(|when| options.when_full = when),
        "order_by" => {
            options.order_by = Some(lower);
            Ok(())
        }
        "deliver_at" => {
            options.deliver_at = Some(lower);
            Ok(())
        }
        "unique_by" => {
            options.unique_by = Some(lower);
            Ok(())
        }
        _ => time_us(value).map(|us| options.unique_for_us = us),
    };
    done.map_err(|why| Failure::new(errors::INVALID, format!("{name}: {why}")))?;
    Ok(true)
}

/// Names from a list with commas; blanks around them and empty names are dropped.
fn names(list: &str) -> Vec<String> {
    let names = list.split(',').map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

fn number(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{text:?} is not a whole number above 0"))
}

/// A time in microseconds.
fn time_us(text: &str) -> Result<u64, String> {
    let time = duration(text.trim())?;
    Ok(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

fn when_full(text: &str) -> Result<WhenFull, String> {
    match text {
        "refuse" => Ok(WhenFull::Refuse),
        "drop_oldest" => Ok(WhenFull::DropOldest),
        _ => Err(format!("{text:?} is neither 'refuse' nor 'drop_oldest'")),
    }
}
