//! The commands of an engine's life: what each step asks.

use engine::{Change, ColumnPlace, Command, Hold, LoadStep, QueueNext, Receipt, WaitSource, Write};
use relation::expression::Expression;
use relation::request::{Delete, OrderBy, Output};
use relation::schema::{Column, ColumnType, TypeSystem};
use relation::value::Value;

use super::steps::Step;
use super::{Life, RESHAPED, SECOND_US, WORDS};
use crate::statement::command;
use crate::twin::{LANES, LOADS, QUEUES, STANDING};

/// Sessions above this number have transactions, and nothing else.
const TRANSACTIONS: u64 = 20;

impl Life {
    /// The command of a step that both engines are asked.
    pub(super) fn command(&mut self, step: &Step) -> Option<(u64, Command)> {
        let run = |line: String| Some((1, command(&line)));
        match step {
            Step::Post { ids, word, replace } => {
                let (verb, word) = (if *replace { "replace" } else { "insert" }, WORDS[*word]);
                let rows: Vec<String> = ids
                    .iter()
                    .map(|id| format!("({id}, '{word}', {id})"))
                    .collect();
                run(format!(
                    "{verb} posts (id, body, n) values {}",
                    rows.join(", ")
                ))
            }
            Step::Update { id, n } => run(format!("update posts set n = n + {n} where id < {id}")),
            Step::Unpost { id } => run(format!("delete posts match 'cat' where id < {id}")),
            Step::Query { table, id, word } => run(format!(
                "replace {} (id, query) values ({id}, '{}')",
                STANDING[*table], WORDS[*word]
            )),
            Step::Unquery { table, id } => {
                run(format!("delete {} where id = {id}", STANDING[*table]))
            }
            Step::Empty { table } => {
                let table = ["posts", "log"]
                    .into_iter()
                    .chain(STANDING)
                    .nth(*table)?
                    .to_owned();
                Some((1, Command::Truncate { table }))
            }
            Step::Put { queue, keys } if QUEUES[*queue] == "timed" => {
                let at = |key: &u8| self.twins.now.unix_us + i64::from(*key) * SECOND_US as i64;
                let rows: Vec<String> = keys
                    .iter()
                    .map(|key| format!("({key}, {})", at(key)))
                    .collect();
                run(format!("insert timed (k, at) values {}", rows.join(", ")))
            }
            Step::Put { queue, keys } => {
                let rows: Vec<String> = keys.iter().map(|key| format!("({key})")).collect();
                run(format!(
                    "insert {} (k) values {}",
                    QUEUES[*queue],
                    rows.join(", ")
                ))
            }
            Step::Lease {
                lane,
                rows,
                seconds,
            } => Some((1, lease(*lane, *rows, *seconds, Vec::new()))),
            Step::Next { which, lane } => {
                let done = vec![self.receipt(*which)?.receipt];
                Some((1, lease(*lane, 1, 5, done)))
            }
            Step::Extend { which, seconds } => {
                let receipts = vec![self.receipt(*which)?.receipt];
                let visible_again_us = seconds * SECOND_US + SECOND_US / 2;
                let extend = Command::QueueExtend {
                    receipts,
                    visible_again_us,
                };
                Some((1, extend))
            }
            Step::Done { which } => {
                let receipts = vec![self.receipt(*which)?.receipt];
                Some((1, Command::QueueDone { receipts }))
            }
            Step::Return { which, delay_s } => {
                let receipts = vec![self.receipt(*which)?.receipt];
                let delay_us = delay_s * SECOND_US;
                Some((1, Command::QueueReturn { receipts, delay_us }))
            }
            Step::Wait { session, queue } if LANES[*queue].1.is_none() => {
                let sources = vec![WaitSource::all(QUEUES[*queue])];
                Some((
                    *session,
                    Command::QueueWait {
                        sources,
                        timeout_us: 0,
                    },
                ))
            }
            Step::End { session } => Some((*session, Command::QueueEnd)),
            Step::Abort { session } => Some((*session, Command::QueueAbort)),
            Step::Close { session } => Some((*session, Command::SessionClosed)),
            Step::Delete { queue, key } => {
                run(format!("delete {} where k = {key}", QUEUES[*queue]))
            }
            Step::DeleteFirst { queue, rows } => {
                let key = Output::Expression(Expression::Column("k".to_owned()));
                let order = vec![OrderBy {
                    key,
                    descending: false,
                }];
                let delete = Command::Write(Write::Delete(Box::new(Delete {
                    table: QUEUES[*queue].to_owned(),
                    filter: None,
                    order,
                    limit: Some(*rows),
                    matching: None,
                })));
                Some((1, delete))
            }
            Step::Compact { queue } => {
                let table = QUEUES[*queue].to_owned();
                Some((1, Command::QueueCompact { table }))
            }
            Step::Truncate { queue } => Some((
                1,
                Command::Truncate {
                    table: QUEUES[*queue].to_owned(),
                },
            )),
            Step::Purge { queue } => Some((
                1,
                Command::QueuePurge {
                    table: QUEUES[*queue].to_owned(),
                },
            )),
            Step::Pause { lane, paused } => {
                let (table, group) = LANES[*lane];
                let pause = Command::QueuePause {
                    table: table.to_owned(),
                    group: group.map(str::to_owned),
                    paused: *paused,
                };
                Some((1, pause))
            }
            Step::Alter { adds } => Some((1, self.alter(*adds)?)),
            Step::Within {
                session,
                statement,
                id,
            } if !self.twins.bounds.is_small() => {
                let asked = statement_of(*statement, *id);
                Some((TRANSACTIONS + session, Command::Within(Box::new(asked))))
            }
            Step::EndTransaction { session, stores } if !self.twins.bounds.is_small() => {
                let end = match stores {
                    true => Command::Commit,
                    false => Command::Rollback,
                };
                Some((TRANSACTIONS + session, end))
            }
            Step::Load { load, queue } => Some((1, self.load(*load, *queue))),
            Step::EndLoad { load, queue } => {
                self.loaded.remove(&(*load, *queue));
                Some((1, load_step(LOADS[*load], *queue, LoadStep::End)))
            }
            Step::ForgetLoads { queue } => {
                self.loaded.retain(|(_, of_queue), _| of_queue != queue);
                Some((1, load_step(0, *queue, LoadStep::Forget)))
            }
            Step::Unit { id, key, refused } => {
                let last = if *refused {
                    "insert posts (id, body) values (1, ''), (1, '')"
                } else {
                    "delete posts where id = 3"
                };
                run(format!(
                    "many replace posts (id, body, n) values ({id}, 'cat', 1); insert keyed (k) values ({key}); \
                     replace alerts (id, query) values (2, 'dog'); delete plain where k = {key}; {last}"
                ))
            }
            Step::Drop { which, both } if !self.more.is_empty() => {
                let dropped = self.dropped(*which, *both);
                let tables = dropped.map(|place| self.more[place].0.clone()).collect();
                let drop = Command::DropTable {
                    tables,
                    if_exists: false,
                };
                Some((1, drop))
            }
            Step::Rename { which, both } if !self.more.is_empty() => {
                let renames = self.renames(*which, *both);
                Some((1, Command::RenameTables { renames }))
            }
            Step::Fill { which } if !self.more.is_empty() => {
                match &self.more[which % self.more.len()] {
                    (name, 0) => run(format!("insert {name} (body) values ('cat')")),
                    (name, 1) => run(format!("insert {name} (query) values ('cat')")),
                    (name, _) => run(format!("insert {name} (k) values (1), (2)")),
                }
            }
            _ => None,
        }
    }

