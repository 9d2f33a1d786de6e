//! The way of messages into the journal, the same for every door that collects.

use std::sync::Arc;

use collect::{Decision, Incoming};
use engine::Command;
use session::Session;
use session::errors::{Failure, INVALID, Kind, NO_DEFAULT, NO_SUCH_TABLE, SICK, UNKNOWN_COLUMN};

use super::Scribe;
use super::connection::INLINE_BYTES;
use crate::server::Server;

/// Memory of each category of a call, and of a message beside its bytes.
const CATEGORY_BYTES: usize = 128;
const MESSAGE_BYTES: usize = 12;

/// Where messages come from.
pub(crate) struct Sender<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) session: &'a Session,
    /// Memory that the request holds already, in bytes.
    pub(crate) held_bytes: usize,
    /// Number of the messages, and bytes of their categories and bodies.
    pub(crate) count: usize,
    pub(crate) text_bytes: usize,
}

/// What became of some messages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Intake {
    /// The journal has those that have a store, as durable as their categories ask for. The others are counted.
    Taken,
    /// None is taken: overload, a full disk, a start or a stop. The same messages may pass later.
    Later,
    /// None is taken, and they never can be, for this reason.
    Never(String),
}

impl Scribe {
    /// Takes messages into the journal, all of them or none.
    pub(crate) async fn take<'m>(
        &self,
        sender: &Sender<'_>,
        messages: impl Iterator<Item = Incoming<'m>> + Clone + Send,
    ) -> Intake {
        let server = sender.server;
        let Some(collector) = self.collector.get() else {
            return Intake::Later;
        };
        let bytes = sender.text_bytes
            + collector.row_bytes(messages.clone())
            + sender.count * MESSAGE_BYTES
            + sender.count.min(collect::CATEGORIES_OF_CALL_MAX) * CATEGORY_BYTES;
        if sender.held_bytes + bytes > server.budget.total_bytes() {
            return Intake::Never(
                "the call takes more memory than requests may: send less, or raise memory"
                    .to_owned(),
            );
        }
        let memory = server.budget.grant();
        if memory.cover(bytes).is_err() {
            return Intake::Later;
        }
        let now = super::now(server);
        if bytes > INLINE_BYTES {
            server.long(sender.session).await;
        }
        let (command, received) = match collector.decide(messages.clone(), now) {
            Decision::TryLater => return Intake::Later,
            Decision::Never(why) => return Intake::Never(why),
            Decision::Nothing => return Intake::Taken,
            Decision::Store {
                messages,
                feeds,
                sync,
                received,
            } => {
                let collect = Command::Collect {
                    messages,
                    sync,
                    feeds,
                };
                (collect, received)
            }
        };
        match server.submit(sender.session, command).await {
            Ok(_) => {
                collector.took(&received);
                let has_store = |category: &[u8]| collector.takes(category) == Ok(true);
                if bytes > INLINE_BYTES {
                    server.long(sender.session).await;
                }
                self.followers.offer(messages, has_store);
                Intake::Taken
            }
            Err(failure) if may_pass(&failure) => Intake::Later,
            Err(failure) => Intake::Never(failure.to_string()),
        }
    }
}

/// Whether the same messages may be taken later: the server is overloaded, full, starts or stops, a table has changed since the
/// rows were made, or a file is damaged, which a person mends.
fn may_pass(failure: &Failure) -> bool {
    const MENDED: [Kind; 5] = [NO_SUCH_TABLE, UNKNOWN_COLUMN, NO_DEFAULT, INVALID, SICK];
    matches!(failure.kind.status, 429 | 503 | 507) || MENDED.contains(&failure.kind)
}
