//! Result sets to an answer.

use super::Rows;

/// Names of a column of weights: SphinxQL's, and those of Sphinx before 2.0 and of HTTP.
const WEIGHTS: [&str; 4] = ["weight()", "@weight", "weight", "_score"];

/// A result set of a reply: names of columns and text cells; `None` is NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplySet {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows with a cell for each column.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl Rows {
    /// The rows of a reply. FACET gives it several result sets. `total_found` is the server's count; without it, the rows of the
    /// first set are counted.
    pub fn of_sets(sets: &[ReplySet], total_found: Option<u64>) -> Rows {
        let mut digest = Digest::default();
        for set in sets {
            digest.add_length(set.columns.len());
            set.columns
                .iter()
                .for_each(|name| digest.add_cell(Some(name.as_bytes())));
            digest.add_length(set.rows.len());
            for cell in set.rows.iter().flatten() {
                digest.add_cell(cell.as_deref());
            }
        }
        let first = sets.first();
        let count = first.map_or(0, |set| set.rows.len() as u64);
        Rows {
            total_found: total_found.unwrap_or(count),
            count,
            documents: first.map(documents).unwrap_or_default(),
            digest: Some(digest.0),
        }
    }
}

/// The digest of a reply that is one text, such as JSON.
pub fn digest_of_text(text: &[u8]) -> u128 {
    let mut digest = Digest::default();
    digest.add_cell(Some(text));
    digest.0
}

fn documents(set: &ReplySet) -> Vec<(i128, i64)> {
    let place = |names: &[&str]| {
        let mut columns = set.columns.iter();
        columns.position(|column| names.iter().any(|name| column.eq_ignore_ascii_case(name)))
    };
    let (Some(id), weight) = (place(&["id"]), place(&WEIGHTS)) else {
        return Vec::new();
    };
    let number = |cell: Option<&Option<Vec<u8>>>| -> Option<i128> {
        std::str::from_utf8(cell?.as_deref()?).ok()?.parse().ok()
    };
    let rows = set.rows.iter().filter_map(|row| {
        let weight = weight.and_then(|weight| number(row.get(weight)));
        let weight = weight.and_then(|weight| i64::try_from(weight).ok());
        Some((number(row.get(id))?, weight.unwrap_or(0)))
    });
    rows.collect()
}

/// FNV-1a of 128 bits, which the file's format names: a digest of today equals a digest of another version. Lengths stand before
/// texts, so that no two lists of cells are the same bytes.
struct Digest(u128);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }

    fn add_length(&mut self, length: usize) {
        self.add(&(length as u64).to_le_bytes());
    }

    fn add_cell(&mut self, cell: Option<&[u8]>) {
        match cell {
            // No cell has this length.
            None => self.add(&u64::MAX.to_le_bytes()),
            Some(text) => {
                self.add_length(text.len());
                self.add(text);
            }
        }
    }
}