    fn alter(&mut self, adds: bool) -> Option<Command> {
        let change = if adds {
            self.column_next += 1;
            let kind = ColumnType::parse("int", &[], false, TypeSystem::Queue).unwrap();
            let column = Column {
                name: format!("c{}", self.column_next),
                kind,
                nullable: true,
                default: Some(Value::Int(self.column_next.into())),
                keyed: false,
            };
            self.columns.insert(column.name.clone());
            Change::Add {
                column,
                place: ColumnPlace::First,
            }
        } else {
            let name = self.columns.pop_first()?;
            Change::Drop { name }
        };
        Some(Command::AlterTable {
            table: "altered".to_owned(),
            changes: vec![change],
        })
    }

    /// Begins an ALTER of documents: adds a column to a table, or drops the last one that was added.
    pub(super) fn reshape(&mut self, table: usize, adds: bool) {
        let name = RESHAPED[table];
        let change = if adds {
            self.column_next += 1;
            let is_text = name == "ears" && self.column_next.is_multiple_of(3);
            let words = if is_text { "text" } else { "int" };
            let column = format!("c{}", self.column_next);
            self.added[table].push(column.clone());
            let kind = ColumnType::parse(words, &[], false, TypeSystem::Search);
            Change::Add {
                column: Column {
                    name: column,
                    kind: kind.unwrap(),
                    nullable: false,
                    default: (!is_text).then(|| Value::Int(self.column_next.into())),
                    keyed: false,
                },
                place: ColumnPlace::Last,
            }
        } else {
            let Some(name) = self.added[table].pop() else {
                return;
            };
            Change::Drop { name }
        };
        self.twins.alter(Command::AlterTable {
            table: name.to_owned(),
            changes: vec![change],
        });
    }

    fn load(&mut self, load: usize, queue: bool) -> Command {
        let from = self.loaded.get(&(load, queue)).copied().unwrap_or(0);
        let to = from + 2;
        self.loaded.insert((load, queue), to);
        let column = if queue { "k" } else { "n" };
        let rows = (from..to)
            .map(|place| vec![Value::Int(place.into())])
            .collect();
        let put = LoadStep::Put {
            from,
            to,
            columns: vec![column.to_owned()],
            rows,
            replace: false,
        };
        load_step(LOADS[load], queue, put)
    }
}

/// Takes rows of the lane at a place of [`LANES`].
fn lease(lane: usize, rows: u32, seconds: u64, done: Vec<Receipt>) -> Command {
    let (queue, group) = LANES[lane];
    Command::QueueNext(QueueNext {
        sources: vec![WaitSource::all(queue)],
        group: group.map(str::to_owned),
        rows,
        timeout_us: 0,
        hold: Hold::Lease {
            visible_again_us: Some(seconds * SECOND_US + SECOND_US / 2),
        },
        done,
    })
}

/// A step of a load into `plain` or `posts`.
fn load_step(load: u64, queue: bool, step: LoadStep) -> Command {
    let table = if queue { "plain" } else { "posts" }.to_owned();
    Command::Load { table, load, step }
}

/// A statement of a transaction.
fn statement_of(statement: usize, id: u64) -> Command {
    match statement {
        0 => command(&format!(
            "replace posts (id, body, n) values ({id}, 'cat', {id})"
        )),
        1 => command(&format!("delete posts where id = {id}")),
        2 => command(&format!("insert plain (k) values ({id})")),
        3 => command(&format!("insert posts (id, body) values ({id}, 'dog')")),
        4 => Command::QueueEnd,
        _ => Command::QueueWait {
            sources: vec![WaitSource::all("plain")],
            timeout_us: 0,
        },
    }
}
