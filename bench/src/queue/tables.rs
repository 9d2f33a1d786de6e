//! Queues that are tables, over the MySQL protocol: Q4M's two statements, `CALL QUEUE_NEXT`, or `SKIP LOCKED`.

use std::time::Duration;

use wire::mysql::Cells;

use super::{
    payload::Payload,
    sql::{Sql, first_number, number},
};
use crate::{Server, error::Result};

/// How a consumer takes a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taking {
    /// `SELECT queue_wait(…)`, then `SELECT * FROM …`.
    Statements,
    /// `CALL QUEUE_NEXT(…)`.
    Call,
    /// `CALL QUEUE_NEXT(…)` in a transaction that stores the row taken before in `q4m_r`, whose ids are each given once.
    Commit,
    /// `SELECT … FOR UPDATE SKIP LOCKED`, then DELETE and COMMIT. Without a row it asks again after a pause.
    SkipLocked,
}

/// Pause of a `SKIP LOCKED` consumer that has found no row: the server cannot wake it.
pub(super) const POLLED_EVERY: Duration = Duration::from_millis(1);

/// A connection to a server with a table `q4m_t`, and `q4m_t2` for the signal to start.
pub(super) struct Table {
    sql: Sql,
    taking: Taking,
    /// The row taken last, which a transaction will store.
    held: Option<i64>,
    text: String,
}

impl Table {
    pub(super) async fn connect(server: &Server, taking: Taking) -> Result<Table> {
        let mut sql = Sql::connect(server).await?;
        if taking == Taking::SkipLocked {
            for statement in [
                "CREATE DATABASE IF NOT EXISTS bench",
                "USE bench",
                "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                "SET autocommit=0",
            ] {
                sql.execute(statement).await?;
            }
        }
        Ok(Table {
            sql,
            taking,
            held: None,
            text: String::new(),
        })
    }

    /// Creates the tables again.
    pub(super) async fn reset(&mut self, payload: Payload) -> Result<()> {
        let long = if payload.length > 0 {
            ", s longtext not null"
        } else {
            ""
        };
        for table in ["q4m_t", "q4m_t2"] {
            let create = match self.taking {
                Taking::SkipLocked => format!(
                    "CREATE TABLE {table} (id bigint auto_increment primary key, v int not null{long}) ENGINE=InnoDB"
                ),
                _ if table == "q4m_t2" => {
                    format!("CREATE TABLE {table} (v int not null) ENGINE=queue")
                }
                _ => format!("CREATE TABLE {table} (v int not null{long}) ENGINE=queue"),
            };
            self.sql
                .execute(&format!("DROP TABLE IF EXISTS {table}"))
                .await?;
            self.sql.execute(&create).await?;
        }
        if self.taking == Taking::Commit {
            self.sql.execute("DROP TABLE IF EXISTS q4m_r").await?;
            self.sql.execute("CREATE TABLE q4m_r (v bigint)").await?;
        }
        Ok(())
    }

    pub(super) async fn drop_tables(&mut self) -> Result<()> {
        for table in ["q4m_t", "q4m_t2", "q4m_r"] {
            self.sql
                .execute(&format!("DROP TABLE IF EXISTS {table}"))
                .await?;
        }
        Ok(())
    }

    pub(super) async fn count(&mut self) -> Result<u64> {
        let count = self.sql.number("SELECT COUNT(*) FROM q4m_t").await?;
        Ok(count.unsigned_abs())
    }

    /// Count of the rows that transactions stored.
    pub(super) async fn results(&mut self) -> Result<Option<u64>> {
        if self.taking != Taking::Commit {
            return Ok(None);
        }
        let count = self.sql.number("SELECT COUNT(*) FROM q4m_r").await?;
        Ok(Some(count.unsigned_abs()))
    }

    /// Puts rows in one statement.
    pub(super) async fn put(
        &mut self,
        values: impl Iterator<Item = i64>,
        payload: Payload,
    ) -> Result<()> {
        self.text.clear();
        let columns = if payload.length > 0 { "v,s" } else { "v" };
        self.text += &format!("INSERT INTO q4m_t ({columns}) VALUES ");
        for (index, value) in values.enumerate() {
            self.text.push_str(if index == 0 { "(" } else { ",(" });
            self.text += &value.to_string();
            if payload.length > 0 {
                self.text.push_str(",'");
                self.text.extend(std::iter::repeat_n('z', payload.length));
                self.text.push('\'');
            }
            self.text.push(')');
        }
        self.sql.execute(&self.text).await?;
        self.commit().await
    }

