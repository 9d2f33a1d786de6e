//! The words of a document in one buffer, and the fast path that makes them.

use super::Analyzer;

/// The words of one document, in one buffer: made once, read by the matcher and by the index.
///
/// Words of a field follow each other in rising position; fields follow each other in the order pushed.
#[derive(Clone, Debug, Default)]
pub struct Words {
    folded: String,
    marks: Vec<Mark>,
}

/// Where one word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    start: u32,
    bytes: u16,
    field: u8,
    position: u32,
}

impl Words {
    /// No words.
    #[must_use]
    pub fn new() -> Words {
        Words::default()
    }

    /// Forgets the words and keeps the memory.
    pub fn clear(&mut self) {
        self.folded.clear();
        self.marks.clear();
    }

    /// Adds the words of one field. Fields are pushed in rising number, each once; positions start from 1 in each.
    pub fn push_field(&mut self, analyzer: &Analyzer, field: u8, text: &str) {
        analyzer.words(text, &mut |word| {
            let start = self.folded.len() as u32;
            self.folded.push_str(word.text);
            self.marks.push(Mark {
                start,
                bytes: word.text.len() as u16,
                field,
                position: word.position,
            });
        });
    }

    /// The words in order: (folded text, field, position in the field from 1).
    pub fn iter(&self) -> impl Iterator<Item = (&str, u8, u32)> + '_ {
        self.marks.iter().map(|mark| {
            let start = mark.start as usize;
            let text = self
                .folded
                .get(start..start + usize::from(mark.bytes))
                .unwrap_or_default();
            (text, mark.field, mark.position)
        })
    }

    /// How many words there are, marked ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }
}
