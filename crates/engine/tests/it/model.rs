//! The oracle of the random tests: it models the whole engine by maps, with a fixed schema and without files.

use relation::request::{Delete, Insert, Known, Update};
use std::collections::{BTreeMap, BTreeSet};

use engine::{Change, Command, Write};
use language::analysis::{Analyzer, Words};
use language::reference;
use language::tree::Node;
use relation::expression::Expression;
use relation::lexer::Lexer;
use relation::value::Value;

/// Statements that make the schema. `alerts` listens to posts and news, `watch` to posts, both to UPDATE too. Hits of `watch` on posts become documents of
/// `log`, to which `loud` listens.
pub const SCHEMA: [&str; 9] = [
    "create search posts (body text, n int key)",
    "create search news (n int, extra string key, body text)",
    "create queue hits (query_id bigint, doc_table varchar(8), doc_id bigint, body text, n bigint)",
    "create pq alerts on posts, news into hits hears_update",
    "create queue jobs (id int)",
    "create search log (query_id bigint, doc_id bigint, body text, n bigint)",
    "create pq watch on posts into log hears_update",
    "create queue shouts (query_id bigint, doc_id bigint, body text)",
    "create pq loud on log into shouts",
];

/// The search tables, by the place of each in [`Model::documents`].
pub const SEARCHES: [&str; 3] = ["posts", "news", "log"];
/// The pq tables, by the place of each in [`Model::standing`].
pub const STANDING: [&str; 3] = ["alerts", "watch", "loud"];
/// The queues, by the place of each in [`Model::queues`].
pub const QUEUES: [&str; 3] = ["hits", "jobs", "shouts"];

#[derive(Clone, Default)]
pub struct Model {
    documents: [BTreeMap<u64, Document>; 3],
    documents_highest: [u64; 3],
    standing: [BTreeMap<u64, Standing>; 3],
    standing_highest: [u64; 3],
    /// Rows by number, as shown.
    queues: [BTreeMap<u64, String>; 3],
    next_rows: [u64; 3],
    /// Sessions in owner mode: queue and row.
    owners: BTreeMap<u64, Option<(usize, u64)>>,
    /// Whether ALTER has added the column `more` to `posts`.
    has_more: bool,
}

/// A row: the columns that all tables have, and the source of a row of `log`.
#[derive(Clone)]
struct Document {
    body: String,
    n: i128,
    /// Query and document.
    from: Option<(u64, u64)>,
}

#[derive(Clone)]
struct Standing {
    text: String,
    filters: String,
    node: Node,
    filter: Option<Expression>,
    hits: u64,
}

impl Standing {
    fn is_hit_by(&self, id: u64, document: &Document) -> bool {
        let row = |name: &str| match name {
            "id" => Some(Value::Int(id.into())),
            "n" => Some(Value::Int(document.n)),
            "body" => Some(Value::Str(document.body.clone())),
            _ => None,
        };
        let accepts = |filter: &Expression| {
            relation::expression::evaluate(filter, &row).as_bool() == Some(true)
        };
        reference::matches(&self.node, &words(&document.body))
            && self.filter.as_ref().is_none_or(accepts)
    }
}

fn place(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap()
}

/// The answer as text, or the refusal as the scripts show it.
type Outcome = Result<String, String>;

impl Model {
    /// What the engine must answer.
    pub fn execute(&mut self, session: u64, command: &Command) -> String {
        let mut after = self.clone();
        match after.change(session, command) {
            Ok(answer) => {
                *self = after;
                answer
            }
            Err(refusal) => format!("error: {refusal}"),
        }
    }

