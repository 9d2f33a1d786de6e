//! Stores that hold no others: files and networks.

use super::build::Builder;
use super::problem::quote;
use super::values::{ANY, PORT, Scope, TIME};
use super::{BucketUpdater, FileBase, FileConfig, NetworkConfig, RotatePeriod, ThriftFileConfig};

/// A longer list of categories names no file: the first of them does. Bytes.
const SHARED_NAME_BYTES_MAX: usize = 200;

impl Builder<'_> {
    pub(super) fn file(&mut self, at: &Scope<'_>) -> Option<FileConfig> {
        Some(FileConfig {
            base: self.file_base(at)?,
            add_newlines: self.values.number(at, "add_newlines", ANY, 0) != 0,
        })
    }

    pub(super) fn thrift_file(&mut self, at: &Scope<'_>) -> Option<ThriftFileConfig> {
        Some(ThriftFileConfig {
            base: self.file_base(at)?,
            flush_frequency_ms: self.values.number(at, "flush_frequency_ms", TIME, 0),
            msg_buffer_size: self.values.number(at, "msg_buffer_size", ANY, 0),
            use_simple_file: self.values.number(at, "use_simple_file", ANY, 0) != 0,
        })
    }

    /// `None`: another file system than this machine's.
    fn file_base(&mut self, at: &Scope<'_>) -> Option<FileBase> {
        if let Some(entry) = at.find("fs_type").filter(|entry| entry.value != "std") {
            let text = format!(
                "fs_type={} is not supported, only std is: this store is left out",
                quote(entry.value)
            );
            self.error(entry.line, text);
            return None;
        }
        let texts = [
            "file_path",
            "base_filename",
            "base_symlink_name",
            "sub_directory",
        ];
        let bytes: usize = texts
            .iter()
            .filter_map(|key| at.find(key))
            .map(|entry| entry.value.len())
            .sum();
        // Files of categories that share a store have its own name. A buffer's files keep that of earlier builds: they are read.
        let shared = self.shared.clone();
        let shared = shared.filter(|name| !at.is_read_back && name.len() <= SHARED_NAME_BYTES_MAX);
        let bytes = bytes + shared.as_ref().map_or(0, String::len);
        self.take_text(bytes, 1, at.block.line)?;
        let default = FileBase::default();
        let values = &mut self.values;
        let hour = values.number(at, "rotate_hour", 0..=23, default.rotate_hour.into());
        let minute = values.number(at, "rotate_minute", 0..=59, default.rotate_minute.into());
        let mut base = FileBase {
            file_path: at.text("file_path").unwrap_or(default.file_path),
            base_filename: at.text("base_filename").or(shared),
            base_symlink_name: at.text("base_symlink_name"),
            sub_directory: at.text("sub_directory").unwrap_or_default(),
            use_hostname_sub_directory: values.yes(at, "use_hostname_sub_directory", false),
            rotate_period: values.period(at, default.rotate_period),
            rotate_hour: u32::try_from(hour).unwrap_or(default.rotate_hour),
            rotate_minute: u32::try_from(minute).unwrap_or(default.rotate_minute),
            max_size: values.number(at, "max_size", ANY, default.max_size),
            max_write_size: values.number(at, "max_write_size", ANY, default.max_write_size),
            write_meta: values.yes(at, "write_meta", default.write_meta),
            write_category: values.yes(at, "write_category", default.write_category),
            create_symlink: values.yes(at, "create_symlink", default.create_symlink),
            write_stats: values.yes(at, "write_stats", default.write_stats),
            chunk_size: values.number(at, "chunk_size", ANY, default.chunk_size),
            rotate_on_reopen: values.yes(at, "rotate_on_reopen", default.rotate_on_reopen),
        };
        if base.use_hostname_sub_directory && !base.sub_directory.is_empty() {
            base.sub_directory.clear();
            let text = "use_hostname_sub_directory overrides sub_directory";
            self.warning(at.line_of("use_hostname_sub_directory"), text);
        }
        if at.find("file_path").is_none() {
            self.warning(
                at.block.line,
                "the store has no file_path: its files lie in /tmp",
            );
        }
        if base.base_filename.is_none() && self.category.is_some() {
            self.warning(
                at.block.line,
                "the store has no base_filename: its files are named by the category",
            );
        }
        if at.is_read_back {
            self.read_back(at, &mut base);
        }
        Some(base)
    }

    /// Files that a buffer reads back end by size only, have no padding, and carry the category where categories share them.
    fn read_back(&mut self, at: &Scope<'_>, base: &mut FileBase) {
        if base.rotate_period != RotatePeriod::Never || base.chunk_size != 0 {
            let text =
                "rotate_period and chunk_size have no effect in a secondary that is read back";
            self.warning(at.block.line, text);
        }
        base.rotate_period = RotatePeriod::Never;
        base.chunk_size = 0;
        base.create_symlink = false;
        base.write_category |= self.shared.is_some();
    }

    /// `None`: its texts are beyond the limit.
    pub(super) fn network(&mut self, at: &Scope<'_>) -> Option<NetworkConfig> {
        let texts = ["service_list", "remote_host", "bucket_updater_host"];
        let bytes: usize = texts
            .iter()
            .filter_map(|key| at.find(key))
            .map(|entry| entry.value.len())
            .sum();
        let category = self.category.as_ref().map_or(0, Vec::len);
        self.take_text(bytes + category, 1, at.block.line)?;
        if let Some(entry) = at.find("smc_service") {
            let text = "smc_service is not supported: service_list or remote_host count";
            self.warning_once(entry.line, text);
        }
        for key in ["service_options", "service_cache_timeout"] {
            if let Some(entry) = at.find(key) {
                self.warning_once(
                    entry.line,
                    format!("{key} is not supported and has no effect"),
                );
            }
        }
        if self.values.yes(at, "use_conn_pool", false) {
            let text =
                "use_conn_pool has no effect: each network store has a connection of its own";
            self.warning_once(at.line_of("use_conn_pool"), text);
        }
        let list = at.find("service_list");
        let hosts = match list {
            Some(entry) => {
                let port = self.port(at, "list_default_port");
                let hosts = entry.value.split_whitespace();
                hosts
                    .filter_map(|host| self.values.host(host, port, entry.line))
                    .collect()
            }
            None => {
                let port = self.port(at, "remote_port");
                let host = at
                    .text("remote_host")
                    .filter(|host| port > 0 && !host.is_empty());
                host.map(|host| (host, port))
                    .into_iter()
                    .collect::<Vec<_>>()
            }
        };
        let bucket_updater = self.bucket_updater(at);
        if hosts.is_empty() && bucket_updater.is_none() {
            let text = "Bad config - invalid location for remote server: the store never opens";
            self.error(at.block.line, text);
        }
        Some(NetworkConfig {
            hosts,
            is_service: list.is_some(),
            timeout_ms: self.values.number(at, "timeout", 1..=*TIME.end(), 5_000),
            ignore_network_error: self.values.yes(at, "ignore_network_error", false),
            bucket_updater,
        })
    }

    /// 0: not given, or bad.
    fn port(&mut self, at: &Scope<'_>, key: &'static str) -> u16 {
        u16::try_from(self.values.number(at, key, PORT, 0)).unwrap_or(0)
    }

    fn bucket_updater(&mut self, at: &Scope<'_>) -> Option<BucketUpdater> {
        let entry = at.find("dynamic_config_type")?;
        if entry.value != "thrift_bucket" {
            let text = format!(
                "dynamic_config_type={} is not thrift_bucket: it is ignored",
                quote(entry.value)
            );
            self.error(entry.line, text);
            return None;
        }
        for key in ["bucket_updater_service", "bucket_updater_service_options"] {
            if let Some(entry) = at.find(key) {
                self.warning_once(
                    entry.line,
                    format!("{key} is not supported and has no effect"),
                );
            }
        }
        let id = at
            .bucket
            .or_else(|| self.values.number_if(at, "bucket_id", ANY));
        let port = self.port(at, "bucket_updater_port");
        let host = at
            .text("bucket_updater_host")
            .filter(|host| port > 0 && !host.is_empty());
        let (Some(bucket_id), Some(host)) = (id, host) else {
            let text = "dynamic_config_type needs bucket_updater_host, bucket_updater_port, and a bucket store around it or bucket_id";
            self.error(entry.line, text);
            return None;
        };
        Some(BucketUpdater {
            bucket_id,
            category: self.category.clone().unwrap_or_default(),
            hosts: vec![(host, port)],
            ttl_s: self.values.number(at, "bucket_updater_ttl", TIME, 60),
        })
    }
}
