//! Time zones by name.

use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

/// Whether functions of dates know a time zone of that name.
#[must_use]
pub fn is_time_zone(name: &str) -> bool {
    named_zone(name).is_ok()
}

/// `Europe/Berlin`, `UTC` or `+02:00`. Zones come from the copy of the IANA data in this program, not from the machine.
pub(in super::super) fn named_zone(name: &str) -> Result<TimeZone, String> {
    if let Some(offset) = fixed_offset(name) {
        return Ok(offset);
    }
    TimeZoneDatabase::bundled()
        .get(name)
        .map_err(|_| format!("no time zone '{name}'"))
}

/// `+02:00`, `-0330`, `+2`
fn fixed_offset(name: &str) -> Option<TimeZone> {
    let sign = match name.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = name.chars().skip(1).filter(|sign| *sign != ':').collect();
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        length => digits.split_at(length - 2),
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_offset = hours <= 14 && minutes < 60;
    let seconds = sign * (hours * 3_600 + minutes * 60);
    let offset = Offset::from_seconds(seconds).ok()?;
    is_offset.then(|| TimeZone::fixed(offset))
}
