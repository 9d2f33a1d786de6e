//! A configuration in typed form. Names are Scribe's variables; `Default` gives the defaults of Scribe 2.2.
//!
//! # Example
//! ```text
//! port=1463                          Configuration { port: 1463, .. }
//! <store>                            TopStore { categories: [Default], store: StoreConfig::Buffer(..), .. }
//!   category=default
//!   type=buffer                      Buffer {
//!   <primary>                            primary: StoreConfig::Network(..),
//!     type=network
//!   </primary>
//!   <secondary>                          secondary: StoreConfig::File(..),
//!     type=file                      }
//!   </secondary>
//! </store>
//! ```

use engine::SyncMode;

/// A whole configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// Port of the door; 0: the file names none.
    pub port: u16,
    /// Calls above this rate are answered TRY_LATER; 0: no bound. Messages a second.
    pub max_msg_per_second: u64,
    /// A call is answered TRY_LATER while a queue of any store holds more. Bytes.
    pub max_queue_size: u64,
    /// Time between two looks of a store at itself. Seconds, at least 1.
    pub check_interval_s: u64,
    /// Connections beyond this number are closed at once; 0: no bound.
    pub max_conn: u64,
    /// Whether each category that a prefix or default store takes gets a store of its own.
    pub new_thread_per_category: bool,
    /// The stores, in the order of the file.
    pub stores: Vec<TopStore>,
}

impl Default for Configuration {
    fn default() -> Configuration {
        Configuration {
            port: 0,
            max_msg_per_second: 0,
            max_queue_size: 5_000_000,
            check_interval_s: 5,
            max_conn: 0,
            new_thread_per_category: true,
            stores: Vec::new(),
        }
    }
}

/// A `<store>` at the top of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct TopStore {
    /// `store0`, `store1`, … in the order of the file.
    pub name: String,
    /// Categories that it takes.
    pub categories: Vec<Categories>,
    /// `categories=` was given: the store is a model, copied for each name.
    pub is_model: bool,
    /// A batch is written at this size. Bytes.
    pub target_write_size: u64,
    /// A batch is written after this time at the latest. Seconds, at least 1.
    pub max_write_interval_s: u64,
    /// A batch that fails is kept and tried again before newer messages; else it counts as lost.
    pub must_succeed: bool,
    /// `sync=`: when a call with this category may be answered OK; `None`: the server's setting.
    pub sync: Option<SyncMode>,
    /// What it does with its messages.
    pub store: StoreConfig,
}

/// Categories of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Categories {
    /// `default`: those that no other store takes.
    Default,
    /// Exactly this category.
    Exact(Vec<u8>),
    /// `name*`, without the star.
    Prefix(Vec<u8>),
}

/// A store and the stores in it.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreConfig {
    /// `file`.
    File(FileConfig),
    /// `thriftfile`.
    ThriftFile(ThriftFileConfig),
    /// `buffer`.
    Buffer(Box<BufferConfig>),
    /// `network`.
    Network(NetworkConfig),
    /// `bucket`.
    Bucket(Box<BucketConfig>),
    /// `multi`.
    Multi(MultiConfig),
    /// `category`, `multifile`, `thriftmultifile`: the model, copied for each category.
    Category(Box<StoreConfig>),
    /// `null`.
    Null,
    /// `index`, `queue`, `percolate`: rows of a table of this server. Only at the top of a file.
    Table(Box<TableConfig>),
}

impl StoreConfig {
    /// Whether all messages end in files that give each a line feed.
    pub(crate) fn ends_lines(&self) -> bool {
        match self {
            StoreConfig::File(file) => file.add_newlines,
            // A secondary that is replayed keeps messages for the primary.
            StoreConfig::Buffer(buffer) => {
                let is_passed_on = buffer.replay_buffer || buffer.secondary.ends_lines();
                is_passed_on && buffer.primary.ends_lines()
            }
            StoreConfig::Bucket(bucket) => bucket.buckets.iter().all(StoreConfig::ends_lines),
            StoreConfig::Multi(multi) => multi.stores.iter().all(StoreConfig::ends_lines),
            StoreConfig::Category(model) => model.ends_lines(),
            StoreConfig::Null => true,
            StoreConfig::ThriftFile(_) | StoreConfig::Network(_) | StoreConfig::Table(_) => false,
        }
    }
}

