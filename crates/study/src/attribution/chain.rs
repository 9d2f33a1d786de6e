//! Markov chains by removal effect, solved and not simulated.
//!
//! Paths A B → order, A → nothing, each once, as a chain of order 1:
//!
//! ```text
//! (start) ─1→ A ─1/2→ B ─1→ (conversion)
//!             └─1/2→ (null)
//! ```
//!
//! A state of order k is the last k touches; a path with fewer touches is one state. P is the probability to get from the start to the
//! conversion, P(c) the same where each state with a touch of channel c leads to nothing. The removal effect of c is 1 − P(c)/P: above,
//! 1 for A and 1 for B. The orders are parted in the ratio of the effects. The effect on money is the same with the mean money of an
//! order behind each state.
//!
//! With N = (I − Q)⁻¹ over the states, x = N e the probability to convert from each state, and u = q N the expected visits: the paths
//! that convert and touch a state of C convert with probability u(C) · N(C,C)⁻¹ · x(C). So one inverse gives all effects. Above
//! [`DENSE_STATES_MAX`] states the inverse is too large: `sparse` solves the chain of each channel by iteration.

mod dense;
mod sparse;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bounds::Bounds;
use super::channels::ChannelId;
use super::limits::{DENSE_STATES_MAX, STATES_MAX};
use super::paths::PathTable;

/// The greatest order.
pub const ORDER_MAX: usize = 3;

/// Pairs of states with a transition.
pub const EDGES_MAX: usize = 1 << 24;

/// Most bytes of a transition while paths are counted, by the room of their table.
const EDGE_BYTES: usize = 48;

/// Most bytes of a transition beside that, while it is ordered, checked and solved.
const COUNTED_EDGE_BYTES: usize = 80;

/// Most bytes of a state: its counts and columns, and eight chains that are solved side by side.
const STATE_BYTES: usize = 512;

/// A state: channels of the last touches, the oldest first. Fewer than the order are a whole short path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    touches: [ChannelId; ORDER_MAX],
    length: u8,
}

/// Why a chain has no solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainError {
    /// More than [`STATES_MAX`] states.
    States,
    /// More than [`EDGES_MAX`] pairs of states.
    Edges,
    /// No path converts.
    NoConversion,
    /// No path from this state leads to an end.
    NeverEnds(State),
    /// The iteration did not settle within its passes.
    Slow,
    /// The caller ended it, with this message.
    Ended(String),
}

/// A transition as it was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// `None`: the start.
    pub from: Option<State>,
    /// Where it leads.
    pub to: Next,
    /// Paths that took it; a path that takes it twice counts twice.
    pub count: f64,
    /// Share of all that left `from`.
    pub probability: f64,
}

/// Where a transition leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Next {
    /// A further touch.
    State(State),
    /// The path ends with an order.
    Conversion,
    /// The path ends without an order.
    Null,
}

/// What the removal of a channel costs, as a share of the whole: 0 to 1, but for money with refunds.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Effect {
    /// Of the orders.
    pub conversions: f64,
    /// Of the money; 0 where the chain earns none.
    pub value: f64,
}

/// A chain, counted.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Rising.
    states: Vec<State>,
    edges: Edges,
    /// Paths that begin with each state.
    starts: Vec<f64>,
    conversions: Vec<f64>,
    values: Vec<f64>,
    nulls: Vec<f64>,
    /// All that leaves each state.
    leaving: Vec<f64>,
}

/// Transitions between states: those of state `s` are `begins[s]..begins[s + 1]`.
#[derive(Clone, Debug, Default)]
struct Edges {
    begins: Vec<usize>,
    targets: Vec<u32>,
    counts: Vec<f64>,
}

impl State {
    /// The last touches of a path, at most [`ORDER_MAX`].
    fn new(touches: &[ChannelId]) -> State {
        let mut state = State {
            touches: [ChannelId(0); ORDER_MAX],
            length: touches.len() as u8,
        };
        state.touches[..touches.len()].copy_from_slice(touches);
        state
    }

    /// Its channels, the oldest touch first.
    pub fn channels(&self) -> &[ChannelId] {
        &self.touches[..usize::from(self.length)]
    }

    fn has(&self, channel: ChannelId) -> bool {
        self.channels().contains(&channel)
    }
}

/// The states of a path, in order.
fn states_of(path: &[ChannelId], order: usize) -> impl Iterator<Item = State> {
    path.windows(order.min(path.len()).max(1)).map(State::new)
}

