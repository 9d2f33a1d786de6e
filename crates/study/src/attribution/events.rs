//! Touches and orders of visitors → orders with the touches that led to them.
//!
//! A visitor with a window of 45 days, a touch on the days 0, 10 and 60, and an order on the days 20 and 61:
//!
//! ```text
//! day    0  10  20  60  61
//!        a  b   O   c   O
//! ```
//!
//! - The first order has the touches a, b. The second has c: day 16 is the end of its window, whatever stands before.
//! - With single orders, a path also ends at the order before it.
//! - Touches behind the last order, in a window before the youngest of them, are a path without order.
//! - A touch at the moment of an order led to it. Equal touches of a visitor at one moment count once.

use std::hash::BuildHasher;

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;

use super::amount::Amount;
use super::bounds::{Bounds, list_bytes, table_bytes};
use super::channels::{ChannelId, Channels, Naming};
use super::limits::{EVENTS_MAX, ID_BYTES_MAX, IDS_MAX, PATH_TOUCHES_MAX};
use super::model::{Model, Rule};
use super::paths::{PathCount, PathTable, PathsFull};
use super::tally::{DAY_MS, Detail, ListedOrder, Order, Tally};

/// Marks an event as an order.
const ORDER_BIT: u32 = 1 << 31;

/// The id of an order that has none.
const NO_ID: u32 = u32::MAX;

/// Touches and orders, as they were read.
#[derive(Debug)]
pub struct Events {
    /// The channels of the touches.
    pub channels: Channels,
    events: Vec<Event>,
    orders: Vec<OrderRecord>,
    visitors: Ids,
    order_ids: Ids,
}

/// A touch or an order of a visitor: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    at_ms: i64,
    visitor: u32,
    /// A channel, or an order with [`ORDER_BIT`].
    tag: u32,
}

#[derive(Clone, Copy, Debug)]
struct OrderRecord {
    at_ms: i64,
    value: Amount,
    id: u32,
    visitor: u32,
    kind: OrderKind,
}

/// What an order is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// It is reported, unless there is a confirmed order with its id.
    Counts,
    /// It is reported: a back end told it.
    Confirmed,
    /// It only ends the paths of later orders: it is reported by its own line.
    Before,
}

/// Texts by number.
#[derive(Debug, Default)]
struct Ids {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    by_text: HashTable<u32>,
}

/// How orders get their touches.
#[derive(Clone, Debug)]
pub struct Window {
    /// Milliseconds before an order in which touches count.
    pub window_ms: i64,
    /// Whether a path ends at the order before it.
    pub is_single_order: bool,
    /// Channels whose touch counts only as the first one of its window.
    pub requires_first: Vec<String>,
    /// Only orders from this time on.
    pub from_ms: Option<i64>,
    /// Only orders before this time.
    pub to_ms: Option<i64>,
    /// Factors of transactions and revenue by day since 1970.
    pub factors: HashMap<i64, [Amount; 2], FxBuildHasher>,
}

/// Orders with their touches, counted.
#[derive(Debug)]
pub struct Attributed {
    /// The names of the channels, in order.
    pub channels: Vec<String>,
    /// Sums of the orders that have a touch.
    pub tally: Tally,
    /// Different paths; `None`: too many.
    pub paths: Option<PathTable>,
    /// How many orders and touches there were.
    pub counts: EventCounts,
}

/// How many orders and touches there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Visitors with a touch or an order.
    pub visitors: u64,
    /// Touches, each once.
    pub touches: u64,
    /// Orders within the times asked for, refunds among them.
    pub orders: u64,
    /// Orders with negative money.
    pub refunds: u64,
    /// Orders without a touch in their window.
    pub orders_without_touch: u64,
    /// Orders outside of the times asked for.
    pub orders_outside: u64,
    /// Orders whose id an earlier order has.
    pub repeated_orders: u64,
    /// Touches that were there twice.
    pub repeated_touches: u64,
}

impl Ids {
    /// Bytes that they hold while `more` texts with `text_bytes` bytes are added.
    fn bytes(&self, more: usize, text_bytes: usize) -> usize {
        let texts = (self.by_text.len(), self.by_text.capacity());
        list_bytes(&self.bytes, text_bytes)
            + list_bytes(&self.ends, more)
            + table_bytes::<u32>(self.by_text.allocation_size(), texts, more)
    }

