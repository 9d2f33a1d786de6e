//! A server for a test: its own process, its own folder, its own ports; gone when the value is dropped.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use client::Client;
use rustix::process::{Pid, Signal, kill_process};

/// The binary under test.
pub(crate) const SEINE: &str = env!("CARGO_BIN_EXE_seine");

/// A folder of its own, removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "seine-it-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a server is started: flags and variables beside the usual ones.
#[derive(Clone, Default)]
pub(crate) struct Setup {
    flags: Vec<String>,
    variables: Vec<(String, String)>,
    /// What a shell does before it becomes the server.
    before: Option<String>,
    binary: Option<String>,
}

impl Setup {
    pub(crate) fn flag(mut self, flag: &str, value: &str) -> Setup {
        self.flags.extend([flag.to_owned(), value.to_owned()]);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Setup {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Started by a shell that does this first: `umask`, `ulimit`.
    pub(crate) fn in_shell(mut self, before: &str) -> Setup {
        self.before = Some(before.to_owned());
        self
    }

    /// Another binary than the one under test.
    pub(crate) fn binary(mut self, path: &str) -> Setup {
        self.binary = Some(path.to_owned());
        self
    }

    /// The process, not yet waited for. Its log goes to `log` in the folder.
    pub(crate) fn spawn(&self, folder: &Folder) -> Child {
        let binary = self.binary.as_deref().unwrap_or(SEINE);
        let mut command = match &self.before {
            None => clean(Command::new(binary)),
            Some(before) => {
                let mut shell = clean(Command::new("sh"));
                shell.args(["-c", &format!("{before}; exec \"$0\" \"$@\""), binary]);
                shell
            }
        };
        command.arg("serve").args(["--data", &folder.path("data")]);
        for door in ["--mysql", "--http", "--scribe"] {
            if !self.flags.iter().any(|flag| flag == door) {
                command.args([door, "127.0.0.1:0"]);
            }
        }
        let log = File::options()
            .create(true)
            .append(true)
            .open(folder.path("log"))
            .unwrap();
        command
            .args(&self.flags)
            .envs(self.variables.iter().cloned());
        command
            .current_dir(&folder.0)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    pub(crate) fn start(self) -> Server {
        self.start_in(Folder::new())
    }

    /// In a folder that holds what its flags name.
    pub(crate) fn start_in(self, folder: Folder) -> Server {
        Server::start_in(self, folder)
    }
}

/// The binary, without the `SEINE_` variables of the environment in which the tests run.
pub(crate) fn clean_command() -> Command {
    clean(Command::new(SEINE))
}

/// A program without the `SEINE_` variables.
pub(crate) fn clean(mut command: Command) -> Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SEINE_")) {
        command.env_remove(name);
    }
    command
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    mysql: String,
    http: String,
    scribe: String,
    /// The line that says ready.
    ready: String,
    setup: Setup,
    folder: Folder,
}

impl Server {
    /// With the defaults, on free ports.
    pub(crate) fn start() -> Server {
        Setup::default().start()
    }

    fn start_in(setup: Setup, folder: Folder) -> Server {
        let mut child = setup.spawn(&folder);
        let ([mysql, http, scribe], ready) = wait_until_ready(&mut child, &folder.0);
        Server {
            child,
            mysql,
            http,
            scribe,
            ready,
            setup,
            folder,
        }
    }

    /// Address of the MySQL door.
    pub(crate) fn mysql(&self) -> &str {
        &self.mysql
    }

    /// Address of the HTTP door.
    pub(crate) fn http(&self) -> &str {
        &self.http
    }

    /// Address of the Scribe door, or `off`.
    pub(crate) fn scribe(&self) -> &str {
        &self.scribe
    }

    /// Addresses of a door as the line that says ready has them: `syslog`, `syslog_udp`.
    #[track_caller]
    pub(crate) fn door(&self, name: &str) -> &str {
        let mut words = self.ready.split_whitespace();
        let named = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        named.unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Bytes of the budget of requests that are taken.
    pub(crate) fn requests_hold(&self) -> u64 {
        let (_, metrics) = request(self.http(), "GET /metrics", "", b"");
        let mut lines = metrics.lines();
        let found = lines.find_map(|line| line.strip_prefix("seine_request_bytes "));
        found.unwrap().parse().unwrap()
    }

    /// A new connection, as nobody in particular.
    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.mysql, "test", "").unwrap()
    }

