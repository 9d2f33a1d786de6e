//! Files under full disks, failing calls and power cuts, judged by what `sync` returned Ok for.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, at_random, everything_kept, everything_lost};
use proptest::prelude::*;

use super::{at, listing, messages, read, surroundings};
use crate::config::{FileBase, FileConfig, RotatePeriod};
use crate::store::file::{FileStore, buffer_file};
use crate::store::{Backlog, Store};

#[derive(Clone, Debug)]
enum Step {
    /// `count` new messages of `bytes` each.
    Write {
        count: usize,
        bytes: usize,
    },
    Sync,
    Look {
        minute: i64,
    },
    Hurt(Call, u64, Fault),
    Capacity(Option<u64>),
}

fn step() -> impl Strategy<Value = Step> {
    let calls = prop::sample::select(vec![
        (Call::Write, Fault::Short(7)),
        (Call::Write, Fault::Fail(ErrorKind::Other)),
        (Call::SetLen, Fault::Fail(ErrorKind::Other)),
        (Call::Create, Fault::Fail(ErrorKind::PermissionDenied)),
        (Call::Open, Fault::Fail(ErrorKind::Other)),
        (Call::List, Fault::Fail(ErrorKind::Other)),
    ]);
    prop_oneof![
        5 => (1..6_usize, 1..40_usize).prop_map(|(count, bytes)| Step::Write { count, bytes }),
        2 => Just(Step::Sync),
        1 => (0..240_i64).prop_map(|minute| Step::Look { minute }),
        2 => (calls, 1..3_u64).prop_map(|((call, fault), nth)| Step::Hurt(call, nth, fault)),
        1 => prop::option::of(1..4_u64).prop_map(|pages| Step::Capacity(pages.map(|pages| pages * 4096))),
    ]
}

/// A store, and the line that feeds it.
struct Run {
    disk: FaultDisk,
    store: FileStore,
    /// Messages that the store took, in order.
    accepted: Vec<String>,
    /// The first of them, which `sync` made durable.
    durable: usize,
    waiting: VecDeque<String>,
    made: usize,
    minute: i64,
}

fn store(disk: Arc<dyn Disk>, is_buffer: bool) -> FileStore {
    let config = FileConfig {
        base: FileBase {
            file_path: "/log".to_owned(),
            max_size: 150,
            max_write_size: 60,
            rotate_period: RotatePeriod::Hourly,
            ..FileBase::default()
        },
        add_newlines: true,
    };
    match is_buffer {
        true => buffer_file(&config, b"web", 0, &surroundings(&disk)).unwrap(),
        false => FileStore::new(&config, b"web", 0, &surroundings(&disk)).unwrap(),
    }
}

impl Run {
    fn new(disk: FaultDisk, is_buffer: bool) -> Run {
        Run {
            store: store(Arc::new(disk.clone()), is_buffer),
            disk,
            accepted: Vec::new(),
            durable: 0,
            waiting: VecDeque::new(),
            made: 0,
            minute: 0,
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Write { count, bytes } => {
                for _ in 0..*count {
                    self.made += 1;
                    self.waiting.push_back(format!("{:0bytes$}", self.made));
                }
                let batch: Vec<&str> = self.waiting.iter().map(String::as_str).collect();
                let written = self.store.write(&messages(&batch), at(1, self.minute));
                assert_eq!(written.failed.is_none(), written.taken == batch.len());
                self.accepted.extend(self.waiting.drain(..written.taken));
            }
            Step::Sync => {
                if self.store.sync().is_ok() {
                    self.durable = self.accepted.len();
                }
            }
            Step::Look { minute } => {
                self.minute = self.minute.max(*minute);
                self.store.look(at(1, self.minute));
            }
            Step::Hurt(call, nth, fault) => self.disk.inject(*call, *nth, *fault),
            Step::Capacity(bytes) => self.disk.set_capacity(*bytes),
        }
    }

    fn mend(&mut self) {
        self.disk.refuse(None);
        self.disk.set_capacity(None);
        self.take(&Step::Write { count: 1, bytes: 1 });
        self.take(&Step::Sync);
    }
}

