//! UPDATE, and what it shares with EXPLAIN.

use std::sync::Arc;

use engine::{Command, Control, Kind, Reply, Snapshot, Write};
use relation::options::Options;
use relation::request::Update;

use super::{Execution, Outcome, unexpected};
use crate::errors::{self, Failure};
use crate::node::guarded;
use crate::rights::{Action, Deed};
use crate::scheduler;

impl Execution<'_> {
    pub(super) async fn update(&mut self, update: Box<Update>) -> Result<Outcome, Failure> {
        self.updatable(&update.table)?;
        self.write_within(Command::Write(Write::Update(update)))
            .await
    }

    /// A DELETE or UPDATE, or a COMMIT, which decides those of its transaction. KILL, the server's `max_query_time` and the end of its
    /// client end it before it is decided.
    pub(super) async fn by_condition(&mut self, command: Command) -> Result<Reply, Failure> {
        let table = command.reads_rows_of().unwrap_or_default().to_owned();
        let search = self.begin_search(&table, &Options::default());
        let interrupt = Arc::clone(&search.interrupt);
        let outcome = self.node.submit_planned(self.session, command, interrupt);
        Ok(outcome.await??)
    }

    /// The present snapshot, of which a table may be updated.
    ///
    /// # Errors
    /// `NOT_PERMITTED`; `NO_SUCH_TABLE`; `NOT_THIS_KIND`: it is a queue.
    pub(super) fn updatable(&self, table: &str) -> Result<Arc<Snapshot>, Failure> {
        let writes = Action(Deed::Write, Some(table));
        let snapshot = self.node.snapshot(self.session, writes)?;
        if matches!(snapshot.definition(table)?.kind, Kind::Queue(_)) {
            let message = format!(
                "'{table}' is a queue: its rows are inserted, taken and deleted, not updated"
            );
            return Err(Failure::new(errors::NOT_THIS_KIND, message));
        }
        Ok(snapshot)
    }

    /// Refuses an UPDATE that would be refused, and changes nothing. Takes long: the caller has a turn.
    pub(super) fn check_update(&mut self, update: &Update) -> Result<(), Failure> {
        self.updatable(&update.table)?;
        self.over_rows(update, Snapshot::check_update)
    }

    /// Reads the rows of an UPDATE over the present snapshot. KILL ends it. Takes long: the caller has a turn.
    fn over_rows(
        &mut self,
        update: &Update,
        read: impl FnOnce(&Snapshot, &Update, &Control) -> Result<(), engine::Error>,
    ) -> Result<(), Failure> {
        let writes = Action(Deed::Write, Some(&update.table));
        let snapshot = self.node.snapshot(self.session, writes)?;
        let held = Arc::new(self.node.budget.grant());
        let search = self.node.searches.begin(self.search_request(&update.table));
        let control = Control {
            interrupt: Arc::clone(&search.interrupt),
            pool: self.node.searches.pool.clone(),
            memory: self.memory(&held),
            filters: Some(Arc::clone(&self.node.searches.filters)),
            ..Control::default()
        };
        scheduler::heeds(&control.interrupt);
        guarded(self.node, || Ok(read(&snapshot, update, &control)?))
    }

    /// The outcome of a write's reply.
    pub(super) fn written(&mut self, reply: Reply) -> Result<Outcome, Failure> {
        match reply {
            Reply::Done {
                affected,
                last_id,
                mut ids,
                warnings,
            } => {
                if ids.is_empty() && last_id != 0 {
                    ids.push(last_id);
                }
                self.session.wrote(affected, ids, warnings);
                Ok(Outcome::Done { affected, last_id })
            }
            _ => Err(unexpected()),
        }
    }
}
