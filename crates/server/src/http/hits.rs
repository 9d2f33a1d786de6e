//! Rows as JSON hits: the reply of /search and of a plain /sql. The groups of FACETs are its aggregations.

use std::cmp::Ordering;
use std::sync::Arc;

use engine::{Answer, Interrupt, Marker, Reason};
use language::meter::{Meter, Unmetered};
use language::tree::Outline;
use relation::schema::{ColumnType, NumberForm};
use relation::value::Value;
use session::Grant;
use session::errors::{self, Failure};
use session::limits::REPLY_BYTES_MAX;
use session::statement;
use wire::fragment::{beginning, fragments};
use wire::json::{Aggregation, Buckets, Cell, Highlight, Pieces, SearchReply, Shown};

use super::members::Members;
use crate::limits::HIGHLIGHT_BYTES_MAX;
use crate::server::Server;

/// Name of the column that becomes a hit's `_id`.
const ID: &str = "id";

/// Name of the column that becomes a hit's `_score`.
const SCORE: &str = "weight()";

/// What a reply tells.
pub(super) struct Hits {
    /// The rows. Their columns `id` and `weight()` become `_id` and `_score` of a hit.
    pub(super) answer: Answer,
    /// The columns' names, where they are not the headers.
    pub(super) members: Vec<String>,
    /// The other columns that hits show.
    pub(super) shown: Shown,
    /// The texts that each hit shows with marks; they are the last columns.
    pub(super) marked: Option<Marked>,
    /// The aggregations, in the order of the request.
    pub(super) aggregations: Vec<Aggregation>,
    /// Their groups, in the order of [`Aggregation::facets`].
    pub(super) groups: Vec<Answer>,
    /// The tree of the query's words, if it was asked for.
    pub(super) profile: Option<Outline>,
}

/// Builds the whole reply. Gives it with the number of its hits.
pub(super) fn write(
    server: &Server,
    hits: Hits,
    took_ms: u64,
    held: &Grant,
) -> Result<(Vec<u8>, u64), Failure> {
    let Hits {
        answer,
        members,
        shown,
        marked,
        aggregations,
        groups,
        profile,
    } = hits;
    let Answer {
        columns,
        rows,
        total_found,
        mut warnings,
        partial,
        scroll,
        ..
    } = answer;
    let mut reply = SearchReply::default();
    let damaged = rows.damaged();
    let timed_out = partial == Some(Reason::Time);
    reply.begin(took_ms, timed_out, total_found, partial.is_none());
    let texts = marked.as_ref().map_or(0, |marked| marked.texts.len());
    let texts_from = columns.len().saturating_sub(texts);
    let fields = Fields::new(&columns, members, &shown, texts_from);
    let mut count = 0;
    for row in rows {
        let row = row?;
        count += 1;
        fields.begin(&columns, &row, &mut reply)?;
        if let Some(marked) = &marked {
            let texts = row.get(texts_from..).unwrap_or_default();
            marked.write(texts, &mut reply, held)?;
        }
        reply.hit_end();
        bounded(reply.bytes().len(), held)?;
    }
    reply.hits_end();
    if !aggregations.is_empty() {
        write_aggregations(&aggregations, groups, &mut reply, held)?;
    }
    if let Some(tree) = &profile {
        reply.profile(tree);
        bounded(reply.bytes().len(), held)?;
    }
    warnings.extend(server.note_damaged(&damaged));
    reply.end(scroll.as_deref(), &warnings);
    Ok((reply.into_bytes(), count))
}

/// How the columns of a row become a hit.
struct Fields {
    members: Members,
    /// The columns of `_id` and `_score`.
    id: Option<usize>,
    score: Option<usize>,
    /// Whether a column is a field of `_source`.
    are_fields: Vec<bool>,
}

