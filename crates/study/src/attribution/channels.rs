//! Names of channels: source, medium and subcategory → a name by a pattern → maps → a channel.
//!
//! ```text
//! google, cpc, –        →  pattern source-med-subcat  →  google-cpc-(none)
//! google-cpc-(none)     →  map, exact                 →  Paid search
//! bing-organic-(none)   →  map, /^[a-z]+-organic/     →  Organic search
//! ```

use std::hash::BuildHasher;

use hashbrown::{HashMap, HashTable};
use regex_automata::hybrid::dfa;
use regex_automata::hybrid::regex::{Cache, Regex};
use rustc_hash::FxBuildHasher;

use super::limits::{CHANNEL_BYTES_MAX, CHANNELS_MAX, MAPS_MAX, NAMES_MAX, PATTERN_BYTES_MAX};

/// A channel. Range: 0 to [`CHANNELS_MAX`] - 1, by the order of appearance, or by name after [`Channels::sorted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ChannelId(pub u16);

/// Stands for a part of a name that is missing.
pub const NONE: &str = "(none)";

/// How the names of touches become names of channels.
#[derive(Debug)]
pub struct Naming {
    pattern: Vec<Piece>,
    exact: HashMap<Vec<u8>, String, FxBuildHasher>,
    expressions: Vec<Expression>,
}

#[derive(Debug)]
struct Expression {
    regex: Regex,
    cache: Cache,
    channel: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Source,
    Medium,
    Subcategory,
}

/// The words of a pattern, the longest first.
const WORDS: [(&str, Piece); 4] = [
    ("source", Piece::Source),
    ("medium", Piece::Medium),
    ("subcat", Piece::Subcategory),
    ("med", Piece::Medium),
];

/// What a touch says of its channel. An empty part is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Such as `google`.
    pub source: &'a [u8],
    /// Such as `cpc`.
    pub medium: &'a [u8],
    /// A part of the site, or what else the page named.
    pub subcategory: &'a [u8],
}

/// Why a channel is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadChannel {
    /// The name is empty, not UTF-8, or longer than [`CHANNEL_BYTES_MAX`].
    Name,
    /// There are more than [`CHANNELS_MAX`].
    TooMany,
}

impl Default for Naming {
    fn default() -> Naming {
        Naming::new("source-med-subcat")
    }
}

impl Naming {
    /// Names by a pattern, in which `source`, `medium`, `med` and `subcat` stand for the parts of a touch. No maps.
    pub fn new(pattern: &str) -> Naming {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = pattern;
        while let Some(letter) = rest.chars().next() {
            match WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
                Some((word, piece)) => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(piece.clone());
                    rest = &rest[word.len()..];
                }
                None => {
                    text.push(letter);
                    rest = &rest[letter.len_utf8()..];
                }
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Naming {
            pattern: pieces,
            exact: HashMap::default(),
            expressions: Vec::new(),
        }
    }

    /// Adds a map. A name between slashes is a regular expression, which is looked for anywhere in a name. Exact names go first,
    /// then expressions in the order of their maps.
    ///
    /// # Errors
    /// An expression that cannot be read, a name twice, an empty channel, too many maps.
    pub fn map(&mut self, name: &str, channel: &str) -> Result<(), String> {
        if self.exact.len() + self.expressions.len() >= MAPS_MAX {
            return Err(format!("more than {MAPS_MAX} maps"));
        }
        if channel.is_empty() || channel.len() > CHANNEL_BYTES_MAX {
            return Err(format!("a channel has 1 to {CHANNEL_BYTES_MAX} bytes"));
        }
        let inner = name
            .strip_prefix('/')
            .and_then(|name| name.strip_suffix('/'));
        let Some(inner) = inner else {
            let before = self.exact.insert(name.into(), channel.to_owned());
            return match before {
                Some(other) if other != channel => Err(format!("{name} is mapped twice")),
                Some(_) | None => Ok(()),
            };
        };
        let regex = Regex::builder()
            .dfa(dfa::Config::new().cache_capacity(PATTERN_BYTES_MAX))
            .build(inner)
            .map_err(|error| format!("/{inner}/ is no regular expression: {error}"))?;
        self.expressions.push(Expression {
            cache: regex.create_cache(),
            regex,
            channel: channel.to_owned(),
        });
        Ok(())
    }

