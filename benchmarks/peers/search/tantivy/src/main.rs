//! tantivy as a peer of `seine bench search` and `seine bench index`; see ../README.md for the commands it reads.

mod grid;

use std::{
    error::Error,
    fs,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use tantivy::{
    Index, IndexWriter, Searcher, TantivyDocument, Term,
    collector::{Count, TopDocs},
    directory::MmapDirectory,
    doc,
    query::{BooleanQuery, EmptyQuery, Occur, PhraseQuery, Query, TermQuery},
    schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions},
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const ROWS: usize = 100;
const WRITER_BYTES: usize = 2_000_000_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("search") => serve(&arguments[2], &arguments[3], Path::new(&arguments[4])),
        Some("index") => grid::serve(&arguments[2], Path::new(&arguments[3])),
        _ => Err("peer-tantivy search DOCUMENTS QUERIES DIR | index DOCUMENTS DIR".into()),
    }
}

/// The only fields: an id that can be read back, and words with their positions.
struct Fields {
    id: Field,
    body: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let id = schema.add_u64_field("id", NumericOptions::default().set_fast());
    let body = schema.add_text_field("body", TextOptions::default().set_indexing_options(words));
    (schema.build(), Fields { id, body })
}

/// Calls `visit` with the id and the words of every document: a line each, `id<TAB>words`.
fn documents(path: &str, mut visit: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    for line in BufReader::new(fs::File::open(path)?).lines() {
        let line = line?;
        let (id, words) = line.split_once('\t').ok_or("a document is id<TAB>words")?;
        visit(id.parse()?, words)?;
    }
    Ok(())
}

/// The index of these documents in one segment. The first call makes it, later calls open it.
fn index(path: &str, directory: &Path) -> Result<Index> {
    let made = directory.join("made");
    if made.exists() {
        return Ok(Index::open_in_dir(directory)?);
    }
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory)?;
    let (schema, fields) = schema();
    let index = Index::open_or_create(MmapDirectory::open(directory)?, schema)?;
    let mut writer: IndexWriter<TantivyDocument> =
        index.writer_with_num_threads(1, WRITER_BYTES)?;
    documents(path, |id, words| {
        writer.add_document(doc!(fields.id => id, fields.body => words))?;
        Ok(())
    })?;
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    fs::write(made, "")?;
    Ok(index)
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Any,
    All,
    Phrase,
}

impl Mode {
    fn of(name: &str) -> Result<Mode> {
        match name {
            "any" => Ok(Mode::Any),
            "all" => Ok(Mode::All),
            "phrase" => Ok(Mode::Phrase),
            _ => Err(format!("no mode is called {name}").into()),
        }
    }
}

fn query(mode: Mode, body: Field, text: &str) -> Box<dyn Query> {
    let mut terms: Vec<Term> = text
        .split(' ')
        .map(|word| Term::from_field_text(body, word))
        .collect();
    if mode != Mode::Phrase {
        terms.sort();
        terms.dedup();
    }
    let single = |term: &Term| -> Box<dyn Query> {
        Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs))
    };
    let occur = if mode == Mode::Any {
        Occur::Should
    } else {
        Occur::Must
    };
    match &terms[..] {
        [] => Box::new(EmptyQuery),
        [term] => single(term),
        _ if mode == Mode::Phrase => Box::new(PhraseQuery::new(terms)),
        _ => Box::new(BooleanQuery::new(
            terms.iter().map(|term| (occur, single(term))).collect(),
        )),
    }
}

/// The queries of a mode, and the number of documents that each finds.
struct Asked<'a> {
    searcher: &'a Searcher,
    body: Field,
    texts: &'a [String],
}

