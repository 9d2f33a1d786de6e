//! Opening a data directory: manifest, then the journal above it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use disk::{Disk, Lock};
use journal::{FileJournal, JournalOptions, Log, Position, Preparation};

use super::frame::Frame;
use super::log::Journal;
use super::publish::Views;
use super::sync::Unsynced;
use super::{Engine, Options, Recovered};
use crate::backup::check_whole;
use crate::command::Now;
use crate::decide::Workspace;
use crate::error::{Error, Result};
use crate::failure;
use crate::jobs::{Background, Jobs};
use crate::limits::RESERVE_BYTES;
use crate::mailbox::Shared;
use crate::manifest;
use crate::messages::Giver;
use crate::record::Record;
use crate::sessions::Sessions;
use crate::state::{Prepared, State, TABLES_DIR, table_dir};
use crate::status::EngineStatus;

pub(crate) const JOURNAL_DIR: &str = "journal";
const LOCK: &str = "lock";

/// A data directory whose lock is held.
pub struct Claim {
    options: Options,
    lock: Box<dyn Lock>,
}

impl Claim {
    /// Opens the directory, or makes one, and brings it to the state of the last record in the journal that is in it.
    ///
    /// # Errors
    /// `NewerFormat`, `Corrupt`, `DiskFull`, `Internal`.
    pub fn open(self, now: Now) -> Result<(Engine, Recovered)> {
        let mut restored = self.restore()?;
        let (log, found) = open_journal(&restored.options, JOURNAL_DIR, restored.position())?;
        restored.recovered.bytes_cut = found.bytes_cut;
        restored.lead(Journal::Local(Box::new(log)), now)
    }

    /// What the directory's files hold, or a new directory. The journal is the caller's to open.
    ///
    /// # Errors
    /// `NewerFormat`, `Corrupt`, `DiskFull`, `Internal`.
    pub fn restore(self) -> Result<Restored> {
        let Claim { options, lock } = self;
        let state = match manifest::open(&options.disk)? {
            Some(state) => state,
            None => begin(&options)?,
        };
        let recovered = Recovered {
            orphans_removed: remove_orphans(&state)?,
            ..Recovered::default()
        };
        Ok(Restored {
            options,
            lock,
            state,
            recovered,
        })
    }
}

/// A data directory as its last manifest left it.
pub struct Restored {
    options: Options,
    lock: Box<dyn Lock>,
    state: State,
    recovered: Recovered,
}

impl Restored {
    /// The last record when the manifest was written: a log that was synced up to there goes with these files.
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.state.position)
    }

    /// The engine that writes the log, in the state of its last record.
    ///
    /// # Errors
    /// `Corrupt` where the log is another one's or damaged, `DiskFull`, `Internal`.
    pub fn lead(self, journal: Journal, now: Now) -> Result<(Engine, Recovered)> {
        self.open(journal, now, false)
    }

    /// An engine that follows the log, which another one writes: each [`Engine::step`] applies what that has synced meanwhile.
    /// Every command that writes is refused with `ReadOnly`.
    ///
    /// # Errors
    /// As [`Restored::lead`].
    pub fn follow(self, journal: Journal, now: Now) -> Result<(Engine, Recovered)> {
        self.open(journal, now, true)
    }

    fn open(
        mut self,
        mut journal: Journal,
        now: Now,
        is_follower: bool,
    ) -> Result<(Engine, Recovered)> {
        let log = journal.log_mut();
        let last = match is_follower {
            true => log.status().synced, // the writer may yet lose the rest
            false => log.status().last,
        };
        replay(&mut self.state, log, last, &mut self.recovered)?;
        Engine::of_restored(self, journal, now, is_follower)
    }
}

impl Engine {
    /// Opens a data directory, or makes one, and brings it to the state of the last record in the journal.
    ///
    /// # Errors
    /// `Locked`, `NewerFormat`, `Corrupt`, `DiskFull`, `Internal`.
    pub fn open(options: Options, now: Now) -> Result<(Engine, Recovered)> {
        Engine::claim(options)?.open(now)
    }

    /// Takes the lock of a data directory and reads nothing yet: nobody else opens the directory while the claim lives.
    ///
    /// # Errors
    /// `Locked`, `Internal`.
    pub fn claim(mut options: Options) -> Result<Claim> {
        if options.read_only {
            options.disk = super::read_only::over(options.disk)?;
        }
        let lock = lock(&*options.disk)?;
        Ok(Claim { options, lock })
    }

