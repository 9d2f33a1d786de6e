//! Settings: the table of settings ([`SETTINGS`]), four sources for each, one typed value ([`Settings`]).
//!
//! To add a setting: its row in [`SETTINGS`], a field of [`Settings`], or of [`Live`] if SIGHUP may
//! change it, and a line in [`Settings::load`]. Flags, `seine config`, SHOW VARIABLES and docs/settings.md follow the table.

mod category;
mod file;
mod memory;
mod origin;
mod range;
mod show;
mod table;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use category::CategoryBy;
pub use origin::{Origin, Sources, unknown_variables};
pub use range::{Most, Range, Unit};
pub use show::lines;
pub use table::{Key, Kind, SETTINGS};

use collect::config::Defaults;
use engine::SyncMode;
use origin::Chosen;
use session::{Bounds, units};
use study::log::Form;
use table::setting;

use crate::auth::Login;
use crate::listen::Address;
use crate::touch::TouchSettings;
use crate::touch::origins::Origins;
use crate::webhook::allow::Allowed;
use crate::webhook::sign::Secret;

/// Least `connections_max` by SET GLOBAL: any client may say it, and who undoes it has to find a place.
const CONNECTIONS_MAX_LEAST: usize = 10;

/// The name of a table, in lower case; `None`: it is blank.
fn table_name(text: &str) -> Result<Option<String>, String> {
    let name = text.trim().to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match name.chars().all(is_word) {
        true => Ok((!name.is_empty()).then_some(name)),
        false => Err("a table's name has letters, digits and _".to_owned()),
    }
}

/// Why a setting cannot be used: one line with the source and the accepted values. The exit code of the process is 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting(pub String);

impl fmt::Display for BadSetting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for BadSetting {}

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// Lines of one JSON object each.
    Json,
}

/// The settings of a process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The data directory.
    pub data: PathBuf,
    /// Addresses of the MySQL door; not empty.
    pub mysql: Vec<Address>,
    /// Addresses of the HTTP door; not empty.
    pub http: Vec<Address>,
    /// Addresses of the Scribe door; empty: it is off.
    pub scribe: Vec<Address>,
    /// Whether the Scribe door's address was given, so `port=` of its configuration does not count.
    pub is_scribe_given: bool,
    /// Scribe's configuration file.
    pub scribe_config: Option<PathBuf>,
    /// Addresses beside this machine whose clients may stop and reload the server.
    pub scribe_admin: Vec<IpAddr>,
    /// Defaults of what the configuration leaves out.
    pub scribe_defaults: Defaults,
    /// Addresses at which the syslog door takes streams; may be empty.
    pub syslog: Vec<Address>,
    /// Addresses at which the syslog door takes datagrams: none is a unix socket; may be empty.
    pub syslog_udp: Vec<Address>,
    /// What names the category of a syslog message.
    pub syslog_category: CategoryBy,
    /// Bound of the memory of data and requests, in bytes; at least 64 MiB.
    pub memory_bytes: u64,
    /// Size of the journal at which its content is folded into files, in bytes.
    pub journal_bytes_max: u64,
    /// Whether a write is acknowledged before or after its sync.
    pub sync: SyncMode,
    /// Whether the server refuses every write.
    pub read_only: bool,
    /// Most threads that search at a time; at least 1.
    pub threads: usize,
    /// Folder below which BACKUP TO may write; `None`: any path.
    pub backup_dir: Option<PathBuf>,
    /// Whether doors beyond this machine may open without a password.
    pub insecure: bool,
    /// Format of the log.
    pub log_format: LogFormat,
    /// File of the query log; `None`: there is none.
    pub query_log: Option<PathBuf>,
    /// The table that gets its entries, in lower case; `None`: none does.
    pub query_log_table: Option<String>,
    /// Format of its lines.
    pub query_log_format: Form,
    /// Settings that SIGHUP may change.
    pub live: Live,
    /// Texts and origin of every setting, in the order of [`SETTINGS`].
    chosen: Vec<Chosen>,
}

