use proptest::prelude::*;

use relation::schema::ColumnType;

use super::*;
use crate::limits::FRAME_BYTES_MAX;

const NONCE: [u8; 20] = *b"abcdefghijklmnopqrst";

fn greeting() -> Greeting {
    Greeting {
        version: "8.0.40-seine".to_owned(),
        connection_id: 7,
        nonce: Nonce::from_random(NONCE),
        capabilities: Capabilities::SERVER,
        charset: 45,
        status: STATUS_AUTOCOMMIT,
        plugin: Plugin::CachingSha2,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every packet of a stream, fed in pieces of `step` bytes.
fn packets(stream: &[u8], step: usize) -> Vec<(u8, Vec<u8>)> {
    let mut reader = PacketReader::default();
    let mut found = Vec::new();
    for piece in stream.chunks(step.max(1)) {
        reader.spare()[..piece.len()].copy_from_slice(piece);
        reader.filled(piece.len());
        while let Some(packet) = reader.next_packet().unwrap() {
            found.push((packet.sequence, packet.payload.to_vec()));
        }
    }
    assert!(!reader.is_midway());
    found
}

fn only_packet(writer: &PacketWriter) -> Vec<u8> {
    let mut found = packets(writer.bytes(), 4096);
    assert_eq!(found.len(), 1);
    found.pop().unwrap().1
}

#[test]
fn greeting_bytes_are_those_of_handshake_v10() {
    let mut writer = PacketWriter::new();
    greeting().encode(&mut writer);
    let expected = concat!(
        "50000000",
        "0a",
        "382e302e34302d7365696e6500",
        "07000000",
        "6162636465666768",
        "00",
        "0fa6",
        "2d",
        "0200",
        "3b01",
        "15",
        "00000000000000000000",
        "696a6b6c6d6e6f7071727374",
        "00",
        "63616368696e675f736861325f70617373776f726400",
    );
    assert_eq!(hex(writer.bytes()), expected);
    assert_eq!(Greeting::decode(&only_packet(&writer)).unwrap(), greeting());
}

/// A response as mysql 8 sends it: database, plugin, length-encoded data and attributes.
#[test]
fn response_of_the_mysql_8_client_is_read() {
    let mut payload = vec![0x8d, 0xa6, 0xff, 0x19, 0, 0, 0, 1, 0xff];
    payload.extend_from_slice(&[0; 23]);
    payload.extend_from_slice(b"root\0\x03abcposts\0caching_sha2_password\0\x0b\x03_os\x06Linux6");
    let response = HandshakeResponse::decode(&payload).unwrap();
    assert_eq!(response.user, "root");
    assert_eq!(response.auth, b"abc");
    assert_eq!(response.database.as_deref(), Some("posts"));
    assert_eq!(response.plugin.as_deref(), Some("caching_sha2_password"));
    assert_eq!(
        response.attributes,
        [("_os".to_owned(), "Linux6".to_owned())]
    );
}

#[test]
fn a_request_for_tls_and_an_old_client_are_refused_by_name() {
    let mut payload = vec![0x00, 0x0a, 0, 0, 0, 0, 0, 1, 45];
    payload.extend_from_slice(&[0; 23]);
    let error = HandshakeResponse::decode(&payload).unwrap_err();
    assert_eq!(error.what, "TLS was asked for but not offered");
    let error = HandshakeResponse::decode(&[0, 0, 0, 0]).unwrap_err();
    assert_eq!(error.what, "client older than protocol 4.1");
}

/// Values made with MySQL's own formulas by another implementation (Python's hashlib).
#[test]
fn scrambles_are_those_of_mysql() {
    let nonce = Nonce::from_random(NONCE);
    let native = Plugin::Native.scramble(b"secret", &nonce);
    let sha2 = Plugin::CachingSha2.scramble(b"secret", &nonce);
    assert_eq!(hex(&native), "8817c50fa779daef010ee7577825b0847df9842e");
    assert_eq!(
        hex(&sha2),
        "c76e2898612a4cf042c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae809"
    );
    assert!(Plugin::Native.scramble(b"", &nonce).is_empty());
}

/// One whole login of our client against our server; what the server said last.
fn login(offered: Plugin, credential: Credential, password: &str) -> Step {
    let hello = Greeting {
        plugin: offered,
        ..greeting()
    };
    let (mut server, mut client) = (PacketWriter::new(), PacketWriter::new());
    hello.encode(&mut server);
    let greeting = only_packet(&server);
    server.clear();
    let state = ClientLogin::begin(&greeting, "root", password, &mut client).unwrap();
    let response = HandshakeResponse::decode(&only_packet(&client)).unwrap();
    client.clear();
    server.start(2);
    let (authenticator, mut step) = Authenticator::begin(
        hello.nonce,
        offered,
        credential,
        response.plugin.as_deref(),
        &response.auth,
        &mut server,
    );
    loop {
        for (sequence, payload) in packets(server.bytes(), 4096) {
            let next = state.answer(&payload, sequence, &mut client).unwrap();
            assert_eq!(next, LoginStep::Read);
        }
        server.clear();
        if step != Step::Read {
            return step;
        }
        let answer = only_packet(&client);
        client.clear();
        step = authenticator.answer(&answer, &mut server);
    }
}

#[test]
fn both_plugins_admit_the_right_password_only() {
    for plugin in [Plugin::CachingSha2, Plugin::Native] {
        let secret = || Credential::Password("secret".to_owned());
        assert_eq!(login(plugin, secret(), "secret"), Step::Welcome);
        let denied = |password_given| Step::Denied { password_given };
        assert_eq!(login(plugin, secret(), "wrong"), denied(true));
        assert_eq!(login(plugin, secret(), ""), denied(false));
        assert_eq!(login(plugin, Credential::Nobody, "secret"), denied(true));
        assert_eq!(login(plugin, Credential::Nobody, ""), denied(false));
        assert_eq!(login(plugin, Credential::Anyone, ""), Step::Welcome);
        assert_eq!(login(plugin, Credential::Anyone, "any"), Step::Welcome);
        let empty = || Credential::Password(String::new());
        assert_eq!(login(plugin, empty(), ""), Step::Welcome);
        assert_eq!(login(plugin, empty(), "any"), denied(true));
    }
}

#[test]
fn a_client_of_another_plugin_is_asked_to_scramble_anew() {
    let nonce = Nonce::from_random(NONCE);
    for (named, expected) in [
        (Some("mysql_native_password"), Plugin::Native),
        (Some("client_ed25519"), Plugin::CachingSha2),
        (None, Plugin::Native),
    ] {
        let mut writer = PacketWriter::new();
        let secret = Credential::Password("secret".to_owned());
        let (authenticator, step) =
            Authenticator::begin(nonce, Plugin::CachingSha2, secret, named, b"", &mut writer);
        assert_eq!(step, Step::Read);
        let request = only_packet(&writer);
        assert_eq!(request[0], 0xfe);
        assert!(request[1..].starts_with(expected.name().as_bytes()));
        assert!(request.ends_with(b"\0abcdefghijklmnopqrst\0"));
        let scramble = expected.scramble(b"secret", &nonce);
        assert_eq!(authenticator.answer(&scramble, &mut writer), Step::Welcome);
    }
}

#[test]
fn a_native_scramble_against_the_greeting_is_taken_without_a_switch() {
    let nonce = Nonce::from_random(NONCE);
    let scramble = Plugin::Native.scramble(b"secret", &nonce);
    let mut writer = PacketWriter::new();
    let (_, step) = Authenticator::begin(
        nonce,
        Plugin::CachingSha2,
        Credential::Password("secret".to_owned()),
        Some("mysql_native_password"),
        &scramble,
        &mut writer,
    );
    assert_eq!(step, Step::Welcome);
    assert!(writer.bytes().is_empty());
}

#[test]
fn nonces_have_no_zero_byte() {
    let nonce = Nonce::from_random([0x80; 20]);
    assert!(nonce.bytes().iter().all(|&byte| (1..=127).contains(&byte)));
}

#[test]
fn commands_are_told_apart() {
    let decode = |payload: &'static [u8]| Command::decode(payload, Capabilities::SERVER).unwrap();
    assert_eq!(decode(b"\x01"), Command::Quit);
    assert_eq!(decode(b"\x02posts"), Command::InitDb("posts".to_owned()));
    assert_eq!(decode(b"\x03SELECT 1"), Command::Query(b"SELECT 1"));
    let list = Command::FieldList {
        table: "posts".to_owned(),
        wildcard: "b%".to_owned(),
    };
    assert_eq!(decode(b"\x04Posts\0b%"), list);
    assert_eq!(decode(b"\x09"), Command::Statistics);
    assert_eq!(decode(b"\x0e"), Command::Ping);
    assert_eq!(decode(b"\x1b\x01\x00"), Command::SetOption(1));
    assert_eq!(decode(b"\x1f"), Command::ResetConnection);
    assert_eq!(decode(b"\x16SELECT ?"), Command::Unknown(0x16));
    assert_eq!(decode(b"\x18\x01\0\0\0\0\0x"), Command::Unanswered);
    assert_eq!(decode(b"\x19\x01\0\0\0"), Command::Unanswered);
    let change = ChangeUser {
        user: "u".to_owned(),
        auth: b"xy".to_vec(),
        database: Some("d".to_owned()),
        plugin: Some("mysql_native_password".to_owned()),
        attributes: Vec::new(),
    };
    let payload = b"\x11u\0\x02xyd\0\x2d\x00mysql_native_password\0";
    assert_eq!(decode(payload), Command::ChangeUser(change));
    assert!(Command::decode(b"", Capabilities::SERVER).is_err());
    assert!(Command::decode(b"\x1b\x01", Capabilities::SERVER).is_err());
}

#[test]
fn golden_bytes_of_replies() {
    let mut encoder = Encoder::new(Capabilities::SERVER);
    encoder.start(1);
    encoder.ok(&Done {
        affected: 300,
        last_id: 1 << 20,
        warnings: 2,
        ..Done::default()
    });
    assert_eq!(
        hex(encoder.bytes()),
        "0c000001".to_owned() + "00fc2c01fd00001002000200"
    );
    encoder.clear();
    encoder.start(1);
    encoder.error(1064, b"42000", "syntax error");
    let expected = "15000001ff280423343230303073796e746178206572726f72";
    assert_eq!(hex(encoder.bytes()), expected);
}

/// The bytes of `SELECT 1` with and without DEPRECATE_EOF.
#[test]
fn golden_bytes_of_a_result_set() {
    for (capabilities, golden) in [
        (
            Capabilities::DEPRECATE_EOF,
            "01000001 01 17000002 03646566 00 00 00 0131 00 0c 3f00 14000000 08 8000 00 0000 02000003 0131 07000004 fe 00 00 0200 0000",
        ),
        (
            Capabilities(0),
            "01000001 01 17000002 03646566 00 00 00 0131 00 0c 3f00 14000000 08 8000 00 0000 05000003 fe 0000 0200 02000004 0131 05000005 fe 0000 0200",
        ),
    ] {
        let mut encoder = Encoder::new(capabilities);
        encoder.start(1);
        encoder.columns(&[ColumnDefinition::bigint("1")]);
        encoder.row_begin();
        encoder.row_u64(1);
        encoder.row_end();
        encoder.end_rows(STATUS_AUTOCOMMIT, 0);
        assert_eq!(hex(encoder.bytes()), golden.replace(' ', ""));
    }
}

#[test]
fn column_types_are_mysqls() {
    let shown = |kind| {
        let column = ColumnDefinition::of("c", kind);
        (column.kind.0, column.charset, column.flags)
    };
    assert_eq!(shown(ColumnType::Text), (252, 45, 16));
    assert_eq!(shown(ColumnType::String), (253, 45, 0));
    assert_eq!(shown(ColumnType::Int), (8, 63, 128));
    assert_eq!(shown(ColumnType::Bool), (1, 63, 128));
    assert_eq!(shown(ColumnType::Float), (4, 63, 128));
    let unsigned = ColumnType::Integer {
        bytes: 4,
        unsigned: true,
    };
    assert_eq!(shown(unsigned), (3, 63, 160));
    assert_eq!(shown(ColumnType::Blob { bytes_max: 9 }), (252, 63, 144));
    assert_eq!(shown(ColumnType::Date), (10, 63, 128));
    assert_eq!(shown(ColumnType::Year), (13, 63, 224));
    let sized = |kind| {
        let column = ColumnDefinition::of("c", kind);
        (column.kind.0, column.length, column.decimals)
    };
    let fraction_digits = 3;
    assert_eq!(sized(ColumnType::DateTime { fraction_digits }), (12, 23, 3));
    assert_eq!(sized(ColumnType::Time { fraction_digits: 0 }), (11, 10, 0));
    let money = ColumnType::Decimal {
        digits: 12,
        scale: 2,
    };
    assert_eq!(sized(money), (246, 14, 2));
}

#[test]
fn field_list_ends_each_definition_with_a_null_default() {
    let mut encoder = Encoder::new(Capabilities::SERVER);
    encoder.start(1);
    encoder.field_list(&[ColumnDefinition::id("id")]);
    let found = packets(encoder.bytes(), 4096);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].1.last(), Some(&0xfb));
    assert_eq!(
        ColumnDefinition::decode(&found[0].1).unwrap(),
        ColumnDefinition::id("id")
    );
}

