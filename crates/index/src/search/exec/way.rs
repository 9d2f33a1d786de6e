//! The way through a page is chosen once. Each way counts exactly the same rows.
//!
//! | way | for | rows are found by | and weighed or listed in |
//! |---|---|---|---|
//! | `Joined` | an AND of words or a phrase, best by codes | `join.rs`, with their postings | `join.rs` |
//! | `ByCount` | an OR of few words, best by how many of them a row holds | `by_count.rs`, the most words first | `rank.rs` |
//! | `Marked` | an OR of many words, best by codes | `marked.rs`, one pass of marks | `rank.rs`, the highest marks first |
//! | `Essential` | an OR of few words, best by weight | `essential.rs`; most rows are counted in bitmaps and never weighed | `rank.rs` |
//! | `Any` | any other tree, best by weight | `eval.rs` | `rank.rs`, or `placed.rs` where places decide |
//! | `Listed` | another order than by weight, or all rows | `eval.rs` | `listed.rs` |

use super::super::plan::Plan;
use super::by_count;
use super::essential::{self, EITHER_WORDS};
use super::job::Out;
use super::page::PageRun;
use super::rows::{FEW, Rows};
use super::score::Scorer;
use super::{enter, join, listed, marked, placed, rank};
use crate::error::Result;

/// See the table above. A way that weighs rows has the scorer.
enum Way<'p, 's, 'r> {
    Joined(&'p Plan),
    ByCount(&'s mut Scorer<'r>),
    Marked(&'s mut Scorer<'r>, marked::Light),
    Essential(&'s mut Scorer<'r>),
    Any(&'s mut Scorer<'r>),
    Listed(Option<&'s mut Scorer<'r>>),
}

/// Adds the page's rows to an answer. `scorer`: where weights are asked for.
pub(super) fn run<'r>(
    on: &PageRun<'r, '_>,
    mut scorer: Option<&mut Scorer<'r>>,
    out: &mut Out<'_>,
) -> Result<()> {
    if let Some(scorer) = &mut scorer
        && on.job.is_cut()
    {
        scorer.turn_page(&on.view);
        scorer.raise(enter::threshold(on, out)?);
    }
    match chosen(on, scorer) {
        Way::Joined(plan) => join::join(on, plan, out),
        Way::ByCount(scorer) => by_count::run(on, scorer, out),
        Way::Marked(scorer, light) => marked::run(on, light, scorer, out),
        Way::Essential(scorer) => {
            let rows = essential::rows(on, scorer, out)?;
            weighed(on, rows, scorer, out)
        }
        Way::Any(scorer) => {
            let rows = on.counted(out)?;
            weighed(on, rows, scorer, out)
        }
        Way::Listed(scorer) => listed::run(on, scorer, out),
    }
}

fn chosen<'p, 's, 'r>(on: &PageRun<'p, '_>, scorer: Option<&'s mut Scorer<'r>>) -> Way<'p, 's, 'r> {
    let job = on.job;
    let scorer = match (scorer, on.joins) {
        (Some(scorer), _) if job.is_cut() => scorer,
        (None, Some(plan)) => return Way::Joined(plan),
        (scorer, _) => return Way::Listed(scorer),
    };
    // Bitmaps do not pay for rows that are a short list.
    let is_short = |plan: &Plan| {
        let lengths = (0..plan.words()).map(|word| on.view.word(word).len());
        lengths.sum::<usize>() < FEW
    };
    let is_listed = job.candidates.is_some() || job.only.is_some();
    let plan = job.plan.as_ref().filter(|_| !is_listed);
    let Some(plan) = plan.filter(|plan| plan.is_or_of_words()) else {
        return Way::Any(scorer);
    };
    let is_of_few = plan.words() <= EITHER_WORDS && !is_short(plan);
    if is_of_few && scorer.counts() {
        return Way::ByCount(scorer);
    }
    match marked::light(plan, scorer) {
        Some(light) => Way::Marked(scorer, light),
        None if is_of_few => Way::Essential(scorer),
        None => Way::Any(scorer),
    }
}

/// Weighs rows of a tree and takes those that reach the threshold.
fn weighed<'r>(
    on: &PageRun<'r, '_>,
    mut rows: Rows,
    scorer: &mut Scorer<'r>,
    out: &mut Out<'_>,
) -> Result<()> {
    if scorer.tells_weights() && scorer.is_wide(|| rows.len()) {
        marked::drop_low(&mut rows, scorer, |sum| scorer.most(sum), out);
    }
    let plan = on.job.plan.as_ref();
    match plan.and_then(|plan| Some((plan, plan.placed()?))) {
        Some((plan, placed)) => placed::rank_placed(on, &mut rows, plan, placed, scorer, out)?,
        None => rank::rank(on, &rows, scorer, out)?,
    }
    out.scratch.give(rows);
    Ok(())
}

#[cfg(test)]
mod tests {
    /// The ways of the enum and those of the table are the same, and each file of the table is there.
    #[test]
    fn the_table_has_each_way() {
        let text = include_str!("way.rs");
        let (head, code) = text.split_once("enum Way<'p, 's, 'r> {\n").unwrap();
        let (variants, _) = code.split_once("\n}").unwrap();
        let name = |line: &str| line.trim().split(['(', ',']).next().unwrap().to_owned();
        let variants: Vec<String> = variants.lines().map(name).collect();
        let rows = head.lines().filter_map(|line| line.strip_prefix("//! | `"));
        let rows: Vec<&str> = rows.collect();
        let named: Vec<&str> = rows
            .iter()
            .map(|row| row.split('`').next().unwrap())
            .collect();
        assert_eq!(variants, named);
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/search/exec");
        for file in rows
            .iter()
            .flat_map(|row| row.split('`'))
            .filter(|part| part.ends_with(".rs"))
        {
            assert!(folder.join(file).exists(), "no {file}");
        }
    }
}
