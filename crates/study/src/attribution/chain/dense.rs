//! Effects by one inverse.

use super::{Chain, ChainError, Effect, effect};
use crate::attribution::bounds::Bounds;
use crate::attribution::channels::ChannelId;

/// Rows of a square matrix.
type Matrix = Vec<Vec<f64>>;

/// The removal effects of a chain.
pub(super) fn effects(
    chain: &Chain,
    channels: usize,
    bounds: &dyn Bounds,
) -> Result<Vec<Effect>, ChainError> {
    let inverse = inverse(minus_transitions(chain), bounds)?;
    let starts = chain.start_shares();
    let visits: Vec<f64> = (0..starts.len())
        .map(|to| {
            starts
                .iter()
                .zip(&inverse)
                .map(|(s, row)| s * row[to])
                .sum()
        })
        .collect();
    let gains = chain.gains();
    let futures = gains
        .each_ref()
        .map(|gains| -> Vec<f64> { inverse.iter().map(|row| dot(row, gains)).collect() });
    let whole = futures.each_ref().map(|future| dot(&starts, future));
    let mut effects = Vec::with_capacity(channels);
    for channel in 0..channels {
        bounds.check().map_err(ChainError::Ended)?;
        let channel = ChannelId(channel as u16);
        let with: Vec<usize> = (0..chain.states.len())
            .filter(|at| chain.states[*at].has(channel))
            .collect();
        let reached = reached(&inverse, &visits, &with);
        let left = [0, 1].map(|of| {
            let lost = with.iter().zip(&reached);
            let lost: f64 = lost.map(|(at, share)| share * futures[of][*at]).sum();
            whole[of] - lost
        });
        effects.push(effect(whole, left));
    }
    Ok(effects)
}

/// The probability to come to each of the states of a set before any other of the set.
fn reached(inverse: &Matrix, visits: &[f64], with: &[usize]) -> Vec<f64> {
    // Visits u(C) = h N(C,C): solved for h by the transposed system.
    let size = with.len();
    let mut system: Matrix = with
        .iter()
        .map(|row| {
            let mut line: Vec<f64> = with.iter().map(|column| inverse[*column][*row]).collect();
            line.push(visits[*row]);
            line
        })
        .collect();
    for pivot in 0..size {
        let row = system[pivot].clone();
        for line in &mut system[pivot + 1..] {
            let factor = line[pivot] / row[pivot];
            if factor != 0.0 {
                subtract(&mut line[pivot..], &row[pivot..], factor);
            }
        }
    }
    let mut solved = vec![0.0; size];
    for at in (0..size).rev() {
        let known = dot(&system[at][at + 1..size], &solved[at + 1..]);
        solved[at] = (system[at][size] - known) / system[at][at];
    }
    solved
}

/// I − Q.
fn minus_transitions(chain: &Chain) -> Matrix {
    let size = chain.states.len();
    let mut matrix = vec![vec![0.0; size]; size];
    for (from, row) in matrix.iter_mut().enumerate() {
        row[from] = 1.0;
        for (to, count) in chain.edges.targets(from) {
            row[to] -= count / chain.leaving[from];
        }
    }
    matrix
}

/// The inverse by Gauss and Jordan, in place. I − Q is an M-matrix with weakly dominant diagonal, so no pivot is searched.
fn inverse(mut matrix: Matrix, bounds: &dyn Bounds) -> Result<Matrix, ChainError> {
    let size = matrix.len();
    for pivot in 0..size {
        bounds.check().map_err(ChainError::Ended)?;
        let mut row = std::mem::take(&mut matrix[pivot]);
        let head = std::mem::replace(&mut row[pivot], 1.0);
        row.iter_mut().for_each(|value| *value /= head);
        for line in matrix.iter_mut().filter(|line| !line.is_empty()) {
            let factor = std::mem::replace(&mut line[pivot], 0.0);
            if factor != 0.0 {
                subtract(line, &row, factor);
            }
        }
        matrix[pivot] = row;
    }
    Ok(matrix)
}

fn subtract(line: &mut [f64], row: &[f64], factor: f64) {
    for (value, other) in line.iter_mut().zip(row) {
        *value -= factor * other;
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}