    /// The number of a text. `None`: too many.
    fn number(&mut self, text: &[u8]) -> Option<u32> {
        let hash = FxBuildHasher.hash_one(text);
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(number) = self
            .by_text
            .find(hash, |at| text_of(bytes, ends, *at) == text)
        {
            return Some(*number);
        }
        if ends.len() == IDS_MAX || bytes.len() + text.len() > ID_BYTES_MAX {
            return None;
        }
        let number = ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u32);
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.by_text.insert_unique(hash, number, |at| {
            FxBuildHasher.hash_one(text_of(bytes, ends, *at))
        });
        Some(number)
    }

    fn text(&self, number: u32) -> &[u8] {
        match number {
            NO_ID => b"",
            number => text_of(&self.bytes, &self.ends, number),
        }
    }
}

fn text_of<'a>(bytes: &'a [u8], ends: &[u32], at: u32) -> &'a [u8] {
    let at = at as usize;
    let begin = if at == 0 { 0 } else { ends[at - 1] as usize };
    &bytes[begin..ends[at] as usize]
}

/// There are more visitors, orders or touches than are kept.
fn too_many() -> String {
    format!(
        "there are more than {EVENTS_MAX} touches, or too many visitors or orders: report on fewer files at a time"
    )
}

impl Events {
    /// No event yet.
    pub fn new(naming: Naming) -> Events {
        Events {
            channels: Channels::new(naming),
            events: Vec::new(),
            orders: Vec::new(),
            visitors: Ids::default(),
            order_ids: Ids::default(),
        }
    }

    /// Adds a touch.
    ///
    /// # Errors
    /// A message: too many.
    pub fn touch(&mut self, visitor: &[u8], channel: ChannelId, at_ms: i64) -> Result<(), String> {
        let visitor = self.visitors.number(visitor).ok_or_else(too_many)?;
        self.push(Event {
            at_ms,
            visitor,
            tag: u32::from(channel.0),
        })
    }

    /// Adds an order. An empty id is none: such an order is never a repeated one.
    ///
    /// # Errors
    /// A message: too many.
    pub fn order(
        &mut self,
        visitor: &[u8],
        id: &[u8],
        value: Amount,
        at_ms: i64,
        kind: OrderKind,
    ) -> Result<(), String> {
        let visitor = self.visitors.number(visitor).ok_or_else(too_many)?;
        let id = match id {
            b"" => NO_ID,
            id => self.order_ids.number(id).ok_or_else(too_many)?,
        };
        let tag = ORDER_BIT | self.orders.len() as u32;
        self.orders.push(OrderRecord {
            at_ms,
            value,
            id,
            visitor,
            kind,
        });
        self.push(Event {
            at_ms,
            visitor,
            tag,
        })
    }

    fn push(&mut self, event: Event) -> Result<(), String> {
        if self.events.len() == EVENTS_MAX {
            return Err(too_many());
        }
        self.events.push(event);
        Ok(())
    }

    /// Bytes that they hold while `events` more are added, whose visitors and ids have `text_bytes` bytes.
    pub fn bytes(&self, events: usize, text_bytes: usize) -> usize {
        list_bytes(&self.events, events)
            + list_bytes(&self.orders, events)
            + self.visitors.bytes(events, text_bytes)
            + self.order_ids.bytes(events, text_bytes)
            + self.channels.bytes(events)
    }

