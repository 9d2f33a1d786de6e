//! check, dump, repair, restore, BACKUP TO and --read-only, on the directory of a server of its own process.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use client::Client;
use rustix::process::geteuid;

use crate::server::{Server, Setup, clean_command};

fn seine(arguments: &[&str]) -> Output {
    clean_command().args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn ended(output: &Output, status: i32) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{}{complaint}",
        said(output)
    );
}

fn numbers(client: &mut Client) -> Vec<String> {
    let rows = client.query("SELECT n FROM q").unwrap().rows;
    let text = |row: &Vec<Option<Vec<u8>>>| String::from_utf8(row[0].clone().unwrap()).unwrap();
    rows.iter().map(text).collect()
}

/// A server that was killed; its rows are in the journal.
fn killed() -> Server {
    let mut server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE q (n int) ENGINE=queue").unwrap();
    client.query("CREATE TABLE posts (body text)").unwrap();
    client
        .query("INSERT INTO posts VALUES (1, 'a cat')")
        .unwrap();
    for n in 1..=4 {
        client
            .query(&format!("INSERT INTO q VALUES ({n})"))
            .unwrap();
    }
    server.kill_and_restart();
    server.kill();
    server
}

fn journal_file(data: &str) -> PathBuf {
    let mut names: Vec<_> = fs::read_dir(Path::new(data).join("journal"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "journal"))
        .collect();
    names.sort();
    names.remove(0)
}

