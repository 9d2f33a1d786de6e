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
//! a line of its own. Without, and for a store with one exact category, the store is one line.
//!
//! # Names of lines
//! A line is named by the category that its store is built for, a NUL, and the store's [name]: `mail`, NUL, `file /var/log/scribe`.
//! So it keeps its spool when stores are put before it in the file. Where several stores of a category have one name, the second
//! ends in ` (2)`. A line whose name is not in the configuration has an *heir* ([`Router::heir`]) there:
//!
//! | the line before | the configuration now | the heir |
//! |---|---|---|
//! | `store0:mail`, as builds before these names called it | its first store takes `mail` | that store |
//! | `web`, `network old:1463` | `web` goes to `network new:1463` and to a file | the network store |
//! | `web`, `file /a` | `web` goes to `buffer(…)` alone | the buffer |
//! | `web`, `file /a` | `web` goes to `file /b` and `file /c` | none: nobody can tell which |

pub(crate) mod name;

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
    /// Names of the stores, by their places in the configuration.
    names: Vec<String>,
    /// Lines that keep the name of a store that was changed, by the name that they would have.
    kept: HashMap<Vec<u8>, Vec<u8>>,
    /// Some store is a table.
    pub(crate) has_tables: bool,
}

/// A line that a category's messages go to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target<'a> {
    /// Name of the line.
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
        let stores = configuration.stores.iter();
        router.names = stores.map(|store| name::of(&store.store)).collect();
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
        let StoreConfig::Table(table) = &self.configuration.stores.get(index)?.store else {
            return None;
        };
        Some(table)
    }

    /// The lines that a category's messages go to. A store of a table has no line.
    pub(crate) fn targets(&self, category: &[u8]) -> impl Iterator<Item = Target<'_>> {
        let category = category.to_vec();
        let listed = self.indexes(&category);
        let lines = listed.iter().filter(|index| self.table(**index).is_none());
        lines.filter_map(move |index| self.target(*index, &category, listed))
    }

    /// The line that a category's messages go to by the store of this place. `listed`: the places of all stores of the category.
    fn target(&self, index: usize, category: &[u8], listed: &[usize]) -> Option<Target<'_>> {
        let store = self.configuration.stores.get(index)?;
        let has_model = store.is_model || !store.categories.iter().all(is_exact);
        let is_copy = self.configuration.new_thread_per_category && has_model;
        let (category, beside) = match store.categories.first() {
            _ if is_copy => (category.to_vec(), listed),
            Some(Categories::Exact(name)) => (name.clone(), self.indexes(name)),
            Some(Categories::Prefix(name)) => {
                let beside = self.prefixes.get(name).map_or(&[][..], Vec::as_slice);
                ([name, &b"*"[..]].concat(), beside)
            }
            Some(Categories::Default) | None => (b"default".to_vec(), &self.default[..]),
        };
        let name = self.names.get(index)?;
        let before = beside.iter().take_while(|other| **other != index);
        let before = before.filter(|other| self.names.get(**other) == Some(name));
        let mut id = [&category, &b"\0"[..], name.as_bytes()].concat();
        match before.count() {
            0 => {}
            before => id.extend(format!(" ({})", before + 1).bytes()),
        }
        if let Some(kept) = self.kept.get(&id) {
            id.clone_from(kept);
        }
        Some(Target {
            id,
            category,
            is_copy,
            store,
        })
    }

    /// The lines that need no message to be known: those of stores with exact categories, and those that categories share. Scribe
    /// opens their stores when it starts.
    pub(crate) fn standing(&self) -> impl Iterator<Item = Target<'_>> {
        let stores = self.configuration.stores.iter().enumerate();
        let lines = stores.filter(|(index, _)| self.table(*index).is_none());
        lines.flat_map(move |(index, store)| {
            let exact = store
                .categories
                .iter()
                .filter_map(|categories| match categories {
                    Categories::Exact(name) => Some(name.as_slice()),
                    Categories::Prefix(_) | Categories::Default => None,
                });
            let shared = self
                .target(index, b"", &[])
                .filter(|target| !target.is_copy);
            let copies = exact.filter_map(move |name| {
                let target = self.target(index, name, self.indexes(name));
                target.filter(|target| target.is_copy)
            });
            shared.into_iter().chain(copies)
        })
    }

    /// The line with that name, if this configuration makes it.
    pub(crate) fn target_of(&self, id: &[u8]) -> Option<Target<'_>> {
        let (category, _) = split(id)?;
        let mut lines = self.candidates(category).into_iter();
        lines.find(|target| target.id == id)
    }

    /// Every line of this category, and of stores whose only line has this name as its category.
    fn candidates(&self, category: &[u8]) -> Vec<Target<'_>> {
        let is_shared = |target: &Target<'_>| !target.is_copy && target.category == category;
        let stores = 0..self.configuration.stores.len();
        let lines = stores.filter(|index| self.table(*index).is_none());
        let shared = lines.filter_map(|index| self.target(index, category, &[]));
        let own = self.targets(category).filter(|target| !is_shared(target));
        own.chain(shared.filter(is_shared)).collect()
    }

    /// The line that takes what waits for the line `id`, which this configuration does not make. `may`: whether a line may be it.
    ///
    /// For a name of before lines were named by their stores, it is the store at the place that the name gives. Else it is the
    /// only line of the same category and type of store, or else the only one of the category.
    pub(crate) fn heir(&self, id: &[u8], may: impl Fn(&Target<'_>) -> bool) -> Option<Target<'_>> {
        let Some((category, name)) = split(id) else {
            return self.by_place(id).filter(may);
        };
        let mut all = self.candidates(category);
        all.retain(may);
        let is_like = |target: &&Target<'_>| {
            split(&target.id).is_some_and(|(_, other)| name::kind(other) == name::kind(name))
        };
        let mut alike = all.iter().filter(is_like);
        match (alike.next(), alike.next(), all.as_slice()) {
            (Some(one), None, _) | (None, None, [one]) => Some(one.clone()),
            _ => None,
        }
    }

    /// The line of a name such as `store0:mail` or `store2`.
    fn by_place(&self, id: &[u8]) -> Option<Target<'_>> {
        let colon = id.iter().position(|byte| *byte == b':');
        let (place, category) = id.split_at_checked(colon.unwrap_or(id.len()))?;
        let mut stores = self.configuration.stores.iter();
        let index = stores.position(|store| store.name.as_bytes() == place)?;
        if self.table(index).is_some() {
            return None;
        }
        match category.split_first() {
            Some((_, category)) => {
                let listed = self.indexes(category);
                let is_listed = listed.contains(&index);
                let target = self.target(index, category, listed);
                target.filter(|target| is_listed && target.is_copy)
            }
            None => {
                let target = self.target(index, b"", &[]);
                target.filter(|target| !target.is_copy)
            }
        }
    }

    /// A line goes on under the name of the store that it had.
    pub(crate) fn keep_name(&mut self, of: Vec<u8>, kept: &[u8]) {
        self.kept.insert(of, kept.to_vec());
    }
}

