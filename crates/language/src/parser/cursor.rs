//! The parser's place in its text.

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// Byte offset, always at a character.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// The text before the cursor.
    pub(super) fn behind(&self) -> &'a str {
        self.text.get(..self.at).unwrap_or_default()
    }

    /// The text from the cursor on.
    pub(super) fn ahead(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The text from an earlier place to the cursor.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.ahead().chars().next()
    }

    /// Takes one character.
    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes these characters if they come next.
    pub(super) fn take(&mut self, what: &str) -> bool {
        let found = self.ahead().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    /// Takes characters while they are wanted.
    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
        self.since(start)
    }

    pub(super) fn skip_blank(&mut self) {
        self.take_while(char::is_whitespace);
    }
}
