//! What a store promises to the line that feeds it, and what it is given.

mod bucket;
mod buffer;
mod build;
mod category;
pub mod file;
mod marks;
mod multi;
mod network;
mod null;
mod random;
mod split;
mod thrift_file;

pub use build::build;
pub use marks::Marks;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use disk::Disk;
use engine::Messages;

use crate::config::StoreConfig;
use crate::counters::Counters;
use crate::message::{Message, Now};
use crate::table::Tables;

use random::Random;

/// A place that messages go to. One line owns it; every call may block on a disk or a network.
///
/// A store of stores names its [`parts`](Store::parts). The other functions but `write` then do the same to each part.
pub trait Store: Send {
    /// The stores that messages go on to; none in a store that keeps or sends them itself.
    fn parts(&self) -> &[Box<dyn Store>] {
        &[]
    }

    /// [`parts`](Store::parts), to be changed.
    fn parts_mut(&mut self) -> &mut [Box<dyn Store>] {
        &mut []
    }

    /// Opens a file, connects, or does nothing where there is nothing to open. A store that is open stays so.
    ///
    /// # Errors
    /// Why it cannot: `status` says the same until an attempt succeeds.
    fn open(&mut self, now: Now) -> Result<(), String> {
        first_error(self.parts_mut(), |part| part.open(now))
    }

    /// Scribe closes a store that rests and opens it again: a store that begins a new file at each opening does so here.
    fn open_again(&mut self, now: Now) {
        self.parts_mut()
            .iter_mut()
            .for_each(|part| part.open_again(now));
    }

    /// Takes a prefix of `batch`, in order; opens first if it has to. What was taken is never given again, except after a
    /// crash. What was not taken comes again, before newer messages.
    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written;

    /// What its parts have of the messages that come next. Empty in a store that takes a message as a whole.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// Takes up the marks that a store of the same configuration gave before a restart. The messages that come first are those
    /// of the marks. Called before all other functions.
    fn take_up(&mut self, _marks: &Marks) {}

    /// The messages that come next are not those that were not taken, or a part may have lost some that it took: no part has
    /// any of them.
    fn forget(&mut self) {
        self.parts_mut().iter_mut().for_each(|part| part.forget());
    }

    /// Scribe's periodic check: rotation, reconnection, replay of a buffer. Called every `check_interval`.
    fn look(&mut self, now: Now) {
        self.parts_mut().iter_mut().for_each(|part| part.look(now));
    }

    /// Makes durable what was taken, as far as this kind of store can.
    ///
    /// # Errors
    /// Those of the disk. The caller then counts nothing since the last sync as delivered.
    fn sync(&mut self) -> io::Result<()> {
        first_error(self.parts_mut(), |part| part.sync())
    }

    /// What is wrong, as Scribe's `getStatusDetails` would say it; `None`: nothing.
    fn status(&self) -> Option<String> {
        self.parts().iter().find_map(|part| part.status())
    }

    /// Time until the store wants the next `look`, if that is sooner than `check_interval`. Microseconds; 0: after the batch
    /// that waits.
    fn next_look_us(&self) -> Option<u64> {
        let wanted = self.parts().iter().filter_map(|part| part.next_look_us());
        wanted.min()
    }

    /// The messages that it keeps for a buffer to send later; `None`: a store that cannot be read.
    fn backlog(&mut self) -> Option<&mut dyn Backlog> {
        None
    }

    /// Flushes and ends. The line never uses the store again.
    fn close(&mut self, now: Now) {
        self.parts_mut().iter_mut().for_each(|part| part.close(now));
    }
}

/// Does this to every part, also behind one that fails. The first error, if any.
fn first_error<E>(
    parts: &mut [Box<dyn Store>],
    act: impl FnMut(&mut Box<dyn Store>) -> Result<(), E>,
) -> Result<(), E> {
    let done: Vec<_> = parts.iter_mut().map(act).collect();
    done.into_iter().collect()
}

/// A number of all that decides which part of a store gets a message, and where the part puts it. Arguments as of [`build`].
pub(crate) fn shape(config: &StoreConfig, category: &[u8], copies: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (format!("{config:?}"), category, copies).hash(&mut hasher);
    hasher.finish()
}

/// How far a store got with a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Messages that it took, from the front of the batch.
    pub taken: usize,
    /// Why it did not take the rest; `None` exactly when it took all.
    pub failed: Option<String>,
}

/// The reading side of a buffer's secondary store: files of messages, the oldest first.
///
/// The place up to which the oldest file is removed is noted without a sync; [`Store::close`] makes it durable. After a crash the
/// oldest file is read again from the last place that outlived it, at worst from its beginning.
pub trait Backlog {
    /// Whether no file has a message.
    ///
    /// # Errors
    /// Those of the disk.
    fn is_empty(&mut self, now: Now) -> io::Result<bool>;

    /// The oldest messages that are not removed, all of one file: at least one, then more up to `bytes_max` bytes of them;
    /// none exactly when `is_empty`. A second read gives the same. A file that is still written ends first. Damaged bytes
    /// are counted as `bytes lost`, named in the log, and left out; the messages behind them are found again.
    ///
    /// # Errors
    /// Those of the disk.
    fn read_oldest(&mut self, bytes_max: usize, now: Now) -> io::Result<Messages>;

    /// Removes the first `count` messages of those that `read_oldest` gave last: they are durable elsewhere. True: the file has
    /// no more messages, and is deleted.
    ///
    /// # Errors
    /// Those of the disk. The messages may then come again.
    fn remove_oldest(&mut self, count: usize) -> io::Result<bool>;

    /// The marks that were noted for the oldest messages; nothing: none, or they are damaged.
    ///
    /// # Errors
    /// Those of the disk.
    fn marks(&mut self, _now: Now) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// Notes beside the place in the oldest file what parts of the next store have, on their disks, of the messages from there on.
    /// As durable as the place.
    ///
    /// # Errors
    /// Those of the disk. Parts may then get these messages again after a restart.
    fn note_marks(&mut self, _marks: &[u8], _now: Now) -> io::Result<()> {
        Ok(())
    }

    /// Removes the file that was opened for new messages, if none came.
    fn remove_if_empty(&mut self) {}
}

/// What every store is built with.
#[derive(Clone)]
pub struct Surroundings {
    /// The whole file system: a path of a configuration without its first `/` is a path of this disk.
    pub disk: Arc<dyn Disk>,
    /// Folder on that disk below which relative paths of a configuration lie: `collected` in the data directory.
    pub folder: String,
    /// Folder on that disk for spools: `spools` in the data directory. A start removes what it does not know there.
    pub spools: String,
    /// Name of this machine, for `use_hostname_sub_directory`.
    pub host_name: String,
    /// Counted under the category of the message.
    pub counters: Arc<Counters>,
    /// `max_queue_size`, for `buffer_bypass_max_ratio`. Bytes.
    pub max_queue_size: u64,
    /// Bytes that wait in the queue of the line that the store belongs to. Each line has a counter of its own and keeps it.
    pub queue_bytes: Arc<AtomicU64>,
    /// The tables of this server.
    pub tables: Arc<dyn Tables>,
    /// Start of random numbers: buckets, pauses and the choice of a server.
    pub seed: u64,
}

impl Surroundings {
    /// The surroundings of a part of a store: the same, with random numbers of its own. Else two servers that fail together
    /// would be tried again at the same moments for ever.
    fn of_part(&self, number: usize) -> Surroundings {
        let seed = Random::new(self.seed.wrapping_add(number as u64)).below(u64::MAX);
        Surroundings {
            seed,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests;
