//! Where a bucket of moments begins in a zone, as Elasticsearch has it.
//!
//! A bucket begins where the clock on the wall shows a multiple of its width: one of 12 hours in Berlin at 00:00 and 12:00 there,
//! which is 22:00 and 10:00 UTC in summer. In a night whose clocks change:
//!
//! | zone and night | buckets of an hour | of a day |
//! |---|---|---|
//! | Berlin, 2024-10-27, 03:00 becomes 02:00 at 01:00 UTC | two begin at 02:00, an hour apart | one of 25 hours |
//! | Berlin, 2024-03-31, 02:00 becomes 03:00 at 01:00 UTC | none begins at 02:00 | one of 23 hours |
//! | Lord Howe, 2024-10-06, 02:00 becomes 02:30 | 02:00 of `fixed_interval` begins at 02:30, `calendar_interval` has none | |
//!
//! No bucket begins later than the moments that it holds, and moments in order are in buckets in order.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Timestamp, ToSpan};

use super::date::Unit;

/// What the clock on the wall shows a multiple of where a bucket begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A number of seconds above 0, counted from 1970-01-01 00:00 on the wall.
    Seconds(i64),
    /// A unit of the calendar.
    Calendar(Unit),
}

impl Step {
    /// The last multiple that is not later. `None`: it lies before the year −9999.
    fn floor(self, at: DateTime) -> Option<DateTime> {
        match self {
            Step::Seconds(width) => {
                let since = Offset::UTC.to_timestamp(at).ok()?.as_second();
                let begin = since.checked_sub(since.rem_euclid(width))?;
                Some(Offset::UTC.to_datetime(Timestamp::from_second(begin).ok()?))
            }
            Step::Calendar(unit) => unit.begin(at),
        }
    }

    /// Whether midnight is the only time on the wall at which such a bucket begins.
    fn is_of_days(self) -> bool {
        match self {
            Step::Seconds(_) | Step::Calendar(Unit::Second | Unit::Minute | Unit::Hour) => false,
            Step::Calendar(Unit::Day | Unit::Week | Unit::Month | Unit::Quarter | Unit::Year) => {
                true
            }
        }
    }
}

/// The beginning of the bucket that holds a moment of whole seconds. `None`: outside the years −9999 to 9999. Cost: three look-ups
/// in the zone's table, some more within hours of a change of clocks.
pub(super) fn begin(step: Step, zone: &TimeZone, at: Timestamp) -> Option<Timestamp> {
    let floor = step.floor(zone.to_datetime(at))?;
    let begin = instant(step, zone, floor, at)?;
    let change = match step.is_of_days() || zone.to_fixed_offset().is_ok() {
        true => None,
        false => last_change(zone, at).filter(|change| begin < *change),
    };
    let Some(change) = change else {
        return Some(begin);
    };
    // Where the clocks went back since, a later multiple may have come before that. Earlier changes cannot have hidden one.
    let before = change.checked_sub(1.second()).ok()?;
    match step.floor(zone.to_datetime(before))? == floor {
        true => instant(step, zone, floor, before),
        false => self::begin(step, zone, before),
    }
}

/// When the clock on the wall showed `floor`: of two such moments the last that is not later than `at`, or the first for days.
fn instant(step: Step, zone: &TimeZone, floor: DateTime, at: Timestamp) -> Option<Timestamp> {
    let when = |offset: Offset| offset.to_timestamp(floor).ok();
    match zone.to_ambiguous_timestamp(floor).offset() {
        AmbiguousOffset::Unambiguous { offset } => when(offset),
        AmbiguousOffset::Fold { before, after } => {
            let later = when(after)?;
            match !step.is_of_days() && later <= at {
                true => Some(later),
                false => when(before),
            }
        }
        AmbiguousOffset::Gap { before, .. } => {
            let change = last_change(zone, when(before)?)?;
            match step {
                Step::Calendar(Unit::Second | Unit::Minute | Unit::Hour) => {
                    begin(step, zone, change.checked_sub(1.second()).ok()?)
                }
                Step::Seconds(_)
                | Step::Calendar(
                    Unit::Day | Unit::Week | Unit::Month | Unit::Quarter | Unit::Year,
                ) => Some(change),
            }
        }
    }
}

/// The last change of a zone's clocks up to a moment of whole seconds, which may be that moment. `None`: there was none.
fn last_change(zone: &TimeZone, at: Timestamp) -> Option<Timestamp> {
    let behind = at.checked_add(1.second()).ok()?;
    zone.preceding(behind)
        .next()
        .map(|change| change.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moments_in_order_are_in_buckets_in_order_and_a_begin_is_in_its_own_bucket(
            zone in proptest::sample::select(&["Europe/Berlin", "Australia/Lord_Howe", "America/Havana", "Asia/Kolkata", "Africa/Casablanca"][..]),
            seconds in prop_oneof![1_600_000_000i64..1_760_000_000, 1_729_980_000i64..1_730_000_000, 1_728_130_000i64..1_728_160_000],
            later in 0i64..20_000,
            step in prop_oneof![
                proptest::sample::select(&[60, 900, 2_700, 3_600, 10_800, 86_400, 864_000][..]).prop_map(Step::Seconds),
                proptest::sample::select(&[Unit::Minute, Unit::Hour, Unit::Day, Unit::Week, Unit::Month][..]).prop_map(Step::Calendar),
            ],
        ) {
            let zone = jiff::tz::TimeZoneDatabase::bundled().get(zone).unwrap();
            let at = |seconds| Timestamp::from_second(seconds).unwrap();
            let of = |moment| begin(step, &zone, moment).unwrap();
            let (first, second) = (of(at(seconds)), of(at(seconds + later)));
            prop_assert!(first <= at(seconds) && first <= second);
            prop_assert_eq!(of(first), first);
        }
    }
}
