//! The Scribe door of the real binary: kills, chains of servers, configurations.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::server::{Folder, Server, Setup, clean_command, request, until};

/// Runs `seine cat` with this input.
fn cat(server: &Server, category: &str, input: &str) -> Output {
    let mut child = clean_command()
        .args(["cat", "-h", server.scribe(), category])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The server may be killed meanwhile.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

pub(crate) fn ctl(server: &Server, what: &str) -> String {
    let output = clean_command()
        .args(["ctl", "-h", server.scribe(), what])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of all files of a folder whose names begin so, in the order of the names.
pub(crate) fn lines(folder: &Path, begin: &str) -> Vec<String> {
    let files = files(folder, begin);
    let text: String = files
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    text.lines().map(str::to_owned).collect()
}

/// The files of a folder whose names begin so, in the order of their names.
pub(crate) fn files(folder: &Path, begin: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    // One look at each: a store renames its link meanwhile.
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap())
        .filter(is_file)
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(begin)
        })
        .collect();
    files.sort();
    files
}

#[track_caller]
pub(crate) fn wait_for(fact: &str, mut is_so: impl FnMut() -> bool) {
    until(fact, || is_so().then_some(()));
}

/// Whether the lines hold each wanted one, in order, and otherwise only repetitions.
pub(crate) fn holds_in_order(found: &[String], wanted: &[String]) -> bool {
    let mut next = wanted.iter().peekable();
    for line in found {
        if next.peek() == Some(&line) {
            next.next();
        }
    }
    next.peek().is_none()
}

#[test]
fn what_log_answered_ok_is_in_the_files_after_kill_9() {
    let mut server = Server::start();
    let files = server.folder().0.join("data/collected/web");
    let mut wanted = Vec::new();
    for round in 0..4 {
        for call in 0..20 {
            let input: Vec<String> = (0..50)
                .map(|line| format!("{round}.{call}.{line}"))
                .collect();
            let text = input.join("\n") + "\n";
            if cat(&server, "web", &text).status.success() {
                wanted.extend(input);
            }
        }
        server.kill_and_restart();
    }
    wait_for("all messages are in the files", || {
        holds_in_order(&lines(&files, "web-"), &wanted)
    });
    assert_eq!(wanted.len(), 4_000);
    server.stop_and_restart();
    let whole = lines(&files, "web-");
    server.stop_and_restart();
    assert_eq!(lines(&files, "web-"), whole, "a clean stop repeats nothing");
}

#[test]
fn messages_wait_in_a_buffer_until_the_next_server_is_there_and_come_in_order() {
    let mut next = Server::start();
    let address = next.scribe().to_owned();
    let port = address.rsplit_once(':').unwrap().1;
    next.kill();
    let folder = Folder::new();
    let conf = format!(
        "check_interval=1\n<store>\ncategory=default\ntype=buffer\nretry_interval=1\nretry_interval_range=1\n\
         <primary>\ntype=network\nremote_host=127.0.0.1\nremote_port={port}\ntimeout=2000\n</primary>\n\
         <secondary>\ntype=file\nfile_path={}\n</secondary>\n</store>\n",
        folder.path("buffer")
    );
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let server = Setup::default()
        .flag("--scribe-config", &folder.path("scribe.conf"))
        .start();
    let wanted: Vec<String> = (0..2_000).map(|line| line.to_string()).collect();
    for part in wanted.chunks(100) {
        assert!(
            cat(&server, "web", &(part.join("\n") + "\n"))
                .status
                .success()
        );
    }
    wait_for("the status tells of the server that is away", || {
        ctl(&server, "status").starts_with("WARNING")
    });
    next.restart_as(Setup::default().flag("--scribe", &address));
    let files = next.folder().0.join("data/collected/web");
    wait_for("the next server has all", || {
        lines(&files, "web-") == wanted
    });
    assert!(cat(&server, "web", "last\n").status.success());
    wait_for("new messages follow", || {
        lines(&files, "web-")
            .last()
            .is_some_and(|line| line == "last")
    });
    wait_for("all is well again", || ctl(&server, "status") == "ALIVE\n");
}