impl Fields {
    /// Of the first `count` columns.
    fn new(
        columns: &[(String, Option<ColumnType>)],
        members: Vec<String>,
        shown: &Shown,
        count: usize,
    ) -> Fields {
        let members = Members::new(columns, members);
        let place = |wanted: &str| members.names().position(|name| name == wanted);
        let is_field = |name: &str| name != ID && name != SCORE && shown.has(name);
        Fields {
            id: place(ID),
            score: place(SCORE),
            are_fields: members.names().take(count).map(is_field).collect(),
            members,
        }
    }

    /// Begins the hit of a row and writes its `_source`. Errors: two values of one name.
    fn begin(
        &self,
        columns: &[(String, Option<ColumnType>)],
        row: &[Value],
        reply: &mut SearchReply,
    ) -> Result<(), Failure> {
        let whole = |at: Option<usize>| match at.and_then(|at| row.get(at)) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        };
        let id = whole(self.id).and_then(|id| u64::try_from(id).ok());
        let score = whole(self.score).and_then(|score| i64::try_from(score).ok());
        reply.hit(id, score);
        let names = self.members.names().zip(&self.are_fields);
        for (at, (((name, is_field), (_, kind)), value)) in names.zip(columns).zip(row).enumerate()
        {
            if self.members.shows(row, at)? && *is_field {
                reply.field(name, cell(value, *kind));
            }
        }
        Ok(())
    }
}

/// Texts of hits with marks around the words that made a MATCH find them.
pub(super) struct Marked {
    pub(super) marker: Marker,
    pub(super) how: Highlight,
    /// The fields of the texts, by their places among those of the table, and the form of their pieces.
    pub(super) texts: Vec<(usize, Pieces)>,
    /// Longest time of the whole search, in microseconds; `None`: no limit.
    pub(super) time_us_max: Option<u64>,
    /// The switch of KILL and of the time limit.
    pub(super) interrupt: Option<Arc<Interrupt>>,
}

impl Marked {
    /// Writes the pieces of the texts of a hit. A text over [`HIGHLIGHT_BYTES_MAX`] has no marks.
    fn write(&self, texts: &[Value], reply: &mut SearchReply, held: &Grant) -> Result<(), Failure> {
        reply.highlights();
        for ((field, pieces), text) in self.texts.iter().zip(texts) {
            let goes_on = || match &self.interrupt {
                Some(interrupt) => engine::goes_on(interrupt),
                None => Ok(()),
            };
            goes_on()?;
            let meter: &dyn Meter = match &self.interrupt {
                Some(interrupt) => &**interrupt,
                None => &Unmetered,
            };
            let (Value::Str(text), Some(name)) = (text, self.marker.fields().get(*field)) else {
                continue;
            };
            let marks = match text.len() > HIGHLIGHT_BYTES_MAX {
                true => Vec::new(),
                false => self.marker.marks(*field, text, meter),
            };
            goes_on()?;
            let is_whole = pieces.chars == 0 || text.chars().nth(pieces.chars).is_none();
            if !marks.is_empty() {
                let form = match is_whole {
                    true => (0, 0),
                    false => (pieces.count, pieces.chars),
                };
                reply.highlight(name, &fragments(text, &marks, form, &self.how.tags));
            } else if self.how.shows_beginnings && !text.is_empty() {
                let piece = match is_whole {
                    true => text.as_str(),
                    false => beginning(text, pieces.chars),
                };
                reply.highlight(name, &[piece]);
            }
            bounded(reply.bytes().len(), held)?;
        }
        Ok(())
    }
}

/// The groups of an aggregation.
struct Made {
    kinds: Vec<Option<ColumnType>>,
    rows: Vec<Vec<Value>>,
}

/// Writes aggregations, whose groups come in the order of [`Aggregation::facets`].
pub(super) fn write_aggregations(
    aggregations: &[Aggregation],
    groups: Vec<Answer>,
    reply: &mut SearchReply,
    held: &Grant,
) -> Result<(), Failure> {
    let made = groups.into_iter().map(|answer| {
        Ok(Made {
            kinds: answer.columns.into_iter().map(|(_, kind)| kind).collect(),
            rows: answer.rows.collect::<engine::Result<_>>()?,
        })
    });
    let made: Vec<Made> = made.collect::<Result<_, Failure>>()?;
    reply.aggregations();
    parts(aggregations, &made, &[], reply, held)?;
    reply.aggregations_end();
    Ok(())
}

