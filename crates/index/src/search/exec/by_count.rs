//! An OR of words whose best rows hold the most of them, with the file of their counts: `word_counts.rs`.

use super::either::Split;
use super::enter;
use super::essential::unite;
use super::eval;
use super::job::Out;
use super::page::PageRun;
use super::rank;
use super::rows::Rows;
use super::score::Scorer;
use super::word_counts::Counted;
use crate::error::Result;
use crate::postings::{Bitmap, Page};
use crate::wide::wide;

/// Counts the rows of an OR of words, and weighs them by falling number of query words that
/// they hold. The first rows raise the threshold; rows of too few words are never weighed.
pub(super) fn run<'r>(
    on: &PageRun<'r, '_>,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    let (words, least) = (scorer.words_here(), scorer.least_count());
    if least >= words.len() {
        let split = Split {
            rest: &words,
            essential: &[],
        };
        let (mut matched, mut none) = (out.scratch.bitmap(), out.scratch.bitmap());
        unite(&split, &on.view, &mut matched, &mut none);
        out.scratch.give(Rows::Many(none));
        let matched = on.total(matched, out)?;
        if least == words.len() {
            let rows = eval::with_all(&words, &on.view, out.scratch);
            rank::rank_accepted(on, rows, &matched, scorer, out)?;
        }
        out.scratch.give(matched);
        return Ok(());
    }
    let mut counted = Counted::new(words.len(), out.scratch);
    for word in &words {
        add(&mut counted, on.view.word(*word as usize));
    }
    let mut matched = out.scratch.bitmap();
    matched_by(&counted, &mut matched);
    let matched = on.total(matched, out)?;
    for count in (1..=words.len()).rev() {
        scorer.rewind(count);
        scorer.raise(enter::threshold(on, out)?);
        if scorer.may_enter() {
            let mut rows = out.scratch.bitmap();
            rows_of(&counted, count, &mut rows);
            rank::rank_accepted(on, Rows::Many(rows), &matched, scorer, out)?;
        }
    }
    out.scratch.give(matched);
    counted.end(out.scratch);
    Ok(())
}

wide! {
    fn add(counted: &mut Counted, page: &Page<'_>) = Counted::add
}

wide! {
    fn matched_by(counted: &Counted, out: &mut Bitmap) = Counted::matched
}

wide! {
    fn rows_of(counted: &Counted, words: usize, out: &mut Bitmap) = Counted::rows
}
