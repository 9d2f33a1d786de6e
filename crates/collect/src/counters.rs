//! Scribe's counters: each counts for a category and over all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Messages taken.
    ReceivedGood,
    /// Messages of a category that no store takes, or whose name is refused; dropped.
    ReceivedBad,
    /// Messages without a category; dropped. Only over all.
    ReceivedBlankCategory,
    /// Calls refused because of `max_msg_per_second`. Only over all.
    DeniedForRate,
    /// Calls refused because of `max_queue_size`.
    DeniedForQueueSize,
    /// Batches that a buffer could not send and will send again.
    Retries,
    /// Messages that a store did not take and that will come to it again.
    Requeue,
    /// Messages that are given up.
    Lost,
    /// Messages that stand whole in a table's rest column, since its other columns do not hold all of them.
    KeptWhole,
    /// Messages of which a table has U+FFFD in the place of bytes that are no UTF-8.
    NotUtf8,
    /// Messages that a `null` store took.
    Ignored,
    /// Bytes of damaged buffer files.
    BytesLost,
    /// Messages that another server took. Only over all.
    Sent,
    /// Questions for the servers of buckets. Only over all, as the following.
    UpdaterAsked,
    /// Buckets in the answers to them.
    BucketsUpdated,
    /// Questions for which no connection was made.
    UpdaterNotReached,
    /// Questions that an exception answered, or nothing in time, or what is no answer.
    UpdaterFailed,
    /// Answers without a bucket.
    UpdaterEmpty,
    /// Answers without a server for the bucket that a store serves.
    BucketUnmapped,
}

impl Counter {
    /// Scribe's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Counter::ReceivedGood => "received good",
            Counter::ReceivedBad => "received bad",
            Counter::ReceivedBlankCategory => "received blank category",
            Counter::DeniedForRate => "denied for rate",
            Counter::DeniedForQueueSize => "denied for queue size",
            Counter::Retries => "retries",
            Counter::Requeue => "requeue",
            Counter::Lost => "lost",
            Counter::KeptWhole => "kept whole",
            Counter::NotUtf8 => "not utf-8",
            Counter::Ignored => "ignored",
            Counter::BytesLost => "bytes lost",
            Counter::Sent => "sent",
            Counter::UpdaterAsked => "bucketupdater.remove_updater",
            Counter::BucketsUpdated => "bucketupdater.bucket_updated",
            Counter::UpdaterNotReached => "bucketupdater.err.update_connect",
            Counter::UpdaterFailed => "bucketupdater.err.thrift_call",
            Counter::UpdaterEmpty => "bucketupdater.err.empty_result",
            Counter::BucketUnmapped => "bucketupdater.err.nobidmapping",
        }
    }

    /// Scribe's name of what is counted over all categories. Those of the updater have nothing before them.
    fn overall_name(self) -> Vec<u8> {
        match self.name() {
            name if name.starts_with("bucketupdater.") => name.into(),
            name => format!("scribe_overall:{name}").into(),
        }
    }
}

/// Categories that are counted by themselves; the names are strangers'. Further ones count only over all.
const CATEGORIES_MAX: usize = 100_000;
/// Bytes of their names together.
const NAMES_BYTES_MAX: usize = 8 << 20;

/// All counters of a server, from its start.
#[derive(Debug, Default)]
pub struct Counters {
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    overall: BTreeMap<Counter, u64>,
    categories: BTreeMap<Box<[u8]>, BTreeMap<Counter, u64>>,
    /// Bytes of the categories' names.
    names_bytes: usize,
}

impl Counters {
    /// Counts for a category, and over all.
    pub fn add(&self, category: &[u8], counter: Counter, count: u64) {
        if count == 0 {
            return;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.overall.entry(counter).or_default() += count;
        if !counted.categories.contains_key(category)
            && counted.categories.len() < CATEGORIES_MAX
            && counted.names_bytes + category.len() <= NAMES_BYTES_MAX
        {
            counted.names_bytes += category.len();
            counted.categories.insert(category.into(), BTreeMap::new());
        }
        if let Some(of) = counted.categories.get_mut(category) {
            *of.entry(counter).or_default() += count;
        }
    }

    /// Counts only over all.
    pub fn add_overall(&self, counter: Counter, count: u64) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.overall.entry(counter).or_default() += count;
    }

