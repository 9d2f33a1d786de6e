//! Limits of a stranger's bytes. Each has an error, and a line in `docs/sql.md`.

/// Longest logical packet (one command, or one row of an answer), in bytes: 128 MiB.
pub const PACKET_BYTES_MAX: usize = 128 << 20;

/// Most payload bytes of one physical MySQL frame; a longer packet goes on in the next frame.
pub const FRAME_BYTES_MAX: usize = 0xff_ffff;

/// Most bytes that a packet reader reserves on the word of a header. More are reserved only as bytes arrive.
pub const READ_AHEAD_BYTES: usize = 1 << 20;

/// Encoded bytes after which a server sends them, so that it never holds an answer whole.
pub const FLUSH_BYTES: usize = 64 << 10;

/// Most tables of one join.
pub const JOINED_TABLES_MAX: usize = 16;

/// Most tables that FROM searches as one. A distributed table among them counts here as one table.
pub const TABLES_AS_ONE_MAX: usize = 64;

/// Most sub-selects of which each is the FROM of the one before.
pub const SUB_SELECTS_MAX: usize = 8;

/// Most SELECTs of one UNION.
pub const UNION_SELECTS_MAX: usize = 200_000;

/// Most FACETs of one SELECT. With the SELECT they are Sphinx's largest batch of queries, 32.
pub const FACETS_MAX: usize = 31;

/// Most aggregations of a search of which each stands in a bucket of the one before.
pub const AGGREGATION_DEPTH_MAX: usize = 8;

/// Longest `meta` of an aggregation, in bytes of JSON: it comes back in every bucket around it.
pub const AGGREGATION_META_BYTES_MAX: usize = 1_024;

/// Longest text that stands before or behind a mark of a highlight, in bytes.
pub const TAG_BYTES_MAX: usize = 256;

/// Most keys of ORDER BY.
pub const ORDER_KEYS_MAX: usize = 256;

/// Most pairs behind OPTION.
pub const OPTIONS_MAX: usize = 256;

/// Most columns of one result set that a client accepts, and most items of a SELECT list.
pub const COLUMNS_MAX: usize = 4096;

/// Most names in a list of a statement about tables: columns, arguments of types, options, tables, changes.
pub const NAMES_MAX: usize = 4096;

/// Most connect attributes kept of a client. More are dropped.
pub const ATTRIBUTES_MAX: usize = 128;

/// Most characters of a statement that an error message repeats.
pub const NEAR_CHARS_MAX: usize = 80;

/// Deepest nesting of a JSON query body (`bool` inside `bool`).
pub const JSON_QUERY_DEPTH_MAX: usize = 64;

/// Longest name of a field in a JSON body, in bytes. Each step of a path takes as much memory as a short text.
pub const FIELD_BYTES_MAX: usize = 4_096;

/// Longest line of a bulk body, in bytes. It is that of a packet, so that MySQL and HTTP take the same documents.
pub const LINE_BYTES_MAX: usize = PACKET_BYTES_MAX;

/// Longest Thrift message (one call, or one reply) that a reader takes if its caller names no other limit, in bytes: 128 MiB.
pub const THRIFT_MESSAGE_BYTES_MAX: usize = 128 << 20;

/// Longest method name of a Thrift message, in bytes. Scribe's and fb303's have at most 16.
pub const METHOD_NAME_BYTES_MAX: usize = 128;

/// Deepest nesting of the structs, lists and maps in a Thrift field that the service does not declare.
pub const THRIFT_DEPTH_MAX: usize = 64;

/// Longest syslog message that is taken as one, in bytes: 1 MiB. A longer one is taken in pieces of this size.
pub const SYSLOG_PIECE_BYTES_MAX: usize = 1 << 20;

/// Smallest buffer of a syslog connection, and the least room of a read, in bytes.
pub const SYSLOG_READ_BYTES_MIN: usize = 16 << 10;

/// Largest buffer of a syslog connection, in bytes.
pub const SYSLOG_BUFFER_BYTES_MAX: usize = SYSLOG_PIECE_BYTES_MAX + (64 << 10);

/// Options of a CALL ATTRIBUTION. There are fewer that have a meaning.
pub const ATTRIBUTION_OPTIONS_MAX: usize = 64;

const _: () = assert!(PACKET_BYTES_MAX > FRAME_BYTES_MAX);
const _: () = assert!(READ_AHEAD_BYTES < THRIFT_MESSAGE_BYTES_MAX);
const _: () = assert!(READ_AHEAD_BYTES < PACKET_BYTES_MAX && FLUSH_BYTES <= READ_AHEAD_BYTES);
