//! Golden scripts: a line asks, the lines indented below it are the answer. `SEINE_UPDATE=1` writes answers anew.
//!
//! A line may begin with a session's number (`2: wait hits 5`); session 1 speaks otherwise. An answer that comes later
//! stands below the line that brought it, with its session. Lines from `#` on are remarks.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Command, Error, Now, PqDocument, PqRequest, PqScratch, Reply, Write};

use crate::driver::{Driver, Pending, options};
use crate::statement::{Statement, options_of, parse};

#[test]
fn scripts_give_the_answers_written_in_them() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let written = std::fs::read_to_string(&path).unwrap();
        let answered = run(&written);
        if std::env::var_os("SEINE_UPDATE").is_some() {
            std::fs::write(&path, answered).unwrap();
        } else {
            assert_eq!(answered, written, "{}", path.display());
        }
    }
}

fn run(script: &str) -> String {
    let now = Now {
        unix_us: 1_000_000_000_000_000,
        steady_us: 0,
    };
    let mut player = Player {
        driver: Some(Driver::open(options(Arc::new(MemoryDisk::new())), now).unwrap()),
        waiting: Vec::new(),
    };
    let mut out = String::new();
    for line in script.lines().filter(|line| !line.starts_with("  ")) {
        writeln!(out, "{line}").unwrap();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for answer in player.play(line) {
            writeln!(out, "  {answer}").unwrap();
        }
    }
    out
}

struct Player {
    driver: Option<Driver>,
    waiting: Vec<(u64, Pending)>,
}

impl Player {
    fn play(&mut self, line: &str) -> Vec<String> {
        let (session, statement) = match line.split_once(": ") {
            Some((session, rest)) if session.bytes().all(|byte| byte.is_ascii_digit()) => {
                (session.parse().unwrap(), parse(rest))
            }
            _ => (1, parse(line)),
        };
        let mut lines = match statement {
            Statement::Restart => {
                self.waiting.clear();
                let driver = self.driver.take().unwrap().reopen().unwrap();
                let lines = vec![format!("{} replayed", driver.recovered.records_replayed)];
                self.driver = Some(driver);
                lines
            }
            Statement::Command(command) => {
                let answer = self.driver().ask(session, command);
                match answer.take() {
                    Some(outcome) => show(outcome),
                    None => {
                        self.waiting.push((session, answer));
                        vec!["waits".to_owned()]
                    }
                }
            }
            Statement::Tick(seconds) => {
                self.driver().tick(seconds * 1_000_000);
                Vec::new()
            }
            read => self
                .read(read)
                .unwrap_or_else(|error| vec![show_error(&error)]),
        };
        self.waiting
            .retain(|(session, pending)| match pending.take() {
                Some(outcome) => {
                    lines.extend(
                        show(outcome)
                            .into_iter()
                            .map(|line| format!("{session}: {line}")),
                    );
                    false
                }
                None => true,
            });
        lines
    }

    fn driver(&mut self) -> &mut Driver {
        self.driver.as_mut().unwrap()
    }

