//! Which stores take the messages of a category.
//!
//! # Example
//! ```text
//! store0  category=default         web       store2, the exact name
//! store1  category=we*             wefts     store1, the first prefix in order of name
//! store2  category=web             mail      store0
//! ```
//!
//! A store of a table takes messages as any other, but has no line: the record that takes the messages has its rows.
//!
//! Without a default store `mail` has no store: its messages are counted as `received bad` and dropped.
//!
//! With `new_thread_per_category` a default store, a prefix store, and a store with `categories=` are models: each category gets
//! a line of its own, `store0:mail`. Without, and for a store with one exact category, the store is one line, `store2`.

use std::collections::{BTreeMap, HashMap};

use crate::config::{Categories, Configuration, StoreConfig, TableConfig, TopStore};

/// Longest name of a category. Bytes.
pub const CATEGORY_BYTES_MAX: usize = 1_024;
/// Longest part of a category's name between two `/`. Bytes. A file's name of 255 also has a date and a suffix.
pub const PART_BYTES_MAX: usize = 220;
/// Longest name of a category that file stores write in hexadecimal, as `hex-` and the digits: one that is not UTF-8. Bytes.
const HEX_BYTES_MAX: usize = (PART_BYTES_MAX - "hex-".len()) / 2;

/// The stores of a configuration by category.
#[derive(Debug, Default)]
pub(crate) struct Router {
    configuration: Configuration,
    exact: HashMap<Vec<u8>, Vec<usize>>,
    prefixes: BTreeMap<Vec<u8>, Vec<usize>>,
    default: Vec<usize>,
    /// Some store is a table.
    pub(crate) has_tables: bool,
}

/// A line that a category's messages go to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target<'a> {
    /// Name of the line: stable as long as the store keeps its name.
    pub id: Vec<u8>,
    /// The category that its store is built for.
    pub category: Vec<u8>,
    /// The store is a copy of a model.
    pub is_copy: bool,
    /// The store's place in the configuration.
    pub store: &'a TopStore,
}

impl Router {
    pub(crate) fn new(configuration: Configuration) -> Router {
        let mut router = Router::default();
        for (index, store) in configuration.stores.iter().enumerate() {
            for categories in &store.categories {
                let of = match categories {
                    Categories::Default => &mut router.default,
                    Categories::Exact(name) => router.exact.entry(name.clone()).or_default(),
                    Categories::Prefix(name) => router.prefixes.entry(name.clone()).or_default(),
                };
                if !of.contains(&index) {
                    of.push(index);
                }
            }
        }
        let mut stores = configuration.stores.iter();
        router.has_tables = stores.any(|store| matches!(store.store, StoreConfig::Table(_)));
        router.configuration = configuration;
        router
    }

    pub(crate) fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The stores that take a category, by their places in the configuration; none: its messages are dropped.
    pub(crate) fn indexes(&self, category: &[u8]) -> &[usize] {
        let by_prefix = || {
            let mut prefixes = self.prefixes.iter();
            prefixes.find(|(prefix, _)| category.starts_with(prefix))
        };
        match self.exact.get(category) {
            Some(exact) => exact,
            None => by_prefix().map_or(&self.default, |(_, stores)| stores),
        }
    }

    /// The store at that place of the configuration, as a table.
    pub(crate) fn table(&self, index: usize) -> Option<&TableConfig> {
        match &self.configuration.stores.get(index)?.store {
            StoreConfig::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The lines that a category's messages go to. A store of a table has no line.
    pub(crate) fn targets(&self, category: &[u8]) -> impl Iterator<Item = Target<'_>> {
        let category = category.to_vec();
        let indexes = self.indexes(&category).iter();
        let lines = indexes.filter(|index| self.table(**index).is_none());
        let stores: Vec<&TopStore> = lines
            .filter_map(|index| self.configuration.stores.get(*index))
            .collect();
        stores
            .into_iter()
            .map(move |store| self.target(store, &category))
    }

    fn target<'a>(&self, store: &'a TopStore, category: &[u8]) -> Target<'a> {
        let has_model = store.is_model || !store.categories.iter().all(is_exact);
        let name = store.name.as_bytes();
        if self.configuration.new_thread_per_category && has_model {
            return Target {
                id: [name, b":", category].concat(),
                category: category.to_vec(),
                is_copy: true,
                store,
            };
        }
        let category = match store.categories.first() {
            Some(Categories::Exact(name)) => name.clone(),
            Some(Categories::Prefix(name)) => [name, &b"*"[..]].concat(),
            Some(Categories::Default) | None => b"default".to_vec(),
        };
        Target {
            id: name.to_vec(),
            category,
            is_copy: false,
            store,
        }
    }

    /// The line with that name, if this configuration still makes it.
    pub(crate) fn target_of(&self, id: &[u8]) -> Option<Target<'_>> {
        let colon = id.iter().position(|byte| *byte == b':');
        let (name, category) = id.split_at_checked(colon.unwrap_or(id.len()))?;
        if let Some((_, category)) = category.split_first() {
            return self.targets(category).find(|target| target.id == id);
        }
        let mut stores = self.configuration.stores.iter();
        let store = stores.find(|store| store.name.as_bytes() == name)?;
        if matches!(store.store, StoreConfig::Table(_)) {
            return None;
        }
        Some(self.target(store, b"")).filter(|target| !target.is_copy)
    }
}

