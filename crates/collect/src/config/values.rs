//! Values of a store: its own or inherited, read by Scribe's rules.

use std::ops::RangeInclusive;

use super::RotatePeriod;
use super::keys::Kind;
use super::parse::{Block, Entry};
use super::problem::{Problems, quote};

/// A size, or a number of messages.
pub(super) const ANY: RangeInclusive<u64> = 0..=u64::MAX;
/// A time, in seconds or milliseconds: 136 years or 49 days.
pub(super) const TIME: RangeInclusive<u64> = 0..=u32::MAX as u64;
/// A port of TCP; 0 stands for "not given".
pub(super) const PORT: RangeInclusive<u64> = 0..=u16::MAX as u64;

/// A block as a store of a type, with the blocks around it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) block: &'a Block<'a>,
    /// `None`: the whole file, which inherits nothing.
    pub(super) kind: Option<Kind>,
    pub(super) around: Option<&'a Scope<'a>>,
    /// Number of the explicit bucket that the store is or lies in.
    pub(super) bucket: Option<u64>,
    /// The store is a secondary that its buffer reads back.
    pub(super) is_read_back: bool,
}

impl<'a> Scope<'a> {
    /// The whole file.
    pub(super) fn globals(block: &'a Block<'a>) -> Scope<'a> {
        Scope {
            block,
            kind: None,
            around: None,
            bucket: None,
            is_read_back: false,
        }
    }

    /// Line of the value of `key`; where it has none, that of the block.
    pub(super) fn line_of(&self, key: &'static str) -> u32 {
        self.find(key).map_or(self.block.line, |entry| entry.line)
    }

    /// The value of `key`. At most one look-up for each block around.
    pub(super) fn find(&self, key: &'static str) -> Option<Entry<'a>> {
        if let Some(entry) = self.block.values.get(key) {
            return Some(*entry);
        }
        let kind = self.kind?;
        let mut scope = Some(self);
        while let Some(at) = scope {
            if let Some(entry) = at.block.inherited.get(&(kind, key)) {
                return Some(*entry);
            }
            scope = at.around;
        }
        None
    }

    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.find(key).map(|entry| entry.value.to_owned())
    }
}

/// Reads values and notes the bad ones.
pub(super) struct Values<'p> {
    pub(super) problems: &'p mut Problems,
}

