//! Makes the pairs of a new segment from its words' lists.
//!
//! The lists tell for each word where it stands; pairs need for each place which word stands there. So the places of the words
//! that may be in pairs are turned round, some rows at a time. Words of a page are numbered by falling length of their lists.
//! Then those that may follow a word in a pair are the first of them: the fewer, the fewer rows hold the word. Example:
//!
//! ```text
//! words    0 the    1 of    2 cat     followers: 3 of the, 2 of of, 1 of cat: one number for each pair that is kept
//! row 7    "the cat of the day"       its line: 0 2 1 0 -    `day` is in no pair, and each line ends with a gap
//! pairs    the cat 0+2, cat of: 1 is no follower of cat, of the 3+0
//! ```
//!
//! Memory: the lists of one page's pairs, as they are written, and some 20 bytes for each word of a block of rows.

use std::cmp::Reverse;
use std::ops::Range;

use relation::codec::{number_at, put_number};

use super::page::GROUP;
use super::rows::{self, DENSE, list_bytes};
use super::{SHARE, WORD_ROWS, is_kept};
use crate::error::Result;
use crate::postings::{List, PAGE_ROWS, PAGE_WORDS};

/// Words of the rows of a block, about.
const BLOCK_WORDS: u64 = 1 << 19;

/// Most pairs that a page may have; with more, the share is lowered.
const PAIRS_MAX: u64 = 1 << 22;

/// Words of the page for each byte that its pairs may take; with more, the share is lowered. The words of a text take some six
/// bytes each.
const WORDS_A_BYTE: u64 = 1;

/// A word that is in no pair, a gap behind a line, and a pair without rows.
const NONE: u32 = u32::MAX;

/// Bits of a position in a place.
const PLACE_BITS: u32 = 24;

/// The lists that pairs are made of.
pub(in super::super) struct WordLists<'a> {
    /// Rows of the segment.
    pub(in super::super) rows: u32,
    /// Words of all rows, every occurrence counted.
    pub(in super::super) hits: u64,
    /// Text columns of the table.
    pub(in super::super) fields: u8,
    /// Numbers of the bare words that at least [`WORD_ROWS`] rows hold, rising.
    pub(in super::super) words: &'a [u32],
    /// Opens the list of the word at an index of `words`.
    pub(in super::super) list: &'a dyn Fn(usize) -> Result<List<'a>>,
    /// Says whether to stop.
    pub(in super::super) check: &'a dyn Fn() -> Result<()>,
}

/// Calls `out` with the bytes of the section, piece by piece. Errors: those of the lists, of `check` and of `out`.
pub(in super::super) fn write(
    lists: &WordLists<'_>,
    out: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let (mut ends, mut end) = (Vec::new(), 0u64);
    for page in 0..lists.rows.div_ceil(PAGE_ROWS) {
        let bytes = Page::new(lists, page)?.encode()?;
        end += bytes.len() as u64;
        ends.extend(end.to_le_bytes());
        out(&bytes)?;
    }
    out(&ends)
}

/// A word on the page at hand.
struct PageWord<'a> {
    /// Its number in the segment.
    number: u32,
    list: List<'a>,
    /// Rows of the page that hold it.
    length: u32,
}

/// One page, and its words that may be in pairs, by falling length.
struct Page<'w, 'a> {
    lists: &'w WordLists<'a>,
    page: u32,
    rows: u32,
    words: Vec<PageWord<'a>>,
}

impl<'w, 'a> Page<'w, 'a> {
    fn new(lists: &'w WordLists<'a>, page: u32) -> Result<Page<'w, 'a>> {
        let rows = (lists.rows - page * PAGE_ROWS).min(PAGE_ROWS);
        let mut words = Vec::new();
        let least = WORD_ROWS.max(rows.div_ceil(SHARE));
        for (at, number) in lists.words.iter().enumerate() {
            let list = (lists.list)(at)?;
            let length = list.page(page as usize).len() as u32;
            if length >= least {
                words.push(PageWord {
                    number: *number,
                    list,
                    length,
                });
            }
        }
        words.sort_by_key(|word| Reverse(word.length));
        Ok(Page {
            lists,
            page,
            rows,
            words,
        })
    }

    /// The bytes of the page; none where no pair is kept.
    fn encode(&self) -> Result<Vec<u8>> {
        let mut share = SHARE;
        while share > 0 {
            if let Some(mut pairs) = PagePairs::new(self, share) {
                match self.fill(&mut pairs)? {
                    Filled::Whole => return Ok(pairs.encode(self)),
                    Filled::Crowded => break,
                    Filled::TooLarge => {}
                }
            }
            share /= 2;
        }
        Ok(Vec::new())
    }