/// How often a file ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotatePeriod {
    /// Only by size.
    Never,
    /// At `rotate_minute` of each hour.
    Hourly,
    /// At `rotate_hour`:`rotate_minute` of each day.
    Daily,
    /// Each such number of seconds; above 0.
    Every {
        /// Seconds.
        seconds: u64,
    },
}

/// Variables that `file` and `thriftfile` share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBase {
    /// Folder that the files lie in.
    pub file_path: String,
    /// First part of a file's name; `None`: the category.
    pub base_filename: Option<String>,
    /// Name of the link to the newest file, before `_current`; `None`: `base_filename`.
    pub base_symlink_name: Option<String>,
    /// Folder below `file_path`; empty: none.
    pub sub_directory: String,
    /// The name of the machine takes the place of `sub_directory`.
    pub use_hostname_sub_directory: bool,
    /// When a file ends by time.
    pub rotate_period: RotatePeriod,
    /// Hour of a daily rotation.
    pub rotate_hour: u32,
    /// Minute of a daily or hourly rotation.
    pub rotate_minute: u32,
    /// A file ends at this size; 0: no bound. Bytes.
    pub max_size: u64,
    /// Size of a write. Bytes.
    pub max_write_size: u64,
    /// A rotated file ends in a line with the name of the next.
    pub write_meta: bool,
    /// The category and a newline go before each message.
    pub write_category: bool,
    /// A link `<name>_current` leads to the newest file.
    pub create_symlink: bool,
    /// A line at each rotation in the file `scribe_stats`.
    pub write_stats: bool,
    /// No message crosses a multiple of this, by padding with zeroes; 0: off. Bytes.
    pub chunk_size: u64,
    /// Every opening begins a new file.
    pub rotate_on_reopen: bool,
}

impl Default for FileBase {
    fn default() -> FileBase {
        FileBase {
            file_path: "/tmp".to_owned(),
            base_filename: None,
            base_symlink_name: None,
            sub_directory: String::new(),
            use_hostname_sub_directory: false,
            rotate_period: RotatePeriod::Never,
            rotate_hour: 1,
            rotate_minute: 15,
            max_size: 1_000_000_000,
            max_write_size: 1_000_000,
            write_meta: false,
            write_category: false,
            create_symlink: true,
            write_stats: false,
            chunk_size: 0,
            rotate_on_reopen: false,
        }
    }
}

/// A `file` store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileConfig {
    /// What it shares with `thriftfile`.
    pub base: FileBase,
    /// A newline goes after each message.
    pub add_newlines: bool,
}

/// A `thriftfile` store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThriftFileConfig {
    /// What it shares with `file`.
    pub base: FileBase,
    /// Time between two syncs; 0: that of Thrift, 3,000. Milliseconds.
    pub flush_frequency_ms: u64,
    /// Number of messages between two writes; 0: that of Thrift.
    pub msg_buffer_size: u64,
    /// Messages follow each other without length and padding.
    pub use_simple_file: bool,
}

/// A `buffer` store.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferConfig {
    /// Where messages go.
    pub primary: StoreConfig,
    /// Where they wait while the primary is away.
    pub secondary: StoreConfig,
    /// Files of the secondary sent at each look, as the variable says; `None`: it is not set, and the secondary is sent as fast
    /// as the primary takes it.
    pub buffer_send_rate: Option<u64>,
    /// Time between two attempts to open the primary. Seconds.
    pub retry_interval_s: u64,
    /// Width of the random part of that time. Seconds; at most `retry_interval_s`.
    pub retry_interval_range_s: u64,
    /// Messages of the secondary are sent once the primary is back.
    pub replay_buffer: bool,
    /// New messages go to the primary while older ones are still sent.
    pub flush_streaming: bool,
    /// With `flush_streaming`: older ones wait while the line's queue is fuller than this part of `max_queue_size`.
    pub buffer_bypass_max_ratio: f64,
    /// The time between two attempts grows at failure and shrinks at success.
    pub adaptive_backoff: bool,
    /// Its least value. Seconds.
    pub min_retry_interval_s: u64,
    /// Its largest value. Seconds.
    pub max_retry_interval_s: u64,
    /// Largest random addition at a failure. Seconds.
    pub max_random_offset_s: u64,
    /// Of the page of 2008: the secondary takes over while the queue is longer. Bytes; 0: off.
    pub max_queue_length: u64,
}

