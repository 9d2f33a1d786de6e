//! Sums and paths → the figures of each model, rounded such that they add up.

use super::amount::{Amount, Sum, apportion, apportion_numbers};
use super::bounds::Bounds;
use super::chain::{Chain, ChainError, Effect};
use super::limits::{SHAPLEY_CHANNELS_MAX, STATES_MAX};
use super::model::Model;
use super::paths::{PathCount, PathTable};
use super::shapley::shapley;
use super::tally::{Earned, Tally};

/// Digits behind the point that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Digits of counts of orders, 2 to 6.
    pub conversions: u8,
    /// Digits of money, 2 to 6.
    pub value: u8,
    /// Amounts that had more digits than an amount holds.
    pub rounded_amounts: u64,
}

/// What a model gives to the channels.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Which model computed them.
    pub model: Model,
    /// Parts of orders, one for each channel.
    pub conversions: Column,
    /// Parts of their money, one for each channel.
    pub value: Column,
    /// Of a Markov model, its chain.
    pub chain: Option<ChainFigures>,
}

/// A figure for each channel.
#[derive(Clone, Debug)]
pub struct Column {
    /// As computed.
    pub exact: Vec<f64>,
    /// In units of the last digit that is shown. Their sum is the rounded total, but for `all-touches`.
    pub units: Vec<i128>,
    /// The true total in these units.
    pub total: i128,
}

/// A chain and its effects.
#[derive(Clone, Debug)]
pub struct ChainFigures {
    /// States and transitions, as counted.
    pub chain: Chain,
    /// The removal effect of each channel.
    pub effects: Vec<Effect>,
}

/// The figures of all models, in the order asked for.
///
/// `paths` is `None` where there are too many different ones.
///
/// # Errors
/// A message that names the model which has no answer for these paths, and why; that of `bounds`.
pub fn figures(
    models: &[Model],
    tally: &Tally,
    paths: Option<&PathTable>,
    channels: &[String],
    places: Places,
    bounds: &dyn Bounds,
) -> Result<Vec<Figures>, String> {
    let mut all = Vec::with_capacity(models.len());
    for model in models {
        let sums = tally.sums().find(|(of, _)| of == model);
        let figures = match sums {
            Some((_, sums)) => of_sums(*model, sums, tally.total, places),
            None => {
                let paths = paths.ok_or_else(|| {
                    format!("{}: there are too many different paths", model.name())
                })?;
                match model.markov_order() {
                    Some(order) => {
                        let solved = solved(order, paths, channels, bounds);
                        let solved = solved.map_err(|why| format!("{}: {why}", model.name()))?;
                        of_chain(*model, solved, tally.total, places)?
                    }
                    None => of_shapley(tally.total, paths, channels, places, bounds)?,
                }
            }
        };
        all.push(figures);
    }
    Ok(all)
}

fn of_sums(model: Model, sums: &[Earned], total: Earned, places: Places) -> Figures {
    let column = |of: fn(&Earned) -> Sum, places: u8| {
        let sums: Vec<Sum> = sums.iter().map(of).collect();
        let units = match model {
            Model::AllTouches => sums.iter().map(|sum| sum.units(places)).collect(),
            Model::First
            | Model::Last
            | Model::LastNonDirect
            | Model::Linear
            | Model::Even
            | Model::Distributed
            | Model::FiftyFifty
            | Model::PositionBased
            | Model::TimeDecay
            | Model::Markov1
            | Model::Markov2
            | Model::Markov3
            | Model::Shapley => apportion(&sums, places),
        };
        Column {
            exact: sums.iter().map(|sum| sum.value()).collect(),
            units,
            total: of(&total).units(places),
        }
    };
    Figures {
        model,
        conversions: column(|earned| earned.conversions, places.conversions),
        value: column(|earned| earned.value, places.value),
        chain: None,
    }
}

/// A column of numbers that add up to a total but for their rounding.
fn of_numbers(exact: Vec<f64>, total: Sum, places: u8) -> Column {
    Column {
        units: apportion_numbers(&exact, total, places),
        exact,
        total: total.units(places),
    }
}

/// The chain of an order, and its effects.
fn solved(
    order: usize,
    paths: &PathTable,
    channels: &[String],
    bounds: &dyn Bounds,
) -> Result<ChainFigures, String> {
    let refused = |error: ChainError| reason(&error, channels);
    let chain = Chain::of_paths(paths, order, bounds).map_err(refused)?;
    let effects = chain.effects(channels.len(), bounds).map_err(refused)?;
    Ok(ChainFigures { chain, effects })
}

fn of_chain(
    model: Model,
    solved: ChainFigures,
    total: Earned,
    places: Places,
) -> Result<Figures, String> {
    let effects = &solved.effects;
    let shared = |of: fn(&Effect) -> f64, total: Sum| {
        let sum: f64 = effects.iter().map(of).sum();
        let part = |effect: &Effect| of(effect) / sum * total.value();
        (sum != 0.0).then(|| effects.iter().map(part).collect())
    };
    let conversions: Vec<f64> =
        shared(|effect| effect.conversions, total.conversions).ok_or_else(|| {
            format!(
                "{}: no channel has a removal effect: no path that converts needs one",
                model.name()
            )
        })?;
    // Where the chain earns nothing, such as with refunds only, money follows the orders.
    let value = shared(|effect| effect.value, total.value)
        .or_else(|| shared(|effect| effect.conversions, total.value))
        .unwrap_or_default();
    Ok(Figures {
        model,
        conversions: of_numbers(conversions, total.conversions, places.conversions),
        value: of_numbers(value, total.value, places.value),
        chain: Some(solved),
    })
}

/// Why there is no chain, in words.
fn reason(error: &ChainError, channels: &[String]) -> String {
    match error {
        ChainError::States => format!(
            "the chain has more than {STATES_MAX} states: ask for a lower order, or map channels together"
        ),
        ChainError::Edges => {
            "the chain has too many transitions: ask for a lower order, or map channels together"
                .to_owned()
        }
        ChainError::NoConversion => "no path converts".to_owned(),
        ChainError::NeverEnds(state) => {
            let names = state.channels().iter();
            let names: Vec<&str> = names
                .map(|channel| channels[usize::from(channel.0)].as_str())
                .collect();
            format!(
                "the chain never ends: no path leads from {} to an order or to none",
                names.join(" > ")
            )
        }
        ChainError::Ended(message) => message.clone(),
        ChainError::Slow => {
            "the chain did not settle: its paths almost never end; ask for a lower order".to_owned()
        }
    }
}

fn of_shapley(
    total: Earned,
    paths: &PathTable,
    channels: &[String],
    places: Places,
    bounds: &dyn Bounds,
) -> Result<Figures, String> {
    let sets = 1_usize << channels.len().min(SHAPLEY_CHANNELS_MAX);
    bounds.cover(paths.bytes(0) + sets * size_of::<i128>())?;
    bounds.check()?;
    let values = |of: fn(PathCount) -> Amount| {
        let values = shapley(paths, channels.len(), |count| of(count).0);
        let values = values.map(|values| values.iter().map(|value| value / 1e6).collect());
        values.ok_or_else(|| {
            format!(
                "shapley: {} channels, and it is exact up to {SHAPLEY_CHANNELS_MAX}: map channels together, or ask for even, which \
                 gives the same figures",
                channels.len()
            )
        })
    };
    Ok(Figures {
        model: Model::Shapley,
        conversions: of_numbers(
            values(|count| count.conversions)?,
            total.conversions,
            places.conversions,
        ),
        value: of_numbers(values(|count| count.value)?, total.value, places.value),
        chain: None,
    })
}
