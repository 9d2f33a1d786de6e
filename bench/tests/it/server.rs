//! A server for a test: this test program again, as a child that serves, with its own folder and ports. Gone when the value is
//! dropped. The binary `seine` is of another workspace, so no test of this one can name it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use client::Client;
use server::settings::{Settings, Sources};

/// Names the data directory to the child.
const DATA: &str = "BENCH_TEST_SERVER_DATA";

/// Serves in the child that a test started; elsewhere there is nothing to serve.
#[test]
fn a_child_of_the_other_tests_serves_until_it_is_killed() {
    let Ok(data) = std::env::var(DATA) else {
        return;
    };
    let flags = |flag: &'static str| match flag {
        "data" => Some(vec![data.clone()]),
        "mysql" | "http" | "scribe" => Some(vec!["127.0.0.1:0".to_owned()]),
        _ => None,
    };
    let load = || {
        Settings::load(&Sources {
            flags: &flags,
            environment: &|name| {
                let is_origins = name == "SEINE_TOUCH_ORIGINS";
                is_origins.then(|| bench::touch::ORIGIN.to_owned())
            },
            config: Some(Path::new("/dev/null")),
        })
    };
    // The runner of tests has begun a line.
    server::serve(load().unwrap(), &load, &|ready| println!("\n{ready}"));
}

/// A folder of its own, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("seine-bench-it-{}-{number}", std::process::id());
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

/// A running server.
pub(crate) struct Server {
    child: Child,
    mysql: String,
    http: String,
    folder: Folder,
}

impl Server {
    /// With the defaults, on free ports.
    pub(crate) fn start() -> Server {
        let folder = Folder::new();
        let mut command = clean(Command::new(std::env::current_exe().unwrap()));
        let log = fs::File::create(folder.path("log")).unwrap();
        let mut child = command
            .args(["--exact", "--nocapture"])
            .arg("server::a_child_of_the_other_tests_serves_until_it_is_killed")
            .env(DATA, folder.path("data"))
            .current_dir(&folder.0)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let ready = lines
            .map(Result::unwrap)
            .find(|line| line.starts_with("ready "));
        let ready = ready.unwrap_or_else(|| {
            panic!(
                "no server: {}",
                fs::read_to_string(folder.path("log")).unwrap()
            )
        });
        let named = |door: &str| {
            let mut words = ready.split_whitespace();
            words
                .find_map(|word| word.strip_prefix(door))
                .unwrap()
                .to_owned()
        };
        Server {
            mysql: named("mysql="),
            http: named("http="),
            child,
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

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// A new connection, as nobody in particular.
    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.mysql, "test", "").unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program without the `SEINE_` variables of the environment in which the tests run.
pub(crate) fn clean(mut command: Command) -> Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SEINE_")) {
        command.env_remove(name);
    }
    command
}
