//! Sphinx's own protocol, as far as a search needs it: commands of version 1.25, which searchd 2.2 answers.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use super::{
    answer_sum::{AnswerSum, RowSum},
    definition::{Matching, Test},
    drive::Caller,
};
use crate::error::{Error, Result};

const COMMAND_SEARCH: u16 = 0;
const COMMAND_PERSIST: u16 = 4;
const VERSION_SEARCH: u16 = 0x119;
const MAX_MATCHES: u32 = 1_000;
/// Longest answer, in bytes. A usual one is 100 rows of 12 bytes and a few lines of text.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// An index of a searchd.
#[derive(Clone, Debug)]
pub(super) struct Sphinx {
    pub(super) addr: String,
    pub(super) index: String,
}

/// SPH_MATCH_* of the modes used here.
const ALL: u32 = 0;
const ANY: u32 = 1;
const PHRASE: u32 = 2;
const EXTENDED2: u32 = 6;

impl Sphinx {
    /// A caller that runs the queries of a test over a persistent connection of its own.
    pub(super) fn caller(&self, test: &Test, queries: &[Vec<String>]) -> Result<Box<dyn Caller>> {
        let mut stream = TcpStream::connect(&self.addr)?;
        stream.set_nodelay(true)?;
        let mut version = [0; 4];
        stream.read_exact(&mut version)?;
        let mut hello = 1_u32.to_be_bytes().to_vec();
        push_header(&mut hello, COMMAND_PERSIST, 0, &1_u32.to_be_bytes());
        stream.write_all(&hello)?;
        let (mode, ranker) = mode(test)?;
        let request = |words: &Vec<String>| {
            let text = match (mode, test.matching) {
                (EXTENDED2, Matching::Any) => words.join(" | "),
                (EXTENDED2, matching) => matching.text(words),
                _ => words.join(" "),
            };
            let rows = test.matching.rows() as u32;
            search(&text, rows, (mode, ranker), &self.index)
        };
        Ok(Box::new(Connection {
            stream,
            requests: queries.iter().map(request).collect(),
            answer: Vec::new(),
        }))
    }
}

/// Sphinx's match mode and ranker for a test. Its old modes choose their own rankers.
fn mode(test: &Test) -> Result<(u32, u32)> {
    Ok(match (test.matching, test.ranker.as_str()) {
        (Matching::Any, "matchany") => (ANY, 0),
        (Matching::All, "proximity") => (ALL, 0),
        (Matching::Phrase, "proximity") => (PHRASE, 0),
        (_, "proximity_bm25") => (EXTENDED2, 0),
        // No ranker of Sphinx uses lengths: its bm25 is the nearest.
        (_, "bm25" | "bm25a") => (EXTENDED2, 1),
        _ => {
            return Err(Error::BadOption(
                "Sphinx has no such ranker for these queries",
            ));
        }
    })
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u32).to_be_bytes());
    bytes.extend(text.as_bytes());
}

fn push_header(bytes: &mut Vec<u8>, command: u16, version: u16, body: &[u8]) {
    bytes.extend(command.to_be_bytes());
    bytes.extend(version.to_be_bytes());
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
}

/// The request of a search. Every other option of that protocol version has its default.
fn search(text: &str, rows: u32, (mode, ranker): (u32, u32), index: &str) -> Vec<u8> {
    let mut body = Vec::new();
    let numbers = |body: &mut Vec<u8>, numbers: &[u32]| {
        numbers
            .iter()
            .for_each(|number| body.extend(number.to_be_bytes()));
    };
    // No other searchd as sender; one query; offset, limit, mode, ranker, sort by relevance.
    numbers(&mut body, &[0, 1, 0, rows, mode, ranker, 0]);
    push_text(&mut body, "");
    push_text(&mut body, text);
    numbers(&mut body, &[0]);
    push_text(&mut body, index);
    // Ids of 64 bits, from 0 to 0, which means all ids. No filter, no group.
    numbers(&mut body, &[1, 0, 0, 0, 0, 0, 0]);
    push_text(&mut body, "");
    numbers(&mut body, &[MAX_MATCHES]);
    push_text(&mut body, "@group desc");
    // Cutoff, retries, their delay.
    numbers(&mut body, &[0, 0, 0]);
    push_text(&mut body, "");
    // No anchor, index weights, time limit or field weights.
    numbers(&mut body, &[0, 0, 0, 0]);
    push_text(&mut body, "");
    numbers(&mut body, &[0]);
    push_text(&mut body, "*");
    let mut request = Vec::new();
    push_header(&mut request, COMMAND_SEARCH, VERSION_SEARCH, &body);
    request
}

