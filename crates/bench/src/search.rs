//! `seine bench search`: the study's queries over records, in this process or in a server, and in peers beside it.

mod beside;
mod check;
mod corpus;
mod definition;
mod drive;
mod engine;
mod found;
mod grid;
mod oracle;
mod program;
mod report;
mod served;
mod sphinx;
mod within;

use std::{
    cell::RefCell,
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use query::analysis::Analyzer;

use crate::{
    Effort, Server,
    error::{Error, Result},
};
use engine::{Asked, Engine, Entry};
use report::AUTO;
use served::Served;
use sphinx::Sphinx;
use within::Within;

pub use within::Layout;

pub use beside::inserts;
pub use corpus::Corpus;
pub(crate) use corpus::words;
pub(crate) use program::Program;
pub use report::{Report, Row};

/// Rows of an answer.
const ROWS_SHOWN: u64 = 100;

/// Parts, threads and clients of the published grid; `None` is what the server chooses.
pub const GRID_SETTINGS: [Option<u32>; 9] = [
    None,
    Some(1),
    Some(2),
    Some(3),
    Some(4),
    Some(5),
    Some(6),
    Some(7),
    Some(8),
];
/// See [`GRID_SETTINGS`].
pub const GRID_CLIENTS: [u32; 4] = [1, 2, 4, 8];

/// A peer beside us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// A program that speaks as `benchmarks/peers/search/README.md` says.
    Program {
        /// What it is called in the figures.
        name: String,
        /// A line of the shell.
        command: String,
    },
    /// A searchd, over its own protocol.
    Sphinx {
        /// What it is called in the figures.
        name: String,
        /// `host:port`.
        addr: String,
        /// Its index of the same records.
        index: String,
        /// Its version and year, which its protocol does not tell.
        about: String,
    },
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names of tests; the usual ones where there is none.
    pub tests: Vec<String>,
    /// The server whose tables `bench_search_…` are searched; `None`: in this process.
    pub server: Option<Server>,
    /// The first so many queries of the study's; all of them by default.
    pub queries: usize,
    /// A folder for the tables of this process and the indexes of peers: found again by the next run over as many records.
    pub data: PathBuf,
    /// The server's tables stay, for the next run.
    pub keep: bool,
    /// Parts of the index; `None`: the server chooses.
    pub shards: Vec<Option<u32>>,
    /// Segments of a table in this process.
    pub layouts: Vec<Layout>,
    /// Most threads of a query; `None`: the server chooses.
    pub threads: Vec<Option<u32>>,
    /// Threads or connections that ask.
    pub clients: Vec<u32>,
    /// In turns with us.
    pub beside: Vec<Beside>,
    /// Put behind each line of the CSV.
    pub tag: Option<String>,
    /// How much.
    pub effort: Effort,
}

/// Measures. Blocks for runs × seconds × cells, and for the time it takes to load the records.
///
/// # Errors
/// Before anything is measured: bad options, records or peers. [`Error::WrongAnswer`] where a total differs from the count of
/// all records or, for records that are known, from the definition's sum; [`Error::OtherAnswer`] where two settings of ours,
/// or two runs of one, disagree about ids, weights or totals.
pub fn run(options: &Options, corpus: &Corpus) -> Result<Report> {
    options.effort.check()?;
    if options.clients.contains(&0) || options.clients.is_empty() {
        return Err(Error::BadOption("clients are 1 or more"));
    }
    let tests = definition::named(&options.tests)?;
    let folder = folder(&options.data, corpus)?;
    let queries: Vec<Vec<String>> = queries().take(options.queries).collect();
    if queries.is_empty() {
        return Err(Error::BadOption("there are no queries"));
    }
    let mut notes = vec![format!(
        "{} records of {:.0} bytes, {:.1} MB; {} queries of {:.2} words; the first {ROWS_SHOWN} rows, ids and weights, of each",
        corpus.records(),
        corpus.bytes() as f64 / corpus.records() as f64,
        corpus.bytes() as f64 / 1e6,
        queries.len(),
        queries.iter().map(Vec::len).sum::<usize>() as f64 / queries.len().max(1) as f64,
    )];
    let own = own_engines(options, corpus, &folder, &mut notes)?;
    let peers = peers(options, corpus, &queries, &folder, &mut notes)?;
    let mut rows = Vec::new();
    for test in &tests {
        let asked = Asked {
            test,
            words: &queries,
            texts: queries
                .iter()
                .map(|words| test.matching.text(words))
                .collect(),
        };
        let entries = entries(options, &own, &peers);
        rows.extend(grid::measure(
            options, corpus, &asked, &entries, &mut notes,
        )?);
    }
    for own in own {
        match own.engine {
            Engine::Served(served) if !options.keep => served.drop()?,
            _ => {}
        }
    }
    Ok(Report {
        notes,
        tag: options.tag.clone(),
        rows,
    })
}

