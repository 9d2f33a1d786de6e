use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use super::{Postgres, first_cell};
use crate::{Error, Server, queue::payload::Payload};

/// `kind`, length, body.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as i32 + 4).to_be_bytes();
    [&[kind][..], &length, body].concat()
}

fn row(cell: &str) -> Vec<u8> {
    let length = (cell.len() as i32).to_be_bytes();
    [&[0, 1][..], &length, cell.as_bytes()].concat()
}

fn body(stream: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut body = vec![0; i32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body).unwrap();
    body
}

/// Greets, and answers each Sync with the next of `answers`. Gives the names of the statements bound before each Sync.
fn serve(listener: &TcpListener, answers: &[Vec<u8>]) -> Vec<String> {
    let (mut stream, _) = listener.accept().unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    body(&mut stream);
    let greeting = [message(b'R', &[0; 4]), message(b'Z', b"I")].concat();
    stream.write_all(&greeting).unwrap();
    let mut all = Vec::new();
    for answer in answers {
        let mut bound = Vec::new();
        loop {
            let mut kind = [0];
            stream.read_exact(&mut kind).unwrap();
            let body = body(&mut stream);
            match kind[0] {
                b'S' => break,
                // The portal's name, which is empty, then the statement's.
                b'B' => bound.push(text(body.split(|byte| *byte == 0).nth(1).unwrap())),
                _ => {}
            }
        }
        all.push(bound.join(" "));
        let answer = [answer.clone(), message(b'Z', b"I")].concat();
        stream.write_all(&answer).unwrap();
    }
    all
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What `ask` gives, and the statements that each of its writes ran, against a server with these answers.
fn against<T>(
    answers: Vec<Vec<u8>>,
    ask: impl AsyncFnOnce(&mut Postgres) -> T,
) -> (T, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        addr: listener.local_addr().unwrap().to_string(),
        user: "root".to_owned(),
        password: String::new(),
    };
    let serving = thread::spawn(move || serve(&listener, &answers));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let given = runtime.block_on(async {
        let mut link = Postgres::connect(&server).await.unwrap();
        ask(&mut link).await
    });
    (given, serving.join().unwrap())
}

#[test]
fn a_row_is_acknowledged_with_the_next_take_or_the_next_put() {
    let taken = |value: &str| message(b'D', &row(value));
    let nothing = Vec::new;
    let answers = vec![
        nothing(),
        taken("7"),
        taken("8"),
        nothing(),
        taken("9"),
        nothing(),
    ];
    let (values, ran) = against(answers, async |link| {
        let first = link.next().await.unwrap();
        let second = link.next().await.unwrap();
        let one = std::iter::once(5);
        link.put(one, Payload::default()).await.unwrap();
        let third = link.next().await.unwrap();
        link.finish().await.unwrap();
        [first, second, third]
    });
    assert_eq!(values, [7, 8, 9]);
    let expected = [
        "",
        "begin take",
        "commit begin take",
        "put commit",
        "begin take",
        "commit",
    ];
    assert_eq!(ran, expected);
}

#[test]
fn a_consumer_without_a_row_ends_its_transaction_and_asks_again() {
    let answers = vec![Vec::new(), Vec::new(), message(b'D', &row("3"))];
    let (value, ran) = against(answers, async |link| link.next().await.unwrap());
    assert_eq!(value, 3);
    assert_eq!(ran, ["", "begin take", "commit begin take"]);
}

#[test]
fn a_refused_statement_is_an_error_with_the_servers_text() {
    let refused = message(b'E', b"SERROR\0C42P01\0Mno table\0\0");
    let (given, _) = against(vec![Vec::new(), refused], async |link| link.next().await);
    assert!(
        matches!(&given, Err(Error::Peer(why)) if why.contains("no table")),
        "{given:?}"
    );
}

#[test]
fn a_row_cut_short_is_an_error() {
    let whole = row("12");
    assert_eq!(first_cell(&whole).unwrap(), 12);
    for end in 0..whole.len() {
        assert!(first_cell(&whole[..end]).is_err(), "{end} bytes");
    }
}
