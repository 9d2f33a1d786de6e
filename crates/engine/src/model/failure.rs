//! Turns errors of `disk`, `index`, `journal`, `queue`, `language` and `percolate` into errors of this crate.

use std::io;

use index::Reason;
use percolate::{PAIRS_MAX, Unfinished};
use relation::bind::BindError;
use relation::codec::Damage;

use crate::error::{Dearest, Error};

/// The error of a failed call on a file. A missing file is `Corrupt`, a full device `DiskFull`.
pub(crate) fn of_file(path: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull => Error::DiskFull,
        io::ErrorKind::NotFound => damaged(path, 0, "the file is missing"),
        _ => Error::internal(format!("file {path}: {error}")),
    }
}

/// `Corrupt`: the file's bytes differ, at `offset`, from those that the engine wrote.
pub(crate) fn damaged(path: &str, offset: u64, why: &str) -> Error {
    Error::Corrupt {
        file: path.to_owned(),
        offset,
        why: why.to_owned(),
    }
}

/// `Corrupt` for bytes that do not decode. The decoder began at byte `base` of the file and counts from there.
pub(crate) fn undecodable(path: &str, base: usize, damage: &Damage) -> Error {
    let why = format!("expected {}", damage.why);
    damaged(path, (base + damage.offset) as u64, &why)
}

/// The error of a search table's files, or of a search in them.
pub(crate) fn of_index(error: index::Error) -> Error {
    if error.is_full() {
        return Error::DiskFull;
    }
    match error {
        index::Error::TextTooLong { .. } => Error::Limit {
            what: "words of a text",
            max: index::limits::FIELD_POSITION_MAX.into(),
        },
        index::Error::TooManyWords { .. } => Error::Limit {
            what: "words that a wildcard stands for",
            max: index::limits::EXPANSION_MAX as u64,
        },
        index::Error::TooManyOccurrences => Error::Limit {
            what: "places of a row at which words of the query count",
            max: index::limits::ROW_OCCURRENCES_MAX as u64,
        },
        index::Error::SearchMemory { max } => Error::SearchMemory { max },
        index::Error::Interrupted { reason } => of_interrupt(reason),
        index::Error::Unfit { why } => Error::invalid(why),
        index::Error::TailFull | index::Error::NoMemory => Error::Overloaded,
        index::Error::Corrupt { file, offset, what } => Error::Corrupt {
            file,
            offset,
            why: what.to_owned(),
        },
        index::Error::NewerFormat { found, known, .. } => Error::NewerFormat { found, known },
        index::Error::Io { file, source } if source.kind() == io::ErrorKind::NotFound => {
            damaged(&file, 0, "the file is missing")
        }
        index::Error::Io { file, source } => Error::internal(format!("file {file}: {source}")),
        other => Error::internal(other.to_string()),
    }
}

impl From<queue::Error> for Error {
    fn from(error: queue::Error) -> Error {
        match error {
            queue::Error::Condition { queue, error } => of_bind(&queue, error),
            queue::Error::Costly { max } => Error::Limit {
                what: "units of work of a condition on one row",
                max,
            },
            queue::Error::Full => Error::DiskFull,
            queue::Error::Corrupt { file, offset, why } => Error::Corrupt { file, offset, why },
            queue::Error::NewerFormat { found, known } => Error::NewerFormat { found, known },
            queue::Error::Internal(what) => Error::internal(what),
            group @ (queue::Error::NoGroup { .. } | queue::Error::UnknownGroup { .. }) => {
                Error::invalid(group.to_string())
            }
        }
    }
}

/// The error of a statement that does not bind to the columns of `table`.
pub(crate) fn of_bind(table: &str, error: BindError) -> Error {
    match error {
        BindError::UnknownColumn(column) => Error::UnknownColumn {
            column,
            table: table.to_owned(),
        },
        BindError::Constant(what) => Error::Constant { what },
        BindError::NotYet(what) => Error::NotYet {
            what: what.to_owned(),
        },
        BindError::Invalid(what) => Error::invalid(what),
    }
}

/// The error of a call on the journal. The journal stays usable after `Full`, `RecordTooLarge` and `FrameTooLarge`.
pub(crate) fn of_journal(error: journal::Error) -> Error {
    match error {
        journal::Error::Full => Error::DiskFull,
        journal::Error::RecordTooLarge { .. } | journal::Error::FrameTooLarge { .. } => {
            Error::Limit {
                what: "bytes of a statement",
                max: journal::RECORD_BYTES_MAX as u64,
            }
        }
        journal::Error::Corrupt { file, offset, what } => Error::Corrupt {
            file,
            offset,
            why: what.to_owned(),
        },
        journal::Error::Trimmed { asked, first } => Error::Corrupt {
            file: "journal".to_owned(),
            offset: 0,
            why: format!("records from {asked} on are needed, the first one kept is {first}"),
        },
        journal::Error::NewerFormat {
            version, supported, ..
        } => Error::NewerFormat {
            found: version.into(),
            known: supported.into(),
        },
        journal::Error::Io { file, source } => Error::internal(format!("file {file}: {source}")),
        other => Error::Poisoned {
            why: other.to_string(),
        },
    }
}

/// The error of a batch that the matcher did not finish: too many hits, too many steps, or a caller that stopped it.
pub(crate) fn of_matcher(table: &str, why: Unfinished) -> Error {
    match why {
        Unfinished::TooManyPairs => Error::Limit {
            what: "hits of one statement",
            max: PAIRS_MAX as u64,
        },
        Unfinished::Stopped => Error::Interrupted,
        Unfinished::TooCostly(costly) => Error::TooCostly {
            table: table.to_owned(),
            dearest: costly.query.map(|query| Dearest {
                query,
                steps: costly.steps,
                row: costly.document as usize + 1,
            }),
            max: costly.max,
        },
    }
}

/// The error of a read that reached its time limit or its budget, or that KILL or the end of its client stopped.
pub(crate) fn of_interrupt(reason: Reason) -> Error {
    match reason {
        Reason::Time => Error::OutOfTime,
        Reason::Moved => Error::BudgetSpent,
        Reason::Killed | Reason::Gone | Reason::Damage | Reason::Cutoff => Error::Interrupted,
    }
}

impl From<index::Error> for Error {
    fn from(error: index::Error) -> Error {
        of_index(error)
    }
}