/// Settings that SIGHUP may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Filter of the log, as `tracing` reads it.
    pub log: String,
    /// Most threads of one search; `None`: every idle thread.
    pub threads_per_query_max: Option<usize>,
    /// Longest time of a search; `None`: no limit.
    pub query_time_max: Option<Duration>,
    /// Least time of a search in the query log, in milliseconds.
    pub query_log_least_ms: u64,
    /// Most memory for the rows that one search keeps, in bytes.
    pub search_memory_bytes: u64,
    /// Most clients at a time, over all doors.
    pub connections_max: usize,
    /// Most clients at a time from one address; `None`: half of `connections_max`, and any number from this machine.
    pub connections_per_address: Option<usize>,
    /// Longest silence of a MySQL client between two commands.
    pub idle_timeout: Duration,
    /// Longest pause of a client in the middle of a request or an answer.
    pub client_timeout: Duration,
    /// Login that the MySQL door and the HTTP door ask for; `None`: any name and password pass.
    pub login: Option<Login>,
    /// Hosts that hits may be sent to.
    pub webhook_allow: Allowed,
    /// Secret that signs the messages to webhooks.
    pub webhook_secret: Secret,
    /// Who may record touches, and how often.
    pub touch: TouchSettings,
}

impl Settings {
    /// The settings that statements obey.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            threads_per_query_max: self.live.threads_per_query_max,
            query_time_max: self.live.query_time_max,
            search_memory_bytes: self.live.search_memory_bytes,
            backups_are_open: self.backup_dir.is_some() || self.insecure,
            variables: show::variables(self),
        }
    }

    /// Reads all sources. Reads the configuration and the password file, and looks host names up.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn load(sources: &Sources<'_>) -> Result<Settings, BadSetting> {
        let chosen = origin::choose(sources)?;
        let mut read = Reader {
            chosen: &chosen,
            memory_bytes: 0,
        };
        read.memory_bytes = read.memory()?;
        let insecure = read.one(Key::Insecure, text::switch)?;
        let login = read.login()?;
        let mysql = read.addresses(Key::Mysql, insecure || login.is_some())?;
        let http = read.addresses(Key::Http, insecure || login.is_some())?;
        let scribe = match read.of(Key::Scribe).text() {
            "off" => Vec::new(),
            _ => read.addresses(Key::Scribe, true)?,
        };
        let syslog = read.more_addresses(Key::Syslog, insecure || login.is_some())?;
        let syslog_udp = read.more_addresses(Key::SyslogUdp, insecure || login.is_some())?;
        if syslog_udp
            .iter()
            .any(|address| matches!(address, Address::Unix(_)))
        {
            let why = "datagrams come by UDP: host:port, not unix:/path";
            return Err(read.of(Key::SyslogUdp).bad(why));
        }
        let format = read.one(Key::LogFormat, |text| {
            text::word(text, words(Key::LogFormat))
        })?;
        let query_log_format = read.one(Key::QueryLogFormat, |text| {
            text::word(text, words(Key::QueryLogFormat))
        })?;
        Ok(Settings {
            data: read.one(Key::Data, path)?,
            mysql,
            http,
            scribe,
            is_scribe_given: read.of(Key::Scribe).origin != Origin::Default,
            scribe_config: read.one(Key::ScribeConfig, |text| Ok(optional_path(text)))?,
            scribe_admin: read.one(Key::ScribeAdmin, text::ip_addresses)?,
            scribe_defaults: read.one(Key::ScribeDefaults, Defaults::parse)?,
            syslog,
            syslog_udp,
            syslog_category: read.one(Key::SyslogCategory, CategoryBy::parse)?,
            memory_bytes: read.memory_bytes,
            journal_bytes_max: read.size(Key::JournalMax)?,
            sync: read.sync()?,
            read_only: read.one(Key::ReadOnly, text::switch)?,
            threads: read
                .count_unless(Key::Threads, "cores")?
                .unwrap_or_else(cores),
            backup_dir: read.one(Key::BackupDir, |text| Ok(optional_path(text)))?,
            insecure,
            query_log: read.one(Key::QueryLog, |text| Ok(optional_path(text)))?,
            query_log_table: read.one(Key::QueryLogTable, table_name)?,
            query_log_format: match &*query_log_format {
                "plain" => Form::Plain,
                "json" => Form::Json,
                _ => Form::Sphinxql,
            },
            log_format: if format == "json" {
                LogFormat::Json
            } else {
                LogFormat::Text
            },
            live: read.live(login)?,
            chosen,
        })
    }

    /// Files that hold a password or another secret: the password file, and the configuration where it names one.
    pub(crate) fn secret_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for chosen in &self.chosen {
            match &chosen.origin {
                _ if chosen.setting.key == Key::PasswordFile => {
                    files.extend(optional_path(chosen.text()));
                }
                Origin::File(path, _) if chosen.setting.is_secret() && !files.contains(path) => {
                    files.push(path.clone());
                }
                Origin::File(..)
                | Origin::Flag(_)
                | Origin::Environment(_)
                | Origin::Statement
                | Origin::Default => {}
            }
        }
        files
    }

    /// These settings, with those of `read` that SIGHUP may change.
    pub(crate) fn reloaded(&self, read: &Settings) -> Settings {
        let mut changed = self.clone();
        changed.live = read.live.clone();
        for (own, new) in changed.chosen.iter_mut().zip(&read.chosen) {
            if own.setting.reloads() {
                own.clone_from(new);
            }
        }
        changed
    }

    /// These settings, with one that SET GLOBAL changes. `text`: its value; `None`: its default.
    ///
    /// # Errors
    /// [`Unsettable`].
    pub(crate) fn with(&self, name: &str, text: Option<&str>) -> Result<Settings, Unsettable> {
        let setting = table::settable(name)?;
        let mut changed = self.clone();
        changed.chosen[setting.key as usize] = origin::of_statement(setting, text);
        let read = Reader {
            chosen: &changed.chosen,
            memory_bytes: self.memory_bytes,
        };
        let live = read.live(self.live.login.clone());
        changed.live = live.map_err(|BadSetting(why)| Unsettable::Value(why))?;
        let most = changed.live.connections_max;
        if setting.key == Key::ConnectionsMax && most < CONNECTIONS_MAX_LEAST {
            let why = format!(
                "SET GLOBAL: connections_max: {most} is below {CONNECTIONS_MAX_LEAST}: who undoes it might find no place; seine.toml takes less"
            );
            return Err(Unsettable::Value(why));
        }
        Ok(changed)
    }

    /// Names of the settings that differ from `other` and that SIGHUP cannot change.
    pub fn fixed_changes(&self, other: &Settings) -> Vec<&'static str> {
        let pairs = self.chosen.iter().zip(&other.chosen);
        pairs
            .filter(|(old, new)| !old.setting.reloads() && old.texts != new.texts)
            .map(|(old, _)| old.setting.name)
            .collect()
    }
}

