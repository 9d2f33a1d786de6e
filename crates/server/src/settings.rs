//! Settings: one table, four sources, one typed value.

mod file;
mod memory;
mod origin;
mod show;
mod table;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use origin::{Origin, Sources, unknown_variables};
pub use show::lines;
pub use table::{Key, Kind, SETTINGS};

use engine::SyncMode;
use session::{Bounds, units};

use crate::auth::Login;
use crate::listen::Address;
use crate::webhook::allow::Allowed;
use crate::webhook::sign::Secret;
use origin::Chosen;
use table::setting;

/// Why a setting cannot be used: one line that names the place and what would be accepted. The exit code is 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting(pub String);

impl fmt::Display for BadSetting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for BadSetting {}

/// Shape of a line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What holds for the life of the process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder that holds everything.
    pub data: PathBuf,
    /// Addresses of the MySQL door; not empty.
    pub mysql: Vec<Address>,
    /// Addresses of the HTTP door; not empty.
    pub http: Vec<Address>,
    /// Bound of memory, in bytes.
    pub memory_bytes: u64,
    /// Bound of the journal, in bytes.
    pub journal_bytes_max: u64,
    /// When the reply to a write goes.
    pub sync: SyncMode,
    /// Nothing is written to the data directory.
    pub read_only: bool,
    /// Threads that search at the same time.
    pub threads: usize,
    /// The folder below which backups go; `None`: any.
    pub backup_dir: Option<PathBuf>,
    /// Clients without a password are trusted as the server's owner is.
    pub insecure: bool,
    /// Shape of the log.
    pub log_format: LogFormat,
    /// What SIGHUP may change.
    pub live: Live,
    /// Everything as text with its origin, in the table's order.
    chosen: Vec<Chosen>,
}

/// What SIGHUP may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Filter of the log, as `tracing` reads it.
    pub log: String,
    /// Most threads of one search; `None`: those that are idle.
    pub threads_per_query_max: Option<usize>,
    /// A search's time; `None`: as long as it takes.
    pub query_time_max: Option<Duration>,
    /// Memory of the rows that one search keeps, in bytes.
    pub search_memory_bytes: u64,
    /// Most clients at a time.
    pub connections_max: usize,
    /// Most clients at a time from one address; `None`: half of all, and any number from this machine.
    pub connections_per_address: Option<usize>,
    /// A silent MySQL client's time.
    pub idle_timeout: Duration,
    /// A client's time to take or give one more byte of a request.
    pub client_timeout: Duration,
    /// What both doors ask for; `None` lets any name pass.
    pub login: Option<Login>,
    /// Hosts that hits may be sent to.
    pub webhook_allow: Allowed,
    /// What messages to them are signed with.
    pub webhook_secret: Secret,
}

impl Settings {
    /// What statements go by.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            threads_per_query_max: self.live.threads_per_query_max,
            query_time_max: self.live.query_time_max,
            search_memory_bytes: self.live.search_memory_bytes,
            backups_are_open: self.backup_dir.is_some() || self.insecure,
            variables: show::variables(self),
        }
    }

    /// Reads every source. The first thing that is wrong is the error.
    pub fn load(sources: &Sources<'_>) -> Result<Settings, BadSetting> {
        let chosen = origin::choose(sources)?;
        let read = Reader { chosen: &chosen };
        let insecure = read.one(Key::Insecure, text::switch)?;
        let login = read.login()?;
        let mysql = read.addresses(Key::Mysql, insecure || login.is_some())?;
        let http = read.addresses(Key::Http, insecure || login.is_some())?;
        read.addresses(Key::Scribe, true)?;
        let format = read.one(Key::LogFormat, |text| {
            text::word(text, words(Key::LogFormat))
        })?;
        Ok(Settings {
            data: read.one(Key::Data, path)?,
            mysql,
            http,
            memory_bytes: read.one(Key::Memory, memory_bytes)?,
            journal_bytes_max: read.one(Key::JournalMax, units::size)?,
            sync: read.one(Key::Sync, SyncMode::parse)?,
            read_only: read.one(Key::ReadOnly, text::switch)?,
            threads: read.one(Key::Threads, threads)?,
            backup_dir: read.one(Key::BackupDir, |text| Ok(optional_path(text)))?,
            insecure,
            log_format: if format == "json" {
                LogFormat::Json
            } else {
                LogFormat::Text
            },
            live: Live {
                log: read.one(Key::Log, crate::logs::filter_text)?,
                threads_per_query_max: read.one(Key::ThreadsPerQuery, |text| {
                    unless("idle", text, text::count)
                })?,
                query_time_max: read
                    .one(Key::QueryTimeMax, |text| unless("", text, units::duration))?,
                search_memory_bytes: read.one(Key::SearchMemory, units::size)?,
                connections_max: read.one(Key::ConnectionsMax, text::count)?,
                connections_per_address: read.one(Key::ConnectionsPerAddress, |text| {
                    unless("half", text, text::count)
                })?,
                idle_timeout: read.one(Key::IdleTimeout, units::duration)?,
                client_timeout: read.one(Key::ClientTimeout, units::duration)?,
                login,
                webhook_allow: read.one(Key::WebhookAllow, Allowed::parse)?,
                webhook_secret: read.one(Key::WebhookSecret, Secret::parse)?,
            },
            chosen,
        })
    }

    /// Names of settings that differ from `other` and that only a new start changes.
    pub fn fixed_changes(&self, other: &Settings) -> Vec<&'static str> {
        let pairs = self.chosen.iter().zip(&other.chosen);
        pairs
            .filter(|(old, new)| !old.setting.reload && old.texts != new.texts)
            .map(|(old, _)| old.setting.name)
            .collect()
    }
}

