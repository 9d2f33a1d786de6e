//! Messages over HTTP, and clients that follow a category.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::collect::{files, wait_for};
use crate::server::{
    Folder, SEINE, Server, Setup, clean_command, request, request_with_headers, until,
};

fn post(server: &Server, path: &str, body: &[u8]) -> (u16, String) {
    let head = format!("POST /collect/{path}");
    request(server.http(), &head, "", body)
}

/// The bytes of the files of a category, once they have this many.
fn stored(server: &Server, category: &str, bytes: usize) -> Vec<u8> {
    let folder = server.folder().0.join("data/collected").join(category);
    until("the files have all bytes", || {
        let files = files(&folder, category);
        let text: Vec<u8> = files
            .iter()
            .flat_map(|path| std::fs::read(path).unwrap())
            .collect();
        (text.len() >= bytes).then_some(text)
    })
}

#[test]
fn bytes_of_any_kind_are_kept_as_they_came() {
    let server = Server::start();
    let (status, body) = post(&server, "odd", b"a\0b\n\xff\xfe\n\nlast");
    assert_eq!((status, &*body), (200, "{\"messages\":4}"));
    assert_eq!(stored(&server, "odd", 13), b"a\0b\n\xff\xfe\n\nlast\n");
    let large = vec![b'x'; (64 << 20) - 1];
    let (status, body) = post(&server, "large", &large);
    assert_eq!((status, &*body), (200, "{\"messages\":1}"));
    assert_eq!(
        stored(&server, "large", 64 << 20),
        [&large[..], b"\n"].concat()
    );
}

#[test]
fn a_packed_body_is_unpacked_within_its_bound() {
    let server = Server::start();
    let packed = |bytes: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let send = |body: &[u8]| {
        let head = "POST /collect/web";
        request(server.http(), head, "Content-Encoding: gzip\r\n", body)
    };
    let (status, body) = send(&packed(b"one\ntwo\n"));
    assert_eq!((status, &*body), (200, "{\"messages\":2}"));
    assert_eq!(stored(&server, "web", 8), b"one\ntwo\n");
    assert_eq!(send(b"no gzip").0, 400);
    for encoding in ["zstd", "deflate", "br", "gzip, gzip"] {
        let header = format!("Content-Encoding: {encoding}\r\n");
        let (status, body) = request(server.http(), "POST /collect/web", &header, b"x\n");
        assert!(
            status == 415 && body.contains("gzip and identity are read"),
            "{encoding}: {status} {body}"
        );
    }
    let plain = request(
        server.http(),
        "POST /collect/web",
        "Content-Encoding: identity\r\n",
        b"three\n",
    );
    assert_eq!(plain.0, 200);
    assert_eq!(stored(&server, "web", 14), b"one\ntwo\nthree\n");
    let bomb = packed(&vec![b'x'; 200 << 20]);
    assert!(bomb.len() < 1 << 20);
    assert_eq!(send(&bomb).0, 413);
}

/// A server with this configuration of Scribe.
fn configured(conf: &str) -> Server {
    let folder = Folder::new();
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let path = folder.path("scribe.conf");
    Setup::default()
        .flag("--scribe-config", &path)
        .start_in(folder)
}

#[test]
fn a_category_without_a_store_is_told_and_counted() {
    let server = configured("<store>\ncategory=web\ntype=null\n</store>\n");
    assert_eq!(post(&server, "web", b"x\n").0, 200);
    let (status, body) = post(&server, "mail", b"x\ny\n");
    assert_eq!(status, 404);
    assert!(
        body.contains("no_store") && body.contains("'mail'"),
        "{body}"
    );
    let (status, body) = request(server.http(), "GET /tail/mail", "", b"");
    assert!(
        status == 404 && body.contains("no_store"),
        "{status} {body}"
    );
    let counters = crate::collect::ctl(&server, "counters");
    assert!(counters.contains("mail:received bad: 2"), "{counters}");
}

#[test]
fn a_store_with_add_newlines_ends_a_line_of_this_door_once() {
    let folder = Folder::new();
    let path = folder.path("lines");
    let file = format!("type=file\nadd_newlines=1\nfile_path={path}\n");
    let conf = format!("<store>\ncategory=default\n{file}</store>\n");
    let server = configured(&conf);
    assert_eq!(post(&server, "web", b"one\n\ntwo").0, 200);
    assert_eq!(post(&server, "web?whole=1", b"a\nb\n").0, 200);
    until("the file has all lines", || {
        let files = files(&folder.0.join("lines/web"), "web");
        let text = files.iter().flat_map(|path| std::fs::read(path).unwrap());
        (text.collect::<Vec<u8>>() == b"one\n\ntwo\na\nb\n").then_some(())
    });
}