#[test]
fn cells_of_every_kind_come_back_as_text() {
    let mut encoder = Encoder::new(Capabilities::SERVER);
    encoder.row_begin();
    encoder.row_u64(u64::MAX);
    encoder.row_i64(i64::MIN);
    encoder.row_integer(-5);
    encoder.row_integer(i128::MAX);
    encoder.row_null();
    encoder.row_bytes(b"");
    encoder.row_list([1, 22, 333].into_iter());
    encoder.row_list(1..=100);
    encoder.row_list(std::iter::empty());
    encoder.row_end();
    let payload = packets(encoder.bytes(), 4096).pop().unwrap().1;
    let RowPacket::Row(cells) = RowPacket::decode(&payload, Capabilities::SERVER).unwrap() else {
        panic!("a row");
    };
    let hundred: Vec<String> = (1..=100).map(|number: u64| number.to_string()).collect();
    let cells: Vec<Option<String>> = cells
        .map(|cell| {
            cell.unwrap()
                .map(|cell| String::from_utf8(cell.to_vec()).unwrap())
        })
        .collect();
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        some("18446744073709551615"),
        some("-9223372036854775808"),
        some("-5"),
        some("170141183460469231731687303715884105727"),
        None,
        some(""),
        some("1,22,333"),
        some(&hundred.join(",")),
        some(""),
    ];
    assert_eq!(cells, expected);
}

