//! A small HTTP server that keeps the requests and gives the answers that a test sets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longer than any test should take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) enum Answer {
    Status(u16),
    /// 307 to this address.
    Redirect(String),
    /// The connection stays open without a byte.
    Never,
}

/// One request.
pub(super) struct Received {
    pub(super) request: String,
    /// The headers' lines, names in lower case.
    pub(super) head: String,
    pub(super) body: String,
}

impl Received {
    #[track_caller]
    pub(super) fn header(&self, name: &str) -> String {
        let mut lines = self.head.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value
            .unwrap_or_else(|| panic!("no {name} in {}", self.head))
            .to_owned()
    }
}

pub(super) struct Target {
    pub(super) address: String,
    received: Receiver<Received>,
    connections: Arc<AtomicUsize>,
}

impl Target {
    /// `answer` is given the request's number, from 0.
    pub(super) fn start(mut answer: impl FnMut(usize) -> Answer + Send + 'static) -> Target {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, received) = channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let number = counted.fetch_add(1, Ordering::SeqCst);
                open.extend(serve(stream.unwrap(), answer(number), &sender));
            }
        });
        Target {
            address,
            received,
            connections,
        }
    }

    /// The next request.
    #[track_caller]
    pub(super) fn next(&self) -> Received {
        self.received.recv_timeout(PATIENCE).unwrap()
    }

    /// How many requests there were.
    pub(super) fn count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Whether no request is left that a test has not taken.
    pub(super) fn is_quiet(&self) -> bool {
        self.received.try_recv().is_err()
    }
}

/// Serves one request of a connection. Returns the connection if it stays open.
fn serve(stream: TcpStream, answer: Answer, sender: &Sender<Received>) -> Option<TcpStream> {
    let received = read(&stream)?;
    let head = match answer {
        Answer::Never => None,
        Answer::Status(status) => Some(format!("{status} So\r\n")),
        Answer::Redirect(address) => Some(format!("307 So\r\nLocation: http://{address}/\r\n")),
    };
    // The test may have ended.
    let _ = sender.send(received);
    let Some(head) = head else {
        return Some(stream);
    };
    let reply = format!("HTTP/1.1 {head}Connection: close\r\nContent-Length: 0\r\n\r\n");
    // The sender may have been killed.
    let _ = (&stream).write_all(reply.as_bytes());
    None
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let mut head = String::new();
    let mut bytes = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let (name, value) = match line.trim_end().split_once(": ") {
            Some((name, value)) => (name.to_lowercase(), value),
            None => break,
        };
        if name == "content-length" {
            bytes = value.parse().ok()?;
        }
        head.push_str(&format!("{name}: {value}\n"));
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        request: request.trim_end().to_owned(),
        head,
        body: String::from_utf8(body).ok()?,
    })
}
