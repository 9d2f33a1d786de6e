//! The files of a collector: how fast they grow, and whether they have each message in order.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Shape;
use crate::error::{Error, Result};

/// Longest wait for files that do not grow any more.
const SETTLES_WITHIN: Duration = Duration::from_secs(30);

/// The files of a collector, sorted by path, with their lengths.
pub(super) struct Lengths(Vec<(PathBuf, u64)>);

impl Lengths {
    pub(super) fn of(folder: &Path) -> Result<Lengths> {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries {
                let entry = entry?;
                let kind = entry.file_type()?;
                match kind.is_dir() {
                    true => folders.push(entry.path()),
                    false if kind.is_file() => files.push((entry.path(), entry.metadata()?.len())),
                    false => {}
                }
            }
        }
        files.sort();
        Ok(Lengths(files))
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(_, length)| length).sum()
    }

    fn before(&self, path: &Path) -> u64 {
        let place = self
            .0
            .binary_search_by(|(known, _)| known.as_path().cmp(path));
        place
            .ok()
            .and_then(|place| self.0.get(place))
            .map_or(0, |(_, length)| *length)
    }

    /// Waits until the files have grown by `bytes`; gives the time since `begun`.
    pub(super) async fn grown_by(
        &self,
        folder: &Path,
        bytes: u64,
        begun: Instant,
    ) -> Result<Duration> {
        let wanted = self.total() + bytes;
        let (mut last, mut since) = (0, Instant::now());
        loop {
            let lengths = Lengths::of(folder)?;
            let total = lengths.total();
            if total >= wanted {
                return Ok(begun.elapsed());
            }
            if total > last {
                (last, since) = (total, Instant::now());
            }
            if since.elapsed() > SETTLES_WITHIN {
                return Err(Error::WrongAnswer {
                    what: "bytes in the collector's files".to_owned(),
                    expected: wanted,
                    counted: total,
                });
            }
            let pause = if lengths.0.len() > 100 { 200 } else { 5 };
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }
}

/// Checks that what the files got since `before` has each message of the run, in order for each connection and category; `sent`
/// are the numbers of messages of the connections. `header`: bytes of a line before its front. Lines without the front of the run are passed over. Gives the number of
/// messages that came again; a run without failures has none.
pub(super) fn check(
    before: &Lengths,
    folder: &Path,
    header: usize,
    shape: Shape,
    run: u32,
    sent: &[u64],
) -> Result<u64> {
    let front = format!("{run:08} ");
    let mut order = Order::new(shape);
    let mut buffer = vec![0; shape.length << 10];
    for (path, _) in Lengths::of(folder)?.0 {
        let mut file = File::open(&path)?;
        file.seek(SeekFrom::Start(before.before(&path)))?;
        let mut held = 0;
        loop {
            let count = file.read(&mut buffer[held..])?;
            held += count;
            let mut from = 0;
            while let Some(end) = buffer[from..held].iter().position(|byte| *byte == b'\n') {
                let line = &buffer[from..from + end];
                from += end + 1;
                let line = line.get(header..).unwrap_or_default();
                if let Some(rest) = line.strip_prefix(front.as_bytes()) {
                    order.note(rest)?;
                }
            }
            buffer.copy_within(from..held, 0);
            held -= from;
            if count == 0 {
                break;
            }
        }
    }
    for (connection, sent) in (0..).zip(sent) {
        let found = order.counts.get(&connection).copied().unwrap_or_default();
        Error::unless_equal("messages of a connection in the files", *sent, found)?;
    }
    Ok(order.repeated)
}

/// Which message of each connection and category comes next.
struct Order {
    shape: Shape,
    next: HashMap<(u32, u64), u64>,
    /// Different messages of each connection.
    counts: HashMap<u32, u64>,
    repeated: u64,
}

impl Order {
    fn new(shape: Shape) -> Order {
        Order {
            shape,
            next: HashMap::new(),
            counts: HashMap::new(),
            repeated: 0,
        }
    }

    /// Notes a message, given behind the number of the run.
    fn note(&mut self, rest: &[u8]) -> Result<()> {
        let number = |bytes: Option<&[u8]>| {
            let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
            text.and_then(|text| text.parse::<u64>().ok())
        };
        let connection = number(rest.get(..4)).and_then(|number| u32::try_from(number).ok());
        let (Some(connection), Some(found)) = (connection, number(rest.get(5..17))) else {
            return Err(Error::Peer(format!(
                "a line of the files is no message: {:?}",
                rest.escape_ascii().to_string()
            )));
        };
        let per_call = u64::from(self.shape.per_call);
        let category = self.shape.category(connection, found / per_call);
        let first = self.shape.first_call(connection, category) * per_call;
        let next = self.next.entry((connection, category)).or_insert(first);
        if found < *next {
            self.repeated += 1;
            return Ok(());
        }
        if found > *next {
            return Err(Error::WrongAnswer {
                what: format!("the next message of connection {connection}"),
                expected: *next,
                counted: found,
            });
        }
        *next = found + 1;
        if next.is_multiple_of(per_call) {
            *next += (u64::from(self.shape.categories) - 1) * per_call;
        }
        *self.counts.entry(connection).or_default() += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(per_call: u32, categories: u32) -> Shape {
        Shape {
            connections: 2,
            per_call,
            categories,
            length: 100,
            rate: None,
        }
    }

    #[test]
    fn a_message_that_is_missing_is_a_wrong_answer_and_one_that_came_again_is_counted() {
        let mut order = Order::new(shape(1, 1));
        for line in [
            "0000 000000000000 x",
            "0001 000000000000 x",
            "0000 000000000001 x",
            "0000 000000000000 x",
        ] {
            order.note(line.as_bytes()).unwrap();
        }
        assert_eq!(
            (order.counts[&0], order.counts[&1], order.repeated),
            (2, 1, 1)
        );
        for line in ["0001 000000000002 x", "junk"] {
            assert!(order.note(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn calls_of_a_connection_go_round_the_categories() {
        let mut order = Order::new(shape(2, 3));
        // Connection 1 begins with category 1: its calls 0 and 3 are of that category, and its call 2 is of category 0.
        for number in [0, 1, 6, 7, 4, 5, 10] {
            order
                .note(format!("0001 {number:012} x").as_bytes())
                .unwrap();
        }
        assert!(order.note(b"0001 000000000013 x").is_err(), "12 is missing");
        assert!(order.note(b"0001 000000000003 x").is_err(), "2 is missing");
        assert_eq!(order.counts[&1], 7);
    }
}
