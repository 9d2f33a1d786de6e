//! A stop among the rows of a page that a condition is asked of.

use super::super::buffers::Buffers;
use super::super::filter::FilteredPage;
use super::super::rows::Rows;
use super::*;
use crate::error::{Error, Reason};
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
