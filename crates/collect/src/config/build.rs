//! The tree of a file to stores: globals, stores at the top, and the stores that hold others. `leaves.rs` has those that do not.

use std::collections::BTreeSet;

use engine::SyncMode;

use super::keys::{self, Kind};
use super::parse::Block;
use super::problem::{Problems, quote};
use super::values::{ANY, PORT, Scope, TIME, Values};
use super::{
    BucketConfig, BucketType, BufferConfig, Categories, Configuration, Defaults, FileConfig,
    MultiConfig, STORES_MAX, StoreConfig, TEXT_BYTES_MAX, ThriftFileConfig, TopStore,
};

/// Default of `target_write_size`. Bytes.
pub(super) const TARGET_WRITE_SIZE: u64 = 16_384;

/// The configuration of a file.
pub(super) fn configuration(
    root: &Block<'_>,
    defaults: Defaults,
    problems: &mut Problems,
) -> Configuration {
    let mut configuration = globals(Some(root), defaults, problems);
    let mut builder = Builder {
        values: Values { problems },
        defaults,
        stores_left: STORES_MAX,
        text_left: TEXT_BYTES_MAX,
        category: None,
        shared: None,
    };
    let globals = Scope::globals(root);
    builder.without_effect(&globals, keys::GLOBAL);
    let mut blocks: Vec<_> = root.blocks.iter().collect();
    blocks.sort_by_key(|(_, block)| block.line);
    for (name, block) in blocks {
        let store = builder.top(name, block, &globals, configuration.new_thread_per_category);
        configuration.stores.extend(store);
    }
    if configuration.stores.is_empty() {
        problems.error(1, "No stores configured successfully");
    }
    configuration
}

/// The variables outside every block; `None`: those of a file that is not read.
pub(super) fn globals(
    root: Option<&Block<'_>>,
    defaults: Defaults,
    problems: &mut Problems,
) -> Configuration {
    let mut all = Configuration {
        max_msg_per_second: defaults.pick(0, 100_000),
        max_queue_size: defaults.pick(5_000_000, 500_000),
        ..Configuration::default()
    };
    let Some(root) = root else {
        return all;
    };
    let at = &Scope::globals(root);
    let mut values = Values { problems };
    all.port = u16::try_from(values.number(at, "port", PORT, 0)).unwrap_or(0);
    all.max_msg_per_second = values.number(at, "max_msg_per_second", ANY, all.max_msg_per_second);
    all.max_queue_size = values.decimal(at, "max_queue_size", all.max_queue_size);
    all.check_interval_s = values
        .number(at, "check_interval", TIME, all.check_interval_s)
        .max(1);
    all.max_conn = values.number(at, "max_conn", ANY, 0);
    all.new_thread_per_category = values.unless_no(at, "new_thread_per_category");
    if values.number_if(at, "num_thrift_server_threads", ANY) == Some(0) {
        let line = at.line_of("num_thrift_server_threads");
        let text = "Bad config - exception: invalid value for num_thrift_server_threads";
        values.problems.error(line, text);
    }
    all
}

pub(super) struct Builder<'p> {
    pub(super) values: Values<'p>,
    pub(super) defaults: Defaults,
    /// Stores that may still be made.
    stores_left: usize,
    /// Bytes of text that stores may still have.
    text_left: usize,
    /// The only category of the store at the top that is being built; `None`: it has several or is a model.
    pub(super) category: Option<Vec<u8>>,
    /// Several categories share one store, because of `new_thread_per_category=no`: the name of its files.
    pub(super) shared: Option<String>,
}