#[test]
fn packets_around_16_mib_are_cut_and_joined() {
    for length in [
        FRAME_BYTES_MAX - 1,
        FRAME_BYTES_MAX,
        FRAME_BYTES_MAX + 1,
        2 * FRAME_BYTES_MAX,
    ] {
        let mut writer = PacketWriter::new();
        writer.start(255);
        let long: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        writer.begin().extend_from_slice(&long);
        writer.end();
        writer.begin().extend_from_slice(b"next");
        writer.end();
        let frames = length / FRAME_BYTES_MAX + 1;
        assert_eq!(writer.bytes().len(), length + 4 * frames + 8);
        let found = packets(writer.bytes(), 16 << 10);
        assert_eq!(found.len(), 2);
        assert!(found[0].1 == long, "a packet of {length} bytes comes back");
        assert_eq!(found[1], ((255 + frames) as u8, b"next".to_vec()));
    }
}

/// Feeds the whole stream and gives the error that ends it, the bytes fed by then, and the most that the reader had room for.
fn refused(reader: &mut PacketReader, stream: &[u8]) -> (PacketError, usize, usize) {
    let (mut fed, mut room_max) = (0, 0);
    loop {
        let room = reader.spare();
        room_max = room_max.max(room.len());
        let count = room.len().min(stream.len() - fed);
        room[..count].copy_from_slice(&stream[fed..fed + count]);
        reader.filled(count);
        fed += count;
        match reader.next_packet() {
            Ok(None) => assert!(fed < stream.len() && reader.is_midway()),
            other => return (other.unwrap_err(), fed, room_max),
        }
    }
}

