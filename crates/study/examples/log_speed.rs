//! Speed and memory of the study of a log, and of the generator that makes the log.
//!
//! ```text
//! cargo run --release -p seine-study --example log_speed -- generate LINES FORM > FILE     one-time, plain, sphinxql or json
//! cargo run --release -p seine-study --example log_speed -- read THREADS FILE…             plain, .gz or .zst
//! cargo run --release -p seine-study --example log_speed -- decode FILE…                   the decoders alone
//! ```
//!
//! `generate` takes lines of the 15 servers in turns, so that each is in the order of its time. `read` prints lines and bytes a
//! second, the mean length of a line, the shares of the study and the most memory that the process had.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

use std::fs::File;
use std::io::{Read, Write, stdout};
use std::num::NonZeroUsize;
use std::time::Instant;

use study::log::generate::{GeneratedForm, LogGenerator, SERVERS, Workload};
use study::log::source::{Input, ServerRule, read_logs, server_of_path};
use study::log::{QueryOrder, SummaryOptions};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["generate", lines, form] => generate(lines.parse().unwrap(), form_of(form)),
        ["read", threads, files @ ..] => read(threads.parse().unwrap(), files),
        ["decode", files @ ..] => decode(files),
        _ => eprintln!("generate LINES FORM | read THREADS FILE… | decode FILE…"),
    }
}

fn form_of(name: &str) -> GeneratedForm {
    match name {
        "plain" => GeneratedForm::Plain,
        "sphinxql" => GeneratedForm::Sphinxql,
        "json" => GeneratedForm::Json,
        _ => GeneratedForm::OneTime,
    }
}

fn generate(lines: u64, form: GeneratedForm) {
    let workload = Workload {
        form,
        ..Workload::default()
    };
    let mut servers: Vec<LogGenerator> = (0..SERVERS)
        .map(|server| LogGenerator::new(workload, server))
        .collect();
    let mut out = stdout().lock();
    let mut block = Vec::new();
    let began = Instant::now();
    for line in 0..lines {
        servers[(line % u64::from(SERVERS)) as usize].write_line(&mut block);
        if block.len() > 1 << 20 || line + 1 == lines {
            out.write_all(&block).unwrap();
            block.clear();
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    eprintln!(
        "{lines} lines in {seconds:.2} s, {:.2} M lines/s",
        lines as f64 / seconds / 1e6
    );
}

fn read(threads: NonZeroUsize, files: &[&str]) {
    let inputs = files.iter().map(|path| Input {
        name: (*path).to_owned(),
        server: server_of_path(path, &ServerRule::FileName),
        read: Box::new(File::open(path).unwrap()),
    });
    let began = Instant::now();
    let (summary, reports) = read_logs(
        inputs.collect(),
        &SummaryOptions::default(),
        threads,
        &mut |_| {},
    );
    let seconds = began.elapsed().as_secs_f64();
    let bytes: u64 = reports.iter().map(|report| report.bytes).sum();
    let counts = summary.counts();
    let lines = counts.lines as f64;
    println!(
        "{} lines, {} queries, {} unknown in {seconds:.2} s: {:.2} M lines/s, {:.0} MB/s, {:.1} bytes a line",
        counts.lines,
        counts.queries,
        counts.unknown,
        lines / seconds / 1e6,
        bytes as f64 / seconds / 1e6,
        bytes as f64 / lines,
    );
    let times = summary.times();
    let shares =
        [1_000, 10_000, 100_000, 500_000].map(|us| times.share_within(us).unwrap_or(0.0) * 100.0);
    println!("within 1, 10, 100, 500 ms: {shares:.2?} %");
    let queries = summary.queries();
    println!(
        "{} queries in the table, a dropped one had at most {}",
        queries.len(),
        queries.count_floor()
    );
    let top = queries.top(QueryOrder::Count, 100);
    let exact = top.iter().filter(|query| query.count_error == 0).count();
    println!(
        "{exact} of the first {} are exact, the last has {}",
        top.len(),
        top.last().map_or(0, |query| query.count)
    );
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // Fields 14 and 15, in hundredths of a second.
    let ticks: u64 = stat
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(|field| field.parse::<u64>().unwrap())
        .sum();
    let cpu = ticks as f64 / 100.0;
    println!(
        "{cpu:.2} s of processor time, {:.0} ns a line",
        cpu / lines * 1e9
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!(
        "{}",
        status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap_or_default()
    );
}

/// Decodes alone: what a report of a packed log can at most reach on one core beside the parsing.
fn decode(files: &[&str]) {
    for path in files {
        let mut packed = Vec::new();
        File::open(path).unwrap().read_to_end(&mut packed).unwrap();
        for (name, bytes, seconds) in [
            timed("flate2", || {
                let mut reader = flate2::read::MultiGzDecoder::new(&packed[..]);
                std::io::copy(&mut reader, &mut std::io::sink()).unwrap_or(0)
            }),
            timed("zstd", || {
                let mut out = vec![0; 8 << 20];
                let mut context = zstd_safe::DCtx::create();
                let mut input = zstd_safe::InBuffer::around(&packed);
                let mut bytes = 0;
                while input.pos() < packed.len() {
                    let mut output = zstd_safe::OutBuffer::around(&mut out[..]);
                    if context.decompress_stream(&mut output, &mut input).is_err() {
                        break;
                    }
                    bytes += output.pos() as u64;
                }
                bytes
            }),
        ] {
            if bytes > 0 {
                println!("{path}: {name} {:.0} MB/s", bytes as f64 / seconds / 1e6);
            }
        }
    }
}

fn timed(name: &str, decode: impl FnOnce() -> u64) -> (&str, u64, f64) {
    let began = Instant::now();
    let bytes = decode();
    (name, bytes, began.elapsed().as_secs_f64())
}
