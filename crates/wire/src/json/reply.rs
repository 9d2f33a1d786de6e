//! Replies of the HTTP door, written straight as JSON text, without a tree.

use std::io::Write as _;

use language::tree::Outline;

/// The bytes of each reply, which are its [`Writer`]'s.
macro_rules! bytes_of {
    ($($reply:ty),*) => {$(
        impl $reply {
            /// The bytes encoded so far, without those that were sent and dropped.
            #[must_use]
            pub fn bytes(&self) -> &[u8] {
                &self.json.out
            }

            /// As [`bytes`](Self::bytes), at the end.
            #[must_use]
            pub fn into_bytes(self) -> Vec<u8> {
                self.json.out
            }
        }
    )*};
}
pub(super) use bytes_of;

/// A value of a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Written as `null`.
    Null,
    /// An integer, written with all its digits.
    Int(i128),
    /// A double; infinity and NaN are written as null.
    Float(f64),
    /// A float of 32 bits, in the shortest form that reads back.
    Single(f32),
    /// true or false
    Bool(bool),
    /// Text, written with JSON escapes.
    Str(&'a str),
    /// Bytes; those that are no UTF-8 are replaced.
    Bytes(&'a [u8]),
    /// A set, written as an array of numbers.
    Set(&'a [i64]),
    /// A JSON document, written as it is.
    Document(&'a relation::json::Json),
}

/// Writes JSON text: sets commas and escapes strings.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) out: Vec<u8>,
    /// Whether the open list has an item, so that the next one needs a comma.
    listed: bool,
}

impl Writer {
    pub(super) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Opens a list or an object, which has no item yet.
    pub(super) fn open(&mut self, text: &str) {
        self.raw(text);
        self.listed = false;
    }

    /// Closes a list or an object; the list around it has an item now.
    pub(super) fn close(&mut self, text: &str) {
        self.raw(text);
        self.listed = true;
    }

    /// Writes a comma, unless the next item is the first.
    pub(super) fn item(&mut self) {
        if self.listed {
            self.out.push(b',');
        }
        self.listed = true;
    }

    /// Writes the name of a member; its value must follow.
    pub(super) fn name(&mut self, name: &str) -> &mut Writer {
        self.item();
        self.string(name);
        self.out.push(b':');
        self
    }

    pub(super) fn number(&mut self, number: impl std::fmt::Display) {
        // Writing into a vector cannot fail.
        let _ = write!(self.out, "{number}");
    }

    pub(super) fn string(&mut self, text: &str) {
        // Writing into a vector cannot fail.
        let _ = serde_json::to_writer(&mut self.out, text);
    }

    pub(super) fn cell(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Int(number) => self.number(number),
            Cell::Float(number) if number.is_finite() => self.number(format_args!("{number:?}")),
            Cell::Single(number) if number.is_finite() => self.number(format_args!("{number:?}")),
            Cell::Null | Cell::Float(_) | Cell::Single(_) => self.raw("null"),
            Cell::Bool(value) => self.raw(if value { "true" } else { "false" }),
            Cell::Str(text) => self.string(text),
            Cell::Bytes(bytes) => self.string(&String::from_utf8_lossy(bytes)),
            Cell::Set(numbers) => {
                // Writing into a vector cannot fail.
                let _ = serde_json::to_writer(&mut self.out, numbers);
            }
            Cell::Document(document) => document.write_text(&mut self.out),
        }
    }
}

/// The reply of POST /search, and of POST /sql without `mode=raw`: [`begin`](Self::begin); for each hit
/// [`hit`](Self::hit), [`field`](Self::field)s, [`highlights`](Self::highlights) if there are some, [`hit_end`](Self::hit_end); then [`hits_end`](Self::hits_end), its aggregations if there are some, and
/// [`end`](Self::end).
#[derive(Debug, Default)]
pub struct SearchReply {
    pub(super) json: Writer,
}

impl SearchReply {
    /// Begins the reply. `total` counts all matching documents; if `exact` is false it is a lower bound.
    pub fn begin(&mut self, took_ms: u64, timed_out: bool, total: u64, exact: bool) {
        let relation = if exact { "eq" } else { "gte" };
        self.json.raw("{\"took\":");
        self.json.number(took_ms);
        self.json.raw(",\"timed_out\":");
        self.json.cell(Cell::Bool(timed_out));
        self.json.raw(",\"hits\":{\"total\":");
        self.json.number(total);
        self.json.raw(",\"total_relation\":\"");
        self.json.raw(relation);
        self.json.open("\",\"hits\":[");
    }

    /// Begins a hit. A row that is no document has neither id nor score.
    pub fn hit(&mut self, id: Option<u64>, score: Option<i64>) {
        self.json.item();
        self.json.open("{");
        if let Some(id) = id {
            self.json.name("_id").number(id);
        }
        if let Some(score) = score {
            self.json.name("_score").number(score);
        }
        self.json.name("_source").open("{");
    }

    /// Adds a field to the hit's `_source`.
    pub fn field(&mut self, name: &str, cell: Cell<'_>) {
        self.json.name(name).cell(cell);
    }

    /// Ends the hit's `_source`, and begins its highlights: [`highlight`](Self::highlight)s, then [`hit_end`](Self::hit_end).
    pub fn highlights(&mut self) {
        self.json.close("}");
        self.json.name("highlight").open("{");
    }

    /// Adds the pieces of a text.
    pub fn highlight<T: AsRef<str>>(&mut self, name: &str, pieces: &[T]) {
        self.json.name(name).open("[");
        for piece in pieces {
            self.json.item();
            self.json.string(piece.as_ref());
        }
        self.json.close("]");
    }

    /// Ends the hit.
    pub fn hit_end(&mut self) {
        self.json.close("}}");
    }

    /// Ends the hits.
    pub fn hits_end(&mut self) {
        self.json.close("]}");
    }

    /// Begins the aggregations. Each is written by [`Buckets`](super::Buckets).
    pub fn aggregations(&mut self) {
        self.json.name("aggregations").open("{");
    }

    /// Ends the aggregations.
    pub fn aggregations_end(&mut self) {
        self.json.close("}");
    }

    /// Adds the tree of the query's words, in Manticore's shape.
    pub fn profile(&mut self, tree: &Outline) {
        self.json.name("profile").open("{");
        self.json.item();
        self.json.raw("\"query\":");
        outline(&mut self.json, tree, 0);
        self.json.close("}");
    }

    /// Ends the reply with the token of the next page and its warnings, if any.
    pub fn end(&mut self, scroll: Option<&str>, warnings: &[String]) {
        if let Some(token) = scroll {
            self.json.name("scroll").string(token);
        }
        if !warnings.is_empty() {
            self.json.name("warning").open("{");
            self.json.name("reason").string(&warnings.join("; "));
            self.json.close("}");
        }
        self.json.close("}");
    }

    /// Drops the bytes that were sent; the reply goes on.
    pub fn clear(&mut self) {
        self.json.out.clear();
    }
}

/// Levels of operators that are described as a text too. Each such text holds those below it.
const DESCRIBED_LEVELS: usize = 8;

fn outline(json: &mut Writer, tree: &Outline, level: usize) {
    json.open("{");
    match tree {
        Outline::Keyword { word, place, marks } => {
            json.name("type").string("KEYWORD");
            json.name("word").string(word);
            json.name("querypos").number(place);
            for mark in marks {
                json.name(mark).cell(Cell::Bool(true));
            }
        }
        Outline::Operator { name, children, .. } => {
            json.name("type").string(name);
            if level < DESCRIBED_LEVELS {
                json.name("description").string(&tree.to_string());
            }
            json.name("children").open("[");
            for child in children {
                json.item();
                outline(json, child, level + 1);
            }
            json.close("]");
        }
    }
    json.close("}");
}

/// The reply of POST /sql?mode=raw: an array with an object for each statement. A statement with rows is
/// [`begin`](Self::begin), rows, [`end`](Self::end); one without is [`done`](Self::done); [`finish`](Self::finish) last. Rows that
/// have not ended when the next statement begins are left out: they have failed.
#[derive(Debug, Default)]
pub struct RawReply {
    json: Writer,
    begun: bool,
    /// Where the object of the statement that is written begins, and whether the list has an item before it.
    from: Option<(usize, bool)>,
}

impl RawReply {
    fn statement(&mut self) {
        if let Some((bytes, listed)) = self.from.take() {
            self.json.out.truncate(bytes);
            self.json.listed = listed;
        }
        if !std::mem::replace(&mut self.begun, true) {
            self.json.open("[");
        }
        self.from = Some((self.json.out.len(), self.json.listed));
        self.json.item();
        self.json.open("{");
    }

    /// Begins a result set with these columns, each a name and Manticore's word for its type, such as `long`.
    pub fn begin(&mut self, columns: &[(&str, &str)]) {
        self.statement();
        self.json.name("columns").open("[");
        for (name, kind) in columns {
            self.json.item();
            self.json.open("{");
            self.json.name(name).open("{");
            self.json.name("type").string(kind);
            self.json.close("}}");
        }
        self.json.close("]");
        self.json.name("data").open("[");
    }

    /// Begins a row.
    pub fn row(&mut self) {
        self.json.item();
        self.json.open("{");
    }

    /// Adds the row's next cell; `name` is its column's.
    pub fn cell(&mut self, name: &str, cell: Cell<'_>) {
        self.json.name(name).cell(cell);
    }

    /// Ends the row.
    pub fn row_end(&mut self) {
        self.json.close("}");
    }

    /// Ends the result set; `total` is its count of rows.
    pub fn end(&mut self, total: u64, error: &str, warning: &str) {
        self.json.close("]");
        self.outcome(total, error, warning);
    }

    /// Adds a statement without rows; `total` is its count of affected rows.
    pub fn done(&mut self, total: u64, error: &str, warning: &str) {
        self.statement();
        self.outcome(total, error, warning);
    }

    fn outcome(&mut self, total: u64, error: &str, warning: &str) {
        self.json.name("total").number(total);
        self.json.name("error").string(error);
        self.json.name("warning").string(warning);
        self.json.close("}");
        self.from = None;
    }

    /// Ends the reply.
    pub fn finish(&mut self) {
        if !self.begun {
            self.json.open("[");
        }
        self.json.close("]");
    }

    /// Drops the bytes that were sent; the reply goes on.
    pub fn clear(&mut self) {
        self.json.out.clear();
        self.from = None;
    }
}

/// The reply of POST /bulk: a [`batch`](Self::batch) for each table of each commit, then [`finish`](Self::finish).
#[derive(Debug, Default)]
pub struct BulkReply {
    json: Writer,
    begun: bool,
}

impl BulkReply {
    fn start(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.json.open("{\"items\":[");
        }
    }

    /// Adds the result of a stored batch in one table.
    pub fn batch(&mut self, table: &str, last_id: u64, created: u64, deleted: u64, updated: u64) {
        self.start();
        self.json.item();
        self.json.open("{\"bulk\":{");
        self.json.name("table").string(table);
        for (name, number) in [
            ("_id", last_id),
            ("created", created),
            ("deleted", deleted),
            ("updated", updated),
        ] {
            self.json.name(name).number(number);
        }
        let (result, status) = match (created, updated, deleted) {
            (0, 0, _) => ("deleted", 200),
            (0, _, _) => ("updated", 200),
            _ => ("created", 201),
        };
        self.json.name("result").string(result);
        self.json.name("status").number(status);
        self.json.close("}}");
    }

    /// Ends the reply. `current_line` is the number of the last line read, `skipped_lines` the count of lines read and not
    /// stored. `error` is empty on success; else it names the line.
    pub fn finish(&mut self, current_line: u64, skipped_lines: u64, error: &str) {
        self.start();
        self.json.close("]");
        for (name, number) in [
            ("current_line", current_line),
            ("skipped_lines", skipped_lines),
        ] {
            self.json.name(name).number(number);
        }
        self.json.name("errors").cell(Cell::Bool(!error.is_empty()));
        self.json.name("error").string(error);
        self.json.close("}");
    }
}

bytes_of!(SearchReply, RawReply, BulkReply);
