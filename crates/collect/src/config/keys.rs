//! The variables of Scribe and those of stores of tables, and the places where each has an effect.

macro_rules! kinds {
    ($($kind:ident $name:literal),*) => {
        /// A type of store, as `type=` names it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Kind { $($kind),* }

        /// Each with its name.
        pub(super) const KINDS: &[(Kind, &str)] = &[$((Kind::$kind, $name)),*];
    };
}

kinds! {
    File "file",
    ThriftFile "thriftfile",
    Buffer "buffer",
    Network "network",
    Bucket "bucket",
    Multi "multi",
    Category "category",
    MultiFile "multifile",
    ThriftMultiFile "thriftmultifile",
    Null "null",
    Index "index",
    Queue "queue",
    Percolate "percolate"
}

impl Kind {
    pub(super) fn parse(text: &str) -> Option<Kind> {
        KINDS
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(kind, _)| *kind)
    }

    pub(super) fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// Whether its messages become rows of a table of this server.
    pub(super) fn is_table(self) -> bool {
        self.place() & TABLES != 0
    }

    /// This type as a place.
    pub(super) const fn place(self) -> Places {
        1 << self as u32
    }
}

/// A set of places, one a bit: the types of stores, then the two below.
pub(super) type Places = u32;

/// The top of the file, outside every block.
pub(super) const GLOBAL: Places = 1 << KINDS.len();
/// A store at the top of the file, of any type.
pub(super) const TOP: Places = GLOBAL << 1;

const STORE: Places = GLOBAL - 1;
const FILE: Places = Kind::File.place() | Kind::MultiFile.place();
const THRIFT: Places = Kind::ThriftFile.place() | Kind::ThriftMultiFile.place();
const FILES: Places = FILE | THRIFT;
const BUFFER: Places = Kind::Buffer.place();
const NETWORK: Places = Kind::Network.place();
const BUCKET: Places = Kind::Bucket.place();
const MULTI: Places = Kind::Multi.place();
const PERCOLATE: Places = Kind::Percolate.place();
const TABLES: Places = Kind::Index.place() | Kind::Queue.place() | PERCOLATE;

/// Each variable, sorted, with its places.
pub(super) const KEYS: [(&str, Places); 81] = [
    ("adaptive_backoff", BUFFER),
    ("add_newlines", FILE),
    ("base_filename", FILES),
    ("base_symlink_name", FILES),
    ("bucket_id", NETWORK),
    ("bucket_offset", BUCKET),
    ("bucket_range", BUCKET),
    ("bucket_subdir", BUCKET),
    ("bucket_type", BUCKET),
    ("bucket_updater_host", NETWORK),
    ("bucket_updater_port", NETWORK),
    ("bucket_updater_service", NETWORK),
    ("bucket_updater_service_options", NETWORK),
    ("bucket_updater_ttl", NETWORK),
    ("buffer_bypass_max_ratio", BUFFER),
    ("buffer_send_rate", BUFFER),
    ("categories", TOP),
    ("category", TOP),
    ("category_column", TABLES),
    ("check_interval", GLOBAL),
    ("chunk_size", FILES),
    ("column", TABLES),
    ("create_symlink", FILES),
    ("delimiter", BUCKET),
    ("dynamic_config_type", NETWORK),
    ("failure_bucket", BUCKET),
    ("fields", TABLES),
    ("file_path", FILES),
    ("flush_frequency_ms", THRIFT),
    ("flush_streaming", BUFFER),
    ("format", TABLES),
    ("fs_type", FILES),
    ("host_column", TABLES),
    ("ignore_network_error", NETWORK),
    ("into", PERCOLATE),
    ("list_default_port", NETWORK),
    ("max_conn", GLOBAL),
    ("max_msg_per_second", GLOBAL),
    ("max_queue_length", BUFFER),
    ("max_queue_size", GLOBAL),
    ("max_random_offset", BUFFER),
    ("max_retry_interval", BUFFER),
    ("max_size", FILES),
    ("max_write_interval", TOP),
    ("max_write_size", FILES),
    ("min_retry_interval", BUFFER),
    ("msg_buffer_size", THRIFT),
    ("must_succeed", TOP),
    ("new_thread_per_category", GLOBAL),
    ("num_buckets", BUCKET),
    ("num_thrift_server_threads", GLOBAL),
    ("port", GLOBAL),
    ("remote_host", NETWORK),
    ("remote_port", NETWORK),
    ("remove_key", BUCKET),
    ("replay_buffer", BUFFER),
    ("report_success", MULTI),
    ("rest_column", TABLES),
    ("retry_interval", BUFFER),
    ("retry_interval_range", BUFFER),
    ("rotate_hour", FILES),
    ("rotate_minute", FILES),
    ("rotate_on_reopen", FILES),
    ("rotate_period", FILES),
    ("service_cache_timeout", NETWORK),
    ("service_list", NETWORK),
    ("service_options", NETWORK),
    ("smc_service", NETWORK),
    ("sub_directory", FILES),
    ("sync", TOP),
    ("table", TABLES),
    ("target_write_size", TOP),
    ("time_column", TABLES),
    ("timeout", NETWORK),
    ("type", STORE),
    ("use_conn_pool", NETWORK),
    ("use_hostname_sub_directory", FILES),
    ("use_simple_file", THRIFT),
    ("write_category", FILES),
    ("write_meta", FILES),
    ("write_stats", FILES),
];

/// The variable of this name and its places.
pub(super) fn find(name: &str) -> Option<(&'static str, Places)> {
    let at = KEYS.binary_search_by_key(&name, |(key, _)| key).ok()?;
    Some(KEYS[at])
}

/// Whether a store may inherit the variable as `type::key`.
pub(super) fn is_inherited(key: &str) -> bool {
    !matches!(key, "category" | "categories" | "type")
}
