//! Outcomes as MySQL packets.

use engine::{Answer, Damaged, Rows};
use query::schema::ColumnType;
use query::value::Value;
use wire::mysql::{ColumnDefinition, Encoder, PacketError};

use session::errors::{self, Failure};
use session::statement::{Labels, PqRow, PqRows};

/// The failure for a client whose bytes cannot be read any further.
pub(super) fn broken(error: PacketError) -> Failure {
    let kind = match error {
        PacketError::TooLong { .. } => errors::PACKET_TOO_LARGE,
        PacketError::OutOfOrder { .. } => errors::MALFORMED_PACKET,
    };
    Failure::new(kind, error.to_string())
}

/// Encodes an error packet.
pub(super) fn error(encoder: &mut Encoder, failure: &Failure) {
    let mut state = *b"HY000";
    if let Ok(five) = <[u8; 5]>::try_from(failure.kind.sqlstate.as_bytes()) {
        state = five;
    }
    encoder.error(failure.kind.errno, &state, &failure.message);
}

/// Rows of an answer that are being encoded.
pub(super) struct Sending {
    first: Option<Vec<Value>>,
    rows: Rows,
    kinds: Vec<Option<ColumnType>>,
    /// Count of rows encoded so far.
    pub count: u64,
}

impl Sending {
    /// Encodes the column definitions. It reads the first row for them: its values tell the types of expressions.
    pub(super) fn begin(
        mut answer: Answer,
        table: &str,
        encoder: &mut Encoder,
    ) -> Result<Sending, Failure> {
        let first = answer.rows.next().transpose()?;
        let definitions: Vec<ColumnDefinition> = answer
            .columns
            .iter()
            .enumerate()
            .map(|(index, (name, kind))| {
                let sample = first.as_ref().and_then(|row| row.get(index));
                define(name, *kind, sample).from_table(table)
            })
            .collect();
        encoder.columns(&definitions);
        let kinds = answer.columns.iter().map(|(_, kind)| *kind).collect();
        Ok(Sending {
            first,
            rows: answer.rows,
            kinds,
            count: 0,
        })
    }

    /// Damaged files that rows were left out for, so far.
    pub(super) fn damaged(&self) -> Damaged {
        self.rows.damaged()
    }

    /// Encodes rows. True: the encoder is full, so send it and call again. False: all rows are encoded.
    pub(super) fn fill(&mut self, encoder: &mut Encoder) -> Result<bool, Failure> {
        let mut text = Vec::new();
        while let Some(row) = self.first.take().map(Ok).or_else(|| self.rows.next()) {
            let row = row?;
            encoder.row_begin();
            for (value, kind) in row.iter().zip(&self.kinds) {
                cell(value, *kind, &mut text, encoder);
            }
            encoder.row_end();
            self.count += 1;
            if encoder.is_full() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn define(name: &str, kind: Option<ColumnType>, sample: Option<&Value>) -> ColumnDefinition {
    match (kind, sample) {
        // Only of type Bigint: a queue's own column `id` may have another type and be negative.
        (Some(ColumnType::Bigint), _) if name == "id" => ColumnDefinition::id(name),
        (Some(kind), _) => ColumnDefinition::of(name, kind),
        (None, Some(Value::Int(_))) => ColumnDefinition::bigint(name),
        (None, Some(Value::Float(_))) => ColumnDefinition::double(name),
        (None, _) => ColumnDefinition::text(name),
    }
}

#[inline]
fn cell(value: &Value, kind: Option<ColumnType>, text: &mut Vec<u8>, encoder: &mut Encoder) {
    match value {
        Value::Null => encoder.row_null(),
        Value::Str(written) => encoder.row_bytes(written.as_bytes()),
        Value::Bytes(bytes) => encoder.row_bytes(bytes),
        Value::Int(number) if kind != Some(ColumnType::Year) => encoder.row_integer(*number),
        Value::Int(_) | Value::Float(_) | Value::Set(_) | Value::Json(_) => {
            text.clear();
            value.write_text(kind, text);
            encoder.row_bytes(text);
        }
    }
}

/// Column definitions of a CALL PQ.
pub(super) fn pq_columns(rows: &PqRows) -> Vec<ColumnDefinition> {
    let is_counted = rows.options.count;
    let define = |name: &str| match name {
        "id" => ColumnDefinition::id(name),
        _ if is_counted => ColumnDefinition::bigint(name),
        _ => ColumnDefinition::text(name),
    };
    rows.columns().into_iter().map(define).collect()
}

/// Encodes the only row of a CALL PQ with `count`: hit queries and hit documents.
pub(super) fn pq_count(rows: &PqRows, encoder: &mut Encoder) {
    encoder.row_begin();
    encoder.row_u64(rows.answer.total);
    encoder.row_u64(rows.answer.documents_matched);
    encoder.row_end();
}

/// Encodes one row of CALL PQ, straight from the hits. This is the door's hottest loop: a million rows a second.
#[inline]
pub(super) fn pq_row(rows: &PqRows, row: &PqRow<'_>, encoder: &mut Encoder) {
    let options = &rows.options;
    encoder.row_begin();
    encoder.row_u64(row.id);
    if options.docs {
        pq_documents(rows, row.documents, encoder);
    }
    if options.query {
        encoder.row_bytes(row.query.text.as_bytes());
        encoder.row_bytes(row.query.tags.as_bytes());
        encoder.row_bytes(row.filters().as_bytes());
    }
    if options.weights {
        encoder.row_list(row.weights.iter().map(|weight| u64::from(*weight)));
    }
    if options.highlight {
        encoder.row_bytes(row.highlights.as_bytes());
    }
    if options.capital {
        pq_documents(rows, row.documents, encoder);
    }
    encoder.row_end();
}

#[inline]
fn pq_documents(rows: &PqRows, documents: &[u32], encoder: &mut Encoder) {
    match &rows.labels {
        Labels::From(first) => {
            encoder.row_list(documents.iter().map(|index| u64::from(*index) + first));
        }
        Labels::Named(_) => encoder.row_bytes(rows.documents(documents).as_bytes()),
    }
}
