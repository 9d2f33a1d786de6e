//! Changes of stored documents: parsed, decided, and sent to the engine in units. The engine does all of a unit or nothing.

use query::request::{Delete, Insert};
use std::collections::HashMap;

use engine::{Command, Error, Family, Reply};
use query::value::Value;
use serde_json::{Value as Json, json};
use wire::es::{BulkOperation, EsError, Mapping, Source, query_id, stored};

use super::failed;
use super::index::Index;
use super::read::{COLUMNS, named, read};
use crate::http::Guest;
use session::errors::Failure;
use session::guarded;

/// A change of one document.
pub(super) struct Change {
    pub operation: BulkOperation,
    pub id: Option<String>,
    pub document: Vec<u8>,
}

/// Result of a change: the document's `_id`, and `created`, `updated`, `deleted` or `not_found`.
pub(super) struct Done {
    pub id: String,
    pub result: &'static str,
}

impl Done {
    pub(super) fn status(&self) -> u16 {
        match self.result {
            "created" => 201,
            "not_found" => 404,
            _ => 200,
        }
    }

    /// The JSON members of every reply about a document.
    pub(super) fn shown(&self, index: &str, kind: Option<&str>) -> Json {
        let mut shown = json!({
            "_index": index,
            "_id": self.id,
            "_version": 1,
            "result": self.result,
            "_shards": {"total": 1, "successful": 1, "failed": 0},
            "_seq_no": 0,
            "_primary_term": 1,
        });
        if let Some(kind) = kind {
            shown["_type"] = kind.into();
        }
        shown
    }
}

/// Changes sent as one unit behind one that was refused. If each of them is refused, the unit is sent as often.
const UNIT_BEHIND_REFUSED: usize = 64;

/// A parsed change.
struct Ready {
    /// The standing query's id; `None`: the engine assigns one.
    number: Option<u64>,
    name: Option<String>,
    values: Vec<Value>,
}

/// The `_id` that the client gave, and the result of its change.
pub(super) type Outcome = (Option<String>, Result<Done, EsError>);

/// Does changes of one index, in order. Gives a result for each; a refused change does not stop the others.
pub(super) async fn change_all(
    guest: &Guest<'_>,
    index: &Index,
    changes: Vec<Change>,
) -> Result<Vec<Outcome>, EsError> {
    guest.long(&guest.session).await;
    let ready: Vec<Result<Ready, EsError>> = guarded(guest, || {
        Ok(changes
            .iter()
            .map(|change| ready(change, &index.mapping))
            .collect())
    })
    .map_err(|failure| failed(failure, &index.name))?;
    let numbers: Vec<u64> = ready
        .iter()
        .flatten()
        .filter_map(|ready| ready.number)
        .collect();
    let mut there: HashMap<u64, Option<String>> = HashMap::new();
    for query in read(guest, &index.name, Some(&numbers))? {
        there.insert(query.id, Source::read(&query.source).name);
    }
    let mut outcomes = Vec::with_capacity(changes.len());
    let mut commands = Vec::new();
    for (change, ready) in changes.iter().zip(ready) {
        let decided = ready.and_then(|ready| decide(change, ready, index, &mut there));
        let done = decided.map(|(command, done)| {
            commands.extend(command.map(|command| (outcomes.len(), command)));
            done
        });
        outcomes.push((change.id.clone(), done));
    }
    submit(guest, index, commands, &mut outcomes).await?;
    Ok(outcomes)
}

fn ready(change: &Change, mapping: &Mapping) -> Result<Ready, EsError> {
    let given = change.id.as_deref();
    let (number, is_name) = given.map_or((None, false), |id| {
        let (number, is_name) = query_id(id);
        (Some(number), is_name)
    });
    let name = given.filter(|_| is_name).map(str::to_owned);
    if given.is_some_and(|id| id.is_empty() || id.len() > 512) {
        return Err(EsError::illegal("", "an _id has 1 to 512 bytes"));
    }
    let values = match change.operation {
        BulkOperation::Delete => Vec::new(),
        BulkOperation::Update => {
            return Err(EsError::not_yet(
                "",
                "updates by a part of a document: index the whole",
            ));
        }
        BulkOperation::Index | BulkOperation::Create => {
            let row = stored(&change.document, mapping)?;
            let text = String::from_utf8_lossy(change.document.trim_ascii());
            let source = Source {
                name: name.clone(),
                document: &text,
            };
            let id = Value::Int(number.unwrap_or(0).into());
            let texts = [
                row.standing.text,
                row.tags,
                row.standing.filters,
                source.kept(),
            ];
            std::iter::once(id).chain(texts.map(Value::Str)).collect()
        }
    };
    Ok(Ready {
        number,
        name,
        values,
    })
}

