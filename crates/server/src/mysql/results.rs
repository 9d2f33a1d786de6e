//! Outcomes as MySQL packets.

use std::collections::VecDeque;

use engine::{Answer, Damaged, Rows};
use relation::expression::Kept;
use relation::schema::{ColumnType, NumberForm};
use relation::value::Value;
use wire::mysql::{ColumnDefinition, Encoder, PacketError};

use session::errors::{self, Failure};
use session::statement::{Labels, PqRow, PqRows};

/// The failure for a client whose bytes cannot be read any further.
pub(super) fn broken(error: PacketError) -> Failure {
    let kind = match error {
        PacketError::TooLong { .. } => errors::PACKET_TOO_LARGE,
        PacketError::OutOfOrder { .. } | PacketError::GivenUp { .. } => errors::MALFORMED_PACKET,
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
    /// The first rows, which were read for the types of expressions.
    ahead: VecDeque<Vec<Value>>,
    rows: Rows,
    kinds: Vec<Option<ColumnType>>,
    /// Count of rows encoded so far.
    pub count: u64,
}

impl Sending {
    /// Encodes the column definitions. It reads some rows for them: their values tell the types of expressions. A value at a path of
    /// documents may be a number in one row and a text in the next, and clients decode each by the type of its column.
    pub(super) fn begin(
        mut answer: Answer,
        table: &str,
        encoder: &mut Encoder,
    ) -> Result<Sending, Failure> {
        let is_typed = answer.columns.iter().all(|(_, kind)| kind.is_some());
        let ahead = read_ahead(&mut answer.rows, if is_typed { 1 } else { SAMPLED_ROWS })?;
        let known = answer.known();
        let definitions: Vec<ColumnDefinition> = answer
            .columns
            .iter()
            .zip(known)
            .enumerate()
            .map(|(index, ((name, kind), known))| {
                let samples = ahead.iter().filter_map(|row| row.get(index));
                define(name, *kind, known, samples).from_table(table)
            })
            .collect();
        encoder.columns(&definitions);
        let kinds = answer.columns.iter().map(|(_, kind)| *kind).collect();
        Ok(Sending {
            ahead,
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
        while let Some(row) = self.ahead.pop_front().map(Ok).or_else(|| self.rows.next()) {
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

/// Most rows, and bytes of their values, that are read ahead for the types of expressions.
const SAMPLED_ROWS: usize = 256;
const SAMPLED_BYTES: usize = 1 << 20;

/// Reads the first rows: at least one, at most `most`.
fn read_ahead(rows: &mut Rows, most: usize) -> Result<VecDeque<Vec<Value>>, Failure> {
    let (mut ahead, mut bytes) = (VecDeque::new(), 0);
    while ahead.len() < most && bytes < SAMPLED_BYTES {
        let Some(row) = rows.next().transpose()? else {
            break;
        };
        bytes += row.iter().map(Value::memory).sum::<usize>();
        ahead.push_back(row);
    }
    Ok(ahead)
}

/// The definition of a column; of an expression by its values in some rows, and by what is known of those that are texts.
fn define<'v>(
    name: &str,
    kind: Option<ColumnType>,
    known: Kept,
    samples: impl Iterator<Item = &'v Value>,
) -> ColumnDefinition {
    match kind {
        // Only of type Bigint: a queue's own column `id` may have another type and be negative.
        Some(ColumnType::Bigint) if name == "id" => return ColumnDefinition::id(name),
        Some(kind) => return ColumnDefinition::of(name, kind),
        None => {}
    }
    let (mut are_whole, mut are_numbers, mut are_known) = (true, true, false);
    for value in samples.filter(|value| **value != Value::Null) {
        are_known = true;
        are_whole &= matches!(value, Value::Int(_));
        are_numbers &= matches!(value, Value::Int(_) | Value::Float(_));
    }
    match (are_known, are_whole, are_numbers) {
        (true, true, _) => ColumnDefinition::bigint(name),
        (true, false, true) => ColumnDefinition::double(name),
        _ => match known.kind() {
            Some(kind) if kind.family().has_comparable() || kind == ColumnType::Double => {
                ColumnDefinition::of(name, kind)
            }
            Some(_) | None => ColumnDefinition::text(name),
        },
    }
}

/// Whether a whole number of a column of that type is shown with zeros before it.
#[inline]
fn is_padded(kind: ColumnType) -> bool {
    match kind.family().number_form() {
        NumberForm::Year => true,
        NumberForm::Plain | NumberForm::Truth | NumberForm::Float | NumberForm::Double => false,
    }
}

#[inline]
fn cell(value: &Value, kind: Option<ColumnType>, text: &mut Vec<u8>, encoder: &mut Encoder) {
    match value {
        Value::Null => encoder.row_null(),
        Value::Str(written) => encoder.row_bytes(written.as_bytes()),
        Value::Bytes(bytes) => encoder.row_bytes(bytes),
        Value::Int(number) if !kind.is_some_and(is_padded) => encoder.row_integer(*number),
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