    /// Ends the row taken before and takes the next; waits for one if need be.
    pub(super) async fn next(&mut self) -> Result<i64> {
        match self.taking {
            Taking::SkipLocked => self.next_unlocked().await,
            _ => self.next_of("q4m_t").await,
        }
    }

    /// Whether the signal to start comes through a table.
    pub(super) fn waits_by_table(&self) -> bool {
        self.taking != Taking::SkipLocked
    }

    /// Waits for the signal to start, as Q4M's readers do.
    pub(super) async fn wait_for_start(&mut self) -> Result<()> {
        self.next_of("q4m_t2").await.map(drop)
    }

    /// Signals the start to `readers` readers.
    pub(super) async fn give_start(&mut self, readers: u32) -> Result<()> {
        let rows = vec!["(1)"; readers as usize].join(",");
        let insert = format!("INSERT INTO q4m_t2 (v) VALUES {rows}");
        self.sql.execute(&insert).await.map(drop)
    }

    /// Ends the row taken last.
    pub(super) async fn finish(&mut self) -> Result<()> {
        if self.taking == Taking::SkipLocked {
            return Ok(());
        }
        let end = self.with_result("SELECT queue_end()".to_owned());
        self.sql.execute(&end).await.map(drop)
    }

    /// A text that stores the row taken last and runs the statement, in one transaction.
    fn with_result(&mut self, statement: String) -> String {
        match self.held.take() {
            None => statement,
            Some(value) => {
                let id = value + 1; // an id is at least 1
                format!("BEGIN;INSERT INTO q4m_r (id, v) VALUES ({id}, {value});{statement};COMMIT")
            }
        }
    }

    /// Ends the rows taken before and takes 1 ..= `rows` rows. Gives their values.
    pub(super) async fn next_rows(&mut self, rows: u32, values: &mut Vec<i64>) -> Result<()> {
        let call = format!("CALL QUEUE_NEXT('q4m_t', 60, {rows})");
        let before = values.len();
        while values.len() == before {
            self.sql
                .run(&call, &mut |cells| values.push(first_number(cells)))
                .await?;
        }
        Ok(())
    }

    async fn next_of(&mut self, table: &str) -> Result<i64> {
        let taking = match self.taking {
            Taking::Call | Taking::Commit => format!("CALL QUEUE_NEXT('{table}')"),
            Taking::Statements | Taking::SkipLocked => format!("SELECT * FROM {table}"),
        };
        let taking = self.with_result(taking);
        let mut taken = None;
        while taken.is_none() {
            if self.taking == Taking::Statements {
                let wait = format!("SELECT queue_wait('{table}')");
                self.sql.execute(&wait).await?;
            }
            let mut visit = |cells: Cells<'_>| taken = Some(first_number(cells));
            self.sql.run(&taking, &mut visit).await?;
        }
        self.held = taken.filter(|_| self.taking == Taking::Commit && table == "q4m_t");
        Ok(taken.unwrap_or_default())
    }

    async fn next_unlocked(&mut self) -> Result<i64> {
        loop {
            let mut taken = None;
            let select = "SELECT id, v FROM q4m_t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
            let mut visit = |mut cells: Cells<'_>| {
                let mut cell = || number(cells.next().and_then(|cell| cell.ok().flatten()));
                taken = Some((cell(), cell()));
            };
            self.sql.run(select, &mut visit).await?;
            if let Some((id, value)) = taken {
                let delete = format!("DELETE FROM q4m_t WHERE id={id}");
                self.sql.execute(&delete).await?;
                self.commit().await?;
                return Ok(value);
            }
            self.commit().await?;
            tokio::time::sleep(POLLED_EVERY).await;
        }
    }

    async fn commit(&mut self) -> Result<()> {
        if self.taking == Taking::SkipLocked {
            self.sql.execute("COMMIT").await?;
        }
        Ok(())
    }
}
