//! A system that answers: a server over MySQL's protocol, or a program that reads SQL from its standard input.

use std::{
    io::ErrorKind,
    thread,
    time::{Duration, Instant},
};

use client::{Client, ClientError};

use super::{
    Peer,
    definition::{Dialect, Form, Table, expand},
    rows::{Rows, Sum},
};
use crate::{
    Server,
    error::{Error, Result},
    search::Program,
};

/// Rows of an INSERT that fills the table.
const FILL_ROWS: u64 = 1_000;

/// A system, ready to answer.
pub(super) struct System {
    pub(super) name: String,
    pub(super) dialect: Dialect,
    door: Door,
    /// Longest time of a job.
    timeout: Duration,
}

enum Door {
    Server {
        server: Server,
        database: Option<String>,
        client: Client,
        /// Its number, to end its statement by.
        connection: String,
    },
    Program(Program),
}

/// A job's timed statements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ran {
    pub(super) seconds: f64,
    pub(super) sum: Sum,
}

/// Why a job has no time: the server's error, or the timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused(pub(super) String);

/// A job's outcome. The outer error ends the benchmark.
pub(super) type Outcome = Result<std::result::Result<Ran, Refused>>;

impl System {
    pub(super) fn open(name: &str, peer: &Peer, timeout: Duration) -> Result<System> {
        let (door, dialect) = match peer {
            Peer::Server { server, database } => {
                let (client, connection) = connect(server, database.as_deref(), timeout)?;
                let door = Door::Server {
                    server: server.clone(),
                    database: database.clone(),
                    client,
                    connection,
                };
                (door, Dialect::Mysql)
            }
            Peer::Program { command } => {
                let program = Program::start(name, command, &[])?;
                (Door::Program(program), Dialect::Sqlite)
            }
        };
        Ok(System {
            name: name.to_owned(),
            dialect,
            door,
            timeout,
        })
    }

    /// The system's description of itself.
    pub(super) fn about(&mut self) -> Result<String> {
        match &mut self.door {
            Door::Program(program) => Ok(program.about.clone()),
            Door::Server { client, server, .. } => {
                let version = text(client, "SELECT VERSION()")?;
                Ok(format!("{version} at {}", server.addr))
            }
        }
    }

    /// Fills the table. With `keep`, a table that has its first row and ends with its last row stays.
    pub(super) fn fill(
        &mut self,
        rows: &Rows,
        keep: bool,
        tick: &mut dyn FnMut(f64),
    ) -> Result<()> {
        if keep && self.is_filled(rows.count)? {
            return Ok(());
        }
        let table = Table::of(self.dialect)?;
        self.told("DROP TABLE IF EXISTS bench_select")?;
        let mut refused = None;
        for create in &table.create {
            refused = self.ask(std::slice::from_ref(create))?.err();
            if refused.is_none() {
                break;
            }
        }
        if let Some(Refused(error)) = refused {
            return Err(Error::Peer(error).of(&self.name));
        }
        let mut first = 1;
        while first <= rows.count {
            let last = (first + FILL_ROWS - 1).min(rows.count);
            let mut text =
                String::from("INSERT INTO bench_select (id, k, k1, k2, n, sub, body) VALUES ");
            for id in first..=last {
                if id > first {
                    text.push(',');
                }
                rows.push_tuple(self.dialect, &mut text, id);
            }
            self.told(&text)?;
            tick(last as f64 / rows.count as f64);
            first = last + 1;
        }
        for statement in &table.filled {
            self.told(statement)?;
        }
        Ok(())
    }

    fn is_filled(&mut self, count: u64) -> Result<bool> {
        let ends = format!(
            "SELECT id FROM bench_select WHERE id IN (1,{count},{})",
            count + 1
        );
        Ok(self.ask(&[ends])?.is_ok_and(|ran| ran.sum.rows == 2))
    }

    /// Drops the table.
    pub(super) fn drop_table(&mut self) -> Result<()> {
        self.told("DROP TABLE bench_select")
    }

