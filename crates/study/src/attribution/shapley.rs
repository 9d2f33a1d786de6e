//! The Shapley value of channels, exact.
//!
//! The channels are the players. The worth of a set is what the paths that touch no channel outside of it led to (Zhao, Mahboobi,
//! Bagheri: Shapley value methods for attribution modeling, 2018). The value of a channel is what it adds to the worth of the channels
//! before it, averaged over all orders of the channels. It is taken from the worths of all 2^n sets; with this worth it equals the model
//! `even`, as that paper proves, which the tests confirm.

use super::channels::ChannelId;
use super::limits::SHAPLEY_CHANNELS_MAX;
use super::paths::{PathCount, PathTable};

/// The value of each channel: of the orders, or of the money, in millionths. `None`: too many channels.
pub fn shapley(
    paths: &PathTable,
    channels: usize,
    of: impl Fn(PathCount) -> i64,
) -> Option<Vec<f64>> {
    if channels > SHAPLEY_CHANNELS_MAX {
        return None;
    }
    let mut worth = vec![0_i128; 1 << channels];
    for (path, count) in paths.iter() {
        worth[set_of(path)] += i128::from(of(count));
    }
    // Of each set its own paths and those of its subsets: one channel at a time.
    for channel in 0..channels {
        for set in 0..worth.len() {
            if set & 1 << channel != 0 {
                worth[set] += worth[set ^ 1 << channel];
            }
        }
    }
    Some(values(&worth, channels))
}

fn set_of(path: &[ChannelId]) -> usize {
    path.iter().fold(0, |set, channel| set | 1 << channel.0)
}

/// The value of each player by the worth of each set.
///
/// What a player adds is summed over the sets of each size in whole numbers. Each sum is then weighted by the share of orders in
/// which that many players come before.
fn values(worth: &[i128], players: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(players);
    for player in 0..players {
        let mut added = vec![0_i128; players];
        for (set, before) in worth.iter().enumerate() {
            if set & 1 << player == 0 {
                added[set.count_ones() as usize] += worth[set | 1 << player] - before;
            }
        }
        // Among n players the sets of k others number n-1 over k, and each size has the share 1/n of all orders.
        let mut sets = 1.0;
        let mut value = 0.0;
        for (size, added) in added.iter().enumerate() {
            value += *added as f64 / (sets * players as f64);
            sets *= (players - 1 - size) as f64 / (size + 1) as f64;
        }
        values.push(value);
    }
    values
}

#[cfg(test)]
mod tests;
