//! `cargo xtask mutate` proves that the tests see bugs. Each mutation of [`list::MUTATIONS`] plants a bug in a copy of the tree;
//! one test must then fail.
//!
//! A run:
//! 1. It copies the files that git knows, and new files that git does not ignore, from the checkout to `mutate/tree` in the
//!    target folder. It only reads the checkout.
//! 2. It checks that each test of a chosen mutation passes in the copy.
//! 3. For each mutation it replaces the text, builds the test program, runs the test, and puts the text back. All mutations share
//!    the build folder `mutate/target`.
//!
//! It prints a line for each mutation:
//! - `caught NAME by TEST (12 s)`: the test has failed.
//! - `MISSED NAME`: the test has passed.
//! - `STALE NAME`: the text does not occur in its file exactly once.
//! - `BROKEN NAME`: the copy does not compile.
//! - `HANGS NAME`: the test has not ended within [`RUN_TIME_MAX`].
//!
//! Any outcome but `caught` gives exit status 1.
//!
//! A new mutation is an entry of the list and a row of the same name in SAFETY.md, section "Planted bugs".

mod copy;
mod list;
mod program;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

pub use list::MUTATIONS;

use copy::Copy;
use program::{Ended, Program};

/// Longest run of a test; then it is ended.
const RUN_TIME_MAX: Duration = Duration::from_secs(600);

/// A bug, and the test that must fail with it.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// Unique name: words with hyphens.
    pub name: &'static str,
    /// Path of the file in the tree, with `/`.
    pub file: &'static str,
    /// Text to replace. It occurs in the file exactly once.
    pub text: &'static str,
    /// The text that takes its place: the planted bug.
    pub becomes: &'static str,
    /// The test in the form of SAFETY.md: `crates/engine/tests/it/receipts.rs::name`.
    pub test: &'static str,
    /// Whether a test that does not end counts as a failed one.
    pub may_hang: bool,
}

impl Mutation {
    /// Plants the bug in `source`, the text of its file.
    ///
    /// # Errors
    /// The mutation is stale; the text says why.
    pub fn plant(&self, source: &str) -> Result<String, String> {
        match source.matches(self.text).count() {
            1 => Ok(source.replacen(self.text, self.becomes, 1)),
            0 => Err(format!("its text is not in {}", self.file)),
            count => Err(format!("its text is {count} times in {}", self.file)),
        }
    }
}

/// Outcome of a mutation.
#[derive(Debug)]
enum Outcome {
    Caught,
    Missed,
    Stale(String),
    Broken(String),
    Hangs,
}

/// Runs the mutations of these names, or all without names. Calls `say` with each line. True if all were caught.
///
/// # Errors
/// The tree cannot be copied; cargo cannot be started; a name is unknown; a test fails without a mutation.
pub fn run(root: &Path, names: &[&str], say: &mut dyn FnMut(&str)) -> io::Result<bool> {
    let chosen = chosen(names).map_err(io::Error::other)?;
    let copy = Copy::make(root)?;
    let mut tests: Vec<&str> = chosen.iter().map(|mutation| mutation.test).collect();
    tests.sort_unstable();
    tests.dedup();
    for test in tests {
        match built_and_run(&copy, test)? {
            Ok(Ended::Passed) => say(&format!("passes {test}")),
            other => {
                return Err(io::Error::other(format!(
                    "{test} must pass without a mutation: {other:?}"
                )));
            }
        }
    }
    let mut all_caught = true;
    for mutation in chosen {
        let began = Instant::now();
        let outcome = try_one(&copy, mutation)?;
        all_caught &= matches!(outcome, Outcome::Caught);
        say(&line(mutation, &outcome, began.elapsed()));
    }
    Ok(all_caught)
}

fn line(mutation: &Mutation, outcome: &Outcome, took: Duration) -> String {
    let Mutation { name, test, .. } = mutation;
    match outcome {
        Outcome::Caught => format!("caught {name} by {test} ({} s)", took.as_secs()),
        Outcome::Missed => format!("MISSED {name}: {test} passes"),
        Outcome::Stale(why) => format!("STALE {name}: {why}"),
        Outcome::Broken(why) => format!("BROKEN {name}: it does not compile\n{why}"),
        Outcome::Hangs => format!("HANGS {name}: {test} does not end"),
    }
}

/// The mutations of these names, or all without names, in the order of the list.
fn chosen(names: &[&str]) -> Result<Vec<&'static Mutation>, String> {
    let is_known = |name: &&&str| MUTATIONS.iter().all(|mutation| mutation.name != **name);
    if let Some(unknown) = names.iter().find(is_known) {
        return Err(format!("no mutation is called {unknown}"));
    }
    let all = MUTATIONS.iter();
    let asked = all.filter(|mutation| names.is_empty() || names.contains(&mutation.name));
    Ok(asked.collect())
}

/// Plants a mutation, runs its test, and takes the mutation back.
fn try_one(copy: &Copy, mutation: &Mutation) -> io::Result<Outcome> {
    let source = copy.read(mutation.file)?;
    let planted = match mutation.plant(&source) {
        Ok(planted) => planted,
        Err(why) => return Ok(Outcome::Stale(why)),
    };
    copy.write(mutation.file, &planted)?;
    let ended = built_and_run(copy, mutation.test);
    copy.write(mutation.file, &source)?;
    Ok(match ended? {
        Err(why) => Outcome::Broken(why),
        Ok(Ended::Passed) => Outcome::Missed,
        Ok(Ended::Failed) => Outcome::Caught,
        Ok(Ended::TooLate) if mutation.may_hang => Outcome::Caught,
        Ok(Ended::TooLate) => Outcome::Hangs,
    })
}

/// Builds and runs a test. The inner error is the compiler's.
fn built_and_run(copy: &Copy, test: &str) -> io::Result<Result<Ended, String>> {
    let program = Program::of(test).map_err(io::Error::other)?;
    match program.build(copy)? {
        Ok(binary) => program.run(copy, &binary, RUN_TIME_MAX).map(Ok),
        Err(why) => Ok(Err(why)),
    }
}
