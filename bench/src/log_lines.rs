//! Query logs for measurements: the lines of the study's servers, in files.
//!
//! The files of one seed are the same on every machine. They are no benchmark; they are what `seine log report` is measured on.

use std::fs::{self, File};
use std::io::{BufWriter, Result, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use study::log::generate::{LogGenerator, Workload, index_sizes, server_name};
use zstd_safe::zstd_sys::ZSTD_EndDirective::{ZSTD_e_continue, ZSTD_e_end};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, get_error_name};

/// Bytes of lines that are packed at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// zstd's own default.
const ZSTD_LEVEL: i32 = 3;

/// How files are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Files as the server writes them.
    Plain,
    /// gzip, level 6.
    Gzip,
    /// zstd, level 3.
    Zstd,
}

/// Which files are written.
#[derive(Clone, Debug)]
pub struct Options {
    /// Form, seed and times of the lines.
    pub workload: Workload,
    /// Lines of all files together.
    pub lines: u64,
    /// Files, one for each server: 1 to 15.
    pub servers: u32,
    /// Their directory, which is made.
    pub directory: PathBuf,
    /// How they are packed.
    pub packing: Packing,
}

/// Writes `search01.log` to `search15.log`, packed ones with `.gz` or `.zst` behind the name, and `sizes.txt` with the sizes of the
/// indexes. Returns the bytes of all lines before they were packed.
///
/// # Errors
/// A file that cannot be written.
pub fn write(options: &Options) -> Result<u64> {
    fs::create_dir_all(&options.directory)?;
    let sizes = index_sizes();
    let sizes = sizes
        .iter()
        .map(|(name, bytes)| format!("{name} {bytes}\n"));
    fs::write(
        options.directory.join("sizes.txt"),
        sizes.collect::<String>(),
    )?;
    let next = AtomicU32::new(0);
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| write_servers(options, &next)))
            .collect();
        let written = workers.into_iter().map(|worker| match worker.join() {
            Ok(bytes) => bytes,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        written.sum()
    })
}

/// Writes the logs that no other thread has begun.
fn write_servers(options: &Options, next: &AtomicU32) -> Result<u64> {
    let mut bytes = 0;
    loop {
        let server = next.fetch_add(1, Ordering::Relaxed);
        if server >= options.servers {
            return Ok(bytes);
        }
        bytes += write_server(options, server)?;
    }
}

fn write_server(options: &Options, server: u32) -> Result<u64> {
    let servers = u64::from(options.servers);
    let lines = options.lines / servers + u64::from(u64::from(server) < options.lines % servers);
    let name = options
        .directory
        .join(format!("{}.log", server_name(server)));
    let mut file = open(&name, options.packing)?;
    let mut generator = LogGenerator::new(options.workload, server);
    let (mut block, mut bytes) = (Vec::new(), 0);
    for line in 0..lines {
        generator.write_line(&mut block);
        if block.len() >= BLOCK_BYTES || line + 1 == lines {
            file.write(&block)?;
            bytes += block.len() as u64;
            block.clear();
        }
    }
    file.end()?;
    Ok(bytes)
}

/// A file that packs its lines.
enum Packed {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
    Zstd(Box<Zstd>),
}

fn open(name: &Path, packing: Packing) -> Result<Packed> {
    let open = |ending: &str| {
        let mut name = name.as_os_str().to_owned();
        name.push(ending);
        File::create(name).map(BufWriter::new)
    };
    Ok(match packing {
        Packing::Plain => Packed::Plain(open("")?),
        Packing::Gzip => {
            let encoder = GzEncoder::new(open(".gz")?, Compression::default());
            Packed::Gzip(Box::new(encoder))
        }
        Packing::Zstd => Packed::Zstd(Box::new(Zstd::new(open(".zst")?)?)),
    })
}

impl Packed {
    fn write(&mut self, lines: &[u8]) -> Result<()> {
        match self {
            Packed::Plain(file) => file.write_all(lines),
            Packed::Gzip(file) => file.write_all(lines),
            Packed::Zstd(file) => file.write(lines),
        }
    }

    fn end(self) -> Result<()> {
        match self {
            Packed::Plain(mut file) => file.flush(),
            Packed::Gzip(file) => file.finish()?.flush(),
            Packed::Zstd(file) => file.end(),
        }
    }
}

/// One frame of zstd.
struct Zstd {
    file: BufWriter<File>,
    context: CCtx<'static>,
    out: Vec<u8>,
}

impl Zstd {
    fn new(file: BufWriter<File>) -> Result<Zstd> {
        let mut context = CCtx::create();
        let level = context.set_parameter(CParameter::CompressionLevel(ZSTD_LEVEL));
        level.map_err(failed)?;
        Ok(Zstd {
            file,
            context,
            out: vec![0; BLOCK_BYTES],
        })
    }

    fn write(&mut self, lines: &[u8]) -> Result<()> {
        let mut input = InBuffer::around(lines);
        while input.pos() < lines.len() {
            let mut output = OutBuffer::around(&mut self.out[..]);
            let packed = self
                .context
                .compress_stream2(&mut output, &mut input, ZSTD_e_continue);
            packed.map_err(failed)?;
            self.file.write_all(output.as_slice())?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        loop {
            let mut output = OutBuffer::around(&mut self.out[..]);
            let mut nothing = InBuffer::around(&[]);
            let left = self
                .context
                .compress_stream2(&mut output, &mut nothing, ZSTD_e_end);
            let left = left.map_err(failed)?;
            self.file.write_all(output.as_slice())?;
            if left == 0 {
                return self.file.flush();
            }
        }
    }
}

fn failed(code: zstd_safe::ErrorCode) -> std::io::Error {
    std::io::Error::other(get_error_name(code))
}

#[cfg(test)]
mod tests;