    /// Counts orders with their touches.
    ///
    /// # Errors
    /// A message: adjusted money, or that of one path, is too large; that of `bounds`.
    pub fn attribute(
        self,
        window: &Window,
        models: &[Model],
        detail: Detail,
        rule: impl FnOnce(&[String]) -> Rule,
        bounds: &dyn Bounds,
    ) -> Result<Attributed, String> {
        // Of each order its place among those with an id, and whether it is dropped.
        let held = self.bytes(0, 0) + self.orders.len() * (size_of::<usize>() + size_of::<bool>());
        bounds.cover(held)?;
        let (channels, ranks) = self.channels.sorted();
        let mut counts = EventCounts {
            visitors: self.visitors.ends.len() as u64,
            ..EventCounts::default()
        };
        let mut orders = self.orders;
        let is_dropped = mark_repeated(&mut orders, &self.visitors, &mut counts);
        let mut events = self.events;
        events.retain_mut(|event| match event.order() {
            Some(order) => !is_dropped[order],
            None => {
                event.tag = u32::from(ranks[event.tag as usize].0);
                true
            }
        });
        // Touches go before orders of the same moment.
        events.sort_unstable_by_key(|event| {
            let order = event.order().map(|order| {
                let order = &orders[order];
                (order.value, self.order_ids.text(order.id))
            });
            (event.visitor, event.at_ms, order, event.tag)
        });
        let before = events.len();
        events.dedup_by(|right, left| left == right && left.order().is_none());
        counts.repeated_touches = (before - events.len()) as u64;
        counts.touches = events
            .iter()
            .filter(|event| event.order().is_none())
            .count() as u64;
        let requires_first: Vec<bool> = channels
            .iter()
            .map(|channel| window.requires_first.contains(channel))
            .collect();
        let mut counter = Counter {
            window,
            requires_first,
            orders: &orders,
            order_ids: &self.order_ids,
            tally: Tally::new(models, rule(&channels), detail),
            paths: needs_paths(models, detail).then(PathTable::default),
            bounds,
            held,
            counts,
            path: Vec::new(),
            times: Vec::new(),
        };
        for visitor in events.chunk_by(|left, right| left.visitor == right.visitor) {
            bounds.check()?;
            counter.visitor(visitor)?;
        }
        Ok(Attributed {
            channels,
            tally: counter.tally,
            paths: counter.paths,
            counts: counter.counts,
        })
    }
}

impl Event {
    /// The number of its order; `None`: it is a touch.
    fn order(self) -> Option<usize> {
        (self.tag & ORDER_BIT != 0).then_some((self.tag & !ORDER_BIT) as usize)
    }
}

/// Whether anything is made of different paths.
fn needs_paths(models: &[Model], detail: Detail) -> bool {
    detail != Detail::Figures || models.iter().any(|model| !model.is_of_each_order())
}

/// Finds orders with the id of another that counts in their place, and returns whether each is dropped.
///
/// A confirmed order counts before others, then the earliest; of several at one moment that with the least money, then that of the
/// first visitor by name. A repeated order of the same visitor is dropped. One of another visitor only ends that visitor's paths: the
/// touches before it, as of a cookie whose order the table has, too, are no path without order.
fn mark_repeated(
    orders: &mut [OrderRecord],
    visitors: &Ids,
    counts: &mut EventCounts,
) -> Vec<bool> {
    let mut is_dropped = vec![false; orders.len()];
    let mut named: Vec<usize> = (0..orders.len())
        .filter(|at| orders[*at].id != NO_ID && orders[*at].kind != OrderKind::Before)
        .collect();
    named.sort_unstable_by_key(|at| {
        let order = &orders[*at];
        (
            order.id,
            order.kind != OrderKind::Confirmed,
            order.at_ms,
            order.value,
            visitors.text(order.visitor),
        )
    });
    let mut first = None;
    for at in named {
        let OrderRecord { id, visitor, .. } = orders[at];
        match first {
            Some((same, of)) if same == id => {
                counts.repeated_orders += 1;
                match visitor == of {
                    true => is_dropped[at] = true,
                    false => orders[at].kind = OrderKind::Before,
                }
            }
            _ => first = Some((id, visitor)),
        }
    }
    is_dropped
}

/// Walks over the events of one visitor after the other.
struct Counter<'a> {
    window: &'a Window,
    requires_first: Vec<bool>,
    orders: &'a [OrderRecord],
    order_ids: &'a Ids,
    tally: Tally,
    paths: Option<PathTable>,
    bounds: &'a dyn Bounds,
    /// Bytes of the events.
    held: usize,
    counts: EventCounts,
    path: Vec<ChannelId>,
    times: Vec<i64>,
}