/// The command of a change, if it needs one, and its result. `there` holds the stored names by id; it is updated as if the
/// command had succeeded, so that the next change of the same id sees it.
fn decide(
    change: &Change,
    ready: Ready,
    index: &Index,
    there: &mut HashMap<u64, Option<String>>,
) -> Result<(Option<Command>, Done), EsError> {
    let before = ready.number.and_then(|number| there.get(&number));
    let is_ours = before.is_some_and(|name| *name == ready.name);
    if change.operation == BulkOperation::Delete {
        return Ok(deleted(change, ready, is_ours, index, there));
    }
    let id = change.id.clone().unwrap_or_default();
    if let Some(other) = before.filter(|_| !is_ours) {
        let other = other.as_deref().unwrap_or("a number");
        let what = format!("_id [{id}] has the same number as [{other}]: choose another");
        return Err(EsError::illegal("", what));
    }
    if change.operation == BulkOperation::Create && is_ours {
        let reason =
            format!("[{id}]: version conflict, document already exists (current version [1])");
        return Err(
            EsError::new(409, "version_conflict_engine_exception", reason).about(&index.name),
        );
    }
    if let Some(number) = ready.number {
        there.insert(number, ready.name);
    }
    let command = Command::Insert(Insert {
        table: index.name.clone(),
        columns: Some(COLUMNS.map(str::to_owned).into()),
        rows: vec![ready.values],
        replace: change.operation == BulkOperation::Index,
    });
    let result = if is_ours { "updated" } else { "created" };
    Ok((Some(command), Done { id, result }))
}

fn deleted(
    change: &Change,
    ready: Ready,
    is_ours: bool,
    index: &Index,
    there: &mut HashMap<u64, Option<String>>,
) -> (Option<Command>, Done) {
    let id = change.id.clone().unwrap_or_default();
    let Some(number) = ready.number.filter(|_| is_ours) else {
        let result = "not_found";
        return (None, Done { id, result });
    };
    there.remove(&number);
    let command = Command::Delete(Box::new(Delete::of(
        index.name.clone(),
        Some(named(vec![number])),
    )));
    let result = "deleted";
    (Some(command), Done { id, result })
}

/// Sends the commands in as few units as the engine takes. If the engine refuses a command, its change gets the error, and the
/// commands before and behind it are sent again without it.
async fn submit(
    guest: &Guest<'_>,
    index: &Index,
    commands: Vec<(usize, Command)>,
    outcomes: &mut [Outcome],
) -> Result<(), EsError> {
    let mut waiting = vec![(0, commands.len())];
    while let Some((start, end)) = waiting.pop() {
        let Some(unit) = commands.get(start..end).filter(|unit| !unit.is_empty()) else {
            continue;
        };
        // A unit in which many are refused is sent many times.
        guest.long(&guest.session).await;
        let many = unit.iter().map(|(_, command)| command.clone()).collect();
        match sent(guest, many)
            .await
            .map_err(|failure| failed(failure, &index.name))?
        {
            Ok(replies) => {
                for ((place, _), reply) in unit.iter().zip(replies) {
                    assigned(outcomes.get_mut(*place), &reply);
                }
            }
            Err(Error::InMany { index: bad, error })
                if matches!(error.family(), Family::Caller | Family::Limit) =>
            {
                let rest = (start + bad + 1..end).step_by(UNIT_BEHIND_REFUSED);
                let to_end = |from: usize| (from, end.min(from + UNIT_BEHIND_REFUSED));
                waiting.extend(rest.rev().map(to_end));
                waiting.push((start, start + bad));
                refused(unit.get(bad..bad + 1), &error, index, outcomes);
            }
            // The unit is too large: send two halves instead.
            Err(error) if unit.len() > 1 && error.family() == Family::Limit => {
                let middle = start + unit.len() / 2;
                waiting.push((middle, end));
                waiting.push((start, middle));
            }
            Err(error) => refused(Some(unit), &error, index, outcomes),
        }
    }
    Ok(())
}

async fn sent(guest: &Guest<'_>, many: Vec<Command>) -> Result<Result<Vec<Reply>, Error>, Failure> {
    Ok(guest
        .submit_raw(&guest.session, Command::Many(many))
        .await?
        .map(|reply| match reply {
            Reply::Many(replies) => replies,
            other => vec![other],
        }))
}

/// Sets the id that the engine chose, for a change without an `_id`.
fn assigned(outcome: Option<&mut Outcome>, reply: &Reply) {
    if let (Some((None, Ok(done))), Reply::Done { last_id, .. }) = (outcome, reply) {
        done.id = last_id.to_string();
    }
}

fn refused(
    unit: Option<&[(usize, Command)]>,
    error: &Error,
    index: &Index,
    outcomes: &mut [Outcome],
) {
    for (place, _) in unit.unwrap_or_default() {
        if let Some((_, done)) = outcomes.get_mut(*place) {
            *done = Err(match error {
                Error::Query(error) => wire::es::refused(error),
                other => failed(other.clone().into(), &index.name),
            });
        }
    }
}