/// Category and store of a line's name; `None`: a name of before lines were named by their stores.
pub(crate) fn split(id: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = id.iter().position(|byte| *byte == 0)?;
    Some((id.get(..end)?, id.get(end + 1..)?))
}

/// A line's name for people: `mail: file /var/log/scribe`.
pub(crate) fn shown(id: &[u8]) -> String {
    match split(id) {
        Some((category, name)) => format!("{}: {}", category.escape_ascii(), name.escape_ascii()),
        None => id.escape_ascii().to_string(),
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
        targets.map(|target| shown(&target.id)).collect()
    }

    fn standing(router: &Router) -> Vec<String> {
        router.standing().map(|target| shown(&target.id)).collect()
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
        let stores = ["/0", "/1", "/2", "/3", "/4"].map(file);
        for (top, store) in configuration.stores.iter_mut().zip(stores) {
            top.store = store;
        }
        let router = Router::new(configuration.clone());
        let lines = ["web: file /3", "a: file /4", "web: file /4"];
        assert_eq!(standing(&router), lines, "those of exact categories");
        assert_eq!(ids(&router, "web"), ["web: file /3", "web: file /4"]);
        assert_eq!(ids(&router, "website"), ["website: file /2"]);
        assert_eq!(ids(&router, "mail"), ["mail: file /0"]);
        for category in ["web", "website", "mail"] {
            for target in router.targets(category.as_bytes()) {
                assert_eq!(router.target_of(&target.id), Some(target.clone()));
            }
        }
        for id in [
            &b"mail\0file /4"[..],
            b"website\0file /1",
            b"a\0file /9",
            b"store0",
        ] {
            assert!(router.target_of(id).is_none(), "{}", shown(id));
        }
        configuration.new_thread_per_category = false;
        let router = Router::new(configuration);
        assert_eq!(ids(&router, "website"), ["we*: file /2"]);
        assert_eq!(ids(&router, "mail"), ["default: file /0"]);
        assert!(router.target_of(b"we*\0file /2").is_some());
        assert_eq!(standing(&router).len(), 5);
        assert!(ids(&Router::default(), "mail").is_empty());
    }

    fn file(path: &str) -> StoreConfig {
        let mut file = crate::config::FileConfig::default();
        file.base.file_path = path.to_owned();
        StoreConfig::File(file)
    }

    /// A router of stores, each with its categories and its path, in the order of the file.
    fn router(stores: &[(Categories, &str)]) -> Router {
        let stores = stores
            .iter()
            .enumerate()
            .map(|(place, (of, path))| TopStore {
                store: match *path {
                    "null" => StoreConfig::Null,
                    path => file(path),
                },
                ..store(&format!("store{place}"), std::slice::from_ref(of), false)
            });
        Router::new(Configuration {
            stores: stores.collect(),
            ..Configuration::default()
        })
    }

    #[test]
    fn a_line_keeps_its_name_wherever_its_store_stands_in_the_file() {
        let stores = [
            (exact("web"), "/a"),
            (exact("web"), "/b"),
            (exact("mail"), "/a"),
            (Categories::Default, "/a"),
        ];
        let names = |stores: &[(Categories, &str)]| {
            let router = router(stores);
            let categories = ["web", "mail", "other"];
            let mut names = categories.map(|category| ids(&router, category)).concat();
            names.sort_unstable();
            names
        };
        let before = names(&stores);
        assert_eq!(before.len(), 4, "one line each");
        let mut moved = stores.to_vec();
        moved.reverse();
        moved.insert(0, (exact("new"), "/a"));
        assert_eq!(names(&moved), before);
    }

    #[test]
    fn stores_of_one_category_and_name_are_lines_of_their_own() {
        let router = router(&[
            (exact("web"), "/a"),
            (exact("web"), "/a"),
            (prefix("we"), "/a"),
        ]);
        assert_eq!(ids(&router, "web"), ["web: file /a", "web: file /a (2)"]);
        assert_eq!(ids(&router, "wet"), ["wet: file /a"]);
    }

    #[test]
    fn the_heir_of_a_line_is_the_only_store_that_can_be_meant() {
        let any = |_: &Target<'_>| true;
        let heir = |stores: &[(Categories, &str)], id: &[u8]| {
            let router = router(stores);
            router.heir(id, any).map(|target| shown(&target.id))
        };
        let (web, mail) = (exact("web"), exact("mail"));
        let both = [(web.clone(), "/new"), (web.clone(), "null")];
        for (stores, id, want) in [
            (&both[..], &b"web\0file /old"[..], Some("web: file /new")),
            (&both, b"web\0null (2)", Some("web: null")),
            (&both, b"web\0network old:1463", None),
            (&both[..1], b"web\0network old:1463", Some("web: file /new")),
            (&both, b"mail\0file /old", None),
            (&[(web.clone(), "/b"), (web, "/c")], b"web\0file /a", None),
            (&[(mail.clone(), "/b")], b"store0", Some("mail: file /b")),
            (&[(mail.clone(), "/b")], b"store1", None),
            (&[(mail, "/b")], b"store0:mail", None),
            (
                &[(Categories::Default, "/b")],
                b"store0:a:b",
                Some("a:b: file /b"),
            ),
            (&[(Categories::Default, "/b")], b"store0", None),
            (&[(prefix("web"), "/b")], b"store0:mail", None),
        ] {
            let found = heir(stores, id);
            assert_eq!(found.as_deref(), want, "{}", shown(id));
        }
    }

    #[test]
    fn a_long_name_stays_different_from_its_neighbours() {
        let paths = ["x", "y"].map(|end| format!("/{}{end}", "\u{e9}".repeat(300)));
        let names = paths.map(|path| name::of(&file(&path)));
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() <= 200));
        assert_eq!(name::kind(names[0].as_bytes()), b"file");
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
