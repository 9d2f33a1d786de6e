//! Every bound of the doors, with its unit. Bounds of packets and statements are `wire::limits`.

use std::time::Duration;

/// Time to finish connecting to the MySQL door.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Wait of an address's next login after one that failed; doubled by each further failure.
pub const LOGIN_DELAY_FIRST: Duration = Duration::from_millis(100);

/// Longest such wait.
pub const LOGIN_DELAY_MAX: Duration = Duration::from_secs(5);

/// Time without a failed login after which those of an address are forgotten.
pub const LOGIN_FORGET_AFTER: Duration = Duration::from_secs(15 * 60);

/// Most addresses whose failed logins are remembered.
pub const LOGIN_ADDRESSES_MAX: usize = 4096;

/// Time between two lines of the log about failed logins.
pub const LOGIN_LOG_EVERY: Duration = Duration::from_secs(1);

/// Longest packet of a MySQL client that has not logged in, in bytes: a login with its attributes takes hundreds.
pub const LOGIN_PACKET_BYTES_MAX: usize = 16 << 10;

/// Places of each door beside `connections_max`: for health checks and for the server's owner.
pub const RESERVED_PLACES: usize = 8;

/// Time for a request's first line and headers, from their first byte, or from the beginning of a connection.
pub const HTTP_HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest time that an HTTP connection may be silent between two requests.
pub const HTTP_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes a second that a request must come with on average, once its time for a pause is used up.
pub const REQUEST_RATE_MIN: u64 = 1 << 10;

/// Longest pause of a large request while others wait for the room that it has.
pub const ROOM_STALL: Duration = Duration::from_secs(1);

/// Bytes a second that a large request must come with on average while others wait for the room that it has.
pub const ROOM_RATE_MIN: u64 = 1 << 20;

/// Silence after which the kernel asks whether a client's machine is still there, and time it has to answer.
pub const KEEPALIVE_SILENCE: Duration = Duration::from_secs(60);

/// Questions asked in that time.
pub const KEEPALIVE_PROBES: u32 = 6;

/// Most bytes of an HTTP request's body that is read whole (`/sql`, `/search`).
pub const BODY_BYTES_MAX: usize = wire::limits::PACKET_BYTES_MAX;

/// Most bytes of an HTTP reply to SQL or a search, which is made whole before it is sent.
pub const REPLY_BYTES_MAX: usize = 256 << 20;

/// Longest text that is highlighted, in bytes: finding what matched costs the square of its words at worst.
pub const HIGHLIGHT_TEXT_BYTES_MAX: usize = 64 << 10;

/// Longest text that Elasticsearch's door highlights, in bytes: the cost grows with its square.
pub const HIGHLIGHT_BYTES_MAX: usize = 64 << 10;

/// Bytes of lines that `/bulk` collects before it commits, where no empty line commits earlier: 8 MiB.
pub const BULK_BATCH_BYTES: usize = 8 << 20;

/// Operations that `/bulk` collects before it commits.
pub const BULK_BATCH_COUNT: usize = 10_000;

/// Bytes of a request that are not counted, of each kind: packet, statement, rows found, answer.
pub const GRANT_FREE_BYTES: usize = 64 << 10;

/// Least that a request takes of the budget where it grows piece by piece, in bytes.
pub const GRANT_STEP_BYTES: usize = 256 << 10;

/// Time that a request waits for memory that others hold.
pub const BUDGET_WAIT: Duration = Duration::from_secs(5);

/// The part of `memory` that requests may hold together is one divided by this.
pub const REQUEST_SHARE_OF_MEMORY: u64 = 4;

/// Memory that a statement gets at first for each byte of its text. Constants and small rows become that much.
pub const PARSED_FACTOR: usize = 12;

/// Longest text that gets so much at first, in bytes. A longer one would keep others waiting for memory that it seldom needs.
pub const PARSED_FACTOR_BYTES_MAX: usize = 1 << 20;

/// Memory that a longer statement gets at first for each byte of its text: rows of long texts become no more.
pub const PARSED_FACTOR_LONG: usize = 2;

/// A statement that becomes more is read again with so many times the memory.
pub const PARSED_GROWTH: usize = 4;

/// Statements of one text.
pub const STATEMENTS_MAX: usize = 100_000;

/// Statements of one text that are done before other connections' tasks have their turn.
pub const STATEMENTS_IN_A_ROW: usize = 64;

/// The part of `memory` for what conditions on attributes say of pages of segments is one divided by this.
pub const FILTER_SHARE_OF_MEMORY: u64 = 32;

/// Rows that are gathered on the event loop; more are sorted, and dropped, off it.
pub const ROWS_INLINE_MAX: u64 = 1_000;

/// Bytes of an HTTP connection that wait to be read, or to be sent: also the longest head of a request.
pub const CONNECTION_BUFFER_BYTES: usize = 128 << 10;