impl Asked<'_> {
    /// The best 100 rows and the exact total, in one pass: a second pass for the total is slower.
    fn one(&self, mode: Mode, number: usize) -> Result<usize> {
        let query = query(mode, self.body, &self.texts[number]);
        let best = TopDocs::with_limit(ROWS).order_by_score();
        let (rows, total) = self.searcher.search(&*query, &(best, Count))?;
        std::hint::black_box(rows);
        Ok(total)
    }

    fn totals(&self, mode: Mode) -> Result<Vec<usize>> {
        (0..self.texts.len())
            .map(|number| self.one(mode, number))
            .collect()
    }

    /// Sends queries until the time is up, from a list that begins again at its end. Returns their number and the time of each.
    fn measure(
        &self,
        mode: Mode,
        threads: usize,
        seconds: f64,
        next: &AtomicUsize,
        totals: &[usize],
    ) -> Result<Measured> {
        let begun = Instant::now();
        let until = begun + Duration::from_secs_f64(seconds);
        let work = || -> Result<Vec<Duration>> {
            let mut times = Vec::new();
            let mut at = Instant::now();
            while at < until {
                let number = next.fetch_add(1, Relaxed) % self.texts.len();
                let total = self.one(mode, number)?;
                if total != totals[number] {
                    return Err(
                        format!("query {number} found {total}, before {}", totals[number]).into(),
                    );
                }
                let now = Instant::now();
                times.push(now - at);
                at = now;
            }
            Ok(times)
        };
        let mut times = Vec::new();
        thread::scope(|scope| -> Result<()> {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            for thread in running {
                times.extend(thread.join().map_err(|_| "a thread ended")??);
            }
            Ok(())
        })?;
        let elapsed = begun.elapsed();
        times.sort_unstable();
        Ok(Measured { elapsed, times })
    }
}

struct Measured {
    elapsed: Duration,
    times: Vec<Duration>,
}

impl Measured {
    fn percentile_ms(&self, part: f64) -> f64 {
        let place = (self.times.len() as f64 * part) as usize;
        self.times.get(place).map_or(0.0, Duration::as_secs_f64) * 1e3
    }
}

fn serve(documents: &str, queries: &str, directory: &Path) -> Result<()> {
    let begun = Instant::now();
    let index = index(documents, directory)?;
    let searcher = index.reader()?.searcher();
    let body = index.schema().get_field("body")?;
    let texts: Vec<String> = fs::read_to_string(queries)?
        .lines()
        .map(str::to_owned)
        .collect();
    let asked = Asked {
        searcher: &searcher,
        body,
        texts: &texts,
    };
    let mut out = io::stdout().lock();
    let segments = searcher.segment_readers().len();
    writeln!(
        out,
        "ready tantivy 0.27.0 (2026), {segments} segment(s), {} documents, {:.0} s",
        searcher.num_docs(),
        begun.elapsed().as_secs_f64()
    )?;
    let next = AtomicUsize::new(0);
    let mut known: Vec<(Mode, Vec<usize>)> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let mode = Mode::of(words.get(1).ok_or("COMMAND MODE …")?)?;
        if !known.iter().any(|(of, _)| *of == mode) {
            known.push((mode, asked.totals(mode)?));
        }
        let totals = known
            .iter()
            .find(|(of, _)| *of == mode)
            .map(|(_, totals)| &totals[..])
            .unwrap_or_default();
        match words[..] {
            ["totals", _] => {
                let texts: Vec<String> = totals.iter().map(usize::to_string).collect();
                writeln!(out, "{}", texts.join(" "))?;
            }
            ["measure", _, threads, seconds] => {
                let told =
                    asked.measure(mode, threads.parse()?, seconds.parse()?, &next, totals)?;
                let seconds = told.elapsed.as_secs_f64();
                writeln!(
                    out,
                    "{:.1} {} {seconds:.3} {:.4} {:.4}",
                    told.times.len() as f64 / seconds,
                    told.times.len(),
                    told.percentile_ms(0.5),
                    told.percentile_ms(0.99)
                )?;
            }
            _ => return Err(format!("not understood: {line}").into()),
        }
        out.flush()?;
    }
    Ok(())
}