#[test]
fn a_packet_over_the_limit_is_refused_behind_its_last_frame_and_never_kept() {
    let mut stream = Vec::new();
    for (sequence, length) in [(7, FRAME_BYTES_MAX), (8, FRAME_BYTES_MAX), (9, 10)] {
        let [low, middle, high, ..] = length.to_le_bytes();
        stream.extend_from_slice(&[low, middle, high, sequence]);
        stream.resize(stream.len() + length, b'x');
    }
    let passing = |packet_bytes_max| {
        let mut reader = PacketReader::default();
        reader.take_up_to(packet_bytes_max);
        reader
    };
    let (error, fed, room_max) = refused(&mut passing(100), &stream);
    assert!(
        room_max <= 2 * crate::limits::READ_AHEAD_BYTES,
        "{room_max}"
    );
    let (limit, sequence) = (100, 9);
    assert_eq!(error, PacketError::TooLong { limit, sequence });
    assert_eq!(fed, stream.len());
    let (error, ..) = refused(&mut passing(FRAME_BYTES_MAX + 5), &stream);
    assert_eq!(error.sequence(), 9);
}

#[test]
fn a_packet_over_the_limit_of_a_stranger_is_refused_by_its_header_alone() {
    let (error, fed, _) = refused(&mut PacketReader::new(100), &[101, 0, 0, 1]);
    let (limit, sequence) = (100, 1);
    assert_eq!((error, fed), (PacketError::TooLong { limit, sequence }, 4));
}

