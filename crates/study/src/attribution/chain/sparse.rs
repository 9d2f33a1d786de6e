//! Effects by iteration over the transitions, for chains whose inverse would be too large.
//!
//! The probability x(s) to convert from state s is the sum of p(s,t) x(t) over the next states t, plus the share that converts at once.
//! Gauss and Seidel: each pass replaces every x(s) by that sum, from values that are partly of this pass. All terms are positive and the
//! values begin at 0, so they only rise, and they stop rising at the solution, to the last digits of a number. Eight chains without one
//! channel each are solved side by side: a pass reads the transitions once for all of them.

use super::{Chain, ChainError, Effect, effect};
use crate::attribution::bounds::Bounds;
use crate::attribution::channels::ChannelId;
use crate::attribution::limits::PASSES_MAX;

/// Chains that are solved side by side.
const LANES: usize = 8;

type Lanes = [f64; LANES];

/// The largest change of a pass, relative to the largest value, at which the values have settled.
const SETTLED: f64 = 4.0 * f64::EPSILON;

/// The chain as probabilities.
struct Probabilities<'a> {
    chain: &'a Chain,
    shares: Vec<f64>,
    /// One, divided by the share that does not stay.
    stays: Vec<f64>,
}

/// The removal effects of a chain.
pub(super) fn effects(
    chain: &Chain,
    channels: usize,
    bounds: &dyn Bounds,
) -> Result<Vec<Effect>, ChainError> {
    let probabilities = Probabilities::new(chain);
    let starts = chain.start_shares();
    let gains = chain.gains();
    // The first lane removes nothing.
    let removed: Vec<Option<ChannelId>> = std::iter::once(None)
        .chain((0..channels).map(|channel| Some(ChannelId(channel as u16))))
        .collect();
    let mut results = vec![[0.0; 2]; removed.len()];
    for (block, removed) in removed.chunks(LANES).enumerate() {
        for (of, gains) in gains.iter().enumerate() {
            let solved = probabilities.solve(gains, removed, bounds)?;
            for lane in 0..removed.len() {
                let ends = starts.iter().zip(&solved);
                results[block * LANES + lane][of] =
                    ends.map(|(start, lanes)| start * lanes[lane]).sum();
            }
        }
    }
    let (whole, without) = results.split_at(1);
    Ok(without.iter().map(|left| effect(whole[0], *left)).collect())
}

impl<'a> Probabilities<'a> {
    fn new(chain: &'a Chain) -> Probabilities<'a> {
        let mut shares = Vec::with_capacity(chain.edges.counts.len());
        let mut stays = Vec::with_capacity(chain.states.len());
        for from in 0..chain.states.len() {
            let mut stay = 0.0;
            for (to, count) in chain.edges.targets(from) {
                let share = count / chain.leaving[from];
                // What stays is divided out, and no further pass waits for it.
                stay += if to == from { share } else { 0.0 };
                shares.push(if to == from { 0.0 } else { share });
            }
            stays.push(1.0 / (1.0 - stay));
        }
        Probabilities {
            chain,
            shares,
            stays,
        }
    }

    /// What each state gains in the end, in the chain without each of the removed channels.
    fn solve(
        &self,
        gains: &[f64],
        removed: &[Option<ChannelId>],
        bounds: &dyn Bounds,
    ) -> Result<Vec<Lanes>, ChainError> {
        let states = &self.chain.states;
        let kept: Vec<Lanes> = states
            .iter()
            .map(|state| {
                let keeps = |channel: &Option<ChannelId>| !channel.is_some_and(|c| state.has(c));
                let mut kept = [0.0; LANES];
                for (lane, channel) in kept.iter_mut().zip(removed) {
                    *lane = f64::from(u8::from(keeps(channel)));
                }
                kept
            })
            .collect();
        let mut solved = vec![[0.0; LANES]; states.len()];
        let mut backward = true;
        for _ in 0..PASSES_MAX {
            bounds.check().map_err(ChainError::Ended)?;
            let (mut change, mut most) = (0.0_f64, 0.0_f64);
            for at in 0..states.len() {
                // States follow each other in both directions, so passes go both ways.
                let at = if backward { states.len() - 1 - at } else { at };
                let new = self.pass(at, gains[at], &kept[at], &solved);
                for (new, old) in new.iter().zip(&solved[at]) {
                    change = change.max((new - old).abs());
                    most = most.max(new.abs());
                }
                solved[at] = new;
            }
            if change <= SETTLED * most {
                return Ok(solved);
            }
            backward = !backward;
        }
        Err(ChainError::Slow)
    }

    #[inline]
    fn pass(&self, at: usize, gain: f64, kept: &Lanes, solved: &[Lanes]) -> Lanes {
        let edges = &self.chain.edges;
        let range = edges.begins[at]..edges.begins[at + 1];
        let mut new = [gain; LANES];
        for (to, share) in edges.targets[range.clone()].iter().zip(&self.shares[range]) {
            let next = &solved[*to as usize];
            for lane in 0..LANES {
                new[lane] += share * next[lane];
            }
        }
        for lane in 0..LANES {
            new[lane] *= self.stays[at] * kept[lane];
        }
        new
    }
}