    /// What the server has logged so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path("log")).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// SIGTERM, and how the process ended.
    pub(crate) fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits for an end that somebody else brought about.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// SIGTERM, then the same data served again, on new ports.
    pub(crate) fn stop_and_restart(&mut self) {
        let status = self.terminate();
        assert!(status.success(), "{status}: {}", self.log());
        self.again();
    }

    /// SIGKILL, and nothing after it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.ended();
    }

    /// SIGKILL, then the same data served again, on new ports.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.again();
    }

    /// The same data served again with another setup, after the process has ended.
    pub(crate) fn restart_as(&mut self, setup: Setup) {
        self.setup = setup;
        self.again();
    }

    /// The same data served again, after the process has ended.
    pub(crate) fn again(&mut self) {
        self.child = self.setup.spawn(&self.folder);
        ([self.mysql, self.http, self.scribe], self.ready) =
            wait_until_ready(&mut self.child, &self.folder.0);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the line that a server prints when everything listens.
fn wait_until_ready(child: &mut Child, folder: &Path) -> ([String; 3], String) {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let named = |door: &str| {
        line.split_whitespace()
            .find_map(|part| part.strip_prefix(door))
    };
    match (named("mysql="), named("http="), named("scribe=")) {
        (Some(mysql), Some(http), Some(scribe)) => {
            ([mysql, http, scribe].map(str::to_owned), line.clone())
        }
        _ => panic!(
            "no server: {line:?}; {}",
            fs::read_to_string(folder.join("log")).unwrap_or_default()
        ),
    }
}

/// One HTTP request on a connection of its own: status and body.
pub(crate) fn request(address: &str, head: &str, headers: &str, body: &[u8]) -> (u16, String) {
    let (status, _, body) = request_with_headers(address, head, headers, body);
    (status, body)
}

/// As [`request`], with the reply's headers in lower case.
pub(crate) fn request_with_headers(
    address: &str,
    head: &str,
    headers: &str,
    body: &[u8],
) -> (u16, String, String) {
    let host = if headers.to_lowercase().contains("host:") {
        ""
    } else {
        "Host: localhost\r\n"
    };
    let length = body.len();
    let text = format!(
        "{head} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    let mut request = text.into_bytes();
    request.extend_from_slice(body);
    let mut reply = Vec::new();
    match address.strip_prefix("unix:") {
        Some(path) => exchange(UnixStream::connect(path).unwrap(), &request, &mut reply),
        None => exchange(TcpStream::connect(address).unwrap(), &request, &mut reply),
    }
    let reply = String::from_utf8_lossy(&reply).into_owned();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (
        status.unwrap_or_else(|| panic!("no status in {reply:?}")),
        head.to_lowercase(),
        body.to_owned(),
    )
}

fn exchange(mut stream: impl Read + Write, request: &[u8], reply: &mut Vec<u8>) {
    // A server that refuses early may close before it has read all; its reply still counts.
    let _ = stream.write_all(request);
    let _ = stream.read_to_end(reply);
}

/// Asks again and again until there is an answer. Fails, naming the fact, after 30 seconds.
#[track_caller]
pub fn until<T>(fact: &str, ask: impl FnMut() -> Option<T>) -> T {
    until_within(30, fact, ask)
}

/// The same, after `seconds`: for what takes ten of them on an idle machine.
#[track_caller]
pub fn until_within<T>(seconds: u64, fact: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(
            Instant::now() < end,
            "{seconds} seconds, and not yet: {fact}"
        );
        std::thread::yield_now();
    }
}

/// The number in the last cell of a statement's first row.
pub fn number(client: &mut Client, statement: &str) -> i64 {
    let rows = client.query(statement).unwrap().rows;
    let cell = rows[0].last().unwrap().clone().unwrap();
    String::from_utf8(cell).unwrap().parse().unwrap()
}

/// Until this number of sessions waits for rows.
pub fn until_waiting(client: &mut Client, count: i64) {
    let statement = "SHOW STATUS LIKE 'queue_waiting'";
    until("the number of waiters", || {
        (number(client, statement) == count).then_some(())
    });
}
