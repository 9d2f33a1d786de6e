//! UPDATE: which thread works out its rows.
//!
//! A condition that names ids is decided by the engine's thread at once. Any other one is worked out here, over a snapshot, while
//! writers go on; the engine then only takes the result in. If many of its rows were changed meanwhile, it is worked out again.

use std::sync::Arc;

use engine::{Command, Control, Kind, PlannedUpdate, Reply, Snapshot};
use query::bind::Ids;
use query::request::Update;

use super::{Execution, Outcome, unexpected};
use crate::errors::{self, Failure};
use crate::node::guarded;
use crate::rights::{Action, Deed};
use crate::scheduler;

/// How often an UPDATE is worked out here. After that the engine's thread does it, and other writes wait.
const PLANS_MAX: u32 = 4;

/// Ids in a condition that the engine's thread looks up.
const IDS_MAX: usize = 1_000;

impl Execution<'_> {
    pub(super) async fn update(&mut self, update: Box<Update>) -> Result<Outcome, Failure> {
        self.updatable(&update.table)?;
        if self.session.is_in_transaction() {
            let planned = None;
            return self.write_within(Command::Update { update, planned }).await;
        }
        let ids = update.filter.as_ref().and_then(Ids::of);
        let is_small = ids.is_some_and(|ids| ids.ids.len() <= IDS_MAX);
        if !is_small || update.matching.is_some() {
            for _ in 0..PLANS_MAX {
                let Some(plan) = self.plan(&update).await? else {
                    break;
                };
                let planned = Command::Update {
                    update: update.clone(),
                    planned: Some(plan),
                };
                match self.submit(planned).await? {
                    Reply::Moved => {}
                    reply => return self.written(reply),
                }
            }
        }
        let planned = None;
        self.write(Command::Update { update, planned }).await
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

    /// Works out the rows and their values over the present snapshot. `None`: the engine does.
    async fn plan(&mut self, update: &Update) -> Result<Option<PlannedUpdate>, Failure> {
        self.node.long(self.session).await;
        self.over_rows(update, Snapshot::plan_update)
    }

    /// Refuses an UPDATE that would be refused, and changes nothing. Takes long: the caller has a turn.
    pub(super) fn check_update(&mut self, update: &Update) -> Result<(), Failure> {
        self.updatable(&update.table)?;
        self.over_rows(update, Snapshot::check_update)
    }

    /// Reads the rows of an UPDATE over the present snapshot. KILL ends it. Takes long: the caller has a turn.
    fn over_rows<T>(
        &mut self,
        update: &Update,
        read: impl FnOnce(&Snapshot, &Update, &Control) -> Result<T, engine::Error>,
    ) -> Result<T, Failure> {
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
