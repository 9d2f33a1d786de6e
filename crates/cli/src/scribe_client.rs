//! The connection of the verbs `cat` and `ctl` to a Scribe server.

use std::time::Duration;

use clap::Arg;
use collect::Client;

/// Port of Scribe's tools where an address names none.
const PORT: u16 = 1463;

/// Longest wait for a connection, a send or an answer. A server that syncs for longer is stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// Longest answer, in bytes: counters of 100,000 categories fit.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The argument that names the server. `-h`, as in Scribe's own tools.
pub(crate) fn addr() -> Arg {
    Arg::new("addr")
        .short('h')
        .long("addr")
        .value_name("HOST[:PORT]")
        .default_value("127.0.0.1:1463")
        .help("Address of the Scribe door, or unix:/path; port 1463 where none is given.")
}

/// Connects to `host`, `host:port`, `[host]:port` or `unix:/path`.
pub(crate) fn connect(address: &str) -> Result<Client, String> {
    if let Some(path) = address.strip_prefix("unix:") {
        return Client::connect_unix(path, PATIENCE, ANSWER_BYTES_MAX);
    }
    let with_port = address
        .rsplit_once(':')
        .filter(|(host, _)| !host.contains(':') || host.ends_with(']'))
        .and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (host, port) = with_port.unwrap_or((address, PORT));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Client::connect((host, port), PATIENCE, ANSWER_BYTES_MAX)
}