/// Sums in whole millionths, so that they do not depend on the order of paths.
#[derive(Clone, Copy, Default)]
struct Counts {
    starts: i128,
    conversions: i128,
    values: i128,
    nulls: i128,
}

impl Chain {
    /// Counts the transitions of paths, which have at least one touch each. A path without order and without null does not count.
    ///
    /// # Errors
    /// Too many states or transitions; no path converts; a state from which no path ends; the caller ended it.
    pub fn of_paths(
        paths: &PathTable,
        order: usize,
        bounds: &dyn Bounds,
    ) -> Result<Chain, ChainError> {
        assert!((1..=ORDER_MAX).contains(&order));
        let mut numbers: HashMap<State, u32, FxBuildHasher> = HashMap::default();
        let mut counts: Vec<Counts> = Vec::new();
        let mut edges: HashMap<u64, i128, FxBuildHasher> = HashMap::default();
        for (path, count) in paths.iter() {
            let weight = i128::from(count.conversions.0) + i128::from(count.nulls.0);
            if weight == 0 {
                continue;
            }
            bounds.check().map_err(ChainError::Ended)?;
            if edges.len() + path.len() > edges.capacity() {
                let grown = (edges.len() + path.len()).max(2 * edges.capacity());
                let bytes = (edges.capacity() + grown) * EDGE_BYTES + counts.len() * STATE_BYTES;
                let bytes = paths.bytes(0) + bytes;
                bounds.cover(bytes).map_err(ChainError::Ended)?;
            }
            let mut before = None;
            for state in states_of(path, order) {
                let number = match numbers.get(&state) {
                    Some(number) => *number,
                    None if counts.len() == STATES_MAX => return Err(ChainError::States),
                    None => {
                        let number = counts.len() as u32;
                        numbers.insert(state, number);
                        counts.push(Counts::default());
                        number
                    }
                };
                match before {
                    None => counts[number as usize].starts += weight,
                    Some(from) => {
                        *edges.entry(key(from, number)).or_default() += weight;
                    }
                }
                before = Some(number);
            }
            if edges.len() > EDGES_MAX {
                return Err(ChainError::Edges);
            }
            if let Some(last) = before {
                let last = &mut counts[last as usize];
                last.conversions += i128::from(count.conversions.0);
                last.values += i128::from(count.value.0);
                last.nulls += i128::from(count.nulls.0);
            }
        }
        let bytes = edges.capacity() * EDGE_BYTES + edges.len() * COUNTED_EDGE_BYTES;
        let bytes = paths.bytes(0) + bytes + counts.len() * STATE_BYTES;
        bounds.cover(bytes).map_err(ChainError::Ended)?;
        let chain = Chain::of_counts(numbers, &counts, edges);
        chain.check()?;
        Ok(chain)
    }

    /// The same chain with its states in order, whatever the order of paths was.
    fn of_counts(
        numbers: HashMap<State, u32, FxBuildHasher>,
        counts: &[Counts],
        edges: HashMap<u64, i128, FxBuildHasher>,
    ) -> Chain {
        let mut numbered: Vec<(State, u32)> = numbers.into_iter().collect();
        numbered.sort_unstable();
        let mut ranks = vec![0_u32; numbered.len()];
        for (rank, (_, number)) in numbered.iter().enumerate() {
            ranks[*number as usize] = rank as u32;
        }
        let column = |of: fn(&Counts) -> i128| -> Vec<f64> {
            let counts = numbered.iter().map(|(_, number)| &counts[*number as usize]);
            counts.map(|counts| of(counts) as f64).collect()
        };
        let mut ordered: Vec<(u32, u32, i128)> = edges
            .into_iter()
            .map(|(key, count)| {
                let (from, to) = ((key >> 32) as usize, (key & 0xffff_ffff) as usize);
                (ranks[from], ranks[to], count)
            })
            .collect();
        ordered.sort_unstable();
        let mut begins = vec![0; numbered.len() + 1];
        ordered
            .iter()
            .for_each(|(from, _, _)| begins[*from as usize + 1] += 1);
        (0..numbered.len()).for_each(|at| begins[at + 1] += begins[at]);
        let conversions = column(|counts| counts.conversions);
        let nulls = column(|counts| counts.nulls);
        let mut leaving: Vec<f64> = column(|counts| counts.conversions + counts.nulls);
        for (from, _, count) in &ordered {
            leaving[*from as usize] += *count as f64;
        }
        Chain {
            states: numbered.iter().map(|(state, _)| *state).collect(),
            edges: Edges {
                begins,
                targets: ordered.iter().map(|edge| edge.1).collect(),
                counts: ordered.iter().map(|edge| edge.2 as f64).collect(),
            },
            starts: column(|counts| counts.starts),
            conversions,
            values: column(|counts| counts.values),
            nulls,
            leaving,
        }
    }

