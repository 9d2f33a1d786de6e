use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;

use wire::mysql::{
    Authenticator, Capabilities, ColumnDefinition, Command, Credential, Done, Encoder, Greeting,
    HandshakeResponse, Nonce, PacketReader, Plugin, STATUS_AUTOCOMMIT, STATUS_MORE_RESULTS, Step,
};

use super::*;

/// The server's end of one connection: logs the client in, then answers each statement by the script.
struct Peer<S> {
    stream: S,
    reader: PacketReader,
    encoder: Encoder,
}

impl<S: Read + Write> Peer<S> {
    /// The next packet, or `None` at the connection's end.
    fn fetch(&mut self) -> Option<(u8, Vec<u8>)> {
        while !self.reader.advance().unwrap() {
            let count = self.stream.read(self.reader.spare()).unwrap();
            self.reader.filled(count);
            if count == 0 {
                return None;
            }
        }
        let packet = self.reader.packet();
        Some((packet.sequence, packet.payload.to_vec()))
    }

    fn send(&mut self) {
        self.stream.write_all(self.encoder.bytes()).unwrap();
        self.encoder.clear();
    }

    /// Serves until the client goes. The password is `secret`; the plugin is `plugin`.
    fn serve(stream: S, plugin: Plugin, old: bool) {
        let mut capabilities = Capabilities::SERVER;
        if old {
            capabilities = Capabilities(capabilities.0 & !Capabilities::DEPRECATE_EOF.0);
        }
        let greeting = Greeting {
            version: "8.0.40".to_owned(),
            connection_id: 1,
            nonce: Nonce::from_random([7; 20]),
            capabilities,
            charset: 45,
            status: STATUS_AUTOCOMMIT,
            plugin,
        };
        let encoder = Encoder::new(capabilities);
        let reader = PacketReader::default();
        let mut peer = Peer {
            stream,
            reader,
            encoder,
        };
        greeting.encode(peer.encoder.packets());
        peer.send();
        let (sequence, payload) = peer.fetch().unwrap();
        let response = HandshakeResponse::decode(&payload).unwrap();
        peer.encoder.start(sequence + 1);
        let (_, step) = Authenticator::begin(
            greeting.nonce,
            plugin,
            Credential::Password("secret".to_owned()),
            response.plugin.as_deref(),
            &response.auth,
            peer.encoder.packets(),
        );
        if step != Step::Welcome {
            peer.encoder.error(1045, b"28000", "access denied");
            return peer.send();
        }
        peer.encoder.ok(&Done::default());
        peer.send();
        while let Some((sequence, payload)) = peer.fetch() {
            peer.encoder.start(sequence.wrapping_add(1));
            match Command::decode(&payload, capabilities).unwrap() {
                Command::Quit => return,
                Command::Query(text) => peer.answer(text),
                _ => peer.encoder.ok(&Done::default()),
            }
            peer.send();
        }
    }

    fn answer(&mut self, text: &[u8]) {
        let encoder = &mut self.encoder;
        match text {
            b"rows" => rows(encoder, 1000, STATUS_AUTOCOMMIT),
            b"two" => {
                rows(encoder, 2, STATUS_AUTOCOMMIT | STATUS_MORE_RESULTS);
                encoder.ok(&Done {
                    affected: 5,
                    warnings: 1,
                    ..Done::default()
                });
            }
            b"midway" => {
                encoder.columns(&[ColumnDefinition::bigint("n")]);
                encoder.error(1317, b"70100", "interrupted");
            }
            b"nonsense" => {
                encoder.text("\u{1}");
                encoder.text("\u{9}no column");
            }
            text if text.starts_with(b"long") => {
                encoder.columns(&[ColumnDefinition::text("text")]);
                encoder.row_begin();
                encoder.row_bytes(text);
                encoder.row_end();
                encoder.end_rows(STATUS_AUTOCOMMIT, 0);
            }
            _ => encoder.error(1064, b"42000", "syntax error"),
        }
    }
}

