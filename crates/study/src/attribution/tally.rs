//! Orders with their touches → sums by channel and model, and the other counts of a report.
//!
//! All sums are whole numbers, and lists are sorted by what they hold: no figure depends on the order in which orders come.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::amount::{Amount, Sum};
use super::channels::ChannelId;
use super::limits::{COMBINATIONS_MAX, DAY_CHANNELS_MAX, LAG_DAYS_MAX, TOUCH_ROWS_MAX};
use super::model::{Model, Rule, Touches, share};
use super::paths::PathTable;

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Orders and their money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Earned {
    /// Orders, or parts of them.
    pub conversions: Sum,
    /// Money, less refunds.
    pub value: Sum,
}

/// Orders, their money and their touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reached {
    /// Orders and money.
    pub earned: Earned,
    /// Touches of these orders.
    pub touches: Sum,
}

/// An order, or a path with the counts of its orders.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The channels of its touches, the oldest first: at least one.
    pub channels: &'a [ChannelId],
    /// Times of the touches in milliseconds, never falling; empty where no time is known.
    pub times_ms: &'a [i64],
    /// Time of the order in milliseconds; `None` where no time is known.
    pub at_ms: Option<i64>,
    /// Orders: one, but for refunds, adjusted days and counted paths.
    pub conversions: Amount,
    /// Money of these orders, less refunds.
    pub value: Amount,
}

/// An order in the list of orders. Orders of the list are compared by time, then by the rest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedOrder {
    /// Time in milliseconds.
    pub at_ms: i64,
    /// Its id; may be empty.
    pub id: String,
    /// Its money, before any adjustment.
    pub value: Amount,
    /// Channel and time of each touch in the window, the oldest first; may be empty.
    pub touches: Vec<(ChannelId, i64)>,
}

/// What is counted beside the sums of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All tables, and lists with this many rows.
    Report {
        /// Rows of the list of orders.
        rows: usize,
    },
    /// Nothing: the figures of models are all that is asked for.
    Figures,
}

/// Sums so far. Fields that are `None` have outgrown their limit.
#[derive(Debug)]
pub struct Tally {
    models: Vec<Model>,
    rule: Rule,
    channel_count: usize,
    detail: Detail,
    /// For each model, for each channel.
    sums: Vec<Vec<Earned>>,
    /// All orders that have a touch.
    pub total: Earned,
    /// By number of touches, at most [`TOUCH_ROWS_MAX`] + 1.
    pub by_touches: BTreeMap<usize, Earned>,
    /// By channel and the number of its touches.
    pub by_channel_touches: BTreeMap<(ChannelId, usize), Earned>,
    /// By number of channels.
    pub by_channels: BTreeMap<usize, Reached>,
    /// By channels, rising.
    pub combinations: Option<HashMap<Box<[ChannelId]>, Reached, FxBuildHasher>>,
    /// By whole days from the first touch to the order, at most [`LAG_DAYS_MAX`] + 1.
    pub by_lag: BTreeMap<usize, Earned>,
    /// By day since 1970 and channel: a sum for each model.
    pub by_day: Option<BTreeMap<(i64, ChannelId), Vec<Earned>>>,
    /// Orders and money of each day.
    pub days: BTreeMap<i64, Earned>,
    /// The youngest orders.
    listed: BinaryHeap<Reverse<ListedOrder>>,
    shares: Vec<i64>,
    firsts: Vec<usize>,
    set: Vec<ChannelId>,
    counts: Vec<usize>,
}

impl Earned {
    /// Adds parts of an order.
    #[inline]
    fn add_share(&mut self, order: &Order<'_>, grains: i64) {
        self.conversions.add_share(order.conversions, grains);
        self.value.add_share(order.value, grains);
    }

    /// Adds a whole order.
    fn add(&mut self, order: &Order<'_>) {
        self.conversions.add(order.conversions);
        self.value.add(order.value);
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: Earned) {
        self.conversions.merge(other.conversions);
        self.value.merge(other.value);
    }

    /// Whether there is neither an order nor money.
    pub fn is_zero(self) -> bool {
        self.conversions.is_zero() && self.value.is_zero()
    }
}

impl Tally {
    /// Nothing counted yet. Models that are not of each order have no sums here.
    pub fn new(models: &[Model], rule: Rule, detail: Detail) -> Tally {
        let channel_count = rule.is_direct.len();
        let models: Vec<Model> = models
            .iter()
            .copied()
            .filter(|model| model.is_of_each_order())
            .collect();
        Tally {
            sums: vec![vec![Earned::default(); channel_count]; models.len()],
            models,
            rule,
            channel_count,
            detail,
            total: Earned::default(),
            by_touches: BTreeMap::new(),
            by_channel_touches: BTreeMap::new(),
            by_channels: BTreeMap::new(),
            combinations: Some(HashMap::default()),
            by_lag: BTreeMap::new(),
            by_day: (detail != Detail::Figures).then(BTreeMap::new),
            days: BTreeMap::new(),
            listed: BinaryHeap::new(),
            shares: Vec::new(),
            firsts: Vec::new(),
            set: Vec::new(),
            counts: vec![0; channel_count],
        }
    }

    /// All paths of a table with the counts of their orders.
    pub fn add_paths(&mut self, paths: &PathTable) {
        for (channels, count) in paths.iter() {
            if count.conversions != Amount::ZERO || count.value != Amount::ZERO {
                self.add(&Order {
                    channels,
                    times_ms: &[],
                    at_ms: None,
                    conversions: count.conversions,
                    value: count.value,
                });
            }
        }
    }

