//! What a table promises, whatever its rows' spread over tail and segments.

#![expect(clippy::expect_used, reason = "a test that cannot go on says where")]

mod alter;
mod damage;
mod faults;
mod filters;
mod fixture;
mod groups;
mod hostile;
mod keys;
mod laws;
mod model;
mod oracle;
mod packed;
mod paths;
mod rankers;
mod select;
mod stopped;
mod subject;
mod text_lists;