/// Writes the aggregations of a bucket. `around`: its keys and those of the buckets around it.
fn parts(
    aggregations: &[Aggregation],
    mut made: &[Made],
    around: &[Value],
    reply: &mut SearchReply,
    held: &Grant,
) -> Result<(), Failure> {
    for aggregation in aggregations {
        let Some((own, others)) = made.split_at_checked(aggregation.facets()) else {
            return Err(statement::unexpected());
        };
        buckets(aggregation, own, around, reply, held)?;
        made = others;
    }
    Ok(())
}

/// Writes an aggregation of a bucket.
fn buckets(
    aggregation: &Aggregation,
    made: &[Made],
    around: &[Value],
    reply: &mut SearchReply,
    held: &Grant,
) -> Result<(), Failure> {
    let Some((own, of_parts)) = made.split_first() else {
        return Err(statement::unexpected());
    };
    let outer = aggregation.outer_keys();
    // Rows are sorted by the keys around them.
    let order = |row: &Vec<Value>| {
        let keys = row.iter().zip(around);
        keys.fold(Ordering::Equal, |order, (own, around)| {
            order.then_with(|| own.cmp_order(around))
        })
    };
    let first = own.rows.partition_point(|row| order(row).is_lt());
    let rows = own
        .rows
        .iter()
        .skip(first)
        .take_while(|row| order(row).is_eq());
    let most = usize::try_from(aggregation.size()).unwrap_or(usize::MAX);
    let mut buckets = Buckets::begin(aggregation, reply);
    for row in rows.take(most) {
        let cells = row.iter().zip(&own.kinds).skip(outer);
        let cells: Vec<Cell<'_>> = cells.map(|(value, kind)| cell(value, *kind)).collect();
        if buckets.group(&cells, reply).map_err(Failure::refused)? {
            let keys = row.get(..aggregation.keys()).unwrap_or_default();
            parts(aggregation.parts(), of_parts, keys, reply, held)?;
            buckets.group_end(reply);
        }
        bounded(reply.bytes().len() + buckets.memory(), held)?;
    }
    buckets.end(reply);
    bounded(reply.bytes().len(), held)
}

/// Checks a reply of `bytes` bytes. Errors: `LIMIT` above [`REPLY_BYTES_MAX`]; `OVERLOADED`.
pub(super) fn bounded(bytes: usize, held: &Grant) -> Result<(), Failure> {
    if bytes <= REPLY_BYTES_MAX {
        // The buffer of a growing reply exists twice while it moves.
        return held.cover(2 * bytes);
    }
    let message =
        format!("the reply is longer than {REPLY_BYTES_MAX} bytes: use LIMIT, or the MySQL door");
    Err(Failure::new(errors::LIMIT, message))
}

/// A value as a JSON cell. A `float` column stores 32 bits, so it is written by the shortest text of its `f32`.
pub(super) fn cell(value: &Value, kind: Option<ColumnType>) -> Cell<'_> {
    match (value, kind.map(|kind| kind.family().number_form())) {
        (Value::Null, _) => Cell::Null,
        (Value::Int(number), Some(NumberForm::Truth)) => Cell::Bool(*number != 0),
        (Value::Int(number), _) => Cell::Int(*number),
        (Value::Float(number), Some(NumberForm::Float)) => {
            Cell::Float((*number as f32).to_string().parse().unwrap_or(*number))
        }
        (Value::Float(number), _) => Cell::Float(*number),
        (Value::Str(text), _) => Cell::Str(text),
        (Value::Bytes(bytes), _) => Cell::Bytes(bytes),
        (Value::Set(numbers), _) => Cell::Set(numbers),
        (Value::Json(document), _) => Cell::Document(document),
    }
}
