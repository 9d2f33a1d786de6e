//! The documents of W4: texts of about the same length.

use language::analysis::Analyzer;

use crate::search::{Corpus, words};

/// `count` texts of at most `bytes` bytes and close to it, cut between words from the joined records. After its end the corpus
/// starts again.
pub(super) fn documents(corpus: &Corpus, count: usize, bytes: usize) -> Vec<String> {
    let mut documents = Vec::with_capacity(count);
    let mut document = String::new();
    while documents.len() < count {
        let before = documents.len();
        for (_, text) in corpus.iter() {
            for word in text.split_ascii_whitespace() {
                if !document.is_empty() && document.len() + 1 + word.len() > bytes {
                    documents.push(std::mem::take(&mut document));
                }
                if !document.is_empty() {
                    document.push(' ');
                }
                document.push_str(word);
            }
            if documents.len() >= count {
                break;
            }
        }
        if documents.len() == before {
            // The corpus has fewer words than a document: the document is that short.
            documents.push(std::mem::take(&mut document));
        }
    }
    documents.truncate(count);
    documents
}

/// The documents as peers read them: lines `id<TAB>words`, analysed by us.
pub(super) fn as_words(documents: &[String]) -> String {
    let analyzer = Analyzer::default();
    let lines = (1..).zip(documents);
    lines
        .map(|(id, text)| format!("{id}\t{}\n", words(&analyzer, text).join(" ")))
        .collect()
}

/// The documents as `seine load` reads them.
pub(super) fn as_ndjson(documents: &[String]) -> String {
    let lines = (1..).zip(documents);
    lines
        .map(|(id, body): (u64, _)| serde_json::json!({"id": id, "body": body}).to_string() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{as_ndjson, documents};
    use crate::search::Corpus;

    #[test]
    fn documents_are_as_long_as_asked_and_as_many() {
        let corpus = Corpus::tsv(b"1\tone two three\n2\tfour five six\n".to_vec(), 1, 1).unwrap();
        let cut = documents(&corpus, 5, 10);
        assert_eq!(
            cut,
            ["one two", "three four", "five six", "one two", "three four"]
        );
        assert!(as_ndjson(&cut).starts_with("{\"body\":\"one two\",\"id\":1}\n"));
    }

    #[test]
    fn a_corpus_shorter_than_a_document_is_one() {
        let corpus = Corpus::tsv(b"1\tone\n".to_vec(), 1, 1).unwrap();
        assert_eq!(documents(&corpus, 2, 100), ["one", "one"]);
    }
}
