//! Changes of stored documents: parsed, decided, and sent to the engine in units. The engine does all of a unit or nothing.

use std::collections::HashMap;
use std::ops::Range;

use engine::{Command, Error, Family, Reply, Write};
use relation::request::{Delete, Insert};
use relation::value::Value;
use serde_json::{Value as Json, json};
use session::guarded;
use wire::es::{BulkOperation, EsError, Mapping, Source, query_id, stored};

use super::failed;
use super::index::Index;
use super::read::{COLUMNS, named, read};
use crate::http::Guest;

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
#[derive(Clone)]
struct Ready {
    /// The standing query's id; `None`: the engine assigns one.
    number: Option<u64>,
    name: Option<String>,
    values: Vec<Value>,
}

/// The `_id` that the client gave, and the result of its change.
pub(super) type Outcome = (Option<String>, Result<Done, EsError>);

/// Does changes of one index, in order. Gives a result for each; a refused change does not stop the others.
///
/// They go to the engine in as few units as it takes. What a change does depends on those before it: `create` of an `_id` that
/// another has stored is a conflict. So where the engine refuses one, those behind it are decided again. Example, of one `_id`:
///
/// ```text
/// unit       index (a query that is refused), delete, create    decided as created, deleted, created: the engine refuses the first
/// again      delete, create                                     decided as not found, created
/// ```
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
    let mut there = stored_names(guest, index, &ready)?;
    let changes: Vec<(Change, Result<Ready, EsError>)> = changes.into_iter().zip(ready).collect();
    let mut outcomes = Vec::with_capacity(changes.len());
    // The last is next: changes from one place to another.
    let mut waiting = vec![(0, changes.len())];
    while let Some((start, end)) = waiting.pop() {
        guest.long(&guest.session).await;
        let mut unit = Unit::decided(&changes, start..end, index, there.clone());
        let error = match unit.send(guest, index).await {
            Ok(Ok(())) => {
                there = unit.there;
                outcomes.extend(unit.outcomes);
                continue;
            }
            Ok(Err(error)) => error,
            Err(failure) if outcomes.is_empty() => return Err(failure),
            // Others are stored: each of these says that it is not.
            Err(failure) => {
                unit.refuse(&failure);
                outcomes.extend(unit.outcomes);
                continue;
            }
        };
        match error {
            Error::InMany { index: bad, error }
                if matches!(error.family(), Family::Caller | Family::Limit) =>
            {
                let at = start + unit.places.get(bad).copied().unwrap_or(0);
                if at == start {
                    outcomes.push((changes[at].0.id.clone(), Err(refusal(&error, index))));
                    let rest = (at + 1..end).step_by(UNIT_BEHIND_REFUSED);
                    let to_end = |from: usize| (from, end.min(from + UNIT_BEHIND_REFUSED));
                    waiting.extend(rest.rev().map(to_end));
                } else {
                    waiting.push((at, end));
                    waiting.push((start, at));
                }
            }
            // The unit is too large: two halves may not be.
            error if unit.places.len() > 1 && error.family() == Family::Limit => {
                let middle = start + (end - start) / 2;
                waiting.push((middle, end));
                waiting.push((start, middle));
            }
            error => {
                unit.refuse(&refusal(&error, index));
                outcomes.extend(unit.outcomes);
            }
        }
    }
    Ok(outcomes)
}

/// The names of stored queries by their numbers; `None`: the number is the name.
type There = HashMap<u64, Option<String>>;

/// The names of the queries that are stored under the numbers of some changes.
fn stored_names(
    guest: &Guest<'_>,
    index: &Index,
    ready: &[Result<Ready, EsError>],
) -> Result<There, EsError> {
    let numbers = ready.iter().flatten().filter_map(|ready| ready.number);
    let numbers: Vec<u64> = numbers.collect();
    let stored = read(guest, &index.name, Some(&numbers))?.into_iter();
    let named = stored.map(|query| (query.id, Source::read(&query.source).name));
    Ok(named.collect())
}

/// Changes that the engine does all together or not at all.
struct Unit {
    outcomes: Vec<Outcome>,
    commands: Vec<Write>,
    /// The place in `outcomes` of each command.
    places: Vec<usize>,
    /// What is there once they are done.
    there: There,
}

impl Unit {
    /// Some changes, behind which others have left `there`.
    fn decided(
        changes: &[(Change, Result<Ready, EsError>)],
        range: Range<usize>,
        index: &Index,
        mut there: There,
    ) -> Unit {
        let (mut outcomes, mut commands, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (change, ready) in &changes[range] {
            let decided = ready.clone();
            let decided = decided.and_then(|ready| decide(change, ready, index, &mut there));
            let done = decided.map(|(command, done)| {
                places.extend(command.is_some().then_some(outcomes.len()));
                commands.extend(command);
                done
            });
            outcomes.push((change.id.clone(), done));
        }
        Unit {
            outcomes,
            commands,
            places,
            there,
        }
    }

    /// Has the engine do them. The inner error is its refusal, which has done nothing.
    async fn send(
        &mut self,
        guest: &Guest<'_>,
        index: &Index,
    ) -> Result<Result<(), Error>, EsError> {
        if self.commands.is_empty() {
            return Ok(Ok(()));
        }
        let many = Command::Many(std::mem::take(&mut self.commands));
        let sent = guest.submit_raw(&guest.session, many).await;
        let replies = match sent.map_err(|failure| failed(failure, &index.name))? {
            Ok(Reply::Many(replies)) => replies,
            Ok(other) => vec![other],
            Err(error) => return Ok(Err(error)),
        };
        for (place, reply) in self.places.iter().zip(replies) {
            assigned(self.outcomes.get_mut(*place), &reply);
        }
        Ok(Ok(()))
    }

    /// Gives each change that needs the engine its refusal.
    fn refuse(&mut self, error: &EsError) {
        for place in &self.places {
            self.outcomes[*place].1 = Err(error.clone());
        }
    }
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
    there: &mut There,
) -> Result<(Option<Write>, Done), EsError> {
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
    let command = Write::Insert(Insert {
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
    there: &mut There,
) -> (Option<Write>, Done) {
    let id = change.id.clone().unwrap_or_default();
    let Some(number) = ready.number.filter(|_| is_ours) else {
        let result = "not_found";
        return (None, Done { id, result });
    };
    there.remove(&number);
    let command = Write::Delete(Box::new(Delete::new(
        index.name.clone(),
        Some(named(vec![number])),
    )));
    let result = "deleted";
    (Some(command), Done { id, result })
}

/// Sets the id that the engine chose, for a change without an `_id`.
fn assigned(outcome: Option<&mut Outcome>, reply: &Reply) {
    if let (Some((None, Ok(done))), Reply::Done { last_id, .. }) = (outcome, reply) {
        done.id = last_id.to_string();
    }
}

fn refusal(error: &Error, index: &Index) -> EsError {
    match error {
        Error::Query(error) => wire::es::refused(error),
        other => failed(other.clone().into(), &index.name),
    }
}