    /// Adds all rows, block by block.
    fn fill(&self, pairs: &mut PagePairs) -> Result<Filled> {
        let (rows, hits) = (u64::from(self.lists.rows), self.lists.hits.max(1));
        let most = hits * u64::from(self.rows) / rows / WORDS_A_BYTE;
        let of_block = (BLOCK_WORDS * rows / hits).next_multiple_of(64);
        let of_block = of_block.clamp(64, PAGE_ROWS.into()) as u32;
        let (mut block, mut cursors) = (Block::default(), vec![0; self.words.len()]);
        for start in (0..self.rows).step_by(of_block as usize) {
            (self.lists.check)()?;
            let end = self.rows.min(start + of_block);
            block.turn(self, start..end, &mut cursors);
            if !block.lay_out(self.lists.fields) {
                return Ok(Filled::Crowded);
            }
            for row in start..end {
                pairs.add(row as u16, block.row(row - start, self.lists.fields));
            }
            if pairs.bytes(self.rows) > most {
                return Ok(Filled::TooLarge);
            }
        }
        Ok(Filled::Whole)
    }
}

/// How the rows of a page were added.
enum Filled {
    Whole,
    /// The lists take too much room.
    TooLarge,
    /// Two words stand at one place, as older analyses may have had it.
    Crowded,
}

/// Some rows, each of them a line of words for each field.
#[derive(Default)]
struct Block {
    rows: u32,
    /// The places of all words: number of the line, position, word of the page.
    places: Vec<(u32, u32, u32)>,
    /// By line, then the end: where it starts in `words`.
    starts: Vec<u32>,
    /// The lines, a gap behind each.
    words: Vec<u32>,
    lows: Vec<u16>,
}

impl Block {
    /// Gathers the places of some rows of the page. `cursors`: for each word, its postings in the rows before.
    fn turn(&mut self, page: &Page<'_, '_>, rows: Range<u32>, cursors: &mut [u32]) {
        self.rows = rows.end - rows.start;
        self.places.clear();
        let fields = u32::from(page.lists.fields);
        for ((word, cursor), number) in page.words.iter().zip(cursors).zip(0..) {
            let of_page = word.list.page(page.page as usize);
            self.lows.clear();
            of_page.each_in(rows.clone(), *cursor as usize, |low| self.lows.push(low));
            let first = of_page.first + *cursor;
            *cursor += self.lows.len() as u32;
            let of_block = |low: &u16| (u32::from(*low) - rows.start) as usize;
            let postings = self.lows.iter().map(of_block).zip(first..);
            let places = &mut self.places;
            let mut of_rows = word.list.places();
            for (row, at) in postings {
                of_rows.row(at).each(|place| {
                    let line = row as u32 * fields + (place >> PLACE_BITS).min(fields - 1);
                    places.push((line, place & ((1 << PLACE_BITS) - 1), number));
                });
            }
        }
    }

    /// Puts the words into their lines. `false`: two words stand at one place.
    fn lay_out(&mut self, fields: u8) -> bool {
        let lines = self.rows as usize * usize::from(fields);
        self.starts.clear();
        self.starts.resize(lines + 1, 0);
        for (line, position, _) in &self.places {
            let last = &mut self.starts[*line as usize];
            *last = (*last).max(*position);
        }
        let mut sum = 0u32;
        for last in &mut self.starts {
            match sum.checked_add(*last + 1) {
                Some(end) => *last = std::mem::replace(&mut sum, end),
                None => return false,
            }
        }
        self.words.clear();
        self.words.resize(sum as usize, NONE);
        let mut is_single = true;
        for (line, position, word) in &self.places {
            // Positions count from 1, so a gap is left behind each line.
            let at = self.starts[*line as usize] + position.saturating_sub(1);
            let before = std::mem::replace(&mut self.words[at as usize], *word);
            is_single &= before == NONE;
        }
        is_single
    }

    /// The lines of a row.
    fn row(&self, row: u32, fields: u8) -> &[u32] {
        let line = row as usize * usize::from(fields);
        let (start, end) = (self.starts[line], self.starts[line + usize::from(fields)]);
        &self.words[start as usize..end as usize]
    }
}

/// The pairs of a page while rows are added.
struct PagePairs {
    share: u32,
    /// By word: the number of its first pair, and of words that may follow it; the first words of the page are these.
    followers: Vec<(u32, u32)>,
    /// By number of the pair: its list in `lists`, or [`NONE`].
    numbers: Vec<u32>,
    lists: Vec<PairList>,
}

/// The list of a pair while it is made.
struct PairList {
    count: u32,
    last: u16,
    /// Distances, below [`DENSE`] rows; then a bitmap.
    bytes: Vec<u8>,
}

