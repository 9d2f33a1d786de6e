//! The table of settings. The command line, the environment, the file, `seine config`, `SHOW VARIABLES` and
//! `docs/settings.md` are all made from it.

use super::Unsettable;
use super::range::{Most, Range, Unit};

/// Type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A path of a file or folder.
    Path,
    /// One or more addresses.
    Addresses,
    /// An address and a port, or `off`.
    Address,
    /// A size such as `2GiB`: [`session::units::size`].
    Size(Range),
    /// A time such as `30s`: [`session::units::duration`].
    Duration(Range),
    /// A whole number above 0.
    Count(Range),
    /// `true` or `false`.
    Switch,
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `always`, `never`, or a time.
    Sync(Range),
    /// A filter such as `info` or `warn,seine=debug`.
    LogFilter,
}

impl Kind {
    /// The values that a number may have, and its unit; `None`: the value is no number.
    pub fn range(self) -> Option<(Range, Unit)> {
        match self {
            Kind::Size(range) => Some((range, Unit::Bytes)),
            Kind::Duration(range) | Kind::Sync(range) => Some((range, Unit::Milliseconds)),
            Kind::Count(range) => Some((range, Unit::One)),
            Kind::Path
            | Kind::Addresses
            | Kind::Address
            | Kind::Switch
            | Kind::Text
            | Kind::Word(_)
            | Kind::LogFilter => None,
        }
    }
}

/// What changes a setting's value while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the next start reads it.
    Start,
    /// SIGHUP alone: it guards the server from its clients.
    Reload,
    /// As [`Change::Reload`]; the value is never shown.
    Secret,
    /// SIGHUP, and SET GLOBAL.
    Set,
}

/// From 1 byte, millisecond or thing to this.
const fn up_to(most: u64) -> Range {
    Range {
        least: 1,
        most: Most::Value(most),
    }
}

/// Tails, requests and filters each need a part of it.
const MEMORY: Range = Range {
    least: 64 << 20,
    most: Most::Machine,
};
/// From a size that some thousand rows fill to 1 PiB.
const JOURNAL: Range = Range {
    least: 1 << 20,
    most: Most::Value(1 << 50),
};
/// A SELECT has no memory beyond that of the process.
const SEARCH_MEMORY: Range = Range {
    least: 1,
    most: Most::Memory,
};
/// 365 days, in milliseconds: longer than any client waits, and short enough for sums of times.
const YEAR_MS: u64 = 365 * 86_400_000;
/// A process has at most this number of threads on any machine that is sold. A larger number is a slip.
const THREADS_MOST: u64 = 4_096;
/// Linux gives a process at most 1,048,576 files, and a connection takes two.
const CONNECTIONS_MOST: u64 = 500_000;
/// More than the server could store in a minute. Counters have 32 bits.
const TOUCHES_MOST: u64 = 1_000_000_000;

/// A setting: its names, its default, its text in help.
#[derive(Debug)]
pub struct Setting {
    /// The setting's name in code.
    pub key: Key,
    /// Name in the file; the part before a dot is a table of the file.
    pub name: &'static str,
    /// Flag of `seine serve`, without the dashes; `None`: it has none.
    pub flag: Option<&'static str>,
    /// Name of the environment variable.
    pub environment: &'static str,
    /// Type of the value, with the range of a number. The default is always allowed.
    pub kind: Kind,
    /// The default, as a user would write it; empty for "not set".
    pub default: &'static str,
    /// What changes the value.
    pub change: Change,
    /// The text for help and docs: sentences, the first says what the setting is.
    pub help: &'static str,
}

/// What a row gives; `None`: nothing.
const fn given(all: &'static [&'static str]) -> Option<&'static str> {
    match all {
        [one, ..] => Some(one),
        [] => None,
    }
}

