//! The faulty disk. It remembers which changes were synced, fails the calls that it is told to fail, and shows the
//! states in which a device may be after a power cut.
//!
//! A crash may do the following, and a program must survive it:
//! - Each 4 KiB page that was written and not synced is, on its own, kept, lost, kept in an earlier state, or torn
//!   into 512-byte sectors. A file's new length is kept or lost.
//! - Each creation, rename and removal of a name is kept or lost until its folders are synced. A rename is never half
//!   done.
//! - After a failed sync its pages count as clean: a later sync that succeeds does not write them.
//!
//! Example: the file `a` durably holds a page of ones.
//!
//! ```text
//! write twos              unsynced {0: [2]}        durable [1]
//! write threes            unsynced {0: [2, 3]}     durable [1]
//! create "b"              pending [Link b, waits for the root]
//! crash now               page 0: Lost 1, Kept 3, Earlier 2, Torn(0b101) sectors 3 1 3 1 1 1 1 1
//!                         name b: Lost no file, Kept an empty file
//! sync of a fails         abandoned {0: [2, 3]}    durable [1]    a crash still decides on page 0
//! sync of a succeeds      nothing to write         durable [1]    the threes may be lost for good
//! sync_dir of the root    pending []               "b" is durable
//! ```
//!
//! Invariants:
//! - `live` is the state that callers see; `durable` only changes by a sync, and never by one that failed.
//! - `crash` starts from `durable` and adds the unsynced changes that `fate` keeps, so it shows only states that a
//!   device may be in.
//! - `pending` is in the order of the changes, each with the folders whose sync it waits for.

mod file;
mod handle;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard};

use file::FaultFile;
use handle::FaultHandle;

use crate::memory::{LockTable, MemoryFile, held};
use crate::namespace::{Change, FolderId, Namespace};
use crate::{Disk, File, Lock, MemoryDisk, Space};

/// A kind of call, for counting and for failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// `Disk::open`.
    Open,
    /// `Disk::create`.
    Create,
    /// `Disk::create_dir`.
    CreateDir,
    /// `Disk::list` and `Disk::exists`.
    List,
    /// `Disk::rename`.
    Rename,
    /// `Disk::symlink`.
    Symlink,
    /// `Disk::remove` and `Disk::remove_dir`.
    Remove,
    /// `Disk::sync_dir`.
    SyncDir,
    /// `Disk::lock`.
    Lock,
    /// `File::read_at` and `File::map`.
    Read,
    /// `File::write_at`.
    Write,
    /// `File::set_len`.
    SetLen,
    /// `File::sync`.
    Sync,
}

impl Call {
    /// Whether the call may change the state after a crash.
    fn changes_disk(self) -> bool {
        !matches!(self, Call::Open | Call::List | Call::Lock | Call::Read)
    }
}

/// A fault of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails with an error of this kind and does nothing. After a sync that failed so, its pages may be on
    /// the device or not, and no later sync writes them.
    Fail(ErrorKind),
    /// A write lands this many bytes and then fails; any other call fails as a whole.
    Short(usize),
    /// A read or write succeeds with one bit of its data inverted: this bit, modulo the number of bits.
    Flip(u64),
    /// A write or sync reports success and does nothing.
    Ignored,
}

/// A change that was not synced when the power went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// A creation, rename or removal.
    Name,
    /// The new length of a file.
    Length,
    /// A page of a file, by its number in the file.
    Page(u64),
}

/// The fate of an unsynced change. A name or length is either `Kept` or, by any other fate, lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The change is lost, as if it had never been made.
    Lost,
    /// The change is kept, as if it had been synced.
    Kept,
    /// The page as it was before the newest write to it; lost if there was only one write.
    Earlier,
    /// Bit `n`, the lowest first, says whether the page's sector `n` of 512 bytes has the newest content; else it has
    /// the old.
    Torn(u8),
}

/// For `FaultDisk::crash`: the device wrote nothing that no sync demanded.
pub fn everything_lost(_: Unsynced) -> Fate {
    Fate::Lost
}

/// For `FaultDisk::crash`: the device wrote everything.
pub fn everything_kept(_: Unsynced) -> Fate {
    Fate::Kept
}

/// For `FaultDisk::crash`: each change has a fate of its own, the same for the same seed.
pub fn at_random(seed: u64) -> impl FnMut(Unsynced) -> Fate {
    let mut state = seed;
    move |_| {
        // SplitMix64 (Steele, Lea, Flood 2014): neighbouring seeds must give different fates.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        match mixed % 8 {
            0..3 => Fate::Lost,
            3..6 => Fate::Kept,
            6 => Fate::Earlier,
            _ => Fate::Torn((mixed >> 32) as u8),
        }
    }
}

