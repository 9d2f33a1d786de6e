//! What keeps others out: rights of files, the lock before the doors, places of backups, passwords and failed logins.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use client::Client;
use rustix::process::Signal;

use crate::server::{Folder, Server, Setup, clean_command, request, until};

/// Everything below a folder, itself included, with its rights.
fn rights(path: &Path) -> Vec<(String, bool, u32)> {
    let found = fs::symlink_metadata(path).unwrap();
    let mode = found.permissions().mode() & 0o7777;
    let mut all = vec![(path.display().to_string(), found.is_dir(), mode)];
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            all.extend(rights(&entry.unwrap().path()));
        }
    }
    all
}

#[test]
fn the_data_directory_is_for_its_owner_alone_whatever_the_umask() {
    let server = Setup::default().in_shell("umask 0").start();
    let found = rights(Path::new(&server.folder().path("data")));
    assert!(found.len() > 3, "{found:?}");
    for (path, is_folder, mode) in found {
        let wanted = if is_folder { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{path} has {mode:o}");
    }
}

#[test]
fn a_data_directory_that_is_open_to_others_is_served_and_named_in_the_log() {
    let mut server = Server::start();
    assert!(!server.log().contains("chmod 700"), "{}", server.log());
    let data = server.folder().path("data");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    server.stop_and_restart();
    assert!(server.client().ping().is_ok());
    let log = server.log();
    assert!(log.contains("chmod 700") && log.contains("0755"), "{log}");
}

#[test]
fn a_password_file_that_everybody_may_read_is_named_in_the_log_at_the_start_and_at_sighup() {
    let folder = Folder::new();
    let secret = folder.path("password");
    let allow = |mode| fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).unwrap();
    fs::write(&secret, "hush\n").unwrap();
    allow(0o604);
    let setup = Setup::default().variable("SEINE_PASSWORD_FILE", &secret);
    let server = setup.start_in(folder);
    let warnings = || server.log().matches("chmod 600").count();
    assert_eq!(warnings(), 1);
    let log = server.log();
    assert!(log.contains(&secret) && log.contains("0604"), "{log}");
    let reads = || server.log().matches("settings were read again").count();
    server.signal(Signal::HUP);
    until("the settings are read", || (reads() == 1).then_some(()));
    assert_eq!(warnings(), 2);
    allow(0o640);
    server.signal(Signal::HUP);
    until("the settings are read", || (reads() == 2).then_some(()));
    assert_eq!(warnings(), 2, "a group is the owner's choice");
}

#[test]
fn a_lock_that_is_a_link_ends_the_start_with_1() {
    let folder = Folder::new();
    let data = folder.path("data");
    fs::create_dir(&data).unwrap();
    fs::write(folder.path("precious"), b"precious").unwrap();
    std::os::unix::fs::symlink(folder.path("precious"), format!("{data}/lock")).unwrap();
    let mut server = Setup::default().spawn(&folder);
    assert_eq!(server.wait().unwrap().code(), Some(1));
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.contains("symbolic link"), "{log}");
    assert_eq!(fs::read(folder.path("precious")).unwrap(), b"precious");
}

#[test]
fn a_second_server_on_the_directory_ends_before_it_binds_an_address() {
    let server = Server::start();
    let folder = server.folder();
    fs::rename(folder.path("log"), folder.path("first-log")).unwrap();
    let mut second = Setup::default()
        .flag("--mysql", server.mysql())
        .flag("--http", server.http())
        .spawn(folder);
    assert_eq!(second.wait().unwrap().code(), Some(1));
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.contains(&server.pid().to_string()), "{log}");
    assert!(!log.contains("listen"), "it came as far as a door: {log}");
}

