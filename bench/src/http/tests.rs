use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    thread,
};

use super::{Http, JSON};
use crate::{Server, error::Error};

/// A server that reads requests with these bodies and answers with these bytes; gives its address.
fn answering(exchanges: &'static [(&str, &str)]) -> (Server, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        addr: listener.local_addr().unwrap().to_string(),
        user: "me".into(),
        password: "secret".into(),
    };
    let serve = move || {
        let (stream, _) = listener.accept().unwrap();
        let patience = std::time::Duration::from_secs(30);
        stream.set_read_timeout(Some(patience)).unwrap();
        let mut stream = BufReader::new(stream);
        let mut heads = Vec::new();
        for (body, answer) in exchanges {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(stream.read_line(&mut head).unwrap() > 0);
            }
            let mut sent = vec![0; body.len()];
            stream.read_exact(&mut sent).unwrap();
            assert_eq!(sent, body.as_bytes());
            heads.push(head);
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
        heads
    };
    (server, thread::spawn(serve))
}

#[test]
fn a_connection_is_kept_over_answers_of_both_kinds() {
    let (server, thread) = answering(&[
        ("{}", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"),
        (
            "[1]",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n",
        ),
        (
            "",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",
        ),
    ]);
    let mut http = Http::connect(&server).unwrap();
    assert_eq!(http.get("POST", "/a", JSON, b"{}").unwrap(), b"abc");
    assert_eq!(http.get("POST", "/b", JSON, b"[1]").unwrap(), b"def");
    let refused = http.get("GET", "/c", JSON, b"");
    assert!(matches!(refused, Err(Error::Http(told)) if told == "GET /c: 404 none"));
    let heads = thread.join().unwrap();
    assert!(heads[0].starts_with("POST /a HTTP/1.1\r\nHost: 127.0.0.1:"));
    assert!(heads[0].contains("Authorization: Basic bWU6c2VjcmV0\r\n"));
}

#[test]
fn an_answer_that_breaks_off_is_an_error() {
    let (server, thread) = answering(&[("", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")]);
    let mut http = Http::connect(&server).unwrap();
    assert!(matches!(http.get("GET", "/", JSON, b""), Err(Error::Io(_))));
    thread.join().unwrap();
}
