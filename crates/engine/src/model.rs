//! The vocabulary of the engine: tables, commands, records, errors, bounds. It imports nothing else of the engine.

pub(crate) mod altered;
pub(crate) mod catalog;
pub(crate) mod command;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod into;
pub mod limits;
pub(crate) mod made;
pub(crate) mod messages;
pub(crate) mod planned;
pub(crate) mod ranges;
pub(crate) mod recent;
pub(crate) mod record;
pub(crate) mod sync_mode;
