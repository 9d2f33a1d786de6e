//! Decoders of compressed logs. The first bytes of an input tell its form, so that standard input needs no name.
//!
//! Measured over 20 million generated lines on one core, in turns: zlib-rs is 1.2 to 1.3 times as fast as miniz_oxide, zstd's own
//! decoder 2.3 times as fast as ruzstd.

use std::io::{BufReader, Cursor, Error, ErrorKind, Read, Result};

use flate2::bufread::MultiGzDecoder;
use zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

/// Compressed bytes that are read at a time.
const INPUT_BYTES: usize = 256 << 10;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes behind `read`, decoded if they begin as gzip or zstd do.
pub(crate) fn decoded(mut read: Box<dyn Read + Send>) -> Result<Box<dyn Read + Send>> {
    let mut first = Vec::new();
    read.by_ref()
        .take(ZSTD.len() as u64)
        .read_to_end(&mut first)?;
    let is_gzip = first.starts_with(&GZIP);
    let is_zstd = first == ZSTD;
    let whole = Cursor::new(first).chain(read);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(
            INPUT_BYTES,
            whole,
        )))
    } else if is_zstd {
        Box::new(ZstdReader::new(whole))
    } else {
        Box::new(whole)
    })
}

/// Reads frames of zstd, one behind the other.
struct ZstdReader<R> {
    read: R,
    context: DCtx<'static>,
    input: Vec<u8>,
    /// The part of `input` that is not decoded yet.
    from: usize,
    to: usize,
    /// Whether a frame has begun and not ended.
    in_frame: bool,
}

impl<R: Read> ZstdReader<R> {
    fn new(read: R) -> ZstdReader<R> {
        ZstdReader {
            read,
            context: DCtx::create(),
            input: vec![0; INPUT_BYTES],
            from: 0,
            to: 0,
            in_frame: false,
        }
    }
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        loop {
            if self.from == self.to {
                self.from = 0;
                self.to = self.read.read(&mut self.input)?;
                if self.to == 0 && !self.in_frame {
                    return Ok(0);
                }
            }
            let at_end = self.to == 0;
            let mut input = InBuffer::around(&self.input[self.from..self.to]);
            let mut output = OutBuffer::around(&mut *out);
            let decoded = self.context.decompress_stream(&mut output, &mut input);
            let wanted =
                decoded.map_err(|code| Error::new(ErrorKind::InvalidData, get_error_name(code)))?;
            self.from += input.pos();
            self.in_frame = wanted != 0;
            let bytes = output.pos();
            if bytes > 0 || out.is_empty() {
                return Ok(bytes);
            }
            if at_end && self.in_frame {
                return Err(Error::new(
                    ErrorKind::UnexpectedEof,
                    "the zstd frame is cut",
                ));
            }
        }
    }
}