/// A disk in memory that loses, tears, flips, fills and fails on demand, and that shows the states after a crash.
///
/// [`FaultDisk::inject`], [`FaultDisk::refuse`], [`FaultDisk::set_capacity`] and [`FaultDisk::power_off_after`] plan
/// what goes wrong. [`FaultDisk::crash`] gives a disk as a device could hold it. A clone is another handle of the
/// same disk.
#[derive(Clone)]
pub struct FaultDisk {
    state: Arc<Mutex<State>>,
    locks: LockTable,
}

struct State {
    live: Namespace<Arc<FaultFile>>,
    durable: Namespace<Arc<FaultFile>>,
    /// Changes of names that are not in `durable`, oldest first, each with the folders whose sync it still waits for.
    pending: Vec<(Change<Arc<FaultFile>>, Vec<FolderId>)>,
    faults: Vec<PlannedFault>,
    refused: Option<(Call, ErrorKind)>,
    counts: BTreeMap<Call, u64>,
    change_count: u64,
    capacity_bytes: Option<u64>,
    changes_until_off: Option<u64>,
    is_off: bool,
}

struct PlannedFault {
    call: Call,
    calls_until: u64,
    fault: Fault,
}

/// The decision on a call.
enum Verdict {
    Proceed,
    /// Do the call, unsynced, and cut the power before the caller hears of it.
    PowerOff,
    Fault(Fault),
}

impl FaultDisk {
    /// An empty disk without faults.
    pub fn new() -> Self {
        Self::over(&MemoryDisk::new())
    }

    /// A disk that durably holds a copy of `image`: for a second crash after a first.
    pub fn over(image: &MemoryDisk) -> Self {
        let live = image
            .names()
            .map(&mut |file| Arc::new(FaultFile::durable(file.read().clone())));
        let state = State {
            durable: live.clone(),
            live,
            pending: Vec::new(),
            faults: Vec::new(),
            refused: None,
            counts: BTreeMap::new(),
            change_count: 0,
            capacity_bytes: None,
            changes_until_off: None,
            is_off: false,
        };
        FaultDisk {
            state: Arc::new(Mutex::new(state)),
            locks: LockTable::default(),
        }
    }

    /// Plans a fault for the `nth` call of a kind from now on; 1 is the next.
    pub fn inject(&self, call: Call, nth: u64, fault: Fault) {
        self.state().faults.push(PlannedFault {
            call,
            calls_until: nth,
            fault,
        });
    }

    /// Fails every call of a kind from now on. `None` lets calls succeed again, and drops planned faults as well.
    pub fn refuse(&self, call: Option<(Call, ErrorKind)>) {
        let mut state = self.state();
        state.refused = call;
        if call.is_none() {
            state.faults.clear();
        }
    }

    /// Sets the device's capacity in bytes; each file counts in whole pages, and `None` is no limit. A write that
    /// does not fit lands as far as it fits and fails with `StorageFull`.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity_bytes = bytes;
    }

    /// Cuts the power in the middle of the change that follows `count` more changes: that call and all later calls
    /// fail.
    pub fn power_off_after(&self, count: u64) {
        self.state().changes_until_off = Some(count);
    }

    /// Number of calls so far that could change the state after a crash: the points at which to cut the power.
    pub fn change_count(&self) -> u64 {
        self.state().change_count
    }

    /// Number of calls of a kind so far.
    pub fn count(&self, call: Call) -> u64 {
        self.state().counts.get(&call).copied().unwrap_or(0)
    }

    /// A state in which the device may be if the power goes now; `fate` decides on each unsynced change. This disk is
    /// not changed.
    pub fn crash(&self, mut fate: impl FnMut(Unsynced) -> Fate) -> MemoryDisk {
        let state = self.state();
        let mut names = state.durable.clone();
        for (change, waits_for) in &state.pending {
            if waits_for.is_empty() || fate(Unsynced::Name) == Fate::Kept {
                names.apply(change);
            }
        }
        MemoryDisk::with_names(
            names.map(&mut |file| Arc::new(MemoryFile::holding(file.crash(&mut fate)))),
        )
    }

    fn state(&self) -> MutexGuard<'_, State> {
        held(&self.state)
    }

    fn admit(&self, call: Call) -> io::Result<Verdict> {
        self.state().admit(call)
    }

    /// Admits a call that fails as a whole or not at all.
    fn admit_whole(&self, call: Call) -> io::Result<()> {
        match self.admit(call)? {
            Verdict::Fault(fault) => Err(whole_failure(fault)),
            Verdict::Proceed | Verdict::PowerOff => Ok(()),
        }
    }

    fn handle(&self, file: Arc<FaultFile>) -> Arc<dyn File> {
        Arc::new(FaultHandle {
            disk: self.clone(),
            file,
        })
    }

    fn change_names(
        &self,
        call: Call,
        plan: impl FnOnce(&mut Namespace<Arc<FaultFile>>) -> io::Result<Vec<Change<Arc<FaultFile>>>>,
    ) -> io::Result<()> {
        let mut state = self.state();
        let verdict = state.admit(call)?;
        if let Verdict::Fault(fault) = verdict {
            return Err(whole_failure(fault));
        }
        for change in plan(&mut state.live)? {
            state.live.apply(&change);
            let folders = change.folders();
            state.pending.push((change, folders));
        }
        finish(&verdict)
    }
}