#[test]
fn a_packet_that_is_given_up_is_refused_behind_its_last_frame_and_the_next_one_is_read() {
    let mut stream = vec![0xff, 0xff, 0xff, 4];
    stream.resize(4 + FRAME_BYTES_MAX, b'x');
    stream.extend_from_slice(&[1, 0, 0, 5, b'x']);
    for given_up_at in [0, 3, 4, 70_000, FRAME_BYTES_MAX + 4, FRAME_BYTES_MAX + 7] {
        let mut reader = PacketReader::default();
        reader.take_up_to(FRAME_BYTES_MAX * 2);
        let mut fed = 0;
        while fed < given_up_at {
            let room = reader.spare();
            let count = room.len().min(given_up_at - fed);
            room[..count].copy_from_slice(&stream[fed..fed + count]);
            reader.filled(count);
            fed += count;
            assert_eq!(reader.next_packet(), Ok(None));
        }
        reader.give_up();
        let (error, more, _) = refused(&mut reader, &stream[fed..]);
        assert_eq!(
            (error, fed + more),
            (PacketError::GivenUp { sequence: 5 }, stream.len()),
            "{given_up_at}"
        );
        let next = [3, 0, 0, 0, b'a', b'b', b'c'];
        reader.spare()[..next.len()].copy_from_slice(&next);
        reader.filled(next.len());
        let packet = reader.next_packet().unwrap().unwrap();
        assert_eq!((packet.sequence, packet.payload), (0, &b"abc"[..]));
    }
}

#[test]
fn a_packet_that_is_given_up_and_longer_than_any_is_too_long() {
    let mut stream = vec![0xff, 0xff, 0xff, 4];
    stream.resize(4 + FRAME_BYTES_MAX, b'x');
    let mut reader = PacketReader::default();
    reader.take_up_to(FRAME_BYTES_MAX - 2);
    reader.give_up();
    let (error, ..) = refused(&mut reader, &stream);
    assert!(matches!(error, PacketError::TooLong { .. }), "{error}");
    // It ends within the packet's last frame: what follows is no packet.
    let mut short = vec![0, 0, 16, 0];
    short.resize(4 + (1 << 20), b'x');
    for most in [1, 1_000, 500_000] {
        let mut reader = PacketReader::default();
        reader.take_up_to(most);
        reader.give_up();
        let (error, ..) = refused(&mut reader, &short);
        assert!(matches!(error, PacketError::TooLong { .. }), "{error}");
    }
}

#[test]
fn status_flags_of_the_session_stand_in_every_ok_and_end() {
    for capabilities in [Capabilities::SERVER, Capabilities(0)] {
        let mut encoder = Encoder::new(capabilities);
        encoder.session_status(STATUS_IN_TRANSACTION);
        encoder.ok(&Done::default());
        encoder.columns(&[ColumnDefinition::bigint("1")]);
        encoder.end_rows(STATUS_MORE_RESULTS, 0);
        let found = packets(encoder.bytes(), 4096);
        let Reply::Ok(done) = Reply::decode(&found[0].1).unwrap() else {
            panic!("an OK packet");
        };
        assert_eq!(done.status, STATUS_IN_TRANSACTION);
        let status = STATUS_IN_TRANSACTION | STATUS_MORE_RESULTS;
        let warnings = 0;
        let last = &found.last().unwrap().1;
        let end = RowPacket::End { status, warnings };
        assert_eq!(RowPacket::decode(last, capabilities).unwrap(), end);
    }
}

