//! Power cuts: after a restart each acknowledged write is there once, and no refused write is there.

use std::sync::Arc;

use disk::{FaultDisk, MemoryDisk, everything_kept, everything_lost};
use engine::{Now, Options};
use proptest::prelude::*;

use crate::driver::{Driver, options};
use crate::model::Model;
use crate::power::{mixed_cut, places};
use crate::workload::{Asked, asked, cases, create_schema, dump, play, seal_rows, worded};

fn options_on(disk: &FaultDisk, seal_rows: u32) -> Options {
    Options {
        seal_rows,
        ..options(Arc::new(disk.clone()))
    }
}

/// What a crash image holds, once opened; twice, so that opening changes nothing.
fn recovered(image: MemoryDisk, seal_rows: u32) -> Vec<String> {
    let options = Options {
        seal_rows,
        ..options(Arc::new(image))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    let first = dump(&mut driver);
    let mut driver = driver.reopen().unwrap();
    assert_eq!(dump(&mut driver), first, "the second opening");
    first
}

fn free_of_owners(model: &Model) -> Vec<String> {
    let mut model = model.clone();
    model.restart();
    model.dump()
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn every_image_after_a_batch_reopens_to_what_was_acknowledged(
        asked in proptest::collection::vec(asked(), 1..25),
        batch in 1..4usize,
        seal_rows in seal_rows(),
        cut in mixed_cut(),
    ) {
        let disk = FaultDisk::new();
        let mut driver = Driver::open(options_on(&disk, seal_rows), Now::default()).unwrap();
        create_schema(&mut driver);
        let mut model = Model::default();
        for (number, batch) in asked.chunks(batch).enumerate() {
            for ((session, command), answer) in batch.iter().zip(play(&mut driver, batch)) {
                prop_assert_eq!(worded(answer), model.execute(*session, command));
            }
            let want = free_of_owners(&model);
            prop_assert_eq!(&recovered(disk.crash(everything_lost), seal_rows), &want);
            prop_assert_eq!(&recovered(disk.crash(everything_kept), seal_rows), &want);
            let image = cut.nth_image(&disk, number);
            prop_assert_eq!(&recovered(image, seal_rows), &want);
        }
    }

    #[test]
    fn power_lost_in_any_call_loses_nothing_acknowledged_and_halves_no_batch(
        asked in proptest::collection::vec(asked(), 1..28),
        batch in 1..4usize,
        seal_rows in seal_rows(),
        places in places(12),
        cut in mixed_cut(),
    ) {
        let calls = {
            let disk = FaultDisk::new();
            let run = run(&disk, &asked, batch, seal_rows);
            prop_assert!(run.in_flight.is_none());
            disk.change_count()
        };
        for (number, place) in places.iter().enumerate() {
            let call = place.index(calls as usize) as u64;
            let disk = FaultDisk::new();
            disk.power_off_after(call);
            let run = run(&disk, &asked, batch, seal_rows);
            let image = cut.nth_image(&disk, number);
            let found = recovered_or_empty(image, seal_rows);
            let acknowledged = run.acknowledged.as_ref().map(free_of_owners);
            let in_flight = run.in_flight.as_ref().map(free_of_owners);
            prop_assert!(
                found == acknowledged || (in_flight.is_some() && found == in_flight),
                "call {}: {:?} is neither {:?} nor {:?}", call, found, acknowledged, in_flight
            );
        }
    }
}

/// `None` before the schema is complete.
fn recovered_or_empty(image: MemoryDisk, seal_rows: u32) -> Option<Vec<String>> {
    let options = Options {
        seal_rows,
        ..options(Arc::new(image.clone()))
    };
    let driver = Driver::open(options, Now::default()).unwrap();
    let tables = driver.handle.snapshot().tables().len();
    drop(driver);
    (tables == crate::model::SCHEMA.len()).then(|| recovered(image, seal_rows))
}

struct Run {
    /// After the last batch that was acknowledged; `None` before the schema was.
    acknowledged: Option<Model>,
    /// With the batch that was not.
    in_flight: Option<Model>,
}

/// Plays until the engine ends.
fn run(disk: &FaultDisk, asked: &[Asked], batch: usize, seal_rows: u32) -> Run {
    let mut run = Run {
        acknowledged: None,
        in_flight: None,
    };
    let Ok(mut driver) = Driver::open(options_on(disk, seal_rows), Now::default()) else {
        return run;
    };
    for line in crate::model::SCHEMA {
        if driver.run(crate::statement::command(line)).is_err() {
            run.in_flight = Some(Model::default()); // the last table may be there
            return run;
        }
    }
    let mut model = Model::default();
    run.acknowledged = Some(model.clone());
    for batch in asked.chunks(batch) {
        let answers = play(&mut driver, batch);
        let mut after = model.clone();
        let wants: Vec<String> = batch
            .iter()
            .map(|(session, command)| after.execute(*session, command))
            .collect();
        let ended = answers
            .iter()
            .any(|answer| matches!(answer, Err(engine::Error::Poisoned { .. })));
        if ended {
            run.in_flight = Some(after);
            return run;
        }
        for (answer, want) in answers.into_iter().zip(wants) {
            // A checkpoint that cannot be written is refused; nothing depends on it.
            if want != "ok 0" {
                assert_eq!(worded(answer), want);
            }
        }
        model = after;
        run.acknowledged = Some(model.clone());
    }
    run
}