fn rows(encoder: &mut Encoder, count: u64, status: u16) {
    encoder.columns(&[ColumnDefinition::id("id"), ColumnDefinition::text("word")]);
    for number in 0..count {
        encoder.row_begin();
        encoder.row_u64(number);
        match number % 2 {
            0 => encoder.row_bytes(b"even"),
            _ => encoder.row_null(),
        }
        encoder.row_end();
    }
    encoder.end_rows(status, 3);
}

/// The address of a server for one connection.
fn server(plugin: Plugin, old: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    thread::spawn(move || Peer::serve(listener.accept().unwrap().0, plugin, old));
    addr
}

fn connected() -> Client {
    Client::connect(&server(Plugin::CachingSha2, false), "root", "secret").unwrap()
}

#[test]
fn rows_arrive_whole_and_one_by_one() {
    for (plugin, old) in [(Plugin::CachingSha2, false), (Plugin::Native, true)] {
        let mut client = Client::connect(&server(plugin, old), "root", "secret").unwrap();
        let whole = client.query("rows").unwrap();
        assert_eq!(whole.columns[1].name, "word");
        assert_eq!((whole.rows.len(), whole.warnings), (1000, 3));
        assert_eq!(
            whole.rows[998],
            [Some(b"998".to_vec()), Some(b"even".to_vec())]
        );
        assert_eq!(whole.rows[999], [Some(b"999".to_vec()), None]);
        let mut seen: Vec<Vec<Option<Vec<u8>>>> = Vec::new();
        let summary = client
            .query_rows("rows", &mut |cells| {
                seen.push(cells.iter().map(|cell| cell.map(<[u8]>::to_vec)).collect());
            })
            .unwrap();
        assert_eq!((summary.rows, summary.warnings), (1000, 3));
        assert_eq!(seen, whole.rows);
    }
}

#[test]
fn results_of_several_statements_are_read_to_the_end() {
    let mut client = connected();
    let both = client.query("two").unwrap();
    assert_eq!((both.rows.len(), both.affected, both.warnings), (2, 5, 1));
    client.ping().unwrap();
}

#[test]
fn a_refused_statement_leaves_the_connection_in_order() {
    let mut client = connected();
    for (text, code) in [("unknown", 1064), ("midway", 1317)] {
        match client.query(text) {
            Err(ClientError::Server(error)) => assert_eq!(error.code, code),
            other => panic!("{other:?}"),
        }
        assert_eq!(client.query("rows").unwrap().rows.len(), 1000);
    }
}

#[test]
fn nonsense_ends_the_connection() {
    let mut client = connected();
    let first = client.query("nonsense").unwrap_err();
    assert_eq!(first.to_string(), "protocol: schema");
    let second = client.query("rows").unwrap_err().to_string();
    assert_eq!(second, "protocol: the connection broke earlier");
}

#[test]
fn a_wrong_password_is_the_servers_error() {
    let addr = server(Plugin::CachingSha2, false);
    match Client::connect(&addr, "root", "wrong") {
        Err(ClientError::Server(error)) => assert_eq!(error.code, 1045),
        other => panic!("{other:?}"),
    }
}

#[test]
fn packets_longer_than_a_frame_go_both_ways() {
    let mut client = connected();
    let text = "long".repeat(5 << 20);
    let answer = client.query(&text).unwrap();
    assert!(
        answer.rows[0][0].as_deref() == Some(text.as_bytes()),
        "20 MiB come back"
    );
}

#[test]
fn a_unix_socket_serves_as_well() {
    let path = std::env::temp_dir().join(format!("seine-client-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let served = thread::spawn(move || {
        Peer::serve(listener.accept().unwrap().0, Plugin::CachingSha2, false);
    });
    let addr = format!("unix:{}", path.display());
    Client::connect(&addr, "root", "secret")
        .unwrap()
        .ping()
        .unwrap();
    served.join().unwrap();
    std::fs::remove_file(&path).unwrap();
}
