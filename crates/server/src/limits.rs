//! Bounds of the doors, each with its unit. `session::limits` has the bounds of sessions, `wire::limits` of packets.

use std::time::Duration;

use session::limits::GRANT_FREE_BYTES;

/// Longest time of a MySQL login, from the greeting to the OK.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time for which the next packet of the only client that is being served is waited for awake.
pub(crate) const AWAKE_MAX: Duration = Duration::from_micros(50);

/// Wait of an address's next login after its first failed login. Each further failure doubles it.
pub(crate) const LOGIN_DELAY_FIRST: Duration = Duration::from_millis(100);

/// Longest wait of a login after failed ones.
pub(crate) const LOGIN_DELAY_MAX: Duration = Duration::from_secs(5);

/// Time without a failed login after which an address's failures are forgotten.
pub(crate) const LOGIN_FORGET_AFTER: Duration = Duration::from_secs(15 * 60);

/// Most addresses whose failed logins are remembered.
pub(crate) const LOGIN_ADDRESSES_MAX: usize = 4096;

/// Least time between two log lines about failed logins.
pub(crate) const LOGIN_LOG_EVERY: Duration = Duration::from_secs(1);

/// Longest packet of a MySQL client before its login, in bytes. A login with attributes takes some hundred bytes.
pub(crate) const LOGIN_PACKET_BYTES_MAX: usize = 16 << 10;

/// Longest time of a request's first line and headers, from their first byte; for the first request, from the connection on.
pub(crate) const HTTP_HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest silence of an HTTP connection between two requests.
pub(crate) const HTTP_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Slowest average rate of a request in bytes per second, beside one pause of `client_timeout`.
pub(crate) const REQUEST_RATE_MIN: u64 = 1 << 10;

/// Longest pause of a request while other requests wait for the memory that it holds.
pub(crate) const ROOM_STALL: Duration = Duration::from_secs(1);

/// Slowest average rate of a request, in bytes per second, while other requests wait for the memory that it holds.
pub(crate) const ROOM_RATE_MIN: u64 = 1 << 20;

/// Silence after which the kernel probes a client's machine, and time that the machine has to answer.
pub(crate) const KEEPALIVE_SILENCE: Duration = Duration::from_secs(60);

/// TCP keepalive probes in that time.
pub(crate) const KEEPALIVE_PROBES: u32 = 6;

/// Most bytes of a request body that is read whole, as of `/sql` and `/search`. `/bulk` reads line by line.
pub(crate) const BODY_BYTES_MAX: usize = wire::limits::PACKET_BYTES_MAX;

/// Longest text that the Elasticsearch routes highlight, in bytes. The cost grows with its square.
pub(crate) const HIGHLIGHT_BYTES_MAX: usize = 64 << 10;

/// Bytes of lines after which `/bulk` commits, unless an empty line commits earlier: 8 MiB.
pub(crate) const BULK_BATCH_BYTES: usize = 8 << 20;

/// Lines after which `/bulk` commits, unless an empty line commits earlier.
pub(crate) const BULK_BATCH_COUNT: usize = 10_000;

/// Most statements in one text.
pub(crate) const STATEMENTS_MAX: usize = 100_000;

/// Time after which a task that has several statements in hand lets other connections' tasks run.
pub(crate) const IN_A_ROW_MAX: Duration = Duration::from_millis(1);

/// Most bytes that an HTTP connection buffers in each direction; also the longest head of a request.
pub(crate) const CONNECTION_BUFFER_BYTES: usize = 128 << 10;

/// Time after which an idle thread of tokio's blocking pool ends.
pub(crate) const IDLE_THREAD: Duration = Duration::from_millis(200);

/// A connection is watched for a vanished client only if fewer than this are open when it comes: watching takes a second file
/// descriptor. A search of an unwatched client ends by itself, by its time limit or by KILL.
pub(crate) const WATCHED_CONNECTIONS_MAX: usize = 1024;

/// Time that a stop leaves connections to finish their statements.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(3);

/// Time that a stop then leaves the engine to finish its turn and to write everything into files. After it the process ends
/// without that. Nothing is lost: acknowledged writes are in the journal.
pub(crate) const STOP_ENGINE_GRACE: Duration = Duration::from_secs(20);

/// Least threads of the event loop. While one does a turn of the engine, another must answer health checks.
pub(crate) const LOOP_THREADS_MIN: usize = 2;

/// Longest time, during a turn of the engine, in which no thread may be waiting for the sockets.
pub(crate) const LISTENS_AGAIN_WITHIN: Duration = Duration::from_millis(100);

/// Time between two checks whether the disk is full, for the log.
pub(crate) const ROOM_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time between two looks for tables with a webhook, and pause of a webhook that has failed to read its queue.
pub(crate) const WEBHOOK_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Longest time of one attempt to send a hit, from the look-up of the host name to the end of the reply.
pub(crate) const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(15);

/// Threads that send hits of tables whose last attempt succeeded. Tables whose last attempt failed have the same number.
pub(crate) const WEBHOOK_SENDERS: usize = 4;

/// Most bytes read of a webhook's reply. Its content is ignored.
pub(crate) const WEBHOOK_REPLY_BYTES_MAX: u64 = 64 << 10;

