//! What work costs, counted while it is done, so that a statement can be stopped inside one row.
//!
//! A unit is roughly a nanosecond of processor time. Work that grows with its input is counted **before** it is done, in pieces of at
//! most some 100,000 units: a budget that is spent ends it before the next piece, and no piece holds a thread up for long. The value
//! of an evaluation whose meter has stopped is of no use. Its caller asks the meter after the evaluation, and before it uses the
//! value.
//!
//! Example: `HEX(title)` over a title of 2 MiB counts 4 units a byte in 128 pieces of 16 KiB. KILL stops the meter between two.

use std::cell::Cell;

/// Counts the work of a statement, and says when it is to end.
pub trait Meter {
    /// Counts units of work that is done next. May wait, where the statement is to give way to others.
    fn spend(&self, units: u64);

    /// Whether the work is to end. Must be cheap.
    fn is_stopped(&self) -> bool;

    /// A value of [`WIDE_BYTES`] or more is in memory that nobody has counted, up to a call of [`Meter::lets_go_of_wide`]. Till then a
    /// meter that may wait does not, for a while.
    fn holds_wide(&self) {}

    /// The value is gone, or its memory is counted.
    fn lets_go_of_wide(&self) {}
}

/// Bytes from which on a value of a row is wide.
pub const WIDE_BYTES: usize = 1 << 20;

/// Whether wide values of a row are held. Dropped, it lets go of them.
pub struct HeldWide<'m> {
    meter: &'m dyn Meter,
    is_held: Cell<bool>,
}

impl<'m> HeldWide<'m> {
    /// Holds none yet.
    #[must_use]
    /// The work of an evaluation that has done none yet.
    pub fn new(meter: &'m dyn Meter) -> HeldWide<'m> {
        HeldWide {
            meter,
            is_held: Cell::new(false),
        }
    }

    /// Notes that memory of that many bytes is held.
    #[inline]
    pub fn note(&self, bytes: usize) {
        if bytes >= WIDE_BYTES && !self.is_held.replace(true) {
            self.meter.holds_wide();
        }
    }
}

impl Drop for HeldWide<'_> {
    fn drop(&mut self) {
        if self.is_held.get() {
            self.meter.lets_go_of_wide();
        }
    }
}

/// The meter of work that nobody counts, as its input is short and the server's own.
#[derive(Clone, Copy, Debug)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn spend(&self, _units: u64) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

/// A meter that stops once a number of units is spent.
#[derive(Debug)]
pub struct Budget(Cell<u64>);

impl Budget {
    /// A budget of that many units.
    #[must_use]
    pub fn new(units: u64) -> Budget {
        Budget(Cell::new(units))
    }

    /// Units left; 0: it has stopped.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.0.get()
    }
}

impl Meter for Budget {
    fn spend(&self, units: u64) {
        self.0.set(self.0.get().saturating_sub(units));
    }

    fn is_stopped(&self) -> bool {
        self.0.get() == 0
    }
}

/// Units that are gathered before the meter is told of them: a call of the meter takes a few nanoseconds.
const UNITS_GATHERED: u64 = 20_000;

/// Bytes of a text that a loop of some nanoseconds a byte takes at a time.
pub const PIECE_BYTES: usize = 16 << 10;

/// The work of one evaluation. It tells its meter of the rest when it is dropped.
pub struct Work<'m> {
    meter: &'m dyn Meter,
    gathered: Cell<u64>,
    is_stopped: Cell<bool>,
}

impl<'m> Work<'m> {
    /// The work of an evaluation that has done none yet.
    pub fn new(meter: &'m dyn Meter) -> Work<'m> {
        Work {
            meter,
            gathered: Cell::new(0),
            is_stopped: Cell::new(false),
        }
    }

    /// Counts work that is done next, however short its pieces are.
    #[inline]
    pub fn spend(&self, units: u64) {
        let gathered = self.gathered.get().saturating_add(units);
        self.gathered.set(gathered);
        if gathered >= UNITS_GATHERED {
            self.tell();
        }
    }

    /// Counts work that is done next. `None`: it is not to be done, as the meter has stopped.
    #[inline]
    pub fn begin(&self, units: u64) -> Option<()> {
        self.spend(units);
        (!self.is_stopped.get()).then_some(())
    }

    /// Counts the copy of a text of that many bytes, as [`Work::begin`].
    #[inline]
    pub fn copy(&self, bytes: usize) -> Option<()> {
        self.begin(bytes as u64 / 4)
    }

    /// Whether the meter had stopped when it was last told.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    fn tell(&self) {
        self.meter.spend(self.gathered.replace(0));
        self.is_stopped.set(self.meter.is_stopped());
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        if self.gathered.get() > 0 {
            self.meter.spend(self.gathered.get());
        }
    }
}

