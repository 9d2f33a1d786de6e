//! Times on a command line and in options.

use crate::log::LogTime;

/// Milliseconds of a date, with or without a time of day, by the clock of the lines.
///
/// # Errors
/// The text has another form, or names a zone.
pub fn parse_time(text: &str) -> Result<i64, String> {
    let whole = |text: &str| {
        let (time, rest) = LogTime::read_rfc3339(text.as_bytes())?;
        rest.is_empty().then_some(time)
    };
    // People leave the seconds out, which no log does.
    let time = whole(text).or_else(|| whole(&format!("{text}:00")));
    match time {
        Some(time) if time.offset_minutes.is_none() => Ok(time.local_ms),
        Some(_) => Err("leave the zone out: times are by the clock of the lines".to_owned()),
        None => Err("a time is 2007-06-29, 2007-06-29T21:17 or 2007-06-29T21:17:58".to_owned()),
    }
}

#[cfg(test)]
mod tests;
