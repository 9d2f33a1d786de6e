//! One connection after its login: reads a command, answers it, reads the next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use engine::SessionId;
use session::Grant;
use session::counters::add;
use session::errors::{self, Failure};
use session::guarded;
use session::places::Peer;
use session::searches::Search;
use session::statement::{self, FoundRows, Outcome, Parsed, PqRows, SENT_TOGETHER_MAX};
use session::{Action, Deed, Session, check_name};
use wire::mysql::load::Load;
use wire::mysql::{
    Capabilities, ChangeUser, ColumnDefinition, Command, DecodeError, Done, Encoder, Packet,
    STATUS_MORE_RESULTS,
};

use super::handshake::{Guest, Login};
use super::results::{self, Sending};
use super::socket::{Ended, PassedOver, Socket};
use crate::limits::{IN_A_ROW_MAX, STATEMENTS_MAX};
use crate::server::{Admitted, Server};

/// A connection that has logged in.
pub(super) struct Connection<'a> {
    server: Arc<Server>,
    socket: Socket,
    encoder: Encoder,
    session: Session,
    guest: Guest,
    peer: &'a Peer,
    /// Whether a text may hold several statements. As in MySQL the client must ask for it: drivers rely on that against
    /// injected statements.
    takes_several: bool,
    /// The command, or end, that was read while the rows of a load were stored.
    ahead: Option<Result<(u8, Request), Ended>>,
}

/// End of a statement of a text.
#[derive(PartialEq, Eq)]
enum StatementEnd {
    /// It succeeded: the next statement of the text follows.
    Go,
    /// It failed. Its error is encoded, and the rest of the text is skipped.
    Fail,
    /// The client is gone, or KILL named the connection.
    End,
}

/// A command that borrows nothing from the socket's buffer.
enum Request {
    Quit,
    InitDb(String),
    /// SQL text, which is still in the socket's buffer.
    Query,
    FieldList {
        table: String,
        wildcard: String,
    },
    Statistics,
    Ping,
    /// A step of a load, with the memory of its rows.
    Load(Load, Grant),
    /// One that was passed over, or a step of a load for which there is no memory.
    Refused(Failure),
    /// Whether a text may hold several statements from now on.
    TakeSeveral(bool),
    ChangeUser(ChangeUser),
    Reset,
    Unanswered,
    Unknown(u8),
    Malformed(DecodeError),
}

