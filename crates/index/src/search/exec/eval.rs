//! Which rows of a page match a tree of steps.
//!
//! Each step gives a set of rows ([`Rows`]): a short list or a bitmap. An AND starts with its
//! cheapest operand and narrows it by the others. An OR unites bitmaps, a quorum counts in bitmaps.
//! A phrase reads the places of rows that hold all its words.
//!
//! A query may have thousands of steps. One that is stopped leaves steps out: its caller asks [`Control::check`] before it uses rows.
//!
//! [`Control::check`]: crate::control::Control::check

use super::super::plan::{Fields, Placed, Step};
use super::lists::View;
use super::places::{Places, RowPlaces};
use super::rows::{FEW, Rows};
use super::scratch::Scratch;
use crate::error::Result;
use crate::postings::{PAGE_BITS, PAGE_WORDS, Page};
use crate::wide::wide;

/// The rows of a page that match a step, deleted ones included.
pub(super) fn matches(step: &Step, view: &View<'_>, scratch: &mut Scratch) -> Rows {
    match step {
        Step::All => every(view, scratch),
        Step::Word { word, fields } => word_rows(*word, *fields, view, scratch),
        Step::Phrase { words, fields, .. } => {
            let mut joined = std::mem::take(&mut scratch.joined);
            joined.find_phrase(words, *fields, view, scratch);
            let rows = Rows::of(joined.lows(), scratch);
            scratch.joined = joined;
            rows
        }
        Step::And { required, excluded } => {
            let mut rows = all(required.iter().map(Operand::of).collect(), view, scratch);
            for step in excluded {
                if rows.is_empty() || view.is_stopped() {
                    break;
                }
                narrow(&mut rows, Operand::of(step), false, view, scratch);
            }
            rows
        }
        Step::AtLeast { parts, least: 1 } => any(parts, view, scratch),
        Step::AtLeast { parts, least } => at_least(parts, *least, view, scratch),
        Step::Maybe(wanted, _) => matches(wanted, view, scratch),
        Step::Placed { needs, placed, .. } => {
            let mut rows = matches(needs, view, scratch);
            keep(placed, &mut rows, view, scratch);
            rows
        }
    }
}

/// An operand of an AND, required or excluded.
enum Operand<'s> {
    /// A word in any field: rows are looked up in its page, and no set is built.
    Word(usize),
    Step(&'s Step),
}

impl Operand<'_> {
    fn of(step: &Step) -> Operand<'_> {
        match step {
            Step::Word { word, fields } if fields.every => Operand::Word(*word),
            step => Operand::Step(step),
        }
    }

    /// Whether places are read of each row. Such operands come last, for the rows that all others leave.
    fn is_placed(&self) -> bool {
        matches!(self, Operand::Step(Step::Placed { .. }))
    }

    /// Upper bound of the operand's rows.
    fn cost(&self, view: &View<'_>) -> usize {
        match self {
            Operand::Word(word) => view.word(*word).len(),
            Operand::Step(step) => cost(step, view),
        }
    }
}

/// Upper bound of the rows of a page that match a step.
fn cost(step: &Step, view: &View<'_>) -> usize {
    let each = |parts: &[Step]| -> usize { parts.iter().map(|part| cost(part, view)).sum() };
    match step {
        Step::All => view.rows as usize,
        Step::Word { word, .. } => view.word(*word).len(),
        Step::Phrase { words, .. } => {
            let lengths = words.iter().map(|(word, _)| view.word(*word).len());
            lengths.min().unwrap_or(0)
        }
        Step::And { required, .. } => {
            let costs = required.iter().map(|part| cost(part, view));
            costs.min().unwrap_or(0)
        }
        Step::AtLeast { parts, least } => each(parts) / least.max(&1),
        Step::Maybe(wanted, _) => cost(wanted, view),
        Step::Placed { needs, .. } => cost(needs, view),
    }
    .min(view.rows as usize)
}

/// The rows that hold each of these words, deleted ones included.
pub(super) fn with_all(words: &[u32], view: &View<'_>, scratch: &mut Scratch) -> Rows {
    let parts = words.iter().map(|word| Operand::Word(*word as usize));
    all(parts.collect(), view, scratch)
}

