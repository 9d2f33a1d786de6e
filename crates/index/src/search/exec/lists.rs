//! The posting lists of a query's words in one part, and their pages.

use smallvec::{SmallVec, smallvec};

use super::super::plan::Plan;
use super::super::rank::Needs;
use super::texts::Texts;
use crate::control::Control;
use crate::error::Result;
use crate::part::{Part, PartWord};
use crate::postings::{List, PAGE_BITS, Page, Run};
use crate::segment::{PairPage, is_bare};

/// A value for each word of a query, inline for up to 8 words: an allocation would cost as much as
/// the search of a small segment.
pub(super) type ByWord<T> = SmallVec<[T; 8]>;

/// The lists of all words in one part; opened once for a query, read by all threads.
#[derive(Default)]
pub(super) struct Lists<'a> {
    /// By number of the word in the plan; `None` for a word that no live row of the part holds.
    lists: Vec<Option<List<'a>>>,
    /// By word: upper bound of what it adds to the sum of a row of this part; at least 0.
    bounds: ByWord<i64>,
    /// By word: its number in the segment's pairs. Empty where they are not asked for.
    of_pairs: ByWord<Option<u32>>,
    /// The words that count for weights and have a list, by falling bound. Index `at` in this order
    /// is called the word's place in [`Lists::wanted`].
    wanted: ByWord<u32>,
}

/// The pages of all lists on one page of the part.
pub(super) struct View<'l> {
    lists: &'l Lists<'l>,
    pub(super) texts: Texts<'l>,
    /// Says whether to stop.
    pub(super) control: &'l Control,
    /// By number of the word in the plan; an empty page for a word without a list.
    pages: ByWord<Page<'l>>,
    /// The pairs of the page, where the query has phrases or words whose runs count.
    pub(super) pairs: Option<PairPage<'l>>,
    part_rows: u32,
    /// Number of the page.
    pub(super) page: usize,
    /// Rows of the part on it.
    pub(super) rows: u32,
}

impl<'a> Lists<'a> {
    /// `words`: the plan's words as the part's dictionary has them. `is_bounded`: whether a caller
    /// asks for bounds. Errors: `Io`, `Corrupt` of the postings.
    pub(super) fn open(
        plan: &Plan,
        words: &[Option<PartWord>],
        part: &'a Part,
        needs: Needs,
        is_bounded: bool,
    ) -> Result<Lists<'a>> {
        let places = plan.has_places() || plan.placed().is_some() || needs >= Needs::Fields;
        let mut lists = Vec::with_capacity(plan.words());
        for word in words {
            lists.push(match word {
                Some(word) => Some(part.list(word, places)?),
                None => None,
            });
        }
        let weigher = plan.weigher();
        let bound = |(word, list): (usize, &Option<List<'_>>)| {
            let (mut most, table) = (0, weigher.table(word));
            if let Some(list) = list {
                list.each_code(|code, _| most = most.max(table[usize::from(code)]));
            }
            i64::from(most)
        };
        let bounds: ByWord<i64> = match is_bounded && needs > Needs::Constant {
            false => smallvec![0; lists.len()],
            true => lists.iter().enumerate().map(bound).collect(),
        };
        let is_wanted = |word: &u32| lists[*word as usize].is_some() && plan.is_wanted(*word);
        let mut wanted: ByWord<u32> = (0..lists.len() as u32).filter(is_wanted).collect();
        wanted.sort_by_key(|word| std::cmp::Reverse(bounds[*word as usize]));
        let number = |(word, text): (&Option<PartWord>, &String)| {
            let is_bare = is_bare(text.as_bytes());
            word.as_ref()
                .filter(|_| is_bare)
                .and_then(PartWord::number_in_segment)
        };
        let asks_pairs = plan.has_places() || weigher.asks_pairs();
        let of_pairs = match asks_pairs && part.has_pairs() {
            true => words.iter().zip(plan.texts()).map(number).collect(),
            false => ByWord::new(),
        };
        Ok(Lists {
            lists,
            bounds,
            of_pairs,
            wanted,
        })
    }

    /// The list of a word; `None` where no live row of the part holds it.
    pub(super) fn get(&self, word: usize) -> Option<&List<'a>> {
        self.lists[word].as_ref()
    }

    /// The number of a word in the pairs of the part; `None` of a word that is in none.
    pub(super) fn in_pairs(&self, word: usize) -> Option<u32> {
        self.of_pairs.get(word).copied().flatten()
    }

    /// Upper bound of what a word adds to the sum of a row; 0 where the part was opened without
    /// bounds.
    pub(super) fn bound(&self, word: u32) -> i64 {
        self.bounds[word as usize]
    }

    /// The words that count for weights and have a list here, by falling bound.
    pub(super) fn wanted(&self) -> &[u32] {
        &self.wanted
    }
}

