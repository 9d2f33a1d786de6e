//! Numbers for readers, by their units.

use crate::document::{Cell, Unit};

/// Character between groups of three digits.
#[derive(Clone, Copy)]
pub(crate) enum Grouping {
    /// For terminals.
    Comma,
    /// A narrow space that does not break, for pages and pictures.
    ThinSpace,
}

impl Grouping {
    fn text(self) -> &'static str {
        match self {
            Grouping::Comma => ",",
            Grouping::ThinSpace => "\u{202f}",
        }
    }
}

/// Factors of units with their symbols, rising by 1000.
const SECONDS: [(f64, &str); 4] = [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")];
const BYTES: [(f64, &str); 6] = [
    (1.0, "B"),
    (1e3, "kB"),
    (1e6, "MB"),
    (1e9, "GB"),
    (1e12, "TB"),
    (1e15, "PB"),
];
const COUNTS: [(f64, &str); 5] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];

/// A cell as a reader sees it; empty for no value. Words are as they came.
pub(crate) fn shown(cell: &Cell, unit: Unit, grouping: Grouping) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Whole(number) if matches!(unit, Unit::Whole | Unit::Text) => {
            grouped(&number.to_string(), grouping)
        }
        Cell::Nothing | Cell::Whole(_) | Cell::Decimal(_) => cell
            .number()
            .map_or(String::new(), |number| number_shown(number, unit, grouping)),
    }
}

/// A number in running text, in its unit and with commas: `12,345`, `1.20 s`.
pub fn in_text(number: impl Into<Cell>, unit: Unit) -> String {
    shown(&number.into(), unit, Grouping::Comma)
}

/// A finite number in its unit: times and sizes with three digits, others with the digits of their unit.
pub(crate) fn number_shown(number: f64, unit: Unit, grouping: Grouping) -> String {
    match unit {
        Unit::Text => grouped(&number.to_string(), grouping),
        Unit::Whole => grouped(&format!("{number:.0}"), grouping),
        Unit::Decimal { places } => grouped(&format!("{number:.*}", usize::from(places)), grouping),
        Unit::Share => share(number, grouping),
        Unit::Seconds => scaled(number, &SECONDS, Digits::Three, grouping),
        Unit::Bytes => scaled(number, &BYTES, Digits::Three, grouping),
    }
}

/// A number beside an axis or in a field: as short as three digits allow.
pub(crate) fn short(number: f64, unit: Unit) -> String {
    let (number, units): (f64, &[(f64, &str)]) = match unit {
        Unit::Text | Unit::Whole | Unit::Decimal { .. } => (number, &COUNTS),
        Unit::Share => (number * 100.0, &[(1.0, "%")]),
        Unit::Seconds => (number, &SECONDS),
        Unit::Bytes => (number, &BYTES),
    };
    scaled(number, units, Digits::UpToThree, Grouping::ThinSpace)
}

/// All digits of a number; empty for none.
pub(crate) fn exact(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Whole(number) => number.to_string(),
        Cell::Nothing | Cell::Decimal(_) => cell
            .number()
            .map_or(String::new(), |number| number.to_string()),
    }
}

/// Two digits behind the point. 100.00 % means all and 0.00 % means none, so what is near is not rounded to them.
fn share(share: f64, grouping: Grouping) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.01 {
        return "< 0.01 %".to_owned();
    }
    let percent = if percent < 100.0 {
        percent.min(99.99)
    } else {
        percent
    };
    grouped(&format!("{percent:.2} %"), grouping)
}

#[derive(Clone, Copy, PartialEq)]
enum Digits {
    Three,
    /// Without zeros at the end.
    UpToThree,
}

