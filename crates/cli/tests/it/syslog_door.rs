//! The syslog door over real sockets: what senders send, and what is in the files of categories.

mod hostile;
mod pressure;

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::process::Signal;

use crate::collect::wait_for;
use crate::scribe_door::{lines_of, text_of};
use crate::server::{Folder, Server, Setup, number};

/// Longer than a write takes on a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// A server with both doors.
fn setup() -> Setup {
    Setup::default()
        .flag("--syslog", "127.0.0.1:0")
        .flag("--syslog-udp", "127.0.0.1:0")
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.door("syslog")).unwrap();
    stream.set_write_timeout(Some(SOON)).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

/// Sends bytes by a stream of their own, which is then closed.
fn send(server: &Server, bytes: &[u8]) {
    connect(server).write_all(bytes).unwrap();
}

fn udp(server: &Server) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server.door("syslog_udp")).unwrap();
    socket
}

/// A counter of SHOW STATUS.
#[track_caller]
fn status(server: &Server, name: &str) -> i64 {
    number(&mut server.client(), &format!("SHOW STATUS LIKE '{name}'"))
}

#[track_caller]
fn wait_for_lines(server: &Server, category: &str, wanted: &[&str]) {
    wait_for(&format!("{category} has {wanted:?}"), || {
        lines_of(server, category) == wanted
    });
}

/// A message with its length before it.
fn counted(message: &str) -> String {
    format!("{} {message}", message.len())
}

#[test]
fn both_framings_and_both_rfcs_on_one_connection_reach_the_categories_of_their_programs() {
    let server = setup().start();
    let mut stream = connect(&server);
    let long = "2026-11-23T23:00:00Z web nginx 7 - -";
    let short = "Nov 23 23:00:00 web";
    for number in 0..100 {
        let sent = [
            counted(&format!("<165>1 {long} counted {number}")),
            format!("<165>1 {long} line {number}\n"),
            counted(&format!("<13>{short} su[{number}]: counted")),
            format!("<13>{short} su[{number}]: line\n"),
            format!("<13>nothing known {number}\n"),
        ];
        stream.write_all(sent.concat().as_bytes()).unwrap();
    }
    let both = |make: &dyn Fn(u32, &str) -> String| -> Vec<String> {
        let numbers = 0..100;
        let pairs = numbers.flat_map(|number| [make(number, "counted"), make(number, "line")]);
        pairs.collect()
    };
    let nginx = both(&|number, form| format!("{long} {form} {number}"));
    let su = both(&|number, form| format!("{short} su[{number}]: {form}"));
    let unknown: Vec<String> = (0..100)
        .map(|number| format!("nothing known {number}"))
        .collect();
    for (category, wanted) in [("nginx", nginx), ("su", su), ("syslog", unknown)] {
        wait_for("each message is there once, in order", || {
            lines_of(&server, category) == wanted
        });
    }
    assert_eq!(status(&server, "syslog_messages"), 500);
    assert_eq!(status(&server, "syslog_pieces"), 0);
    assert_eq!(status(&server, "syslog_refused"), 0);
}

#[test]
fn a_message_that_arrives_in_two_reads_is_whole_whatever_its_form() {
    let server = setup().start();
    let mut stream = connect(&server);
    let mut sent = Vec::new();
    for number in 0..20 {
        sent.extend(format!("<13>two: line {number}\n").into_bytes());
        sent.extend(counted(&format!("<13>two: counted {number}")).into_bytes());
    }
    // The server has read each part before the next one is sent: its bytes are counted nowhere else.
    stream.set_nodelay(true).unwrap();
    for part in sent.chunks(7) {
        stream.write_all(part).unwrap();
        std::thread::yield_now();
    }
    let wanted: Vec<String> = (0..20)
        .flat_map(|number| {
            [
                format!("two: line {number}"),
                format!("two: counted {number}"),
            ]
        })
        .collect();
    wait_for("all are there", || lines_of(&server, "two") == wanted);
}

#[test]
fn facility_or_one_name_may_be_the_category() {
    let by = |text: &str| setup().variable("SEINE_SYSLOG_CATEGORY", text).start();
    let server = by("facility");
    send(
        &server,
        b"<22>a: mail\n<86>b: authpriv\n<191>c: local7\nd: user\n",
    );
    wait_for_lines(&server, "mail", &["a: mail"]);
    wait_for_lines(&server, "authpriv", &["b: authpriv"]);
    wait_for_lines(&server, "local7", &["c: local7"]);
    wait_for_lines(&server, "user", &["d: user"]);
    let server = by("=all/of it");
    send(&server, b"<22>a: 1\n<86>b: 2\n");
    udp(&server).send(b"<13>c: 3").unwrap();
    wait_for("both ways lead to the one category", || {
        let folder = server.folder().0.join("data/collected/all/of it/all");
        let mut found = crate::collect::lines(&folder, "of it");
        found.sort();
        found == ["a: 1", "b: 2", "c: 3"]
    });
}

#[test]
fn datagrams_are_messages_without_framing() {
    let server = setup().start();
    let socket = udp(&server);
    let long = format!("<13>big: {}", "x".repeat(60_000));
    for datagram in [
        "<13>one: a",
        "<13>one: b\n",
        "7 one: c",
        "<13>\n",
        "",
        &long,
    ] {
        socket.send(datagram.as_bytes()).unwrap();
    }
    wait_for_lines(&server, "one", &["one: a", "one: b"]);
    // A datagram has no length before its bytes.
    wait_for_lines(&server, "syslog", &["7 one: c"]);
    wait_for_lines(&server, "big", &[&long[4..]]);
    assert_eq!(status(&server, "syslog_messages"), 4);
    assert_eq!(status(&server, "syslog_dropped"), 0);
}

