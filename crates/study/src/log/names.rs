//! Names of servers and indexes, by number.

use rustc_hash::FxHashMap;

use super::limits::{INDEX_NAME_BYTES_MAX, INDEXES_MAX};

/// Stands for all indexes above [`INDEXES_MAX`].
pub(crate) const OTHER_INDEXES: &str = "(other indexes)";
/// Stands for a search that names no table.
pub(crate) const NO_INDEX: &str = "(none)";

/// Index lists by number. A list such as `main, delta` is one name: `main,delta`.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexNames {
    names: Vec<String>,
    by_name: FxHashMap<String, u32>,
    /// By the bytes of the line, so that a known list is not made canonical again.
    by_text: FxHashMap<Box<[u8]>, u32>,
}

impl IndexNames {
    /// The number of the list in `text`.
    #[inline]
    pub(crate) fn number_of_text(&mut self, text: &[u8]) -> u32 {
        match self.by_text.get(text) {
            Some(number) => *number,
            None => self.number_of_new_text(text),
        }
    }

    #[cold]
    fn number_of_new_text(&mut self, text: &[u8]) -> u32 {
        let number = self.number_of(&canonical(text));
        if self.by_text.len() < 2 * INDEXES_MAX && text.len() <= INDEX_NAME_BYTES_MAX {
            self.by_text.insert(text.into(), number);
        }
        number
    }

    /// The number of a canonical name.
    pub(crate) fn number_of(&mut self, name: &str) -> u32 {
        if let Some(number) = self.by_name.get(name) {
            return *number;
        }
        if self.names.len() + 1 >= INDEXES_MAX && name != OTHER_INDEXES {
            return self.number_of(OTHER_INDEXES);
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), number);
        number
    }

    /// The name of a number that this table gave out.
    pub(crate) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}

/// The names of a list without backquotes, separated by commas; cut at [`INDEX_NAME_BYTES_MAX`].
pub(crate) fn canonical(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * INDEX_NAME_BYTES_MAX)]);
    let names = text.split(|letter: char| letter == ',' || letter == ';' || letter.is_whitespace());
    let names: Vec<&str> = names
        .map(|name| name.trim_matches('`'))
        .filter(|name| !name.is_empty())
        .collect();
    let mut list = names.join(",");
    if list.is_empty() {
        return NO_INDEX.to_owned();
    }
    if list.len() > INDEX_NAME_BYTES_MAX {
        list.truncate(list.floor_char_boundary(INDEX_NAME_BYTES_MAX));
        list.push('…');
    }
    list
}

#[cfg(test)]
mod tests;