impl<'a> Connection<'a> {
    /// The connection of a client that has logged in.
    pub(super) fn new(
        server: Arc<Server>,
        socket: Socket,
        admitted: &'a Admitted,
        guest: Guest,
    ) -> Connection<'a> {
        let peer = &*admitted.peer;
        let session = Session::new(
            SessionId(peer.id),
            guest.user.clone(),
            peer.host.clone(),
            guest.database.clone(),
        )
        .at(peer);
        Connection {
            server,
            socket,
            takes_several: guest.capabilities.has(Capabilities::MULTI_STATEMENTS),
            ahead: None,
            encoder: Encoder::new(guest.capabilities),
            session,
            guest,
            peer,
        }
    }

    /// Answers commands until the client goes, is killed, or the server stops.
    pub(super) async fn run(mut self) -> Result<(), Ended> {
        let mut stopping = self.server.stopping();
        loop {
            let idle = self.server.settings().live.idle_timeout;
            let (ahead, take) = (self.ahead.take(), self.reading());
            let (socket, session) = (&mut self.socket, self.session.id);
            let next = async {
                match ahead {
                    Some(taken) => taken,
                    None => socket.packet(idle, Some(session), take).await,
                }
            };
            let taken = tokio::select! {
                biased;
                () = self.peer.killed.notified() => return Ok(()),
                _ = stopping.wait_for(|stop| *stop) => return Ok(()),
                taken = next => taken,
            };
            let (sequence, request) = match taken {
                Ok(taken) => taken,
                Err(ended) => return self.part(ended).await,
            };
            self.encoder.start(sequence.wrapping_add(1));
            match self.socket.arrived_whole() {
                Ok(()) if !self.answer(request).await? => return Ok(()),
                Ok(()) => {}
                Err(failure) => results::error(&mut self.encoder, &failure),
            }
            self.flush().await?;
            self.socket.release().await;
        }
    }

    /// The function that turns a packet into its sequence number and its command.
    fn reading(&self) -> impl FnOnce(Result<Packet<'_>, PassedOver>) -> (u8, Request) + use<> {
        let (capabilities, held) = (self.guest.capabilities, self.server.budget.grant());
        move |packet| match packet {
            Ok(packet) => {
                let request = Request::read(packet.payload, capabilities, held);
                (packet.sequence, request)
            }
            Err(PassedOver { failure, sequence }) => (sequence, Request::Refused(failure)),
        }
    }

    /// Ends a connection from which no packet can be read. Tells the client why, unless it is gone or silent.
    async fn part(mut self, ended: Ended) -> Result<(), Ended> {
        let (sequence, failure) = match &ended {
            Ended::Broken(error) => (error.sequence(), results::broken(*error)),
            Ended::Gone(_) | Ended::Silent => return Err(ended),
        };
        self.encoder.start(sequence.wrapping_add(1));
        results::error(&mut self.encoder, &failure);
        self.flush().await?;
        self.socket.drain().await;
        Err(ended)
    }

    /// Sends the encoded bytes.
    async fn flush(&mut self) -> Result<(), Ended> {
        let sent = self.socket.send(&mut self.encoder).await;
        sent.map_err(Ended::Gone)
    }

    /// Answers one command; false ends the connection.
    async fn answer(&mut self, request: Request) -> Result<bool, Ended> {
        match request {
            Request::Quit => return Ok(false),
            Request::Ping => self.encoder.ok(&Done::default()),
            Request::Load(load, _held) => self.load(load).await,
            Request::Refused(failure) => results::error(&mut self.encoder, &failure),
            Request::TakeSeveral(several) => {
                self.takes_several = several;
                self.encoder.end_rows(0, 0);
            }
            Request::InitDb(database) => match self.session.use_database(database) {
                Ok(()) => self.encoder.ok(&Done::default()),
                Err(failure) => results::error(&mut self.encoder, &failure),
            },
            Request::Query => return self.query().await,
            Request::FieldList { table, wildcard } => self.field_list(&table, &wildcard),
            Request::Statistics => {
                let open = self.server.places.count();
                let uptime = self.server.clock.steady_us() / 1_000_000;
                self.encoder
                    .text(&format!("Uptime: {uptime}  Threads: {open}"));
            }
            Request::Reset => {
                self.server.close_session(&self.session);
                self.session.reset();
                self.encoder.session_status(self.session.status());
                self.encoder.ok(&Done::default());
            }
            Request::ChangeUser(change) => return self.change_user(change).await,
            Request::Unanswered => {}
            Request::Unknown(number) => results::error(&mut self.encoder, &not_offered(number)),
            Request::Malformed(error) => {
                let failure = Failure::new(errors::MALFORMED_PACKET, error.to_string());
                results::error(&mut self.encoder, &failure);
            }
        }
        Ok(true)
    }

    /// Does the statements of a text in turn. Parses a statement only once the one before is done, but for those that go to the engine
    /// with it. A failure ends the text.
    async fn query(&mut self) -> Result<bool, Ended> {
        let text = self.socket.payload().get(1..).unwrap_or_default();
        let Some((statement, behind)) = statement::next(&self.server, &self.session, text).await
        else {
            let failure = Failure::new(errors::EMPTY_STATEMENT, "query was empty");
            results::error(&mut self.encoder, &failure);
            return Ok(true);
        };
        let is_more = !wire::sql::is_blank(behind);
        if is_more && !self.takes_several {
            let message = "several statements in one text: the client did not ask for that \
                           (CLIENT_MULTI_STATEMENTS)";
            results::error(&mut self.encoder, &Failure::new(errors::SYNTAX, message));
            return Ok(true);
        }
        if !is_more {
            self.socket.release().await;
            return Ok(self.statement(statement, 0).await? != StatementEnd::End);
        }
        let held = self.server.budget.grant();
        if let Err(failure) = held.reserve(behind.len()).await {
            results::error(&mut self.encoder, &failure);
            return Ok(true);
        }
        let text = behind.to_vec();
        self.socket.release().await;
        Box::pin(self.several(statement, &text)).await
    }

    /// Does several statements in turn: `first`, and those of the text behind it.
    async fn several(&mut self, first: Parsed, behind: &[u8]) -> Result<bool, Ended> {
        let mut rest = behind;
        let mut ready = VecDeque::from([first]);
        let mut since = Instant::now();
        for count in 1.. {
            if count == 1 || ready.is_empty() {
                match self.together(&mut ready, rest).await {
                    Some(Ok(behind)) => rest = behind,
                    Some(Err(failure)) => {
                        results::error(&mut self.encoder, &failure);
                        break;
                    }
                    None => return Ok(false),
                }
            }
            let Some(statement) = ready.pop_front() else {
                break;
            };
            let is_more = !ready.is_empty() || !wire::sql::is_blank(rest);
            let more = if is_more { STATUS_MORE_RESULTS } else { 0 };
            match self.statement(statement, more).await? {
                StatementEnd::End => return Ok(false),
                StatementEnd::Fail => break,
                StatementEnd::Go => {}
            }
            if self.encoder.is_full() {
                self.flush().await?;
            }
            if since.elapsed() >= IN_A_ROW_MAX {
                tokio::task::yield_now().await;
                since = Instant::now();
            }
            if is_more && count == STATEMENTS_MAX {
                let message = format!("more than {STATEMENTS_MAX} statements in one text");
                results::error(&mut self.encoder, &Failure::new(errors::LIMIT, message));
                break;
            }
        }
        Ok(true)
    }

    /// Parses the next statement of a text, unless it is there already; inside a transaction also those that can go to the engine
    /// with it, and sends these. Gives the text behind. `None`: the client vanished, or KILL named the connection.
    async fn together<'t>(
        &mut self,
        ready: &mut VecDeque<Parsed>,
        mut rest: &'t [u8],
    ) -> Option<Result<&'t [u8], Failure>> {
        let in_transaction = self.session.is_in_transaction();
        let mut members = 0;
        loop {
            if ready.len() == members {
                let Some((parsed, behind)) =
                    statement::next(&self.server, &self.session, rest).await
                else {
                    break;
                };
                ready.push_back(parsed);
                rest = behind;
            }
            let last = ready.back();
            if !in_transaction || !last.is_some_and(Parsed::goes_together) {
                break;
            }
            members += 1;
            if members == SENT_TOGETHER_MAX || last.is_some_and(Parsed::is_commit) {
                break;
            }
        }
        if members < 2 {
            return Some(Ok(rest));
        }
        let members = &mut ready.make_contiguous()[..members];
        let sent = statement::send_together(&self.server, &mut self.session, members);
        let mut stopping = self.server.stopping();
        tokio::select! {
            sent = sent => Some(sent.map(|()| rest)),
            () = self.socket.vanished() => None,
            () = self.peer.killed.notified() => None,
            _ = stopping.wait_for(|stop| *stop) => {
                Some(Err(Failure::new(errors::INTERRUPTED, "the server stops")))
            }
        }
    }

    /// Does one statement and encodes its result. `more` is [`STATUS_MORE_RESULTS`] if another statement follows.
    async fn statement(&mut self, statement: Parsed, more: u16) -> Result<StatementEnd, Ended> {
        let Some(outcome) = self.execute(statement).await else {
            return Ok(StatementEnd::End);
        };
        self.encoder.session_status(self.session.status());
        let written = match outcome {
            Ok(outcome) => self.write(outcome, more).await?,
            Err(failure) => Err(failure),
        };
        Ok(match written {
            Ok(()) => StatementEnd::Go,
            Err(failure) => {
                self.session.unsent(&failure);
                results::error(&mut self.encoder, &failure);
                StatementEnd::Fail
            }
        })
    }

    /// Does a statement. `None`: while it waited for a queue's row, the client vanished or KILL named the connection.
    async fn execute(&mut self, parsed: Parsed) -> Option<Result<Outcome, Failure>> {
        let waits = parsed.waits();
        let done = statement::execute(&self.server, &mut self.session, parsed);
        if !waits {
            return Some(done.await);
        }
        let mut stopping = self.server.stopping();
        tokio::select! {
            outcome = done => Some(outcome),
            () = self.socket.vanished() => None,
            () = self.peer.killed.notified() => None,
            _ = stopping.wait_for(|stop| *stop) => {
                Some(Err(Failure::new(errors::INTERRUPTED, "the server stops")))
            }
        }
    }

    /// Encodes an outcome, and sends what does not fit the encoder. The inner error is the statement's: the client is told.
    /// The outer error is the connection's.
    async fn write(&mut self, outcome: Outcome, status: u16) -> Result<Result<(), Failure>, Ended> {
        match outcome {
            Outcome::Done { affected, last_id } => {
                let warnings = self.session.warning_count();
                self.encoder.ok(&Done {
                    affected,
                    last_id,
                    status,
                    warnings,
                    info: String::new(),
                });
                Ok(Ok(()))
            }
            Outcome::Rows(found) => self.write_rows(*found, status).await,
            Outcome::Several(sets) => self.write_several(sets, status).await,
            Outcome::Pq(rows) => self.write_pq(&rows, status).await,
        }
    }

    /// Sends result sets one behind the other.
    async fn write_several(
        &mut self,
        sets: Vec<FoundRows>,
        status: u16,
    ) -> Result<Result<(), Failure>, Ended> {
        let asked = self.guest.capabilities;
        let takes = asked.has(Capabilities::MULTI_RESULTS) || self.takes_several;
        if !takes {
            let message = "several result sets: the client did not ask for them \
                           (CLIENT_MULTI_RESULTS)";
            return Ok(Err(Failure::new(errors::INVALID, message)));
        }
        let mut left = sets.len();
        for found in sets {
            left -= 1;
            let more = if left > 0 {
                STATUS_MORE_RESULTS
            } else {
                status
            };
            if let Err(failure) = self.write_rows(found, more).await? {
                return Ok(Err(failure));
            }
            if self.encoder.is_full() {
                self.flush().await?;
            }
        }
        Ok(Ok(()))
    }

    /// Sends rows as they are read: whenever 64 KiB are encoded, no further row is read until the client has taken them.
    async fn write_rows(
        &mut self,
        found: FoundRows,
        status: u16,
    ) -> Result<Result<(), Failure>, Ended> {
        let mut reads_long = found.reads_long();
        let FoundRows {
            answer,
            table,
            counted,
            search,
            held: _held,
            is_costly: _,
            members: _,
        } = found;
        let reads = !answer.rows.is_ready();
        if reads_long {
            self.server.long(&self.session).await;
        }
        let encoder = &mut self.encoder;
        let begun = guarded(&self.server, || Sending::begin(answer, &table, encoder));
        let mut sending = match begun {
            Ok(sending) => sending,
            Err(failure) => return Ok(Err(failure)),
        };
        loop {
            match (reads_long, &search) {
                (false, _) => {}
                (true, None) => self.server.long(&self.session).await,
                (true, Some(search)) => {
                    let interrupt = &search.interrupt;
                    self.server.long_within(&self.session, interrupt).await;
                }
            }
            let encoder = &mut self.encoder;
            let fill = || {
                search.as_ref().map_or(Ok(()), Search::check)?;
                sending.fill(encoder)
            };
            match guarded(&self.server, fill) {
                Err(failure) => return Ok(Err(failure)),
                Ok(true) => self.flush().await?,
                Ok(false) => break,
            }
            // The first 64 KiB of columns are encoded here: that costs less than a turn.
            reads_long = reads;
        }
        add(&self.server.counters.rows_sent, sending.count);
        let damaged = sending.damaged();
        self.session.lacks(&damaged);
        for warning in self.server.note_damaged(&damaged) {
            self.session.warn(warning);
        }
        if counted {
            self.session
                .sent(self.server.clock.steady_us(), sending.count);
        }
        self.encoder.end_rows(status, self.session.warning_count());
        Ok(Ok(()))
    }

    async fn write_pq(&mut self, rows: &PqRows, status: u16) -> Result<Result<(), Failure>, Ended> {
        self.encoder.columns(&results::pq_columns(rows));
        let mut count = 0;
        if rows.options.count {
            results::pq_count(rows, &mut self.encoder);
            count = 1;
        }
        for row in rows.rows() {
            results::pq_row(rows, &row, &mut self.encoder);
            count += 1;
            if self.encoder.is_full() {
                self.flush().await?;
                // A row may have a whole document, with its marks.
                self.server.long(&self.session).await;
            }
        }
        add(&self.server.counters.rows_sent, count);
        self.encoder.end_rows(status, self.session.warning_count());
        Ok(Ok(()))
    }

    /// Does a step of a load. Reads the next command while the engine stores the rows, so that the engine never waits for it.
    async fn load(&mut self, load: Load) {
        let idle = self.server.settings().live.idle_timeout;
        let take = self.reading();
        let outcome = {
            let mut done = std::pin::pin!(statement::load(&self.server, &mut self.session, load));
            tokio::select! {
                biased;
                outcome = done.as_mut() => outcome,
                taken = self.socket.packet(idle, None, take) => {
                    self.ahead = Some(taken);
                    done.await
                }
            }
        };
        self.encoder.session_status(self.session.status());
        match outcome {
            Ok((affected, last_id)) => self.encoder.ok(&Done {
                affected,
                last_id,
                warnings: self.session.warning_count(),
                ..Done::default()
            }),
            Err(failure) => results::error(&mut self.encoder, &failure),
        }
    }

    fn field_list(&mut self, table: &str, wildcard: &str) {
        let reads = Action(Deed::Read, Some(table));
        let snapshot = self.server.snapshot(&self.session, reads);
        match snapshot.and_then(|snapshot| statement::columns(&snapshot, table)) {
            Ok(mut columns) => {
                columns.retain(|(name, _)| {
                    wildcard.is_empty() || language::pattern::like(wildcard, name)
                });
                let definitions: Vec<ColumnDefinition> = columns
                    .iter()
                    .map(|(name, kind)| ColumnDefinition::of(name, *kind).from_table(table))
                    .collect();
                self.encoder.field_list(&definitions);
            }
            Err(failure) => results::error(&mut self.encoder, &failure),
        }
    }

    /// COM_CHANGE_USER: another login on this connection. A failed login ends the connection, as in MySQL.
    async fn change_user(&mut self, change: ChangeUser) -> Result<bool, Ended> {
        let login = Login {
            user: &change.user,
            plugin: change.plugin.as_deref(),
            auth: &change.auth,
            nonce: self.guest.nonce,
        };
        let names = [Some(&change.user), change.database.as_ref()];
        let checked = names
            .into_iter()
            .flatten()
            .try_for_each(|name| check_name(name));
        let granted = match checked {
            Err(failure) => Err(failure),
            Ok(()) => {
                let (socket, encoder) = (&mut self.socket, &mut self.encoder);
                login
                    .prove(&self.server, self.peer, socket, encoder, true)
                    .await?
            }
        };
        if let Err(failure) = granted {
            results::error(&mut self.encoder, &failure);
            self.flush().await?;
            return Ok(false);
        }
        self.server.close_session(&self.session);
        self.session = Session::new(
            self.session.id,
            change.user,
            self.peer.host.clone(),
            change.database,
        )
        .at(self.peer);
        self.encoder.session_status(self.session.status());
        self.encoder.ok(&Done::default());
        Ok(true)
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.server.close_session(&self.session);
    }
}