impl Counter<'_> {
    fn visitor(&mut self, events: &[Event]) -> Result<(), String> {
        let mut after_order = 0;
        for (at, event) in events.iter().enumerate() {
            if let Some(order) = event.order() {
                let order = self.orders[order];
                after_order = at + 1;
                match order.kind {
                    OrderKind::Counts | OrderKind::Confirmed => {
                        self.order(&order, &events[..at])?
                    }
                    OrderKind::Before => {}
                }
            }
        }
        let rest = &events[after_order..];
        if let Some(last) = rest.last()
            && self.is_within(last.at_ms)
        {
            self.find_path(last.at_ms, rest);
            self.add_path(PathCount {
                nulls: Amount::ONE,
                ..PathCount::default()
            })?;
        }
        Ok(())
    }

    fn is_within(&self, at_ms: i64) -> bool {
        self.window.from_ms.is_none_or(|from| at_ms >= from)
            && self.window.to_ms.is_none_or(|to| at_ms < to)
    }

    fn order(&mut self, order: &OrderRecord, before: &[Event]) -> Result<(), String> {
        if !self.is_within(order.at_ms) {
            self.counts.orders_outside += 1;
            return Ok(());
        }
        self.find_path(order.at_ms, before);
        let is_refund = order.value < Amount::ZERO;
        self.counts.orders += 1;
        self.counts.refunds += u64::from(is_refund);
        if self.tally.lists(order.at_ms) {
            let touches = self.path.iter().copied().zip(self.times.iter().copied());
            self.tally.list(ListedOrder {
                at_ms: order.at_ms,
                id: String::from_utf8_lossy(self.order_ids.text(order.id)).into_owned(),
                value: order.value,
                touches: touches.collect(),
            });
        }
        if self.path.is_empty() {
            self.counts.orders_without_touch += 1;
            return Ok(());
        }
        let conversions = if is_refund { Amount::ZERO } else { Amount::ONE };
        let day = order.at_ms.div_euclid(DAY_MS);
        let factors = self.window.factors.get(&day);
        let [of_count, of_value] = factors.copied().unwrap_or([Amount::ONE; 2]);
        let too_large = || "adjusted money is too large".to_owned();
        let conversions = conversions.times(of_count).ok_or_else(too_large)?;
        let value = order.value.times(of_value).ok_or_else(too_large)?;
        self.tally.add(&Order {
            channels: &self.path,
            times_ms: &self.times,
            at_ms: Some(order.at_ms),
            conversions,
            value,
        });
        self.add_path(PathCount {
            conversions,
            value,
            nulls: Amount::ZERO,
        })
    }

    /// Finds the touches of the window that ends at a time, the oldest first.
    fn find_path(&mut self, end_ms: i64, before: &[Event]) {
        self.path.clear();
        self.times.clear();
        let begin_ms = end_ms.saturating_sub(self.window.window_ms);
        for event in before.iter().rev() {
            if event.at_ms < begin_ms || self.path.len() == PATH_TOUCHES_MAX {
                break;
            }
            match event.order() {
                Some(_) if self.window.is_single_order => break,
                Some(_) => {}
                None => {
                    self.path.push(ChannelId(event.tag as u16));
                    self.times.push(event.at_ms);
                }
            }
        }
        self.path.reverse();
        self.times.reverse();
        if self.requires_first.contains(&true) {
            let mut kept = 0;
            for at in 0..self.path.len() {
                if at == 0 || !self.requires_first[usize::from(self.path[at].0)] {
                    self.path[kept] = self.path[at];
                    self.times[kept] = self.times[at];
                    kept += 1;
                }
            }
            self.path.truncate(kept);
            self.times.truncate(kept);
        }
    }

    /// Adds to the counts of the path that was found. Too many paths are none.
    fn add_path(&mut self, count: PathCount) -> Result<(), String> {
        let added = match &mut self.paths {
            Some(paths) => {
                self.bounds
                    .cover(self.held + paths.bytes(self.path.len()))?;
                paths.add(&self.path, count)
            }
            None => Ok(()),
        };
        match added {
            Ok(()) => Ok(()),
            Err(PathsFull::Paths) => {
                self.paths = None;
                Ok(())
            }
            Err(PathsFull::Amount) => Err("the money of one path is too large".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
