//! The searched records, and their words.

use std::{io::Write, ops::Range};

use language::analysis::{Analyzer, Settings, Words};

use crate::{
    error::{Error, Result},
    workload::Post,
};

/// Records from lines `id<TAB>text` or from posts. A corpus may keep only each n-th record, and may repeat the records with new
/// ids.
pub struct Corpus {
    text: Vec<u8>,
    /// Id and range of the text, which is UTF-8, of each record.
    records: Vec<(u64, Range<usize>)>,
    copies: u64,
    id_max: u64,
}

impl Corpus {
    /// Parses lines `id<TAB>text`. Keeps each `every`-th record and repeats the kept ones `copies` times. The ids of each copy
    /// are higher than those of the copy before by the greatest id.
    ///
    /// # Errors
    /// [`Error::BadRecord`]: a malformed line. [`Error::BadOption`]: no record is kept.
    pub fn tsv(text: Vec<u8>, every: u32, copies: u32) -> Result<Corpus> {
        let mut records = Vec::new();
        let mut from = 0;
        for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let end = from + line.len();
            if number % every.max(1) as usize == 0 {
                let bad = || Error::BadRecord { line: number + 1 };
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                let line = std::str::from_utf8(line).map_err(|_| bad())?;
                let (id, record) = line.split_once('\t').ok_or_else(bad)?;
                let begin = from + id.len() + 1;
                records.push((id.parse().map_err(|_| bad())?, begin..begin + record.len()));
            }
            from = end;
        }
        Corpus::new(text, records, copies)
    }

    /// Takes the bodies of posts, with ids from 1. `every` and `copies` as in [`tsv`](Self::tsv).
    ///
    /// # Errors
    /// [`Error::BadOption`]: no record is kept.
    pub fn posts(posts: &[Post], every: u32, copies: u32) -> Result<Corpus> {
        let mut text = Vec::new();
        let mut records = Vec::new();
        for (id, post) in (1..).zip(posts).step_by(every.max(1) as usize) {
            let from = text.len();
            text.extend_from_slice(post.body.as_bytes());
            records.push((id, from..text.len()));
        }
        Corpus::new(text, records, copies)
    }

    fn new(text: Vec<u8>, records: Vec<(u64, Range<usize>)>, copies: u32) -> Result<Corpus> {
        let id_max = records.iter().map(|(id, _)| *id).max();
        let Some(id_max) = id_max.filter(|_| copies > 0) else {
            return Err(Error::BadOption("no records are left to search"));
        };
        Ok(Corpus {
            text,
            records,
            copies: copies.into(),
            id_max,
        })
    }

    /// Id and text of every record, copies included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        (0..self.copies).flat_map(move |copy| {
            let record = move |(id, place): &(u64, Range<usize>)| {
                let text = std::str::from_utf8(&self.text[place.clone()]).unwrap_or_default();
                (id + copy * self.id_max, text)
            };
            self.records.iter().map(record)
        })
    }

    /// Count of records, copies included.
    pub(super) fn records(&self) -> usize {
        self.records.len() * self.copies as usize
    }

    /// Bytes of all texts, copies included.
    pub(super) fn bytes(&self) -> u64 {
        let once: usize = self.records.iter().map(|(_, place)| place.len()).sum();
        once as u64 * self.copies
    }

    /// The distinct texts, and the count of their copies.
    pub(super) fn distinct(&self) -> (impl Iterator<Item = &str>, u64) {
        (
            self.iter().take(self.records.len()).map(|(_, text)| text),
            self.copies,
        )
    }

    /// Writes the records as peers read them: lines `id<TAB>words`, with a space between words. Where the analyzer knows
    /// sentences, [`END`] stands at the position that each end of one takes.
    pub(super) fn write_words(&self, analyzer: &Analyzer, out: &mut dyn Write) -> Result<()> {
        let mut read = Words::new();
        for (id, text) in self.iter() {
            read.clear();
            read.push_field(analyzer, 0, text);
            let mut words = Vec::new();
            for (word, position) in placed(&read) {
                words.resize(position as usize - 1, END);
                words.push(word);
            }
            writeln!(out, "{id}\t{}", words.join(" "))?;
        }
        Ok(())
    }
}

/// What peers read where a sentence ends. No word is spelt so.
const END: &str = ".";

/// The analysis of the records: of the study, or with the ends of sentences.
pub(super) fn analyzer(knows_sentences: bool) -> Analyzer {
    let mut settings = Settings::default();
    if knows_sentences {
        // The name and the value are known: nothing to refuse.
        let _ = settings.set("index_sp", "1");
    }
    Analyzer::new(settings)
}

/// The words of a record of one field and their positions from 1, without marked words (`#tag`).
pub(super) fn placed(words: &Words) -> impl Iterator<Item = (&str, u32)> {
    let bare = words
        .iter()
        .filter(|(word, ..)| !word.starts_with(['#', '@']));
    bare.map(|(word, _, position)| (word, position))
}

/// The words of a text without marked ones (`#tag`): their bare words are among them.
pub(crate) fn words(analyzer: &Analyzer, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    analyzer.words(text, &mut |word| {
        if !word.text.starts_with(['#', '@']) {
            words.push(word.text.to_owned());
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::{Corpus, analyzer};

    fn listed(corpus: &Corpus) -> Vec<(u64, &str)> {
        corpus.iter().collect()
    }

    #[test]
    fn copies_have_ids_of_their_own() {
        let corpus = Corpus::tsv(b"1\ta\n5\tb c\n".to_vec(), 1, 2).unwrap();
        assert_eq!(
            listed(&corpus),
            [(1, "a"), (5, "b c"), (6, "a"), (10, "b c")]
        );
        assert_eq!((corpus.records(), corpus.bytes()), (4, 8));
    }

    #[test]
    fn decimation_keeps_one_in_so_many() {
        let corpus = Corpus::tsv(b"1\ta\n2\tb\n3\tc".to_vec(), 2, 1).unwrap();
        assert_eq!(listed(&corpus), [(1, "a"), (3, "c")]);
    }

    #[test]
    fn a_line_without_an_id_is_named() {
        let error = Corpus::tsv(b"1\ta\nb\n".to_vec(), 1, 1).err().unwrap();
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn peers_get_our_words() {
        let corpus = Corpus::tsv("1\tÀ la #carte, twice\n".as_bytes().to_vec(), 1, 1).unwrap();
        let mut out = Vec::new();
        corpus.write_words(&analyzer(false), &mut out).unwrap();
        assert_eq!(out, b"1\ta la carte twice\n");
    }

    #[test]
    fn peers_get_the_ends_of_sentences_where_they_take_a_position() {
        let corpus = Corpus::tsv(b"1\tOne #two. Three four! Five.\n".to_vec(), 1, 1).unwrap();
        let mut out = Vec::new();
        corpus.write_words(&analyzer(true), &mut out).unwrap();
        assert_eq!(out, b"1\tone two . three four . five\n");
    }
}
