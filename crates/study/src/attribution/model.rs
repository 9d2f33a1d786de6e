//! Models: which touches of an order get which share of it.
//!
//! The shares of an order with the touches A B B C, the last one its youngest:
//!
//! | model | A | B | B | C |
//! |---|---|---|---|---|
//! | `first` | 1 | | | |
//! | `last` | | | | 1 |
//! | `linear`, `distributed` | 1/4 | 1/4 | 1/4 | 1/4 |
//! | `even` | 1/3 | 1/3 | | 1/3 |
//! | `fifty-fifty` | 1/2 | | | 1/2 |
//! | `position-based`, 40, 20, 40 | 0.4 | 0.1 | 0.1 | 0.4 |
//! | `all-touches` | 1 | 1 | | 1 |
//!
//! Markov chains and the Shapley value look at all paths together: `chain` and `shapley`.

use super::amount::GRAINS;
use super::channels::ChannelId;

/// A model. [`MODELS`] is the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// All to the oldest touch.
    First,
    /// All to the youngest touch.
    Last,
    /// All to the youngest touch that is not direct; to the youngest one if all are.
    LastNonDirect,
    /// Equal parts to the touches.
    Linear,
    /// Equal parts to the channels.
    Even,
    /// To each channel by the number of its touches.
    Distributed,
    /// Half to the first touch, half to the last one.
    FiftyFifty,
    /// Free shares to the first touch, those between, the last touch.
    PositionBased,
    /// The younger the touch, the more: half of it for each half-life.
    TimeDecay,
    /// The whole order to each channel.
    AllTouches,
    /// Removal effects of a Markov chain whose states are touches.
    Markov1,
    /// The same with states of two touches.
    Markov2,
    /// The same with states of three touches.
    Markov3,
    /// The Shapley value of the channels.
    Shapley,
}

/// A row of the register.
#[derive(Clone, Copy, Debug)]
pub struct ModelRow {
    /// The variant that this row is for.
    pub model: Model,
    /// Its name on a command line. With `_` for `-` it is a column in CSV and JSON.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
}

/// All models, in the order of the documentation. To add one: a variant, a row here, an arm in [`share`] or in `tally`, and a row in
/// docs/attribution.md.
pub const MODELS: [ModelRow; 14] = [
    row(Model::First, "first", "all to the oldest touch"),
    row(Model::Last, "last", "all to the youngest touch"),
    row(
        Model::LastNonDirect,
        "last-non-direct",
        "all to the youngest touch that is not direct",
    ),
    row(Model::Linear, "linear", "equal parts to the touches"),
    row(Model::Even, "even", "equal parts to the channels"),
    row(
        Model::Distributed,
        "distributed",
        "to each channel by the number of its touches",
    ),
    row(
        Model::FiftyFifty,
        "fifty-fifty",
        "half to the first touch, half to the last one",
    ),
    row(
        Model::PositionBased,
        "position-based",
        "free shares to the first touch, those between, the last touch",
    ),
    row(
        Model::TimeDecay,
        "time-decay",
        "the younger the touch, the more",
    ),
    row(
        Model::AllTouches,
        "all-touches",
        "the whole order to each channel: the sum exceeds the total",
    ),
    row(
        Model::Markov1,
        "markov",
        "removal effects of a Markov chain of touches",
    ),
    row(
        Model::Markov2,
        "markov-2",
        "removal effects, states of two touches",
    ),
    row(
        Model::Markov3,
        "markov-3",
        "removal effects, states of three touches",
    ),
    row(
        Model::Shapley,
        "shapley",
        "the Shapley value, up to 20 channels",
    ),
];

const fn row(model: Model, name: &'static str, about: &'static str) -> ModelRow {
    ModelRow { model, name, about }
}

impl Model {
    /// The model with a name.
    pub fn parse(name: &str) -> Option<Model> {
        let row = MODELS.iter().find(|row| row.name == name);
        row.map(|row| row.model)
    }

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        let row = MODELS.iter().find(|row| row.model == self);
        row.map_or("", |row| row.name)
    }

    /// Its key in CSV and JSON.
    pub fn key(self) -> String {
        self.name().replace('-', "_")
    }

    /// Touches of a state of its chain; `None`: it has no chain.
    pub fn markov_order(self) -> Option<usize> {
        match self {
            Model::Markov1 => Some(1),
            Model::Markov2 => Some(2),
            Model::Markov3 => Some(3),
            Model::First
            | Model::Last
            | Model::LastNonDirect
            | Model::Linear
            | Model::Even
            | Model::Distributed
            | Model::FiftyFifty
            | Model::PositionBased
            | Model::TimeDecay
            | Model::AllTouches
            | Model::Shapley => None,
        }
    }

    /// Whether the shares of an order follow from that order alone.
    pub fn is_of_each_order(self) -> bool {
        self.markov_order().is_none() && self != Model::Shapley
    }
}

