//! Money and counts: whole millionths, and their sums without any rounding.
//!
//! ```text
//! "12.50"                          Amount 12_500_000, 2 places
//! a third of it, for one channel   Sum 12_500_000 × GRAINS / 3
//! ```
//!
//! - An amount is a whole number of millionths. Text with more digits is rounded to the nearest one, and the reader is told so.
//! - A share of an order is a whole number of grains. [`GRAINS`] is divisible by each number up to 24 and by 10,000, so each part
//!   of an order with up to 24 touches, and each share in hundredths of a percent, is exact.
//! - Sums are whole numbers too, so they do not depend on the order of their parts.

/// Millionths of one.
pub const MILLION: i64 = 1_000_000;

/// Digits behind the point that an amount may have.
pub const PLACES_MAX: u8 = 6;

/// Least digits behind the point that are shown.
pub const PLACES_MIN: u8 = 2;

/// Parts of one order: the least common multiple of 1 to 24, times 10,000.
pub const GRAINS: i64 = 5_354_228_880 * 10_000;

/// Money, or a count that may have a fraction, in millionths. Refunds are negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(pub i64);

/// An amount as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The amount, to the nearest millionth; halves away from zero.
    pub amount: Amount,
    /// Digits behind the point without the zeros at the end, 0 to 6.
    pub places: u8,
    /// Whether there were more of them.
    pub is_rounded: bool,
}

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAmount {
    /// It has no digit, or a character that no amount has, such as a sign of a currency.
    Form,
    /// It is outside of ± 9,223,372,036,854.
    Range,
}

impl BadAmount {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            BadAmount::Form => "not a number such as 12.50",
            BadAmount::Range => "a number that is too large",
        }
    }
}

impl Amount {
    /// A million millionths: one order.
    pub const ONE: Amount = Amount(MILLION);
    /// No money, and no order.
    pub const ZERO: Amount = Amount(0);

    /// Reads `12`, `12.5`, `-3.99` or `+4`.
    ///
    /// # Errors
    /// The text has another form, or the number is too large.
    pub fn parse(text: &[u8]) -> Result<Written, BadAmount> {
        let (is_negative, digits) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            Some((b'+', rest)) => (false, rest),
            Some(_) | None => (false, text),
        };
        let point = digits.iter().position(|byte| *byte == b'.');
        let (whole, fraction) = match point {
            Some(at) => (&digits[..at], &digits[at + 1..]),
            None => (digits, &[][..]),
        };
        let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
        if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() == 0 {
            return Err(BadAmount::Form);
        }
        let zeros = fraction.iter().rev().take_while(|byte| **byte == b'0');
        let fraction = &fraction[..fraction.len() - zeros.count()];
        let (fraction, beyond) = fraction.split_at(fraction.len().min(usize::from(PLACES_MAX)));
        let is_up = beyond.first().is_some_and(|digit| *digit >= b'5');
        let add = |number: i64, byte: &u8| {
            let number = number.checked_mul(10)?;
            number.checked_add(i64::from(byte - b'0'))
        };
        let padding = &b"000000"[fraction.len()..];
        let mut bytes = whole.iter().chain(fraction).chain(padding);
        let number = bytes.try_fold(0, add).ok_or(BadAmount::Range)?;
        let number = number
            .checked_add(i64::from(is_up))
            .ok_or(BadAmount::Range)?;
        let number = if is_negative { -number } else { number };
        Ok(Written {
            amount: Amount(number),
            places: fraction.len() as u8,
            is_rounded: !beyond.is_empty(),
        })
    }

    /// The amount times a factor, rounded to the nearest millionth; halves away from zero. `None`: too large.
    pub fn times(self, factor: Amount) -> Option<Amount> {
        let product = i128::from(self.0) * i128::from(factor.0);
        i64::try_from(rounded(product, i128::from(MILLION)))
            .ok()
            .map(Amount)
    }
}

/// A sum of amounts, or of shares of amounts, in millionths of grains.
///
/// 2^18 of the largest amounts fit; of amounts below a billion, 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Sum(i128);

impl Sum {
    /// Adds `grains` parts of an amount.
    #[inline]
    pub fn add_share(&mut self, amount: Amount, grains: i64) {
        // A sum of more than 10^17 euros is no money: it stays at the bound and never wraps.
        let part = i128::from(amount.0) * i128::from(grains);
        self.0 = self.0.saturating_add(part);
    }

    /// Adds a whole amount.
    pub fn add(&mut self, amount: Amount) {
        self.add_share(amount, GRAINS);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Sum) {
        self.0 = self.0.saturating_add(other.0);
    }

    /// The nearest floating-point number.
    pub fn value(self) -> f64 {
        let (whole, rest) = (self.0 / i128::from(GRAINS), self.0 % i128::from(GRAINS));
        (whole as f64 + rest as f64 / GRAINS as f64) / MILLION as f64
    }

    /// The sum in units of `places` digits behind the point, rounded; halves away from zero.
    pub fn units(self, places: u8) -> i128 {
        rounded(self.0, unit(places))
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Grains of one unit of `places` digits.
fn unit(places: u8) -> i128 {
    let places = places.min(PLACES_MAX);
    i128::from(GRAINS) * 10_i128.pow(u32::from(PLACES_MAX - places))
}

/// `number` / `unit`, rounded; halves away from zero.
fn rounded(number: i128, unit: i128) -> i128 {
    let (whole, rest) = (number / unit, number % unit);
    match rest.abs() >= unit - rest.abs() {
        true => whole + number.signum(),
        false => whole,
    }
}

/// The sums in units of `places` digits, such that they add up to the rounded total: the largest remainders are rounded up. Equal
/// remainders: the first one.
pub fn apportion(sums: &[Sum], places: u8) -> Vec<i128> {
    let unit = unit(places);
    let total = sums.iter().fold(Sum::default(), |mut total, sum| {
        total.merge(*sum);
        total
    });
    let wholes = sums.iter().map(|sum| sum.0.div_euclid(unit)).collect();
    let rests: Vec<i128> = sums.iter().map(|sum| sum.0.rem_euclid(unit)).collect();
    largest_remainder(wholes, total.units(places), |left, right| {
        rests[right].cmp(&rests[left])
    })
}

/// As [`apportion`], of numbers whose sum is `total` but for their rounding.
pub fn apportion_numbers(numbers: &[f64], total: Sum, places: u8) -> Vec<i128> {
    let scaled: Vec<f64> = numbers
        .iter()
        .map(|number| number * 10_f64.powi(i32::from(places)))
        .collect();
    let wholes = scaled.iter().map(|number| number.floor() as i128).collect();
    let rest = |at: usize| scaled[at] - scaled[at].floor();
    largest_remainder(wholes, total.units(places), |left, right| {
        rest(right).total_cmp(&rest(left))
    })
}

/// Adds one to numbers, in the order of `by`, until they add up to `total`.
fn largest_remainder(
    mut wholes: Vec<i128>,
    total: i128,
    by: impl Fn(usize, usize) -> std::cmp::Ordering,
) -> Vec<i128> {
    let mut order: Vec<usize> = (0..wholes.len()).collect();
    order.sort_by(|left, right| by(*left, *right));
    let mut missing = total - wholes.iter().sum::<i128>();
    for at in order.iter().cycle().take(2 * order.len()) {
        if missing == 0 {
            break;
        }
        wholes[*at] += missing.signum();
        missing -= missing.signum();
    }
    wholes
}

#[cfg(test)]
mod tests;