impl Request {
    fn read(payload: &[u8], capabilities: Capabilities, held: Grant) -> Request {
        if let Err(failure) = held.cover(Load::memory_bytes(payload)) {
            return Request::Refused(failure);
        }
        match Command::decode(payload, capabilities) {
            Ok(Command::Quit) => Request::Quit,
            Ok(Command::InitDb(database)) => Request::InitDb(database),
            Ok(Command::Query(_)) => Request::Query,
            Ok(Command::FieldList { table, wildcard }) => Request::FieldList { table, wildcard },
            Ok(Command::Statistics) => Request::Statistics,
            Ok(Command::Ping) => Request::Ping,
            Ok(Command::SetOption(option)) => Request::TakeSeveral(option == 0),
            Ok(Command::ChangeUser(change)) => Request::ChangeUser(change),
            Ok(Command::ResetConnection) => Request::Reset,
            Ok(Command::Load(load)) => Request::Load(load, held),
            Ok(Command::Unanswered) => Request::Unanswered,
            Ok(Command::Unknown(number)) => Request::Unknown(number),
            Err(error) => Request::Malformed(error),
        }
    }
}

/// The error for an unknown command. For COM_STMT_PREPARE it is 1295: on that number many drivers (Perl's DBI, PHP's PDO)
/// fill in the parameters themselves; on any other they give up.
fn not_offered(number: u8) -> Failure {
    const PREPARE: u8 = 0x16;
    if number == PREPARE {
        let message =
            "statements are prepared by the client here: let the driver fill in the parameters";
        return Failure::new(errors::NO_PREPARED_STATEMENTS, message);
    }
    Failure::new(
        errors::UNKNOWN_COMMAND,
        format!("unknown command {number:#04x}"),
    )
}
