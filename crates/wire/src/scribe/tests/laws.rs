//! Laws over random calls, replies and bytes.

use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..40)
}

fn pairs() -> impl Strategy<Value = Vec<(Vec<u8>, Vec<u8>)>> {
    prop::collection::vec((text(), text()), 0..20)
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop::sample::select(DIALECTS.to_vec())
}

fn borrowed(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<(&[u8], &[u8])> {
    pairs
        .iter()
        .map(|(one, two)| (&one[..], &two[..]))
        .collect()
}

fn put_log(dialect: Dialect, sequence: i32, messages: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    dialect
        .put_log(sequence, borrowed(messages), &mut out)
        .unwrap();
    out
}

/// Reads bytes by every reader. A call that is accepted is consistent, and is the same once it is written and read again.
fn read_by_all(bytes: &[u8]) {
    for transport in [None, Some(Transport::Framed), Some(Transport::Unframed)] {
        let mut reader = match transport {
            None => MessageReader::new(1 << 16),
            Some(transport) => MessageReader::of(transport, 1 << 16),
        };
        for piece in bytes.chunks(7) {
            reader.spare()[..piece.len()].copy_from_slice(piece);
            reader.filled(piece.len());
            while reader.advance() == Ok(true) {
                read_message(reader.take().bytes());
            }
            assert!(reader.buffer_bytes() <= 2 * bytes.len() + (64 << 10));
        }
    }
    read_message(bytes);
}

fn read_message(message: &[u8]) {
    for method in Method::ALL {
        let _ = Reply::decode(message, method, 0);
    }
    let mut out = Vec::new();
    match decode(message) {
        Err(refusal) => {
            refusal.put_answer(&mut out);
            assert!(out.len() <= message.len() + 1024, "an answer is short");
        }
        Ok(request) => {
            if let Call::Log(entries) = request.call {
                let texts = entries
                    .iter()
                    .map(|(category, message)| category.len() + message.len());
                assert_eq!(entries.iter().count(), entries.len());
                assert_eq!(texts.sum::<usize>(), entries.text_bytes());
                assert!(entries.len() + entries.text_bytes() <= message.len());
            }
            request
                .to
                .dialect
                .put_call(request.to.sequence, &request.call, &mut out)
                .unwrap();
            let again = decode(&out[4..]).unwrap().call;
            match (again, request.call) {
                (Call::Log(again), Call::Log(entries)) => assert!(again.iter().eq(entries.iter())),
                (again, call) => assert_eq!(again, call),
            }
        }
    }
}

/// Any call with this argument and number.
fn call<'a>(method: Method, key: &'a [u8], value: &'a [u8], seconds: i32) -> Call<'a> {
    match method {
        Method::Log => Call::Log(Entries::default()),
        Method::GetName => Call::GetName,
        Method::GetVersion => Call::GetVersion,
        Method::GetStatus => Call::GetStatus,
        Method::GetStatusDetails => Call::GetStatusDetails,
        Method::GetCounters => Call::GetCounters,
        Method::GetCounter => Call::GetCounter(key),
        Method::SetOption => Call::SetOption { key, value },
        Method::GetOption => Call::GetOption(key),
        Method::GetOptions => Call::GetOptions,
        Method::GetCpuProfile => Call::GetCpuProfile { seconds },
        Method::AliveSince => Call::AliveSince,
        Method::Reinitialize => Call::Reinitialize,
        Method::Shutdown => Call::Shutdown,
        Method::GetMapping => Call::GetMapping(key),
    }
}

proptest! {
    #[test]
    fn messages_arrive_as_they_were_sent(dialect in dialects(), sequence in any::<i32>(), sent in pairs(), step in 1usize..99) {
        let stream = put_log(dialect, sequence, &sent);
        prop_assert_eq!(Dialect::detect(&stream), Ok(Some(dialect)));
        let found = messages(&stream, step);
        prop_assert_eq!(found.len(), 1);
        let request = Request::decode(&found[0], dialect.transport).unwrap();
        prop_assert_eq!(entries(&request), borrowed(&sent));
        let to = ReplyTo { dialect, method: Method::Log, sequence, is_wanted: true };
        prop_assert_eq!(request.to, to);
    }

    #[test]
    fn calls_arrive_as_they_were_sent(
        dialect in dialects(),
        sequence in any::<i32>(),
        method in prop::sample::select(Method::ALL.to_vec()),
        (key, value, seconds) in (text(), text(), any::<i32>()),
    ) {
        let call = call(method, &key, &value, seconds);
        let mut stream = Vec::new();
        dialect.put_call(sequence, &call, &mut stream).unwrap();
        let message = only(&stream);
        let request = Request::decode(&message, dialect.transport).unwrap();
        prop_assert_eq!(request.to.sequence, sequence);
        match (request.call, call) {
            (Call::Log(found), Call::Log(sent)) => prop_assert!(found.iter().eq(sent.iter())),
            (found, sent) => prop_assert_eq!(found, sent),
        }
    }

    #[test]
    fn replies_arrive_as_they_were_sent(dialect in dialects(), sequence in any::<i32>(), pairs in pairs(), numbers in prop::collection::vec(any::<i64>(), 20)) {
        let options = borrowed(&pairs);
        let counters: Vec<(&[u8], i64)> = options.iter().map(|pair| pair.0).zip(numbers.iter().copied()).collect();
        let hosts = counters.iter().map(|(host, number)| ((*number >> 32) as i32, HostPort { host, port: *number as i32 }));
        let mut all = replies();
        all.push((Method::GetMapping, Reply::Mapping(hosts.collect())));
        all.push((Method::GetCounters, Reply::Counters(counters)));
        all.push((Method::GetOptions, Reply::Options(options)));
        for (method, reply) in all {
            let stream = written(dialect, method, sequence, &reply);
            let message = only(&stream);
            prop_assert_eq!(Reply::decode(&message, method, sequence), Ok(reply));
        }
    }

    #[test]
    fn no_bytes_panic_a_reader(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        read_by_all(&bytes);
    }

    /// The head is right, so that the random bytes reach the arguments.
    #[test]
    fn no_arguments_panic_a_reader(
        method in prop::sample::select(Method::ALL.to_vec()),
        kind in 1u8..5,
        // Small bytes are types, ids and lengths more often.
        body in prop::collection::vec(prop_oneof![0u8..16, any::<u8>()], 0..120),
    ) {
        let name = method.name();
        let mut message = bytes(&format!("{:08x} '{name}' {kind:02x} 00000000", name.len()));
        message.extend_from_slice(&body);
        read_by_all(&message);
    }

    #[test]
    fn no_changed_byte_panics_a_reader(
        dialect in dialects(),
        sent in pairs(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut stream = put_log(dialect, 0, &sent);
        for (at, byte) in changes {
            let at = at.index(stream.len());
            stream[at] = byte;
        }
        read_by_all(&stream);
        if dialect.transport == Transport::Framed {
            read_message(&stream[4..]);
        }
    }

    /// The walk over an unframed message finds the end that the decoder finds.
    #[test]
    fn framed_and_unframed_readers_agree_on_the_end(sent in pairs(), behind in text()) {
        let message = put_log(DIALECTS[2], 0, &sent);
        let mut reader = MessageReader::of(Transport::Unframed, 1 << 20);
        let stream = [&message[..], &behind].concat();
        reader.spare()[..stream.len()].copy_from_slice(&stream);
        reader.filled(stream.len());
        prop_assert_eq!(reader.advance(), Ok(true));
        prop_assert_eq!(reader.message(), &message[..]);
    }
}