impl Values<'_> {
    /// A number that `strtoul` would read with base 0: `0x10` is hexadecimal, `010` octal.
    pub(super) fn number(
        &mut self,
        at: &Scope<'_>,
        key: &'static str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> u64 {
        self.number_if(at, key, range).unwrap_or(default)
    }

    /// As `number`; `None`: not given, or bad.
    pub(super) fn number_if(
        &mut self,
        at: &Scope<'_>,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        self.number_of(key, at.find(key)?, Base::OfPrefix, range)
    }

    /// A number with base 10, whatever its first digits.
    pub(super) fn decimal(&mut self, at: &Scope<'_>, key: &'static str, default: u64) -> u64 {
        at.find(key)
            .and_then(|entry| self.number_of(key, entry, Base::Ten, ANY))
            .unwrap_or(default)
    }

    fn number_of(
        &mut self,
        key: &str,
        entry: Entry<'_>,
        base: Base,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let given = format!("{key}={}", quote(entry.value));
        let Some(number) = read_number(entry.value, base) else {
            let text = format!("{given} is no number: the default counts");
            self.problems.error(entry.line, text);
            return None;
        };
        let value = number.value;
        if !range.contains(&value) {
            let (least, most) = range.into_inner();
            let text = format!("{given} is not between {least} and {most}: the default counts");
            self.problems.error(entry.line, text);
            return None;
        }
        if number.is_octal {
            let text = format!(
                "{given} counts as {value}, as with Scribe: numbers that begin with 0 are octal"
            );
            self.problems.warning(entry.line, text);
        } else if value == u64::MAX {
            let text = format!("{given} counts as {value}, the greatest number");
            self.problems.warning(entry.line, text);
        } else if number.has_rest {
            let text = format!("{given}: only {value} of it counts, as with Scribe");
            self.problems.warning(entry.line, text);
        }
        Some(value)
    }

    /// A flag that only `yes` sets.
    pub(super) fn yes(&mut self, at: &Scope<'_>, key: &'static str, default: bool) -> bool {
        let word = at.find(key);
        word.map_or(default, |entry| self.flag(key, entry, false))
    }

    /// A flag that only `no` clears.
    pub(super) fn unless_no(&mut self, at: &Scope<'_>, key: &'static str) -> bool {
        let word = at.find(key);
        word.is_none_or(|entry| self.flag(key, entry, true))
    }

    fn flag(&mut self, key: &str, entry: Entry<'_>, other: bool) -> bool {
        match entry.value {
            "yes" => true,
            "no" => false,
            value => {
                let counts = if other { "yes" } else { "no" };
                let text = format!("{key}={} counts as {counts}, as with Scribe", quote(value));
                self.problems.warning(entry.line, text);
                other
            }
        }
    }

    /// `rotate_period`: `hourly`, `daily`, `never`, or a number and one of s, m, h, d and w.
    pub(super) fn period(&mut self, at: &Scope<'_>, default: RotatePeriod) -> RotatePeriod {
        let Some(entry) = at.find("rotate_period") else {
            return default;
        };
        match entry.value {
            "hourly" => RotatePeriod::Hourly,
            "daily" => RotatePeriod::Daily,
            "never" => RotatePeriod::Never,
            text => match read_seconds(text) {
                Some(seconds) => RotatePeriod::Every { seconds },
                None => {
                    let text = format!(
                        "rotate_period={} is none of hourly, daily, never and a number with s, m, h, d or w: files end by size only",
                        quote(text)
                    );
                    self.problems.error(entry.line, text);
                    RotatePeriod::Never
                }
            },
        }
    }

    /// `buffer_bypass_max_ratio`: above 0, at most 1.
    pub(super) fn ratio(&mut self, at: &Scope<'_>, key: &'static str, default: f64) -> f64 {
        let Some(entry) = at.find(key) else {
            return default;
        };
        match entry.value.parse::<f64>() {
            Ok(ratio) if ratio > 0.0 && ratio <= 1.0 => ratio,
            _ => {
                let text = format!(
                    "{key}={} is not above 0 and at most 1: {default} counts",
                    quote(entry.value)
                );
                self.problems.error(entry.line, text);
                default
            }
        }
    }

    /// `host`, `host:port` or `[address]:port`; `None`: there is no port.
    pub(super) fn host(
        &mut self,
        text: &str,
        default_port: u16,
        line: u32,
    ) -> Option<(String, u16)> {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port.map_or(Some(default_port), |port| port.parse().ok());
        match port {
            Some(port) if port > 0 && !host.is_empty() => Some((host.to_owned(), port)),
            _ => {
                let text = format!("{} is no host:port: it is left out", quote(text));
                self.problems.error(line, text);
                None
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Base {
    OfPrefix,
    Ten,
}

struct Number {
    /// At most `u64::MAX`, as `strtoul` cuts it.
    value: u64,
    /// The first 0 made it another number than it looks.
    is_octal: bool,
    /// Characters that are no digits follow.
    has_rest: bool,
}

/// The number at the beginning of a text. Negative numbers, which `strtoul` takes for huge ones, are none.
fn read_number(text: &str, base: Base) -> Option<Number> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let hexadecimal = hexadecimal.filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (text, radix) = match (base, hexadecimal) {
        (Base::OfPrefix, Some(rest)) => (rest, 16),
        (Base::OfPrefix, None) if text.starts_with('0') => (text, 8),
        _ => (text, 10),
    };
    let length = |radix| {
        text.bytes()
            .take_while(|b| char::from(*b).is_digit(radix))
            .count()
    };
    let end = length(radix);
    let digits = text.get(..end).filter(|digits| !digits.is_empty())?;
    let value = |digits, radix| u64::from_str_radix(digits, radix).unwrap_or(u64::MAX);
    Some(Number {
        value: value(digits, radix),
        is_octal: radix == 8 && (length(10) > end || value(digits, 8) != value(digits, 10)),
        has_rest: end < text.len(),
    })
}

fn read_seconds(text: &str) -> Option<u64> {
    const MINUTE: u64 = 60;
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(number.len()..)? {
        "" | "s" => 1,
        "m" => MINUTE,
        "h" => 60 * MINUTE,
        "d" => 24 * 60 * MINUTE,
        "w" => 7 * 24 * 60 * MINUTE,
        _ => return None,
    };
    let count: u64 = number.parse().ok()?;
    let seconds = count.checked_mul(unit)?;
    (seconds > 0 && TIME.contains(&seconds)).then_some(seconds)
}
