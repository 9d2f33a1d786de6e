//! Entries of the query log on their way to the writer, as few bytes as they need.
//!
//! Example: two look-ups by id.
//!
//! ```text
//! heads   [.. texts_at 0, lengths: statement 28, tables 5, client 9 ..] [.. texts_at 42, lengths: statement 29, ..]
//! texts   SELECT n FROM posts WHERE id=1posts127.0.0.1SELECT n FROM posts WHERE id=23posts127.0.0.1
//! ```
//!
//! An [`Entry`] is half a kilobyte with a piece of memory for each text: at 200,000 searches a second the writer would find none of
//! them in a cache. Here a look-up takes some 200 bytes, behind each other.

use std::borrow::Cow;
use std::sync::Arc;

use engine::Reads;
use study::log::{Entry, MatchMode, SortMode};

/// A text of an entry. The texts of an entry stand in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Statement,
    Tables,
    Query,
    GroupBy,
    Ranker,
    Comment,
    Client,
    Error,
}

/// How many kinds of [`Text`] there are.
const TEXTS: usize = Text::Error as usize + 1;

/// The length of a text that an entry does not have.
const NONE: u32 = u32::MAX;

/// The numbers of an entry, and where its texts are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// When it was answered, in microseconds since 1970-01-01 UTC.
    pub(super) unix_us: i64,
    pub(super) real_us: u64,
    pub(super) queued_us: u64,
    pub(super) found: Option<u64>,
    pub(super) returned: Option<u64>,
    pub(super) window: Option<(u64, u64)>,
    pub(super) filters: Option<u64>,
    pub(super) threads: Option<u64>,
    pub(super) cut_bytes: Option<u64>,
    pub(super) reads: Option<Reads>,
    pub(super) connection: u64,
    pub(super) mode: Option<MatchMode>,
    pub(super) sort: Option<SortMode>,
    /// Place of its first text among those of the block.
    texts_at: usize,
    lengths: [u32; TEXTS],
}

impl Default for Head {
    fn default() -> Head {
        Head {
            unix_us: 0,
            real_us: 0,
            queued_us: 0,
            found: None,
            returned: None,
            window: None,
            filters: None,
            threads: None,
            cut_bytes: None,
            reads: None,
            connection: 0,
            mode: None,
            sort: None,
            texts_at: 0,
            lengths: [NONE; TEXTS],
        }
    }
}

/// An entry that is being made.
#[derive(Default)]
pub(crate) struct Told {
    pub(super) head: Head,
    texts: Vec<u8>,
}

impl Told {
    /// An entry with the beginning of the client's statement, which has `whole` bytes.
    pub(super) fn new(statement: Vec<u8>, whole: u64) -> Told {
        let mut head = Head::default();
        let length = statement.len() as u32;
        head.lengths[Text::Statement as usize] = length;
        head.cut_bytes = (whole > u64::from(length)).then_some(whole);
        Told {
            head,
            texts: statement,
        }
    }

    /// Adds a text. Texts are added in their order, each once.
    pub(super) fn add(&mut self, text: Text, bytes: &[u8]) {
        debug_assert!(
            self.head.lengths[text as usize..]
                .iter()
                .all(|it| *it == NONE),
            "{text:?} comes too late"
        );
        self.head.lengths[text as usize] = bytes.len() as u32;
        self.texts.extend_from_slice(bytes);
    }

    /// Names of the tables with commas between.
    pub(super) fn tables(&self) -> &[u8] {
        self.head
            .texts(&self.texts)
            .get(Text::Tables)
            .unwrap_or_default()
    }

    /// Memory of it in a block, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Head>() + self.texts.len()
    }
}

/// The texts of one entry.
struct Texts<'b> {
    lengths: &'b [u32; TEXTS],
    bytes: &'b [u8],
}

impl<'b> Texts<'b> {
    fn get(&self, text: Text) -> Option<&'b [u8]> {
        let known = |length: &u32| if *length == NONE { 0 } else { *length as usize };
        let length = self.lengths[text as usize];
        let start: usize = self.lengths[..text as usize].iter().map(known).sum();
        (length != NONE).then(|| &self.bytes[start..start + length as usize])
    }
}

impl Head {
    fn texts<'b>(&'b self, all: &'b [u8]) -> Texts<'b> {
        Texts {
            lengths: &self.lengths,
            bytes: &all[self.texts_at..],
        }
    }
}

/// Entries behind each other.
#[derive(Default)]
pub struct Block {
    heads: Vec<Head>,
    texts: Vec<u8>,
}

impl Block {
    pub(super) fn push(&mut self, told: &Told) {
        self.heads.push(Head {
            texts_at: self.texts.len(),
            ..told.head
        });
        self.texts.extend_from_slice(&told.texts);
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Memory of the entries, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.heads.len() * size_of::<Head>() + self.texts.len()
    }

    /// Forgets the entries, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.texts.clear();
    }

    /// The entries, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = LoggedAt<'_>> {
        self.heads.iter().map(|head| LoggedAt { head, block: self })
    }
}

/// An entry of a block.
#[derive(Clone, Copy)]
pub struct LoggedAt<'b> {
    head: &'b Head,
    block: &'b Block,
}

impl<'b> LoggedAt<'b> {
    /// When it was answered, in microseconds since 1970-01-01 UTC.
    pub fn unix_us(&self) -> i64 {
        self.head.unix_us
    }

    /// What it is. Its time and the sizes of tables are not set: the writer knows them.
    pub fn entry(&self) -> Entry<'b> {
        let head = self.head;
        let texts = head.texts(&self.block.texts);
        let text = |text| texts.get(text).map(Cow::Borrowed);
        Entry {
            real_us: Some(head.real_us),
            wall_us: Some(head.real_us.saturating_sub(head.queued_us)),
            queued_us: Some(head.queued_us),
            multiplier: Some(1),
            found: head.found,
            returned: head.returned,
            mode: head.mode,
            filters: head.filters,
            sort: head.sort,
            window: head.window,
            group_by: text(Text::GroupBy),
            tables: text(Text::Tables).unwrap_or_default(),
            query: text(Text::Query),
            statement: text(Text::Statement),
            cut_bytes: head.cut_bytes,
            ranker: text(Text::Ranker),
            threads: head.threads,
            connection: Some(head.connection),
            client: text(Text::Client),
            error: text(Text::Error),
            comment: text(Text::Comment),
            reads: head.reads.map(|reads| reads.faults),
            faults: head.reads.map(|reads| reads.faults),
            read_bytes: head.reads.map(|reads| reads.bytes),
            ..Entry::default()
        }
    }
}

/// An entry among the last ones.
pub struct Logged {
    block: Arc<Block>,
    at: usize,
}

impl Logged {
    /// The last entry of a block, and each before it.
    pub(super) fn backwards(block: Arc<Block>) -> impl Iterator<Item = Logged> {
        let count = block.len();
        (0..count).rev().map(move |at| Logged {
            block: Arc::clone(&block),
            at,
        })
    }

    /// Where it stands in its block.
    pub fn get(&self) -> LoggedAt<'_> {
        LoggedAt {
            head: &self.block.heads[self.at],
            block: &self.block,
        }
    }
}
