//! The counters behind a query: `ios=6 kb=111.1 ioms=0.5 cpums=0.3 faults=2 …`.
//!
//! searchd writes them in brackets behind the tables of a plain line and in a comment behind a sphinxql statement. Manticore's
//! manual shows `ms=` for `ioms=`, and braces for the brackets; both are read.

use super::super::digits::write_number;
use super::super::entry::Entry;
use super::cursor::Cursor;

/// Whether `text` is a list of counters, not a comment.
pub(super) fn is_counters(text: &[u8]) -> bool {
    let mut names = OURS
        .iter()
        .map(|counter| counter.name)
        .chain(["ios", "cpums"]);
    names.any(|name| {
        text.strip_prefix(name.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&b'='))
    })
}

/// A counter of ours: a whole number.
struct Counter {
    name: &'static str,
    get: fn(&Entry<'_>) -> Option<u64>,
    set: fn(&mut Entry<'_>, Option<u64>),
}

/// The counter that tells how long a text was before it was cut.
const CUT: &str = "cut";

/// Our counters in the order in which they are written.
const OURS: [Counter; 7] = [
    Counter {
        name: "faults",
        get: |entry| entry.faults,
        set: |entry, value| entry.faults = value,
    },
    Counter {
        name: "bytes",
        get: |entry| entry.table_bytes,
        set: |entry, value| entry.table_bytes = value,
    },
    Counter {
        name: "parts",
        get: |entry| entry.table_parts,
        set: |entry, value| entry.table_parts = value,
    },
    Counter {
        name: "queued",
        get: |entry| entry.queued_us,
        set: |entry, value| entry.queued_us = value,
    },
    Counter {
        name: "returned",
        get: |entry| entry.returned,
        set: |entry, value| entry.returned = value,
    },
    Counter {
        name: "threads",
        get: |entry| entry.threads,
        set: |entry, value| entry.threads = value,
    },
    Counter {
        name: CUT,
        get: |entry| entry.cut_bytes,
        set: |entry, value| entry.cut_bytes = value,
    },
];

/// Reads the counters into `entry`. A counter of another name, or one without a number, is left out.
pub(super) fn read_counters(text: &[u8], entry: &mut Entry<'_>) {
    for item in text.split(|byte| *byte == b' ') {
        let Some(equals) = memchr::memchr(b'=', item) else {
            continue;
        };
        let (name, mut value) = (
            &item[..equals],
            Cursor {
                rest: &item[equals + 1..],
            },
        );
        match name {
            b"ios" => entry.reads = value.number(),
            b"kb" => {
                entry.read_bytes = value
                    .fraction(1)
                    .map(|tenths| (tenths * 1_024).div_ceil(10))
            }
            b"ioms" | b"ms" => entry.read_us = value.fraction(3),
            b"cpums" => entry.cpu_us = value.fraction(3),
            _ => {
                if let Some(counter) = OURS.iter().find(|counter| counter.name.as_bytes() == name) {
                    (counter.set)(entry, value.number());
                }
            }
        }
    }
}

/// Appends the counters that `entry` has, each after a blank; a text that was `cut` here is told by its whole length. Reads without
/// a number, size or time have 0 there.
pub(super) fn write_counters(entry: &Entry<'_>, cut: Option<u64>, out: &mut Vec<u8>) {
    if entry.reads.is_some() || entry.read_bytes.is_some() || entry.read_us.is_some() {
        let bytes = entry.read_bytes.unwrap_or(0);
        write_number(" ios=", entry.reads.unwrap_or(0), out);
        write_number(" kb=", bytes / 1_024, out);
        write_number(".", bytes % 1_024 * 10 / 1_024, out);
        write_tenths(" ioms=", entry.read_us.unwrap_or(0), out);
    }
    if let Some(cpu_us) = entry.cpu_us {
        write_tenths(" cpums=", cpu_us, out);
    }
    for counter in &OURS {
        let value = match counter.name {
            CUT => cut.or(entry.cut_bytes),
            _ => (counter.get)(entry),
        };
        if let Some(value) = value {
            out.push(b' ');
            out.extend_from_slice(counter.name.as_bytes());
            write_number("=", value, out);
        }
    }
}

/// Microseconds as milliseconds with one decimal.
fn write_tenths(before: &str, us: u64, out: &mut Vec<u8>) {
    write_number(before, us / 1_000, out);
    write_number(".", us % 1_000 / 100, out);
}