/// Writes records and queries as words, for other programs: `documents.tsv` and `queries.txt` in the corpus's own folder below
/// `data`, which is given back.
///
/// # Errors
/// Those of the disk.
pub fn export(corpus: &Corpus, data: &Path) -> Result<PathBuf> {
    let folder = folder(data, corpus)?;
    write_words(corpus, &queries().collect::<Vec<_>>(), &folder)?;
    Ok(folder)
}

/// The study's queries as words; those that are one word or more.
fn queries() -> impl Iterator<Item = Vec<String>> {
    let analyzer = Analyzer::default();
    let words = definition::study_queries().map(move |text| corpus::words(&analyzer, text));
    words.filter(|words| !words.is_empty())
}

/// Tables and indexes of a corpus have a folder of their own.
fn folder(data: &Path, corpus: &Corpus) -> Result<PathBuf> {
    let folder = data.join(format!("{}-{}", corpus.records(), corpus.bytes()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Documents that are there stay as they are: indexes of them stand beside them.
fn write_words(corpus: &Corpus, queries: &[Vec<String>], folder: &Path) -> Result<()> {
    let documents = folder.join("documents.tsv");
    if !documents.exists() {
        // A file that was cut short never gets its name.
        let begun = folder.join("documents.begun");
        let mut out = BufWriter::new(fs::File::create(&begun)?);
        corpus.write_words(&mut out)?;
        out.flush()?;
        fs::rename(begun, documents)?;
    }
    let lines: String = queries.iter().map(|words| words.join(" ") + "\n").collect();
    Ok(fs::write(folder.join("queries.txt"), lines)?)
}

/// A table of ours, and what it is called.
struct Own {
    name: String,
    shards: Option<u32>,
    engine: Engine,
}

/// Our tables, one for each number of parts and, in this process, each layout.
fn own_engines(
    options: &Options,
    corpus: &Corpus,
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<Own>> {
    let mut engines = Vec::new();
    for &shards in &options.shards {
        if let Some(server) = &options.server {
            engines.push(Own {
                name: report::OURS.to_owned(),
                shards,
                engine: Engine::Served(Served::open(server, corpus, shards)?),
            });
            continue;
        }
        for layout in &options.layouts {
            let within = Within::open(corpus, folder, shards, *layout)?;
            let name = match layout {
                Layout::Merged => report::OURS.to_owned(),
                _ => format!("{} ({layout})", report::OURS),
            };
            let parts = shards.map_or(AUTO.to_owned(), |shards| shards.to_string());
            notes.push(format!(
                "{name}, parts {parts}: {} segments",
                within.segments
            ));
            engines.push(Own {
                name,
                shards,
                engine: Engine::Within(within),
            });
        }
    }
    notes.push(match &options.server {
        Some(server) => format!("seine over MySQL at {}", server.addr),
        None => "seine in this process: parsing, searching, ids and weights of the rows".to_owned(),
    });
    Ok(engines)
}

fn peers(
    options: &Options,
    corpus: &Corpus,
    queries: &[Vec<String>],
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<(String, Engine)>> {
    let mut peers = Vec::new();
    let is_program = |beside: &&Beside| matches!(beside, Beside::Program { .. });
    if options.beside.iter().any(|beside| is_program(&beside)) {
        write_words(corpus, queries, folder)?;
    }
    for beside in &options.beside {
        peers.push(match beside {
            Beside::Program { name, command } => {
                let files = ["documents.tsv", "queries.txt", name].map(|file| folder.join(file));
                let [documents, queries, index] = &files;
                let arguments = [Path::new("search"), documents, queries, index];
                let program = Program::start(name, command, &arguments)?;
                notes.push(format!("{name}: {}", program.about));
                (name.clone(), Engine::Program(RefCell::new(program)))
            }
            Beside::Sphinx {
                name,
                addr,
                index,
                about,
            } => {
                notes.push(format!("{name}: {about}, its own protocol at {addr}"));
                let (addr, index) = (addr.clone(), index.clone());
                (name.clone(), Engine::Sphinx(Sphinx { addr, index }))
            }
        });
    }
    Ok(peers)
}

/// Every setting of ours, and every peer.
fn entries<'a>(options: &Options, own: &'a [Own], peers: &'a [(String, Engine)]) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    for own in own {
        for threads in &options.threads {
            entries.push(Entry {
                engine: &own.engine,
                name: own.name.clone(),
                shards: own
                    .shards
                    .map_or(AUTO.to_owned(), |shards| shards.to_string()),
                threads: *threads,
            });
        }
    }
    for (name, engine) in peers {
        entries.push(Entry {
            engine,
            name: name.clone(),
            shards: String::new(),
            threads: None,
        });
    }
    entries
}

#[cfg(test)]
mod tests;