    /// Runs a job. Its time is that of the form's own statements, from the first byte sent to the last row read.
    pub(super) fn run(&mut self, form: &Form, ids: &[u64]) -> Outcome {
        let texts = form.texts(self.dialect, ids);
        let before = expand(&form.before, ids);
        let ran = match self.ask(&before)? {
            Ok(_) => self.ask(&texts)?,
            refused => refused,
        };
        for statement in &form.after {
            // After an error there may be nothing to drop.
            let _ = self.ask(std::slice::from_ref(statement))?;
        }
        Ok(ran)
    }

    fn told(&mut self, statement: &str) -> Result<()> {
        match self.ask(&[statement.to_owned()])? {
            Ok(_) => Ok(()),
            Err(Refused(error)) => Err(Error::Peer(error).of(&self.name)),
        }
    }

    fn ask(&mut self, statements: &[String]) -> Outcome {
        let timeout = self.timeout;
        match &mut self.door {
            Door::Program(program) => in_program(program, statements),
            Door::Server {
                server,
                database,
                client,
                connection,
            } => {
                let refused = match over_mysql(client, statements, timeout) {
                    Ok(ran) => return Ok(Ok(ran)),
                    Err(refused) => refused,
                };
                // A new connection has no transaction and no temporary table. The old statement must not run on beside the
                // next job.
                let (mut fresh, number) = connect(server, database.as_deref(), timeout)?;
                let _ = fresh.query(&format!("KILL {connection}"));
                wait_for_end(&mut fresh, connection);
                (*client, *connection) = (fresh, number);
                Ok(Err(refused))
            }
        }
    }
}

/// A connection and its number.
fn connect(server: &Server, database: Option<&str>, timeout: Duration) -> Result<(Client, String)> {
    let mut client = server.connect()?;
    client.set_read_timeout(timeout)?;
    client.query("SET NAMES utf8mb4")?;
    if let Some(database) = database {
        client.query(&format!("USE `{database}`"))?;
    }
    let number = text(&mut client, "SELECT CONNECTION_ID()")?;
    Ok((client, number))
}

/// The first cell of an answer.
fn text(client: &mut Client, statement: &str) -> Result<String> {
    let answer = client.query(statement)?;
    let cell = answer.rows.into_iter().flatten().flatten().next();
    Ok(String::from_utf8_lossy(&cell.unwrap_or_default()).into_owned())
}

/// Waits until the server lists a connection no more, for a minute at most.
fn wait_for_end(client: &mut Client, connection: &str) {
    for _ in 0..600 {
        let listed = client.query("SHOW PROCESSLIST").is_ok_and(|list| {
            let mut numbers = list.rows.iter().filter_map(|row| row.first()?.as_deref());
            numbers.any(|number| number == connection.as_bytes())
        });
        if !listed {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn over_mysql(
    client: &mut Client,
    statements: &[String],
    timeout: Duration,
) -> std::result::Result<Ran, Refused> {
    let (begun, mut sum) = (Instant::now(), Sum::default());
    let too_long = || Refused(format!("longer than {} s", timeout.as_secs_f64()));
    for statement in statements {
        let done = client.query_rows(statement, &mut |cells| sum.add(cells.iter().copied()));
        match done {
            Ok(_) if begun.elapsed() > timeout => return Err(too_long()),
            Ok(_) => {}
            // Both kinds are a read's timeout.
            Err(ClientError::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                return Err(too_long());
            }
            Err(error) => return Err(Refused(error.to_string())),
        }
    }
    Ok(Ran {
        seconds: begun.elapsed().as_secs_f64(),
        sum,
    })
}

/// Sends the statements, each with its length, and reads `ok SECONDS ROWS CHECKSUM` or an error.
fn in_program(program: &mut Program, statements: &[String]) -> Outcome {
    let mut job = statements.len().to_string();
    for statement in statements {
        job += &format!("\n{}\n{statement}", statement.len());
    }
    let line = program.tell(&job)?;
    let words: Vec<&str> = line.split(' ').collect();
    let ["ok", seconds, rows, value] = words[..] else {
        return Ok(Err(Refused(line)));
    };
    let ran = || {
        Some(Ran {
            seconds: seconds.parse().ok()?,
            sum: Sum {
                rows: rows.parse().ok()?,
                value: value.parse().ok()?,
            },
        })
    };
    let name = &program.name;
    let told = ran().ok_or_else(|| Error::Peer(format!("{name}: {line:?} has no numbers")))?;
    Ok(Ok(told))
}