impl Builder<'_> {
    pub(super) fn error(&mut self, line: u32, text: impl Into<String>) {
        self.values.problems.error(line, text);
    }

    pub(super) fn warning(&mut self, line: u32, text: impl Into<String>) {
        self.values.problems.warning(line, text);
    }

    /// A warning that hundreds of stores may bring with the same words.
    pub(super) fn warning_once(&mut self, line: u32, text: impl Into<String>) {
        self.values.problems.warning_once(line, text);
    }

    fn top(
        &mut self,
        name: &str,
        block: &Block<'_>,
        globals: &Scope<'_>,
        threads: bool,
    ) -> Option<TopStore> {
        let (categories, is_model, given) = self.categories(block)?;
        let Some(entry) = block
            .values
            .get("type")
            .filter(|entry| !entry.value.is_empty())
        else {
            let text = format!(
                "Bad config - no type for store with category: {}",
                quote(given)
            );
            self.error(block.line, text);
            return None;
        };
        let kind = self.kind(entry.value, entry.line)?;
        let at = &Scope {
            block,
            kind: Some(kind),
            around: Some(globals),
            bucket: None,
            is_read_back: false,
        };
        self.category = match categories.as_slice() {
            [Categories::Exact(name)] if !is_model => Some(name.clone()),
            _ => None,
        };
        self.shared = (!threads && self.category.is_none()).then(|| {
            let name = if is_model {
                given
            } else {
                given.strip_suffix('*').unwrap_or(given)
            };
            name.to_owned()
        });
        self.without_effect(at, kind.place() | keys::TOP);
        let interval = self.defaults.pick(1, 10);
        let target_write_size = self
            .values
            .decimal(at, "target_write_size", TARGET_WRITE_SIZE);
        let max_write_interval_s = self
            .values
            .number(at, "max_write_interval", TIME, interval)
            .max(1);
        let must_succeed = self.values.unless_no(at, "must_succeed");
        let sync = self.sync(at);
        let store = self.store(at, kind)?;
        Some(TopStore {
            name: name.to_owned(),
            categories,
            is_model,
            target_write_size,
            max_write_interval_s,
            must_succeed,
            sync,
            store,
        })
    }

    /// The categories of a store, whether `categories=` names them, and the text that does.
    fn categories<'a>(&mut self, block: &Block<'a>) -> Option<(Vec<Categories>, bool, &'a str)> {
        let one = block.values.get("category");
        let several = block.values.get("categories");
        let Some(last) = several.or(one) else {
            self.error(block.line, "Bad config - store with no category");
            return None;
        };
        let mut names: Vec<&str> = one.iter().map(|entry| entry.value).collect();
        names.extend(
            several
                .iter()
                .flat_map(|entry| entry.value.split_whitespace()),
        );
        if names.is_empty() || names.contains(&"") {
            self.error(last.line, "Bad config - store with blank category");
            return None;
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        if names.len() < count {
            self.warning(last.line, "a category is named twice: it counts once");
        }
        let categories = names.iter().map(|name| match name.strip_suffix('*') {
            _ if *name == "default" => Categories::Default,
            Some(prefix) => Categories::Prefix(prefix.into()),
            None => Categories::Exact((*name).into()),
        });
        Some((categories.collect(), several.is_some(), last.value))
    }

    fn sync(&mut self, at: &Scope<'_>) -> Option<SyncMode> {
        let entry = at.find("sync")?;
        match SyncMode::parse(entry.value) {
            Ok(mode) => Some(mode),
            Err(_) => {
                let text = format!(
                    "sync={} is none of always, never and a time such as 100ms: the server's counts",
                    quote(entry.value)
                );
                self.error(entry.line, text);
                None
            }
        }
    }

    fn kind(&mut self, text: &str, line: u32) -> Option<Kind> {
        let kind = Kind::parse(text);
        if kind.is_none() {
            let text = format!("Bad config - can't create a store of type: {}", quote(text));
            self.error(line, text);
        }
        kind
    }

    /// Names the entries of a block that no store of it reads.
    fn without_effect(&mut self, at: &Scope<'_>, here: keys::Places) {
        for (key, entry) in &at.block.values {
            if keys::find(key).is_some_and(|(_, places)| places & here == 0) {
                let place = match at.kind {
                    Some(kind) => format!("in this store of type {}", kind.name()),
                    None => "outside the stores".to_owned(),
                };
                self.warning(entry.line, format!("{key} has no effect {place}"));
            }
        }
    }

    /// Names the blocks of a store that it does not read.
    pub(super) fn unread_blocks(&mut self, at: &Scope<'_>, is_read: impl Fn(&str) -> bool) {
        for (name, block) in at.block.blocks.iter().filter(|(name, _)| !is_read(name)) {
            let kind = at.kind.map_or("", Kind::name);
            let text = format!(
                "<{}> has no effect in this store of type {kind}",
                quote(name)
            );
            self.warning(block.line, text);
        }
    }

    /// Counts stores against the limit.
    fn take(&mut self, count: u64, line: u32) -> Option<()> {
        let left = usize::try_from(count)
            .ok()
            .and_then(|count| self.stores_left.checked_sub(count));
        match left {
            Some(left) => self.stores_left = left,
            None => {
                let text = format!(
                    "a configuration has {STORES_MAX} stores at most, each bucket counted: this one is left out"
                );
                self.error(line, text);
            }
        }
        left.map(|_| ())
    }

    /// Counts texts of `bytes` bytes, `copies` times, against the limit.
    pub(super) fn take_text(&mut self, bytes: usize, copies: u64, line: u32) -> Option<()> {
        let left = usize::try_from(copies)
            .ok()
            .and_then(|copies| bytes.checked_mul(copies))
            .and_then(|bytes| self.text_left.checked_sub(bytes));
        match left {
            Some(left) => self.text_left = left,
            None => {
                let text = format!(
                    "the texts of a configuration's stores have {TEXT_BYTES_MAX} bytes at most, each copy counted: this store is left out"
                );
                self.error(line, text);
            }
        }
        left.map(|_| ())
    }

    /// A store and those in it; `None`: it cannot be built, and an error says why.
    fn store(&mut self, at: &Scope<'_>, kind: Kind) -> Option<StoreConfig> {
        self.take(1, at.block.line)?;
        let store = match kind {
            Kind::File => StoreConfig::File(self.file(at)?),
            Kind::ThriftFile => StoreConfig::ThriftFile(self.thrift_file(at)?),
            Kind::MultiFile => StoreConfig::Category(Box::new(StoreConfig::File(self.file(at)?))),
            Kind::ThriftMultiFile => {
                StoreConfig::Category(Box::new(StoreConfig::ThriftFile(self.thrift_file(at)?)))
            }
            Kind::Network => StoreConfig::Network(self.network(at)?),
            Kind::Null => StoreConfig::Null,
            Kind::Index | Kind::Queue | Kind::Percolate => {
                return Some(StoreConfig::Table(Box::new(self.table(at, kind)?)));
            }
            Kind::Buffer => return Some(StoreConfig::Buffer(Box::new(self.buffer(at)))),
            Kind::Bucket => return Some(StoreConfig::Bucket(Box::new(self.bucket(at)?))),
            Kind::Multi => return Some(StoreConfig::Multi(self.multi(at)?)),
            Kind::Category => return Some(StoreConfig::Category(Box::new(self.model(at)?))),
        };
        self.unread_blocks(at, |_| false);
        Some(store)
    }

    /// The block of that name as a store in another one.
    fn child<'a>(&mut self, at: &'a Scope<'a>, name: &str) -> Option<Scope<'a>> {
        let Some(block) = at.block.blocks.get(name) else {
            let kind = at.kind.map_or("", Kind::name);
            let text = format!("Bad config - {kind} store doesn't have <{name}>");
            self.error(at.block.line, text);
            return None;
        };
        let Some(entry) = block.values.get("type") else {
            self.error(block.line, format!("Bad config - <{name}> has no type"));
            return None;
        };
        let kind = self.kind(entry.value, entry.line)?;
        if kind.is_table() {
            let text = format!(
                "a store of type {} stands at the top of the file, not in another store: give the category a <store> more",
                kind.name()
            );
            self.error(entry.line, text);
            return None;
        }
        let child = Scope {
            block,
            kind: Some(kind),
            around: Some(at),
            bucket: at.bucket,
            is_read_back: false,
        };
        self.without_effect(&child, kind.place());
        Some(child)
    }

    fn build(&mut self, at: &Scope<'_>) -> Option<StoreConfig> {
        self.store(at, at.kind?)
    }

    fn buffer(&mut self, at: &Scope<'_>) -> BufferConfig {
        let mut buffer = self.buffer_values(at);
        self.unread_blocks(at, |name| matches!(name, "primary" | "secondary"));
        let secondary = self.child(at, "secondary").and_then(|mut child| {
            let readable = matches!(child.kind, Some(Kind::File | Kind::Null));
            if buffer.replay_buffer && !readable {
                let text = "a buffer reads only file and null back: replay_buffer=no counts, and messages stay in the secondary";
                self.error(child.block.line, text);
                buffer.replay_buffer = false;
            }
            child.is_read_back = buffer.replay_buffer;
            self.build(&child)
        });
        let primary = self.child(at, "primary").and_then(|child| {
            if child.kind == Some(Kind::Multi) {
                let text = "Bad config - buffer primary store cannot be multistore";
                self.error(child.block.line, text);
                return None;
            }
            self.build(&child)
        });
        buffer.secondary = secondary.unwrap_or_else(|| self.instead(at, "secondary"));
        buffer.primary = primary.unwrap_or_else(|| self.instead(at, "primary"));
        buffer
    }

    /// The store in the place of a primary or secondary that cannot be built: nothing is dropped for a mistake in a file.
    fn instead(&mut self, at: &Scope<'_>, role: &str) -> StoreConfig {
        let text = format!(
            "the {role} of this buffer is a file store in collected/{role} of the data directory instead"
        );
        self.error(at.block.line, text);
        let mut file = FileConfig::default();
        file.base.file_path = role.to_owned();
        file.base.create_symlink = role == "primary";
        file.base.write_category = self.shared.is_some() && role == "secondary";
        StoreConfig::File(file)
    }

    fn buffer_values(&mut self, at: &Scope<'_>) -> BufferConfig {
        let (min, max, offset) = (5, 100, 20);
        let values = &mut self.values;
        let mut buffer = BufferConfig {
            primary: StoreConfig::Null,
            secondary: StoreConfig::Null,
            buffer_send_rate: values.number_if(at, "buffer_send_rate", ANY),
            retry_interval_s: values.number(at, "retry_interval", TIME, 300),
            retry_interval_range_s: values.number(at, "retry_interval_range", TIME, 60),
            replay_buffer: values.yes(at, "replay_buffer", true),
            flush_streaming: values.yes(at, "flush_streaming", false),
            buffer_bypass_max_ratio: values.ratio(at, "buffer_bypass_max_ratio", 0.75),
            adaptive_backoff: values.yes(at, "adaptive_backoff", false),
            min_retry_interval_s: values.number(at, "min_retry_interval", TIME, min),
            max_retry_interval_s: values.number(at, "max_retry_interval", TIME, max),
            max_random_offset_s: values.number(at, "max_random_offset", TIME, offset),
            max_queue_length: values.number(
                at,
                "max_queue_length",
                ANY,
                self.defaults.pick(0, 2_000_000),
            ),
        };
        if buffer.max_random_offset_s > buffer.max_retry_interval_s {
            buffer.max_random_offset_s = buffer.max_retry_interval_s;
            let text = format!(
                "max_random_offset is above max_retry_interval: {} counts",
                buffer.max_retry_interval_s
            );
            self.warning(at.line_of("max_random_offset"), text);
        }
        if buffer.retry_interval_range_s > buffer.retry_interval_s {
            buffer.retry_interval_range_s = buffer.retry_interval_s;
            let text = format!(
                "retry_interval_range is above retry_interval: {} counts",
                buffer.retry_interval_s
            );
            self.warning(at.line_of("retry_interval_range"), text);
        }
        if buffer.min_retry_interval_s > buffer.max_retry_interval_s {
            (buffer.min_retry_interval_s, buffer.max_retry_interval_s) = (min, max);
            let text =
                format!("min_retry_interval is above max_retry_interval: {min} and {max} count");
            self.error(at.line_of("min_retry_interval"), text);
        }
        buffer
    }

    fn bucket(&mut self, at: &Scope<'_>) -> Option<BucketConfig> {
        let bucket_type = self.bucket_type(at);
        let has_key = !matches!(bucket_type, BucketType::ContextLog | BucketType::Random);
        let delimiter = self
            .values
            .number(at, "delimiter", 1..=255, u64::from(b':'));
        let bucket_range = self.values.number(at, "bucket_range", ANY, 0);
        if bucket_type == BucketType::KeyRange && bucket_range == 0 {
            let text = "bucket_range is 0: all messages go to bucket 0";
            self.warning(at.line_of("bucket_range"), text);
        }
        let remove_key = self.values.yes(at, "remove_key", false);
        if remove_key && bucket_type == BucketType::ContextLog {
            let text =
                "Bad config - bucketizer store of type context_log do not support remove_key";
            self.error(at.line_of("remove_key"), text);
            return None;
        }
        let missing = self.defaults.pick(None, Some(1));
        let Some(count) = self
            .values
            .number_if(at, "num_buckets", 1..=STORES_MAX as u64)
            .or(missing)
        else {
            let text = "Bad config - bucket store must have num_buckets";
            self.error(at.line_of("num_buckets"), text);
            return None;
        };
        let buckets = match at.block.blocks.get("bucket") {
            Some(_) => self.buckets_of_one(at, count)?,
            None => self.buckets_of_each(at, count)?,
        };
        Some(BucketConfig {
            bucket_type,
            delimiter: if has_key {
                u8::try_from(delimiter).unwrap_or(b':')
            } else {
                b':'
            },
            bucket_range,
            remove_key: remove_key && has_key,
            buckets,
        })
    }

    fn bucket_type(&mut self, at: &Scope<'_>) -> BucketType {
        let Some(entry) = at.find("bucket_type") else {
            return BucketType::ContextLog;
        };
        match entry.value {
            "context_log" => BucketType::ContextLog,
            "random" => BucketType::Random,
            "key_hash" => BucketType::KeyHash,
            "key_modulo" => BucketType::KeyModulo,
            "key_range" => BucketType::KeyRange,
            value => {
                let text = format!(
                    "bucket_type={} is no type of buckets: context_log counts",
                    quote(value)
                );
                self.error(entry.line, text);
                BucketType::ContextLog
            }
        }
    }

    /// `<bucket>`: file stores that differ in their path only.
    fn buckets_of_one(&mut self, at: &Scope<'_>, count: u64) -> Option<Vec<StoreConfig>> {
        if at.block.blocks.contains_key("bucket0") || at.block.blocks.contains_key("bucket1") {
            self.error(
                at.block.line,
                "Bad config - bucket store has too many buckets defined",
            );
            return None;
        }
        self.unread_blocks(at, |name| name == "bucket");
        let child = self.child(at, "bucket")?;
        let line = child.block.line;
        if !matches!(child.kind, Some(Kind::File | Kind::ThriftFile)) {
            self.error(line, "Bad config - <bucket> must be of type file or thriftfile: others need <bucket0>, <bucket1>, …");
            return None;
        }
        let (Some(folder), Some(path)) = (at.text("bucket_subdir"), child.text("file_path")) else {
            self.error(line, "Bad config - <bucket> must have a file_path, and the store around it a bucket_subdir");
            return None;
        };
        let offset = self.values.number(at, "bucket_offset", TIME, 0);
        let failure = at.text("failure_bucket").filter(|name| !name.is_empty());
        let before = self.text_left;
        let model = self.build(&child)?;
        self.take(count, line)?;
        let folder_bytes = failure.as_ref().map_or(0, String::len) + folder.len() + 1;
        self.take_text(before - self.text_left + folder_bytes, count, line)?;
        let buckets = (0..=count).map(|number| {
            let folder = match &failure {
                Some(failure) if number == 0 => failure.clone(),
                _ => format!("{folder}{:03}", number + offset),
            };
            let mut bucket = model.clone();
            if let StoreConfig::File(FileConfig { base, .. })
            | StoreConfig::ThriftFile(ThriftFileConfig { base, .. }) = &mut bucket
            {
                base.file_path = format!("{path}/{folder}");
            }
            bucket
        });
        Some(buckets.collect())
    }

    /// `<bucket0>` to `<bucketN>`: any stores.
    fn buckets_of_each(&mut self, at: &Scope<'_>, count: u64) -> Option<Vec<StoreConfig>> {
        for key in ["bucket_subdir", "bucket_offset", "failure_bucket"] {
            if let Some(entry) = at.find(key) {
                let text = format!("Bad config - cannot have {key} when defining multiple buckets");
                self.error(entry.line, text);
                return None;
            }
        }
        if let Some(block) = at.block.blocks.get(format!("bucket{}", count + 1).as_str()) {
            self.error(
                block.line,
                "Bad config - bucket store has too many buckets defined",
            );
            return None;
        }
        let number_of = |name: &str| {
            name.strip_prefix("bucket")
                .and_then(|number| number.parse::<u64>().ok())
        };
        self.unread_blocks(at, |name| {
            number_of(name).is_some_and(|number| number <= count)
        });
        let mut buckets = Vec::new();
        for number in 0..=count {
            let mut child = self.child(at, &format!("bucket{number}"))?;
            child.bucket = Some(number);
            buckets.push(self.build(&child)?);
        }
        Some(buckets)
    }

    fn multi(&mut self, at: &Scope<'_>) -> Option<MultiConfig> {
        let any_succeeds = match at.find("report_success") {
            Some(entry) if entry.value == "any" => true,
            Some(entry) if entry.value != "all" => {
                let text = format!(
                    "MULTI: Invalid report_success value. {} is neither all nor any: all counts",
                    quote(entry.value)
                );
                self.error(entry.line, text);
                false
            }
            _ => false,
        };
        let first = u64::from(!at.block.blocks.contains_key("store0"));
        let names = (first..).map(|number| format!("store{number}"));
        let names = names.take_while(|name| at.block.blocks.contains_key(name.as_str()));
        let names: BTreeSet<String> = names.collect();
        self.unread_blocks(at, |name| names.contains(name));
        let mut stores = Vec::new();
        for number in (first..).take(names.len()) {
            let child = self.child(at, &format!("store{number}"));
            stores.extend(child.and_then(|child| self.build(&child)));
        }
        if stores.is_empty() {
            self.error(at.block.line, "MULTI: No stores found, invalid store.");
            return None;
        }
        Some(MultiConfig {
            any_succeeds,
            stores,
        })
    }

    fn model(&mut self, at: &Scope<'_>) -> Option<StoreConfig> {
        self.unread_blocks(at, |name| name == "model");
        let child = self.child(at, "model")?;
        self.build(&child)
    }
}
