//! `seine bench index`: documents per second into a table, by batch size and count of shards. The time ends with the last seal.

mod documents;
mod fill;
mod report;

use std::{
    fs,
    path::{Path, PathBuf},
};

use report::AUTO;

use crate::{
    Server,
    device::Device,
    error::{Error, Result},
    progress::Progress,
    runs::PAIRED_RUNS_MIN,
    search::{Corpus, Program},
};

pub use report::{Report, Row};

/// Count of documents of W4.
pub const DOCUMENTS: usize = 100_000;
/// Approximate length of a document of W4, in bytes.
pub const DOCUMENT_BYTES: usize = 200;

/// Batch sizes of the published grid.
pub const GRID_BATCHES: [u32; 4] = [1, 10, 100, 1_000];
/// Counts of shards of the published grid.
pub const GRID_SHARDS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Most statements of a cell. Rows sent one by one are as slow as the disk's syncs, so more of them would show nothing new.
const STATEMENTS_MAX: usize = 10_000;

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server. The benchmark creates a table `bench_index` and drops it afterwards.
    pub server: Server,
    /// Path of the binary `seine`; its verb `load` is the automatic setting.
    pub seine: PathBuf,
    /// Count of documents.
    pub documents: usize,
    /// Most bytes of a document; most come close.
    pub bytes: usize,
    /// Counts of rows in a statement.
    pub batches: Vec<u32>,
    /// Counts of shards; `None`: the server chooses.
    pub shards: Vec<Option<u32>>,
    /// Count of connections that insert.
    pub connections: u32,
    /// Peers, each a name and a command.
    pub peers: Vec<(String, String)>,
    /// Batch sizes of peers; 0: one commit at the end.
    pub peer_batches: Vec<u32>,
    /// Counts of parts or threads of peers.
    pub peer_shards: Vec<u32>,
    /// A folder on the server's disk for files and the peers' indexes.
    pub data: PathBuf,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// Count of loads of each cell.
    pub runs: u32,
    /// Whether a line on standard error shows progress.
    pub progress: bool,
}

/// How a cell's table is filled.
enum Way<'a> {
    Statements(u32, Option<u32>),
    Load(&'a Path),
    Peer(usize, u32, u32),
}

/// Runs the benchmark: loads every cell once, then all again, `runs` times.
///
/// # Errors
/// Before anything is measured: bad options or peers. [`Error::WrongAnswer`]: a table's count of rows is not that sent.
pub fn run(options: &Options, corpus: &Corpus) -> Result<Report> {
    if options.runs == 0 || options.connections == 0 || options.batches.contains(&0) {
        return Err(Error::BadOption(
            "runs, connections and batches are 1 or more",
        ));
    }
    let texts = documents::documents(corpus, options.documents, options.bytes);
    fs::create_dir_all(&options.data)?;
    let ndjson = options.data.join("documents.ndjson");
    fs::write(&ndjson, documents::as_ndjson(&texts))?;
    let mut notes = vec![
        Device::measure(&options.data).to_string(),
        format!(
            "{} documents of {:.0} bytes, stored, durable, timed to the last seal; {} connections, or `seine load` (auto)",
            texts.len(),
            texts.iter().map(String::len).sum::<usize>() as f64 / texts.len().max(1) as f64,
            options.connections,
        ),
        format!("a cell of statements has at most {STATEMENTS_MAX} of them: then fewer documents"),
    ];
    let mut peers = start_peers(options, &texts, &mut notes)?;
    let ways = ways(options, &ndjson);
    let every: Vec<usize> = (0..ways.len()).collect();
    let rows = turns(options, &ways, (&every, options.runs), &texts, &mut peers)?;
    let best = report::automatic_and_bests(&rows);
    if best.len() < rows.len() {
        let paired = options.runs.max(PAIRED_RUNS_MIN);
        let again = turns(options, &ways, (&best, paired), &texts, &mut peers)?;
        notes.push(
            "the best of many cells is also the luckiest, so these are measured again, in turns:"
                .to_owned(),
        );
        notes.extend(report::compared(&again));
    } else {
        notes.extend(report::compared(&rows));
    }
    fill::drop_table(&options.server)?;
    Ok(Report {
        notes,
        tag: options.tag.clone(),
        rows,
    })
}

