//! Searches among rising numbers, each of which is read when it is looked at.

use std::ops::Range;

use crate::error::Result;

/// Index of the first number in `among` that is not below `wanted`; the end of `among` if all are below. `near`: where it is
/// expected, as a distance from the start of `among`; `number`: reads one. Cost: a logarithm of the distance between that place and
/// the real one. Errors: those of `number`.
#[inline]
pub(super) fn first_not_below(
    among: Range<usize>,
    near: usize,
    wanted: u64,
    number: impl Fn(usize) -> Result<u64>,
) -> Result<usize> {
    // All before `low` are below `wanted`, none from `high` on is.
    let (mut low, mut high) = (among.start, among.end);
    let mut step = 1;
    let mut at = low + near.min(among.len());
    if at < high && number(at)? < wanted {
        low = at + 1;
        while low + step <= high {
            at = low + step - 1;
            if number(at)? >= wanted {
                high = at;
                break;
            }
            low = at + 1;
            step *= 2;
        }
    } else {
        high = at;
        while low + step <= high {
            at = high - step;
            if number(at)? < wanted {
                low = at + 1;
                break;
            }
            high = at;
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if number(middle)? < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// The distance from the start of `among` to the first number that is not below `wanted`, if the numbers rise evenly, as
/// [`first_not_below`] wants it. Reads the first and the last number of `among`. Errors: those of `number`.
#[inline]
pub(super) fn near(
    among: Range<usize>,
    wanted: u64,
    number: impl Fn(usize) -> Result<u64>,
) -> Result<usize> {
    if among.is_empty() {
        return Ok(0);
    }
    let (first, last) = (number(among.start)?, number(among.end - 1)?);
    if wanted <= first || last <= first {
        return Ok(0);
    }
    let part = (wanted - first) as f64 / (last - first) as f64;
    Ok((part * (among.len() - 1) as f64) as usize)
}