#[test]
fn a_reader_takes_longer_packets_once_it_is_told_to() {
    let mut reader = PacketReader::new(100);
    reader.take_up_to(200);
    reader.spare()[..4].copy_from_slice(&[200, 0, 0, 0]);
    reader.filled(4);
    assert_eq!(reader.next_packet(), Ok(None));
    reader.spare()[..200].fill(b'x');
    reader.filled(200);
    assert!(reader.next_packet().unwrap().is_some());
}

#[test]
fn a_header_alone_reserves_no_more_than_a_mebibyte() {
    let mut reader = PacketReader::default();
    reader.spare()[..4].copy_from_slice(&[0xff, 0xff, 0xff, 0]);
    reader.filled(4);
    assert_eq!(reader.next_packet(), Ok(None));
    assert!(reader.spare().len() <= crate::limits::READ_AHEAD_BYTES + (64 << 10));
}

#[test]
fn a_continuation_out_of_order_is_refused() {
    let mut stream = vec![0xff, 0xff, 0xff, 3];
    stream.resize(4 + FRAME_BYTES_MAX, b'x');
    stream.extend_from_slice(&[0, 0, 0, 5]);
    let mut reader = PacketReader::default();
    let mut fed = 0;
    let error = loop {
        let room = reader.spare();
        let count = room.len().min(stream.len() - fed);
        room[..count].copy_from_slice(&stream[fed..fed + count]);
        reader.filled(count);
        fed += count;
        match reader.next_packet() {
            Ok(None) => assert!(fed < stream.len()),
            other => break other.unwrap_err(),
        }
    };
    assert_eq!(error, PacketError::OutOfOrder { sequence: 5 });
}

fn cell() -> impl Strategy<Value = Option<Vec<u8>>> {
    let length = prop_oneof![0..300usize, 65_530..65_540usize];
    proptest::option::of((length, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]))
}