/// The number in the largest unit in which it is at least 1. The first unit is also for all below it.
fn scaled(number: f64, units: &[(f64, &str)], digits: Digits, grouping: Grouping) -> String {
    // What three digits would round to 1000 belongs to the next unit.
    let fits = |(factor, _): &&(f64, &str)| number.abs() >= factor * 0.9995;
    let base = units.iter().find(|unit| unit.0 == 1.0).or(units.first());
    let fitting = units.iter().rev().find(fits);
    let (factor, symbol) = match fitting {
        _ if number == 0.0 => base.copied().unwrap_or((1.0, "")),
        Some(unit) => *unit,
        None => units.first().copied().unwrap_or((1.0, "")),
    };
    let value = number / factor;
    let places = match value.abs() {
        value if value == 0.0 || value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        value if value >= 0.9995 || digits == Digits::Three => 2,
        value => 2 + (-value.log10().floor()).clamp(0.0, 12.0) as usize,
    };
    let mut text = format!("{value:.places$}");
    let is_whole_bytes = symbol == "B" && value.fract() == 0.0;
    if text.contains('.') && (digits == Digits::UpToThree || is_whole_bytes) {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    let space = if symbol.is_empty() { "" } else { "\u{a0}" };
    grouped(&text, grouping) + space + symbol
}

/// The digits before the point in groups of three. The text begins with a number.
fn grouped(text: &str, grouping: Grouping) -> String {
    let sign = usize::from(text.starts_with('-'));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let mut out = text[..sign].to_owned();
    for (place, digit) in text[sign..sign + digits].chars().enumerate() {
        if place > 0 && (digits - place).is_multiple_of(3) {
            out += grouping.text();
        }
        out.push(digit);
    }
    out + &text[sign + digits..]
}

#[cfg(test)]
mod tests {
    use super::{Cell, Grouping, Unit, exact, number_shown, short, shown};

    #[track_caller]
    fn check(number: f64, unit: Unit, expected: &str) {
        let text = number_shown(number, unit, Grouping::Comma).replace('\u{a0}', " ");
        assert_eq!(text, expected);
    }

    #[test]
    fn times_and_sizes_have_three_digits_and_their_unit() {
        check(0.0, Unit::Seconds, "0 s");
        check(0.012_34, Unit::Seconds, "12.3 ms");
        check(0.000_999_6, Unit::Seconds, "1.00 ms");
        check(-0.25, Unit::Seconds, "-250 ms");
        check(4_321.0, Unit::Seconds, "4,321 s");
        check(3e-12, Unit::Seconds, "0.00 ns");
        check(999.0, Unit::Bytes, "999 B");
        check(7.0, Unit::Bytes, "7 B");
        check(184_320_000.0, Unit::Bytes, "184 MB");
    }

    #[test]
    fn counts_are_in_groups_of_three() {
        check(1_234_567.0, Unit::Whole, "1,234,567");
        check(-1_000.0, Unit::Whole, "-1,000");
        check(1_234.5, Unit::Decimal { places: 2 }, "1,234.50");
        let most = Cell::Whole(i64::MAX);
        assert_eq!(
            shown(&most, Unit::Whole, Grouping::Comma),
            "9,223,372,036,854,775,807"
        );
    }

    #[test]
    fn a_share_is_all_or_none_only_if_it_is() {
        check(1.0, Unit::Share, "100.00 %");
        check(0.999_999, Unit::Share, "99.99 %");
        check(0.000_001, Unit::Share, "< 0.01 %");
        check(0.0, Unit::Share, "0.00 %");
        check(12.5, Unit::Share, "1,250.00 %");
    }

    #[test]
    fn labels_are_short() {
        let told = |number, unit| short(number, unit).replace('\u{a0}', " ");
        assert_eq!(told(0.01, Unit::Seconds), "10 ms");
        assert_eq!(told(2_500_000.0, Unit::Whole), "2.5 M");
        assert_eq!(told(0.25, Unit::Share), "25 %");
        assert_eq!(told(0.000_5, Unit::Share), "0.05 %");
        assert_eq!(told(0.0, Unit::Seconds), "0 s");
        assert_eq!(told(1_000.0, Unit::Bytes), "1 kB");
    }

    #[test]
    fn words_and_missing_numbers_are_not_numbers() {
        assert_eq!(shown(&"auto".into(), Unit::Whole, Grouping::Comma), "auto");
        assert_eq!(shown(&f64::NAN.into(), Unit::Seconds, Grouping::Comma), "");
        assert_eq!(exact(&0.1_f64.into()), "0.1");
        assert_eq!(exact(&f64::INFINITY.into()), "");
    }
}
