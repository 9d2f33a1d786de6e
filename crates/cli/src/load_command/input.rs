//! Input of a load: a file, packed or not, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// An open input.
pub(super) struct Input {
    pub(super) bytes: Box<dyn Read>,
    /// Size of the file on disk, in bytes; `None`: not known.
    pub(super) total: Option<u64>,
    /// Count of those bytes that were read.
    pub(super) read: Arc<AtomicU64>,
    /// Text that names the file and its state: a changed file has another. `None` for standard input.
    pub(super) identity: Option<String>,
}

/// A name without the ending of a packed file.
pub(super) fn unpacked(name: &str) -> &str {
    let packed = [".gz", ".zst"].into_iter();
    packed
        .filter_map(|end| name.strip_suffix(end))
        .next()
        .unwrap_or(name)
}

/// Opens a file by its name; `-` is standard input.
pub(super) fn open(name: &str) -> Result<Input, String> {
    let failed = |error: io::Error| format!("{name}: {error}");
    let read = Arc::new(AtomicU64::new(0));
    if name == "-" {
        return Ok(Input {
            bytes: Box::new(io::stdin().lock()),
            total: None,
            read,
            identity: None,
        });
    }
    let file = File::open(name).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    let path = std::fs::canonicalize(name).map_err(failed)?;
    let changed = about.modified().ok();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |since| since.as_nanos());
    let counted = Counted {
        file,
        read: Arc::clone(&read),
    };
    let bytes: Box<dyn Read> = if name.ends_with(".gz") {
        Box::new(flate2::read::MultiGzDecoder::new(counted))
    } else if name.ends_with(".zst") {
        let decoder = ruzstd::decoding::StreamingDecoder::new(counted);
        Box::new(decoder.map_err(|error| format!("{name}: {error}"))?)
    } else {
        Box::new(counted)
    };
    Ok(Input {
        bytes,
        total: about.is_file().then_some(about.len()),
        read,
        identity: about
            .is_file()
            .then(|| format!("{} {} {changed}", path.display(), about.len())),
    })
}

/// A file that counts the bytes read.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(room)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
