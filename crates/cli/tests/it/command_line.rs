//! Wrong command lines and settings end with status 2 and one line; the other verbs do what they say.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::server::{Folder, Server, clean_command};

fn run(arguments: &[&str], variables: &[(&str, &str)], folder: &Folder) -> Output {
    let mut command = clean_command();
    command
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(&folder.0);
    command.stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn refused(arguments: &[&str], variables: &[(&str, &str)], wanted: &str) {
    let output = run(arguments, variables, &Folder::new());
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text:?}");
    assert!(text.contains(wanted), "{text:?} should hold {wanted:?}");
}

#[test]
fn a_wrong_command_line_is_one_line_and_status_2() {
    refused(&["serve", "--dat", "x"], &[], "--data");
    refused(&["sevre"], &[], "serve");
    refused(
        &["serve", "--memory", "12q"],
        &[],
        "--memory: \"12q\" is not a size",
    );
    refused(&["serve", "--config", "missing.toml"], &[], "missing.toml");
    refused(
        &["config"],
        &[("SEINE_LOG", "loud")],
        "SEINE_LOG: \"loud\" is not a level",
    );
}

#[test]
fn a_door_beyond_this_machine_needs_a_password() {
    refused(&["serve", "--mysql", "0.0.0.0:0"], &[], "--insecure");
    refused(&["serve", "--http", "[::]:0"], &[], "SEINE_PASSWORD");
}

#[test]
fn a_data_directory_that_cannot_be_is_named_with_the_reason() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("file"), "").unwrap();
    let doors = ["--mysql", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let output = run(
        &[&["serve", "--data", "file"], &doors[..]].concat(),
        &[],
        &folder,
    );
    assert_eq!(output.status.code(), Some(1));
    let log = String::from_utf8(output.stderr).unwrap();
    let last = log.lines().last().unwrap();
    assert!(last.contains("ERROR data directory file: "), "{log}");
}

#[test]
fn an_unknown_key_of_the_file_is_refused_with_the_nearest() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("seine.toml"), "memroy = '1GiB'\n").unwrap();
    let output = run(&["serve"], &[], &folder);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        text,
        "seine: ./seine.toml:1: unknown key \"memroy\"; did you mean \"memory\"?\n"
    );
}

#[test]
fn config_prints_each_value_and_where_it_came_from() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("seine.toml"), "log = 'warn'\n").unwrap();
    let variables = [("SEINE_PASSWORD", "hush"), ("SEINE_MEMORY", "1GiB")];
    let output = run(&["config", "--data", "elsewhere"], &variables, &folder);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let origin = |name: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} = ")))
            .unwrap();
        line.split("# ").nth(1).unwrap().to_owned()
    };
    assert_eq!(origin("data"), "--data");
    assert_eq!(origin("memory"), "SEINE_MEMORY");
    assert_eq!(origin("log"), "./seine.toml:1");
    assert_eq!(origin("http"), "default");
    assert!(!text.contains("hush"));
}

#[test]
fn the_client_shows_tables_or_json_and_ends_with_1_on_an_error() {
    let server = Server::start();
    let folder = Folder::new();
    let sql = |arguments: &[&str]| {
        run(
            &[&["sql"], arguments].concat(),
            &[("SEINE_ADDR", server.mysql())],
            &folder,
        )
    };
    assert!(sql(&["CREATE TABLE t (body text, n int)"]).status.success());
    let output = sql(&["INSERT INTO t (id, body, n) VALUES (1, 'red', 5); SELECT * FROM t"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        "OK, 1 row affected\nid  body  n\n--  ----  -\n 1  red   5\n(1 row)\n"
    );
    let output = sql(&["--json", "SELECT * FROM t"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "{\"body\":\"red\",\"id\":1,\"n\":5}\n"
    );
    let output = sql(&["SELECT * FROM nothing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1146"));
    let output = sql(&["--addr", "127.0.0.1:1", "SELECT 1"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_client_reads_statements_from_standard_input() {
    let server = Server::start();
    let mut command = clean_command();
    command.args(["sql", "--addr", server.mysql(), "--json"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"SELECT 1 AS a;\nSELECT 'x;y' AS b;\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "{\"a\":1}\n{\"b\":\"x;y\"}\n"
    );
}

#[test]
fn the_client_names_the_line_of_the_statement_that_failed() {
    let server = Server::start();
    let told = |text: &[u8]| {
        let mut command = clean_command();
        command.args(["sql", "--addr", server.mysql()]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let error = told(b"SELECT 1;\n\n-- a remark\nSELECT *\n  FROM nothing;\nSELECT 2;\n");
    assert!(error.contains("line 4: ERROR 1146"), "{error}");
    let error = told(b"SELECT 1;SELEKT 2");
    assert!(error.contains("line 1: ERROR 1064"), "{error}");
}

#[test]
fn a_setting_of_few_words_names_them() {
    let output = run(&["serve", "--help"], &[], &Folder::new());
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.contains("text or json"), "{help}");
    refused(&["serve", "--log-format", "xml"], &[], "text, json");
}
