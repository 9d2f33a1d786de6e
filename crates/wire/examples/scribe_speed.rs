//! How fast calls of `Log` are found, decoded and written: `cargo run --release -p seine-wire --example scribe_speed`. Arguments
//! are the messages of a call and the bytes of a message; 200 and 100 without them.
#![expect(clippy::print_stdout, reason = "it prints its measure")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use wire::scribe::{Call, Dialect, MessageReader, Protocol, Request, Transport};

const ROUNDS: usize = 7;
const CALLS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let count: usize = arguments.next().transpose()?.unwrap_or(200);
    let bytes: usize = arguments.next().transpose()?.unwrap_or(100);
    let text = vec![b'x'; bytes];
    let messages = || (0..count).map(|_| (&b"category"[..], &text[..]));
    for transport in [Transport::Framed, Transport::Unframed] {
        let dialect = Dialect {
            transport,
            protocol: Protocol::Versionless,
        };
        let mut call = Vec::new();
        dialect.put_log(0, messages(), &mut call)?;
        println!(
            "{transport:?}: {count} messages of {bytes} bytes, {} bytes a call",
            call.len()
        );
        for _ in 0..ROUNDS {
            let written = microseconds(|| {
                call.clear();
                dialect
                    .put_log(0, messages(), &mut call)
                    .map_err(Into::into)
            })?;
            let body = match transport {
                Transport::Framed => call.get(4..).unwrap_or_default(),
                Transport::Unframed => &call,
            };
            let decoded = microseconds(|| decode(black_box(body), transport, count))?;
            let mut reader = MessageReader::new(1 << 27);
            let taken = microseconds(|| take(&mut reader, &call, transport, count))?;
            println!(
                "µs a call: decode {decoded:.2}, read + take + decode {taken:.2}, write {written:.2}"
            );
        }
    }
    Ok(())
}

/// Microseconds that `work` takes on average.
fn microseconds(
    mut work: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    for _ in 0..CALLS {
        work()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / CALLS as f64)
}

/// Decodes a call and looks at each message.
fn decode(message: &[u8], transport: Transport, count: usize) -> Result<(), Box<dyn Error>> {
    let request = Request::decode(message, transport).map_err(|refusal| refusal.to_string())?;
    let Call::Log(entries) = request.call else {
        return Err("another call".into());
    };
    let mut found = 0;
    for entry in entries {
        black_box(entry);
        found += 1;
    }
    if found != count {
        return Err(format!("{found} messages").into());
    }
    Ok(())
}

/// Lets a call arrive in pieces of 64 KiB, takes its frame and decodes it.
fn take(
    reader: &mut MessageReader,
    call: &[u8],
    transport: Transport,
    count: usize,
) -> Result<(), Box<dyn Error>> {
    let mut rest = call;
    loop {
        let room = reader.spare();
        let length = room.len().min(rest.len()).min(64 << 10);
        let (piece, behind) = rest.split_at(length);
        room[..length].copy_from_slice(piece);
        reader.filled(length);
        rest = behind;
        if reader.advance()? {
            return decode(reader.take().bytes(), transport, count);
        }
        if rest.is_empty() {
            return Err("the call does not end".into());
        }
    }
}