    /// The name of a touch by the pattern.
    pub fn name(&self, origin: Origin<'_>, out: &mut Vec<u8>) {
        let part = |part: &[u8], out: &mut Vec<u8>| match part {
            b"" => out.extend_from_slice(NONE.as_bytes()),
            part => out.extend_from_slice(part),
        };
        out.clear();
        for piece in &self.pattern {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Source => part(origin.source, out),
                Piece::Medium => part(origin.medium, out),
                Piece::Subcategory => part(origin.subcategory, out),
            }
        }
    }

    /// The channel of a name by the maps; the name itself where no map has it.
    fn mapped<'a>(&'a mut self, name: &'a str) -> &'a str {
        if let Some(channel) = self.exact.get(name.as_bytes()) {
            return channel;
        }
        let found = self
            .expressions
            .iter_mut()
            .position(|expression| expression.regex.is_match(&mut expression.cache, name));
        found.map_or(name, |at| &self.expressions[at].channel)
    }
}

/// Bytes of a name with its places in lists and tables, at most.
const NAME_BYTES: usize = CHANNEL_BYTES_MAX + 128;

/// The channels that were met.
#[derive(Debug, Default)]
pub struct Channels {
    naming: Naming,
    names: Vec<String>,
    by_name: HashTable<u16>,
    /// Channels of names before the maps.
    known: HashMap<Box<[u8]>, ChannelId, FxBuildHasher>,
}

impl Channels {
    /// No channel yet.
    pub fn new(naming: Naming) -> Channels {
        Channels {
            naming,
            ..Channels::default()
        }
    }

    /// Bytes that they take at most, after `more` touches.
    pub fn bytes(&self, more: usize) -> usize {
        (self.names.len() + self.known.len() + 2 * more) * NAME_BYTES
    }

    /// The channel of a touch.
    ///
    /// # Errors
    /// A bad name, or too many channels.
    pub fn of_origin(
        &mut self,
        origin: Origin<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<ChannelId, BadChannel> {
        self.naming.name(origin, scratch);
        self.of_name(scratch)
    }

    /// The channel of a name before the maps.
    ///
    /// # Errors
    /// A bad name, or too many channels.
    #[inline]
    pub fn of_name(&mut self, name: &[u8]) -> Result<ChannelId, BadChannel> {
        match self.known.get(name) {
            Some(channel) => Ok(*channel),
            None => self.of_new_name(name),
        }
    }

    #[cold]
    fn of_new_name(&mut self, name: &[u8]) -> Result<ChannelId, BadChannel> {
        let text = std::str::from_utf8(name).map_err(|_| BadChannel::Name)?;
        if text.is_empty() || text.len() > CHANNEL_BYTES_MAX {
            return Err(BadChannel::Name);
        }
        let mapped = self.naming.mapped(text);
        let hash = FxBuildHasher.hash_one(mapped);
        let names = &self.names;
        let found = self
            .by_name
            .find(hash, |at| names[usize::from(*at)] == mapped);
        let id = match found {
            Some(id) => *id,
            None if self.names.len() == CHANNELS_MAX => return Err(BadChannel::TooMany),
            None => {
                let id = self.names.len() as u16;
                self.names.push(mapped.to_owned());
                let names = &self.names;
                self.by_name.insert_unique(hash, id, |at| {
                    FxBuildHasher.hash_one(names[usize::from(*at)].as_str())
                });
                id
            }
        };
        if self.known.len() < NAMES_MAX {
            self.known.insert(name.into(), ChannelId(id));
        }
        Ok(ChannelId(id))
    }

    /// The names in order, and for each channel its number in that order: so that no figure depends on the order of lines.
    pub fn sorted(self) -> (Vec<String>, Vec<ChannelId>) {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|left, right| self.names[*left].cmp(&self.names[*right]));
        let mut ranks = vec![ChannelId(0); order.len()];
        for (rank, id) in order.iter().enumerate() {
            ranks[*id] = ChannelId(rank as u16);
        }
        let mut names = self.names;
        names.sort();
        (names, ranks)
    }
}

#[cfg(test)]
mod tests;