    fn change(&mut self, session: u64, command: &Command) -> Outcome {
        match command {
            Command::Write(Write::Insert(Insert {
                table,
                columns,
                rows,
                replace,
            })) => {
                assert!(columns.is_some());
                match table.as_str() {
                    "posts" | "news" => {
                        self.insert_documents(place(&SEARCHES, table), rows, *replace)
                    }
                    "alerts" | "watch" | "loud" => {
                        self.insert_standing(place(&STANDING, table), rows, *replace)
                    }
                    "jobs" => {
                        for row in rows {
                            self.put(1, row[0].to_string());
                        }
                        Ok(format!("ok {}", rows.len()))
                    }
                    other => panic!("{other}"),
                }
            }
            Command::Write(Write::Update(update)) => self.update(update),
            Command::Write(Write::Upsert { insert, known }) => {
                self.upsert(place(&SEARCHES, &insert.table), &insert.rows, known)
            }
            Command::AlterTable { table, changes } => {
                assert_eq!(changes.len(), 1);
                self.alter(place(&SEARCHES, table), &changes[0])
            }
            Command::Write(Write::Delete(delete)) => {
                let Delete {
                    table,
                    matching,
                    filter,
                    limit,
                    order: _,
                } = &**delete;
                assert!(limit.is_none());
                let wanted = |column: &str, row: &dyn Fn(&str) -> Option<Value>| match filter {
                    None => true,
                    Some(filter) => {
                        let _ = column;
                        relation::expression::evaluate(filter, row).as_bool() == Some(true)
                    }
                };
                match table.as_str() {
                    "posts" | "news" | "log" => {
                        let node = matching.as_deref().map(parse);
                        let documents = &mut self.documents[place(&SEARCHES, table)];
                        let before = documents.len();
                        documents.retain(|id, document| {
                            let row = |name: &str| match name {
                                "id" => Some(Value::Int((*id).into())),
                                "n" => Some(Value::Int(document.n)),
                                _ => None,
                            };
                            let matched = node.as_ref().is_none_or(|node| {
                                reference::matches(node, &words(&document.body))
                            });
                            !(matched && wanted("id", &row))
                        });
                        Ok(format!("ok {}", before - documents.len()))
                    }
                    "alerts" | "watch" | "loud" => {
                        let standing = &mut self.standing[place(&STANDING, table)];
                        let before = standing.len();
                        standing.retain(|id, query| {
                            let row = |name: &str| match name {
                                "id" => Some(Value::Int((*id).into())),
                                "hits" => Some(Value::Int(query.hits.into())),
                                _ => None,
                            };
                            !wanted("id", &row)
                        });
                        Ok(format!("ok {}", before - standing.len()))
                    }
                    "jobs" => {
                        let visible = self.visible(session, 1);
                        let mut deleted = 0;
                        self.queues[1].retain(|number, shown| {
                            let id: i128 = shown.parse().unwrap();
                            let row = |_: &str| Some(Value::Int(id));
                            let goes = visible.contains(number) && wanted("id", &row);
                            deleted += usize::from(goes);
                            !goes
                        });
                        Ok(format!("ok {deleted}"))
                    }
                    other => panic!("{other}"),
                }
            }
            Command::Many(members) => {
                let mut lines = Vec::new();
                for (index, member) in members.iter().enumerate() {
                    let line = self
                        .change(session, &Command::Write(member.clone()))
                        .map_err(|error| format!("statement {}: {error}", index + 1))?;
                    lines.push(line);
                }
                Ok(lines.join("\n"))
            }
            Command::QueueWait {
                sources,
                timeout_us,
            } => {
                assert_eq!(*timeout_us, 0);
                self.end(session);
                let queue = place(&QUEUES, &sources[0].table);
                let taken: BTreeSet<_> = self.owners.values().flatten().copied().collect();
                let free = self.queues[queue]
                    .keys()
                    .find(|row| !taken.contains(&(queue, **row)))
                    .copied();
                self.owners.insert(session, free.map(|row| (queue, row)));
                Ok(if free.is_some() {
                    "got a row"
                } else {
                    "no row"
                }
                .to_owned())
            }
            Command::QueueEnd => {
                self.end(session);
                self.owners.remove(&session);
                Ok("ok 0".to_owned())
            }
            Command::QueueAbort => match self.owners.remove(&session) {
                Some(_) => Ok("ok 0".to_owned()),
                None => Err("queue_abort(): not in owner mode".to_owned()),
            },
            Command::SessionClosed => {
                self.owners.remove(&session);
                Ok("ok 0".to_owned())
            }
            Command::Checkpoint => Ok("ok 0".to_owned()),
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, session: u64) {
        if let Some(Some((queue, row))) = self.owners.insert(session, None) {
            self.queues[queue].remove(&row);
        }
    }

    fn put(&mut self, queue: usize, shown: String) {
        self.next_rows[queue] += 1;
        self.queues[queue].insert(self.next_rows[queue], shown);
    }

    /// Rows: id, body, n.
    fn insert_documents(&mut self, table: usize, rows: &[Vec<Value>], replace: bool) -> Outcome {
        let mut last = 0;
        for (number, row) in rows.iter().enumerate() {
            let documents = &self.documents[table];
            let id = admit(
                &row[0],
                &mut self.documents_highest[table],
                &|id| documents.contains_key(&id),
                replace,
            );
            let id = id.map_err(|error| at_row(error, number, rows.len()))?;
            let (Value::Str(body), Value::Int(n)) = (&row[1], &row[2]) else {
                panic!("{row:?}")
            };
            check_n(table, *n, number + 1)?;
            let document = Document {
                body: body.clone(),
                n: *n,
                from: None,
            };
            self.heard(table, id, &document);
            self.documents[table].insert(id, document);
            last = id;
        }
        Ok(format!("ok {}, id {last}", rows.len()))
    }

    /// A row of a search table that was inserted or changed: hits of `alerts` on posts and news go into `hits`.
    fn heard(&mut self, table: usize, id: u64, document: &Document) {
        if SEARCHES[table] == "log" {
            return;
        }
        for query in self.hit(0, id, document) {
            let (name, Document { body, n, .. }) = (SEARCHES[table], document);
            self.put(0, format!("{query} | {name} | {id} | {body} | {n}"));
        }
        if table == 0 {
            self.log(id, document);
        }
    }

    /// Hits of `watch` go into `log`, and hits of `loud` on those documents into `shouts`.
    fn log(&mut self, id: u64, document: &Document) {
        for query in self.hit(1, id, document) {
            self.documents_highest[2] += 1;
            let logged = self.documents_highest[2];
            let entry = Document {
                from: Some((query, id)),
                ..document.clone()
            };
            for query in self.hit(2, logged, &entry) {
                self.put(2, format!("{query} | {logged} | {}", entry.body));
            }
            self.documents[2].insert(logged, entry);
        }
    }

    /// UPDATE of `n`.
    fn update(&mut self, update: &Update) -> Outcome {
        let node = update.matching.as_deref().map(parse);
        let sum = &update.set[0].value;
        let table = place(&SEARCHES, &update.table);
        let mut changed = Vec::new();
        for (id, document) in &mut self.documents[table] {
            let n = document.n;
            let row = |name: &str| match name {
                "id" => Some(Value::Int((*id).into())),
                "n" => Some(Value::Int(n)),
                _ => None,
            };
            let accepts = |filter: &Expression| {
                relation::expression::evaluate(filter, &row).as_bool() == Some(true)
            };
            let is_found = |node: &Node| reference::matches(node, &words(&document.body));
            if !node.as_ref().is_none_or(is_found) || !update.filter.as_ref().is_none_or(accepts) {
                continue;
            }
            let Value::Int(new) = relation::expression::evaluate(sum, &row) else {
                panic!("a number")
            };
            check_n(table, new, *id as usize)?;
            document.n = new;
            if new != n {
                changed.push((*id, document.clone()));
            }
        }
        for (id, document) in &changed {
            self.heard(table, *id, document);
        }
        Ok(format!("ok {}", changed.len()))
    }

    /// INSERT IGNORE, and ON DUPLICATE KEY UPDATE n = n + VALUES(n). Rows: id, body, n.
    fn upsert(&mut self, table: usize, rows: &[Vec<Value>], known: &Known) -> Outcome {
        if *known == Known::Ignore {
            return self.insert_unknown(table, rows);
        }
        let (mut made, mut changed) = (Vec::new(), Vec::new());
        let (mut affected, mut last) = (0, 0);
        for (number, row) in rows.iter().enumerate() {
            let (Value::Int(id), Value::Str(body), Value::Int(n)) = (&row[0], &row[1], &row[2])
            else {
                panic!("{row:?}")
            };
            check_n(table, *n, number + 1)?;
            if let Some(document) = self.documents[table].get_mut(&(*id as u64)) {
                check_n(table, document.n + n, number + 1)?;
                document.n += n;
                let id = *id as u64;
                if *n != 0 {
                    affected += 2;
                    if !made.contains(&id) && !changed.contains(&id) {
                        changed.push(id);
                    }
                }
                continue;
            }
            let never = |_| false;
            let id = admit(&row[0], &mut self.documents_highest[table], &never, false)?;
            let document = Document {
                body: body.clone(),
                n: *n,
                from: None,
            };
            self.documents[table].insert(id, document);
            made.push(id);
            (affected, last) = (affected + 1, id);
        }
        changed.sort_unstable();
        for id in made.iter().chain(&changed) {
            let document = self.documents[table][id].clone();
            self.heard(table, *id, &document);
        }
        match made.is_empty() {
            true => Ok(format!("ok {affected}")),
            false => Ok(format!("ok {affected}, id {last}")),
        }
    }

    /// IGNORE: the rows whose ids are new.
    fn insert_unknown(&mut self, table: usize, rows: &[Vec<Value>]) -> Outcome {
        let mut seen: BTreeSet<u64> = self.documents[table].keys().copied().collect();
        let mut warnings = String::new();
        let mut kept = Vec::new();
        for row in rows {
            let Value::Int(id) = row[0] else {
                panic!("{row:?}")
            };
            if id != 0 && !seen.insert(id as u64) {
                warnings += &format!("\nwarning: id {id} is known: the row was left out");
            } else {
                kept.push(row.clone());
            }
        }
        if kept.is_empty() {
            return Ok(format!("ok 0{warnings}"));
        }
        let answer = self.insert_documents(table, &kept, false)?;
        Ok(answer + &warnings)
    }

    /// Adds or drops `more` of `posts`. A KEY changes no answer, and the type of a column that is heard stays.
    fn alter(&mut self, table: usize, change: &Change) -> Outcome {
        match change {
            Change::Add { .. } if self.has_more => Err("column 'more' twice".to_owned()),
            Change::Drop { .. } if !self.has_more => {
                Err("no column 'more' in table 'posts'".to_owned())
            }
            Change::Add { .. } | Change::Drop { .. } => {
                self.has_more = !self.has_more;
                Ok("ok 0".to_owned())
            }
            Change::Key { .. } => Ok("ok 0".to_owned()),
            Change::Modify { .. } => Err(format!(
                "the pq table 'alerts' hears '{}' and its column 'n': drop it first",
                SEARCHES[table]
            )),
            other => panic!("{other:?}"),
        }
    }

    /// The queries of a pq table that a document hits; counted.
    fn hit(&mut self, table: usize, id: u64, document: &Document) -> Vec<u64> {
        let mut hit = Vec::new();
        for (query, standing) in &mut self.standing[table] {
            if standing.is_hit_by(id, document) {
                standing.hits += 1;
                hit.push(*query);
            }
        }
        hit
    }

    /// Rows: id, query, filters.
    fn insert_standing(&mut self, table: usize, rows: &[Vec<Value>], replace: bool) -> Outcome {
        let mut last = 0;
        let mut warnings = String::new();
        for (number, row) in rows.iter().enumerate() {
            let standing = &self.standing[table];
            let id = admit(
                &row[0],
                &mut self.standing_highest[table],
                &|id| standing.contains_key(&id),
                replace,
            );
            let id = id.map_err(|error| at_row(error, number, rows.len()))?;
            let (Value::Str(text), Value::Str(filters)) = (&row[1], &row[2]) else {
                panic!("{row:?}")
            };
            if text.contains('"') && text.matches('"').count() % 2 == 1 {
                let place = text.rfind('"').unwrap();
                let error = format!("query text at byte {place}: unclosed quote");
                return Err(at_row(error, number, rows.len()));
            }
            if filters.contains("colour") {
                let row = number + 1;
                return Err(format!(
                    "filters of row {row}: no column 'colour' in the documents"
                ));
            }
            let filter = (!filters.is_empty()).then(|| {
                let mut lexer = Lexer::new(filters.as_bytes());
                relation::expression::parse(&mut lexer).unwrap()
            });
            if text.is_empty() && filter.is_none() {
                warnings += "\nwarning: the query holds no word: every document matches";
            }
            let standing = Standing {
                text: text.clone(),
                filters: filters.clone(),
                node: parse(text),
                filter,
                hits: 0,
            };
            self.standing[table].insert(id, standing);
            last = id;
        }
        Ok(format!("ok {}, id {last}{warnings}", rows.len()))
    }

    /// The rows of a queue that a session sees.
    fn visible(&self, session: u64, queue: usize) -> BTreeSet<u64> {
        let rows = self.queues[queue].keys().copied();
        match self.owners.get(&session) {
            Some(owned) => rows.filter(|row| *owned == Some((queue, *row))).collect(),
            None => {
                let taken: BTreeSet<_> = self.owners.values().flatten().copied().collect();
                rows.filter(|row| !taken.contains(&(queue, *row))).collect()
            }
        }
    }

    /// A restart: nobody owns anything.
    pub fn restart(&mut self) {
        self.owners.clear();
    }

    /// Everything that a fresh session sees, as [`crate::workload::dump`] shows it.
    pub fn dump(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (table, name) in SEARCHES.into_iter().enumerate() {
            for (id, Document { body, n, from }) in &self.documents[table] {
                lines.push(match from {
                    None => format!("{name} {id} | {body} | {n}"),
                    Some((query, document)) => {
                        format!("{name} {id} | {body} | {n} | {query} | {document}")
                    }
                });
            }
        }
        for (table, name) in STANDING.into_iter().enumerate() {
            for (id, query) in &self.standing[table] {
                let (text, filters, hits) = (&query.text, &query.filters, query.hits);
                lines.push(format!("{name} {id} | {text} | {filters} | {hits}"));
            }
        }
        for (queue, name) in QUEUES.into_iter().enumerate() {
            let visible = self.visible(u64::MAX, queue);
            let rows = self.queues[queue]
                .iter()
                .filter(|(row, _)| visible.contains(row));
            lines.extend(rows.map(|(_, shown)| format!("{name} {shown}")));
        }
        lines
    }
}

/// The error of a row, with the row's number where there are several; `place` counts from 0.
fn at_row(error: String, place: usize, rows: usize) -> String {
    match rows {
        1 => error,
        _ => format!("{error} at row {}", place + 1),
    }
}

/// Checks a value of `n`: an int, and in `log` a bigint.
fn check_n(table: usize, n: i128, row: usize) -> Result<(), String> {
    match SEARCHES[table] == "log" || (-(1 << 31)..1 << 32).contains(&n) {
        true => Ok(()),
        false => Err(format!(
            "out of range value '{n}' for column 'n' at row {row}"
        )),
    }
}

fn admit(
    given: &Value,
    highest: &mut u64,
    contains: &dyn Fn(u64) -> bool,
    replace: bool,
) -> Result<u64, String> {
    let id = match given {
        Value::Int(0) => *highest + 1,
        Value::Int(id) => *id as u64,
        other => panic!("{other:?}"),
    };
    if contains(id) && !replace {
        return Err(format!("duplicate id '{id}'"));
    }
    *highest = id.max(*highest);
    Ok(id)
}

pub fn parse(text: &str) -> Node {
    language::parse(text, &["body"], &Analyzer::default())
        .unwrap()
        .root
}

pub fn words(body: &str) -> Words {
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, body);
    words
}
