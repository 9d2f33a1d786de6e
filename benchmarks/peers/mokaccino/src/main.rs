//! mokaccino over the words that `seine bench percolate --export DIR` wrote: queries.txt has `+word`, `+a|b` and `-word`,
//! documents.txt has the words of a document a line. Stays alive between measurements, so that its memory is warm.
//!
//! Reads commands of four words from standard input, `LAYOUT MATCHERS SECONDS DOCUMENTS`, and answers each with a line:
//! documents a second, pairs found in one pass over the first DOCUMENTS, passes, seconds. One thread.
//!
//! LAYOUT is `value` (the words are values of one field) or `field` (each word is a field of its own). MATCHERS is the
//! percolator's number of clause matchers.

use std::{
    collections::{HashMap, HashSet},
    error::Error,
    fs,
    io::{self, BufRead, Write},
    num::NonZeroUsize,
    path::Path,
    time::Instant,
};

use mokaccino::prelude::{Document, PercolatorUid, Query};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FIELD: &str = "body";
const THERE: &str = "1";

/// How a word becomes a field and a value of a document of mokaccino.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Layout {
    Value,
    Field,
}

impl Layout {
    fn of(name: &str) -> Result<Layout> {
        match name {
            "value" => Ok(Layout::Value),
            "field" => Ok(Layout::Field),
            _ => Err(format!("no layout is called {name}").into()),
        }
    }

    /// Field and value of a word.
    fn place(self, word: &str) -> (&str, &str) {
        match self {
            Layout::Value => (FIELD, word),
            Layout::Field => (word, THERE),
        }
    }

    fn query(self, line: &str) -> Query {
        let term = |word: &str| {
            let (field, value) = self.place(word);
            Query::term(field, value)
        };
        let part = |part: &str| match part.split_at(1) {
            ("-", word) => Query::negation(term(word)),
            (_, words) => Query::from_or(words.split('|').map(term).collect()),
        };
        Query::from_and(line.split(' ').map(part).collect())
    }

    /// Splits at spaces. A repeated word is added once.
    fn document(self, line: &str) -> Document {
        let mut seen = HashSet::new();
        let words = line.split(' ').filter(|word| seen.insert(*word));
        words.fold(Document::default(), |document, word| {
            let (field, value) = self.place(word);
            document.with_value(field, value)
        })
    }
}

struct Peer {
    queries: Vec<String>,
    documents: Vec<String>,
    percolators: HashMap<(Layout, NonZeroUsize), PercolatorUid<u32>>,
}

impl Peer {
    fn new(directory: &Path) -> Result<Peer> {
        let lines = |name: &str| -> Result<Vec<String>> {
            let text = fs::read_to_string(directory.join(name))?;
            Ok(text.lines().map(str::to_owned).collect())
        };
        Ok(Peer {
            queries: lines("queries.txt")?,
            documents: lines("documents.txt")?,
            percolators: HashMap::new(),
        })
    }

    /// Stores the queries at the first use of a setting.
    fn prepare(&mut self, layout: Layout, matchers: NonZeroUsize) -> Result<()> {
        if self.percolators.contains_key(&(layout, matchers)) {
            return Ok(());
        }
        let mut percolator = PercolatorUid::<u32>::builder()
            .n_clause_matchers(matchers)
            .build();
        for (id, line) in (1..).zip(&self.queries) {
            percolator
                .index_query_uid(layout.query(line), id)
                .map_err(|error| format!("{line}: {error:?}"))?;
        }
        self.percolators.insert((layout, matchers), percolator);
        Ok(())
    }

    /// Passes over the documents until the time is up. Every pass must find the same number of pairs.
    fn measure(&mut self, command: &str) -> Result<String> {
        let words: Vec<&str> = command.split(' ').collect();
        let [layout, matchers, seconds, count] = words[..] else {
            return Err(format!("LAYOUT MATCHERS SECONDS DOCUMENTS, not {command}").into());
        };
        let (layout, matchers) = (Layout::of(layout)?, matchers.parse()?);
        self.prepare(layout, matchers)?;
        let percolator = &self.percolators[&(layout, matchers)];
        let seconds: f64 = seconds.parse()?;
        let count = count.parse::<usize>()?.min(self.documents.len());
        let (begun, mut passes, mut pairs) = (Instant::now(), 0, None);
        let mut elapsed = 0.0;
        while passes == 0 || elapsed < seconds {
            let mut found = 0;
            for line in &self.documents[..count] {
                found += percolator.percolate(&layout.document(line)).count();
            }
            if *pairs.get_or_insert(found) != found {
                return Err(format!("a pass found {found} pairs, another {pairs:?}").into());
            }
            passes += 1;
            elapsed = begun.elapsed().as_secs_f64();
        }
        let rate = (passes * count) as f64 / elapsed;
        let pairs = pairs.unwrap_or_default();
        Ok(format!("{rate:.1} {pairs} {passes} {elapsed:.2}"))
    }
}

fn main() -> Result<()> {
    let directory = std::env::args().nth(1).ok_or("peer-mokaccino DIR")?;
    let mut peer = Peer::new(Path::new(&directory))?;
    let mut out = io::stdout().lock();
    writeln!(out, "ready {} {}", peer.queries.len(), peer.documents.len())?;
    for command in io::stdin().lock().lines() {
        writeln!(out, "{}", peer.measure(&command?)?)?;
    }
    Ok(())
}