    fn read(&mut self, statement: Statement) -> Result<Vec<String>, Error> {
        let snapshot = self.driver().handle.snapshot();
        Ok(match statement {
            Statement::Select(select) => show_answer(snapshot.select(
                &select,
                &options_of(&select),
                &engine::Control::default(),
            )?)?,
            Statement::ShowCreate(table) => snapshot
                .show_create(&table)?
                .lines()
                .map(str::to_owned)
                .collect(),
            Statement::ShowTables => snapshot
                .tables()
                .iter()
                .map(|(name, kind)| format!("{name} {kind}"))
                .collect(),
            Statement::TableStatus(table) => {
                let status = snapshot.table_status(&table)?;
                let steady = status.iter().filter(|(name, _)| !name.ends_with("bytes"));
                steady
                    .map(|(name, value)| format!("{name} {value}"))
                    .collect()
            }
            Statement::Backfill(table, query, days) => {
                let now = self.driver().now;
                let mut put = 0;
                for piece in snapshot.backfill(&table, query, days, now, &Arc::default())? {
                    match self.driver().run(Command::Write(Write::Backfill(piece)))? {
                        Reply::Done { affected, .. } => put += affected,
                        other => panic!("{other:?}"),
                    }
                }
                vec![format!("{put} hits")]
            }
            Statement::CallPq {
                table,
                documents,
                only,
                after,
                limit,
            } => {
                let documents: Vec<_> = documents.into_iter().map(PqDocument::Text).collect();
                let request = PqRequest {
                    only: only.as_ref(),
                    after,
                    limit,
                    ..PqRequest::new(&table, &documents)
                };
                let answer = snapshot.call_pq(&request, &mut PqScratch::default())?;
                let row = |(query, hit): (&Arc<percolate::StandingQuery>, &[u32])| {
                    format!("{} {:?} by {hit:?}", query.id, query.text)
                };
                let mut lines: Vec<_> = answer.hits.rows().map(row).collect();
                let (matched, total) = (answer.documents_matched, answer.queries_total);
                lines.push(format!("{matched} documents matched, {total} queries"));
                if answer.total != answer.hits.len() as u64 {
                    lines.push(format!("of {} queries hit", answer.total));
                }
                lines
            }
            other => panic!("not read from a snapshot: {other:?}"),
        })
    }
}

/// An answer as lines of text.
pub fn show(outcome: Result<Reply, Error>) -> Vec<String> {
    match outcome {
        Ok(Reply::Reading(reading)) => {
            show(reading.run(&engine::Control::default()).map(Reply::Rows))
        }
        Err(error) => vec![show_error(&error)],
        Ok(Reply::Done {
            affected,
            last_id,
            warnings,
            ..
        }) => {
            let id = if last_id > 0 {
                format!(", id {last_id}")
            } else {
                String::new()
            };
            let warnings = warnings.iter().map(|warning| format!("warning: {warning}"));
            std::iter::once(format!("ok {affected}{id}"))
                .chain(warnings)
                .collect()
        }
        Ok(Reply::Plan(_)) => vec!["to be planned".to_owned()],
        Ok(Reply::Waited(0)) => vec!["no row".to_owned()],
        Ok(Reply::Waited(1)) => vec!["got a row".to_owned()],
        Ok(Reply::Waited(source)) => vec![format!("got a row of source {source}")],
        Ok(Reply::Taken(taken)) => taken
            .rows
            .iter()
            .map(|row| format!("{} delivered {}: {:?}", row.row, row.delivery, row.values))
            .collect(),
        Ok(Reply::RowId(row)) => vec![format!("{:?}", row.map(|row| row.0))],
        Ok(Reply::QueueStats(stats)) => vec![format!("{stats:?}")],
        Ok(Reply::Transactions(open)) => vec![format!("{open:?}")],
        Ok(Reply::Seen(_)) => vec!["tables of a transaction".to_owned()],
        Ok(Reply::Source(source)) => vec![format!("{} rows", source.count())],
        Ok(Reply::Rows(answer)) => show_answer(answer).unwrap(),
        Ok(Reply::Many(replies)) => replies
            .into_iter()
            .flat_map(|reply| show(Ok(reply)))
            .collect(),
        Ok(Reply::Series(outcomes)) => outcomes.into_iter().flat_map(show).collect(),
    }
}

fn show_error(error: &Error) -> String {
    format!("error: {error}")
}

pub fn show_answer(answer: engine::Answer) -> Result<Vec<String>, Error> {
    let names: Vec<_> = answer
        .columns
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let mut lines = vec![format!(
        "{} found: {}",
        answer.total_found,
        names.join(", ")
    )];
    for row in answer.rows {
        let values: Vec<_> = row?.iter().map(|value| value.to_string()).collect();
        lines.push(values.join(" | "));
    }
    Ok(lines)
}
