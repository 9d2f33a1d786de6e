//! The executor's loops over whole pages, compiled for what the processor can do: for any, and with the instructions that
//! those of the last ten years have. One code that goes through the compiler twice: counting bits takes one instruction where the
//! common baseline needs a dozen, and bitmaps are united 32 bytes at a time.
#![allow(
    unsafe_code,
    reason = "functions compiled for a processor that was asked for are unsafe to call"
)]

use super::either::{self, Essential, Split};
use super::filter::{self, Numbers};
use super::join::Weights;
use super::joined::Joined;
use super::lists::View;
use super::phrase::Phrase;
use super::rows::{self, RowsRef};
use super::score::{Picking, Scorer};
use super::scratch::Scratch;
use super::word_counts::Counted;
use crate::postings::{Bitmap, Page};

/// Declares a function twice, once for newer processors, and one that chooses.
macro_rules! wide {
    ($(#[$doc:meta])* $name:ident ( $($argument:ident : $kind:ty),* ) $(-> $result:ty)? = $plain:path) => {
        $(#[$doc])*
        pub(super) fn $name($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn newer($($argument: $kind),*) $(-> $result)? {
                    $plain($($argument),*)
                }
                if has_avx2() {
                    // SAFETY: the processor has every feature that the function is compiled with, as was just asked.
                    return unsafe { newer($($argument),*) };
                }
            }
            $plain($($argument),*)
        }
    };
}

wide! {
    /// [`either::unite`].
    unite(split: &Split<'_>, view: &View<'_>, matched: &mut Bitmap, several: &mut Bitmap) = either::unite
}

wide! {
    /// [`either::add_singles`].
    add_singles(page: &Page<'_>, essential: &Essential<'_>, into: &mut Bitmap) = either::add_singles
}

wide! {
    /// [`Counted::add`].
    add(counted: &mut Counted, page: &Page<'_>) = Counted::add
}

wide! {
    /// [`Counted::matched`].
    matched(counted: &Counted, out: &mut Bitmap) = Counted::matched
}

wide! {
    /// [`Counted::rows`].
    rows_of(counted: &Counted, words: usize, out: &mut Bitmap) = Counted::rows
}

wide! {
    /// [`filter::compare`].
    compare(column: &[[u8; 8]], numbers: Numbers, bitmap: &mut Bitmap) = filter::compare
}

wide! {
    /// [`rows::count`].
    count(bitmap: &Bitmap) -> usize = rows::count
}

wide! {
    /// [`RowsRef::gather`].
    gather(rows: RowsRef<'_>, lows: &mut Vec<u16>) = RowsRef::gather
}

wide! {
    /// [`Scorer::pick`].
    pick(scorer: &mut Scorer<'_>, rows: &[u16], picking: &mut Picking, out: &mut Vec<(u16, i64)>) = Scorer::pick
}

wide! {
    /// [`Page::narrow`].
    narrow(page: &Page<'_>, lows: &mut Vec<u16>, inside: bool) = Page::narrow
}

wide! {
    /// [`Joined::find`].
    join(joined: &mut Joined, words: &mut dyn Iterator<Item = usize>, view: &View<'_>, scratch: &mut Scratch) = Joined::find
}

wide! {
    /// [`Phrase::keep`].
    keep_phrase(phrase: &mut Phrase<'_>, rows: &mut Joined, view: &View<'_>) = Phrase::keep
}

wide! {
    /// [`Weights::pick`].
    pick_joined(weights: &Weights<'_>, rows: &mut Joined, view: &View<'_>, out: &mut Vec<(u16, i64)>) = Weights::pick
}

wide! {
    /// [`Scorer::weigh`].
    weigh(scorer: &mut Scorer<'_>, low: u16, view: &View<'_>, last: &mut dyn FnMut(u8) -> u32) -> Option<i64> = Scorer::weigh
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}
