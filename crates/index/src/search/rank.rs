//! Weights by Sphinx's `bm25` ranker, in integers.
//!
//! Sphinx: `weight = (matched fields) * 1000 + int((sum(tf * idf) + 0.5) * 1000)`, with `tf = hits / (hits + 1.2)` and
//! `idf = ln((rows - documents + 1) / documents) / (2 * ln(1 + rows)) / (words of the query)`, over the words that matched.
//!
//! Here `1000 * idf` is rounded once, to 2⁻²⁰, into one integer for each word; everything after that is integer
//! arithmetic: `tf` is `5 * hits / (5 * hits + 6)`, its product with that integer is cut to a whole number of 2⁻²⁰, and sums of
//! integers are the same in any order. Each word is then off by less than two units of 2⁻²⁰, so the weight is Sphinx's unless
//! Sphinx's own sum lies that close to a whole number, and then it is one off.

/// Units in one point of weight.
const SCALE: i64 = 1 << 20;

/// The 0.5 in the formula, in units.
const HALF: i64 = 500 * SCALE;

/// Points for each field that matched.
const FIELD_POINTS: i64 = 1000;

/// Numbers of hits whose weights are kept ready.
const READY: usize = 16;

/// What one word adds to the weight of a row that it matched, by the number of its hits.
pub(super) struct WordWeight {
    /// `1000 * idf` in units.
    idf: i64,
    /// By hits; the first is 0.
    ready: [i64; READY],
}

impl WordWeight {
    /// From live statistics: rows of the table, rows that hold the word (at most all), distinct words asked for.
    pub(super) fn new(rows: u64, documents: u64, query_words: usize) -> WordWeight {
        let idf = if documents == 0 {
            0
        } else {
            let (rows, documents) = (rows.max(documents) as f64, documents as f64);
            let idf = ((rows - documents + 1.0) / documents).ln() / (2.0 * (1.0 + rows).ln());
            (1000.0 * SCALE as f64 * idf / query_words.max(1) as f64).round() as i64
        };
        let mut ready = [0; READY];
        for (hits, weight) in (0..).zip(&mut ready) {
            *weight = by_hits(idf, hits);
        }
        WordWeight { idf, ready }
    }

    fn of(&self, hits: u32) -> i64 {
        self.ready
            .get(hits as usize)
            .copied()
            .unwrap_or_else(|| by_hits(self.idf, hits))
    }
}

fn by_hits(idf: i64, hits: u32) -> i64 {
    let fifths = 5 * i128::from(hits);
    (i128::from(idf) * fifths / (fifths + 6)) as i64
}

/// What of a query matched one row.
pub(super) struct Hit {
    /// By word of the query: its hits in the row, 0 where the word did not match.
    hits: Vec<u32>,
    /// Words that matched, each once.
    matched: Vec<usize>,
    /// A bit for each field that matched.
    fields: u64,
}

impl Hit {
    pub(super) fn new(words: usize) -> Hit {
        Hit {
            hits: vec![0; words],
            matched: Vec::new(),
            fields: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        for word in self.matched.drain(..) {
            self.hits[word] = 0;
        }
        self.fields = 0;
    }

    /// A word matched, with so many hits in the whole row (at least one), in these fields. Telling it twice adds nothing.
    pub(super) fn add(&mut self, word: usize, hits: u32, fields: u64) {
        if self.hits[word] == 0 {
            self.hits[word] = hits;
            self.matched.push(word);
        }
        self.fields |= fields;
    }

    /// The weight; `words` are those of the query.
    pub(super) fn weight(&self, words: &[WordWeight]) -> i64 {
        let sum: i64 = self
            .matched
            .iter()
            .map(|word| words[*word].of(self.hits[*word]))
            .sum();
        let fields = i64::from(self.fields.count_ones());
        fields * FIELD_POINTS + (sum + HALF).div_euclid(SCALE)
    }
}