/// All rows of the page, deleted ones included.
fn every(view: &View<'_>, scratch: &mut Scratch) -> Rows {
    let mut bitmap = scratch.bitmap();
    for (at, word) in bitmap.iter_mut().enumerate() {
        let left = (view.rows as usize).saturating_sub(at * 64).min(64) as u32;
        *word = u64::MAX.checked_shr(64 - left).unwrap_or(0);
    }
    Rows::Many(bitmap)
}

/// The rows that hold a word in one of `fields`.
fn word_rows(word: usize, fields: Fields, view: &View<'_>, scratch: &mut Scratch) -> Rows {
    let page = view.word(word);
    let mut rows = match page.array() {
        Some(array) if array.len() < FEW => {
            let mut lows = scratch.lows();
            lows.extend(array.iter().map(|low| u16::from_le_bytes(*low)));
            Rows::Few(lows)
        }
        _ => {
            let mut bitmap = scratch.bitmap();
            page.unite(&mut bitmap);
            Rows::Many(bitmap)
        }
    };
    if !fields.every {
        let sets = view.field_sets(word);
        let mut posting = 0;
        rows.retain(|_| {
            posting += 1;
            let set = match sets.and_then(|sets| sets.get(posting - 1)) {
                Some(set) => u64::from(*set),
                None => view.fields(word, posting - 1),
            };
            set & fields.set != 0
        });
    }
    rows
}

/// The rows that match every operand: the rows of the cheapest, narrowed by the others.
fn all(mut parts: Vec<Operand<'_>>, view: &View<'_>, scratch: &mut Scratch) -> Rows {
    parts.sort_by_cached_key(|part| (part.is_placed(), part.cost(view)));
    let mut parts = parts.into_iter();
    let mut rows = match parts.next() {
        None => every(view, scratch),
        Some(part) if part.cost(view) == 0 => Rows::Few(scratch.lows()),
        Some(Operand::Step(step)) => matches(step, view, scratch),
        Some(Operand::Word(word)) => {
            let fields = Fields {
                set: u64::MAX,
                every: true,
            };
            word_rows(word, fields, view, scratch)
        }
    };
    for part in parts {
        if rows.is_empty() || view.is_stopped() {
            break;
        }
        narrow(&mut rows, part, true, view, scratch);
    }
    rows
}

/// Keeps the rows that match an operand; with `inside` false, those that do not.
fn narrow(
    rows: &mut Rows,
    part: Operand<'_>,
    inside: bool,
    view: &View<'_>,
    scratch: &mut Scratch,
) {
    match part {
        Operand::Step(Step::Placed { needs, placed, .. }) => {
            let mut other = matches(needs, view, scratch);
            other.intersect(rows, true);
            keep(placed, &mut other, view, scratch);
            rows.intersect(&other, inside);
            scratch.give(other);
        }
        Operand::Step(step) => {
            let other = matches(step, view, scratch);
            rows.intersect(&other, inside);
            scratch.give(other);
        }
        Operand::Word(word) => {
            let page = view.word(word);
            if let (Rows::Many(bitmap), Some(words)) = (&mut *rows, page.bits()) {
                let flip = if inside { 0 } else { u64::MAX };
                for (word, other) in bitmap.iter_mut().zip(words) {
                    *word &= u64::from_le_bytes(*other) ^ flip;
                }
                return;
            }
            if let Rows::Few(lows) = rows {
                return narrow_page(page, lows, inside);
            }
            let mut hint = 0;
            rows.retain(|low| page.has(low, &mut hint) == inside);
        }
    }
}

/// The rows that match at least one step.
fn any(parts: &[Step], view: &View<'_>, scratch: &mut Scratch) -> Rows {
    let mut bitmap = scratch.bitmap();
    let is_placed = |part: &Step| matches!(part, Step::Placed { .. });
    for part in parts.iter().filter(|part| !is_placed(part)) {
        if view.is_stopped() {
            break;
        }
        match Operand::of(part) {
            Operand::Word(word) => view.word(word).unite(&mut bitmap),
            Operand::Step(step) => {
                let rows = matches(step, view, scratch);
                rows.unite(&mut bitmap);
                scratch.give(rows);
            }
        }
    }
    let mut found = Rows::Many(bitmap);
    for part in parts.iter().filter(|part| is_placed(part)) {
        if view.is_stopped() {
            break;
        }
        // Places are read of the rows that no other part has found.
        if let Step::Placed { needs, placed, .. } = part {
            let mut rows = matches(needs, view, scratch);
            rows.intersect(&found, false);
            keep(placed, &mut rows, view, scratch);
            if let Rows::Many(bitmap) = &mut found {
                rows.unite(bitmap);
            }
            scratch.give(rows);
        }
    }
    found
}

