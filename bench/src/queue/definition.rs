//! The tests of `seine bench queue`: `benchmarks/definitions/queue.toml`, compiled in.

use serde::Deserialize;

use super::Shape;
use crate::error::{Error, Result};

const QUEUE: &str = include_str!("../../../benchmarks/definitions/queue.toml");

/// Kind of a test.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Multireader,
    Multirw,
    Multiwait,
    Puts,
    Takes,
    Latency,
    Waiters,
    Mixed,
}

/// A test of the queue, as benchmarks/queue.toml has it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(super) struct Test {
    /// Name on the command line.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Count of connections.
    #[serde(default = "one")]
    pub(super) clients: u32,
    /// Count of messages of a test; 0: time decides.
    #[serde(default)]
    pub(super) messages: u32,
    /// Count of rows in a statement.
    #[serde(default = "one")]
    pub(super) rows: u32,
    /// Bytes of the second column; 0: no second column.
    #[serde(default)]
    pub(super) length: usize,
    /// Whether it is one of the usual tests, which run if none is named.
    #[serde(default)]
    pub(super) usual: bool,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    test: Vec<Test>,
}

impl Test {
    pub(super) fn shape(&self) -> Shape {
        Shape {
            clients: self.clients,
            messages: self.messages,
            rows: self.rows,
            length: self.length,
        }
    }
}

pub(super) fn all() -> Result<Vec<Test>> {
    let file: File =
        toml::from_str(QUEUE).map_err(|error| Error::BadDefinition(error.to_string()))?;
    Ok(file.test)
}

/// The named tests, in that order; without names the usual tests.
pub(super) fn named(names: &[String]) -> Result<Vec<Test>> {
    let known = all()?;
    if names.is_empty() {
        return Ok(known.into_iter().filter(|test| test.usual).collect());
    }
    let mut tests = Vec::new();
    for name in names {
        // `puts` means every test whose name begins so, unless a test has just that name.
        let exact: Vec<&Test> = known.iter().filter(|test| test.name == *name).collect();
        let begins = |test: &&Test| test.name.starts_with(&format!("{name}-"));
        let found = if exact.is_empty() {
            known.iter().filter(begins).collect()
        } else {
            exact
        };
        if found.is_empty() {
            return Err(Error::UnknownDefinition {
                name: name.clone(),
                known: known.iter().map(|test| test.name.clone()).collect(),
            });
        }
        tests.extend(found.into_iter().cloned());
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::{all, named};

    fn names(asked: &[&str]) -> Vec<String> {
        let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
        let tests = named(&asked).unwrap();
        tests.into_iter().map(|test| test.name).collect()
    }

    #[test]
    fn definitions_that_are_compiled_in_can_be_read() {
        assert!(!all().unwrap().is_empty());
    }

    #[test]
    fn a_name_is_one_test_and_a_beginning_is_all_that_begin_so() {
        assert_eq!(names(&["multirw"]), ["multirw"]);
        assert_eq!(names(&["puts"]), ["puts-1", "puts-32"]);
    }

    #[test]
    fn the_three_tests_have_the_sizes_of_q4m() {
        for test in all().unwrap() {
            let size = (test.messages, test.clients);
            match test.name.as_str() {
                "multireader" | "multirw" | "multiwait" => assert_eq!(size, (6_400, 32)),
                "multireader-64k" | "multirw-64k" | "multiwait-64k" => {
                    assert_eq!(size, (64_000, 32));
                }
                "multireader-400k" | "multirw-400k" | "multiwait-400k" => {
                    assert_eq!(size, (400_000, 40));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn an_unknown_test_is_refused_with_those_there_are() {
        let error = named(&["multi".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("multireader, "), "{error}");
    }
}