#[test]
fn a_restored_backup_has_what_waits_in_spools_and_sends_it_to_the_store_of_today() {
    let folder = Folder::new();
    let file = folder.path("scribe.conf");
    let store = |port: &str| {
        format!(
            "<store>\ncategory=default\ntype=network\nremote_host=127.0.0.1\nremote_port={port}\ntimeout=500\n</store>\n"
        )
    };
    std::fs::write(&file, store("1")).unwrap();
    let setup = || {
        let setup = Setup::default().flag("--scribe-config", &file);
        setup.variable("SEINE_INSECURE", "true")
    };
    let mut server = setup().start();
    let wanted: Vec<String> = (0..500).map(|line| line.to_string()).collect();
    let sent = cat(&server, "web", &(wanted.join("\n") + "\n"));
    assert!(sent.status.success());
    wait_for("a spool has all", || {
        let (_, metrics) = request(server.http(), "GET /metrics", "", b"");
        let spools = std::fs::read_dir(server.folder().path("data/spools"));
        metrics.contains("\nseine_messages_pending_bytes 0\n")
            && spools.is_ok_and(|mut spools| spools.next().is_some())
    });
    let (backup, data) = (server.folder().path("backup"), server.folder().path("data"));
    let made = server.client().query(&format!("BACKUP TO '{backup}'"));
    made.unwrap();
    server.kill();
    std::fs::remove_dir_all(&data).unwrap();
    let restored = clean_command().args(["restore", &backup, &data]).output();
    assert!(restored.unwrap().status.success());
    let next = Server::start();
    let port = next.scribe().rsplit_once(':').unwrap().1;
    let before = "<store>\ncategory=other\ntype=null\n</store>\n";
    std::fs::write(&file, format!("{before}{}", store(port))).unwrap();
    server.restart_as(setup());
    let files = next.folder().0.join("data/collected/web");
    wait_for("the next server has all", || {
        lines(&files, "web-") == wanted
    });
    wait_for("the spool is gone", || {
        std::fs::read_dir(server.folder().path("data/spools"))
            .is_ok_and(|mut spools| spools.next().is_none())
    });
}

