//! Functions of numbers.

use super::super::function::Function;
use crate::value::{Number, Value};

/// The largest number of FIBONACCI: the next does not fit 128 bits.
const FIBONACCI_MAX: u32 = 184;

/// The value of a function of numbers; `None`: it is another kind of function.
pub(super) fn value(function: Function, arguments: &[Value]) -> Option<Value> {
    let first = arguments.first().unwrap_or(&Value::Null);
    let of_first = |compute: fn(Number) -> Value| first.number().map_or(Value::Null, compute);
    Some(match function {
        Function::Abs => of_first(abs),
        Function::Now => of_first(|micros| Value::Int(whole(micros).div_euclid(1_000_000).into())),
        Function::Bigint => of_first(|number| Value::Int(whole(number).into())),
        Function::Ceil => of_first(|number| rounded(number, f64::ceil)),
        Function::Floor => of_first(|number| rounded(number, f64::floor)),
        Function::Sign => of_first(|number| match number {
            Number::Whole(number) => Value::Int(number.signum()),
            Number::Real(number) if number.is_nan() => Value::Null,
            Number::Real(0.0) => Value::Int(0),
            Number::Real(number) => Value::Int(number.signum() as i128),
        }),
        Function::Double => of_first(|number| Value::Float(number.real())),
        // The lowest 32 bits, read with and without a sign.
        Function::Sint => of_first(|number| Value::Int(i128::from(whole(number) as i32))),
        Function::Uint => of_first(|number| Value::Int(i128::from(whole(number) as u32))),
        Function::Fibonacci => of_first(fibonacci),
        Function::Round => round(arguments),
        Function::Bitdot => bitdot(arguments),
        Function::Rand => random(arguments),
        Function::Atan2 => match arguments {
            [y, x] => real(y, |y| x.number().map_or(f64::NAN, |x| y.atan2(x.real()))),
            _ => Value::Null,
        },
        Function::Acos => real(first, f64::acos),
        Function::Asin => real(first, f64::asin),
        Function::Atan => real(first, f64::atan),
        Function::Cos => real(first, f64::cos),
        Function::Degrees => real(first, f64::to_degrees),
        Function::Exp => real(first, f64::exp),
        Function::Ln => real(first, f64::ln),
        Function::Log2 => real(first, f64::log2),
        Function::Log10 => real(first, f64::log10),
        Function::Radians => real(first, f64::to_radians),
        Function::Sin => real(first, f64::sin),
        Function::Sqrt => real(first, f64::sqrt),
        Function::Tan => real(first, f64::tan),
        _ => return None,
    })
}

/// A real function. A result that is no finite number, as of `sqrt(-1)` and `ln(0)`, is NULL.
fn real(of: &Value, compute: impl FnOnce(f64) -> f64) -> Value {
    match of.number() {
        None => Value::Null,
        Some(number) => finite(compute(number.real())),
    }
}

/// The number, or NULL if it is none.
pub(super) fn finite(number: f64) -> Value {
    match number.is_finite() {
        true => Value::Float(number),
        false => Value::Null,
    }
}

fn abs(number: Number) -> Value {
    match number {
        Number::Whole(number) => match number.checked_abs() {
            Some(number) => Value::Int(number),
            None => Value::Float((number as f64).abs()),
        },
        Number::Real(number) => Value::Float(number.abs()),
    }
}

/// A number cut to a whole one of 64 bits, or the nearest that fits them.
pub(super) fn whole(number: Number) -> i64 {
    match number {
        Number::Whole(number) => {
            i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
        }
        Number::Real(number) => number as i64, // saturates; NaN is 0
    }
}

/// A whole number from a real one, where 128 bits hold it.
fn rounded(number: Number, round: fn(f64) -> f64) -> Value {
    match number {
        Number::Whole(number) => Value::Int(number),
        Number::Real(number) if number.is_nan() => Value::Null,
        Number::Real(number) if number.abs() < 2f64.powi(126) => Value::Int(round(number) as i128),
        Number::Real(number) => Value::Float(number),
    }
}

/// Half away from zero, as MySQL does it. Digits before the point, a negative count, are kept to 30.
fn round(arguments: &[Value]) -> Value {
    let digits = match arguments.get(1) {
        None => 0,
        Some(digits) => match digits.number() {
            None => return Value::Null,
            Some(digits) => whole(digits).clamp(-30, 30) as i32,
        },
    };
    match arguments.first().and_then(Value::number) {
        None => Value::Null,
        Some(Number::Whole(number)) if digits >= 0 => Value::Int(number),
        Some(Number::Whole(number)) => {
            let unit = 10_i128.pow(digits.unsigned_abs());
            let rest = number % unit;
            let kept = number - rest;
            let up = rest.abs() * 2 >= unit;
            let step = if up { unit * number.signum() } else { 0 };
            kept.checked_add(step).map_or(Value::Null, Value::Int)
        }
        Some(number) if digits == 0 => rounded(number, f64::round),
        Some(number) => {
            let unit = 10_f64.powi(digits.abs());
            let number = number.real();
            finite(match digits > 0 {
                true if (number * unit).is_finite() => (number * unit).round() / unit,
                true => number,
                false => (number / unit).round() * unit,
            })
        }
    }
}

/// The sum of the weights behind the first argument whose bits it has.
fn bitdot(arguments: &[Value]) -> Value {
    let Some(mask) = arguments.first().and_then(Value::number) else {
        return Value::Null;
    };
    let mask = whole(mask) as u64;
    let mut sum = Number::Whole(0);
    for (bit, weight) in arguments.iter().skip(1).enumerate() {
        let Some(weight) = weight.number() else {
            return Value::Null;
        };
        let is_set = u32::try_from(bit)
            .ok()
            .and_then(|bit| mask.checked_shr(bit))
            .is_some_and(|bits| bits & 1 == 1);
        if is_set {
            sum = match (sum, weight) {
                (Number::Whole(a), Number::Whole(b)) => match a.checked_add(b) {
                    Some(sum) => Number::Whole(sum),
                    None => Number::Real(a as f64 + b as f64),
                },
                (a, b) => Number::Real(a.real() + b.real()),
            };
        }
    }
    match sum {
        Number::Whole(sum) => Value::Int(sum),
        Number::Real(sum) => finite(sum),
    }
}

fn fibonacci(number: Number) -> Value {
    let Some(number) = u32::try_from(whole(number))
        .ok()
        .filter(|number| *number <= FIBONACCI_MAX)
    else {
        return Value::Null;
    };
    let (mut now, mut next) = (0_i128, 1_i128);
    for _ in 0..number {
        (now, next) = (next, now.saturating_add(next));
    }
    Value::Int(now)
}

/// A number of [0, 1) made of a seed and a row's id: the same wherever the row is stored.
fn random(arguments: &[Value]) -> Value {
    let numbers = |at: usize| {
        let number = arguments.get(at).and_then(Value::number);
        number.map(|number| match number {
            Number::Whole(number) => number as u64,
            Number::Real(number) => number.to_bits(),
        })
    };
    let (Some(seed), Some(id)) = (numbers(0), numbers(1)) else {
        return Value::Null;
    };
    let mixed = mix(mix(seed).wrapping_add(id));
    Value::Float((mixed >> 11) as f64 / (1_u64 << 53) as f64)
}

/// The finaliser of SplitMix64 behind its step.
fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
