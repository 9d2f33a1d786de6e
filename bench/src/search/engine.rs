//! Engines that answer queries: a table of Seine in this process or in a server, or a peer.

use std::{cell::RefCell, sync::atomic::AtomicUsize};

use super::{
    answer_sum::AnswerSum,
    definition::Test,
    drive::{Caller, drive, first_pass},
    program::Program,
    report::{AUTO, Row, Taken},
    served::Served,
    sphinx::Sphinx,
    within::Within,
};
use crate::{error::Result, runs::Effort};

/// An engine that answers queries.
pub(super) enum Engine {
    Within(Within),
    Served(Served),
    Program(RefCell<Program>),
    Sphinx(Sphinx),
}

/// An engine at one setting.
pub(super) struct Entry<'a> {
    pub(super) engine: &'a Engine,
    pub(super) name: String,
    /// Count of shards as text; empty for a peer.
    pub(super) shards: String,
    /// Most threads of a query; `None`: the engine chooses.
    pub(super) threads: Option<u32>,
}

/// A test with its queries, as words and as texts of our query language.
pub(super) struct TestQueries<'a> {
    pub(super) test: &'a Test,
    pub(super) words: &'a [Vec<String>],
    pub(super) texts: Vec<String>,
    /// The queries are the user's, whose right answers no definition has.
    pub(super) are_own: bool,
}

/// The answers of an engine's first pass, and the index of its next query.
pub(super) struct Standing {
    pub(super) first: Vec<AnswerSum>,
    next: AtomicUsize,
}

impl Engine {
    /// Whether it is a setting of Seine: ids and weights must then equal those of the first such setting.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Engine::Within(_) | Engine::Served(_))
    }
}

impl Entry<'_> {
    fn caller(&self, asked: &TestQueries<'_>) -> Result<Option<Box<dyn Caller + '_>>> {
        Ok(match self.engine {
            Engine::Within(within) => Some(within.caller(asked.test, &asked.texts, self.threads)),
            Engine::Served(served) => {
                Some(served.caller(asked.test, &asked.texts, self.threads)?)
            }
            Engine::Sphinx(sphinx) => Some(sphinx.caller(asked.test, asked.words)?),
            Engine::Program(_) => None,
        })
    }

    /// Makes the first pass: runs every query once.
    pub(super) fn begin(&self, asked: &TestQueries<'_>) -> Result<Standing> {
        let first = match (self.engine, self.caller(asked)?) {
            (Engine::Program(program), _) => program.borrow_mut().totals(asked.test.matching)?,
            (_, Some(mut caller)) => first_pass(&mut *caller, asked.words.len())?,
            (_, None) => Vec::new(),
        };
        Ok(Standing {
            first,
            next: AtomicUsize::new(0),
        })
    }

    /// Makes a run.
    pub(super) fn measure(
        &self,
        asked: &TestQueries<'_>,
        standing: &Standing,
        clients: u32,
        effort: Effort,
        tick: &mut dyn FnMut(),
    ) -> Result<Taken> {
        if let Engine::Program(program) = self.engine {
            return program
                .borrow_mut()
                .measure(asked.test.matching, clients, effort);
        }
        let mut callers = Vec::new();
        for _ in 0..clients {
            callers.extend(self.caller(asked)?);
        }
        drive(callers, &standing.first, &standing.next, effort, tick)
    }

    /// A row of the report, without runs yet.
    pub(super) fn row(&self, test: &Test, clients: u32) -> Row {
        let threads = self
            .threads
            .map_or(AUTO.to_owned(), |threads| threads.to_string());
        Row {
            test: test.name.clone(),
            engine: self.name.clone(),
            threads: if self.shards.is_empty() {
                String::new()
            } else {
                threads
            },
            shards: self.shards.clone(),
            clients,
            runs: Vec::new(),
        }
    }
}
