//! Sums of doubles that are rounded once: the same for any order and any split of the numbers.
//!
//! Example: 1e100 + 1 − 1e100 is 1 here, where adding one after the other gives 0.
//!
//! The sum is a list of doubles whose exact sum it is, after J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic"
//! (1997), as Python's `math.fsum` keeps it. Invariants: the parts do not overlap, they rise by magnitude, none is 0. Numbers
//! from 2^960 on are kept apart, scaled by 2^−128, so that no sum of parts overflows.

/// Numbers from here on are scaled.
const LARGE: f64 = f64::from_bits((1023 + 960) << 52); // 2^960
/// 2^128
const SCALE: f64 = f64::from_bits((1023 + 128) << 52);

/// Units of a part that is added to another sum.
const PART_UNITS: u64 = 50;

/// An exact sum.
#[derive(Clone, Debug, Default)]
pub(super) struct ExactSum {
    parts: Vec<f64>,
    /// Parts of the sum of large numbers, times 2^−128.
    large: Vec<f64>,
    /// The sum of numbers that are not finite; 0 without one.
    special: f64,
}

/// `a + b` as its rounded value and the rest.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let (a, b) = match a.abs() < b.abs() {
        true => (b, a),
        false => (a, b),
    };
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `a · b` as its rounded value and the rest.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

fn add_to(parts: &mut Vec<f64>, mut number: f64) {
    let mut kept = 0;
    for at in 0..parts.len() {
        let Some(part) = parts.get(at).copied() else {
            break;
        };
        let (sum, rest) = two_sum(number, part);
        if rest != 0.0 {
            if let Some(place) = parts.get_mut(kept) {
                *place = rest;
            }
            kept += 1;
        }
        number = sum;
    }
    parts.truncate(kept);
    if number != 0.0 {
        parts.push(number);
    }
}

/// The exact sum of parts, rounded to the nearest double, ties to even.
fn rounded(parts: &[f64]) -> f64 {
    let mut rest = parts.iter().rev().copied();
    let Some(mut sum) = rest.next() else {
        return 0.0;
    };
    let mut low = 0.0;
    for part in rest.by_ref() {
        let (next, behind) = two_sum(sum, part);
        sum = next;
        low = behind;
        if low != 0.0 {
            break;
        }
    }
    // A tie was rounded to even as if nothing lay behind it. What lies behind decides.
    if let Some(next) = rest.next()
        && (low > 0.0) == (next > 0.0)
    {
        let twice = low * 2.0;
        let moved = sum + twice;
        if moved - sum == twice {
            sum = moved;
        }
    }
    sum
}

impl ExactSum {
    pub(super) fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.special += number;
        } else if number.abs() >= LARGE {
            add_to(&mut self.large, number / SCALE);
        } else {
            add_to(&mut self.parts, number);
        }
    }

    /// Units of adding it to another one.
    pub(super) fn units(&self) -> u64 {
        PART_UNITS * (self.parts.len() + self.large.len()) as u64
    }

    /// Adds another exact sum.
    pub(super) fn merge(&mut self, other: &ExactSum) {
        other
            .parts
            .iter()
            .for_each(|part| add_to(&mut self.parts, *part));
        other
            .large
            .iter()
            .for_each(|part| add_to(&mut self.large, *part));
        self.special += other.special;
    }

    /// Adds a whole number without rounding it: as the sum of three doubles.
    pub(super) fn add_whole(&mut self, number: i128) {
        const BITS: u32 = 50;
        let sign = if number < 0 { -1.0 } else { 1.0 };
        let mut left = number.unsigned_abs();
        let mut unit = sign;
        while left != 0 {
            let digits = left & ((1 << BITS) - 1);
            self.add(digits as f64 * unit);
            left >>= BITS;
            unit *= (1_u64 << BITS) as f64;
        }
    }

    /// Adds `a · b` without rounding it.
    pub(super) fn add_product(&mut self, a: f64, b: f64) {
        let (product, rest) = two_product(a, b);
        self.add(product);
        if product.is_finite() {
            self.add(rest);
        }
    }

    /// The sum, rounded once.
    pub(super) fn value(&self) -> f64 {
        if self.special != 0.0 {
            return self.special; // infinite or NaN
        }
        if self.large.is_empty() {
            return rounded(&self.parts);
        }
        let mut all = self.large.clone();
        for part in &self.parts {
            // A part that vanishes can only decide a tie.
            let scaled = part / SCALE;
            add_to(
                &mut all,
                if scaled == 0.0 {
                    f64::MIN_POSITIVE.copysign(*part)
                } else {
                    scaled
                },
            );
        }
        rounded(&all) * SCALE
    }

    /// Doubles whose exact sum it is; `None` of a sum with a large number or one that is not finite.
    pub(super) fn parts(&self) -> Option<&[f64]> {
        (self.large.is_empty() && self.special == 0.0).then_some(&self.parts)
    }

    /// Memory of the lists, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<f64>() * (self.parts.capacity() + self.large.capacity())
    }
}