#[test]
fn a_unix_socket_takes_streams_and_the_door_is_named_among_the_connections() {
    let folder = crate::server::Folder::new();
    let address = format!("unix:{}", folder.path("syslog.sock"));
    let server = Setup::default().flag("--syslog", &address).start();
    assert_eq!(server.door("syslog"), address);
    let mut stream = UnixStream::connect(folder.path("syslog.sock")).unwrap();
    stream.write_all(b"<13>local: x\n").unwrap();
    wait_for_lines(&server, "local", &["local: x"]);
    let rows = server.client().query("SHOW PROCESSLIST").unwrap().rows;
    let cells = rows.iter().flatten().flatten();
    let text: Vec<_> = cells.map(|cell| String::from_utf8_lossy(cell)).collect();
    assert!(text.iter().any(|cell| cell == "syslog"), "{text:?}");
}

#[test]
fn without_the_settings_and_in_a_server_that_only_reads_there_is_no_syslog_door() {
    let listening = |server: &Server| server.log().matches("listening for").count();
    assert_eq!(listening(&Server::start()), 0);
    let mut server = setup().start();
    assert_eq!(listening(&server), 2);
    send(&server, b"<13>a: x\n");
    wait_for_lines(&server, "a", &["a: x"]);
    assert!(server.terminate().success());
    server.restart_as(setup().variable("SEINE_READ_ONLY", "true"));
    assert_eq!(listening(&server), 2, "no more than before");
}

#[test]
fn what_the_counter_says_was_taken_is_in_the_file_after_kill_9() {
    let mut server = setup().start();
    let mut taken = 0;
    let mut sent = 0;
    for _ in 0..3 {
        let mut stream = connect(&server);
        for _ in 0..50 {
            stream
                .write_all(format!("<13>kept: {sent}\n").as_bytes())
                .unwrap();
            sent += 1;
        }
        wait_for("some are taken", || {
            status(&server, "syslog_messages") >= 10
        });
        taken += status(&server, "syslog_messages");
        server.kill_and_restart();
    }
    wait_for("all that were taken are there", || {
        lines_of(&server, "kept").len() as i64 >= taken
    });
    let found: Vec<i64> = lines_of(&server, "kept")
        .iter()
        .map(|line| line["kept: ".len()..].parse().unwrap())
        .collect();
    assert!(found.iter().all(|number| *number < sent));
}

#[test]
fn a_stop_in_the_middle_keeps_the_first_messages_of_each_stream_without_a_gap() {
    let mut server = setup().start();
    let address = server.door("syslog").to_owned();
    let sender = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        // The server closes the stream at some time.
        for number in 0_u64.. {
            if stream
                .write_all(format!("<13>many: {number}\n").as_bytes())
                .is_err()
            {
                return;
            }
        }
    });
    wait_for("many are taken", || {
        status(&server, "syslog_messages") > 5_000
    });
    let before = status(&server, "syslog_messages");
    server.signal(Signal::TERM);
    assert!(server.ended().success());
    sender.join().unwrap();
    let text = String::from_utf8(text_of(&server, "many")).unwrap();
    let mut count = 0;
    for line in text.lines() {
        // The end of the stream may have cut the last line.
        let wanted = format!("many: {count}");
        assert!(
            line == wanted || wanted.starts_with(line),
            "{line} after {count}"
        );
        count += 1;
    }
    assert!(count >= before, "{count} of {before}");
}

#[test]
fn lines_become_rows_with_their_host_and_time_and_one_that_no_table_takes_holds_no_other_back() {
    let folder = Folder::new();
    let store = |kind: &str| format!("<store>\ncategory=app\n{kind}\n</store>\n");
    let conf = store("type=index\ntable=logs\nhost_column=host\ntime_column=ts")
        + &store("type=percolate\ntable=alerts\ninto=narrow");
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let path = folder.path("scribe.conf");
    let server = setup().flag("--scribe-config", &path).start_in(folder);
    let mut sql = server.client();
    for statement in [
        "DROP TABLE alerts",
        "DROP TABLE narrow",
        "CREATE TABLE narrow (query_id bigint, body varchar(60)) ENGINE=queue",
        "CREATE TABLE alerts (body text) type='pq' into='narrow'",
        "INSERT INTO alerts (id, query) VALUES (1, 'alarm')",
    ] {
        sql.query(statement).unwrap();
    }
    let head = "<13>1 2003-10-11T22:14:15Z db app 7 - -";
    let long = format!("alarm {}", "x".repeat(80));
    let lines = ["first", "alarm", &long, "last"].map(|text| format!("{head} {text}\n"));
    send(&server, lines.concat().as_bytes());
    wait_for("the lines that fit are rows", || {
        number(&mut sql, "SELECT COUNT(*) FROM logs") == 3
    });
    let found = "SELECT COUNT(*) FROM logs WHERE MATCH('first | last | alarm') AND host='db' AND ts=1065910455";
    assert_eq!(number(&mut sql, found), 3);
    assert_eq!(number(&mut sql, "SELECT COUNT(*) FROM narrow"), 1);
    assert_eq!(status(&server, "syslog_refused"), 1);
}
