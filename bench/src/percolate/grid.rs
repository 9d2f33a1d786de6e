//! Measures the cells of a grid, and the automatic batch size beside the best fixed one.

use super::{Options, Prepared, caller::Caller, drive::drive};
use crate::{
    batch::Batch,
    error::Result,
    outcome::Cell,
    runs::{self, Run},
};

/// Makes a caller: buffers of a thread, or a connection.
pub(super) type Connect<'c> = dyn Fn() -> Result<Box<dyn Caller + 'c>> + 'c;

/// Measures each cell. If the grid has the automatic batch size beside fixed ones, its runs alternate with those of the best
/// cell. A note has their ratio.
pub(super) fn measure(
    options: &Options,
    prepared: &Prepared,
    connect: &Connect<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Cell>> {
    let fixed = || {
        options
            .batches
            .iter()
            .filter(|batch| **batch != Batch::Auto)
    };
    let mut cells = Vec::new();
    for &batch in fixed() {
        for &concurrency in &options.concurrencies {
            let doing = format!("percolate, batch {batch}, concurrency {concurrency}");
            let runs = runs::repeat(options.effort, &doing, |tick| {
                one(options, prepared, connect, (batch, concurrency), tick)
            })?;
            cells.push(Cell::new(concurrency, batch, &runs));
        }
    }
    if options.batches.contains(&Batch::Auto) {
        for &concurrency in &options.concurrencies {
            let best = best(&cells, concurrency);
            let (cell, ratios) = automatic(options, prepared, connect, concurrency, best)?;
            if let (Some(best), Some(middle)) = (best, ratios.get(ratios.len() / 2)) {
                notes.push(format!(
                    "the automatic batch with {concurrency} clients: {middle:.3} x batch {best}, the best cell; run by run {}",
                    runs::listed(&ratios),
                ));
            }
            cells.push(cell);
        }
    }
    Ok(cells)
}

fn one(
    options: &Options,
    prepared: &Prepared,
    connect: &Connect<'_>,
    (batch, concurrency): (Batch, u32),
    tick: &mut dyn FnMut(),
) -> Result<Run> {
    let callers = (0..concurrency).map(|_| connect());
    drive(
        callers.collect::<Result<_>>()?,
        prepared,
        batch,
        options.effort,
        options.own_count,
        tick,
    )
}

/// The batch size of the fastest cell with this count of clients.
fn best(cells: &[Cell], concurrency: u32) -> Option<Batch> {
    let with = cells.iter().filter(|cell| cell.concurrency == concurrency);
    with.max_by(|a, b| a.rate().total_cmp(&b.rate()))
        .map(|cell| cell.batch)
}

/// The cell of the automatic batch size, and the rising ratios of its runs to the alternating runs of the best size.
fn automatic(
    options: &Options,
    prepared: &Prepared,
    connect: &Connect<'_>,
    concurrency: u32,
    best: Option<Batch>,
) -> Result<(Cell, Vec<f64>)> {
    let doing = format!("percolate, automatic batch, concurrency {concurrency}");
    let mut ratios = Vec::new();
    let runs = runs::repeat(options.effort, &doing, |tick| {
        let beside = match best {
            Some(batch) => {
                let cell = (batch, concurrency);
                Some(one(options, prepared, connect, cell, tick)?)
            }
            None => None,
        };
        let cell = (Batch::Auto, concurrency);
        let run = one(options, prepared, connect, cell, tick)?;
        ratios.extend(beside.map(|beside| run.rate() / beside.rate()));
        Ok(run)
    })?;
    ratios.sort_by(f64::total_cmp);
    Ok((Cell::new(concurrency, Batch::Auto, &runs), ratios))
}