struct Connection {
    stream: TcpStream,
    requests: Vec<Vec<u8>>,
    answer: Vec<u8>,
}

impl Caller for Connection {
    fn ask(&mut self, number: usize) -> Result<AnswerSum> {
        self.stream.write_all(&self.requests[number])?;
        let mut header = [0; 8];
        self.stream.read_exact(&mut header)?;
        let [s0, s1, _, _, l0, l1, l2, l3] = header;
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        if length > ANSWER_BYTES_MAX {
            return Err(Error::Peer("Sphinx: its answer is too long".to_owned()));
        }
        self.answer.resize(length, 0);
        self.stream.read_exact(&mut self.answer)?;
        if u16::from_be_bytes([s0, s1]) != 0 {
            return Err(Error::Peer(format!(
                "Sphinx: {}",
                String::from_utf8_lossy(&self.answer)
            )));
        }
        read(&self.answer).ok_or_else(|| Error::Peer("Sphinx: its answer ends early".to_owned()))?
    }
}

/// The unread bytes of an answer.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(length as usize)
    }
}

/// Parses an answer; `None`: it ends early.
fn read(answer: &[u8]) -> Option<Result<AnswerSum>> {
    let mut rest = Reader(answer);
    match rest.u32()? {
        0 => {}
        3 => drop(rest.text()?),
        _ => {
            let told = String::from_utf8_lossy(rest.text()?);
            return Some(Err(Error::Peer(format!("Sphinx: {told}"))));
        }
    }
    for _ in 0..rest.u32()? {
        rest.text()?;
    }
    let attributes = rest.u32()?;
    for _ in 0..attributes {
        rest.text()?;
        rest.u32()?;
    }
    let rows = rest.u32()?;
    let id_bytes = if rest.u32()? == 0 { 4 } else { 8 };
    let mut sum = RowSum::new();
    for _ in 0..rows {
        let id = rest
            .bytes(id_bytes)?
            .iter()
            .fold(0, |id, byte| id << 8 | u64::from(*byte));
        sum.add(id, rest.u32()?.into());
        rest.bytes(4 * attributes as usize)?;
    }
    let _total_kept = rest.u32()?;
    let total = Some(u64::from(rest.u32()?));
    Some(Ok(AnswerSum {
        total,
        rows: Some(sum.value()),
    }))
}

#[cfg(test)]
mod tests {
    use super::{read, search};

    #[test]
    fn a_search_says_how_long_it_is() {
        let request = search("a b", 100, (1, 0), "abstracts");
        let length = u32::from_be_bytes(request[4..8].try_into().unwrap());
        assert_eq!(length as usize, request.len() - 8);
    }

    /// Two rows (7, weight 2 and 9, weight 1) of one field and no attribute, 30 found.
    fn answer() -> Vec<u8> {
        let numbers = |numbers: &[u32]| {
            numbers
                .iter()
                .flat_map(|number| number.to_be_bytes())
                .collect::<Vec<u8>>()
        };
        let mut answer = numbers(&[0, 1, 4]);
        answer.extend(b"body");
        answer.extend(numbers(&[0, 2, 1, 0, 7, 2, 0, 9, 1, 2, 30, 0, 0]));
        answer
    }

    #[test]
    fn rows_and_the_total_are_read() {
        let mut sum = crate::search::answer_sum::RowSum::new();
        sum.add(7, 2);
        sum.add(9, 1);
        let found = read(&answer()).unwrap().unwrap();
        assert_eq!((found.total, found.rows), (Some(30), Some(sum.value())));
    }

    #[test]
    fn an_answer_cut_short_is_refused() {
        let answer = answer();
        // The last two numbers, the time and the words, are not read.
        for cut in 0..answer.len() - 8 {
            assert!(read(&answer[..cut]).is_none(), "{cut}");
        }
    }
}