/// The rows that match at least `least` steps. Bitmap `n` (from 0) holds the rows that match more
/// than `n` of the steps added so far. Adding a step carries a row from each bitmap to the next.
fn at_least(parts: &[Step], least: usize, view: &View<'_>, scratch: &mut Scratch) -> Rows {
    if least > parts.len() {
        return Rows::Few(scratch.lows());
    }
    if least == 0 {
        return every(view, scratch);
    }
    let mut counted: Vec<_> = (0..least).map(|_| scratch.bitmap()).collect();
    for part in parts {
        if view.is_stopped() {
            break;
        }
        let mut bitmap = scratch.bitmap();
        let rows = matches(part, view, scratch);
        rows.unite(&mut bitmap);
        scratch.give(rows);
        for at in 0..PAGE_WORDS {
            let mut carry = bitmap[at];
            for counted in &mut counted {
                let both = counted[at] & carry;
                counted[at] |= carry;
                carry = both;
            }
        }
        scratch.give(Rows::Many(bitmap));
    }
    let rows = counted.pop();
    counted
        .into_iter()
        .for_each(|bitmap| scratch.give(Rows::Many(bitmap)));
    rows.map_or(Rows::Few(Vec::new()), Rows::Many)
}

/// Rows ahead of their turn whose ends of texts are fetched from memory.
const ENDS_AHEAD: usize = 8;

/// Keeps the rows of a page that a tree matches; none where the search was stopped, with the reason in [`Places::failure`].
fn keep(placed: &Placed, rows: &mut Rows, view: &View<'_>, scratch: &mut Scratch) {
    let mut places = std::mem::take(&mut scratch.places);
    let (mut lows, mut kept) = (scratch.lows(), scratch.lows());
    rows.each(|low| lows.push(low));
    let result = match (&placed.word, &placed.two) {
        (Some(word), _) => word.keep(&lows, view, &mut kept),
        (None, Some(two)) => two.keep(&lows, view, &mut kept),
        (None, None) => keep_by_windows(placed, &lows, view, &mut places, &mut kept),
    };
    if let Err(error) = result {
        kept.clear();
        places.failure = Some(error);
    }
    let found = Rows::of(&kept, scratch);
    scratch.give(std::mem::replace(rows, found));
    scratch.give(Rows::Few(lows));
    scratch.give(Rows::Few(kept));
    scratch.places = places;
}

/// Adds those of the rows `lows` that a tree matches. Errors: `Interrupted`, `Io`, `Corrupt`.
fn keep_by_windows(
    placed: &Placed,
    lows: &[u16],
    view: &View<'_>,
    places: &mut Places,
    kept: &mut Vec<u16>,
) -> Result<()> {
    places.each_window(placed, lows, view, |places, window| {
        for (row, low) in window.iter().enumerate() {
            if placed.asks_ends
                && let Some(ahead) = window.get(row + ENDS_AHEAD)
            {
                view.texts.part.fetch_text_ends(view.doc(*ahead));
            }
            view.control.spend(DOCUMENT_UNITS)?;
            let document = RowPlaces::new(&places.columns, row, *low, view);
            let matches = placed.verifier.matches_in(&document, &mut places.buffers);
            document.check()?;
            if matches {
                kept.push(*low);
            }
        }
        Ok(())
    })
}

/// Units of a row whose places decide.
const DOCUMENT_UNITS: u64 = 300;

/// The rows of a page that are in `docs`, which rises.
pub(super) fn listed(docs: &[u32], page: usize, scratch: &mut Scratch) -> Rows {
    let start = docs.partition_point(|doc| ((doc >> PAGE_BITS) as usize) < page);
    let here = docs[start..]
        .iter()
        .take_while(|doc| (*doc >> PAGE_BITS) as usize == page);
    let mut lows = scratch.lows();
    lows.extend(here.map(|doc| *doc as u16));
    Rows::Few(lows)
}

wide! {
    fn narrow_page(page: &Page<'_>, lows: &mut Vec<u16>, inside: bool) = Page::narrow
}