    /// Counts an order with at least one touch.
    pub fn add(&mut self, order: &Order<'_>) {
        self.total.add(order);
        self.find_channels(order.channels);
        let day = order.at_ms.map(|at| at.div_euclid(DAY_MS));
        let day = day.filter(|_| self.detail != Detail::Figures);
        if let Some(day) = day {
            self.days.entry(day).or_default().add(order);
        }
        let touches = Touches {
            channels: order.channels,
            times_ms: order.times_ms,
            firsts: &self.firsts,
        };
        for at in 0..self.models.len() {
            share(self.models[at], touches, &self.rule, &mut self.shares);
            for (channel, grains) in order.channels.iter().zip(&self.shares) {
                if *grains == 0 {
                    continue;
                }
                self.sums[at][usize::from(channel.0)].add_share(order, *grains);
                if let (Some(by_day), Some(day)) = (&mut self.by_day, day) {
                    let sums = by_day.entry((day, *channel));
                    let sums = sums.or_insert_with(|| vec![Earned::default(); self.models.len()]);
                    sums[at].add_share(order, *grains);
                }
            }
        }
        let days = self.by_day.as_ref().map_or(0, BTreeMap::len);
        if days > DAY_CHANNELS_MAX {
            self.by_day = None;
        }
        self.count(order);
    }

    /// Finds the first touch of each channel, the set of channels and the number of touches of each.
    fn find_channels(&mut self, channels: &[ChannelId]) {
        self.firsts.clear();
        self.set.clear();
        for (at, channel) in channels.iter().enumerate() {
            let count = &mut self.counts[usize::from(channel.0)];
            *count += 1;
            if *count == 1 {
                self.firsts.push(at);
                self.set.push(*channel);
            }
        }
        self.set.sort_unstable();
    }

    /// Counts what does not depend on a model, and clears the counts of the order.
    fn count(&mut self, order: &Order<'_>) {
        if self.detail == Detail::Figures {
            for channel in &self.set {
                self.counts[usize::from(channel.0)] = 0;
            }
            return;
        }
        let touches = order.channels.len();
        let row = |count: usize| count.min(TOUCH_ROWS_MAX + 1);
        self.by_touches.entry(row(touches)).or_default().add(order);
        for channel in &self.set {
            let count = std::mem::take(&mut self.counts[usize::from(channel.0)]);
            let sums = self.by_channel_touches.entry((*channel, row(count)));
            sums.or_default().add(order);
        }
        let reached = self.by_channels.entry(self.set.len()).or_default();
        reached.add(order, touches);
        if let Some(combinations) = &mut self.combinations {
            if let Some(reached) = combinations.get_mut(self.set.as_slice()) {
                reached.add(order, touches);
            } else {
                let mut reached = Reached::default();
                reached.add(order, touches);
                combinations.insert(self.set.as_slice().into(), reached);
            }
            if combinations.len() > COMBINATIONS_MAX {
                self.combinations = None;
            }
        }
        if let (Some(at), Some(first)) = (order.at_ms, order.times_ms.first()) {
            let days = usize::try_from((at - first) / DAY_MS).unwrap_or(0);
            let days = self.by_lag.entry(days.min(LAG_DAYS_MAX + 1));
            days.or_default().add(order);
        }
    }

    /// Whether the list has room for an order of this time.
    pub fn lists(&self, at_ms: i64) -> bool {
        let oldest = self.listed.peek().map(|oldest| oldest.0.at_ms);
        self.listed.len() < self.list_rows() || oldest.is_some_and(|oldest| oldest <= at_ms)
    }

    fn list_rows(&self) -> usize {
        match self.detail {
            Detail::Report { rows } => rows,
            Detail::Figures => 0,
        }
    }

    /// Adds an order to the list, which keeps the youngest ones.
    pub fn list(&mut self, order: ListedOrder) {
        self.listed.push(Reverse(order));
        if self.listed.len() > self.list_rows() {
            self.listed.pop();
        }
    }

    /// The youngest orders, the youngest first.
    pub fn listed(&self) -> Vec<&ListedOrder> {
        let mut listed: Vec<&ListedOrder> = self.listed.iter().map(|order| &order.0).collect();
        listed.sort_unstable_by(|left, right| right.cmp(left));
        listed
    }

    /// The models that have sums, with the sums of each channel.
    pub fn sums(&self) -> impl Iterator<Item = (Model, &[Earned])> {
        let sums = self.sums.iter().map(Vec::as_slice);
        self.models.iter().copied().zip(sums)
    }

    /// The share of each channel in a listed order by each model, as a part of one; channels without a share are left out.
    pub fn shares_of(&mut self, order: &ListedOrder) -> Vec<(ChannelId, Vec<f64>)> {
        if order.touches.is_empty() {
            return Vec::new();
        }
        let (channels, times): (Vec<ChannelId>, Vec<i64>) = order.touches.iter().copied().unzip();
        self.find_channels(&channels);
        let touches = Touches {
            channels: &channels,
            times_ms: &times,
            firsts: &self.firsts,
        };
        let mut sums = vec![vec![Sum::default(); self.models.len()]; self.channel_count];
        for (at, model) in self.models.iter().enumerate() {
            share(*model, touches, &self.rule, &mut self.shares);
            for (channel, grains) in channels.iter().zip(&self.shares) {
                sums[usize::from(channel.0)][at].add_share(Amount::ONE, *grains);
            }
        }
        let set = std::mem::take(&mut self.set);
        let rows = set.iter().map(|channel| {
            self.counts[usize::from(channel.0)] = 0;
            let sums = sums[usize::from(channel.0)].iter();
            (*channel, sums.map(|sum| sum.value()).collect())
        });
        rows.collect()
    }
}

impl Reached {
    fn add(&mut self, order: &Order<'_>, touches: usize) {
        self.earned.add(order);
        let touches = Amount(order.conversions.0.saturating_mul(touches as i64));
        self.touches.add(touches);
    }
}

#[cfg(test)]
mod tests;
