//! `seine bench search`: runs the study's queries over records, in this process or in a server, and in peers.

mod answer_sum;
mod beside;
mod check;
mod corpus;
mod definition;
mod drive;
mod engine;
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

use engine::{Engine, Entry, TestQueries};
use language::analysis::Analyzer;
use report::AUTO;
use served::Served;
use sphinx::Sphinx;
use within::Within;

use crate::{
    Effort, Server,
    error::{Error, Result},
};

pub use within::Layout;

pub use beside::inserts;
pub use corpus::Corpus;
pub(crate) use corpus::words;
pub(crate) use program::Program;
pub use report::{Report, Row};

/// Counts of shards, and of threads, of the published grid; `None`: the server chooses.
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
/// Counts of clients of the published grid.
pub const GRID_CLIENTS: [u32; 4] = [1, 2, 4, 8];

/// A peer: another search engine that is measured in turns with Seine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// A program with the protocol of `benchmarks/peers/search/README.md`.
    Program {
        /// Name in the figures.
        name: String,
        /// Shell command that starts it.
        command: String,
    },
    /// A searchd, over its own protocol.
    Sphinx {
        /// Name in the figures.
        name: String,
        /// Address, `host:port`.
        addr: String,
        /// Name of its index of the same records.
        index: String,
        /// Its version and year, which its protocol does not give.
        about: String,
    },
}

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names of tests; empty: the usual tests.
    pub tests: Vec<String>,
    /// The server whose tables `bench_search_…` are searched; `None`: tables in this process.
    pub server: Option<Server>,
    /// Count of the study's first queries that run; all by default.
    pub queries: usize,
    /// Texts that run instead of the study's queries: their words.
    pub own_queries: Option<Vec<String>>,
    /// A folder for the tables of this process and the indexes of peers. The next run over the same records uses them again.
    pub data: PathBuf,
    /// Whether the server's tables stay for the next run.
    pub keep: bool,
    /// Counts of shards; `None`: the server chooses.
    pub shards: Vec<Option<u32>>,
    /// Layouts of the segments of a table in this process.
    pub layouts: Vec<Layout>,
    /// Bounds of the threads of a query; `None`: the server chooses.
    pub threads: Vec<Option<u32>>,
    /// Counts of threads or connections that search.
    pub clients: Vec<u32>,
    /// Peers that are measured in turns with Seine.
    pub beside: Vec<Beside>,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// Runs the benchmark. Blocks for runs × seconds × cells, and for the time of loading the records.
