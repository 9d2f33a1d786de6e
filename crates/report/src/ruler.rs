//! Places of values along an axis.

use crate::document::{Axis, Scale};

/// Maps the values of an axis to 0 … 1.
pub(crate) struct Ruler {
    least: f64,
    most: f64,
    scale: Scale,
}

/// Where an axis without a range begins.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Start {
    /// At 0, up to a round number, if the scale is linear.
    Zero,
    /// At the least value.
    Least,
}

impl Ruler {
    /// The range of the axis, or one that holds all values.
    pub(crate) fn new(axis: &Axis, start: Start, values: impl Iterator<Item = f64>) -> Ruler {
        let fits = |value: &f64| value.is_finite() && (axis.scale == Scale::Linear || *value > 0.0);
        let (least, most) = axis.range.unwrap_or_else(|| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let (least, most) = values.filter(fits).fold(ends, |(least, most), value| {
                (least.min(value), most.max(value))
            });
            match (axis.scale, start) {
                _ if least > most => (f64::NAN, f64::NAN),
                (Scale::Linear, Start::Zero) => (least.min(0.0), rounded_up(most.max(0.0))),
                (Scale::Linear | Scale::Log10, _) => (least, most),
            }
        });
        let is_usable =
            least.is_finite() && most.is_finite() && (axis.scale == Scale::Linear || least > 0.0);
        let (least, most) = if is_usable {
            (least, most)
        } else {
            (1.0, 10.0)
        };
        let most = match axis.scale {
            _ if most > least => most,
            Scale::Linear => least + 1.0,
            Scale::Log10 => least * 10.0,
        };
        Ruler {
            least,
            most,
            scale: axis.scale,
        }
    }

    /// Place of a value, 0 … 1. Values outside of the range are at its ends.
    pub(crate) fn part(&self, value: f64) -> f64 {
        let part = match self.scale {
            Scale::Linear => (value - self.least) / (self.most - self.least),
            Scale::Log10 => {
                (value.max(f64::MIN_POSITIVE) / self.least).log10()
                    / (self.most / self.least).log10()
            }
        };
        if part.is_nan() {
            0.0
        } else {
            part.clamp(0.0, 1.0)
        }
    }

    /// The value at a place.
    pub(crate) fn value(&self, part: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.least + part * (self.most - self.least),
            Scale::Log10 => self.least * (self.most / self.least).powf(part),
        }
    }

    /// Rising round values inside the range for lines and labels, some 4 to 8.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let step = round_step((self.most - self.least) / 5.0);
                let first = (self.least / step - 1e-9).ceil() as i64;
                let last = (self.most / step + 1e-9).floor() as i64;
                (first..=last).map(|number| number as f64 * step).collect()
            }
            Scale::Log10 => {
                let (low, high) = (
                    self.least.log10().floor() as i32,
                    self.most.log10().ceil() as i32,
                );
                let decades = (self.most / self.least).log10();
                let factors: &[f64] = match decades {
                    few if few < 0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                    few if few < 2.5 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                let step = ((decades / 9.0).ceil() as usize).max(1);
                let powers = (low..=high).step_by(step);
                let ticks = powers
                    .flat_map(|power| factors.iter().map(move |factor| decimal(*factor, power)));
                ticks.filter(|tick| self.holds(*tick)).collect()
            }
        }
    }

    fn holds(&self, value: f64) -> bool {
        value >= self.least * 0.999_999 && value <= self.most * 1.000_001
    }
}

/// `factor` × 10^`power`, as the nearest number to its decimal text.
fn decimal(factor: f64, power: i32) -> f64 {
    if power < 0 {
        factor / 10_f64.powi(-power)
    } else {
        factor * 10_f64.powi(power)
    }
}

/// The round step that is nearest above: 1, 2, 2.5 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = step.log10().floor() as i32;
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let steps = factors.map(|factor| decimal(factor, power));
    let fitting = steps.into_iter().find(|round| *round >= step * 0.999_999);
    fitting.unwrap_or(step)
}

/// The end of an axis that holds `most`: a whole number of its steps.
fn rounded_up(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let step = round_step(most / 5.0);
    (most / step - 1e-9).ceil() * step
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Ruler, Start};
    use crate::document::{Axis, Scale, Unit};

    fn ruler(scale: Scale, values: &[f64]) -> Ruler {
        Ruler::new(
            &Axis::new("x", Unit::Whole, scale),
            Start::Zero,
            values.iter().copied(),
        )
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            ruler(Scale::Linear, &[3.0, 87.0]).ticks(),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(
            ruler(Scale::Log10, &[0.001, 10.0]).ticks(),
            [0.001, 0.01, 0.1, 1.0, 10.0]
        );
        assert_eq!(
            ruler(Scale::Log10, &[1.0, 64.0]).ticks(),
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
        );
    }

    #[test]
    fn an_axis_of_nothing_has_ticks() {
        for scale in [Scale::Linear, Scale::Log10] {
            assert!(!ruler(scale, &[]).ticks().is_empty());
            assert!(!ruler(scale, &[f64::NAN, f64::INFINITY]).ticks().is_empty());
            assert!(!ruler(scale, &[0.0, 0.0]).ticks().is_empty());
        }
    }

    proptest! {
        #[test]
        fn places_rise_with_values_and_ticks_are_few(mut values in prop::collection::vec(1e-9..1e15_f64, 1..20), is_log: bool) {
            let scale = if is_log { Scale::Log10 } else { Scale::Linear };
            let ruler = ruler(scale, &values);
            values.sort_by(f64::total_cmp);
            let parts: Vec<f64> = values.iter().map(|value| ruler.part(*value)).collect();
            prop_assert!(parts.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(parts.iter().all(|part| (0.0..=1.0).contains(part)));
            let ticks = ruler.ticks();
            prop_assert!(ticks.len() <= 12 && ticks.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", ticks);
        }
    }
}