proptest! {
    #[test]
    fn responses_come_back(
        user in "[a-z]{0,40}",
        auth in prop::collection::vec(any::<u8>(), 0..250),
        database in proptest::option::of("[a-z]{1,20}"),
        attributes in prop::collection::vec(("[a-z_]{1,9}", ".{0,80}"), 0..9),
        lenenc in any::<bool>(),
    ) {
        let mut capabilities = Capabilities::SERVER;
        if !lenenc {
            capabilities = Capabilities(capabilities.0 & !Capabilities::PLUGIN_AUTH_LENENC.0);
        }
        let response = HandshakeResponse {
            capabilities, packet_bytes_max: 1 << 24, charset: 45, user, auth, database,
            plugin: Some("mysql_native_password".to_owned()), attributes,
        };
        let mut writer = PacketWriter::new();
        response.encode(&mut writer);
        prop_assert_eq!(HandshakeResponse::decode(&only_packet(&writer)).unwrap(), response);
    }

    #[test]
    fn result_sets_come_back(
        rows in prop::collection::vec(prop::collection::vec(cell(), 3), 0..6),
        old in any::<bool>(),
        step in 1..5000usize,
        warnings in any::<u16>(),
    ) {
        let capabilities = if old { Capabilities(0) } else { Capabilities::SERVER };
        let mut encoder = Encoder::new(capabilities);
        encoder.start(1);
        let columns = ["a", "b", "c"].map(ColumnDefinition::text);
        encoder.columns(&columns);
        for row in &rows {
            encoder.row_begin();
            for cell in row {
                match cell {
                    Some(bytes) => encoder.row_bytes(bytes),
                    None => encoder.row_null(),
                }
            }
            encoder.row_end();
        }
        encoder.end_rows(STATUS_AUTOCOMMIT, warnings);
        let mut found = packets(encoder.bytes(), step).into_iter().map(|(_, payload)| payload);
        prop_assert_eq!(Reply::decode(&found.next().unwrap()).unwrap(), Reply::Columns(3));
        for column in &columns {
            prop_assert_eq!(&ColumnDefinition::decode(&found.next().unwrap()).unwrap(), column);
        }
        if old {
            found.next();
        }
        for row in &rows {
            let payload = found.next().unwrap();
            let RowPacket::Row(cells) = RowPacket::decode(&payload, capabilities).unwrap() else {
                panic!("a row");
            };
            let cells: Vec<_> = cells.map(|cell| cell.unwrap().map(<[u8]>::to_vec)).collect();
            prop_assert_eq!(&cells, row);
        }
        let end = RowPacket::End { status: STATUS_AUTOCOMMIT, warnings };
        let last = found.next().unwrap();
        prop_assert_eq!(RowPacket::decode(&last, capabilities).unwrap(), end);
        prop_assert_eq!(found.next(), None);
    }

    #[test]
    fn replies_come_back(affected in any::<u64>(), last_id in any::<u64>(), warnings in any::<u16>(), info in ".{0,40}") {
        let ok = Done { affected, last_id, warnings, info, ..Done::default() };
        let mut encoder = Encoder::new(Capabilities::SERVER);
        encoder.ok(&ok);
        encoder.error(1064, b"42000", &ok.info);
        let found = packets(encoder.bytes(), 9);
        let ok = Done { status: STATUS_AUTOCOMMIT, ..ok };
        let error = ServerError { code: 1064, sqlstate: "42000".to_owned(), message: ok.info.clone() };
        prop_assert_eq!(Reply::decode(&found[0].1).unwrap(), Reply::Ok(ok));
        prop_assert_eq!(Reply::decode(&found[1].1).unwrap(), Reply::Error(error));
    }

    #[test]
    fn no_decoder_panics_on_a_strangers_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), flags in any::<u32>()) {
        let capabilities = Capabilities(flags);
        let _ = Greeting::decode(&bytes);
        let _ = HandshakeResponse::decode(&bytes);
        let mut asked = bytes.clone();
        asked.splice(..asked.len().min(4), (flags | Capabilities::PROTOCOL_41.0).to_le_bytes());
        let _ = HandshakeResponse::decode(&asked);
        for command in [0x04, 0x11, 0x1b] {
            let mut asked = bytes.clone();
            asked.insert(0, command);
            let _ = Command::decode(&asked, capabilities);
        }
        let _ = Reply::decode(&bytes);
        let _ = ColumnDefinition::decode(&bytes);
        if let Ok(RowPacket::Row(cells)) = RowPacket::decode(&bytes, capabilities) {
            prop_assert!(cells.count() <= bytes.len());
        }
        let mut writer = PacketWriter::new();
        if let Ok(login) = ClientLogin::begin(&bytes, "u", "p", &mut writer) {
            let _ = login.answer(&bytes, 1, &mut writer);
        }
        let nonce = Nonce::from_random(NONCE);
        let secret = Credential::Password("p".to_owned());
        let named = String::from_utf8_lossy(&bytes);
        Authenticator::begin(nonce, Plugin::Native, secret.clone(), Some(&named), &bytes, &mut writer);
        Authenticator::change_user(nonce, Plugin::Native, secret, None, &bytes, &mut writer);
    }

    #[test]
    fn no_stream_of_bytes_panics_the_reader(pieces in prop::collection::vec(prop::collection::vec(0..20u8, 0..60), 0..40)) {
        let mut reader = PacketReader::new(1000);
        for piece in pieces {
            let room = reader.spare();
            room[..piece.len()].copy_from_slice(&piece);
            reader.filled(piece.len());
            while let Ok(Some(packet)) = reader.next_packet() {
                prop_assert!(packet.payload.len() <= 1000);
            }
        }
    }
}

#[test]
fn the_buffer_is_as_long_as_was_foretold_and_is_given_back() {
    let mut writer = PacketWriter::new();
    let body = vec![7; 40 << 20];
    writer.begin().extend_from_slice(&body);
    writer.end();
    let mut reader = PacketReader::default();
    let mut rest = writer.bytes();
    while reader.next_packet().unwrap().is_none() {
        let wanted = reader.wanted_bytes();
        let spare = reader.spare();
        let count = spare.len().min(rest.len());
        spare[..count].copy_from_slice(&rest[..count]);
        reader.filled(count);
        rest = &rest[count..];
        assert_eq!(reader.buffer_bytes(), wanted);
        assert!(wanted <= 64 << 20, "{wanted}");
    }
    assert_eq!(reader.packet().payload, body);
    reader.release();
    assert_eq!(reader.buffer_bytes(), 0);
}