#[test]
fn a_store_whose_folder_is_gone_or_cannot_be_made_holds_no_other_and_gets_its_messages_later() {
    let folder = Folder::new();
    let store = |category: &str| {
        let path = folder.path(category);
        format!("<store>\ncategory={category}\ntype=file\nfile_path={path}\n</store>\n")
    };
    let conf = [
        "check_interval=1\n",
        &store("good"),
        &store("gone"),
        &store("bad"),
    ]
    .concat();
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    std::fs::write(folder.0.join("bad"), "a file where a folder should be").unwrap();
    let server = Setup::default()
        .flag("--scribe-config", &folder.path("scribe.conf"))
        .start();
    assert!(
        cat(&server, "gone", "lost with its folder\n")
            .status
            .success()
    );
    wait_for("the file is there", || {
        lines(&folder.0.join("gone"), "gone_") == ["lost with its folder"]
    });
    std::fs::remove_dir_all(folder.0.join("gone")).unwrap();
    for category in ["bad", "gone", "good"] {
        assert!(cat(&server, category, "one\ntwo\n").status.success());
    }
    for category in ["good", "gone"] {
        wait_for("others go on", || {
            lines(&folder.0.join(category), category) == ["one", "two"]
        });
    }
    wait_for("the status names the store and its path", || {
        let status = ctl(&server, "status");
        status.starts_with("WARNING") && status.contains(&format!("{:?}", folder.path("bad")))
    });
    let told = |what: &str| {
        let log = server.log();
        let lines = log.lines().filter(|line| line.contains(what));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let failures = told("a store fails");
    let of_bad = failures.iter().filter(|line| line.contains("bad: file "));
    assert_eq!(of_bad.count(), 1, "{failures:?}");
    assert!(
        failures
            .iter()
            .any(|line| line.contains("WARN") && line.contains("Not a directory")),
        "{failures:?}"
    );
    std::fs::remove_file(folder.0.join("bad")).unwrap();
    wait_for("its messages follow", || {
        lines(&folder.0.join("bad"), "bad_") == ["one", "two"]
    });
    wait_for("all is well again", || ctl(&server, "status") == "ALIVE\n");
    wait_for("the log tells that it is well", || {
        let well = told("a store is well again");
        well.iter()
            .filter(|line| line.contains("bad: file "))
            .count()
            == 1
    });
    assert_eq!(told("a store fails"), failures, "it is told once");
}

#[test]
fn a_primary_that_stays_away_is_told_once_by_the_log_with_its_name() {
    let folder = Folder::new();
    let conf = format!(
        "check_interval=1\n<store>\ncategory=web\ntype=buffer\nretry_interval=1\nretry_interval_range=1\n\
         <primary>\ntype=network\nremote_host=127.0.0.1\nremote_port=1\n</primary>\n\
         <secondary>\ntype=file\nfile_path={}\n</secondary>\n</store>\n",
        folder.path("waits")
    );
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let server = Setup::default()
        .flag("--scribe-config", &folder.path("scribe.conf"))
        .start();
    assert!(cat(&server, "web", "one\n").status.success());
    wait_for("it was tried three times", || {
        let counters = ctl(&server, "counters");
        let mut retries = counters
            .lines()
            .filter_map(|line| line.strip_prefix("web:retries: "));
        retries.any(|count| count.parse::<u64>().is_ok_and(|count| count >= 3))
    });
    let log = server.log();
    let told = log.lines().filter(|line| line.contains("a store fails"));
    let told: Vec<&str> = told.collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let is_named = |part: &str| told[0].contains(part);
    assert!(
        is_named("buffer(network 127.0.0.1:1") && is_named("refused"),
        "{told:?}"
    );
}

#[test]
fn lines_of_seine_cat_have_one_line_feed_with_and_without_add_newlines() {
    let folder = Folder::new();
    let store = |category: &str, add_newlines: u8| {
        let path = folder.path(category);
        format!(
            "<store>\ncategory={category}\ntype=file\nfile_path={path}\nadd_newlines={add_newlines}\n</store>\n"
        )
    };
    let conf = [store("ends", 1), store("plain", 0)].concat();
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let server = Setup::default()
        .flag("--scribe-config", &folder.path("scribe.conf"))
        .start();
    for category in ["ends", "plain"] {
        assert!(cat(&server, category, "a\nb\n\nc\n").status.success());
        wait_for("each line is there once", || {
            lines(&folder.0.join(category), category) == ["a", "b", "", "c"]
        });
    }
}

#[test]
fn a_configuration_with_a_mistake_is_named_by_check_and_not_used_by_a_reload() {
    let folder = Folder::new();
    let path = folder.path("scribe.conf");
    let good = format!(
        "<store>\ncategory=web\ntype=file\nfile_path={}\n</store>\n",
        folder.path("files")
    );
    std::fs::write(&path, &good).unwrap();
    let mut server = Setup::default().flag("--scribe-config", &path).start();
    assert!(cat(&server, "web", "one\n").status.success());
    assert!(cat(&server, "unknown", "dropped\n").status.success());
    std::fs::write(&path, "<store>\ncategory=web\ntype=fil\n</store>\n").unwrap();
    let checked = clean_command()
        .args(["check", "--scribe-config", &path])
        .output()
        .unwrap();
    let said = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(1));
    assert!(
        said.contains(&format!("{path}:")) && said.contains("can't create a store of type: fil"),
        "{said}"
    );
    ctl(&server, "reload");
    wait_for("the status names the mistake", || {
        ctl(&server, "status").contains("can't create a store of type: fil")
    });
    assert!(cat(&server, "web", "two\n").status.success());
    std::fs::write(&path, &good).unwrap();
    ctl(&server, "reload");
    wait_for("the mistake is gone", || {
        ctl(&server, "status") == "ALIVE\n"
    });
    wait_for("nothing is lost", || {
        lines(&folder.0.join("files"), "web") == ["one", "two"]
    });
    assert!(ctl(&server, "counters").contains("unknown:received bad: 1"));
    ctl(&server, "stop");
    assert!(server.ended().success());
}