    /// Whether each state leads to an end, and one to a conversion.
    fn check(&self) -> Result<(), ChainError> {
        if !self.conversions.iter().any(|count| *count > 0.0) {
            return Err(ChainError::NoConversion);
        }
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.states.len()];
        for from in 0..self.states.len() {
            for (to, _) in self.edges.targets(from) {
                before[to].push(from as u32);
            }
        }
        let ends = |at: &usize| self.conversions[*at] + self.nulls[*at] > 0.0;
        let mut open: Vec<usize> = (0..self.states.len()).filter(ends).collect();
        let mut is_ended = vec![false; self.states.len()];
        open.iter().for_each(|at| is_ended[*at] = true);
        while let Some(at) = open.pop() {
            for from in &before[at] {
                if !std::mem::replace(&mut is_ended[*from as usize], true) {
                    open.push(*from as usize);
                }
            }
        }
        match is_ended.iter().position(|is_ended| !is_ended) {
            Some(at) => Err(ChainError::NeverEnds(self.states[at])),
            None => Ok(()),
        }
    }

    /// Its states, in order.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// Number of pairs of states with a transition.
    pub fn edge_count(&self) -> usize {
        self.edges.targets.len()
    }

    /// All transitions: from the start first, then by the state they leave; conversion and null last.
    pub fn transitions(&self) -> impl Iterator<Item = Transition> {
        let paths: f64 = self.starts.iter().sum();
        let transition = |from, to, count: f64, all: f64| Transition {
            from,
            to,
            count: count / 1e6,
            probability: count / all,
        };
        let starts = self.starts.iter().zip(&self.states);
        let starts =
            starts.map(move |(count, state)| transition(None, Next::State(*state), *count, paths));
        let others = (0..self.states.len()).flat_map(move |at| {
            let from = Some(self.states[at]);
            let all = self.leaving[at];
            let ends = [
                (Next::Conversion, self.conversions[at]),
                (Next::Null, self.nulls[at]),
            ];
            let edges = self.edges.targets(at);
            let edges = edges.map(|(to, count)| (Next::State(self.states[to]), count));
            edges
                .chain(ends)
                .map(move |(to, count)| transition(from, to, count, all))
        });
        starts
            .chain(others)
            .filter(|transition| transition.count > 0.0)
    }

    /// The removal effect of each of `channels` channels.
    ///
    /// Cost: one inverse up to [`DENSE_STATES_MAX`] states; above, passes over all transitions, eight channels at a time.
    ///
    /// # Errors
    /// The iteration did not settle; the caller ended it.
    pub fn effects(&self, channels: usize, bounds: &dyn Bounds) -> Result<Vec<Effect>, ChainError> {
        if self.states.len() <= DENSE_STATES_MAX {
            dense::effects(self, channels, bounds)
        } else {
            sparse::effects(self, channels, bounds)
        }
    }

    /// Probabilities to begin with each state.
    fn start_shares(&self) -> Vec<f64> {
        let all: f64 = self.starts.iter().sum();
        self.starts.iter().map(|count| count / all).collect()
    }

    /// Of one that leaves each state: the share that converts at once, and the money of it.
    fn gains(&self) -> [Vec<f64>; 2] {
        [&self.conversions, &self.values].map(|counts| {
            let shares = counts.iter().zip(&self.leaving);
            shares.map(|(count, all)| count / all).collect()
        })
    }
}

impl Edges {
    /// The transitions of a state: target and count.
    fn targets(&self, from: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.begins[from]..self.begins[from + 1];
        let targets = self.targets[range.clone()].iter();
        targets
            .zip(&self.counts[range])
            .map(|(to, count)| (*to as usize, *count))
    }
}

fn key(from: u32, to: u32) -> u64 {
    u64::from(from) << 32 | u64::from(to)
}

/// The effect of a removal that leaves `left` of `whole`.
fn effect(whole: [f64; 2], left: [f64; 2]) -> Effect {
    let share = |at: usize| match whole[at] == 0.0 {
        true => 0.0,
        false => 1.0 - left[at] / whole[at],
    };
    Effect {
        conversions: share(0),
        value: share(1),
    }
}

#[cfg(test)]
mod tests;
