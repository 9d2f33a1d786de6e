//! Replies of the HTTP door, written as they come.

/// One value of a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// null
    Null,
    /// An integer.
    Int(i128),
    /// A float; not-a-number and infinities are written as null.
    Float(f64),
    /// true or false
    Bool(bool),
    /// Text.
    Str(&'a str),
    /// Bytes; what is no UTF-8 in them is replaced.
    Bytes(&'a [u8]),
}

/// The reply of POST /search and of POST /sql: `begin`, hits, `end`.
#[derive(Debug, Default)]
pub struct SearchReply {
    out: Vec<u8>,
    hits: u64,
    fields: u64,
}

impl SearchReply {
    /// Begins. `total` counts every matching document; `exact` is false where the count is only a lower bound.
    pub fn begin(&mut self, took_ms: u64, timed_out: bool, total: u64, exact: bool) {
        let _ = (took_ms, timed_out, total, exact);
    }

    /// Begins a hit.
    pub fn hit(&mut self, id: Option<u64>, score: Option<i64>) {
        let _ = (id, score);
    }

    /// A field of the hit's `_source`.
    pub fn field(&mut self, name: &str, cell: Cell<'_>) {
        let _ = (name, cell);
    }

    /// Ends the hit.
    pub fn hit_end(&mut self) {}

    /// Ends the reply.
    pub fn end(&mut self) {}

    /// What waits for the socket; see [`clear`](Self::clear).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets what was sent; the reply goes on.
    pub fn clear(&mut self) {
        self.out.clear();
    }
}

/// The reply of POST /sql?mode=raw: an array of result sets.
#[derive(Debug, Default)]
pub struct RawReply {
    out: Vec<u8>,
}

impl RawReply {
    /// Begins a result set with these columns: name and Manticore's type name (`long long`, `string` …).
    pub fn begin(&mut self, columns: &[(&str, &str)]) {
        let _ = columns;
    }

    /// Begins a row.
    pub fn row(&mut self) {}

    /// The row's next cell: its column's name and its value.
    pub fn cell(&mut self, name: &str, cell: Cell<'_>) {
        let _ = (name, cell);
    }

    /// Ends the row.
    pub fn row_end(&mut self) {}

    /// Ends the result set. `total`: rows, or rows affected.
    pub fn end(&mut self, total: u64, error: &str, warning: &str) {
        let _ = (total, error, warning);
    }

    /// A statement without rows: a result set of `total`, `error` and `warning` only.
    pub fn done(&mut self, total: u64, error: &str, warning: &str) {
        let _ = (total, error, warning);
    }

    /// Ends the reply.
    pub fn finish(&mut self) {}

    /// What waits for the socket; see [`clear`](Self::clear).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets what was sent; the reply goes on.
    pub fn clear(&mut self) {
        self.out.clear();
    }
}

/// The reply of POST /bulk.
#[derive(Debug, Default)]
pub struct BulkReply {
    out: Vec<u8>,
}

impl BulkReply {
    /// A committed batch of one table.
    pub fn batch(&mut self, table: &str, last_id: u64, created: u64, deleted: u64, updated: u64) {
        let _ = (table, last_id, created, deleted, updated);
    }

    /// Ends the reply. `error` is empty where all went well, else it names the line.
    pub fn finish(&mut self, current_line: u64, skipped_lines: u64, error: &str) {
        let _ = (current_line, skipped_lines, error);
    }

    /// The whole reply, after [`finish`](Self::finish).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }
}