/// Loads each of these ways once, then all again, in turns.
fn turns(
    options: &Options,
    ways: &[Way<'_>],
    (places, times): (&[usize], u32),
    texts: &[String],
    peers: &mut [Program],
) -> Result<Vec<Row>> {
    let rows = places.iter().map(|place| ways[*place].row(options));
    let mut rows: Vec<Row> = rows.collect();
    let mut progress = Progress::new(options.progress);
    let cells = f64::from(times) * places.len() as f64;
    for turn in 0..times {
        for (number, (place, row)) in places.iter().zip(&mut rows).enumerate() {
            let done = f64::from(turn) * places.len() as f64 + number as f64;
            progress.show(
                &format!("index, {} {} {}", row.engine, row.batch, row.shards),
                done / cells,
            );
            row.rates.push(rate(options, &ways[*place], texts, peers)?);
        }
    }
    Ok(rows)
}

fn start_peers(
    options: &Options,
    texts: &[String],
    notes: &mut Vec<String>,
) -> Result<Vec<Program>> {
    let words = options.data.join("documents.tsv");
    if !options.peers.is_empty() {
        fs::write(&words, documents::as_words(texts))?;
    }
    let mut peers = Vec::new();
    for (name, command) in &options.peers {
        let index = options.data.join(format!("index-{name}"));
        let arguments = [Path::new("index"), &words, &index];
        let peer = Program::start(name, command, &arguments)?;
        notes.push(format!(
            "{name}: {}; words of our analysis, nothing stored",
            peer.about
        ));
        peers.push(peer);
    }
    Ok(peers)
}

fn ways<'a>(options: &Options, ndjson: &'a Path) -> Vec<Way<'a>> {
    let mut ways = vec![Way::Load(ndjson)];
    for batch in &options.batches {
        let each = options
            .shards
            .iter()
            .map(|shards| Way::Statements(*batch, *shards));
        ways.extend(each);
    }
    for peer in 0..options.peers.len() {
        for batch in &options.peer_batches {
            let each = options
                .peer_shards
                .iter()
                .map(|shards| Way::Peer(peer, *batch, *shards));
            ways.extend(each);
        }
    }
    ways
}

fn rate(options: &Options, way: &Way<'_>, texts: &[String], peers: &mut [Program]) -> Result<f64> {
    let texts = &texts[..way.documents(texts.len())];
    let elapsed = match way {
        Way::Statements(batch, shards) => {
            fill::statements(&options.server, texts, *batch, *shards, options.connections)?
        }
        Way::Load(file) => fill::load(&options.server, &options.seine, file, texts.len())?,
        Way::Peer(peer, batch, shards) => {
            let told = peers[*peer].ask(&format!("measure {batch} {shards}"))?;
            return Ok(told.first().copied().unwrap_or_default());
        }
    };
    Ok(texts.len() as f64 / elapsed.as_secs_f64())
}

impl Way<'_> {
    /// Count of the documents that it stores.
    fn documents(&self, all: usize) -> usize {
        match self {
            Way::Statements(batch, _) => all.min(STATEMENTS_MAX * *batch as usize),
            Way::Load(_) | Way::Peer(..) => all,
        }
    }

    fn row(&self, options: &Options) -> Row {
        let (engine, batch, shards) = match self {
            Way::Statements(batch, shards) => {
                let shards = shards.map_or(AUTO.to_owned(), |shards| shards.to_string());
                ("seine".to_owned(), batch.to_string(), shards)
            }
            Way::Load(_) => ("seine *".to_owned(), AUTO.to_owned(), AUTO.to_owned()),
            Way::Peer(peer, batch, shards) => (
                options.peers[*peer].0.clone(),
                batch.to_string(),
                shards.to_string(),
            ),
        };
        Row {
            engine,
            batch,
            shards,
            documents: self.documents(options.documents),
            rates: Vec::new(),
        }
    }
}