/// Why SET GLOBAL does not change a setting: a message that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unsettable {
    /// SET GLOBAL does not change this name.
    Name(String),
    /// The setting does not take this value.
    Value(String),
}

struct Reader<'a> {
    chosen: &'a [Chosen],
    /// The setting `memory`.
    memory_bytes: u64,
}

impl Reader<'_> {
    fn of(&self, key: Key) -> &Chosen {
        &self.chosen[key as usize]
    }

    fn live(&self, login: Option<Login>) -> Result<Live, BadSetting> {
        Ok(Live {
            log: self.one(Key::Log, crate::logs::filter_text)?,
            threads_per_query_max: self.count_unless(Key::ThreadsPerQuery, "idle")?,
            query_time_max: match self.of(Key::QueryTimeMax).text() {
                "" => None,
                _ => Some(self.duration(Key::QueryTimeMax)?),
            },
            query_log_least_ms: self
                .count_unless(Key::QueryLogLeast, "0")?
                .map_or(0, |least| least as u64),
            search_memory_bytes: self.size(Key::SearchMemory)?,
            connections_max: self.count(Key::ConnectionsMax)?,
            connections_per_address: self.count_unless(Key::ConnectionsPerAddress, "half")?,
            idle_timeout: self.duration(Key::IdleTimeout)?,
            client_timeout: self.duration(Key::ClientTimeout)?,
            login,
            webhook_allow: self.one(Key::WebhookAllow, Allowed::parse)?,
            webhook_secret: self.one(Key::WebhookSecret, Secret::parse)?,
            touch: TouchSettings {
                origins: self.one(Key::TouchOrigins, Origins::parse)?,
                respects_gpc: self.one(Key::TouchGpc, text::switch)?,
                respects_dnt: self.one(Key::TouchDnt, text::switch)?,
                proxies: self.one(Key::TouchProxies, text::ip_addresses)?,
                per_client: self.count(Key::TouchPerClient)? as u32,
                per_origin: self.count(Key::TouchPerOrigin)? as u32,
            },
        })
    }

    fn one<T>(&self, key: Key, read: impl Fn(&str) -> Result<T, String>) -> Result<T, BadSetting> {
        let chosen = self.of(key);
        read(chosen.text()).map_err(|why| chosen.bad(why))
    }

    /// A number of the setting's range. The default needs no range: it suits every machine.
    fn number(
        &self,
        key: Key,
        read: impl Fn(&str) -> Result<u64, String>,
    ) -> Result<u64, BadSetting> {
        let value = self.one(key, read)?;
        let chosen = self.of(key);
        let text = chosen.text();
        let range = chosen.setting.kind.range();
        let range = range.filter(|_| text != chosen.setting.default);
        let refused =
            range.and_then(|(range, unit)| range.refusal((text, value), unit, self.memory_bytes));
        refused.map_or(Ok(value), |why| Err(chosen.bad(why)))
    }

    fn size(&self, key: Key) -> Result<u64, BadSetting> {
        self.number(key, units::size)
    }

    fn duration(&self, key: Key) -> Result<Duration, BadSetting> {
        let ms = self.number(key, |text| {
            let time = units::duration(text)?;
            Ok(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
        })?;
        Ok(Duration::from_millis(ms))
    }

    fn count(&self, key: Key) -> Result<usize, BadSetting> {
        let count = self.number(key, |text| Ok(text::count(text)? as u64))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// `None` if the text is `word`, which means "not set"; else the number.
    fn count_unless(&self, key: Key, word: &str) -> Result<Option<usize>, BadSetting> {
        match self.of(key).text() == word {
            true => Ok(None),
            false => self.count(key).map(Some),
        }
    }

    fn sync(&self) -> Result<SyncMode, BadSetting> {
        let mode = self.one(Key::Sync, SyncMode::parse)?;
        if let SyncMode::Within { .. } = mode {
            self.duration(Key::Sync)?;
        }
        Ok(mode)
    }

    /// The setting `memory`, in bytes.
    fn memory(&self) -> Result<u64, BadSetting> {
        let Some((range, _)) = setting(Key::Memory).kind.range() else {
            return self.size(Key::Memory);
        };
        match self.of(Key::Memory).text() {
            "half" => Ok(memory::half_of_available().max(range.least)),
            _ => self.size(Key::Memory),
        }
    }

    /// Addresses of a door, at least one. Unless `guarded`, an address that other machines reach is an error.
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

    /// Addresses of a door that may be off; none where the setting is blank.
    fn more_addresses(&self, key: Key, guarded: bool) -> Result<Vec<Address>, BadSetting> {
        match self.of(key).texts.iter().all(String::is_empty) {
            true => Ok(Vec::new()),
            false => self.addresses(key, guarded),
        }
    }

    /// The login that the MySQL door and the HTTP door ask for. A user without a password is an error. So is a blank password: an environment
    /// variable that was never filled must not open the doors.
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        Err("a path is needed".to_owned())
    } else {
        Ok(PathBuf::from(text))
    }
}

fn words(key: Key) -> &'static [&'static str] {
    match setting(key).kind {
        Kind::Word(words) => words,
        _ => &[],
    }
}
