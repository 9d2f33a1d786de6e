//! `seine bench select`: rows by a list of ids, by every form that SQL has for it, in a running server and in peers beside it.
//!
//! All forms ask for the same rows. Each answer is compared with the right one, by its number of rows and by a checksum over
//! all values, before its time counts.

mod definition;
mod report;
mod rows;
mod system;

use std::{collections::HashMap, time::Duration};

use definition::{Answer, Form};
use report::Cell;
use rows::{Drawn, List, Rows, Sum};
use system::{Refused, System};

use crate::{
    Effort, Server,
    error::{Error, Result},
    progress::Progress,
    workload::posts,
};

pub use report::Report;

/// Name of the server at `Options::server` in the table.
const OURS: &str = "seine";

/// Seed of the lists.
const SEED: u64 = 6;

/// A run asks for different lists, so that no cache of one answer serves it: this many, of short lists.
const LISTS: usize = 16;

/// Most ids of all lists of a size together, unless there is one list.
const LISTED_MAX: usize = 160_000;

/// A system beside the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A server over MySQL's protocol.
    Server {
        /// Its address and login.
        server: Server,
        /// The database of its table; `None`: the connection needs none.
        database: Option<String>,
    },
    /// A program that reads SQL from its standard input: see `benchmarks/peers/select`.
    Program {
        /// A shell command.
        command: String,
    },
}

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server. The benchmark creates a table `bench_select` in it and in the peers, and drops it afterwards.
    pub server: Server,
    /// Systems beside it, with their names.
    pub peers: Vec<(String, Peer)>,
    /// Names of forms; empty: all.
    pub forms: Vec<String>,
    /// Sizes of the lists; 1 to `rows`.
    pub sizes: Vec<u32>,
    /// Count of rows of the table.
    pub rows: u64,
    /// Whether the table stays for the next run, and a table of this many rows is not filled again.
    pub keep: bool,
    /// The posts in the rows, as unpacked NDJSON.
    pub posts: Vec<u8>,
    /// Longest time of a job. A form that takes longer in a system is not asked for longer lists there.
    pub timeout: Duration,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// Runs the benchmark. Blocks for about runs × seconds × forms × sizes × systems.
///
/// # Errors
/// Before anything is measured: bad options or posts, or a system that cannot be reached or filled. [`Error::WrongAnswer`]: rows
/// that are not those of the list. A form that a system refuses is no error: the report tells it.
pub fn run(options: &Options) -> Result<Report> {
    options.effort.check()?;
    let forms = definition::named(&options.forms)?;
    let mut sizes = options.sizes.clone();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.first() == Some(&0)
        || sizes
            .last()
            .is_none_or(|most| u64::from(*most) > options.rows)
    {
        return Err(Error::BadOption(
            "a list has 1 id or more, and at most one for each row",
        ));
    }
    let posts = posts(&options.posts)?;
    if posts.is_empty() {
        return Err(Error::TooFewPosts);
    }
    let rows = Rows::new(posts, options.rows);
    let mut progress = Progress::new(options.effort.progress);
    let mut systems = open(options, &rows, &mut progress)?;
    let mut report = Report::new(&mut systems, options)?;
    let drawn = Drawn::new(options.rows, SEED);
    let mut given_up = HashMap::new();
    for size in sizes {
        let cells = of_size(
            options,
            size,
            &forms,
            &mut Beside {
                systems: &mut systems,
                lists: &lists(&rows, &drawn, size as usize),
                given_up: &mut given_up,
                progress: &mut progress,
            },
        )?;
        report.add(size, cells);
    }
    report.close();
    if !options.keep {
        for system in &mut systems {
            system.drop_table()?;
        }
    }
    Ok(report)
}

fn open(options: &Options, rows: &Rows, progress: &mut Progress) -> Result<Vec<System>> {
    let ours = Peer::Server {
        server: options.server.clone(),
        database: None,
    };
    let all = [(OURS.to_owned(), ours)];
    let mut systems = Vec::new();
    for (name, peer) in all.iter().chain(&options.peers) {
        let mut system = System::open(name, peer, options.timeout)?;
        let doing = format!("rows into {name}");
        system.fill(rows, options.keep, &mut |part| progress.show(&doing, part))?;
        systems.push(system);
    }
    Ok(systems)
}

