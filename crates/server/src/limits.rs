//! Every bound of the doors, with its unit. Bounds of sessions are `session::limits`, those of packets `wire::limits`.

use std::time::Duration;

use session::limits::GRANT_FREE_BYTES;

/// Time to finish connecting to the MySQL door.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Wait of an address's next login after one that failed; doubled by each further failure.
pub(crate) const LOGIN_DELAY_FIRST: Duration = Duration::from_millis(100);

/// Longest such wait.
pub(crate) const LOGIN_DELAY_MAX: Duration = Duration::from_secs(5);

/// Time without a failed login after which those of an address are forgotten.
pub(crate) const LOGIN_FORGET_AFTER: Duration = Duration::from_secs(15 * 60);

/// Most addresses whose failed logins are remembered.
pub(crate) const LOGIN_ADDRESSES_MAX: usize = 4096;

/// Time between two lines of the log about failed logins.
pub(crate) const LOGIN_LOG_EVERY: Duration = Duration::from_secs(1);

/// Longest packet of a MySQL client that has not logged in, in bytes: a login with its attributes takes hundreds.
pub(crate) const LOGIN_PACKET_BYTES_MAX: usize = 16 << 10;

/// Time for a request's first line and headers, from their first byte, or from the beginning of a connection.
pub(crate) const HTTP_HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest time that an HTTP connection may be silent between two requests.
pub(crate) const HTTP_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes a second that a request must come with on average, once its time for a pause is used up.
pub(crate) const REQUEST_RATE_MIN: u64 = 1 << 10;

/// Longest pause of a large request while others wait for the room that it has.
pub(crate) const ROOM_STALL: Duration = Duration::from_secs(1);

/// Bytes a second that a large request must come with on average while others wait for the room that it has.
pub(crate) const ROOM_RATE_MIN: u64 = 1 << 20;

/// Silence after which the kernel asks whether a client's machine is still there, and time it has to answer.
pub(crate) const KEEPALIVE_SILENCE: Duration = Duration::from_secs(60);

/// Questions asked in that time.
pub(crate) const KEEPALIVE_PROBES: u32 = 6;

/// Most bytes of an HTTP request's body that is read whole (`/sql`, `/search`).
pub(crate) const BODY_BYTES_MAX: usize = wire::limits::PACKET_BYTES_MAX;

/// Longest text that Elasticsearch's door highlights, in bytes: the cost grows with its square.
pub(crate) const HIGHLIGHT_BYTES_MAX: usize = 64 << 10;

/// Bytes of lines that `/bulk` collects before it commits, where no empty line commits earlier: 8 MiB.
pub(crate) const BULK_BATCH_BYTES: usize = 8 << 20;

/// Operations that `/bulk` collects before it commits.
pub(crate) const BULK_BATCH_COUNT: usize = 10_000;

/// Statements of one text.
pub(crate) const STATEMENTS_MAX: usize = 100_000;

/// Statements of one text that are done before other connections' tasks have their turn.
pub(crate) const STATEMENTS_IN_A_ROW: usize = 64;

/// Bytes of an HTTP connection that wait to be read, or to be sent: also the longest head of a request.
pub(crate) const CONNECTION_BUFFER_BYTES: usize = 128 << 10;

/// Time after which a thread that did long work and rests is ended.
pub(crate) const IDLE_THREAD: Duration = Duration::from_millis(200);

/// Connections open at most when one comes whose client is looked after while it searches: that takes a second descriptor
/// each. A search of any other ends by itself, by its time, or by KILL.
pub(crate) const WATCHED_CONNECTIONS_MAX: usize = 1024;

/// Time that connections have to end by themselves when the server stops.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(5);

/// Time that the engine has when the server stops, after the connections' time: to end its statement and to put everything
/// into files. Then the process ends without that; what was acknowledged is in the journal.
pub(crate) const STOP_ENGINE_GRACE: Duration = Duration::from_secs(20);

/// Threads of the event loop at least: one may do the engine's work, and health checks are answered all the same.
pub(crate) const LOOP_THREADS_MIN: usize = 2;

/// While a turn of the engine lasts, sockets are waited for again after so long at most.
pub(crate) const LISTENS_AGAIN_WITHIN: Duration = Duration::from_millis(100);

/// Time between two looks at whether the disk is full, for the log.
pub(crate) const ROOM_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time between two looks for tables with a webhook, and pause of one that cannot go on.
pub(crate) const WEBHOOK_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time that a webhook's target has for everything, from its name's look-up to the end of its reply.
pub(crate) const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(15);

/// Threads that send hits at the same time, of tables whose last attempt succeeded, and again of tables whose last one failed.
pub(crate) const WEBHOOK_SENDERS: usize = 4;

/// Most bytes that are read of a webhook's reply.
pub(crate) const WEBHOOK_REPLY_BYTES_MAX: u64 = 64 << 10;

/// Time between two warnings that a host is not allowed.
pub(crate) const WEBHOOK_WARN_EVERY: Duration = Duration::from_secs(60);

/// Pause after a failed accept (out of file descriptors), so that the loop does not spin.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The same where a connection was closed to make room for the next one.
pub(crate) const EVICTION_PAUSE: Duration = Duration::from_millis(1);

const _: () = assert!(LOGIN_DELAY_MAX.as_secs() < HANDSHAKE_TIMEOUT.as_secs());
const _: () = assert!(BULK_BATCH_COUNT <= engine::limits::MANY_COMMANDS_MAX);
const _: () = assert!(LOGIN_PACKET_BYTES_MAX < GRANT_FREE_BYTES);
const _: () = assert!(HTTP_HEAD_TIMEOUT.as_secs() < HTTP_IDLE_TIMEOUT.as_secs());

/// Most rows that one HTTP request takes from a queue, and that one event stream has out at a time.
pub(crate) const QUEUE_ROWS_MAX: u32 = 10_000;

/// Longest time that an HTTP request waits for a row.
pub(crate) const QUEUE_WAIT_MAX: Duration = Duration::from_secs(300);

/// How long the rows of an event stream are held, where the client does not say; the stream holds on to them while it lasts.
pub(crate) const EVENT_LEASE: Duration = Duration::from_secs(30);

/// Silence after which an event stream says that it is still there.
pub(crate) const EVENT_BEAT: Duration = Duration::from_secs(15);
