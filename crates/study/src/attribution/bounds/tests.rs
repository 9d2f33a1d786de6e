//! An error of a bound ends a computation, whichever step asks it.

use std::cell::Cell;

use super::Bounds;
use crate::attribution::amount::Amount;
use crate::attribution::events::{Events, OrderKind};
use crate::attribution::figures::{Places, figures};
use crate::attribution::settings::{Setting, Settings};
use crate::attribution::tally::Detail;

/// Says yes to a number of questions, and remembers the bytes.
struct Questions {
    left: Cell<usize>,
    bytes_max: usize,
    bytes: Cell<usize>,
}

impl Bounds for Questions {
    fn cover(&self, bytes: usize) -> Result<(), String> {
        self.bytes.set(self.bytes.get().max(bytes));
        match bytes <= self.bytes_max {
            true => Ok(()),
            false => Err("no room".to_owned()),
        }
    }

    fn check(&self) -> Result<(), String> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or_else(|| "stopped".to_owned())
    }
}

/// Twenty visitors with up to six touches of four channels and an order, by all models. Returns the questions that were asked and the
/// most bytes, or the message.
fn run(questions: usize, bytes_max: usize, detail: Detail) -> Result<(usize, usize), String> {
    let bounds = Questions {
        left: Cell::new(questions),
        bytes_max,
        bytes: Cell::new(0),
    };
    let mut settings = Settings::default();
    settings.set(Setting::Model, &["all".to_owned()]).unwrap();
    let mut events = Events::new(settings.naming());
    for visitor in 0..20_u8 {
        for touch in 0..=visitor % 6 {
            let name = format!("c{}", (visitor + touch) % 4);
            let channel = events.channels.of_name(name.as_bytes());
            let Ok(channel) = channel else {
                panic!("a good name")
            };
            events.touch(&[visitor], channel, i64::from(touch)).unwrap();
        }
        let value = Amount(1_000_000);
        events
            .order(&[visitor], &[visitor], value, 100, OrderKind::Counts)
            .unwrap();
    }
    let models = settings.models.clone();
    let rule = |channels: &[String]| settings.rule(channels);
    let counted = events.attribute(&settings.window, &models, detail, rule, &bounds)?;
    let paths = counted.paths.as_ref();
    let places = Places::default();
    figures(
        &models,
        &counted.tally,
        paths,
        &counted.channels,
        places,
        &bounds,
    )?;
    Ok((questions - bounds.left.get(), bounds.bytes.get()))
}

#[test]
fn a_computation_ends_at_each_question_that_is_answered_no() {
    let (asked, bytes) = run(usize::MAX, usize::MAX, Detail::Figures).unwrap();
    assert!(
        asked > 20,
        "one a visitor, and those of the models: {asked}"
    );
    assert!(run(asked, bytes, Detail::Figures).is_ok());
    for questions in 0..asked {
        let message = run(questions, usize::MAX, Detail::Figures).unwrap_err();
        // A model names itself before the message.
        assert!(message.ends_with("stopped"), "{questions}: {message}");
    }
    let message = run(usize::MAX, bytes - 1, Detail::Figures).unwrap_err();
    assert!(message.ends_with("no room"), "{message}");
}

#[test]
fn figures_alone_ask_for_no_more_than_a_report() {
    let (_, alone) = run(usize::MAX, usize::MAX, Detail::Figures).unwrap();
    let (_, report) = run(usize::MAX, usize::MAX, Detail::Report { rows: 20 }).unwrap();
    assert!(alone <= report);
}
