//! W4: documents a second into an index, for a size of batches and a number of threads.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::Path,
    time::Instant,
};

use tantivy::{Index, IndexWriter, TantivyDocument, directory::MmapDirectory, doc};

use crate::{Result, WRITER_BYTES, documents, schema};

/// Reads `measure BATCH SHARDS`. Commits after each BATCH documents; with 0, once at the end. SHARDS is the number of the
/// writer's threads. Answers documents a second, timed to the end of the last commit.
pub fn serve(path: &str, directory: &Path) -> Result<()> {
    let mut all = Vec::new();
    documents(path, |id, words| {
        all.push((id, words.to_owned()));
        Ok(())
    })?;
    let mut out = io::stdout().lock();
    writeln!(out, "ready tantivy 0.27.0 (2026), {} documents", all.len())?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let ["measure", batch, threads] = words[..] else {
            return Err(format!("not understood: {line}").into());
        };
        let (batch, threads): (usize, usize) = (batch.parse()?, threads.parse()?);
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory)?;
        let (schema, fields) = schema();
        let index = Index::open_or_create(MmapDirectory::open(directory)?, schema)?;
        let begun = Instant::now();
        let mut writer: IndexWriter<TantivyDocument> =
            index.writer_with_num_threads(threads, WRITER_BYTES)?;
        for (number, (id, words)) in all.iter().enumerate() {
            writer.add_document(doc!(fields.id => *id, fields.body => words.as_str()))?;
            if batch > 0 && (number + 1) % batch == 0 {
                writer.commit()?;
            }
        }
        writer.commit()?;
        let seconds = begun.elapsed().as_secs_f64();
        let found = index.reader()?.searcher().num_docs();
        if found != all.len() as u64 {
            return Err(format!("{found} documents are there, {} were given", all.len()).into());
        }
        writer.wait_merging_threads()?;
        writeln!(
            out,
            "{:.1} {} {seconds:.3}",
            all.len() as f64 / seconds,
            all.len()
        )?;
        out.flush()?;
    }
    let _ = fs::remove_dir_all(directory);
    Ok(())
}