/// Time after which a thread that did long work and rests is ended.
pub const IDLE_THREAD: Duration = Duration::from_millis(200);

/// Time that a statement with many rows waits for its turn.
pub const TURN_WAIT: Duration = Duration::from_secs(1);

/// Queries of MATCH longer than this are made ready off the event loop.
pub const MATCH_INLINE_BYTES: usize = 1 << 10;

/// Statements longer than this are parsed off the event loop.
pub const PARSE_INLINE_BYTES: usize = 16 << 10;

/// Most variables that one session may SET.
pub const SESSION_VARIABLES_MAX: usize = 256;

/// Most bytes of one such variable.
pub const SESSION_VARIABLE_BYTES_MAX: usize = 4 << 10;

/// Most bytes of a name that a session keeps: of a user, a database, a variable.
pub const SESSION_NAME_BYTES_MAX: usize = 256;

/// Most warnings kept for SHOW WARNINGS.
pub const WARNINGS_MAX: usize = 64;

/// Most characters kept of one of them.
pub const WARNING_CHARS_MAX: usize = 1_024;

/// Most words, or queries of a CALL PQ, whose numbers SHOW META gives; as many as a query of Sphinx may have words.
pub const META_KEYWORDS_MAX: usize = 256;

/// Time between two looks at the searches that run: how exact `max_query_time` is.
pub const SEARCH_LOOK_EVERY: Duration = Duration::from_millis(10);

/// Looks in a row that found no search before there are no more until one begins: 2 s.
pub const SEARCH_LOOKS_IDLE: u32 = 200;

/// Microseconds that a search runs before it is asked whether its client is still there.
pub const SEARCH_CLIENT_AFTER_US: u64 = 50_000;

/// Connections open at most when one comes whose client is looked after while it searches: that takes a second descriptor
/// each. A search of any other ends by itself, by its time, or by KILL.
pub const WATCHED_CONNECTIONS_MAX: usize = 1024;

/// Bytes of a statement that SHOW THREADS shows.
pub const SHOWN_STATEMENT_BYTES: usize = 1 << 10;

/// Time that connections have to end by themselves when the server stops.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// Time that the engine has when the server stops, after the connections' time: to end its statement and to put everything
/// into files. Then the process ends without that; what was acknowledged is in the journal.
pub const STOP_ENGINE_GRACE: Duration = Duration::from_secs(20);

/// A turn of the engine's thread that lasts longer makes `/readyz` say so.
pub const STUCK_AFTER: Duration = Duration::from_secs(10);

/// Threads of the event loop at least: one may do the engine's work, and health checks are answered all the same.
pub const LOOP_THREADS_MIN: usize = 2;

/// Time between two looks at whether the disk is full, for the log.
pub const ROOM_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time between two looks for tables with a webhook, and pause of one that cannot go on.
pub const WEBHOOK_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time that a webhook's target has for everything, from its name's look-up to the end of its reply.
pub const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(15);

/// Threads that send hits at the same time, of tables whose last attempt succeeded, and again of tables whose last one failed.
pub const WEBHOOK_SENDERS: usize = 4;

/// Most bytes that are read of a webhook's reply.
pub const WEBHOOK_REPLY_BYTES_MAX: u64 = 64 << 10;

/// Time between two warnings that a host is not allowed.
pub const WEBHOOK_WARN_EVERY: Duration = Duration::from_secs(60);

/// Pause after a failed accept (out of file descriptors), so that the loop does not spin.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The same where a connection was closed to make room for the next one.
pub const EVICTION_PAUSE: Duration = Duration::from_millis(1);

const _: () = assert!(LOGIN_DELAY_MAX.as_secs() < HANDSHAKE_TIMEOUT.as_secs());
const _: () = assert!(BULK_BATCH_COUNT <= engine::limits::MANY_COMMANDS_MAX);
const _: () = assert!(LOGIN_PACKET_BYTES_MAX < GRANT_FREE_BYTES);
const _: () = assert!(HTTP_HEAD_TIMEOUT.as_secs() < HTTP_IDLE_TIMEOUT.as_secs());
const _: () = assert!(PARSE_INLINE_BYTES < GRANT_FREE_BYTES);

/// Most rows that one HTTP request takes from a queue, and that one event stream has out at a time.
pub const QUEUE_ROWS_MAX: u32 = 10_000;

/// Longest time that an HTTP request waits for a row.
pub const QUEUE_WAIT_MAX: Duration = Duration::from_secs(300);

/// How long the rows of an event stream are held, where the client does not say; the stream holds on to them while it lasts.
pub const EVENT_LEASE: Duration = Duration::from_secs(30);

/// Silence after which an event stream says that it is still there.
pub const EVENT_BEAT: Duration = Duration::from_secs(15);