/// A `network` store.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkConfig {
    /// Servers, tried in random order from a random one; empty: `bucket_updater` finds
    /// them, or the file names none and the store never opens.
    pub hosts: Vec<(String, u16)>,
    /// Hosts came from `service_list`: a TRY_LATER goes to another server.
    pub is_service: bool,
    /// Bound of a connect, a send and a receive. Milliseconds.
    pub timeout_ms: u64,
    /// A failure counts the messages as sent.
    pub ignore_network_error: bool,
    /// `dynamic_config_type=thrift_bucket`: asks a `BucketStoreMapping` service for the server of a bucket.
    pub bucket_updater: Option<BucketUpdater>,
}

/// How a network store finds its server by asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketUpdater {
    /// The bucket whose server is wanted.
    pub bucket_id: u64,
    /// The category sent with the question; empty: that of the line.
    pub category: Vec<u8>,
    /// Whom to ask.
    pub hosts: Vec<(String, u16)>,
    /// An answer is good for so long. Seconds.
    pub ttl_s: u64,
}

/// By what a `bucket` store chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketType {
    /// The number after the third byte 1 of a message.
    ContextLog,
    /// At random.
    Random,
    /// djb2 of the key.
    KeyHash,
    /// The key as a number, modulo the number of buckets.
    KeyModulo,
    /// The key as a number, its part of `bucket_range`.
    KeyRange,
}

/// A `bucket` store.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketConfig {
    /// By what it chooses.
    pub bucket_type: BucketType,
    /// Ends the key. Unused by `ContextLog` and `Random`.
    pub delimiter: u8,
    /// Only for `KeyRange`.
    pub bucket_range: u64,
    /// Key and delimiter are cut off.
    pub remove_key: bool,
    /// Bucket 0, which takes messages without a key, then `num_buckets` more: at least 2 in all.
    pub buckets: Vec<StoreConfig>,
}

/// A `multi` store.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiConfig {
    /// `report_success=any`: a batch is taken when any store has taken it.
    pub any_succeeds: bool,
    /// The stores, at least one.
    pub stores: Vec<StoreConfig>,
}

/// An `index`, `queue` or `percolate` store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableConfig {
    /// What the table does with the rows.
    pub kind: TableKind,
    /// Name of the table.
    pub table: String,
    /// What a message looks like.
    pub format: Format,
    /// Column that takes the message's category.
    pub category_column: Option<String>,
    /// Column that takes the host that the message came from.
    pub host_column: Option<String>,
    /// Column that takes the message's time, in seconds since 1970.
    pub time_column: Option<String>,
    /// `into=` of the pq table, if the server makes it.
    pub into: Option<String>,
    /// Standing queries that the pq table is to hold: ids, rising, and texts.
    pub queries: Vec<(u64, String)>,
}

impl TableConfig {
    /// The columns that messages fill, each with its type where the server makes the table: first those of `format`, then those
    /// of the message's origin.
    #[must_use]
    pub fn columns(&self) -> Vec<(&str, &str)> {
        let mut columns: Vec<(&str, &str)> = match &self.format {
            Format::Text { column } => vec![(column, "text")],
            Format::Json {
                fields,
                rest_column,
            } => {
                let fields = fields.iter().map(|field| (&*field.column, &*field.kind));
                fields.chain([(&**rest_column, "string")]).collect()
            }
        };
        let origin = [
            (&self.category_column, "string"),
            (&self.host_column, "string"),
            (&self.time_column, "timestamp"),
        ];
        for (column, kind) in origin {
            columns.extend(column.as_deref().map(|column| (column, kind)));
        }
        columns
    }
}

/// What a table does with the rows of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// A search table stores and indexes them.
    Index,
    /// A queue hands them out.
    Queue,
    /// A pq table hears them: its hits are kept, they are not.
    Percolate,
}

/// How a message becomes values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// The whole message, without the line end behind it, goes into one column.
    Text {
        /// Name of a column of texts.
        column: String,
    },
    /// A JSON object.
    Json {
        /// Where its fields go; at least one.
        fields: Vec<Field>,
        /// Column that takes the whole message where the columns of `fields` do not hold all of it.
        rest_column: String,
    },
}

/// A field of JSON messages and its column: `path:column:type` in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Names of the objects around it and its own, between dots.
    pub path: String,
    /// Column that takes its value.
    pub column: String,
    /// Type of the column, if the server makes the table.
    pub kind: String,
}
