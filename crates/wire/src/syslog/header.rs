//! What the header of a message says.
//!
//! | message | facility | program | host | body |
//! |---|---|---|---|---|
//! | `<34>Oct 11 22:14:15 db su[7]: no` | auth | su | db | `Oct 11 22:14:15 db su[7]: no` |
//! | `<165>1 2003-10-11T22:14:15Z web nginx 7 - - GET` | local4 | nginx | web | `2003-10-11T22:14:15Z web nginx 7 - - GET` |
//! | `<13>Oct 11 22:14:15 su: no` | user | su | | `Oct 11 22:14:15 su: no` |
//! | `<13>su: no` | user | su | | `su: no` |
//! | `no idea` | user | | | `no idea` |
//! | `<192>su: no` | user | | | `<192>su: no` |

use super::time::{Arrival, read_long, read_short};

/// Longest host and longest program that a header can name, in bytes. RFC 5424 has 255 for hosts.
const NAME_BYTES_MAX: usize = 255;

/// Source of a message, by the numbers of RFC 5424.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facility(u8);

impl Facility {
    /// Facility of a message that names none.
    pub const USER: Facility = Facility(1);

    /// Name of the facility, as rsyslog writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 24] = [
            "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron",
            "authpriv", "ftp", "ntp", "audit", "alert", "clock", "local0", "local1", "local2",
            "local3", "local4", "local5", "local6", "local7",
        ];
        NAMES.get(usize::from(self.0)).copied().unwrap_or("user")
    }
}

/// What the header of a message says. All texts are parts of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// `user` if the message names none.
    pub facility: Facility,
    /// The program without its process id: visible ASCII, 1 to 255 bytes, not a number.
    pub program: Option<&'a [u8]>,
    /// Visible ASCII, 1 to 255 bytes.
    pub host: Option<&'a str>,
    /// Time of the message, in seconds since 1970-01-01 UTC.
    pub unix_s: Option<i64>,
    /// The message without `<PRI>`, and without the version of RFC 5424. Any bytes; may be empty.
    pub body: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads a header: that of RFC 5424 if the message has its version and a time, else what there is of RFC 3164. Cost: it
    /// looks at the header's bytes only, and copies nothing.
    #[must_use]
    #[inline]
    pub fn read(message: &'a [u8], arrival: Arrival) -> Header<'a> {
        let (facility, rest) = priority(message).unwrap_or((Facility::USER, message));
        let of_version_1 = rest
            .strip_prefix(b"1 ")
            .filter(|_| rest.len() < message.len());
        of_version_1
            .and_then(|body| version_1(facility, body))
            .unwrap_or_else(|| traditional(facility, rest, arrival))
    }
}

/// Facility of `<PRI>`, and the bytes behind it.
fn priority(message: &[u8]) -> Option<(Facility, &[u8])> {
    let rest = message.strip_prefix(b"<")?;
    let end = rest.iter().take(4).position(|byte| *byte == b'>')?;
    let (digits, rest) = rest.split_at_checked(end)?;
    let mut number: u16 = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + u16::from(digit - b'0');
    }
    if digits.is_empty() || number > 191 {
        return None;
    }
    Some((Facility((number >> 3) as u8), rest.get(1..)?))
}

/// The text before the first blank, and the text behind that blank.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| *byte == b' ');
    match end.and_then(|end| text.split_at_checked(end)) {
        Some((word, rest)) => (word, rest.get(1..).unwrap_or_default()),
        None => (text, b""),
    }
}

/// `TIMESTAMP HOST PROGRAM …`; `None` if it does not begin with a time or `-`.
fn version_1(facility: Facility, body: &[u8]) -> Option<Header<'_>> {
    let (unix_s, rest) = match body.strip_prefix(b"- ") {
        Some(rest) => (None, rest),
        None => {
            let (unix_s, rest) = read_long(body)?;
            (Some(unix_s), rest.get(1..).unwrap_or_default())
        }
    };
    let (host, rest) = word(bounded(rest));
    let (program, _) = word(rest);
    Some(Header {
        facility,
        program: name(program).filter(|program| *program != b"-"),
        host: self::host(host),
        unix_s,
        body,
    })
}

/// `[TIME [HOST]] [PROGRAM[[PID]]:] …`.
fn traditional(facility: Facility, body: &[u8], arrival: Arrival) -> Header<'_> {
    let mut header = Header {
        facility,
        program: None,
        host: None,
        unix_s: None,
        body,
    };
    let rest = match read_short(body, arrival).or_else(|| read_long(body)) {
        None => body,
        Some((unix_s, rest)) => {
            header.unix_s = Some(unix_s);
            let rest = bounded(rest.get(1..).unwrap_or_default());
            let (host, behind) = word(rest);
            if tag(rest).is_none() && self::host(host).is_some() {
                header.host = self::host(host);
                behind
            } else {
                rest
            }
        }
    };
    header.program = tag(bounded(rest));
    header
}

/// As much of a text as two names with their marks can take: a search for a blank goes no further.
fn bounded(text: &[u8]) -> &[u8] {
    text.get(..2 * NAME_BYTES_MAX + 4).unwrap_or(text)
}

/// The program of `PROGRAM:` or `PROGRAM[PID]`. Without either mark a word is no program.
fn tag(text: &[u8]) -> Option<&[u8]> {
    let end = text
        .iter()
        .take(NAME_BYTES_MAX + 1)
        .position(|byte| matches!(byte, b':' | b'[' | b' '))?;
    let (program, rest) = text.split_at_checked(end)?;
    let is_marked = match rest {
        // A name with a colon inside is an address or a path, such as `fe80::1` or `C:\`.
        [b':', behind @ ..] => matches!(behind.first(), None | Some(b' ')),
        [b'[', behind @ ..] => {
            let (pid, _) = word(behind.get(..NAME_BYTES_MAX).unwrap_or(behind));
            pid.ends_with(b"]:") || pid.ends_with(b"]")
        }
        _ => false,
    };
    // A bad `<PRI>` is no part of a name.
    name(program).filter(|program| is_marked && !program.starts_with(b"<"))
}

/// A program's name: not a number, which devices count messages with.
fn name(text: &[u8]) -> Option<&[u8]> {
    let is_name = is_visible(text) && !text.iter().all(u8::is_ascii_digit);
    is_name.then_some(text)
}

fn host(text: &[u8]) -> Option<&str> {
    let is_host = is_visible(text) && text != b"-";
    std::str::from_utf8(text).ok().filter(|_| is_host)
}

fn is_visible(text: &[u8]) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.iter().all(u8::is_ascii_graphic)
}
