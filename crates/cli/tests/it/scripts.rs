//! Runs the golden scripts of `tests/scripts`; their README says how they read. `SEINE_UPDATE=1` rewrites them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use client::{Client, ClientError, QueryResult};
use study::results::{Answer, Reply, ReplySet, Results, Rows};

use crate::server::{Folder, Server, Setup, clean_command, request, until};

/// One block: remarks before it, what goes in, what came back.
struct Block {
    remarks: String,
    input: String,
    output: String,
}

#[test]
fn sql_scripts_answer_as_written() {
    for path in scripts("sql") {
        let mut run = SqlRun::new();
        check(&path, &mut |input| run.step(input));
    }
}

#[test]
fn http_scripts_answer_as_written() {
    for path in scripts("http") {
        let server = Server::start();
        let mut tokens = Tokens::default();
        check(&path, &mut |input| {
            let answer = exchange(server.http(), &tokens.written_out(input));
            tokens.named(answer)
        });
    }
}

/// The text of a line of the query log is the client's own: sent again by `seine log replay`, it gets the reply that the script's own
/// text gets, whatever FACETs, functions and OPTIONs it has. Both are asked of what the script has left.
#[test]
fn replayed_logs_are_answered_as_the_scripts_own_statements() {
    let mut compared = 0;
    let mut different = String::new();
    for path in scripts("sql") {
        let text = fs::read_to_string(&path).unwrap();
        let folder = Folder::new();
        let log = folder.path("query.log");
        let setup = Setup::default().flag("--query-log", &log);
        let mut run = SqlRun::on(setup.start());
        let mut own = BTreeSet::new();
        for block in blocks(&text) {
            run.step(&block.input);
            let sql = match block.input.split_once(']') {
                Some((_, sql)) if block.input.starts_with('[') => sql,
                _ => &block.input,
            };
            let each = wire::sql::split(sql.as_bytes()).map(String::from_utf8_lossy);
            own.extend(each.map(|sql| plain(&sql).to_owned()));
        }
        run.connections.clear();
        own.insert(LAST.to_owned());
        let results = folder.path("results");
        replay(&run.server, &log, &results);
        let mut replayed = study::results::read(&fs::read_to_string(&results).unwrap()).unwrap();
        let mut client = run.server.client();
        let mut direct = Results::default();
        replayed
            .answers
            .retain(|answer| !reads_the_clock(&answer.query));
        for answer in &replayed.answers {
            let name = path.display();
            assert!(
                own.contains(plain(&answer.query)),
                "{name}: {}",
                answer.query
            );
            direct.answers.push(Answer {
                reply: reply(&mut client, &answer.query),
                ..answer.clone()
            });
        }
        let measures = study::results::compare(&replayed, &direct).unwrap();
        if !measures.is_same() {
            different += &format!("{}\n{measures}\n", path.display());
        }
        compared += direct.answers.len();
    }
    assert!(different.is_empty(), "{different}");
    assert!(compared > 500, "{compared}");
}

/// Whether the reply depends on the moment.
fn reads_the_clock(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    let names = [
        "current_timestamp",
        "now()",
        "curtime",
        "unix_timestamp()",
        "utc_time",
    ];
    names.iter().any(|name| sql.contains(name))
}

/// A statement without blanks and semicolon at its ends.
fn plain(sql: &str) -> &str {
    sql.trim().trim_end_matches(';').trim_end()
}

/// The last search of each log: what is before it is written when it is.
const LAST: &str = "SELECT n AS replayed_last FROM replayed_last";

/// Sends the log of a server to it again.
fn replay(server: &Server, log: &str, results: &str) {
    let mut client = server.client();
    client.query("CREATE TABLE replayed_last (n int)").unwrap();
    client.query(LAST).unwrap();
    until("the last line of the log", || {
        let written = fs::read(log).unwrap_or_default();
        let last = String::from_utf8_lossy(&written).contains("AS replayed_last");
        (last && written.ends_with(b"\n")).then_some(())
    });
    let output = clean_command()
        .args(["log", "replay", log, "--fast", "--addr", server.mysql()])
        .args(["--results", results])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The reply to a statement as a replay keeps it.
fn reply(client: &mut Client, sql: &str) -> Reply {
    let sets = match client.query_sets(sql) {
        Ok(sets) => sets,
        Err(ClientError::Server(error)) => {
            let (code, message) = (error.code, error.message);
            return Reply::Failed { code, message };
        }
        Err(error) => panic!("{sql}: {error}"),
    };
    let sets = sets.into_iter().map(|set| ReplySet {
        columns: set.columns.into_iter().map(|column| column.name).collect(),
        rows: set.rows,
    });
    let meta = client.query("SHOW META LIKE 'total_found'").unwrap();
    let found = meta.rows.first().and_then(|row| row[1].clone());
    let found = found.map(|cell| String::from_utf8(cell).unwrap().parse().unwrap());
    Reply::Rows(Rows::of_sets(&sets.collect::<Vec<_>>(), found))
}

fn scripts(kind: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts");
    let paths = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == kind))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are scripts");
    paths
}

