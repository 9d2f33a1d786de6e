//! A ZIP archive in memory (APPNOTE 6.3, without ZIP64), each part packed by deflate:
//!
//! ```text
//! for each part    header 30 bytes, name, packed bytes
//! for each part    entry of the directory 46 bytes, name
//! at the end       22 bytes: number of entries, bytes and place of the directory
//! ```
//!
//! Times are the first one that the format has, so that equal parts give equal bytes.

use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, CrcWriter};

/// Needs version 2.0: deflate.
const VERSION: u16 = 20;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// Parts are packed by deflate.
const METHOD: u16 = 8;
/// 1980-01-01 00:00:00.
const TIME: u16 = 0;
const DATE: u16 = (1 << 5) | 1;

/// Parts so far.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    parts: u16,
}

/// Counts what goes through.
struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Archive {
    /// Adds a part that `write` writes.
    ///
    /// # Errors
    /// The archive, or the part, has more than 4 GiB, or there are more than 65,535 parts.
    pub(super) fn part(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let packer = DeflateEncoder::new(Vec::new(), Compression::default());
        let mut out = CrcWriter::new(Counted {
            inner: packer,
            bytes: 0,
        });
        write(&mut out)?;
        let sum = out.crc().sum();
        let Counted { inner, bytes } = out.into_inner();
        let packed = inner.finish()?;
        let place = size(self.bytes.len() as u64)?;
        let sizes = [size(packed.len() as u64)?, size(bytes)?];
        self.parts = self.parts.checked_add(1).ok_or_else(too_large)?;
        let mut about = Vec::with_capacity(26);
        for number in [VERSION, FLAGS, METHOD, TIME, DATE] {
            about.extend(number.to_le_bytes());
        }
        for number in [sum, sizes[0], sizes[1]] {
            about.extend(number.to_le_bytes());
        }
        about.extend((name.len() as u16).to_le_bytes());
        about.extend(0_u16.to_le_bytes()); // bytes of the extra field
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&about);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(packed);
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(about);
        self.directory.extend([0; 10]); // comment, disk, attributes
        self.directory.extend(place.to_le_bytes());
        self.directory.extend(name.as_bytes());
        Ok(())
    }

    /// The bytes of the archive.
    ///
    /// # Errors
    /// It has more than 4 GiB.
    pub(super) fn finish(mut self) -> io::Result<Vec<u8>> {
        let place = size(self.bytes.len() as u64)?;
        let length = size(self.directory.len() as u64)?;
        self.bytes.extend(self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend(self.parts.to_le_bytes());
        self.bytes.extend(self.parts.to_le_bytes());
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(place.to_le_bytes());
        self.bytes.extend(0_u16.to_le_bytes()); // bytes of the comment
        Ok(self.bytes)
    }
}

fn size(bytes: u64) -> io::Result<u32> {
    u32::try_from(bytes).map_err(|_| too_large())
}

fn too_large() -> io::Error {
    io::Error::other("more than an archive holds")
}
