//! Writing a posting list.

use relation::codec::put_number;

use super::bits::pack;
use super::code::{code, hits_of};
use super::page::{WORDS, doc_bits};
use super::places::PlacesWriter;
use super::posting::{LONG, ListEntry, ListForm, PAGE_BITS, PAGE_ROWS};

/// Takes the rows of one word by rising doc and appends its list to two buffers.
pub(crate) struct ListWriter<'a> {
    rows: u32,
    many_fields: bool,
    postings: &'a mut Vec<u8>,
    postings_start: usize,
    places: PlacesWriter<'a>,
    docs: Vec<u32>,
    codes: Vec<u8>,
    fields: Vec<u64>,
    /// Posting and occurrences for each code of class 0.
    open: Vec<(u32, u32)>,
    hits: u64,
}

impl<'a> ListWriter<'a> {
    /// Starts the list of a word in a segment of `rows` rows. `many_fields`: whether the table has
    /// more than one text column. The list is appended to both buffers.
    pub(crate) fn new(
        rows: u32,
        many_fields: bool,
        postings: &'a mut Vec<u8>,
        positions: &'a mut Vec<u8>,
    ) -> ListWriter<'a> {
        ListWriter {
            rows,
            many_fields,
            postings_start: postings.len(),
            postings,
            places: PlacesWriter::new(positions),
            docs: Vec::new(),
            codes: Vec::new(),
            fields: Vec::new(),
            open: Vec::new(),
            hits: 0,
        }
    }

    /// Adds a row. `doc`: above the one before and below `rows`. `positions`: the word's places in
    /// the row, rising, at least one, each `field << 24 | position`.
    pub(crate) fn push(&mut self, doc: u32, length_class: u8, positions: &[u32]) {
        let hits = positions.len() as u32;
        let code = code(hits, length_class);
        if hits_of(code).is_none() {
            self.open.push((self.docs.len() as u32, hits));
        }
        self.docs.push(doc);
        self.codes.push(code);
        if self.many_fields {
            let bit = |place: &u32| 1u64.checked_shl(place >> 24).unwrap_or(0);
            self.fields.push(
                positions
                    .iter()
                    .fold(0, |fields, place| fields | bit(place)),
            );
        }
        self.hits += u64::from(hits);
        self.places.push(positions);
    }

    /// Writes the list and returns its counts and sizes. At least one row was pushed.
    pub(crate) fn finish(mut self) -> ListEntry {
        put_number(self.postings, self.docs.len() as u64);
        if self.docs.len() < LONG {
            let bits = doc_bits(self.rows, ListForm::Narrow);
            pack(self.docs.iter().copied(), bits, self.postings);
        } else {
            self.write_pages();
        }
        self.postings.extend(&self.codes);
        self.write_fields();
        put_number(self.postings, self.open.len() as u64);
        for (at, hits) in &self.open {
            self.postings.extend(at.to_le_bytes());
            self.postings.extend(hits.to_le_bytes());
        }
        ListEntry {
            documents: self.docs.len() as u32,
            hits: self.hits,
            postings_bytes: (self.postings.len() - self.postings_start) as u64,
            positions_bytes: self.places.finish(),
        }
    }

    /// Writes the count of each code, the end of each page (postings up to it), and the pages.
    fn write_pages(&mut self) {
        let mut counts = [0u32; 256];
        for code in &self.codes {
            counts[usize::from(*code)] += 1;
        }
        let present = counts.iter().filter(|count| **count > 0).count();
        self.postings.extend((present as u16).to_le_bytes());
        for (code, count) in (0..=u8::MAX).zip(counts).filter(|(_, count)| *count > 0) {
            self.postings.push(code);
            self.postings.extend(count.to_le_bytes());
        }
        let mut end = 0;
        for page in 0..self.rows.div_ceil(PAGE_ROWS) {
            end += self.docs[end..].partition_point(|doc| doc >> PAGE_BITS <= page);
            self.postings.extend((end as u32).to_le_bytes());
        }
        for page in self.docs.chunk_by(|a, b| a >> PAGE_BITS == b >> PAGE_BITS) {
            write_page(page, ListForm::Narrow, self.postings);
        }
    }

    /// Writes each row's set of fields at the least width in bytes; nothing where the table has one
    /// text column.
    fn write_fields(&mut self) {
        if !self.many_fields {
            return;
        }
        let all = self.fields.iter().fold(0, |all, fields| all | fields);
        let width = (64 - all.leading_zeros()).div_ceil(8).max(1) as usize;
        self.postings.push(width as u8);
        for fields in &self.fields {
            self.postings.extend(&fields.to_le_bytes()[..width]);
        }
    }
}

/// Writes one page: an array of rows, or a bitmap followed by its ranks.
pub(super) fn write_page(docs: &[u32], form: ListForm, out: &mut Vec<u8>) {
    if docs.len() < form.dense() {
        pack(docs.iter().map(|doc| doc & (PAGE_ROWS - 1)), PAGE_BITS, out);
        return;
    }
    let mut words = [0u64; WORDS];
    for doc in docs {
        words[(doc >> 6) as usize % WORDS] |= 1 << (doc & 63);
    }
    for word in &words {
        out.extend(word.to_le_bytes());
    }
    let mut rank = 0;
    for word in &words {
        out.extend((rank as u16).to_le_bytes());
        rank += word.count_ones();
    }
}
