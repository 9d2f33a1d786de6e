//! SeekStorm as a peer of `seine bench search`; see ../README.md for the commands it reads. The argument in front of
//! `search` names the n-grams that it indexes beside single words: `none`, `default` or `all`.

use std::{
    error::Error,
    fs,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use seekstorm::{
    INDEX_RUNTIME,
    commit::Commit,
    index::{
        AccessType, Close, Clustering, Document, DocumentCompression, FileType, FrequentwordType,
        IndexArc, IndexDocument, IndexMetaObject, LexicalSimilarity, NgramSet, SchemaField,
        StemmerType, StopwordType, TokenizerType, create_index, open_index,
    },
    search::{QueryRewriting, QueryType, ResultType, Search, SearchMode},
    vector::Inference,
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const ROWS: usize = 100;
const BODY: &str = "body";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [ngrams, "search", documents, queries, directory] => {
            serve(ngrams, documents, queries, Path::new(directory))
        }
        _ => Err("peer-seekstorm NGRAMS search DOCUMENTS QUERIES DIR".into()),
    }
}

/// The bits of a set of n-grams. F is one of SeekStorm's frequent words, R any other word.
fn ngram_bits(name: &str) -> Result<u8> {
    let sets: &[NgramSet] = match name {
        "none" => &[],
        "default" => &[NgramSet::NgramFF, NgramSet::NgramFFF],
        "all" => &[
            NgramSet::NgramFF,
            NgramSet::NgramFR,
            NgramSet::NgramRF,
            NgramSet::NgramFFF,
            NgramSet::NgramRFF,
            NgramSet::NgramFFR,
            NgramSet::NgramFRF,
        ],
        _ => return Err(format!("n-grams are none, default or all, not {name}").into()),
    };
    Ok(sets.iter().fold(0, |bits, set| bits | set.clone() as u8))
}

/// One field of words with positions; no text is stored. Settings that ../README.md does not name are SeekStorm's defaults.
fn settings(ngrams: &str) -> Result<(IndexMetaObject, Vec<SchemaField>)> {
    let meta = IndexMetaObject {
        id: 0,
        name: "peer".to_owned(),
        lexical_similarity: LexicalSimilarity::Bm25f,
        tokenizer: TokenizerType::Whitespace,
        stemmer: StemmerType::None,
        stop_words: StopwordType::None,
        frequent_words: FrequentwordType::English,
        ngram_indexing: ngram_bits(ngrams)?,
        document_compression: DocumentCompression::None,
        access_type: AccessType::Mmap,
        spelling_correction: None,
        query_completion: None,
        clustering: Clustering::None,
        inference: Inference::None,
        segment_number_bits: 11,
    };
    let schema =
        format!(r#"[{{"field":"{BODY}","field_type":"Text","store":false,"index_lexical":true}}]"#);
    Ok((meta, serde_json::from_str(&schema)?))
}

/// The index of these documents in one shard. The first call makes it, later calls open it.
async fn index(path: &str, directory: &Path, ngrams: &str) -> Result<IndexArc> {
    let (made, data) = (directory.join("made"), directory.join("index"));
    if made.exists() {
        return Ok(open_index(&data).await?);
    }
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory)?;
    let (meta, schema) = settings(ngrams)?;
    let begun = Instant::now();
    let index = create_index(&data, meta, &schema, &Vec::new(), true, Some(1)).await?;
    for line in BufReader::new(fs::File::open(path)?).lines() {
        let line = line?;
        let (_, words) = line.split_once('\t').ok_or("a document is id<TAB>words")?;
        let document = Document::from([(BODY.to_owned(), words.into())]);
        index.index_document(document, FileType::None).await;
    }
    index.commit().await;
    let seconds = begun.elapsed().as_secs_f64();
    index.close().await;
    fs::write(made, format!("{seconds:.1}"))?;
    Ok(open_index(&data).await?)
}

