//! `Log`: messages on their way to the journal.

use collect::Decision;
use engine::Command;
use wire::scribe::{Entries, ExceptionKind, ResultCode};

use super::Scribe;
use super::answer::{Answer, Caller};
use super::connection::INLINE_BYTES;

/// Memory of each category of a call, and of a message beside its bytes.
const CATEGORY_BYTES: usize = 128;
const MESSAGE_BYTES: usize = 12;

impl Scribe {
    /// Takes messages into the journal. OK comes after the sync that their categories ask for.
    pub(super) async fn log(&self, caller: &Caller<'_>, entries: &Entries<'_>) -> Answer {
        const LATER: Answer = Answer::Log(ResultCode::TryLater);
        let server = caller.server;
        let Some(collector) = self.collector.get() else {
            return LATER;
        };
        let bytes = entries.text_bytes()
            + entries.len() * MESSAGE_BYTES
            + entries.len().min(collect::CATEGORIES_OF_CALL_MAX) * CATEGORY_BYTES;
        if caller.held_bytes + bytes > server.budget.total_bytes() {
            return refused(
                "the call takes more memory than requests may: send less, or raise memory",
            );
        }
        let memory = server.budget.grant();
        if memory.cover(bytes).is_err() {
            return LATER;
        }
        let now = super::now(server);
        let decide = || collector.decide(entries.iter(), now);
        let decision = match bytes > INLINE_BYTES {
            true => tokio::task::block_in_place(decide),
            false => decide(),
        };
        let (messages, sync, received) = match decision {
            Decision::TryLater => return LATER,
            Decision::Never(why) => return refused(why),
            Decision::Nothing => return Answer::Log(ResultCode::Ok),
            Decision::Store {
                messages,
                sync,
                received,
            } => (messages, sync, received),
        };
        match server
            .submit(caller.session, Command::Collect { messages, sync })
            .await
        {
            Ok(_) => {
                collector.took(&received);
                Answer::Log(ResultCode::Ok)
            }
            // Overload, a full disk, a start or a stop: these pass.
            Err(failure) if failure.kind.status == 503 || failure.kind.status == 507 => LATER,
            Err(failure) => refused(&failure.to_string()),
        }
    }
}

/// The answer to a call that can never be taken: with TRY_LATER its client would send it for ever.
fn refused(why: &str) -> Answer {
    Answer::Refused(ExceptionKind::InternalError, why.to_owned())
}