    /// The counter of this name, as in [`all`](Self::all); 0: there is none. Cost: logarithmic in the categories.
    #[must_use]
    pub fn one(&self, name: &[u8]) -> u64 {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut overall = counted.overall.iter();
        let overall = overall.find(|(counter, _)| counter.overall_name() == name);
        let of_category = || {
            // No counter of a category has a colon in its name.
            let colon = name.iter().rposition(|byte| *byte == b':')?;
            let (category, counter) = (name.get(..colon)?, name.get(colon + 1..)?);
            let mut counters = counted.categories.get(category)?.iter();
            counters.find(|(of, _)| of.name().as_bytes() == counter)
        };
        overall.or_else(of_category).map_or(0, |(_, count)| *count)
    }

    /// Memory that [`all`](Self::all) and a reply with it take at most, about, in bytes.
    #[must_use]
    pub fn reply_bytes(&self) -> usize {
        // A name once in the map, once in the reply; and a category has few counters.
        const COPIES: usize = 2;
        const EACH: usize = 256;
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let counters: usize = counted.categories.values().map(BTreeMap::len).sum();
        let longest = counted
            .categories
            .iter()
            .map(|(name, of)| name.len() * of.len());
        COPIES * longest.sum::<usize>() + EACH * (counters + counted.overall.len())
    }

    /// All that are not zero, by Scribe's names: `CATEGORY:NAME`, `scribe_overall:NAME` and `bucketupdater.NAME`.
    #[must_use]
    pub fn all(&self) -> BTreeMap<Vec<u8>, u64> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let name = |category: &[u8], counter: Counter| {
            [category, b":", counter.name().as_bytes()].concat()
        };
        let overall = counted
            .overall
            .iter()
            .map(|(counter, count)| (counter.overall_name(), *count));
        let categories = counted.categories.iter().flat_map(|(category, of)| {
            of.iter()
                .map(move |(counter, count)| (name(category, *counter), *count))
        });
        overall
            .chain(categories)
            .filter(|(_, count)| *count > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_counts_for_itself_and_over_all() {
        let counters = Counters::default();
        counters.add(b"web", Counter::ReceivedGood, 2);
        counters.add(b"mail", Counter::ReceivedGood, 3);
        counters.add_overall(Counter::Sent, 1);
        let wanted = [
            ("mail:received good", 3),
            ("scribe_overall:received good", 5),
            ("scribe_overall:sent", 1),
            ("web:received good", 2),
        ];
        assert_eq!(
            counters.all(),
            wanted
                .map(|(name, count)| (name.as_bytes().to_vec(), count))
                .into()
        );
        for (name, count) in wanted {
            assert_eq!(counters.one(name.as_bytes()), count, "{name}");
        }
        for name in [
            "",
            "web",
            "web:",
            "web:sent",
            "received good",
            "x:received good",
        ] {
            assert_eq!(counters.one(name.as_bytes()), 0, "{name}");
        }
    }

    #[test]
    fn names_of_strangers_fill_no_memory() {
        let counters = Counters::default();
        let long = "x".repeat(1_000);
        for number in 0..20_000 {
            let name = format!("{long}{number}");
            counters.add(name.as_bytes(), Counter::ReceivedGood, 1);
        }
        let all = counters.all();
        let bytes: usize = all.keys().map(Vec::len).sum();
        assert!(
            all.len() > 8_000 && bytes < 9 << 20,
            "{} of {bytes}",
            all.len()
        );
        assert!(counters.reply_bytes() >= 2 * bytes);
        assert_eq!(counters.one(b"scribe_overall:received good"), 20_000);
    }
}
