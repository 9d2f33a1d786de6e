//! `seine load`: what is good is stored, what is bad is told with its line.

use std::process::Output;

use crate::server::{Folder, Server, clean_command};

fn load(server: &Server, table: &str, name: &str, text: &str) -> Output {
    let folder = Folder::new();
    let file = folder.0.join(name);
    std::fs::write(&file, text).unwrap();
    let mut command = clean_command();
    command.args(["load", table, name, "--addr", server.mysql()]);
    command.current_dir(&folder.0).output().unwrap()
}

fn count(server: &Server, table: &str) -> String {
    let answer = server
        .client()
        .query(&format!("SELECT COUNT(*) FROM {table}"))
        .unwrap();
    String::from_utf8(answer.rows[0][0].clone().unwrap()).unwrap()
}

#[test]
fn standing_queries_come_from_csv_and_bad_ones_are_told_by_line_and_byte() {
    let server = Server::start();
    server
        .client()
        .query("CREATE TABLE alerts (body text, sub text, price int) type='pq'")
        .unwrap();
    let text = "id,query,tags,filters\n\
                1,google -maps,web,\n\
                2,\"\"\"star wars\"\"\",\"film,war\",price > 5\n\
                3,(open,,\n\
                4,@nothing word,,\n\
                5,good,,nonsense >\n\
                6,this AND that,,\n\
                7,,,price > 7\n\
                8,,,\n";
    let output = load(&server, "alerts", "queries.csv", text);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for wanted in [
        "queries.csv:4: query: unclosed bracket at byte 0",
        "queries.csv:5: query: no field 'nothing' found in schema",
        "queries.csv:6: ",
        "warning, 1 times, first at queries.csv:7: AND is searched as a word",
        "2 queries have no word that must be there",
        "5 rows stored",
        "3 refused",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is not in {said}");
    }
    assert_eq!(count(&server, "alerts"), "5");
    let again = load(&server, "alerts", "queries.csv", text);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(count(&server, "alerts"), "5");
}

#[test]
fn documents_come_from_ndjson() {
    let server = Server::start();
    server
        .client()
        .query("CREATE TABLE posts (body text, n int, at timestamp)")
        .unwrap();
    let mut text = String::new();
    for id in 1..=2_500 {
        text += &format!("{{\"id\":{id},\"body\":\"it's \\\\ {id}\",\"n\":{id}}}\n");
    }
    text += "{\"id\":9001,\"body\":\"late\",\"at\":\"2026-01-01T00:00:00Z\"}\n";
    let output = load(&server, "posts", "posts.ndjson", &text);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(count(&server, "posts"), "2501");
    // With ids a second load replaces; it does not go on where the first ended.
    let again = load(&server, "posts", "posts.ndjson", &text);
    assert!(
        String::from_utf8(again.stdout)
            .unwrap()
            .contains("2,501 rows stored")
    );
    assert_eq!(count(&server, "posts"), "2501");
    let row = server
        .client()
        .query("SELECT body FROM posts WHERE id = 2500")
        .unwrap();
    assert_eq!(row.rows[0][0].as_deref(), Some(&b"it's \\ 2500"[..]));
}

#[test]
fn a_wrong_first_line_ends_the_load_after_a_hundred_rows() {
    let server = Server::start();
    let create = "CREATE TABLE posts (body text, n int)";
    server.client().query(create).unwrap();
    let rows = |bad: usize| {
        let lines = (0..5_000).map(|row| match row < bad {
            true => format!("a row,n{row}\n"),
            false => format!("a row,{row}\n"),
        });
        lines.collect::<String>()
    };
    let wrong = format!("bodi,n\n{}", rows(0));
    let output = load(&server, "posts", "wrong.csv", &wrong);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("the first 100 rows were refused for the same reason, so no more were read")
            && told.contains("no column 'bodi' in table 'posts', did you mean body?"),
        "{told}"
    );
    assert!(!told.contains("not done"), "{told}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("0 rows stored") && told.contains("100 "),
        "{told}"
    );
    assert_eq!(count(&server, "posts"), "0");
    // Rows with fewer cells than the first line has names are refused here.
    let short = format!("body,n\n{}", "one cell\n".repeat(5_000));
    let output = load(&server, "posts", "short.csv", &short);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the first 100 rows were refused"), "{told}");
    // Rows that are refused for reasons of their own, even if they come first, do not end the load.
    let output = load(
        &server,
        "posts",
        "some.csv",
        &format!("body,n\n{}", rows(150)),
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(count(&server, "posts"), "4850");
}

