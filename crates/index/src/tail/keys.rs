//! Keys of a chunk: the codes of a keyed column's values with their rows, sorted; as in a segment
//! ([`crate::segment`], `keys.rs`), but by ordinal.

use relation::key;
use relation::row;

use super::gallop;

/// The key of one column.
#[derive(Clone)]
pub(super) struct ChunkKey {
    column: u16,
    /// `(code, ordinal)`, sorted; none for a NULL.
    pairs: Vec<(u64, u32)>,
}

impl ChunkKey {
    /// The keys of new rows, whose encoded columns are given in order. `first`: ordinal of the first
    /// row. A column that a row lacks has no key.
    pub(super) fn all<'r>(
        keyed: &[u16],
        first: u32,
        rows: impl Iterator<Item = &'r [u8]> + Clone,
    ) -> Vec<ChunkKey> {
        let key = |column: &u16| {
            let mut pairs = Vec::new();
            for (ordinal, columns) in (first..).zip(rows.clone()) {
                let value = row::decode_column(columns, usize::from(*column))?;
                pairs.extend(key::code(&value).map(|code| (code, ordinal)));
            }
            pairs.sort_unstable();
            Some(ChunkKey {
                column: *column,
                pairs,
            })
        };
        keyed.iter().filter_map(key).collect()
    }

    /// The keys that all of these chunks have, over the rows of all.
    pub(super) fn merge(chunks: &[&[ChunkKey]]) -> Vec<ChunkKey> {
        let Some(first) = chunks.first() else {
            return Vec::new();
        };
        let merged = |key: &ChunkKey| {
            let mut pairs = Vec::new();
            for keys in chunks {
                pairs.extend(&ChunkKey::of(keys, key.column.into())?.pairs);
            }
            pairs.sort(); // sorted runs: the standard sort merges them
            Some(ChunkKey {
                column: key.column,
                pairs,
            })
        };
        first.iter().filter_map(merged).collect()
    }

    /// The key of a column.
    pub(super) fn of(keys: &[ChunkKey], column: usize) -> Option<&ChunkKey> {
        keys.iter().find(|key| usize::from(key.column) == column)
    }

    /// Appends the ordinals of the rows that have one of these codes (rising, each once).
    pub(super) fn find(&self, codes: &[u64], out: &mut Vec<u32>) {
        let mut rest = &self.pairs[..];
        for code in codes {
            rest = &rest[gallop(rest, |pair| pair.0 < *code)..];
            if rest.is_empty() {
                return;
            }
            let (here, behind) = rest.split_at(gallop(rest, |pair| pair.0 == *code));
            out.extend(here.iter().map(|(_, ordinal)| *ordinal));
            rest = behind;
        }
    }
}