impl<'l> View<'l> {
    /// A view of the part that has the `texts`; call [`View::turn`] before reading.
    pub(super) fn new(lists: &'l Lists<'l>, texts: Texts<'l>, control: &'l Control) -> View<'l> {
        View {
            lists,
            part_rows: texts.part.rows(),
            texts,
            control,
            pages: ByWord::with_capacity(lists.lists.len()),
            pairs: None,
            page: 0,
            rows: 0,
        }
    }

    /// Turns to another page: rows `page << PAGE_BITS ..` of the part.
    pub(super) fn turn(&mut self, page: usize) {
        let on_page = |list: &'l Option<List<'l>>| match list {
            Some(list) => list.page(page),
            None => Page::default(),
        };
        self.pages.clear();
        self.pages.extend(self.lists.lists.iter().map(on_page));
        self.pairs = match self.lists.of_pairs.is_empty() {
            true => None,
            false => self.texts.part.pairs(page),
        };
        let before = (page as u32) << PAGE_BITS;
        self.page = page;
        self.rows = self.part_rows.saturating_sub(before).min(1 << PAGE_BITS);
    }

    pub(super) fn lists(&self) -> &'l Lists<'l> {
        self.lists
    }

    /// Whether the search was stopped.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.control.interrupt.reason().is_some()
    }

    /// The postings of a word on the page.
    #[inline]
    pub(super) fn word(&self, word: usize) -> &Page<'l> {
        &self.pages[word]
    }

    /// The doc of a row of the page.
    pub(super) fn doc(&self, low: u16) -> u32 {
        (self.page as u32) << PAGE_BITS | u32::from(low)
    }

    /// Set of the fields that a word stands in. `posting`: number of the row's posting in the page.
    pub(super) fn fields(&self, word: usize, posting: usize) -> u64 {
        let at = self.pages[word].first + posting as u32;
        self.lists.get(word).map_or(0, |list| list.fields(at))
    }

    /// By posting of the page: the set of the fields that a word stands in; `None` where a set is no byte of a file.
    pub(super) fn field_sets(&self, word: usize) -> Option<&'l [u8]> {
        let sets = self.lists.get(word)?.small_fields()?;
        sets.get(self.pages[word].first as usize..)
    }

    /// Occurrences of a word in the row of a posting of the page.
    pub(super) fn hits(&self, word: usize, posting: usize) -> u32 {
        let at = self.pages[word].first + posting as u32;
        self.lists.get(word).map_or(0, |list| list.hits(at))
    }

    /// First place of a word in the row of a posting of the page. `run` as in [`List::positions`].
    #[inline]
    pub(super) fn place(&self, word: usize, posting: usize, run: &mut Run) -> Option<u32> {
        let at = self.pages[word].first + posting as u32;
        self.lists.get(word)?.first_position(at, run)
    }

    /// Places of a word in the row of a posting of the page. `run` as in [`List::positions`].
    pub(super) fn positions_from(
        &self,
        word: usize,
        posting: usize,
        run: &mut Run,
        out: &mut Vec<u32>,
    ) {
        let at = self.pages[word].first + posting as u32;
        match self.lists.get(word) {
            Some(list) => list.positions(at, run, out),
            None => out.clear(),
        }
    }

    /// As [`View::positions_from`], without memory of earlier questions.
    pub(super) fn positions(&self, word: usize, posting: usize, out: &mut Vec<u32>) {
        self.positions_from(word, posting, &mut Run::default(), out);
    }
}