#[test]
fn what_the_server_refuses_is_kept_aside_and_the_rest_is_loaded_in_order() {
    let server = Server::start();
    let create = "CREATE TABLE posts (body text, n int)";
    server.client().query(create).unwrap();
    let mut text = String::new();
    for row in 0..3_000 {
        let n = if row % 700 == 5 {
            "\"many\"".to_owned()
        } else {
            row.to_string()
        };
        text += &format!(
            "{{\"id\":{},\"body\":\"row {row}\",\"n\":{n}}}\n",
            row % 1_000 + 1
        );
    }
    text += "no json\n";
    let folder = Folder::new();
    std::fs::write(folder.0.join("posts.ndjson"), &text).unwrap();
    let mut command = clean_command();
    command.args(["load", "posts", "posts.ndjson", "--addr", server.mysql()]);
    let output = command.current_dir(&folder.0).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    for line in [6, 706, 1406, 2106, 2806, 3001] {
        assert!(said.contains(&format!("posts.ndjson:{line}: ")), "{said}");
    }
    assert!(
        said.contains("2,995 rows stored") && said.contains("6 refused"),
        "{said}"
    );
    let aside = std::fs::read_to_string(folder.0.join("posts.ndjson.rejected")).unwrap();
    assert_eq!(aside.lines().count(), 6);
    assert!(aside.lines().any(|line| line == "no json"), "{aside}");
    // Of rows with one id the last of the file stays.
    let answer = server
        .client()
        .query("SELECT id, n FROM posts LIMIT 1000")
        .unwrap();
    assert_eq!(answer.rows.len(), 1_000);
    let number = |cell: &Option<Vec<u8>>| -> u64 {
        String::from_utf8(cell.clone().unwrap())
            .unwrap()
            .parse()
            .unwrap()
    };
    for row in &answer.rows {
        let (id, n) = (number(&row[0]), number(&row[1]));
        let last = if (id - 1 + 2_000) % 700 == 5 {
            id - 1 + 1_000
        } else {
            id - 1 + 2_000
        };
        assert_eq!(n, last, "id {id}");
    }
}

#[test]
fn queues_and_packed_files_and_plain_lines_are_loaded() {
    use std::io::Write;
    let server = Server::start();
    let create = "CREATE TABLE jobs (note varchar(20), n int) ENGINE=queue";
    server.client().query(create).unwrap();
    let folder = Folder::new();
    let file = std::fs::File::create(folder.0.join("jobs.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(b"note,n\n\"a, b\",1\nc,\n").unwrap();
    packed.finish().unwrap();
    std::fs::write(folder.0.join("more.txt"), "one\ntwo\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = clean_command();
        command.args(arguments).args(["--addr", server.mysql()]);
        let output = command.current_dir(&folder.0).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    };
    run(&["load", "jobs", "jobs.csv.gz"]);
    run(&["load", "jobs", "more.txt", "--lines", "note"]);
    let answer = server.client().query("SELECT note, n FROM jobs").unwrap();
    let cell = |cell: &Option<Vec<u8>>| cell.clone().map(|bytes| String::from_utf8(bytes).unwrap());
    let rows: Vec<_> = answer
        .rows
        .iter()
        .map(|row| (cell(&row[0]), cell(&row[1])))
        .collect();
    let row = |note: &str, n: Option<&str>| (Some(note.to_owned()), n.map(str::to_owned));
    assert_eq!(
        rows,
        [
            row("a, b", Some("1")),
            row("c", None),
            row("one", None),
            row("two", None)
        ]
    );
}

#[test]
fn a_load_that_cannot_begin_says_why() {
    let server = Server::start();
    let output = load(&server, "nothing", "a.csv", "id\n1\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1146"));
    let output = load(&server, "nothing", "a.unknown", "");
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("--format")
    );
}

#[test]
fn interrupted_loads_above_the_limit_are_refused_until_some_are_forgotten() {
    let server = Server::start();
    server.client().query("CREATE TABLE posts (n int)").unwrap();
    let mut client = server.client();
    let mut put = |load: u64| {
        let mut cells = wire::mysql::load::LoadCells::default();
        cells.int(1);
        let part = wire::mysql::load::LoadPart {
            from: 0,
            to: 1,
            replace: false,
            follows: false,
        };
        let columns = ["n".to_owned()];
        let rows = (1, cells.between(0, cells.len()));
        client
            .post(|out| wire::mysql::load::put(out, ("posts", load), part, &columns, rows))
            .unwrap();
        client.taken().is_ok()
    };
    assert!((1..=256).all(&mut put));
    assert!(!put(257));
    let refused = load(&server, "posts", "posts.ndjson", "{\"n\":1}\n");
    let why = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{why}");
    assert!(why.contains("--forget"), "{why}");
    let mut forget = clean_command();
    forget.args(["load", "posts", "--forget", "--addr", server.mysql()]);
    let forgotten = forget.output().unwrap();
    assert_eq!(forgotten.status.code(), Some(0), "{forgotten:?}");
    let said = String::from_utf8(forgotten.stdout).unwrap();
    assert!(said.contains("256 interrupted loads"), "{said}");
    let loaded = load(&server, "posts", "posts.ndjson", "{\"n\":1}\n");
    assert_eq!(loaded.status.code(), Some(0), "{loaded:?}");
    assert_eq!(count(&server, "posts"), "257");
}
