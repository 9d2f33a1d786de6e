//! Options of CREATE TABLE that only queues have.

use engine::{QueueOptions, QueueSlot as Slot, WhenFull};

use crate::errors::{self, Failure};
use crate::units::{duration, size};

/// Sets one option; false if none has this name. Errors: `INVALID`, a bad value.
pub(super) fn set(options: &mut QueueOptions, name: &str, value: &str) -> Result<bool, Failure> {
    let Some(slot) = options.slot(name) else {
        return Ok(false);
    };
    let lower = value.trim().to_lowercase();
    let done = match slot {
        Slot::Time(us) => time_us(value).map(|time| *us = Some(time)),
        Slot::Count(count) => number(&lower).and_then(|number| {
            *count = Some(u32::try_from(number).map_err(|_| "at most 4294967295".to_owned())?);
            Ok(())
        }),
        Slot::Number(own) => number(&lower).map(|number| *own = Some(number)),
        Slot::Size(bytes) => size(&lower).map(|size| *bytes = Some(size)),
        Slot::Column(name) | Slot::Queue(name) => {
            *name = Some(lower);
            Ok(())
        }
        Slot::Names(own) => {
            *own = names(&lower);
            Ok(())
        }
        Slot::WhenFull(when) => when_full(&lower).map(|own| *when = own),
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
    let named = WhenFull::NAMES.iter().find(|(_, name)| *name == text);
    named
        .map(|(when, _)| *when)
        .ok_or_else(|| format!("{text:?} is neither 'refuse' nor 'drop_oldest'"))
}