#[test]
fn a_killed_servers_directory_is_sound_and_its_rows_are_dumped() {
    let server = killed();
    let data = server.folder().path("data");
    let checked = seine(&["check", &data]);
    ended(&checked, 0);
    assert!(said(&checked).contains("queue rows"), "{}", said(&checked));
    let dumped = seine(&["dump", &data, "--table", "q"]);
    ended(&dumped, 0);
    let dumped = said(&dumped);
    let lines: Vec<&str> = dumped.lines().collect();
    assert_eq!(lines.len(), 5, "{dumped}");
    assert_eq!(lines[4], r#"{"row":4,"table":"q","values":{"n":4}}"#);
    let journal = seine(&["dump", &data, "--journal"]);
    ended(&journal, 0);
    assert!(
        said(&journal).contains(r#""what":"queue rows 4""#),
        "{}",
        said(&journal)
    );
    ended(&seine(&["dump", &data, "--table", "none"]), 1);
}

#[test]
fn damage_stops_the_start_is_found_and_is_repaired_with_the_loss_named() {
    let mut server = killed();
    let data = server.folder().path("data");
    let dumped = said(&seine(&["dump", &data, "--journal"]));
    let hurt = dumped
        .lines()
        .find(|line| line.contains("queue rows 2"))
        .unwrap();
    let (_, offset) = hurt.split_once("\"offset\":").unwrap();
    let offset: u64 = offset.split([',', '}']).next().unwrap().parse().unwrap();
    let path = journal_file(&data);
    let mut bytes = fs::read(&path).unwrap();
    bytes[offset as usize + 72 + 7] ^= 4;
    fs::write(&path, bytes).unwrap();
    ended(&seine(&["check", &data]), 1);
    let refused = clean_command()
        .args([
            "serve",
            "--data",
            &data,
            "--mysql",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
        ])
        .output()
        .unwrap();
    ended(&refused, 1);
    let repaired = seine(&["repair", &data]);
    ended(&repaired, 0);
    assert!(
        said(&repaired).contains("lost: q: queue rows 2"),
        "{}",
        said(&repaired)
    );
    ended(&seine(&["check", &data]), 0);
    let again = seine(&["repair", &data]);
    assert_eq!(said(&again), "sound: nothing was changed\n");
    server.restart_as(Setup::default());
    assert_eq!(numbers(&mut server.client()), ["1", "3", "4"]);
}

#[test]
fn a_directory_that_the_user_may_not_read_is_named_with_its_owner() {
    let server = killed();
    let data = server.folder().path("data");
    let tables = Path::new(&data).join("tables");
    fs::set_permissions(&tables, Permissions::from_mode(0o000)).unwrap();
    for verb in ["check", "dump", "repair"] {
        let mut command = clean_command();
        command.args([verb, &data]);
        if geteuid().is_root() {
            command.uid(65_534).gid(65_534); // rights do not bind the superuser
        }
        let refused = command.output().unwrap();
        ended(&refused, 1);
        let why = String::from_utf8(refused.stderr).unwrap();
        assert!(
            why.contains(&data) && why.contains("no right to read it as user"),
            "{verb}: {why}"
        );
        assert!(!why.contains("internal error"), "{verb}: {why}");
    }
    fs::set_permissions(&tables, Permissions::from_mode(0o700)).unwrap();
    ended(&seine(&["check", &data]), 0);
}

#[test]
fn a_running_servers_directory_is_left_alone() {
    let server = Server::start();
    let data = server.folder().path("data");
    for verb in ["check", "dump", "repair"] {
        let refused = seine(&[verb, &data]);
        ended(&refused, 1);
        let why = String::from_utf8(refused.stderr).unwrap();
        assert!(why.contains("in use"), "{why}");
    }
}

#[test]
fn a_backup_is_taken_while_rows_come_is_sound_and_restores() {
    let mut server = Setup::default().variable("SEINE_INSECURE", "true").start();
    let mut client = server.client();
    client.query("CREATE TABLE q (n int) ENGINE=queue").unwrap();
    client.query("INSERT INTO q VALUES (1), (2)").unwrap();
    let (backup, restored) = (
        server.folder().path("backup"),
        server.folder().path("restored"),
    );
    client.query(&format!("BACKUP TO '{backup}'")).unwrap();
    client.query("INSERT INTO q VALUES (3)").unwrap();
    assert!(client.query(&format!("BACKUP TO '{backup}'")).is_err());
    assert!(client.query("BACKUP TO 'elsewhere'").is_err());
    ended(&seine(&["check", &backup]), 0);
    ended(&seine(&["restore", &backup, &restored]), 0);
    ended(&seine(&["restore", &backup, &restored]), 1);
    server.stop_and_restart();
    let data = server.folder().path("data");
    server.terminate();
    fs::remove_dir_all(&data).unwrap();
    fs::rename(&restored, &data).unwrap();
    server.restart_as(Setup::default());
    assert_eq!(numbers(&mut server.client()), ["1", "2"]);
}

#[test]
fn a_read_only_server_answers_reads_and_writes_nothing() {
    let mut server = killed();
    let data = server.folder().path("data");
    let before = everything(Path::new(&data));
    server.restart_as(Setup::default().variable("SEINE_READ_ONLY", "true"));
    let mut client = server.client();
    assert_eq!(numbers(&mut client), ["1", "2", "3", "4"]);
    let found = client
        .query("SELECT id FROM posts WHERE MATCH('cat')")
        .unwrap();
    assert_eq!(found.rows.len(), 1);
    for statement in [
        "INSERT INTO q VALUES (5)",
        "CALL QUEUE_NEXT('q')",
        "DROP TABLE q",
        "DELETE FROM posts WHERE id = 1",
    ] {
        let refused = client.query(statement).unwrap_err().to_string();
        assert!(refused.contains("read-only"), "{statement}: {refused}");
    }
    assert!(server.terminate().success());
    assert!(everything(Path::new(&data)) == before);
}

/// Every file below a folder, with its bytes.
fn everything(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

#[test]
fn no_verb_opens_a_copy_that_was_cut_short_and_each_says_what_to_do() {
    let server = killed();
    let data = server.folder().path("data");
    fs::write(Path::new(&data).join("incomplete"), "").unwrap();
    let target = server.folder().path("target");
    for arguments in [
        &["serve", "--data", &data][..],
        &["serve", "--data", &data, "--read-only"],
        &["check", &data],
        &["dump", &data],
        &["dump", &data, "--journal"],
        &["repair", &data],
        &["restore", &data, &target],
    ] {
        let output = seine(arguments);
        ended(&output, 1);
        let complaint = String::from_utf8_lossy(&output.stderr);
        for wanted in ["incomplete", "delete", "again"] {
            assert!(complaint.contains(wanted), "{arguments:?}: {complaint}");
        }
    }
    fs::remove_file(Path::new(&data).join("incomplete")).unwrap();
    ended(&seine(&["check", &data]), 0);
}
