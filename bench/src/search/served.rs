//! A table in a running server, over the MySQL protocol.

use std::fmt::Write;

use client::{Cells, Client};

use super::{
    answer_sum::{AnswerSum, RowSum},
    corpus::Corpus,
    definition::Test,
    drive::Caller,
    report::AUTO,
};
use crate::{
    Server,
    error::{Error, Result},
    percolate::count,
    workload::push_literal,
};

/// Approximate size of an INSERT, in bytes.
const INSERT_BYTES: usize = 1 << 20;

/// A table `bench_search_N` of a server. N is its count of shards, or `auto`.
pub(super) struct Served {
    server: Server,
    pub(super) table: String,
}

impl Served {
    /// Opens the table of this corpus. `knows_sentences`: it has the ends of sentences. It uses an existing table with the right count of records, and creates any other again.
    /// Then it has the server seal and merge all that it can.
    pub(super) fn open(
        server: &Server,
        corpus: &Corpus,
        shards: Option<u32>,
        knows_sentences: bool,
    ) -> Result<Served> {
        let mut table = match shards {
            Some(shards) => format!("bench_search_{shards}"),
            None => format!("bench_search_{AUTO}"),
        };
        let mut option = shards.map_or(String::new(), |shards| format!(" shards='{shards}'"));
        if knows_sentences {
            table.push_str("_sentences");
            option.push_str(" index_sp='1'");
        }
        let mut client = server.connect()?;
        let records = corpus.records() as u64;
        if count(&mut client, &format!("SELECT COUNT(*) FROM {table}")).ok() != Some(records) {
            client.query(&format!("DROP TABLE IF EXISTS {table}"))?;
            client.query(&format!("CREATE TABLE {table} (body text){option}"))?;
            insert(&mut client, &table, corpus)?;
            client.query(&format!("OPTIMIZE TABLE {table}"))?;
        }
        let stored = count(&mut client, &format!("SELECT COUNT(*) FROM {table}"))?;
        Error::unless_equal("records in the table", records, stored)?;
        Ok(Served {
            server: server.clone(),
            table,
        })
    }

    /// A caller that runs the queries of a test over a connection of its own.
    pub(super) fn caller(
        &self,
        test: &Test,
        texts: &[String],
        threads: Option<u32>,
    ) -> Result<Box<dyn Caller>> {
        let threads = threads.map_or(String::new(), |threads| format!(", threads={threads}"));
        let statement = |text: &String| {
            let mut statement = format!("SELECT id, weight() FROM {} WHERE MATCH(", self.table);
            push_literal(&mut statement, text);
            let (ranker, rows) = (&test.ranker, test.matching.rows());
            // Writing into a string cannot fail.
            let _ = write!(
                statement,
                ") LIMIT {rows} OPTION max_matches=1000, ranker={ranker}{threads}"
            );
            statement
        };
        Ok(Box::new(Connection {
            client: self.connect()?,
            statements: texts.iter().map(statement).collect(),
        }))
    }

    pub(super) fn connect(&self) -> Result<Client> {
        self.server.connect()
    }

    /// Deletes the rows from this id on, and checks that they are `rows` rows.
    pub(super) fn remove_from(&self, id: u64, rows: u64) -> Result<()> {
        let mut client = self.connect()?;
        let counted = count(
            &mut client,
            &format!("SELECT COUNT(*) FROM {} WHERE id >= {id}", self.table),
        )?;
        Error::unless_equal("rows stored of those acknowledged", rows, counted)?;
        client.query(&format!("DELETE FROM {} WHERE id >= {id}", self.table))?;
        Ok(())
    }

    /// Drops the table.
    pub(super) fn drop(self) -> Result<()> {
        self.server
            .connect()?
            .query(&format!("DROP TABLE {}", self.table))?;
        Ok(())
    }
}

fn insert(client: &mut Client, table: &str, corpus: &Corpus) -> Result<()> {
    let begin = format!("INSERT INTO {table} (id, body) VALUES ");
    let mut statement = begin.clone();
    for (id, text) in corpus.iter() {
        let comma = if statement.len() > begin.len() {
            ","
        } else {
            ""
        };
        // Writing into a string cannot fail.
        let _ = write!(statement, "{comma}({id},");
        push_literal(&mut statement, text);
        statement.push(')');
        if statement.len() >= INSERT_BYTES {
            client.query(&statement)?;
            statement.truncate(begin.len());
        }
    }
    if statement.len() > begin.len() {
        client.query(&statement)?;
    }
    Ok(())
}

struct Connection {
    client: Client,
    statements: Vec<String>,
}

impl Caller for Connection {
    fn ask(&mut self, number: usize) -> Result<AnswerSum> {
        let mut sum = RowSum::new();
        let mut strange = false;
        self.client.query_rows(
            &self.statements[number],
            &mut |cells| match numbers(cells) {
                Some((id, weight)) => sum.add(id, weight),
                None => strange = true,
            },
        )?;
        if strange {
            return Err(Error::Query("an id and a weight were awaited".to_owned()));
        }
        Ok(AnswerSum {
            total: None,
            rows: Some(sum.value()),
        })
    }

    fn ask_all(&mut self, number: usize) -> Result<AnswerSum> {
        let found = self.ask(number)?;
        let meta = self.client.query("SHOW META")?;
        let cell = |row: &[Option<Vec<u8>>], column: usize| {
            let bytes = row.get(column)?.as_deref()?;
            std::str::from_utf8(bytes).ok().map(str::to_owned)
        };
        let named = |row: &&Vec<_>| cell(row, 0).as_deref() == Some("total_found");
        let total = meta
            .rows
            .iter()
            .find(named)
            .and_then(|row| cell(row, 1)?.parse().ok());
        Ok(AnswerSum { total, ..found })
    }
}

fn numbers(cells: &Cells<'_>) -> Option<(u64, i64)> {
    let [Some(id), Some(weight)] = cells else {
        return None;
    };
    let id = std::str::from_utf8(id).ok()?.parse().ok()?;
    Some((id, std::str::from_utf8(weight).ok()?.parse().ok()?))
}
