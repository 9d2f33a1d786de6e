//! Writes the compact form while the text is read, without a tree: `[0,0,…]` of a megabyte would be a tree of sixteen.
//!
//! At the end of an array or object what stands in it is moved behind its head: a copy for each level of nesting. Reading 2 MB that
//! are 63 levels deep takes four times what the same numbers take in one array; so the copies are counted, and may be stopped
//! between two levels. To gather all nodes first and to put them together once is linear, but it took twice as long over rows of
//! small objects, and 24 bytes of memory for a byte of text.

use std::fmt;

use language::meter::Work;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::form::{
    ARRAY, FALSE, JSON_DEPTH_MAX, JsonError, NULL, OBJECT, REAL, TEXT, TRUE, UNSIGNED, WHOLE,
};
use super::read::JsonNode;

/// The message of a text that is nested too deep; [`compact`] reads it.
const TOO_DEEP: &str = "nested too deep";

/// Units of a node that is read, and of a byte of a text or key.
const NODE_UNITS: u64 = 40;
const TEXT_UNITS: u64 = 2;

/// Bytes that are moved for one unit.
const COPIED_BYTES: u64 = 4;

/// The compact form of a text. Errors: `Syntax`, `Depth`, `Stopped`.
pub(super) fn compact(text: &[u8], work: &Work<'_>) -> Result<Vec<u8>, JsonError> {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut reader = serde_json::Deserializer::from_slice(text);
    let mut scratch = Vec::new();
    let node = Node {
        out: &mut out,
        scratch: &mut scratch,
        depth: 0,
        work,
    };
    let read = node.deserialize(&mut reader).and_then(|()| reader.end());
    match read {
        Ok(()) => Ok(out),
        Err(_) if work.is_stopped() => Err(JsonError::Stopped),
        Err(error) => {
            let message = error.to_string();
            // The library has a bound of its own, deeper than ours.
            let is_deep = message.starts_with(TOO_DEEP) || message.starts_with("recursion limit");
            let at = match error.is_eof() {
                true => text.len(),
                false => byte_of(text, error.line(), error.column()),
            };
            Err(match is_deep {
                true => JsonError::Depth,
                false => JsonError::Syntax { at },
            })
        }
    }
}

/// The byte, from 0, of a line and of a byte in it, both from 1. Byte 0 of a line is its line feed, which ends the line before.
fn byte_of(text: &[u8], line: usize, column: usize) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (before + column).saturating_sub(1).min(text.len())
}

/// The compact form of a node. A number that JSON has not becomes null.
pub(super) fn node(node: JsonNode<'_>) -> Vec<u8> {
    match node {
        JsonNode::Null => vec![NULL],
        JsonNode::Truth(truth) => vec![if truth { TRUE } else { FALSE }],
        JsonNode::Whole(number) => match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => [&[WHOLE][..], &number.to_le_bytes()].concat(),
            (_, Ok(number)) => [&[UNSIGNED][..], &number.to_le_bytes()].concat(),
            (Err(_), Err(_)) => self::node(JsonNode::Real(number as f64)),
        },
        JsonNode::Real(number) if number.is_finite() => {
            [&[REAL][..], &number.to_le_bytes()].concat()
        }
        JsonNode::Real(_) => vec![NULL],
        JsonNode::Text(text) => [&[TEXT][..], text.as_bytes()].concat(),
        JsonNode::Document(bytes) => bytes.to_vec(),
    }
}

/// A node that is appended to `out`.
struct Node<'o, 'w> {
    out: &'o mut Vec<u8>,
    /// Empty between nodes: one buffer for all, so that a deep document does not take new memory at each depth.
    scratch: &'o mut Vec<u8>,
    /// Arrays and objects around it.
    depth: usize,
    work: &'o Work<'w>,
}

impl Node<'_, '_> {
    fn count<E: Error>(&self, units: u64) -> Result<(), E> {
        // The caller sees by the meter that the text is not to blame.
        let counted = self.work.begin(units);
        counted.ok_or_else(|| E::custom("the meter has stopped"))
    }

    fn check_depth<E: Error>(&self) -> Result<(), E> {
        match self.depth < JSON_DEPTH_MAX {
            true => Ok(()),
            false => Err(E::custom(TOO_DEEP)),
        }
    }

    fn tagged(self, tag: u8, bytes: &[u8]) {
        self.out.push(tag);
        self.out.extend_from_slice(bytes);
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.count(NODE_UNITS)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.tagged(NULL, &[]);
        Ok(())
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        self.tagged(if truth { TRUE } else { FALSE }, &[]);
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.tagged(WHOLE, &number.to_le_bytes());
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => {
                self.tagged(UNSIGNED, &number.to_le_bytes());
                Ok(())
            }
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.tagged(REAL, &number.to_le_bytes());
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.count(TEXT_UNITS * text.len() as u64)?;
        self.tagged(TEXT, text.as_bytes());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.check_depth()?;
        let (start, mut ends) = (self.out.len(), Vec::new());
        let depth = self.depth + 1;
        loop {
            let node = Node {
                out: &mut *self.out,
                scratch: &mut *self.scratch,
                depth,
                work: self.work,
            };
            if seq.next_element_seed(node)?.is_none() {
                break;
            }
            ends.push((self.out.len() - start) as u32); // a text has at most 4 MiB
        }
        self.count((self.out.len() - start) as u64 / COPIED_BYTES)?;
        let mut head = vec![ARRAY];
        head.extend((ends.len() as u32).to_le_bytes());
        ends.iter().for_each(|end| head.extend(end.to_le_bytes()));
        self.out.splice(start..start, head);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.check_depth()?;
        // Keys and values in the order written, with the range of each.
        let (start, mut keys) = (self.out.len(), String::new());
        let mut members = Vec::new();
        let depth = self.depth + 1;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let (key_start, value_start) = (keys.len(), self.out.len() - start);
            self.count(TEXT_UNITS * key.len() as u64)?;
            keys.push_str(&key);
            let node = Node {
                out: &mut *self.out,
                scratch: &mut *self.scratch,
                depth,
                work: self.work,
            };
            map.next_value_seed(node)?;
            let value = value_start..self.out.len() - start;
            members.push((key_start..keys.len(), value));
        }
        // The sort is stable, so the last of repeated members is the last of its neighbours.
        let key_of = |member: &Member| &keys[member.0.clone()];
        members.sort_by(|a: &Member, b: &Member| key_of(a).cmp(key_of(b)));
        let mut kept: Vec<Member> = Vec::with_capacity(members.len());
        for member in members {
            match kept.last_mut() {
                Some(last) if key_of(last) == key_of(&member) => *last = member,
                _ => kept.push(member),
            }
        }
        self.count((self.out.len() - start) as u64 / COPIED_BYTES)?;
        self.scratch.extend_from_slice(&self.out[start..]);
        self.out.truncate(start);
        self.out.push(OBJECT);
        self.out.extend((kept.len() as u32).to_le_bytes());
        let (mut key_end, mut value_end) = (0, 0);
        for (key, value) in &kept {
            key_end += key.len() as u32;
            value_end += value.len() as u32;
            self.out.extend(key_end.to_le_bytes());
            self.out.extend(value_end.to_le_bytes());
        }
        for member in &kept {
            self.out.extend_from_slice(key_of(member).as_bytes());
        }
        for (_, value) in &kept {
            self.out.extend_from_slice(&self.scratch[value.clone()]);
        }
        self.scratch.clear();
        Ok(())
    }
}

/// Where a member's key and value lie.
type Member = (std::ops::Range<usize>, std::ops::Range<usize>);
