//! From the configuration of a store to the store.

use crate::config::StoreConfig;

use super::bucket::Bucket;
use super::buffer::Buffer;
use super::category::Category;
use super::file::{FileStore, buffer_file};
use super::multi::Multi;
use super::network::Network;
use super::null::Null;
use super::{Store, Surroundings};

/// Builds a store and the stores in it. Nothing is opened yet.
///
/// `category` is the category that the store serves; empty: several share it, so buffer files note the category of each
/// message. `copies`: how often a model was copied for this category. Each copy puts files into one more folder of its name, as
/// in Scribe: those of a `multifile` that is itself a copy lie in `PATH/web/web`. The files that a buffer reads back are for nobody
/// else: they go into one folder at most, where earlier builds put them.
///
/// # Errors
/// A name that cannot be that of a file: text for the log and `getStatusDetails`.
pub fn build(
    config: &StoreConfig,
    category: &[u8],
    copies: usize,
    surroundings: &Surroundings,
) -> Result<Box<dyn Store>, String> {
    let part = |number: usize, config: &StoreConfig| {
        build(config, category, copies, &surroundings.of_part(number))
    };
    let all = |configs: &[StoreConfig]| -> Result<Vec<Box<dyn Store>>, String> {
        let built = configs.iter().enumerate();
        built.map(|(number, config)| part(number, config)).collect()
    };
    Ok(match config {
        StoreConfig::File(config) => {
            Box::new(FileStore::new(config, category, copies, surroundings)?)
        }
        StoreConfig::ThriftFile(config) => {
            Box::new(FileStore::thrift(config, category, copies, surroundings)?)
        }
        StoreConfig::Buffer(config) => {
            let primary = part(0, &config.primary)?;
            let secondary: Box<dyn Store> = if let StoreConfig::File(file) = &config.secondary
                && config.replay_buffer
            {
                Box::new(buffer_file(file, category, copies.min(1), surroundings)?)
            } else {
                // What is not read back is for people: a store as any other.
                part(1, &config.secondary)?
            };
            let parts = (primary, secondary);
            Box::new(Buffer::new(parts, config, (category, copies), surroundings))
        }
        StoreConfig::Network(config) => Box::new(Network::new(config, category, surroundings)),
        StoreConfig::Bucket(config) => {
            Box::new(Bucket::new(config, all(&config.buckets)?, surroundings))
        }
        StoreConfig::Multi(config) => {
            Box::new(Multi::new(config.any_succeeds, all(&config.stores)?))
        }
        StoreConfig::Category(model) => Box::new(Category::new(model, copies, surroundings)),
        StoreConfig::Null => Box::new(Null::new(surroundings)),
        // The configuration has them at its top only, and the router gives them no line.
        StoreConfig::Table(_) => return Err("a table has no store behind the journal".to_owned()),
    })
}
