//! The demo's server: a child process that the demo starts, kills and starts again.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use client::Client;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::home::Home;
use super::{Failure, Result, failed};

/// Default address of a server's MySQL door.
const DEFAULT_MYSQL: &str = "127.0.0.1:9306";
const DEFAULT_HTTP: &str = "127.0.0.1:9308";
const DEFAULT_SCRIBE: &str = "127.0.0.1:1463";

/// Process id of the child, which must not outlive the demo; 0: none. A process runs one demo.
static RUNNING: AtomicU32 = AtomicU32::new(0);
/// Set when a signal has asked the demo to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Addresses of the server.
pub(super) struct Addresses {
    mysql: String,
    http: String,
    scribe: String,
}

impl Addresses {
    /// The default addresses if they are free, else any free ones.
    pub(super) fn free() -> Addresses {
        let choose = |default: &str| match TcpListener::bind(default) {
            Ok(_) => default.to_owned(),
            Err(_) => "127.0.0.1:0".to_owned(),
        };
        Addresses {
            mysql: choose(DEFAULT_MYSQL),
            http: choose(DEFAULT_HTTP),
            scribe: choose(DEFAULT_SCRIBE),
        }
    }
}

/// A running server.
pub(super) struct Server {
    child: Child,
    /// Kept open, so that the server can write to it.
    _stdout: BufReader<ChildStdout>,
    mysql: String,
    http: String,
    scribe: String,
}

impl Server {
    /// Starts a server and waits until it is ready.
    pub(super) fn start(home: &Home, addresses: Addresses) -> Result<Server> {
        watch_signals();
        let mut child = spawn(home, &addresses)?;
        RUNNING.store(child.id(), Ordering::SeqCst);
        let Some(stdout) = child.stdout.take() else {
            return Err(Failure("the server has no standard output".to_owned()));
        };
        let mut stdout = BufReader::new(stdout);
        let mut ready = String::new();
        stdout
            .read_line(&mut ready)
            .map_err(failed("starting the server"))?;
        let named = |door: &str| {
            let found = ready
                .split_whitespace()
                .find_map(|part| part.strip_prefix(door));
            found.map(str::to_owned)
        };
        match (named("mysql="), named("http="), named("scribe=")) {
            (Some(mysql), Some(http), Some(scribe)) => Ok(Server {
                child,
                _stdout: stdout,
                mysql,
                http,
                scribe,
            }),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                Err(Failure(format!(
                    "the server did not start; the end of its log:\n{}",
                    log_end(home)
                )))
            }
        }
    }

    pub(super) fn mysql(&self) -> &str {
        &self.mysql
    }

    pub(super) fn http(&self) -> &str {
        &self.http
    }

    pub(super) fn scribe(&self) -> &str {
        &self.scribe
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> Result<Client> {
        Client::connect(&self.mysql, "demo", "").map_err(failed("connecting to the server"))
    }

    /// Kills the server by SIGKILL, so that it can flush nothing. Then starts it again, on the same addresses.
    pub(super) fn kill_and_restart(&mut self, home: &Home) -> Result<()> {
        self.child.kill().map_err(failed("killing the server"))?;
        self.child.wait().map_err(failed("killing the server"))?;
        if ENDING.load(Ordering::SeqCst) {
            return Err(Failure("interrupted".to_owned()));
        }
        *self = Server::start(
            home,
            Addresses {
                mysql: self.mysql.clone(),
                http: self.http.clone(),
                scribe: self.scribe.clone(),
            },
        )?;
        Ok(())
    }

    /// Asks the server to end and waits. Errors: its exit status is not 0.
    pub(super) fn stop(self) -> Result<()> {
        terminate(self.child.id());
        self.wait()
    }

    /// Waits for the server's end.
    pub(super) fn wait(mut self) -> Result<()> {
        let status = self
            .child
            .wait()
            .map_err(failed("waiting for the server"))?;
        RUNNING.store(0, Ordering::SeqCst);
        if status.success() {
            Ok(())
        } else {
            Err(Failure(format!("the server ended with {status}")))
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If the demo ends early it must not leave a server behind. Fails if the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(home: &Home, addresses: &Addresses) -> Result<Child> {
    let doing = "starting the server";
    let program = std::env::current_exe().map_err(failed(doing))?;
    let log = OpenOptions::new()
        .append(true)
        .open(home.log())
        .map_err(failed(doing))?;
    let mut command = Command::new(program);
    command
        .arg("serve")
        .arg("--config")
        .arg(home.settings())
        .arg("--data")
        .arg(home.data());
    command.args(["--mysql", &addresses.mysql, "--http", &addresses.http]);
    command.args(["--scribe", &addresses.scribe]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SEINE_") {
            command.env_remove(name);
        }
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    command.spawn().map_err(failed(doing))
}

fn log_end(home: &Home) -> String {
    let log = fs::read_to_string(home.log()).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

fn terminate(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // Fails if the server has just ended by itself.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Makes Ctrl-C and SIGTERM end the server and the demo, from the first call on.
fn watch_signals() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| drop(thread::spawn(pass_on_signals)));
}

fn pass_on_signals() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
    else {
        return; // Signals keep their default effect.
    };
    runtime.block_on(async {
        let (Ok(mut interrupt), Ok(mut terminated)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            return;
        };
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminated.recv() => {}
            }
            ENDING.store(true, Ordering::SeqCst);
            terminate(RUNNING.load(Ordering::SeqCst));
        }
    });
}