macro_rules! settings {
    ($($key:ident $change:ident $(flag $flag:literal)? $name:literal $environment:literal ($kind:expr) $default:literal $help:literal;)*) => {
        /// A setting, as an index of [`SETTINGS`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the help of each row says what it is")]
        pub enum Key { $($key,)* }

        /// Every setting, in the order of [`Key`].
        pub const SETTINGS: &[Setting] = &[$(Setting {
            key: Key::$key,
            name: $name,
            flag: given(&[$($flag)?]),
            environment: $environment,
            kind: $kind,
            default: $default,
            change: Change::$change,
            help: $help,
        },)*];
    };
}

settings! {
    Data Start flag "data" "data" "SEINE_DATA" (Kind::Path) "./seine-data"
        "Folder that holds everything; one server at a time.";
    Mysql Start flag "mysql" "mysql" "SEINE_MYSQL" (Kind::Addresses) "127.0.0.1:9306"
        "Addresses of the MySQL door: host:port (port 0 picks a free one) or unix:/path.";
    Http Start flag "http" "http" "SEINE_HTTP" (Kind::Addresses) "127.0.0.1:9308"
        "Addresses of the HTTP door, written as those of the MySQL door.";
    Scribe Start flag "scribe" "scribe" "SEINE_SCRIBE" (Kind::Address) "127.0.0.1:1463"
        "Address of the Scribe door, written alike, or off. Not given: port= of Scribe's configuration, on all addresses.";
    ScribeConfig Start flag "scribe-config" "scribe_config" "SEINE_SCRIBE_CONFIG" (Kind::Path) ""
        "Scribe's configuration file; without one each category goes to files in collected/ of the data directory.";
    ScribeAdmin Start "scribe_admin" "SEINE_SCRIBE_ADMIN" (Kind::Text) ""
        "IP addresses, separated by commas, whose clients may call shutdown, reinitialize and setOption; this machine may.";
    ScribeDefaults Start "scribe_defaults" "SEINE_SCRIBE_DEFAULTS" (Kind::Word(&["2.2", "2008"])) "2.2"
        "Defaults of what Scribe's configuration leaves out: those of its last source, or of its page of 2008.";
    Syslog Start flag "syslog" "syslog" "SEINE_SYSLOG" (Kind::Addresses) ""
        "Addresses at which the syslog door takes streams, written as those of the MySQL door. Unset: none.";
    SyslogUdp Start flag "syslog-udp" "syslog_udp" "SEINE_SYSLOG_UDP" (Kind::Addresses) ""
        "Addresses, as host:port, at which the syslog door takes UDP datagrams. Unset: none.";
    SyslogCategory Start "syslog_category" "SEINE_SYSLOG_CATEGORY" (Kind::Text) "program"
        "The category of a syslog message: program, facility, or = and a name for all. A message without a usable program goes to syslog.";
    Memory Start flag "memory" "memory" "SEINE_MEMORY" (Kind::Size(MEMORY)) "half"
        "Bound of the memory that data and requests take, as 2GiB; half is half of the machine's or the cgroup's.";
    Sync Start "sync" "SEINE_SYNC" (Kind::Sync(up_to(86_400_000))) "always"
        "When a write is acknowledged. always: after the sync to disk. A time such as 100ms: after the write to the system; the sync follows within that time. never: after the write; the system decides when to sync.";
    JournalMax Start "journal_max" "SEINE_JOURNAL_MAX" (Kind::Size(JOURNAL)) "8GiB"
        "Size of the journal above which the server writes all changed tables to files, so that it can trim the journal.";
    ReadOnly Start flag "read-only" "read_only" "SEINE_READ_ONLY" (Kind::Switch) "false"
        "Write nothing to the data directory: reads are answered, every change is refused. Queues can only be looked into.";
    BackupDir Start "backup.dir" "SEINE_BACKUP_DIR" (Kind::Path) ""
        "The folder below which BACKUP TO may write. Unset, it takes any path that begins with / and is new, from clients on a unix socket or on a server started with --insecure.";
    Threads Start "threads" "SEINE_THREADS" (Kind::Count(up_to(THREADS_MOST))) "cores"
        "Threads that search at the same time: cores is the number that this process may run on. A search gets those that no other needs.";
    ThreadsPerQuery Set "max_threads_per_query" "SEINE_MAX_THREADS_PER_QUERY" (Kind::Count(up_to(THREADS_MOST))) "idle"
        "Most threads of one search: idle is the number of idle threads. OPTION threads= asks for fewer.";
    QueryTimeMax Set "max_query_time" "SEINE_MAX_QUERY_TIME" (Kind::Duration(up_to(YEAR_MS))) ""
        "Longest time of a search, as 30s. A longer search stops and answers with the rows found so far, and says so; COUNT(*), CALL PQ, DELETE and UPDATE fail. Unset: no bound. OPTION max_query_time= asks for less.";
    SearchMemory Set "search_memory" "SEINE_SEARCH_MEMORY" (Kind::Size(SEARCH_MEMORY)) "256MiB"
        "Bound of the memory of the rows that one SELECT finds and keeps, and of the words that its wildcards stand for; beyond it the SELECT fails.";
    ConnectionsMax Set "connections_max" "SEINE_CONNECTIONS_MAX" (Kind::Count(up_to(CONNECTIONS_MOST))) "1000"
        "Most clients at a time over all doors. The next one gets the place of a connection that has not logged in or not sent a whole request, else it is refused with error 1040 or status 503.";
    ConnectionsPerAddress Set "connections_per_address" "SEINE_CONNECTIONS_PER_ADDRESS" (Kind::Count(up_to(CONNECTIONS_MOST))) "half"
        "Most clients at a time from one address, all doors together: half is half of connections_max for other machines and any number for this one. A number is for this machine too. Unix sockets are not bounded.";
    IdleTimeout Set "idle_timeout" "SEINE_IDLE_TIMEOUT" (Kind::Duration(up_to(YEAR_MS))) "8h"
        "The server closes a MySQL connection that sends nothing for this time.";
    ClientTimeout Set "client_timeout" "SEINE_CLIENT_TIMEOUT" (Kind::Duration(up_to(YEAR_MS))) "60s"
        "The server closes a connection whose client sends or takes no byte for this time within a request. Apart from one such pause, a request must come at 1024 bytes a second or faster.";
    User Reload "auth.user" "SEINE_USER" (Kind::Text) "seine"
        "The user name that the MySQL and HTTP doors ask for, once a password is set.";
    Password Secret "auth.password" "SEINE_PASSWORD" (Kind::Text) ""
        "The password that the MySQL and HTTP doors ask for.";
    PasswordFile Reload "auth.password_file" "SEINE_PASSWORD_FILE" (Kind::Path) ""
        "A file whose first line is the password.";
    Insecure Start flag "insecure" "insecure" "SEINE_INSECURE" (Kind::Switch) "false"
        "Listen beyond this machine without a password, and, where backup.dir is unset, take BACKUP TO any path from any client.";
    WebhookAllow Reload "webhook.allow" "SEINE_WEBHOOK_ALLOW" (Kind::Text) ""
        "Hosts that webhooks may send hits to, separated by commas: hooks.example.com, *.example.com, 127.0.0.1:8080. Unset: no host.";
    WebhookSecret Secret "webhook.secret" "SEINE_WEBHOOK_SECRET" (Kind::Text) ""
        "The key that signs messages to webhooks: whsec_ and base64 of 24 to 64 bytes. Unset: messages are not signed.";
    TouchOrigins Reload "touch.origins" "SEINE_TOUCH_ORIGINS" (Kind::Text) ""
        "Sites whose pages may record touches and orders, separated by commas: https://shop.example, https://*.shop.example. Unset: none, and /touch.js, /touch and /order are off.";
    TouchGpc Reload "touch.respect_gpc" "SEINE_TOUCH_RESPECT_GPC" (Kind::Switch) "true"
        "Record nothing of visitors whose browser sends Sec-GPC: 1 (Global Privacy Control).";
    TouchDnt Reload "touch.respect_dnt" "SEINE_TOUCH_RESPECT_DNT" (Kind::Switch) "false"
        "Record nothing of visitors whose browser sends DNT: 1 (Do Not Track).";
    TouchProxies Reload "touch.proxies" "SEINE_TOUCH_PROXIES" (Kind::Text) ""
        "IP addresses, separated by commas, of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed for touches; this machine's are.";
    TouchPerClient Reload "touch.per_client" "SEINE_TOUCH_PER_CLIENT" (Kind::Count(up_to(TOUCHES_MOST))) "600"
        "Most requests to /touch in a minute from one client: an IPv4 address or an IPv6 network of 64 bits.";
    TouchPerOrigin Reload "touch.per_origin" "SEINE_TOUCH_PER_ORIGIN" (Kind::Count(up_to(TOUCHES_MOST))) "600000"
        "Most requests to /touch in a minute from pages of one entry of touch.origins.";
    Log Set "log" "SEINE_LOG" (Kind::LogFilter) "info"
        "Least level of the log: error, warn, info, debug, trace, or a list such as warn,seine=debug.";
    QueryLog Start flag "query-log" "query_log" "SEINE_QUERY_LOG" (Kind::Path) ""
        "The file to which each search and percolation is written when it is over, with its time and rows; only its owner may read it. Unset: none.";
    QueryLogFormat Start "query_log_format" "SEINE_QUERY_LOG_FORMAT" (Kind::Word(&["sphinxql", "plain", "json"])) "sphinxql"
        "Shape of a line of the query log: sphinxql and plain are those of Sphinx and Manticore, json has every fact.";
    QueryLogTable Start "query_log_table" "SEINE_QUERY_LOG_TABLE" (Kind::Text) ""
        "The search table that gets each entry of the query log as a row; made if it is not there, with keep='30d'. Searches on it are not logged. Unset: none.";
    QueryLogLeast Set "query_log_min_msec" "SEINE_QUERY_LOG_MIN_MSEC" (Kind::Count(up_to(YEAR_MS))) "0"
        "Least time of a search that the query log has, in milliseconds.";
    LogFormat Start flag "log-format" "log_format" "SEINE_LOG_FORMAT" (Kind::Word(&["text", "json"])) "text"
        "Shape of a line of the log on standard error: text or json.";
}