    /// An engine of a state that holds everything in the journal.
    fn of_restored(
        restored: Restored,
        journal: Journal,
        now: Now,
        is_follower: bool,
    ) -> Result<(Engine, Recovered)> {
        let Restored {
            options,
            lock,
            mut state,
            mut recovered,
        } = restored;
        sync_folders(&*state.disk)?;
        state.open_queues(now);
        let unused = unnamed_folders(&state)?; // of tables that the records above the manifest have dropped
        recovered.tables = state.catalog.len() as u64;
        let status = status_at_start(&state, &recovered);
        // Segments of an old format were written again: the manifest is to name the new ones.
        let is_manifest_due = state.searches.values().any(|search| !search.is_named());
        let jobs = Jobs::new(&options.background)?;
        let shared = Shared {
            collected: (state.collected.upto, state.collected.cursors.clone()),
            ..Shared::default()
        };
        let giver = Giver(Arc::clone(&shared.handover));
        let has_new_note = state.collected.upto > 0; // perhaps by a record that was applied again
        let work = Workspace::new(Arc::clone(&shared.stop), options.plans);
        let mut engine = Engine {
            sessions: Sessions::new(options.incarnation),
            options,
            state,
            journal,
            is_follower,
            frame: Frame::default(),
            unsynced: Unsynced::default(),
            outbox: Vec::new(),
            work,
            jobs,
            status,
            shared: Arc::new(shared),
            views: Views::default(),
            poisoned: None,
            has_ended: false,
            unused,
            folded_at_bytes: BTreeMap::new(),
            has_new_note,
            manifest_at_bytes: 0,
            journal_full: false,
            folds_full: false,
            failed_folds: BTreeSet::new(),
            wanted_folds: BTreeSet::new(),
            is_manifest_due,
            garbage: Vec::new(),
            manifest_runs: false,
            retry_us: 0,
            checkpoint_replies: Vec::new(),
            backups: super::backup::Backups::default(),
            alters: super::alter_documents::Alters::default(),
            flushes: super::maintain::flush::Flushes::default(),
            retention: super::maintain::retention::Retention::default(),
            now,
            _giver: giver,
            lock_checked_us: now.steady_us,
            lock,
        };
        engine.journal_full = !engine.has_room() && !engine.has_space_for_a_segment();
        engine.publish();
        engine.publish_status();
        Ok((engine, recovered))
    }

    /// Puts all of a state into files, with a manifest that names them, and ends. The journal in `journal_dir` holds the
    /// state's last record.
    pub(crate) fn fold(
        options: Options,
        lock: Box<dyn Lock>,
        state: State,
        journal_dir: &str,
    ) -> Result<()> {
        let (log, _) = open_journal(&options, journal_dir, Position(state.position))?;
        let restored = Restored {
            options,
            lock,
            state,
            recovered: Recovered::default(),
        };
        let journal = Journal::Local(Box::new(log));
        let (mut engine, _) = Engine::of_restored(restored, journal, Now::default(), false)?;
        engine.checkpoint()
    }

    /// What the journal holds back for deletes.
    pub(super) fn reserve_bytes(&self) -> u64 {
        reserve_bytes(&self.options)
    }
}

fn status_at_start(state: &State, recovered: &Recovered) -> EngineStatus {
    EngineStatus {
        replayed_records: recovered.records_replayed,
        skipped_records: recovered.records_skipped,
        checkpoint_position: state.lowest_folded(state.catalog_folded),
        ..EngineStatus::default()
    }
}

/// Takes the data directory for this process.
///
/// # Errors
/// `Locked` where another has it; `Invalid` where it is a copy that was cut short.
pub(crate) fn lock(disk: &dyn Disk) -> Result<Box<dyn Lock>> {
    check_whole(disk)?;
    disk.lock(LOCK).map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => Error::Locked {
            holder: error.to_string(),
        },
        _ => failure::of_file(LOCK, &error),
    })
}

fn reserve_bytes(options: &Options) -> u64 {
    RESERVE_BYTES.min(options.journal_segment_bytes / 8)
}

/// Refuses a directory that has a journal or tables but no manifest: it is damaged, not new.
///
/// # Errors
/// `Corrupt`, and those of the disk.
pub(crate) fn check_new(disk: &dyn Disk) -> Result<()> {
    let failed = |error| failure::of_file("", &error);
    let beside = if disk.exists(JOURNAL_DIR).map_err(failed)? {
        "a journal"
    } else if disk.exists(TABLES_DIR).map_err(failed)?
        && !disk.list(TABLES_DIR).map_err(failed)?.is_empty()
    {
        "tables"
    } else {
        return Ok(());
    };
    let why = format!(
        "the manifest is missing beside {beside}: without it nothing can be read; restore a backup"
    );
    Err(failure::damaged(manifest::PATH, 0, &why))
}

/// Makes a new data directory. The manifest comes first: [`check_new`] takes what lies there without one for damage.
fn begin(options: &Options) -> Result<State> {
    let disk = &options.disk;
    check_new(&**disk)?;
    if options.read_only {
        return Err(Error::invalid(
            "no data directory to read: there is no manifest",
        ));
    }
    let state = State::new(Arc::clone(disk));
    disk.create_dir(TABLES_DIR)
        .map_err(|error| failure::of_file(TABLES_DIR, &error))?;
    manifest::replace(&**disk, &manifest::encode(&state))?;
    manifest::keep_spare(&**disk);
    Ok(state)
}