fn bytes(directory: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        total += match entry.file_type()?.is_dir() {
            true => bytes(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(total)
}

/// The query type of SeekStorm for a mode, and the text of a query in its language.
fn asked(mode: &str, text: &str) -> Result<(QueryType, String)> {
    let mut words: Vec<&str> = text.split(' ').collect();
    let mut once = || {
        words.sort_unstable();
        words.dedup();
        words.join(" ")
    };
    match mode {
        "any" => Ok((QueryType::Union, once())),
        "all" => Ok((QueryType::Intersection, once())),
        "phrase" => Ok((QueryType::Phrase, text.to_owned())),
        _ => Err(format!("no mode is called {mode}").into()),
    }
}

/// The queries of a mode, and the number of documents that each finds.
struct Mode {
    index: IndexArc,
    queries: Vec<(QueryType, String)>,
    totals: Vec<usize>,
}

impl Mode {
    async fn new(index: IndexArc, name: &str, texts: &[String]) -> Result<Mode> {
        let queries: Result<_> = texts.iter().map(|text| asked(name, text)).collect();
        let mut mode = Mode {
            index,
            queries: queries?,
            totals: Vec::new(),
        };
        for number in 0..mode.queries.len() {
            let total = mode.find(number).await?;
            mode.totals.push(total);
        }
        Ok(mode)
    }

    /// The exact total of a query. The call makes its best 100 rows as well.
    async fn find(&self, number: usize) -> Result<usize> {
        let (kind, text) = self.queries[number].clone();
        let found = self
            .index
            .search(
                text,
                None,
                kind,
                SearchMode::Lexical,
                false,
                0,
                ROWS,
                ResultType::TopkCount,
                false,
                Vec::new(),
                Vec::new(),
                Vec::new(),
                Vec::new(),
                QueryRewriting::SearchOnly,
            )
            .await;
        let (rows, total) = (found.results.len(), found.result_count_total);
        match rows == total.min(ROWS) {
            true => Ok(total),
            false => Err(format!("query {number} shows {rows} of {total} rows").into()),
        }
    }

    /// Sends queries until the time is up, from a list that begins again at its end. Returns the time of each.
    async fn ask(self: Arc<Self>, until: Instant, next: Arc<AtomicUsize>) -> Result<Vec<Duration>> {
        let (mut times, mut at) = (Vec::new(), Instant::now());
        while at < until {
            let number = next.fetch_add(1, Relaxed) % self.queries.len();
            let (total, before) = (self.find(number).await?, self.totals[number]);
            if total != before {
                return Err(format!("query {number} found {total}, before {before}").into());
            }
            let now = Instant::now();
            times.push(now - at);
            at = now;
        }
        Ok(times)
    }

    /// One run: its time, and the times of the queries, rising. SeekStorm answers a query in a task of its own runtime.
    /// A client is a task there too, so its thread mostly runs that task next.
    async fn measure(
        self: &Arc<Self>,
        clients: usize,
        seconds: f64,
        next: &Arc<AtomicUsize>,
    ) -> Result<(Duration, Vec<Duration>)> {
        let begun = Instant::now();
        let until = begun + Duration::from_secs_f64(seconds);
        let running: Vec<_> = (0..clients)
            .map(|_| INDEX_RUNTIME.spawn(self.clone().ask(until, next.clone())))
            .collect();
        let mut times = Vec::new();
        for client in running {
            times.extend(client.await??);
        }
        let elapsed = begun.elapsed();
        times.sort_unstable();
        Ok((elapsed, times))
    }
}

fn percentile_ms(times: &[Duration], part: f64) -> f64 {
    let place = (times.len() as f64 * part) as usize;
    times.get(place).map_or(0.0, Duration::as_secs_f64) * 1e3
}

fn serve(ngrams: &str, documents: &str, queries: &str, directory: &Path) -> Result<()> {
    let index = INDEX_RUNTIME.block_on(index(documents, directory, ngrams))?;
    let queries = fs::read_to_string(queries)?;
    let texts: Vec<String> = queries.lines().map(str::to_owned).collect();
    let mut out = io::stdout().lock();
    let count = INDEX_RUNTIME.block_on(async { index.read().await.committed_doc_count().await });
    writeln!(
        out,
        "ready SeekStorm 4.0.1 (2026), n-grams {ngrams} ({}), 1 shard, {count} documents, {:.1} MB, built in {} s",
        ngram_bits(ngrams)?,
        bytes(&directory.join("index"))? as f64 / 1e6,
        fs::read_to_string(directory.join("made"))?,
    )?;
    let next = Arc::new(AtomicUsize::new(0));
    let mut modes: Vec<(String, Arc<Mode>)> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let name = *words.get(1).ok_or("COMMAND MODE …")?;
        if !modes.iter().any(|(of, _)| of == name) {
            let mode = INDEX_RUNTIME.block_on(Mode::new(index.clone(), name, &texts))?;
            modes.push((name.to_owned(), Arc::new(mode)));
        }
        let mode = modes.iter().find(|(of, _)| of == name);
        let (_, mode) = mode.ok_or("no such mode")?;
        match words[..] {
            ["totals", _] => {
                let texts: Vec<String> = mode.totals.iter().map(usize::to_string).collect();
                writeln!(out, "{}", texts.join(" "))?;
            }
            ["measure", _, clients, seconds] => {
                let run = mode.measure(clients.parse()?, seconds.parse()?, &next);
                let (elapsed, times) = INDEX_RUNTIME.block_on(run)?;
                let seconds = elapsed.as_secs_f64();
                writeln!(
                    out,
                    "{:.1} {} {seconds:.3} {:.4} {:.4}",
                    times.len() as f64 / seconds,
                    times.len(),
                    percentile_ms(&times, 0.5),
                    percentile_ms(&times, 0.99)
                )?;
            }
            _ => return Err(format!("not understood: {line}").into()),
        }
        out.flush()?;
    }
    Ok(())
}