/// The pieces of a text, each of at most [`PIECE_BYTES`] bytes, cut between characters.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        rest = behind;
        Some(piece)
    })
}

/// Calls `visit` with the places of `wanted` in a text, the first one first, none overlapping another, until it returns false.
/// `wanted` is not empty. `None`: the meter has stopped.
pub fn each_place(
    text: &str,
    wanted: &str,
    work: &Work<'_>,
    visit: &mut dyn FnMut(usize) -> bool,
) -> Option<()> {
    let piece = PIECE_BYTES.max(2 * wanted.len());
    let mut from = 0;
    while from + wanted.len() <= text.len() {
        let end = text.ceil_char_boundary(from + piece);
        work.begin(3 * (end - from) as u64)?;
        let mut behind = from;
        for (at, _) in text[from..end].match_indices(wanted) {
            behind = from + at + wanted.len();
            if !visit(from + at) {
                return Some(());
            }
        }
        if end == text.len() {
            break;
        }
        // Places from here on may reach beyond the piece.
        from = behind.max(text.floor_char_boundary(end + 1 - wanted.len()));
    }
    Some(())
}

/// As [`each_place`], the last one first.
pub fn each_place_backwards(
    text: &str,
    wanted: &str,
    work: &Work<'_>,
    visit: &mut dyn FnMut(usize) -> bool,
) -> Option<()> {
    let piece = PIECE_BYTES.max(2 * wanted.len());
    let mut to = text.len();
    while to >= wanted.len() {
        let start = text.floor_char_boundary(to.saturating_sub(piece));
        work.begin(3 * (to - start) as u64)?;
        let mut before = to;
        for (at, _) in text[start..to].rmatch_indices(wanted) {
            before = start + at;
            if !visit(start + at) {
                return Some(());
            }
        }
        if start == 0 {
            break;
        }
        // Places that end up to here may begin before the piece.
        to = before.min(text.ceil_char_boundary(start + wanted.len() - 1));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_budget_stops_work_before_the_piece_that_exceeds_it() {
        let budget = Budget::new(UNITS_GATHERED);
        let work = Work::new(&budget);
        assert_eq!(work.begin(UNITS_GATHERED - 1), Some(()));
        assert_eq!(budget.left(), UNITS_GATHERED, "gathered first");
        assert_eq!(work.begin(1), None);
        assert!(work.is_stopped() && budget.is_stopped());
    }

    #[test]
    fn the_rest_is_told_at_the_end() {
        let budget = Budget::new(100);
        assert_eq!(Work::new(&budget).begin(7), Some(()));
        assert_eq!(budget.left(), 93);
    }

    /// Texts longer than a piece, in which places lie on the cuts.
    fn long(text: &str, before: usize) -> String {
        let mut long = "x".repeat(PIECE_BYTES - before);
        long.push_str(&text.repeat(9));
        long.push_str(&"y".repeat(PIECE_BYTES));
        long.push_str(text);
        long
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_whole_text(text in "[abé]{1,8}", wanted in "[abéx]{1,4}", before in 0_usize..40) {
            let (text, work) = (long(&text, before), Work::new(&Unmetered));
            let mut found = Vec::new();
            let all = each_place(&text, &wanted, &work, &mut |at| { found.push(at); true });
            let known: Vec<usize> = text.match_indices(&wanted).map(|(at, _)| at).collect();
            prop_assert_eq!((all, found), (Some(()), known));
            let mut found = Vec::new();
            let all = each_place_backwards(&text, &wanted, &work, &mut |at| { found.push(at); true });
            let known: Vec<usize> = text.rmatch_indices(&wanted).map(|(at, _)| at).collect();
            prop_assert_eq!((all, found), (Some(()), known));
        }
    }

    #[test]
    fn pieces_are_cut_between_characters_and_leave_nothing_out() {
        let text = "aé€".repeat(PIECE_BYTES);
        assert!(pieces(&text).all(|piece| (1..=PIECE_BYTES).contains(&piece.len())));
        assert_eq!(pieces(&text).collect::<String>(), text);
    }
}