/// Runs one script and compares, or rewrites it.
fn check(path: &Path, step: &mut dyn FnMut(&str) -> String) {
    let text = fs::read_to_string(path).unwrap();
    let mut got = String::new();
    for block in blocks(&text) {
        let output = step(&block.input);
        write!(got, "{}{}\n----\n{output}\n", block.remarks, block.input).unwrap();
        if !output.is_empty() {
            got.push('\n');
        }
    }
    if std::env::var_os("SEINE_UPDATE").is_some() {
        fs::write(path, got).unwrap();
    } else {
        compare(path, &blocks(&text), &blocks(&got));
    }
}

fn compare(path: &Path, want: &[Block], got: &[Block]) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for (want, got) in want.iter().zip(got) {
        assert_eq!(got.output, want.output, "{name}: {}", want.input);
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        let (mut remarks, mut input) = (String::new(), String::new());
        while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with('#')) {
            remarks.push_str(line);
            remarks.push('\n');
        }
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "----").collect();
        input.push_str(&body.join("\n"));
        let output: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        if !input.is_empty() {
            blocks.push(Block {
                remarks,
                input,
                output: output.join("\n"),
            });
        }
    }
    blocks
}

/// A server and the connections that a script has named.
struct SqlRun {
    server: Server,
    connections: BTreeMap<String, Client>,
}

impl SqlRun {
    fn new() -> SqlRun {
        SqlRun::on(Server::start())
    }

    fn on(server: Server) -> SqlRun {
        SqlRun {
            server,
            connections: BTreeMap::new(),
        }
    }

    fn step(&mut self, input: &str) -> String {
        let (name, rest) = match input
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            Some((name, rest)) => (name, rest.trim()),
            None => ("a", input),
        };
        match (name, rest) {
            ("server", "restart") => self.again(Server::stop_and_restart),
            ("server", "kill") => self.again(Server::kill_and_restart),
            (_, "close") => {
                drop(self.connections.remove(name));
                "ok".to_owned()
            }
            (_, sql) => {
                let server = &self.server;
                let client = self.connections.entry(name.to_owned());
                let client = client.or_insert_with(|| server.client());
                answer(client.query_sets(sql))
            }
        }
    }

    fn again(&mut self, how: fn(&mut Server)) -> String {
        self.connections.clear();
        how(&mut self.server);
        "ok".to_owned()
    }
}

fn answer(sets: Result<Vec<QueryResult>, ClientError>) -> String {
    let sets = match sets {
        Ok(sets) => sets,
        Err(ClientError::Server(error)) => {
            return format!(
                "error {} ({}): {}",
                error.code, error.sqlstate, error.message
            );
        }
        Err(error) => return format!("broken: {error}"),
    };
    let sets: Vec<String> = sets.iter().map(set).collect();
    sets.join("\n--\n")
}

fn set(result: &QueryResult) -> String {
    let warnings = match result.warnings {
        0 => String::new(),
        n => format!(", {n} warnings"),
    };
    if result.columns.is_empty() {
        return format!("ok, {} rows{warnings}", result.affected);
    }
    let header = result
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect::<Vec<_>>();
    let mut lines = vec![header.join(" | ") + &warnings];
    for row in &result.rows {
        let cells: Vec<String> = row.iter().map(|cell| shown(cell.as_deref())).collect();
        lines.push(steady(&cells.join(" | ")));
    }
    lines.join("\n")
}

fn shown(cell: Option<&[u8]>) -> String {
    match cell {
        None => "NULL".to_owned(),
        Some(bytes) => String::from_utf8_lossy(bytes).replace('\n', "\\n"),
    }
}

/// The line without what differs from run to run: times taken.
fn steady(line: &str) -> String {
    let mut out = line.to_owned();
    for (before, after) in [("time | ", ""), ("total | ", " sec"), ("\"took\":", "")] {
        let Some(start) = out.find(before).map(|at| at + before.len()) else {
            continue;
        };
        let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let end = start + out.bytes().skip(start).take_while(is_digit).count();
        if end > start && out[end..].starts_with(after) {
            out.replace_range(start..end, "…");
        }
    }
    out
}

/// Tokens of receipts differ from run to run: a script calls them `TOKEN1`, `TOKEN2`, … in the order in which they came.
#[derive(Default)]
struct Tokens(Vec<String>);

impl Tokens {
    fn written_out(&self, input: &str) -> String {
        let tokens = (1..).zip(&self.0);
        tokens.fold(input.to_owned(), |text, (number, token)| {
            text.replace(&format!("TOKEN{number}"), token)
        })
    }

    fn named(&mut self, answer: String) -> String {
        for part in answer.split("\"receipt\":\"").skip(1) {
            let token = part.split(['-', '"']).nth(2).unwrap_or_default();
            if !self.0.iter().any(|known| known == token) {
                self.0.push(token.to_owned());
            }
        }
        let tokens = (1..).zip(&self.0);
        tokens.fold(answer, |text, (number, token)| {
            text.replace(token, &format!("TOKEN{number}"))
        })
    }
}

/// One HTTP exchange: status and body.
fn exchange(address: &str, input: &str) -> String {
    let (head, body) = input.split_once("\n\n").unwrap_or((input, ""));
    let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
    let headers: String = headers
        .lines()
        .map(|header| format!("{header}\r\n"))
        .collect();
    let body = if body.is_empty() {
        String::new()
    } else {
        format!("{body}\n")
    };
    let (status, body) = request(address, line, &headers, body.as_bytes());
    format!("{status}\n{}", steady(body.trim_end()))
        .trim_end()
        .to_owned()
}
