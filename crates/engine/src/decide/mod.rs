//! From a command to what it comes to: everything that can be refused is refused here, before anything changes.

pub(crate) mod backfill;
pub(crate) mod delete;
pub(crate) mod insert;
pub(crate) mod read;
pub(crate) mod rows;

use percolate::{Hits, Scratch};
use query::analysis::Words;

use crate::command::{Now, Reply};
use crate::error::Error;
use crate::record::Record;
use crate::state::Prepared;

/// What a command comes to.
pub(crate) struct Decision {
    /// What is to be made durable and applied; none where nothing changes.
    pub(crate) record: Option<Record>,
    /// What deciding made on the way.
    pub(crate) prepared: Prepared,
    /// The answer once that is durable.
    pub(crate) reply: Reply,
    /// The record gives room back: it may use the space that is held back for that.
    pub(crate) gives_room: bool,
}

impl Decision {
    /// Nothing changes.
    pub(crate) fn nothing(reply: Reply) -> Decision {
        Decision {
            record: None,
            prepared: Prepared::default(),
            reply,
            gives_room: false,
        }
    }

    /// A record with nothing prepared.
    pub(crate) fn of(record: Record, reply: Reply) -> Decision {
        Decision {
            record: Some(record),
            prepared: Prepared::default(),
            reply,
            gives_room: false,
        }
    }
}

/// A write to a distributed table, which has no rows of its own.
pub(crate) fn has_no_rows(table: &str, locals: &[String]) -> Error {
    let locals = locals.join("', '");
    Error::invalid(format!(
        "'{table}' is a distributed table, which is only searched: write to '{locals}'"
    ))
}

/// Buffers of deciding, kept from command to command, and what it counted.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) matcher: Scratch,
    pub(crate) hits: Hits,
    /// Spare ones.
    pub(crate) words: Vec<Words>,
    /// Pairs of document and query that matched, of admitted commands or not.
    pub(crate) hit_count: u64,
    /// Pairs that were tried.
    pub(crate) candidate_count: u64,
}

/// What deciding may know beside the state.
#[derive(Clone, Copy)]
pub(crate) struct Circumstances {
    pub(crate) now: Now,
    /// Memory that tails, queues and standing queries may take in all, in bytes.
    pub(crate) memory_bytes: u64,
    /// What standing queries take of it.
    pub(crate) query_bytes: u64,
    /// Memory that they may still take, in bytes.
    pub(crate) memory_left: u64,
}