/// What the models are told.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Shares of the first touch, of those between and of the last one in hundredths of a percent: 10,000 together.
    pub position: [u16; 3],
    /// Time in which the weight of a touch halves, in milliseconds, above 0.
    pub half_life_ms: i64,
    /// For each channel whether it is direct.
    pub is_direct: Vec<bool>,
}

/// The touches of an order, the oldest first: at least one.
#[derive(Clone, Copy, Debug)]
pub struct Touches<'a> {
    /// The channel of each touch.
    pub channels: &'a [ChannelId],
    /// Their times in milliseconds, never falling; empty where no time is known.
    pub times_ms: &'a [i64],
    /// Places of the first touch of each channel, rising.
    pub firsts: &'a [usize],
}

/// Writes the share of each touch in grains. They add up to [`GRAINS`], but for `all-touches`.
///
/// A rest below one grain for each touch goes to the oldest touches; there is none up to 24 touches.
///
/// # Panics
/// The model is not one of each order.
pub fn share(model: Model, touches: Touches<'_>, rule: &Rule, out: &mut Vec<i64>) {
    let count = touches.channels.len();
    out.clear();
    out.resize(count, 0);
    match model {
        Model::First => out[0] = GRAINS,
        Model::Last => out[count - 1] = GRAINS,
        Model::LastNonDirect => out[last_not_direct(touches, rule)] = GRAINS,
        Model::Linear | Model::Distributed => equal(out, GRAINS),
        Model::Even => {
            let mut parts = vec![0; touches.firsts.len()];
            equal(&mut parts, GRAINS);
            for (at, part) in touches.firsts.iter().zip(parts) {
                out[*at] = part;
            }
        }
        Model::FiftyFifty => {
            out[0] += GRAINS / 2;
            out[count - 1] += GRAINS / 2;
        }
        Model::PositionBased => by_position(rule.position, out),
        Model::TimeDecay => by_age(touches.times_ms, rule.half_life_ms, out),
        Model::AllTouches => touches.firsts.iter().for_each(|at| out[*at] = GRAINS),
        Model::Markov1 | Model::Markov2 | Model::Markov3 | Model::Shapley => {
            unreachable!("shares of all paths together are not of one order")
        }
    }
}

fn last_not_direct(touches: Touches<'_>, rule: &Rule) -> usize {
    let is_other = |channel: &ChannelId| !rule.is_direct[usize::from(channel.0)];
    let place = touches.channels.iter().rposition(is_other);
    place.unwrap_or(touches.channels.len() - 1)
}

/// Equal parts of `grains`, with the rest at the start.
fn equal(out: &mut [i64], grains: i64) {
    let count = out.len() as i64;
    let rest = (grains % count) as usize;
    for (at, part) in out.iter_mut().enumerate() {
        *part += grains / count + i64::from(at < rest);
    }
}

/// Two touches have no touch between: the two shares keep their ratio.
fn by_position([first, between, last]: [u16; 3], out: &mut [i64]) {
    let part = |share: u16, whole: i64| i64::from(share) * (GRAINS / whole);
    let ends = i64::from(first) + i64::from(last);
    match out {
        [one] => *one = GRAINS,
        [oldest, youngest] if ends == 0 => (*oldest, *youngest) = (GRAINS / 2, GRAINS / 2),
        [oldest, youngest] => {
            *oldest = (i128::from(GRAINS) * i128::from(first) / i128::from(ends)) as i64;
            *youngest = GRAINS - *oldest;
        }
        [oldest, middle @ .., youngest] => {
            *oldest = part(first, 10_000);
            *youngest = part(last, 10_000);
            equal(middle, part(between, 10_000));
        }
        [] => {}
    }
}

/// Ages are counted from the youngest touch: a common factor changes no share, and none of the weights is lost below zero.
fn by_age(times_ms: &[i64], half_life_ms: i64, out: &mut [i64]) {
    let youngest = times_ms.last().copied().unwrap_or_default();
    let weight = |time: &i64| (-((youngest - time) as f64) / half_life_ms as f64).exp2();
    // Oldest first, so the small weights are added before the large ones.
    let sum: f64 = times_ms.iter().map(weight).sum();
    let mut left = GRAINS;
    for (part, time) in out.iter_mut().zip(times_ms) {
        *part = ((weight(time) / sum * GRAINS as f64) as i64).min(left);
        left -= *part;
    }
    if let Some(last) = out.last_mut() {
        *last += left;
    }
}

#[cfg(test)]
mod tests;