/// All messages of a disk, in the order of the files.
fn kept(image: &MemoryDisk, is_buffer: bool) -> Vec<String> {
    if !image.exists("log").unwrap() {
        return Vec::new();
    }
    if !is_buffer {
        let names = image.list("log").unwrap().into_iter();
        let files = names.filter(|name| name != "web_current");
        // After a failed sync, a file may have zeroes where its bytes were.
        let all: Vec<u8> = files
            .flat_map(|name| read(image, &format!("log/{name}")))
            .filter(|byte| *byte != 0)
            .collect();
        let all = String::from_utf8_lossy(&all).into_owned();
        return all.split_terminator('\n').map(str::to_owned).collect();
    }
    let mut reader = store(Arc::new(image.clone()), true);
    let mut all = Vec::new();
    while !reader.is_empty(at(1, 0)).unwrap() {
        let oldest = reader.read_oldest(usize::MAX, at(1, 0)).unwrap();
        for run in oldest.runs() {
            all.extend(
                run.bodies()
                    .map(|body| String::from_utf8_lossy(body).into_owned()),
            );
        }
        reader.remove_oldest(usize::MAX).unwrap();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn messages_are_there_once_and_in_order_whatever_call_fails(
        steps in prop::collection::vec(step(), 1..30),
        is_buffer in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut run = Run::new(FaultDisk::new(), is_buffer);
        for step in &steps {
            run.take(step);
            let durable = &run.accepted[..run.durable];
            for image in [run.disk.crash(everything_lost), run.disk.crash(at_random(seed))] {
                let kept = kept(&image, is_buffer);
                prop_assert!(kept.starts_with(durable), "{:?}: {:?}", kept, durable);
            }
        }
        run.mend();
        prop_assert!(run.waiting.is_empty(), "{:?}", run.store.status());
        prop_assert_eq!(run.durable, run.accepted.len());
        prop_assert_eq!(&kept(&run.disk.crash(everything_lost), is_buffer), &run.accepted);
        prop_assert_eq!(&kept(&run.disk.crash(everything_kept), is_buffer), &run.accepted);
    }

    #[test]
    fn after_a_failed_sync_the_same_messages_given_again_are_durable(
        steps in prop::collection::vec(step(), 1..20),
        is_buffer in any::<bool>(),
        nth in 1..4_u64,
        call in prop::sample::select(vec![Call::Sync, Call::SyncDir]),
    ) {
        let mut run = Run::new(FaultDisk::new(), is_buffer);
        run.disk.inject(call, nth, Fault::Fail(ErrorKind::Other));
        for step in &steps {
            let before = run.durable;
            run.take(step);
            if matches!(step, Step::Sync) && run.durable == before {
                // As the collector does: all since the last sync comes again.
                let again = run.accepted.split_off(before);
                again.into_iter().rev().for_each(|message| run.waiting.push_front(message));
            }
            let image = run.disk.crash(everything_lost);
            let mut rest = kept(&image, is_buffer).into_iter();
            for message in &run.accepted[..run.durable] {
                prop_assert!(rest.any(|kept| kept == *message), "{message} is gone");
            }
        }
    }
}

#[test]
fn power_lost_at_any_change_keeps_what_was_synced_and_a_new_store_goes_on_behind_it() {
    let steps = [
        Step::Write {
            count: 3,
            bytes: 20,
        },
        Step::Sync,
        Step::Write {
            count: 9,
            bytes: 30,
        },
        Step::Look { minute: 90 },
        Step::Write {
            count: 2,
            bytes: 10,
        },
        Step::Sync,
        Step::Write {
            count: 1,
            bytes: 10,
        },
    ];
    for (is_buffer, changes) in [false, true]
        .into_iter()
        .flat_map(|is| (0..60).map(move |n| (is, n)))
    {
        let disk = FaultDisk::new();
        disk.power_off_after(changes);
        let mut run = Run::new(disk, is_buffer);
        steps.iter().for_each(|step| run.take(step));
        let durable = run.accepted[..run.durable].to_vec();
        for seed in 0..8 {
            let second = FaultDisk::over(&run.disk.crash(at_random(seed)));
            let before = kept(&second.crash(everything_lost), is_buffer);
            assert!(
                before.starts_with(&durable),
                "change {changes}, seed {seed}"
            );
            let mut after = Run::new(second, is_buffer);
            after.made = 1_000;
            after.take(&Step::Write { count: 4, bytes: 9 });
            after.take(&Step::Sync);
            let all = kept(&after.disk.crash(everything_lost), is_buffer);
            assert!(all.starts_with(&durable), "change {changes}, seed {seed}");
            assert!(
                all.ends_with(&after.accepted),
                "change {changes}, seed {seed}: {all:?}"
            );
        }
    }
}

#[test]
fn a_full_disk_takes_what_fits_and_the_rest_once_there_is_room() {
    let disk = FaultDisk::new();
    disk.set_capacity(Some(4096));
    let mut run = Run::new(disk, false);
    run.take(&Step::Write {
        count: 20,
        bytes: 37,
    });
    assert!(run.accepted.len() < 20 && run.waiting.len() + run.accepted.len() == 20);
    let status = run.store.status().unwrap();
    assert!(status.starts_with("File write error: "), "{status}");
    run.take(&Step::Sync);
    assert_eq!(kept(&run.disk.crash(everything_lost), false), run.accepted);
    run.mend();
    assert_eq!(run.store.status(), None);
    assert_eq!(run.accepted.len(), 21);
    assert_eq!(kept(&run.disk.crash(everything_lost), false), run.accepted);
    assert!(listing(&run.disk, "log").len() > 2);
}
