//! Scribe's configuration: its reader, and the typed form that the reader makes.
//!
//! # Example
//! ```text
//! 1  port=1463
//! 2  file::rotate_period=daily        every file store below inherits it
//! 3  <store>
//! 4    category=web*                  takes web, web1, website
//! 5    type=file
//! 6    file_path=/var/log/collected
//! 7    max_size=8MB                   problem: scribe.conf:7: warning: max_size=8MB: only 8 of it counts, as with Scribe
//! 8    colour=red                     problem: scribe.conf:8: warning: colour is no variable of Scribe: it is ignored
//! 9  </store>
//! ```
//!
//! # Rules
//! - A line is `key=value`, `<name>`, `</name>` or blank; `#` begins a comment anywhere and cannot be quoted.
//! - A key or block that is given twice counts as the last one says.
//! - A store that has no `key` of its own takes `type::key`, with its own type, from its own block, from the blocks around it,
//!   innermost first, and then from the top of the file. `category`, `categories` and `type` are never inherited.
//! - A bad value counts as if it were not given. A number counts up to its first character that is no digit, as with Scribe.
//! - A store that cannot be built is left out; a buffer puts a file store below the data directory in the place of a primary
//!   or secondary that cannot be built. A server with a bad file therefore runs with the rest of it, as Scribe does.
//! - Each deviation is a [`Problem`] with its line. Reading never fails as a whole except at the limits below.
//!
//! # Limits
//! A file has at most 16 MiB, 65,536 blocks and 64 blocks in each other. Its stores are at most 100,000 once buckets are counted,
//! with texts of at most 64 MiB once inherited copies are counted. 1,000 problems are listed. Time and memory are linear in the
//! file and in these numbers.

mod build;
mod keys;
mod leaves;
mod model;
mod parse;
mod problem;
mod tables;
#[cfg(test)]
mod tests;
mod values;

pub use model::*;
pub use problem::{Problem, Severity};

use problem::Problems;

/// Largest file. Bytes.
pub const FILE_BYTES_MAX: usize = 16 << 20;

/// Blocks of a file.
pub const BLOCKS_MAX: usize = 65_536;

/// Blocks in each other.
pub const NESTING_MAX: usize = 64;

/// Stores of a configuration, each bucket counted.
pub const STORES_MAX: usize = 100_000;

/// Texts of all stores: paths, names and hosts. A text that several stores inherit counts for each. Bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 20;

/// Problems that are listed.
pub const PROBLEMS_MAX: usize = 1_000;

/// Whose defaults count where the file says nothing: the setting `scribe_defaults`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Defaults {
    /// Those of the program, version 2.2.
    #[default]
    V2_2,
    /// Those of the page of 2008: smaller queues, a bound of the rate, `max_queue_length`.
    V2008,
}

impl Defaults {
    /// Reads `2.2` or `2008`.
    ///
    /// # Errors
    /// Any other text: the words that would be accepted.
    pub fn parse(text: &str) -> Result<Defaults, String> {
        match text {
            "2.2" => Ok(Defaults::V2_2),
            "2008" => Ok(Defaults::V2008),
            _ => Err(format!("{text:?} is neither 2.2 nor 2008")),
        }
    }

    /// The value of this version.
    fn pick<T>(self, v2_2: T, v2008: T) -> T {
        match self {
            Defaults::V2_2 => v2_2,
            Defaults::V2008 => v2008,
        }
    }
}

/// Reads a configuration file. `file` is its name, for the problems; `text` need not be UTF-8 in its comments.
///
/// The problems are sorted by line, and each line is one of the file. A file beyond a limit gives the configuration without
/// stores and an error. Whether the absence of a port is an error is the caller's decision: `port` is then 0.
#[must_use]
pub fn read(text: &[u8], file: &str, defaults: Defaults) -> (Configuration, Vec<Problem>) {
    let mut problems = Problems::new(file);
    let configuration = match parse::parse(text, &mut problems) {
        Ok(root) => build::configuration(&root, defaults, &mut problems),
        Err(refusal) => {
            problems.error(refusal.line, refusal.text);
            build::globals(None, defaults, &mut problems)
        }
    };
    (configuration, problems.into_list())
}

impl Configuration {
    /// The configuration of a server without a file: each category to text files of its own in `DATA/collected/<category>/`.
    ///
    /// The least surprising choices for somebody who has never read Scribe's manual:
    /// - The bytes of a message as they came, as in Scribe: its senders end a message in a newline where they want one.
    /// - A new file each midnight, with the date in its name, so that old ones can be deleted by date.
    #[must_use]
    pub fn without_file() -> Configuration {
        let base = FileBase {
            file_path: String::new(),
            rotate_period: RotatePeriod::Daily,
            rotate_hour: 0,
            rotate_minute: 0,
            ..FileBase::default()
        };
        let store = TopStore {
            name: "store0".to_owned(),
            categories: vec![Categories::Default],
            is_model: false,
            target_write_size: build::TARGET_WRITE_SIZE,
            max_write_interval_s: 1,
            must_succeed: true,
            sync: None,
            store: StoreConfig::File(FileConfig {
                base,
                add_newlines: false,
            }),
        };
        Configuration {
            stores: vec![store],
            ..Configuration::default()
        }
    }
}
