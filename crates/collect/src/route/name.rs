//! The name of a store, made of what it is and where its messages go.
//!
//! ```text
//! file /var/log/scribe/web
//! network central:1463
//! buffer(network central:1463, file /var/spool/scribe)
//! ```
//!
//! The name stays the same when the store moves within the file, or when its sizes, times and rates change. A name has at most
//! [`NAME_BYTES_MAX`] bytes and no NUL: a longer one ends in the CRC-32C of the whole.

use crate::config::{FileBase, NetworkConfig, StoreConfig};

/// Longest name of a store. Bytes.
const NAME_BYTES_MAX: usize = 200;

/// The name of a store.
pub(crate) fn of(store: &StoreConfig) -> String {
    let name = whole(store).replace('\0', "?");
    if name.len() <= NAME_BYTES_MAX {
        return name;
    }
    let sum = format!(" #{:08x}", crc32c::crc32c(name.as_bytes()));
    let end = name.floor_char_boundary(NAME_BYTES_MAX - sum.len());
    format!("{}{sum}", name.get(..end).unwrap_or_default())
}

/// The first word of a name: the type of the store.
pub(crate) fn kind(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|byte| matches!(byte, b' ' | b'('));
    name.get(..end.unwrap_or(name.len())).unwrap_or_default()
}

fn whole(store: &StoreConfig) -> String {
    match store {
        StoreConfig::File(file) => format!("file {}", path(&file.base)),
        StoreConfig::ThriftFile(file) => format!("thriftfile {}", path(&file.base)),
        StoreConfig::Network(network) => format!("network {}", servers(network)),
        StoreConfig::Buffer(buffer) => {
            format!(
                "buffer({}, {})",
                whole(&buffer.primary),
                whole(&buffer.secondary)
            )
        }
        StoreConfig::Bucket(bucket) => format!("bucket({})", list(&bucket.buckets)),
        StoreConfig::Multi(multi) => format!("multi({})", list(&multi.stores)),
        StoreConfig::Category(model) => format!("category({})", whole(model)),
        StoreConfig::Null => "null".to_owned(),
        StoreConfig::Table(table) => format!("table {}", table.table),
    }
}

fn list(stores: &[StoreConfig]) -> String {
    let names: Vec<String> = stores.iter().map(whole).collect();
    names.join(", ")
}

fn path(base: &FileBase) -> String {
    let parts = [
        base.file_path.as_str(),
        base.sub_directory.as_str(),
        base.base_filename.as_deref().unwrap_or_default(),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

fn servers(network: &NetworkConfig) -> String {
    let named = |hosts: &[(String, u16)]| {
        let hosts: Vec<String> = hosts
            .iter()
            .map(|(host, port)| format!("{host}:{port}"))
            .collect();
        hosts.join(",")
    };
    match &network.bucket_updater {
        Some(updater) => format!("bucket {} of {}", updater.bucket_id, named(&updater.hosts)),
        None => named(&network.hosts),
    }
}
