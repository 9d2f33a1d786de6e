//! Times of headers: `Oct 11 22:14:15`, which names neither year nor zone, and `2003-10-11T22:14:15.003+02:00`.

/// The moment at which a message came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Seconds since 1970-01-01 UTC.
    pub unix_s: i64,
    /// Local time minus UTC at that moment. Seconds.
    pub utc_offset_s: i32,
}

const DAY_S: i64 = 86_400;

const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// Days from 1970-01-01 to a day of the Gregorian calendar. `month` is 1 to 12.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // The year begins in March, so that the leap day is its last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn is_day(year: i64, month: i64, day: i64) -> bool {
    let next = match month {
        12 => days(year + 1, 1, 1),
        _ => days(year, month + 1, 1),
    };
    day >= 1 && day <= next - days(year, month, 1)
}

/// The year in which a moment lies: [`days`] backwards.
fn year_of(unix_s: i64) -> i64 {
    let day = unix_s.div_euclid(DAY_S) + 719_468;
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // January begins 306 days after March.
    era * 400 + year_of_era + i64::from(day_of_year >= 306)
}

/// Two digits, at most `most`.
fn two(bytes: &[u8], most: i64) -> Option<i64> {
    match bytes {
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => {
            let value = i64::from(a - b'0') * 10 + i64::from(b - b'0');
            (value <= most).then_some(value)
        }
        _ => None,
    }
}

/// Seconds of `22:14:15`. A leap second is the 60th.
fn seconds_of_day(text: &[u8]) -> Option<i64> {
    let [a, b, b':', c, d, b':', e, f] = text else {
        return None;
    };
    let (hour, minute) = (two(&[*a, *b], 23)?, two(&[*c, *d], 59)?);
    Some(hour * 3_600 + minute * 60 + two(&[*e, *f], 60)?)
}

/// Reads `Oct 11 22:14:15` or `Oct  1 22:14:15` at the begin of `text`, in local time of the arrival. The year is the last one
/// that puts it at most a day after the arrival. Gives the time and the bytes behind it, which begin with a blank or are none.
pub(super) fn read_short(text: &[u8], arrival: Arrival) -> Option<(i64, &[u8])> {
    let (head, rest) = text.split_at_checked(15)?;
    let [m, o, n, b' ', tens, ones, b' ', clock @ ..] = head else {
        return None;
    };
    let month = MONTHS.iter().position(|name| **name == [*m, *o, *n])? as i64 + 1;
    let tens = if *tens == b' ' { b'0' } else { *tens };
    let day = two(&[tens, *ones], 31)?;
    let second = seconds_of_day(clock)?;
    let rest = ends(rest)?;
    let offset = i64::from(arrival.utc_offset_s);
    let latest = arrival.unix_s.saturating_add(DAY_S);
    let year = year_of(arrival.unix_s.saturating_add(offset)) + 1;
    // A leap day is at most eight years back.
    let mut years = (year - 9..=year)
        .rev()
        .filter(|year| is_day(*year, month, day));
    years.find_map(|year| {
        let day_s = days(year, month, day).saturating_mul(DAY_S);
        let unix_s = day_s.saturating_add(second - offset);
        (unix_s <= latest).then_some((unix_s, rest))
    })
}

/// Reads `2003-10-11T22:14:15.003Z` at the begin of `text`; without a zone it is no such time. Gives whole seconds and the bytes
/// behind it, which begin with a blank or are none.
pub(super) fn read_long(text: &[u8]) -> Option<(i64, &[u8])> {
    let (head, rest) = text.split_at_checked(19)?;
    let [c, e, y, r, b'-', m, o, b'-', d, a, b'T' | b't', clock @ ..] = head else {
        return None;
    };
    let year = two(&[*c, *e], 99)? * 100 + two(&[*y, *r], 99)?;
    let (month, day) = (two(&[*m, *o], 12)?, two(&[*d, *a], 31)?);
    if month == 0 || !is_day(year, month, day) {
        return None;
    }
    let second = seconds_of_day(clock)?;
    let rest = match rest.strip_prefix(b".") {
        None => rest,
        Some(rest) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest.get(digits..).filter(|_| digits > 0)?
        }
    };
    let (offset, rest) = match rest {
        [b'Z' | b'z', rest @ ..] => (0, rest),
        [sign @ (b'+' | b'-'), a, b, b':', c, d, rest @ ..] => {
            let seconds = two(&[*a, *b], 23)? * 3_600 + two(&[*c, *d], 59)? * 60;
            (if *sign == b'+' { seconds } else { -seconds }, rest)
        }
        _ => return None,
    };
    Some((
        days(year, month, day) * DAY_S + second - offset,
        ends(rest)?,
    ))
}

/// The rest of a line behind a time.
fn ends(rest: &[u8]) -> Option<&[u8]> {
    matches!(rest.first(), None | Some(b' ')).then_some(rest)
}