/// Time between two log lines that `webhook.allow` does not name a table's host.
pub(crate) const WEBHOOK_WARN_EVERY: Duration = Duration::from_secs(60);

/// Pause after a failed accept when no connection could be evicted, so that the loop does not spin.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Pause after a failed accept when a connection was evicted to free its file descriptor.
pub(crate) const EVICTION_PAUSE: Duration = Duration::from_millis(1);

/// Time between two lines of one kind in the log about what strangers do at the Scribe door and at the syslog door.
pub(crate) const SCRIBE_LOG_EVERY: Duration = Duration::from_secs(1);

const _: () = assert!(LOGIN_DELAY_MAX.as_secs() < HANDSHAKE_TIMEOUT.as_secs());
const _: () = assert!(BULK_BATCH_COUNT <= engine::limits::MANY_COMMANDS_MAX);
const _: () = assert!(LOGIN_PACKET_BYTES_MAX < GRANT_FREE_BYTES);
const _: () = assert!(HTTP_HEAD_TIMEOUT.as_secs() < HTTP_IDLE_TIMEOUT.as_secs());

/// Most rows that one HTTP request takes from a queue, and most rows that one event stream holds at a time.
pub(crate) const QUEUE_ROWS_MAX: u32 = 10_000;

/// Longest time that an HTTP request waits for a row.
pub(crate) const QUEUE_WAIT_MAX: Duration = Duration::from_secs(300);

/// Default lease of the rows of an event stream. The stream extends it while it lasts.
pub(crate) const EVENT_LEASE: Duration = Duration::from_secs(30);

/// Silence after which an event stream sends a comment, to show that it is alive.
pub(crate) const EVENT_BEAT: Duration = Duration::from_secs(15);

/// First pause of a syslog connection whose messages the server cannot take now. Each further pause doubles it.
pub(crate) const SYSLOG_RETRY_FIRST: Duration = Duration::from_millis(10);

/// Longest pause of a syslog connection whose messages the server cannot take now.
pub(crate) const SYSLOG_RETRY_MAX: Duration = Duration::from_millis(500);

/// Silence after which a syslog connection frees its large buffer.
pub(crate) const SYSLOG_QUIET: Duration = Duration::from_secs(1);

/// Bytes of datagrams that one UDP socket takes into one call. They are not counted as memory of requests.
pub(crate) const SYSLOG_UDP_BYTES: usize = 256 << 10;

/// Share of the memory above which datagrams are dropped: while messages on their way to stores take more than `memory` / 16.
/// Other doors may go on to more than twice of that.
pub(crate) const SYSLOG_UDP_SHARE_OF_MEMORY: u64 = 16;

/// Most bytes of messages on their way to stores beside which datagrams are taken, whatever the memory.
pub(crate) const SYSLOG_UDP_PENDING_MAX: u64 = 64 << 20;

/// Receive buffer of a UDP socket that the server asks for. The system gives at most `net.core.rmem_max`.
pub(crate) const SYSLOG_UDP_SOCKET_BYTES: usize = 4 << 20;

/// Most entries of `touch.origins`.
pub(crate) const TOUCH_ORIGINS_MAX: usize = 256;

/// Counters of clients that tell touches: 8 bytes each. Clients that share one share its bound.
pub(crate) const TOUCH_CLIENT_COUNTERS: usize = 1 << 16;

/// Longest body of a touch or an order, in bytes.
pub(crate) const TOUCH_BODY_BYTES_MAX: usize = 4 << 10;

/// Life of the visitor's cookie: 180 days, in seconds.
pub(crate) const TOUCH_COOKIE_S: u32 = 180 * 86_400;

/// Seconds for which a browser remembers that a site may tell touches.
pub(crate) const TOUCH_PREFLIGHT_S: &str = "86400";

/// Row ids that are tried for an order of a back end. A stranger who wants to keep one order out must hold all of them.
pub(crate) const ORDER_IDS_MAX: u32 = 64;

/// Bytes of lines of the query log above which they are written, whatever waits behind them.
pub(crate) const QUERY_LOG_BUFFER_BYTES: usize = 256 << 10;

/// How long the query log's lines have the sizes of tables that were looked up once.
pub(crate) const QUERY_LOG_SIZES_FOR: Duration = Duration::from_millis(500);

/// Longest line of the query log, in bytes: some texts of 16 KiB, of which JSON writes a byte as six.
pub(crate) const QUERY_LOG_LINE_BYTES_MAX: u64 = 1 << 20;

/// Longest wait at the end of the process for the last lines of the query log.
pub(crate) const QUERY_LOG_END_WITHIN: Duration = Duration::from_secs(5);

/// Longest pause of the query log's thread between two looks.
pub(crate) const QUERY_LOG_EVERY: Duration = Duration::from_millis(50);

/// Pause between two batches of rows of the query log's table.
pub(crate) const QUERY_LOG_ROWS_EVERY: Duration = Duration::from_millis(500);

/// Most rows of one batch.
pub(crate) const QUERY_LOG_ROWS_MAX: usize = 1_000;

/// Most rows that wait for the table; one beyond is counted as lost.
pub(crate) const QUERY_LOG_ROWS_WAITING_MAX: usize = 16_384;