struct Reader<'a> {
    chosen: &'a [Chosen],
}

impl Reader<'_> {
    fn of(&self, key: Key) -> &Chosen {
        &self.chosen[key as usize]
    }

    fn one<T>(&self, key: Key, read: impl Fn(&str) -> Result<T, String>) -> Result<T, BadSetting> {
        let chosen = self.of(key);
        read(chosen.text()).map_err(|why| chosen.bad(why))
    }

    /// Addresses of a door. Beyond this machine they are refused unless `guarded`.
    fn addresses(&self, key: Key, guarded: bool) -> Result<Vec<Address>, BadSetting> {
        let chosen = self.of(key);
        let mut addresses = Vec::new();
        for text in &chosen.texts {
            let address = Address::parse(text).map_err(|why| chosen.bad(why))?;
            if !guarded && !address.is_local().map_err(|why| chosen.bad(why))? {
                return Err(chosen.bad(format_args!(
                    "{text} is open beyond this machine: set auth.password (SEINE_PASSWORD, SEINE_PASSWORD_FILE), or say --insecure"
                )));
            }
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(chosen.bad("at least one address is needed"));
        }
        Ok(addresses)
    }

    /// The login both doors ask for. A user without a password is a mistake worth stopping for, and so is a password that was
    /// set and is blank: a variable that was never filled must not open the doors.
    fn login(&self) -> Result<Option<Login>, BadSetting> {
        let (user, file) = (self.of(Key::User), self.of(Key::PasswordFile));
        for chosen in [self.of(Key::Password), file] {
            if chosen.origin != Origin::Default && chosen.text().trim().is_empty() {
                return Err(
                    chosen.bad("is set and blank: write a password, or take the setting away")
                );
            }
        }
        let mut password = self.of(Key::Password).text().to_owned();
        if !file.text().is_empty() {
            if !password.is_empty() {
                return Err(file.bad("auth.password and auth.password_file are both set"));
            }
            let text = std::fs::read_to_string(file.text())
                .map_err(|error| file.bad(format_args!("{}: {error}", file.text())))?;
            password = text.lines().next().unwrap_or("").to_owned();
            if password.trim().is_empty() {
                return Err(file.bad(format_args!("{} begins with a blank line", file.text())));
            }
        }
        if !password.is_empty() {
            return Ok(Some(Login {
                user: user.text().to_owned(),
                password,
            }));
        }
        match user.origin {
            Origin::Default => Ok(None),
            _ => Err(user.bad("a user is set, but no password")),
        }
    }
}

fn optional_path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

/// `None` for the word that says so.
fn unless<T>(
    word: &str,
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    (text != word).then(|| read(text)).transpose()
}

fn threads(text: &str) -> Result<usize, String> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(unless("cores", text, text::count)?.unwrap_or_else(cores))
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        Err("a path is needed".to_owned())
    } else {
        Ok(PathBuf::from(text))
    }
}

fn memory_bytes(text: &str) -> Result<u64, String> {
    const LEAST_BYTES: u64 = 64 << 20;
    let bytes = if text == "half" {
        memory::half_of_available()
    } else {
        units::size(text)?
    };
    if bytes < LEAST_BYTES && text != "half" {
        return Err(format!("{text:?} is less than 64MiB, the least that works"));
    }
    Ok(bytes.max(LEAST_BYTES))
}

fn words(key: Key) -> &'static [&'static str] {
    match setting(key).kind {
        Kind::Word(words) => words,
        _ => &[],
    }
}