impl Default for FaultDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    fn admit(&mut self, call: Call) -> io::Result<Verdict> {
        if self.is_off {
            return Err(power_is_off());
        }
        *self.counts.entry(call).or_default() += 1;
        if call.changes_disk() {
            self.change_count += 1;
            match &mut self.changes_until_off {
                Some(0) => {
                    self.is_off = true;
                    return Ok(Verdict::PowerOff);
                }
                Some(left) => *left -= 1,
                None => {}
            }
        }
        let refused = self.refused.filter(|(refused, _)| *refused == call);
        let mut due = refused.map(|(_, kind)| Fault::Fail(kind));
        self.faults.retain_mut(|planned| {
            planned.calls_until -= u64::from(planned.call == call && planned.calls_until > 0);
            let is_due = planned.call == call && planned.calls_until == 0;
            if is_due {
                due = Some(planned.fault);
            }
            !is_due
        });
        Ok(due.map_or(Verdict::Proceed, Verdict::Fault))
    }

    fn used_bytes(&self) -> u64 {
        self.live
            .files()
            .iter()
            .map(|file| file.allocated_bytes())
            .sum()
    }

    /// The length that `file` may reach, given the space that others use.
    fn reach_bytes(&self, file: &FaultFile) -> u64 {
        let Some(capacity) = self.capacity_bytes else {
            return u64::MAX;
        };
        let own = file.allocated_bytes();
        own + capacity.saturating_sub(self.used_bytes())
    }

    fn sync_dir(&mut self, folder: FolderId) {
        for (_, waits_for) in &mut self.pending {
            waits_for.retain(|id| *id != folder);
        }
        let settled = self
            .pending
            .iter()
            .take_while(|(_, waits_for)| waits_for.is_empty())
            .count();
        for (change, _) in self.pending.drain(..settled) {
            self.durable.apply(&change);
        }
    }
}

impl Disk for FaultDisk {
    fn open(&self, path: &str) -> io::Result<Arc<dyn File>> {
        self.admit_whole(Call::Open)?;
        let file = self.state().live.file(path)?;
        Ok(self.handle(file))
    }

    fn open_no_link(&self, path: &str) -> io::Result<Arc<dyn File>> {
        self.admit_whole(Call::Open)?;
        let file = self.state().live.file_no_link(path)?;
        Ok(self.handle(file))
    }

    fn create(&self, path: &str) -> io::Result<Arc<dyn File>> {
        let file = Arc::new(FaultFile::default());
        self.change_names(Call::Create, |live| {
            Ok(vec![live.plan_create(path, Arc::clone(&file))?])
        })?;
        Ok(self.handle(file))
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.admit_whole(Call::List)?;
        Ok(self.state().live.find(path)?.is_some())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.admit_whole(Call::List)?;
        self.state().live.names(dir)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        self.change_names(Call::CreateDir, |live| live.plan_create_dir(dir))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change_names(Call::Rename, |live| Ok(vec![live.plan_rename(from, to)?]))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.change_names(Call::Remove, |live| Ok(vec![live.plan_remove(path)?]))
    }

    fn remove_dir(&self, dir: &str) -> io::Result<()> {
        self.change_names(Call::Remove, |live| live.plan_remove_dir(dir))
    }

    fn symlink(&self, target: &str, link: &str) -> io::Result<()> {
        self.change_names(Call::Symlink, |live| {
            Ok(vec![live.plan_symlink(target, link)?])
        })
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        let mut state = self.state();
        let verdict = state.admit(Call::SyncDir)?;
        let folder = state.live.folder(dir)?;
        match verdict {
            Verdict::Proceed => state.sync_dir(folder),
            Verdict::Fault(Fault::Ignored) => {}
            Verdict::Fault(fault) => return Err(whole_failure(fault)),
            Verdict::PowerOff => return Err(power_is_off()),
        }
        Ok(())
    }

    fn space(&self) -> io::Result<Space> {
        let state = self.state();
        let total_bytes = state.capacity_bytes.unwrap_or(1 << 40);
        Ok(Space {
            free_bytes: total_bytes.saturating_sub(state.used_bytes()),
            total_bytes,
        })
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn Lock>> {
        self.admit_whole(Call::Lock)?;
        self.locks.take(path)
    }
}

fn finish(verdict: &Verdict) -> io::Result<()> {
    match verdict {
        Verdict::PowerOff => Err(power_is_off()),
        Verdict::Proceed | Verdict::Fault(_) => Ok(()),
    }
}

fn whole_failure(fault: Fault) -> io::Error {
    let kind = if let Fault::Fail(kind) = fault {
        kind
    } else {
        ErrorKind::Other
    };
    io::Error::new(kind, "injected by the test")
}

fn power_is_off() -> io::Error {
    io::Error::other("the power is off")
}
