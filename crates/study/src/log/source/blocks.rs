//! Inputs to blocks of whole records.

use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::vec::IntoIter;

use super::super::limits::RECORD_BYTES_MAX;
use super::super::line::begins_record;
use super::super::place::Place;
use super::{Input, InputReport};
use crate::decode::decoded;

/// The longest beginning that [`begins_record`] looks at: `/* Fri Jun `.
const BEGINNING_BYTES: usize = 11;

/// The blocks of all inputs, in order.
pub(super) struct Blocks {
    inputs: IntoIter<Input>,
    block_bytes: usize,
    current: Option<Current>,
    sequence: u64,
    reports: Vec<InputReport>,
}

/// The input that is read now.
struct Current {
    read: Box<dyn Read + Send>,
    server: Arc<str>,
    /// Bytes behind the last block, read already.
    carry: Vec<u8>,
    /// Lines before the next block.
    lines: u64,
    /// The line that the last block ended in is too long: its other bytes are skipped.
    skips_line: bool,
}

/// A block, whose bytes stand at the start of the buffer.
pub(super) struct Block {
    /// Number of the block, from 0, over all inputs.
    pub(super) sequence: u64,
    pub(super) server: Arc<str>,
    /// Its first line.
    pub(super) first: Place,
    pub(super) bytes: usize,
    pub(super) lines: u64,
}

impl Blocks {
    /// Blocks of `block_bytes`, which is above the bytes of the longest record: the carry leaves room for reading.
    pub(super) fn new(inputs: Vec<Input>, block_bytes: usize) -> Blocks {
        Blocks {
            inputs: inputs.into_iter(),
            block_bytes,
            current: None,
            sequence: 0,
            reports: Vec::new(),
        }
    }

    pub(super) fn into_reports(self) -> Vec<InputReport> {
        self.reports
    }

    /// Reads the next block into `buffer`, which it widens to the size of a block; `None` after the last.
    pub(super) fn next_block(&mut self, buffer: &mut Vec<u8>) -> Option<Block> {
        buffer.resize(self.block_bytes, 0);
        loop {
            if self.current.is_none() && !self.open_next() {
                return None;
            }
            let block = self.read_block(buffer);
            if block.is_some() {
                return block;
            }
        }
    }

    /// Begins the next input; `false` if there is none.
    fn open_next(&mut self) -> bool {
        let Some(input) = self.inputs.next() else {
            return false;
        };
        let server: Arc<str> = input.server.as_str().into();
        let (read, cut) = match decoded(input.read) {
            Ok(read) => (read, None),
            Err(error) => (
                Box::new(std::io::empty()) as Box<dyn Read + Send>,
                Some(error.to_string()),
            ),
        };
        self.reports.push(InputReport {
            name: input.name,
            server: input.server,
            lines: 0,
            bytes: 0,
            cut,
        });
        self.current = Some(Current {
            read,
            server,
            carry: Vec::new(),
            lines: 0,
            skips_line: false,
        });
        true
    }

    /// The next block of the current input; `None` at its end.
    fn read_block(&mut self, buffer: &mut [u8]) -> Option<Block> {
        let current = self.current.as_mut()?;
        let report = self.reports.last_mut()?;
        let mut filled = current.carry.len();
        buffer[..filled].copy_from_slice(&current.carry);
        current.carry.clear();
        let mut ended = false;
        while filled < buffer.len() {
            match current.read.read(&mut buffer[filled..]) {
                Ok(0) => {
                    ended = true;
                    break;
                }
                Ok(bytes) => {
                    report.bytes += bytes as u64;
                    filled += bytes;
                    if current.skips_line {
                        filled = skip_line(&mut buffer[..filled], &mut current.skips_line);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    report.cut = Some(error.to_string());
                    ended = true;
                    break;
                }
            }
        }
        let data = &buffer[..filled];
        let bytes = if ended { filled } else { block_end(data) };
        if !ended {
            current.skips_line = data[bytes - 1] != b'\n';
            if !current.skips_line {
                current.carry.extend_from_slice(&data[bytes..]);
            }
        }
        // A last line without a line end is a line.
        let ends = memchr::memchr_iter(b'\n', &data[..bytes]).count() as u64;
        let lines = ends + u64::from(data[..bytes].last().is_some_and(|last| *last != b'\n'));
        let block = Block {
            sequence: self.sequence,
            server: Arc::clone(&current.server),
            first: Place {
                input: self.reports.len() as u32 - 1,
                line: current.lines + 1,
            },
            bytes,
            lines,
        };
        current.lines += lines;
        if let Some(report) = self.reports.last_mut() {
            report.lines += lines;
        }
        if ended {
            self.current = None;
        }
        (bytes > 0).then(|| {
            self.sequence += 1;
            block
        })
    }
}

/// Drops the bytes up to the first line end, which ends a line that is too long, and returns the number of bytes left.
fn skip_line(data: &mut [u8], skips_line: &mut bool) -> usize {
    let Some(end) = memchr::memchr(b'\n', data) else {
        return 0;
    };
    *skips_line = false;
    data.copy_within(end + 1.., 0);
    data.len() - end - 1
}

/// Where a block of `data` ends: before the last line that begins a record. Where the last [`RECORD_BYTES_MAX`] bytes begin none,
/// no statement can go over the last line end, and the block ends there. Where they have no line end, the block ends inside
/// the line, with more of it than a record may have.
fn block_end(data: &[u8]) -> usize {
    let mut end = data.len();
    let mut last_line = None;
    while let Some(place) = memchr::memrchr(b'\n', &data[..end]) {
        let line = place + 1;
        if data.len() - line > RECORD_BYTES_MAX {
            break;
        }
        last_line = last_line.or(Some(line));
        if data.len() - line >= BEGINNING_BYTES && begins_record(&data[line..]) {
            return line;
        }
        end = place;
    }
    let tail = memchr::memrchr(b'\n', data).map_or(0, |place| place + 1);
    last_line.unwrap_or(data.len().min(tail + RECORD_BYTES_MAX + 1))
}
