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
/// message. A copy of a model (`is_model`) has its files in a folder of its category.
///
/// # Errors
/// A name that cannot be that of a file: text for the log and `getStatusDetails`.
pub fn build(
    config: &StoreConfig,
    category: &[u8],
    is_model: bool,
    surroundings: &Surroundings,
) -> Result<Box<dyn Store>, String> {
    let part = |number: usize, config: &StoreConfig| {
        build(config, category, is_model, &surroundings.of_part(number))
    };
    let all = |configs: &[StoreConfig]| -> Result<Vec<Box<dyn Store>>, String> {
        let built = configs.iter().enumerate();
        built.map(|(number, config)| part(number, config)).collect()
    };
    Ok(match config {
        StoreConfig::File(config) => {
            Box::new(FileStore::new(config, category, is_model, surroundings)?)
        }
        StoreConfig::ThriftFile(config) => {
            Box::new(FileStore::thrift(config, category, is_model, surroundings)?)
        }
        StoreConfig::Buffer(config) => {
            let primary = part(0, &config.primary)?;
            let secondary: Box<dyn Store> = match &config.secondary {
                StoreConfig::File(file) => {
                    Box::new(buffer_file(file, category, is_model, surroundings)?)
                }
                other => part(1, other)?,
            };
            Box::new(Buffer::new(primary, secondary, config, surroundings))
        }
        StoreConfig::Network(config) => Box::new(Network::new(config, category, surroundings)),
        StoreConfig::Bucket(config) => {
            Box::new(Bucket::new(config, all(&config.buckets)?, surroundings))
        }
        StoreConfig::Multi(config) => {
            Box::new(Multi::new(config.any_succeeds, all(&config.stores)?))
        }
        StoreConfig::Category(model) => Box::new(Category::new(model, surroundings)),
        StoreConfig::Null => Box::new(Null::new(surroundings)),
        // The configuration has them at its top only, and the router gives them no line.
        StoreConfig::Table(_) => return Err("a table has no store behind the journal".to_owned()),
    })
}
