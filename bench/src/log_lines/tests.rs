use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use study::log::SummaryOptions;
use study::log::generate::{GeneratedForm, SERVERS, Workload};
use study::log::sizes::parse_sizes;
use study::log::source::{Input, read_logs};

use super::{Options, Packing, write};

fn options(name: &str, packing: Packing) -> Options {
    let name = format!("seine-log-lines-{}-{name}", std::process::id());
    Options {
        workload: Workload {
            form: GeneratedForm::Sphinxql,
            queries: 1_000,
            ..Workload::default()
        },
        lines: 3_007,
        servers: SERVERS,
        directory: std::env::temp_dir().join(name),
        packing,
    }
}

#[test]
fn packed_files_hold_the_lines_of_plain_ones() {
    let mut logs = Vec::new();
    for (name, packing, ending) in [
        ("plain", Packing::Plain, "log"),
        ("gzip", Packing::Gzip, "gz"),
        ("zstd", Packing::Zstd, "zst"),
    ] {
        let options = options(name, packing);
        let bytes = write(&options).unwrap();
        let sizes = fs::read_to_string(options.directory.join("sizes.txt")).unwrap();
        assert_eq!(parse_sizes(&sizes).unwrap().len(), 180);
        let mut paths: Vec<PathBuf> = fs::read_dir(&options.directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|of_path| of_path == ending))
            .collect();
        paths.sort();
        let inputs = paths.iter().map(|path| Input {
            name: String::new(),
            server: path.file_name().unwrap().to_string_lossy()[..8].to_owned(),
            read: Box::new(fs::File::open(path).unwrap()),
        });
        let (summary, reports) = read_logs(
            inputs.collect(),
            &SummaryOptions::default(),
            NonZeroUsize::MIN,
            &mut |_| {},
        );
        assert_eq!(summary.counts().queries, 3_007, "{name}");
        assert!(reports.iter().all(|report| report.cut.is_none()), "{name}");
        let read = reports.into_iter();
        let read = read.map(|report| (report.server, report.lines, report.bytes));
        logs.push((bytes, read.collect::<Vec<_>>()));
        fs::remove_dir_all(&options.directory).unwrap();
    }
    assert_eq!(
        logs[0].1.iter().map(|(_, _, bytes)| bytes).sum::<u64>(),
        logs[0].0
    );
    assert_eq!(logs[0].1.len(), SERVERS as usize);
    assert_eq!(logs[0], logs[1]);
    assert_eq!(logs[0], logs[2]);
}