fn open_journal(
    options: &Options,
    dir: &str,
    known_synced: Position,
) -> Result<(FileJournal, journal::Recovered)> {
    let preparation = match options.background {
        Background::Threads => Preparation::Background,
        Background::Inline | Background::Held(_) => Preparation::Inline,
    };
    let journal_options = JournalOptions {
        segment_bytes: options.journal_segment_bytes,
        reserve_bytes: reserve_bytes(options),
        known_synced,
        preparation,
    };
    let opened = FileJournal::open(Arc::clone(&options.disk), dir, journal_options);
    opened.map_err(failure::of_journal)
}

/// Applies the records above the lowest checkpoint, up to `last`.
fn replay(
    state: &mut State,
    log: &mut dyn Log,
    last: Position,
    recovered: &mut Recovered,
) -> Result<()> {
    if last < Position(state.position) {
        let why = format!(
            "the journal ends at record {last}, the manifest knows of {}",
            state.position
        );
        return Err(failure::damaged(JOURNAL_DIR, 0, &why));
    }
    let mut failed = None;
    let from = Position(state.lowest_folded(state.catalog_folded)).next();
    if from > last {
        return Ok(());
    }
    let read = log.read(from, &mut |position, bytes| {
        match apply_bytes(state, position, bytes) {
            Ok(true) => recovered.records_replayed += 1,
            Ok(false) => recovered.records_skipped += 1,
            Err(error) => failed = Some(error),
        }
        failed.is_none() && position < last
    });
    read.map_err(failure::of_journal)?;
    failed.map_or(Ok(()), Err)
}

fn apply_bytes(state: &mut State, position: Position, bytes: &[u8]) -> Result<bool> {
    let record = Record::decode(bytes).map_err(|damage| {
        let why = format!("record {position}: expected {}", damage.why);
        failure::damaged(JOURNAL_DIR, damage.offset as u64, &why)
    })?;
    state.apply(&record, position.0, &mut Prepared::default())
}

/// Removes files and folders below the tables that the manifest does not name: a crash left them between their
/// writing and the next manifest, or between that and their removal. Returns how many.
fn remove_orphans(state: &State) -> Result<u64> {
    let disk = &state.disk;
    let failed = |path: &str| {
        let path = path.to_owned();
        move |error| failure::of_file(&path, &error)
    };
    let temporary = format!("{}.tmp", manifest::PATH);
    let mut removed = 0;
    if disk.exists(&temporary).map_err(failed(&temporary))? {
        disk.remove(&temporary).map_err(failed(&temporary))?;
        removed += 1;
    }
    if !disk.exists(TABLES_DIR).map_err(failed(TABLES_DIR))? {
        return Ok(removed);
    }
    let tables: BTreeSet<String> = state
        .catalog
        .iter()
        .map(|(table, _)| table_dir(table))
        .collect();
    let named = state.named_files();
    for name in disk.list(TABLES_DIR).map_err(failed(TABLES_DIR))? {
        let dir = format!("{TABLES_DIR}/{name}");
        if !tables.contains(&dir) {
            disk.remove_dir(&dir).map_err(failed(&dir))?;
            removed += 1;
            continue;
        }
        if state.searches.keys().any(|table| table_dir(*table) == dir) {
            continue; // opening the table has cleaned it
        }
        for file in disk.list(&dir).map_err(failed(&dir))? {
            let path = format!("{dir}/{file}");
            if !named.contains(&path) {
                disk.remove(&path).map_err(failed(&path))?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

/// Makes the names of the tables' folders durable: an earlier opening may have made one and ended before its sync.
fn sync_folders(disk: &dyn Disk) -> Result<()> {
    let failed = |error| failure::of_file(TABLES_DIR, &error);
    if !disk.exists(TABLES_DIR).map_err(failed)? {
        return Ok(());
    }
    disk.sync_dir(TABLES_DIR).map_err(failed)?;
    disk.sync_dir("").map_err(failed)
}

/// The folders below the tables that belong to none.
fn unnamed_folders(state: &State) -> Result<Vec<String>> {
    let tables: BTreeSet<String> = state
        .catalog
        .iter()
        .map(|(table, _)| table_dir(table))
        .collect();
    let failed = |error| failure::of_file(TABLES_DIR, &error);
    if !state.disk.exists(TABLES_DIR).map_err(failed)? {
        return Ok(Vec::new());
    }
    let names = state.disk.list(TABLES_DIR).map_err(failed)?;
    let folders = names.iter().map(|name| format!("{TABLES_DIR}/{name}"));
    Ok(folders.filter(|dir| !tables.contains(dir)).collect())
}