#[test]
fn what_cannot_be_taken_now_is_503_and_taken_later() {
    let server =
        configured("max_msg_per_second=10\n<store>\ncategory=default\ntype=null\n</store>\n");
    let later = until("the rate is passed", || {
        let head = "POST /collect/web";
        let (status, headers, _) = request_with_headers(server.http(), head, "", b"x\n");
        (status == 503).then_some(headers)
    });
    assert!(later.contains("retry-after: 1"), "{later}");
    wait_for("a later second takes it", || {
        post(&server, "web", b"x\n").0 == 200
    });
}

#[test]
fn rows_of_tables_have_the_clients_address_and_one_call_fills_them_or_nothing() {
    let server =
        configured("<store>\ncategory=web\ntype=index\ntable=logs\nhost_column=host\n</store>\n");
    assert_eq!(post(&server, "web", b"a cat\na dog\n").0, 200);
    let mut sql = server.client();
    let rows = sql
        .query("SELECT body, host FROM logs WHERE MATCH('cat')")
        .unwrap()
        .rows;
    let text = |cell: &Option<Vec<u8>>| String::from_utf8(cell.clone().unwrap()).unwrap();
    assert_eq!(
        rows[0].iter().map(text).collect::<Vec<_>>(),
        ["a cat", "127.0.0.1"]
    );
    sql.query("DROP TABLE logs").unwrap();
    assert_eq!(post(&server, "web", b"x\n").0, 503);
}

/// A running `seine tail`.
struct Tail(Child, BufReader<ChildStdout>);