/// A list with its right answers.
struct Asked {
    list: List,
    each: Sum,
    once: Sum,
}

fn lists(rows: &Rows, drawn: &Drawn, size: usize) -> Vec<Asked> {
    let count = (LISTED_MAX / size).clamp(1, LISTS);
    let asked = |number| {
        let list = drawn.list(number, size);
        let (each, once) = (
            rows.answer(&list, Answer::Each),
            rows.answer(&list, Answer::Once),
        );
        Asked { list, each, once }
    };
    (0..count).map(asked).collect()
}

/// The systems, and the state of a size.
struct Beside<'a> {
    systems: &'a mut [System],
    lists: &'a [Asked],
    /// Why a form is not asked in a system any more.
    given_up: &'a mut HashMap<(String, String), String>,
    progress: &'a mut Progress,
}

/// Measures all forms with lists of one size. In each turn every form runs once in every system.
fn of_size(
    options: &Options,
    size: u32,
    forms: &[Form],
    beside: &mut Beside<'_>,
) -> Result<Vec<Cell>> {
    let forms: Vec<&Form> = forms.iter().filter(|form| size <= form.ids_max).collect();
    let mut cells = Vec::new();
    for form in &forms {
        for system in &*beside.systems {
            cells.push(Cell::new(form, size, &system.name));
        }
    }
    let runs = options.effort.runs;
    for turn in 0..runs {
        let count = cells.len();
        for (place, cell) in cells.iter_mut().enumerate() {
            let form = forms[place / beside.systems.len()];
            let system = &mut beside.systems[place % beside.systems.len()];
            let key = (cell.form.clone(), cell.system.clone());
            if let Some(told) = beside.given_up.get(&key) {
                cell.told.get_or_insert_with(|| told.clone());
                continue;
            }
            let doing = format!("{size} ids, {}, {}", form.name, system.name);
            let done = f64::from(turn) + place as f64 / count as f64;
            beside.progress.show(&doing, done / f64::from(runs));
            match measure(system, form, beside.lists, options.effort)? {
                Ok((seconds, rows)) => {
                    cell.seconds.push(seconds);
                    cell.rows = rows;
                }
                Err(Refused(error)) => {
                    let told = format!("not asked: refused {size} ids");
                    beside.given_up.insert(key, told);
                    cell.told = Some(error);
                }
            }
        }
    }
    Ok(cells)
}

/// Asks for the lists in turn until the time of a run is over. Gives the mean seconds of a job, and the rows of the first.
fn measure(
    system: &mut System,
    form: &Form,
    lists: &[Asked],
    effort: Effort,
) -> Result<std::result::Result<(f64, u64), Refused>> {
    let (mut seconds, mut jobs) = (0.0, 0_u32);
    for asked in lists.iter().cycle() {
        if jobs > 0 && seconds >= effort.seconds_min {
            break;
        }
        let ran = match system.run(form, &asked.list.ids)? {
            Ok(ran) => ran,
            Err(refused) => return Ok(Err(refused)),
        };
        let right = match form.rows {
            Answer::Each => asked.each,
            Answer::Once => asked.once,
        };
        check(system, form, right, ran.sum)?;
        seconds += ran.seconds;
        jobs += 1;
    }
    let rows = lists.first().map_or(0, |asked| match form.rows {
        Answer::Each => asked.each.rows,
        Answer::Once => asked.once.rows,
    });
    Ok(Ok((seconds / f64::from(jobs.max(1)), rows)))
}

fn check(system: &System, form: &Form, right: Sum, counted: Sum) -> Result<()> {
    let named = |what: &str| format!("{what} by {}", form.name);
    let rows = Error::unless_equal(named("rows"), right.rows, counted.rows);
    let values = || Error::unless_equal(named("as checksum of values"), right.value, counted.value);
    rows.and_then(|()| values())
        .map_err(|error| error.of(&system.name))
}

#[cfg(test)]
mod tests;