/// MySQL's number, or 0 where the backup was made.
fn back_up(client: &mut Client, to: &str) -> String {
    match client.query(&format!("BACKUP TO '{to}'")) {
        Ok(_) => "made".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_backup_to_any_path_is_for_clients_on_a_unix_socket() {
    let folder = Folder::new();
    let sockets = ["m", "h"].map(|name| format!("unix:{}", folder.path(name)));
    let server = Setup::default()
        .flag("--mysql", "127.0.0.1:0")
        .flag("--mysql", &sockets[0])
        .flag("--http", "127.0.0.1:0")
        .flag("--http", &sockets[1])
        .start();
    let first = |list: &str| list.split(',').next().unwrap().to_owned();
    let mut beyond = Client::connect(&first(server.mysql()), "test", "").unwrap();
    let at = |name: &str| server.folder().path(name);
    let refused = back_up(&mut beyond, &at("a"));
    assert!(refused.contains("1227"), "{refused}");
    let statement = |name: &str| format!("BACKUP TO '{}'", at(name));
    let over_http = |address: &str, name: &str| {
        let statement = statement(name);
        request(address, "POST /sql?mode=raw", "", statement.as_bytes())
    };
    let (status, body) = over_http(&first(server.http()), "b");
    assert_eq!(status, 403, "{body}");
    assert!(!Path::new(&at("a")).exists() && !Path::new(&at("b")).exists());

    let mut within = Client::connect(&sockets[0], "test", "").unwrap();
    assert_eq!(back_up(&mut within, &at("c")), "made");
    let (status, body) = over_http(&sockets[1], "d");
    assert_eq!(status, 200, "{body}");
}

#[test]
fn a_server_that_is_insecure_takes_a_backup_to_any_path_and_one_with_a_folder_below_it_only() {
    let server = Setup::default().variable("SEINE_INSECURE", "true").start();
    let at = server.folder().path("backup");
    assert_eq!(back_up(&mut server.client(), &at), "made");

    let folder = Folder::new();
    let server = Setup::default()
        .variable("SEINE_BACKUP_DIR", &folder.path(""))
        .start();
    let mut client = server.client();
    assert_eq!(back_up(&mut client, "one"), "made");
    let refused = back_up(&mut client, &server.folder().path("two"));
    assert!(refused.contains("1210"), "{refused}");
}

#[test]
fn a_password_that_is_set_and_blank_ends_the_start_with_2_and_one_line() {
    let folder = Folder::new();
    for blank in ["", "   "] {
        let refused = clean_command()
            .args(["serve", "--data", &folder.path("data")])
            .args(["--mysql", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .current_dir(&folder.0)
            .env("SEINE_PASSWORD", blank)
            .output()
            .unwrap();
        assert_eq!(refused.status.code(), Some(2));
        let why = String::from_utf8(refused.stderr).unwrap();
        assert!(why.contains("SEINE_PASSWORD: is set and blank"), "{why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
    assert!(!Path::new(&folder.path("data")).exists());
}

const RIGHT: &str = "Authorization: Basic c2VpbmU6c2VzYW1l\r\n"; // seine:sesame
const WRONG: &str = "Authorization: Basic c2VpbmU6d3Jvbmc=\r\n"; // seine:wrong

#[test]
fn failed_logins_at_either_door_are_counted_logged_and_slow_the_address_until_one_passes() {
    let server = Setup::default()
        .variable("SEINE_PASSWORD", "sesame")
        .start();
    let ask =
        |headers: &str| request(server.http(), "POST /sql?mode=raw", headers, b"SHOW TABLES").0;
    for _ in 0..2 {
        assert!(Client::connect(server.mysql(), "seine", "wrong").is_err());
        assert_eq!(ask(WRONG), 401);
    }
    // Four failures: the next login waits 800 ms, also with the right password.
    let since = Instant::now();
    let mut client = Client::connect(server.mysql(), "seine", "sesame").unwrap();
    assert!(since.elapsed() >= Duration::from_millis(800));
    let since = Instant::now();
    for _ in 0..100 {
        assert_eq!(ask(RIGHT), 200);
    }
    assert!(since.elapsed() < Duration::from_secs(80), "forgotten");
    let counted = client
        .query("SHOW STATUS LIKE 'aborted_connects'")
        .unwrap()
        .rows;
    assert_eq!(counted[0][1].as_deref(), Some(&b"4"[..]));
    let log = server.log();
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("a login failed"))
        .collect();
    assert!(lines[0].contains("127.0.0.1"), "{lines:?}");
    assert!(!log.contains("wrong"), "no password in the log");
}

#[test]
fn a_request_without_a_login_slows_nobody() {
    let server = Setup::default()
        .variable("SEINE_PASSWORD", "sesame")
        .start();
    let ask =
        |headers: &str| request(server.http(), "POST /sql?mode=raw", headers, b"SHOW TABLES").0;
    let since = Instant::now();
    for _ in 0..20 {
        assert_eq!(ask(""), 401);
    }
    assert_eq!(ask(RIGHT), 200);
    assert!(since.elapsed() < Duration::from_secs(5), "no wait of 5 s");
    assert!(!server.log().contains("a login failed"));
}
