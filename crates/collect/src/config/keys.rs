//! The variables of Scribe and the places where each has an effect.

/// A type of store, as `type=` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    File,
    ThriftFile,
    Buffer,
    Network,
    Bucket,
    Multi,
    Category,
    MultiFile,
    ThriftMultiFile,
    Null,
}

const KINDS: [(Kind, &str); 10] = [
    (Kind::File, "file"),
    (Kind::ThriftFile, "thriftfile"),
    (Kind::Buffer, "buffer"),
    (Kind::Network, "network"),
    (Kind::Bucket, "bucket"),
    (Kind::Multi, "multi"),
    (Kind::Category, "category"),
    (Kind::MultiFile, "multifile"),
    (Kind::ThriftMultiFile, "thriftmultifile"),
    (Kind::Null, "null"),
];

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

    /// This type as a place.
    pub(super) const fn place(self) -> Places {
        1 << self as u16
    }
}

/// A set of places, one a bit.
pub(super) type Places = u16;

/// The top of the file, outside every block.
pub(super) const GLOBAL: Places = 1 << 10;
/// A store at the top of the file, of any type.
pub(super) const TOP: Places = 1 << 11;

const STORE: Places = GLOBAL - 1;
const FILE: Places = Kind::File.place() | Kind::MultiFile.place();
const THRIFT: Places = Kind::ThriftFile.place() | Kind::ThriftMultiFile.place();
const FILES: Places = FILE | THRIFT;
const BUFFER: Places = Kind::Buffer.place();
const NETWORK: Places = Kind::Network.place();
const BUCKET: Places = Kind::Bucket.place();
const MULTI: Places = Kind::Multi.place();

/// Each variable, sorted, with its places.
pub(super) const KEYS: [(&str, Places); 72] = [
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
    ("check_interval", GLOBAL),
    ("chunk_size", FILES),
    ("create_symlink", FILES),
    ("delimiter", BUCKET),
    ("dynamic_config_type", NETWORK),
    ("failure_bucket", BUCKET),
    ("file_path", FILES),
    ("flush_frequency_ms", THRIFT),
    ("flush_streaming", BUFFER),
    ("fs_type", FILES),
    ("ignore_network_error", NETWORK),
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
    ("target_write_size", TOP),
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