///
/// # Errors
/// Before anything is measured: bad options, records or peers. [`Error::WrongAnswer`]: a total differs from the slow count over
/// all records or, for known records, from the definition's sum. [`Error::OtherAnswer`]: two settings of Seine, or two runs of
/// a setting, differ in ids, weights or totals.
pub fn run(options: &Options, corpus: &Corpus) -> Result<Report> {
    options.effort.check()?;
    if options.clients.contains(&0) || options.clients.is_empty() {
        return Err(Error::BadOption("clients are 1 or more"));
    }
    let tests = definition::named(&options.tests)?;
    let knows_sentences = are_of_operators(&tests)?;
    let folder = folder(&options.data, corpus, knows_sentences)?;
    if knows_sentences && options.own_queries.is_some() {
        return Err(Error::BadOption(
            "tests of operators have queries of their own",
        ));
    }
    if options.queries == 0 {
        return Err(Error::BadOption("there are no queries"));
    }
    let mut notes = vec![format!(
        "{} records of {:.0} bytes, {:.1} MB",
        corpus.records(),
        corpus.bytes() as f64 / corpus.records() as f64,
        corpus.bytes() as f64 / 1e6,
    )];
    let own = own_engines(options, corpus, &folder, knows_sentences, &mut notes)?;
    let peers = peers(options, corpus, &folder, knows_sentences, &mut notes)?;
    let mut rows = Vec::new();
    for test in &tests {
        let queries = match test.matching.is_operator() {
            true => definition::operator_queries(test.matching),
            false => queries(options)?,
        };
        notes.push(format!(
            "{}: {} queries of {:.2} words; the first {} rows, ids and weights, of each",
            test.name,
            queries.len(),
            queries.iter().map(Vec::len).sum::<usize>() as f64 / queries.len().max(1) as f64,
            test.matching.rows(),
        ));
        let asked = TestQueries {
            test,
            words: &queries,
            texts: queries
                .iter()
                .map(|words| test.matching.text(words))
                .collect(),
            are_own: options.own_queries.is_some(),
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

/// Whether tests are of operators, over a table that knows sentences.
fn are_of_operators(tests: &[definition::Test]) -> Result<bool> {
    let mut operators = tests.iter().map(|test| test.matching.is_operator());
    let first = operators.next().unwrap_or(false);
    match operators.all(|operator| operator == first) {
        true => Ok(first),
        false => Err(Error::BadOption(
            "tests of operators are of another table: a run has only such tests or none",
        )),
    }
}

/// Writes records and queries as words, for other programs: `documents.tsv` and `queries.txt` in the corpus's folder below
/// `data`, as these tests read them. Gives that folder.
///
/// # Errors
/// The disk's. An unknown test.
pub fn export(corpus: &Corpus, data: &Path, tests: &[String]) -> Result<PathBuf> {
    let knows_sentences = are_of_operators(&definition::named(tests)?)?;
    let folder = folder(data, corpus, knows_sentences)?;
    let words = words_of(definition::study_queries()).collect::<Vec<_>>();
    write_words(corpus, &words, &folder, knows_sentences)?;
    Ok(folder)
}

/// The words of the queries that run, of those with at least one word.
///
/// # Errors
/// [`Error::BadOption`]: the user's queries have no word.
fn queries(options: &Options) -> Result<Vec<Vec<String>>> {
    let Some(own) = &options.own_queries else {
        return Ok(words_of(definition::study_queries())
            .take(options.queries)
            .collect());
    };
    let words = words_of(own.iter().map(String::as_str));
    let words: Vec<_> = words.take(options.queries).collect();
    match words.is_empty() {
        true => Err(Error::BadOption("the queries have no word")),
        false => Ok(words),
    }
}

/// The words of texts, of those with at least one word.
fn words_of<'t>(texts: impl Iterator<Item = &'t str>) -> impl Iterator<Item = Vec<String>> {
    let analyzer = Analyzer::default();
    let words = texts.map(move |text| corpus::words(&analyzer, text));
    words.filter(|words| !words.is_empty())
}

/// The folder of a corpus for tables and indexes, below `data`.
fn folder(data: &Path, corpus: &Corpus, knows_sentences: bool) -> Result<PathBuf> {
    let end = if knows_sentences { "-sentences" } else { "" };
    let folder = data.join(format!("{}-{}{end}", corpus.records(), corpus.bytes()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Writes documents and queries as words. Leaves an existing file of documents alone: indexes have been made from it.
fn write_words(
    corpus: &Corpus,
    queries: &[Vec<String>],
    folder: &Path,
    knows_sentences: bool,
) -> Result<()> {
    let documents = folder.join("documents.tsv");
    if !documents.exists() {
        // The file gets its name only when it is complete.
        let begun = folder.join("documents.begun");
        let mut out = BufWriter::new(fs::File::create(&begun)?);
        corpus.write_words(&corpus::analyzer(knows_sentences), &mut out)?;
        out.flush()?;
        fs::rename(begun, documents)?;
    }
    let lines: String = match knows_sentences {
        true => definition::operator_lines()
            .map(|line| line.to_owned() + "\n")
            .collect(),
        false => queries.iter().map(|words| words.join(" ") + "\n").collect(),
    };
    Ok(fs::write(folder.join("queries.txt"), lines)?)
}

/// A table of Seine, and its name.
struct Own {
    name: String,
    shards: Option<u32>,
    engine: Engine,
}

/// Opens Seine's tables: one for each count of shards and, in this process, for each layout.
fn own_engines(
    options: &Options,
    corpus: &Corpus,
    folder: &Path,
    knows_sentences: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<Own>> {
    let mut engines = Vec::new();
    for &shards in &options.shards {
        if let Some(server) = &options.server {
            engines.push(Own {
                name: report::OURS.to_owned(),
                shards,
                engine: Engine::Served(Served::open(server, corpus, shards, knows_sentences)?),
            });
            continue;
        }
        for layout in &options.layouts {
            let within = Within::open(corpus, folder, shards, *layout, knows_sentences)?;
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
    folder: &Path,
    knows_sentences: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<(String, Engine)>> {
    let mut peers = Vec::new();
    let is_program = |beside: &&Beside| matches!(beside, Beside::Program { .. });
    if options.beside.iter().any(|beside| is_program(&beside)) {
        write_words(corpus, &queries(options)?, folder, knows_sentences)?;
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

/// Every setting of Seine, and every peer.
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