impl PagePairs {
    /// `None`: there may be too many pairs.
    fn new(page: &Page<'_, '_>, share: u32) -> Option<PagePairs> {
        let lengths: Vec<u32> = page.words.iter().map(|word| word.length).collect();
        let mut sum = 0;
        let followers = lengths.iter().map(|left| {
            let is_follower = |right: &u32| is_kept([*left, *right], page.rows, share);
            let count = lengths.partition_point(is_follower) as u32;
            let first = sum as u32;
            sum += u64::from(count);
            (first, count)
        });
        let followers = followers.collect();
        (sum <= PAIRS_MAX).then(|| PagePairs {
            share,
            followers,
            numbers: vec![NONE; sum as usize],
            lists: Vec::new(),
        })
    }

    /// Adds the pairs of a row. Rows rise.
    fn add(&mut self, row: u16, line: &[u32]) {
        for pair in line.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let Some((first, count)) = self.followers.get(left as usize) else {
                continue; // `NONE`
            };
            if right < *count {
                let number = &mut self.numbers[(first + right) as usize];
                if *number == NONE {
                    *number = self.lists.len() as u32;
                    self.lists.push(PairList {
                        count: 0,
                        last: 0,
                        bytes: Vec::new(),
                    });
                }
                self.lists[*number as usize].push(row);
            }
        }
    }

    /// Bytes that the lists take on the page. `rows`: those of the page.
    fn bytes(&self, rows: u32) -> u64 {
        let bytes = |list: &PairList| list_bytes(list.count, rows) as u64;
        self.lists.iter().map(bytes).sum()
    }

    fn encode(&self, page: &Page<'_, '_>) -> Vec<u8> {
        if self.numbers.is_empty() {
            return Vec::new();
        }
        let mut pairs = Vec::with_capacity(self.lists.len());
        for ((first, count), left) in self.followers.iter().zip(&page.words) {
            let numbers = &self.numbers[*first as usize..(first + count) as usize];
            for (number, right) in numbers.iter().zip(&page.words) {
                if let Some(list) = self.lists.get(*number as usize) {
                    pairs.push((left.number, right.number, list));
                }
            }
        }
        pairs.sort_unstable_by_key(|(left, right, _)| (*left, *right));
        let mut lists = Vec::with_capacity(self.bytes(page.rows) as usize);
        let (mut starts, mut gathered) = (Vec::new(), Vec::new());
        for (at, (_, _, list)) in pairs.iter().enumerate() {
            if at.is_multiple_of(GROUP) {
                starts.push(lists.len() as u32);
            }
            list.encode(page.rows, &mut gathered, &mut lists);
        }
        let (mut lefts, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
        for of_left in pairs.chunk_by(|(one, ..), (other, ..)| one == other) {
            lefts.push(of_left[0].0);
            end += of_left.len() as u32;
            ends.push(end);
        }
        let rights = pairs.iter().map(|(_, right, _)| *right);
        let mut out = Vec::with_capacity(lists.len() + 7 * pairs.len() + 8 * lefts.len() + 16);
        let head = [self.share, lefts.len() as u32, pairs.len() as u32];
        let numbers = head.into_iter().chain(lefts).chain(ends).chain(rights);
        out.extend(numbers.flat_map(u32::to_le_bytes));
        let counts = pairs.iter().map(|(.., list)| (list.count - 1) as u16);
        out.extend(counts.flat_map(u16::to_le_bytes));
        out.extend(starts.into_iter().flat_map(u32::to_le_bytes));
        out.extend(lists);
        out
    }
}

impl PairList {
    /// Adds a row, once.
    #[inline]
    fn push(&mut self, row: u16) {
        if self.count > 0 && self.last == row {
            return;
        }
        self.count += 1;
        if self.count as usize == DENSE {
            self.make_dense();
        }
        match (self.count as usize) < DENSE {
            true => put_number(&mut self.bytes, u64::from(row - self.last)),
            false => self.bytes[usize::from(row >> 3)] |= 1 << (row & 7),
        }
        self.last = row;
    }

    /// Appends the list as the page has it. `rows`: those of the page; `gathered`: any rows.
    fn encode(&self, rows: u32, gathered: &mut Vec<u16>, out: &mut Vec<u8>) {
        if self.count as usize >= DENSE {
            out.extend_from_slice(&self.bytes);
            return;
        }
        gathered.clear();
        let (mut at, mut low) = (0, 0);
        while let Some(gap) = number_at(&self.bytes, &mut at) {
            low += gap as u16;
            gathered.push(low);
        }
        rows::encode(gathered, rows, out);
    }

    /// Makes a bitmap of the distances.
    fn make_dense(&mut self) {
        let mut bitmap = vec![0; 8 * PAGE_WORDS];
        let (mut at, mut low) = (0, 0);
        while let Some(gap) = number_at(&self.bytes, &mut at) {
            low += gap as usize;
            bitmap[low >> 3] |= 1 << (low & 7);
        }
        self.bytes = bitmap;
    }
}