impl Tail {
    fn start(server: &Server, arguments: &[&str]) -> Tail {
        let mut child = clean_command()
            .args(["tail", "--addr", server.http()])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Tail(child, out)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends markers until the follower shows one: it follows from then on.
fn until_following(server: &Server, category: &str, tail: &mut Tail) {
    let (address, category) = (server.http().to_owned(), category.to_owned());
    let is_there = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = std::sync::Arc::clone(&is_there);
    let sender = std::thread::spawn(move || {
        while !told.load(std::sync::atomic::Ordering::Relaxed) {
            let head = format!("POST /collect/{category}");
            request(&address, &head, "", b"marker\n");
        }
        let head = format!("POST /collect/{category}");
        request(&address, &head, "", b"marker end\n");
    });
    assert!(tail.line().contains("marker"));
    is_there.store(true, std::sync::atomic::Ordering::Relaxed);
    sender.join().unwrap();
    while !tail.line().contains("end") {}
}

#[test]
fn a_category_is_followed_live_and_the_end_of_the_server_is_told() {
    let mut server = Server::start();
    let mut all = Tail::start(&server, &["we*"]);
    let mut json = Tail::start(&server, &["web", "--json"]);
    until_following(&server, "web", &mut all);
    until_following(&server, "web", &mut json);
    while all.line() != "web\tmarker end" {}
    post(&server, "web", b"one\n");
    post(&server, "mail", b"two\n");
    post(&server, "wefts", b"three\n");
    assert_eq!([all.line(), all.line()], ["web\tone", "wefts\tthree"]);
    let mut behind_markers = || loop {
        let line = json.line();
        if !line.contains("marker") {
            break line;
        }
    };
    assert_eq!(
        behind_markers(),
        "{\"category\":\"web\",\"message\":\"one\"}"
    );
    assert!(server.terminate().success());
    let status = all.0.wait().unwrap();
    let mut told = String::new();
    all.0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(told.contains("the server has ended the stream"), "{told}");
}

#[test]
fn a_match_shows_exactly_the_messages_that_call_pq_finds() {
    let server = Server::start();
    let words = ["cat", "dog", "big", "red"];
    let texts: Vec<String> = (0..256_usize)
        .map(|number| {
            let word = |place: usize| words[(number >> (2 * place)) % 4];
            format!("{} {} {} {}", word(0), word(1), word(2), word(3))
        })
        .collect();
    let mut sql = server.client();
    sql.query("CREATE TABLE asked (line text) type='pq'")
        .unwrap();
    for query in [
        "cat -dog",
        "\"big cat\" | \"red dog\"",
        "cat NEAR/1 red",
        "^big re*",
        "dog << cat",
    ] {
        let mut tail = Tail::start(&server, &["web", "--match", &format!("({query}) | marker")]);
        until_following(&server, "web", &mut tail);
        post(
            &server,
            "web",
            (texts.join("\n") + "\nmarker over\n").as_bytes(),
        );
        let mut shown = Vec::new();
        loop {
            let line = tail.line().replace('*', "");
            if line == "marker over" {
                break;
            }
            shown.push(line);
        }
        sql.query("DELETE FROM asked WHERE id > 0").unwrap();
        sql.query(&format!(
            "INSERT INTO asked (id, query) VALUES (1, '{query}')"
        ))
        .unwrap();
        let found = texts.iter().filter(|text| {
            let call = format!("CALL PQ('asked', '{text}', 0 AS docs_json)");
            !sql.query(&call).unwrap().rows.is_empty()
        });
        let wanted: Vec<String> = found.cloned().collect();
        assert!(!wanted.is_empty() && wanted.len() < 256, "{query}");
        assert_eq!(shown, wanted, "{query}");
    }
}

#[test]
fn a_follower_that_does_not_read_holds_nobody_back_and_is_told_what_it_missed() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.http()).unwrap();
    stream
        .write_all(b"GET /tail/web HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    reader.read_line(&mut head).unwrap();
    assert!(head.contains("200"), "{head}");
    let line = vec![b'x'; 999];
    let body = [&line[..], b"\n"].concat().repeat(4_000);
    for _ in 0..8 {
        assert_eq!(post(&server, "web", &body).0, 200);
    }
    let (mut shown, mut skipped) = (0, 0);
    while shown + skipped < 32_000 {
        let mut line = String::new();
        assert!(
            reader.read_line(&mut line).unwrap() > 0,
            "{shown} shown, {skipped} skipped"
        );
        // A line may be cut by the head of a chunk.
        shown += line.matches("\"category\"").count();
        if let Some((_, count)) = line.split_once("{\"skipped\":") {
            skipped += count
                .trim_end()
                .trim_end_matches('}')
                .parse::<usize>()
                .unwrap();
        }
    }
    assert_eq!(shown + skipped, 32_000);
    assert!(skipped > 10_000, "{skipped}");
}

#[test]
fn a_follower_that_is_gone_gives_its_place_to_the_next() {
    let server = Server::start();
    let follow = || {
        let mut stream = TcpStream::connect(server.http()).unwrap();
        let request = b"GET /tail/web HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(request).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (stream, status.ends_with(b"200"))
    };
    let mut all: Vec<_> = (0..32).map(|_| follow()).collect();
    assert!(all.iter().all(|(_, is_followed)| *is_followed));
    assert!(!follow().1);
    all.truncate(31);
    wait_for("the place is free", || follow().1);
}

#[test]
fn tail_tells_a_server_that_is_not_there_and_a_query_that_is_none() {
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(SEINE)
            .args(arguments)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, told) = run(&["tail", "--addr", "127.0.0.1:1", "web"]);
    assert!(code == Some(1) && told.contains("127.0.0.1:1"), "{told}");
    let (code, told) = run(&["tail", "--match", "a \"b", "web"]);
    assert!(
        code == Some(1) && told.contains("unclosed quote at byte 2"),
        "{told}"
    );
}

#[test]
fn a_read_only_server_takes_no_messages_and_a_name_of_other_bytes_is_no_category() {
    let mut server = Server::start();
    assert_eq!(post(&server, "%ff", b"x\n").0, 400);
    assert_eq!(post(&server, "web", b"x\n").0, 200);
    assert!(server.terminate().success());
    server.restart_as(Setup::default().variable("SEINE_READ_ONLY", "true"));
    let (status, body) = post(&server, "web", b"x\n");
    assert!(
        status == 503 && body.contains("read_only"),
        "{status} {body}"
    );
}

#[test]
fn bytes_that_are_no_text_are_shown_and_a_closed_output_ends_without_an_error() {
    let server = Server::start();
    let mut tail = Tail::start(&server, &["web"]);
    until_following(&server, "web", &mut tail);
    post(&server, "web", b"a\xffb\n");
    assert_eq!(tail.line(), "a\u{fffd}b");
    let mut child = clean_command()
        .args(["tail", "--addr", server.http(), "web"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = until("the next message ends it", || {
        post(&server, "web", b"x\n");
        child.try_wait().unwrap()
    });
    assert!(status.success(), "{status}");
}
