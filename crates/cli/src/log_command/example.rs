//! A log that is made up: the study's distributions on 15 servers for a week.

use std::io::{self, Read};
use std::sync::Arc;

use report::Document;
use study::log::generate::{GeneratedForm, LogGenerator, SERVERS, Workload, server_name};
use study::log::source::Input;

use super::inputs::Opened;

/// Lines of each server.
const LINES: u64 = 20_000;

/// Mean milliseconds between two lines of a server: its lines last about a week.
const GAP_MS: u32 = 30_000;

/// Different queries.
const QUERIES: u64 = 50_000;

/// Lines that are made at a time.
const BLOCK_LINES: u64 = 1_000;

/// The inputs of the example. Lines are made while they are read.
pub(super) fn open() -> Opened {
    // JSON lines tell all that a report can show.
    let workload = Workload {
        form: GeneratedForm::Json,
        gap_ms: GAP_MS,
        queries: QUERIES,
        ..Workload::default()
    };
    let inputs = (0..SERVERS).map(|server| Input {
        name: format!("{} (example)", server_name(server)),
        server: server_name(server),
        read: Box::new(Generated {
            lines: LogGenerator::new(workload, server),
            lines_left: LINES,
            block: Vec::new(),
            block_read: 0,
        }),
    });
    Opened {
        inputs: inputs.collect(),
        total: None,
        read: Arc::default(),
    }
}

/// Says in the report that its lines are made up.
pub(super) fn tell(document: &mut Document) {
    document.title = "Query log (example)".to_owned();
    document.notes.insert(
        0,
        "An example: these lines are made up, with the distributions of a study of Sphinx."
            .to_owned(),
    );
}

/// The lines of one server as bytes.
struct Generated {
    lines: LogGenerator,
    lines_left: u64,
    block: Vec<u8>,
    /// Bytes of `block` that were read.
    block_read: usize,
}

impl Read for Generated {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.block_read == self.block.len() {
            self.block.clear();
            self.block_read = 0;
            let lines = self.lines_left.min(BLOCK_LINES);
            (0..lines).for_each(|_| self.lines.write_line(&mut self.block));
            self.lines_left -= lines;
        }
        let left = &self.block[self.block_read..];
        let count = left.len().min(room.len());
        room[..count].copy_from_slice(&left[..count]);
        self.block_read += count;
        Ok(count)
    }
}
