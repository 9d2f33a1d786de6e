//! Power cuts of random tests: what becomes of each change that was not synced. A failing case shrinks to fewer fates, and to
//! a cut that loses every change.

use disk::{Fate, FaultDisk, MemoryDisk};
use proptest::prelude::*;

/// Fates of the unsynced changes, in their order; after the last fate the first one follows. Never empty.
#[derive(Clone, Debug)]
pub struct PowerCut(Vec<Fate>);

impl PowerCut {
    /// What the device holds after the power went.
    pub fn image(&self, disk: &FaultDisk) -> MemoryDisk {
        self.nth_image(disk, 0)
    }

    /// Another image by the same fates: they begin with the fate at place `n`.
    pub fn nth_image(&self, disk: &FaultDisk, n: usize) -> MemoryDisk {
        let mut fates = self.0.iter().cycle().skip(n % self.0.len());
        disk.crash(|_| *fates.next().expect("a fate"))
    }
}

/// Each change has a fate of its own.
pub fn mixed_cut() -> impl Strategy<Value = PowerCut> {
    let fate = prop_oneof![
        3 => Just(Fate::Lost),
        3 => Just(Fate::Kept),
        1 => Just(Fate::Earlier),
        1 => any::<u8>().prop_map(Fate::Torn),
    ];
    proptest::collection::vec(fate, 1..64).prop_map(PowerCut)
}

/// The device loses every change, keeps every change, or decides for each change.
pub fn power_cut() -> impl Strategy<Value = PowerCut> {
    prop_oneof![
        Just(PowerCut(vec![Fate::Lost])),
        Just(PowerCut(vec![Fate::Kept])),
        mixed_cut(),
    ]
}

/// Places among the calls of a run in which the power goes.
pub fn places(count: usize) -> impl Strategy<Value = Vec<prop::sample::Index>> {
    proptest::collection::vec(any::<prop::sample::Index>(), count)
}