impl Setting {
    /// Whether SIGHUP changes the value.
    pub fn reloads(&self) -> bool {
        match self.change {
            Change::Start => false,
            Change::Reload | Change::Secret | Change::Set => true,
        }
    }

    /// Whether the value is never shown.
    pub fn is_secret(&self) -> bool {
        self.change == Change::Secret
    }

    /// Whether SET GLOBAL changes the value.
    pub(super) fn is_settable(&self) -> bool {
        self.change == Change::Set
    }
}

/// The setting that SET GLOBAL changes by this name, which may be that of SHOW VARIABLES.
///
/// # Errors
/// [`Unsettable::Name`], with what to do instead.
pub(super) fn settable(name: &str) -> Result<&'static Setting, Unsettable> {
    let bare = name.strip_prefix("seine_").unwrap_or(name);
    let found = SETTINGS
        .iter()
        .find(|setting| setting.name.replace('.', "_") == bare);
    let why = match found {
        Some(setting) if setting.is_settable() => return Ok(setting),
        Some(setting) => {
            let name = setting.name;
            let when = match setting.reloads() {
                true => "SIGHUP reads it again",
                false => "the next start reads it",
            };
            format!("SET GLOBAL {name}: write it in seine.toml, {when}")
        }
        None => {
            let all = SETTINGS.iter().filter(|setting| setting.is_settable());
            let all: Vec<&str> = all.map(|setting| setting.name).collect();
            let all = all.join(", ");
            format!("SET GLOBAL {name}: it is none of the settings that SET GLOBAL changes: {all}")
        }
    };
    Err(Unsettable::Name(why))
}

/// The row of a key.
pub(super) fn setting(key: Key) -> &'static Setting {
    &SETTINGS[key as usize]
}