fn is_exact(categories: &Categories) -> bool {
    matches!(categories, Categories::Exact(_))
}

/// Whether a category's name can be the path of a file below a folder, and of no file elsewhere. `postfix/smtpd` can.
pub fn is_clean(category: &[u8]) -> bool {
    let is_clean =
        |part: &[u8]| !matches!(part, b"" | b"." | b"..") && part.len() <= PART_BYTES_MAX;
    let mut parts = category.split(|byte| *byte == b'/');
    let is_text = std::str::from_utf8(category).is_ok() && !category.starts_with(b"hex-");
    category.len() <= CATEGORY_BYTES_MAX
        && (is_text || category.len() <= HEX_BYTES_MAX)
        && !category.contains(&0)
        && parts.all(is_clean)
}

/// Whether a store or a store in it sends over a network.
pub(crate) fn has_network(store: &StoreConfig) -> bool {
    match store {
        StoreConfig::File(_)
        | StoreConfig::ThriftFile(_)
        | StoreConfig::Null
        | StoreConfig::Table(_) => false,
        StoreConfig::Network(_) => true,
        StoreConfig::Buffer(buffer) => {
            has_network(&buffer.primary) || has_network(&buffer.secondary)
        }
        StoreConfig::Bucket(bucket) => bucket.buckets.iter().any(has_network),
        StoreConfig::Multi(multi) => multi.stores.iter().any(has_network),
        StoreConfig::Category(model) => has_network(model),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn store(name: &str, categories: &[Categories], is_model: bool) -> TopStore {
        TopStore {
            name: name.to_owned(),
            categories: categories.to_vec(),
            is_model,
            target_write_size: 16_384,
            max_write_interval_s: 1,
            must_succeed: true,
            sync: None,
            store: StoreConfig::Null,
        }
    }

    fn exact(name: &str) -> Categories {
        Categories::Exact(name.into())
    }

    fn prefix(name: &str) -> Categories {
        Categories::Prefix(name.into())
    }

    fn ids(router: &Router, category: &str) -> Vec<String> {
        let targets = router.targets(category.as_bytes());
        targets
            .map(|target| String::from_utf8_lossy(&target.id).into_owned())
            .collect()
    }

    #[test]
    fn the_exact_name_goes_before_the_first_prefix_and_the_prefix_before_default() {
        let mut configuration = Configuration {
            stores: vec![
                store("store0", &[Categories::Default], false),
                store("store1", &[prefix("web")], false),
                store("store2", &[prefix("we")], false),
                store("store3", &[exact("web")], false),
                store("store4", &[exact("a"), exact("web")], true),
            ],
            ..Configuration::default()
        };
        let router = Router::new(configuration.clone());
        assert_eq!(ids(&router, "web"), ["store3", "store4:web"]);
        assert_eq!(ids(&router, "website"), ["store2:website"]);
        assert_eq!(ids(&router, "mail"), ["store0:mail"]);
        for id in ["store3", "store4:web", "store0:mail"] {
            assert!(router.target_of(id.as_bytes()).is_some(), "{id}");
        }
        for id in ["store0", "store4:mail", "store1:website", "store9:a"] {
            assert!(router.target_of(id.as_bytes()).is_none(), "{id}");
        }
        configuration.new_thread_per_category = false;
        let router = Router::new(configuration);
        assert_eq!(ids(&router, "website"), ["store2"]);
        assert_eq!(ids(&router, "mail"), ["store0"]);
        assert!(ids(&Router::default(), "mail").is_empty());
    }

    #[test]
    fn only_a_clean_path_is_a_category() {
        let long = "x".repeat(221);
        let hex = format!("hex-{}", &long[..105]);
        let bad = [
            "", "/a", "a/", "a//b", "..", "a/../b", ".", "a\0b", &long, &hex,
        ];
        for bad in bad {
            assert!(!is_clean(bad.as_bytes()), "{bad:?}");
        }
        let good = ["a", "a/b", "...", "a..b", "c:d", &long[1..], &hex[..108]];
        for good in good {
            assert!(is_clean(good.as_bytes()), "{good:?}");
        }
        assert!(is_clean(&[0xff; 108]) && !is_clean(&[0xff; 109]));
        assert!(!is_clean(
            "ab/".repeat(400).trim_end_matches('/').as_bytes()
        ));
    }
}
