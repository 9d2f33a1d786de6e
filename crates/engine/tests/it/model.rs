//! The whole engine as a few maps: the oracle of the random tests. Its schema is fixed; it keeps no files.

use std::collections::{BTreeMap, BTreeSet};

use engine::Command;
use query::analysis::{Analyzer, Words};
use query::reference;
use query::tree::Node;
use query::value::Value;

/// What makes the schema, as statements.
pub const SCHEMA: [&str; 4] = [
    "create search posts (body text, n int)",
    "create queue hits (query_id bigint, doc_id bigint, body text, n bigint)",
    "create pq alerts on posts into hits",
    "create queue jobs (id int)",
];

#[derive(Clone, Default)]
pub struct Model {
    posts: BTreeMap<u64, (String, i128)>,
    posts_highest: u64,
    alerts: BTreeMap<u64, (String, Node)>,
    alerts_highest: u64,
    /// `hits` and `jobs`: rows by number, as shown.
    queues: [BTreeMap<u64, String>; 2],
    next_rows: [u64; 2],
    /// Sessions in owner mode: queue and row.
    owners: BTreeMap<u64, Option<(usize, u64)>>,
}

/// As the scripts show a refusal; other errors are matched by their text too.
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
            Command::Insert {
                table,
                columns,
                rows,
                replace,
            } => {
                assert!(columns.is_some());
                match table.as_str() {
                    "posts" => self.insert_posts(rows, *replace),
                    "alerts" => self.insert_alerts(rows, *replace),
                    "jobs" => {
                        for row in rows {
                            self.put(1, row[0].to_string());
                        }
                        Ok(format!("ok {}", rows.len()))
                    }
                    other => panic!("{other}"),
                }
            }
            Command::Delete {
                table,
                matching,
                filter,
                limit,
            } => {
                assert!(limit.is_none());
                let wanted = |column: &str, row: &dyn Fn(&str) -> Option<Value>| match filter {
                    None => true,
                    Some(filter) => {
                        let _ = column;
                        query::expression::evaluate(filter, row).as_bool() == Some(true)
                    }
                };
                match table.as_str() {
                    "posts" => {
                        let node = matching.as_deref().map(parse);
                        let before = self.posts.len();
                        self.posts.retain(|id, (body, n)| {
                            let row = |name: &str| match name {
                                "id" => Some(Value::Int((*id).into())),
                                "n" => Some(Value::Int(*n)),
                                _ => None,
                            };
                            let matched = node
                                .as_ref()
                                .is_none_or(|node| reference::matches(node, &words(body)));
                            !(matched && wanted("id", &row))
                        });
                        Ok(format!("ok {}", before - self.posts.len()))
                    }
                    "alerts" => {
                        let before = self.alerts.len();
                        self.alerts.retain(|id, _| {
                            let row = |_: &str| Some(Value::Int((*id).into()));
                            !wanted("id", &row)
                        });
                        Ok(format!("ok {}", before - self.alerts.len()))
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
                        .change(session, member)
                        .map_err(|error| format!("statement {}: {error}", index + 1))?;
                    lines.push(line);
                }
                Ok(lines.join("\n"))
            }
            Command::QueueWait { table, timeout_us } => {
                assert_eq!(*timeout_us, 0);
                self.end(session);
                let queue = usize::from(table == "jobs");
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
    fn insert_posts(&mut self, rows: &[Vec<Value>], replace: bool) -> Outcome {
        let mut last = 0;
        for (number, row) in rows.iter().enumerate() {
            let id = admit(
                &row[0],
                &mut self.posts_highest,
                &|id| self.posts.contains_key(&id),
                replace,
            )?;
            let (Value::Str(body), Value::Int(n)) = (&row[1], &row[2]) else {
                panic!("{row:?}")
            };
            if *n > i128::from(u32::MAX) {
                return Err(format!(
                    "out of range value for column 'n' at row {}",
                    number + 1
                ));
            }
            self.posts.insert(id, (body.clone(), *n));
            let document = words(body);
            let hits: Vec<u64> = self
                .alerts
                .iter()
                .filter(|(_, (_, node))| reference::matches(node, &document))
                .map(|(query, _)| *query)
                .collect();
            for query in hits {
                self.put(0, format!("{query} | {id} | {body} | {n}"));
            }
            last = id;
        }
        Ok(format!("ok {}, id {last}", rows.len()))
    }

    /// Rows: id, query.
    fn insert_alerts(&mut self, rows: &[Vec<Value>], replace: bool) -> Outcome {
        let mut last = 0;
        for row in rows {
            let id = admit(
                &row[0],
                &mut self.alerts_highest,
                &|id| self.alerts.contains_key(&id),
                replace,
            )?;
            let Value::Str(text) = &row[1] else {
                panic!("{row:?}")
            };
            if text.contains('"') && text.matches('"').count() % 2 == 1 {
                let place = text.rfind('"').unwrap();
                return Err(format!("query text at byte {place}: unclosed quote"));
            }
            self.alerts.insert(id, (text.clone(), parse(text)));
            last = id;
        }
        Ok(format!("ok {}, id {last}", rows.len()))
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
        for (id, (body, n)) in &self.posts {
            lines.push(format!("posts {id} | {body} | {n}"));
        }
        for (id, (text, _)) in &self.alerts {
            lines.push(format!("alerts {id} | {text}"));
        }
        for (queue, name) in ["hits", "jobs"].into_iter().enumerate() {
            let visible = self.visible(u64::MAX, queue);
            let rows = self.queues[queue]
                .iter()
                .filter(|(row, _)| visible.contains(row));
            lines.extend(rows.map(|(_, shown)| format!("{name} {shown}")));
        }
        lines
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
    query::parse(text, &["body"], &Analyzer::default())
        .unwrap()
        .root
}

pub fn words(body: &str) -> Words {
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, body);
    words
}
