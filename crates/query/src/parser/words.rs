//! Words and phrases: from the characters between operators to analysed words.

use super::{Parser, refuse};
use crate::analysis::{in_run, is_mark};
use crate::tree::{Node, QueryError, Term, Word};

/// A word of a query and its position in the piece of text that it came from.
type Placed = (Box<str>, u32);

impl Parser<'_> {
    /// A word as written, which analysis may part into several or drop; the cursor stands on its first character.
    pub(super) fn word(&mut self) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        let mut text = String::new();
        let mut escaped = false;
        while let Some(c) = self.cursor.peek() {
            let begun = self.cursor.at > start;
            let stuck = self.cursor.behind().chars().next_back().is_some_and(in_run);
            match c {
                _ if c.is_whitespace() => break,
                '|' | '(' | ')' | '"' => break,
                '@' if begun && !stuck => break,
                '\\' => {
                    self.cursor.bump();
                    text.extend(self.cursor.bump());
                    escaped = true;
                    continue;
                }
                _ => self.refuse_operator(c, begun && stuck)?,
            }
            text.push(c);
            self.cursor.bump();
        }
        if !escaped {
            self.refuse_keyword(&text, start)?;
            self.warn_of_capitals(&text);
        }
        let mut nodes = Vec::new();
        for (word, _) in self.analysed(&text)? {
            self.count_node()?;
            nodes.push(Node::Word(Word::whole(word, self.limit)));
        }
        self.join(nodes, Node::And)
    }

    /// `"…"`; the cursor stands on the opening quote.
    pub(super) fn phrase(&mut self) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.peek() {
                None => return refuse(start, "unclosed quote".to_owned()),
                Some('"') => break,
                Some('\\') => {
                    self.cursor.bump();
                    text.extend(self.cursor.bump());
                    continue;
                }
                Some(c) => {
                    self.refuse_in_phrase(c)?;
                    text.push(c);
                }
            }
            self.cursor.bump();
        }
        self.cursor.bump();
        self.refuse_after_phrase()?;
        let mut words = self.analysed(&text)?;
        let first = words.first().map_or(0, |(_, position)| *position);
        words
            .iter_mut()
            .for_each(|(_, position)| *position -= first);
        if words.is_empty() {
            return Ok(None);
        }
        self.count_node()?;
        Ok(Some(if words.len() == 1 {
            Node::Word(Word::whole(words.remove(0).0, self.limit))
        } else {
            let term = |(text, distance)| (Term::whole(text), distance);
            Node::Phrase {
                words: words.into_iter().map(term).collect(),
                fields: self.limit,
            }
        }))
    }

    /// The words of a piece of text. A marked word (`#tag`) stands for the bare ones that it covers, since it says more.
    fn analysed(&mut self, text: &str) -> Result<Vec<Placed>, QueryError> {
        let mut words: Vec<Placed> = Vec::new();
        let mut covered_until = 0;
        self.analyzer.words(text, &mut |word| {
            if word.text.starts_with(is_mark) {
                words.pop();
                covered_until = word.source.end;
            } else if word.source.start < covered_until {
                return;
            }
            words.push((word.text.into(), word.position));
        });
        for _ in &words {
            self.count_word()?;
        }
        Ok(words)
    }

    /// People who come from other engines write AND, OR and NOT; here they are words like any other.
    fn warn_of_capitals(&mut self, text: &str) {
        match text {
            "AND" => self.warn("AND is searched as a word: words side by side must all be there"),
            "OR" => self.warn("OR is searched as a word: write | between alternatives"),
            "NOT" => self.warn("NOT is searched as a word: write -word to exclude"),
            _ => {}
        }
    }
}
