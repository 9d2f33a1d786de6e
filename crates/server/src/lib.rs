//! The server: doors, settings, health, metrics, webhooks, from the first listening socket to the last checkpoint.

mod auth;
mod backups;
mod http;
mod life;
mod limits;
mod listen;
mod logins;
mod logs;
mod mysql;
mod server;
pub mod settings;
mod signals;
mod webhook;

pub use life::serve;
pub use webhook::as_json;
