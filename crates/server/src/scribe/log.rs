//! `Log`: the messages of one call, and the answer to it.

use collect::Incoming;
use wire::scribe::{Entries, ExceptionKind, ResultCode};

use super::Scribe;
use super::answer::{Answer, Caller};
use super::intake::{Intake, Sender};

impl Scribe {
    /// Takes messages into the journal. OK comes after the sync that their categories ask for.
    pub(super) async fn log(&self, caller: &Caller<'_>, entries: &Entries<'_>) -> Answer {
        let sender = Sender {
            server: caller.server,
            session: caller.session,
            held_bytes: caller.held_bytes,
            count: entries.len(),
            text_bytes: entries.text_bytes(),
        };
        let host = caller.address.map(|address| address.to_string());
        let host = host.as_deref().unwrap_or("localhost");
        let unix_s = caller.server.clock.unix_us().div_euclid(1_000_000);
        let incoming = |(category, body)| Incoming {
            category,
            body,
            host,
            unix_s,
            is_line: entries.are_lines(),
        };
        match self.take(&sender, entries.iter().map(incoming)).await {
            Intake::Taken => Answer::Log(ResultCode::Ok),
            Intake::Later => Answer::Log(ResultCode::TryLater),
            // With TRY_LATER its client would send it for ever.
            Intake::Never(why) => Answer::Refused(ExceptionKind::InternalError, why),
        }
    }
}
