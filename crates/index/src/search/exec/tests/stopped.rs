//! A stop among the rows of a page that a condition is asked of.

use super::super::buffers::Buffers;
use super::super::filter::FilteredPage;
use super::super::lists::View;
use super::super::page::PageRun;
use super::super::rows::Rows;
use super::super::score::Scorer;
use super::super::way;
use super::*;
use crate::error::{Error, Reason, Result};
use crate::snapshot::PartIndex;

#[test]
fn a_condition_ends_among_the_rows_of_a_page() {
    let snapshot = table(1, &[3_000], 1);
    let part = snapshot.part(PartIndex(0));
    let control = Control::default();
    control.interrupt.stop(Reason::Killed);
    let filtered = FilteredPage {
        at: PartIndex(0),
        part,
        page: 0,
        rows: part.rows(),
        control: &control,
    };
    // Row by row, and in blocks of whole numbers; of some rows of the page, of most, and of all.
    for text in ["n + 0.5 > 3", "n % 7 = 3"] {
        for every in [5, 2, 1] {
            let condition = expression::parse(&mut Lexer::new(text.as_bytes())).unwrap();
            let select = Select {
                matching: None,
                ..select("", Some(condition), &[], None)
            };
            let bound = snapshot.bind(&select, &Options::default()).unwrap();
            let filter = Filter::new(bound.condition.as_ref().unwrap(), &snapshot, None);
            let lows: Vec<u16> = (0..part.rows() as u16).step_by(every).collect();
            let mut buffers = Buffers::default();
            let mut rows = Rows::of(&lows, &mut buffers);
            let ended = filter.narrow(&filtered, &mut rows, &mut buffers);
            let reason = Reason::Killed;
            assert!(
                matches!(ended, Err(Error::Interrupted { reason: why }) if why == reason),
                "{text}, every {every}: {ended:?}"
            );
        }
    }
}

/// Runs the first page of a table for a query whose search was stopped, and returns how it ended.
fn first_page(text: &str, ranker: Ranker, keep: Option<u64>) -> Result<()> {
    let snapshot = table(1, &[3_000], 1);
    let query = language::parse(text, &["body"], &snapshot.shape.analyzer).unwrap();
    let (select, options) = (select(text, None, &[], None), options(ranker));
    let bound = snapshot.bind(&select, &options).unwrap();
    let control = Control::default();
    let (plan, words) = plan(&snapshot, &bound, &query, &control).unwrap();
    let job = Job {
        snapshot: &snapshot,
        ranked: true,
        plan: Some(plan),
        words,
        candidates: None,
        filter: None,
        order: Arc::clone(&bound.order),
        keep,
        lists: Opened::new(&snapshot),
        only: None,
        stops: false,
        in_blocks: false,
    };
    let (at, part) = (PartIndex(0), snapshot.part(PartIndex(0)));
    let (shared, lists) = (Shared::new(&control), job.lists(PartIndex(0)).unwrap());
    let mut view = View::new(lists, job.texts(part), &control);
    view.turn(0);
    let mut scorer = job
        .plan
        .as_ref()
        .map(|plan| Scorer::new(plan, lists, &control));
    control.interrupt.stop(Reason::Killed);
    let run = PageRun {
        job: &job,
        shared: &shared,
        at,
        part,
        view,
        id_first: None,
        filter: None,
        joins: None,
    };
    let mut top = Gathered::new(Top::new(Arc::clone(&job.order), keep));
    way::run(&run, scorer.as_mut(), &mut top.out())
}

#[test]
fn queries_end_among_the_rows_of_a_page() {
    let texts = [
        "w0 | w1 | w2",
        "w0 w1",
        "w0 MAYBE w1",
        "\"w0 w1 w2\"/2",
        "\"w0 w1\" | w2",
        "w0 NEAR/3 w1 NEAR/3 w2",
        "w*",
        "w0 | (w1 w2) | w0 | w1",
    ];
    for text in texts {
        for ranker in [Ranker::ProximityBm25, Ranker::Bm25, Ranker::Sph04] {
            for keep in [Some(5), None] {
                let ended = first_page(text, ranker, keep);
                assert!(
                    matches!(
                        ended,
                        Err(Error::Interrupted {
                            reason: Reason::Killed
                        })
                    ),
                    "{text}: {ended:?}"
                );
            }
        }
    }
}
