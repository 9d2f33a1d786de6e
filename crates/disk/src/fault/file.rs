//! A file of the faulty disk: the content that readers see, the durable content, and the page states between them.

use super::{Fate, Unsynced};
use crate::PAGE_BYTES;
use crate::memory::{copy_in, copy_out, held, in_memory};
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

const SECTOR_BYTES: usize = 512;

/// The contents that a page had since the last sync that covered it, oldest first. Never empty.
type States = Vec<Vec<u8>>;

#[derive(Debug, Default)]
pub(super) struct FaultFile(Mutex<Content>);

#[derive(Debug, Default)]
struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
    unsynced: BTreeMap<u64, States>,
    /// Pages that a failed sync marked as clean. No later sync writes them, unless they are written again.
    abandoned: BTreeMap<u64, States>,
}

impl FaultFile {
    pub(super) fn durable(content: Vec<u8>) -> Self {
        FaultFile(Mutex::new(Content {
            live: content.clone(),
            durable: content,
            ..Content::default()
        }))
    }

    pub(super) fn len(&self) -> u64 {
        held(&self.0).live.len() as u64
    }

    pub(super) fn allocated_bytes(&self) -> u64 {
        self.len().next_multiple_of(PAGE_BYTES as u64)
    }

    pub(super) fn content(&self) -> Vec<u8> {
        held(&self.0).live.clone()
    }

    pub(super) fn read(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        copy_out(&held(&self.0).live, offset, buf)
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut content = held(&self.0);
        copy_in(&mut content.live, offset, data)?;
        content.note(offset, offset + data.len() as u64);
        Ok(())
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        let mut content = held(&self.0);
        let before = content.live.len() as u64;
        content.live.resize(in_memory(len)?, 0);
        // Bytes that were cut off must read as zeroes if the file grows again. Until a sync the old bytes may come back.
        content.note(len, before);
        Ok(())
    }

    pub(super) fn sync(&self) {
        let mut content = held(&self.0);
        let len = content.live.len();
        content.durable.resize(len, 0);
        for (page, states) in std::mem::take(&mut content.unsynced) {
            content.abandoned.remove(&page);
            if let Some(newest) = states.last() {
                overwrite(&mut content.durable, page, newest);
            }
        }
    }

    /// Marks all unsynced pages as clean, as a failed sync does.
    pub(super) fn abandon(&self) {
        let mut content = held(&self.0);
        for (page, states) in std::mem::take(&mut content.unsynced) {
            content.abandoned.entry(page).or_default().extend(states);
        }
    }

    /// A content that the device may hold if the power goes now.
    pub(super) fn crash(&self, fate: &mut dyn FnMut(Unsynced) -> Fate) -> Vec<u8> {
        let content = held(&self.0);
        let mut image = content.durable.clone();
        if content.durable.len() != content.live.len() && fate(Unsynced::Length) == Fate::Kept {
            image.resize(content.live.len(), 0);
        }
        let mut pages = content.abandoned.clone();
        for (page, states) in &content.unsynced {
            pages
                .entry(*page)
                .or_default()
                .extend(states.iter().cloned());
        }
        for (page, states) in &pages {
            let newest = states.last().map_or(&[][..], Vec::as_slice);
            match fate(Unsynced::Page(*page)) {
                Fate::Lost => {}
                Fate::Kept => overwrite(&mut image, *page, newest),
                Fate::Earlier => {
                    if let Some(earlier) = states.iter().nth_back(1) {
                        overwrite(&mut image, *page, earlier);
                    }
                }
                Fate::Torn(sectors) => overwrite_sectors(&mut image, *page, newest, sectors),
            }
        }
        image
    }
}

impl Content {
    /// Records the new content of each page that `[start, end)` touches.
    fn note(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let page_bytes = PAGE_BYTES as u64;
        for page in start / page_bytes..end.div_ceil(page_bytes) {
            let at = (page * page_bytes) as usize;
            let end = (at + PAGE_BYTES).min(self.live.len());
            let mut state = self.live.get(at..end).unwrap_or_default().to_vec();
            state.resize(PAGE_BYTES, 0);
            self.unsynced.entry(page).or_default().push(state);
        }
    }
}

fn overwrite(image: &mut [u8], page: u64, content: &[u8]) {
    overwrite_sectors(image, page, content, u8::MAX);
}

fn overwrite_sectors(image: &mut [u8], page: u64, content: &[u8], sectors: u8) {
    let at = page as usize * PAGE_BYTES;
    let target = image.get_mut(at..).unwrap_or_default();
    let pairs = target
        .chunks_mut(SECTOR_BYTES)
        .zip(content.chunks(SECTOR_BYTES));
    for (index, (target, content)) in pairs.take(PAGE_BYTES / SECTOR_BYTES).enumerate() {
        if sectors >> index & 1 == 1 {
            let bytes = target.len().min(content.len());
            target[..bytes].copy_from_slice(&content[..bytes]);
        }
    }
}
