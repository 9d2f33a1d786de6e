//! Times of log lines: the two written forms, and the calendar behind them.

use super::digits::padded;

/// When a line was written, by the clock of its server.
///
/// Sphinx and Manticore write local time without its zone, so the study reckons in local times: a line of 21:17 counts in the
/// hour 21, whatever the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LogTime {
    /// Milliseconds from 1970-01-01 00:00:00 to the written date and time, both in the zone of the line.
    pub local_ms: i64,
    /// Minutes by which the line's zone is ahead of UTC, -1439 to 1439; `None` where the line names no zone.
    pub offset_minutes: Option<i16>,
}

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// English names, as C's `ctime` writes them whatever the locale. Other names are of no known form.
const WEEKDAYS: [&[u8; 3]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// A date and a time of day, as people write them.
#[derive(Clone, Copy)]
struct Civil {
    year: i64,
    /// 1 to 12.
    month: i64,
    /// 1 to 31.
    day: i64,
    /// Milliseconds since midnight.
    day_ms: i64,
}

impl LogTime {
    /// Minutes from 1970-01-01 00:00 to the line's local minute.
    pub fn minute(self) -> i64 {
        self.local_ms.div_euclid(MINUTE_MS)
    }

    /// Reads `Fri Jun 29 21:17:58.609 2007`, with or without the fraction, from the start of `text`, and returns the rest.
    ///
    /// The name of the weekday must be one of the seven; that it fits the date is not asked.
    pub(crate) fn read_ctime(text: &[u8]) -> Option<(LogTime, &[u8])> {
        let (date, rest) = text.split_first_chunk::<11>()?;
        let [w0, w1, w2, b' ', m0, m1, m2, b' ', day, unit, b' '] = *date else {
            return Self::read_short_day(text);
        };
        WEEKDAYS.contains(&&[w0, w1, w2]).then_some(())?;
        let month = month_of(&[m0, m1, m2])?;
        let day = two_digits(if day == b' ' { b'0' } else { day }, unit)?;
        Self::read_rest(month, day, rest)
    }

    /// As [`read_ctime`](Self::read_ctime), for a day of one digit without a blank before it.
    #[cold]
    fn read_short_day(text: &[u8]) -> Option<(LogTime, &[u8])> {
        let (date, rest) = text.split_first_chunk::<10>()?;
        let [w0, w1, w2, b' ', m0, m1, m2, b' ', day, b' '] = *date else {
            return None;
        };
        WEEKDAYS.contains(&&[w0, w1, w2]).then_some(())?;
        Self::read_rest(month_of(&[m0, m1, m2])?, two_digits(b'0', day)?, rest)
    }

    /// Reads the time of day and the year.
    #[inline]
    fn read_rest(month: i64, day: i64, rest: &[u8]) -> Option<(LogTime, &[u8])> {
        let (day_ms, rest) = read_time_of_day(rest)?;
        let ([b' ', y0, y1, y2, y3], rest) = rest.split_first_chunk::<5>()? else {
            return None;
        };
        let year = two_digits(*y0, *y1)? * 100 + two_digits(*y2, *y3)?;
        let civil = Civil {
            year,
            month,
            day,
            day_ms,
        };
        Some((civil.local(None)?, rest))
    }

    /// Reads RFC 3339, such as `2024-04-28T12:38:02.808+02:00`, from the start of `text`, and returns the rest. A date alone and
    /// a time without a zone are read too, since people write them for `--from`; a space may stand for the `T`.
    pub fn read_rfc3339(text: &[u8]) -> Option<(LogTime, &[u8])> {
        let (year, rest) = digits(text, 4, 4)?;
        let (month, rest) = digits(rest.strip_prefix(b"-")?, 2, 2)?;
        let (day, rest) = digits(rest.strip_prefix(b"-")?, 2, 2)?;
        let of = |day_ms| Civil {
            year,
            month,
            day,
            day_ms,
        };
        let Some(rest) = rest.strip_prefix(b"T").or_else(|| rest.strip_prefix(b" ")) else {
            return Some((of(0).local(None)?, rest));
        };
        let (day_ms, rest) = read_time_of_day(rest)?;
        let (offset_minutes, rest) = match rest.split_first() {
            Some((b'Z', rest)) => (Some(0), rest),
            Some((sign @ (b'+' | b'-'), rest)) => {
                let (hours, rest) = digits(rest, 2, 2)?;
                let (minutes, rest) = digits(rest.strip_prefix(b":")?, 2, 2)?;
                (hours <= 23 && minutes <= 59).then_some(())?;
                let minutes = hours * 60 + minutes;
                let signed = if *sign == b'-' { -minutes } else { minutes };
                (i16::try_from(signed).ok(), rest)
            }
            Some(_) | None => (None, rest),
        };
        Some((of(day_ms).local(offset_minutes)?, rest))
    }

    /// Appends `Fri Jun 29 21:17:58.609 2007`. The zone is lost.
    pub(crate) fn write_ctime(self, out: &mut Vec<u8>) {
        let civil = Civil::at(self.local_ms);
        let mut text = *b"Fri Jun 29 21:17:58.609 2007";
        text[..3].copy_from_slice(WEEKDAYS[weekday(self.local_ms)]);
        text[4..7].copy_from_slice(MONTHS[(civil.month - 1) as usize]);
        text[8..10].copy_from_slice(&padded::<2>(civil.day as u64));
        if text[8] == b'0' {
            text[8] = b' ';
        }
        text[11..23].copy_from_slice(&civil.time_of_day());
        text[24..].copy_from_slice(&padded::<4>(civil.year as u64));
        out.extend_from_slice(&text);
    }

    /// Appends RFC 3339 with milliseconds; UTC where no zone is known.
    pub(crate) fn write_rfc3339(self, out: &mut Vec<u8>) {
        let civil = Civil::at(self.local_ms);
        let mut text = *b"2024-04-28T12:38:02.808";
        text[..4].copy_from_slice(&padded::<4>(civil.year as u64));
        text[5..7].copy_from_slice(&padded::<2>(civil.month as u64));
        text[8..10].copy_from_slice(&padded::<2>(civil.day as u64));
        text[11..].copy_from_slice(&civil.time_of_day());
        out.extend_from_slice(&text);
        let minutes = i64::from(self.offset_minutes.unwrap_or(0));
        if minutes == 0 {
            out.push(b'Z');
            return;
        }
        out.push(if minutes < 0 { b'-' } else { b'+' });
        out.extend_from_slice(&padded::<2>(minutes.unsigned_abs() / 60));
        out.push(b':');
        out.extend_from_slice(&padded::<2>(minutes.unsigned_abs() % 60));
    }
}

/// Day of the week, 0 for Monday, of a local time in milliseconds.
pub(crate) fn weekday(local_ms: i64) -> usize {
    // 1970-01-01 was a Thursday.
    (local_ms.div_euclid(DAY_MS) + 3).rem_euclid(7) as usize
}

impl Civil {
    fn local(self, offset_minutes: Option<i16>) -> Option<LogTime> {
        let valid = (1..=12).contains(&self.month)
            && (1..=days_of_month(self.year, self.month)).contains(&self.day);
        valid.then(|| LogTime {
            local_ms: days_since_1970(self.year, self.month, self.day) * DAY_MS + self.day_ms,
            offset_minutes,
        })
    }

    fn at(local_ms: i64) -> Civil {
        // The inverse of `days_since_1970`, over eras of 400 years that begin on a first of March.
        let days = local_ms.div_euclid(DAY_MS) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        Civil {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month,
            day: of_year - (153 * shifted + 2) / 5 + 1,
            day_ms: local_ms.rem_euclid(DAY_MS),
        }
    }

    /// `21:17:58.609`.
    fn time_of_day(self) -> [u8; 12] {
        let ms = self.day_ms as u64;
        let seconds = ms / 1_000;
        let mut text = *b"21:17:58.609";
        text[..2].copy_from_slice(&padded::<2>(seconds / 3_600));
        text[3..5].copy_from_slice(&padded::<2>(seconds / 60 % 60));
        text[6..8].copy_from_slice(&padded::<2>(seconds % 60));
        text[9..].copy_from_slice(&padded::<3>(ms));
        text
    }
}

/// Reads `21:17:58` and a fraction of 1 to 9 digits, of which those past the millisecond are dropped. Second 60 is a leap second.
#[inline]
fn read_time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let ([h0, h1, b':', m0, m1, b':', s0, s1], rest) = text.split_first_chunk::<8>()? else {
        return None;
    };
    let hour = two_digits(*h0, *h1)?;
    let minute = two_digits(*m0, *m1)?;
    let second = two_digits(*s0, *s1)?;
    (hour <= 23 && minute <= 59 && second <= 60).then_some(())?;
    let whole = (hour * 3_600 + minute * 60 + second) * SECOND_MS;
    let Some(fraction) = rest.strip_prefix(b".") else {
        return Some((whole, rest));
    };
    let (number, rest) = digits(fraction, 1, 9)?;
    let ms = match fraction.len() - rest.len() {
        3 => number,
        length @ 0..=2 => number * 10_i64.pow(3 - length as u32),
        length => number / 10_i64.pow(length as u32 - 3),
    };
    Some((whole + ms, rest))
}

/// The number of an English month, 1 to 12.
#[inline]
fn month_of(name: &[u8; 3]) -> Option<i64> {
    MONTHS
        .iter()
        .position(|month| *month == name)
        .map(|place| place as i64 + 1)
}

#[inline]
fn two_digits(tens: u8, ones: u8) -> Option<i64> {
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
}

/// Reads `least` to `most` digits. A further digit is left in the rest.
fn digits(text: &[u8], least: usize, most: usize) -> Option<(i64, &[u8])> {
    let mut number = 0;
    let mut length = 0;
    while length < most && text.get(length).is_some_and(u8::is_ascii_digit) {
        number = number * 10 + i64::from(text[length] - b'0');
        length += 1;
    }
    (length >= least).then(|| (number, &text[length..]))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar: the year is taken to begin in March, so that the leap day is its
/// last day.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests;
