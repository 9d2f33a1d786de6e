//! The journal in segment files: each `append` is one frame, written with one call into room that is prepared.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use disk::{Disk, Stopwatch};

use crate::frame::{self, Origin};
use crate::limits::{BUFFER_BYTES, PAGE_BYTES, RECORD_BYTES_MAX};
use crate::prepare::{self, Preparation, Preparer, Workshop, poisoned};
use crate::recover::{LogFiles, Recovered, recover};
use crate::segment::{FrameAt, Segment, SegmentReader};
use crate::{Error, Extent, LocalLog, Log, Position, Result, Status};

/// Settings of a journal. Lengths are rounded up to whole pages of 4 KiB.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// Length of a new segment. Default 64 MiB. Bytes.
    pub segment_bytes: u64,
    /// Room in prepared segments that `append` leaves to `append_reserved`. Default 4 MiB. Bytes.
    pub reserve_bytes: u64,
    /// A position that the caller knows to be synced, such as that of its newest checkpoint; 0 for none. Opening refuses a
    /// journal that ends before it.
    pub known_synced: Position,
    /// The thread that prepares segments. Default: one of the journal's own.
    pub preparation: Preparation,
}

impl Default for JournalOptions {
    fn default() -> Self {
        JournalOptions {
            segment_bytes: 64 << 20,
            reserve_bytes: 4 << 20,
            known_synced: Position(0),
            preparation: Preparation::Background,
        }
    }
}

/// The journal in the segment files of one directory. Example and invariants: the front page of this crate.
pub struct FileJournal {
    /// The segments with frames, oldest first. The last one is active: appends write there. Never empty.
    segments: VecDeque<Segment>,
    /// Segments without frames, next to be used first. Their epochs follow that of the active segment without gaps.
    prepared: VecDeque<Segment>,
    preparer: Preparer,
    reserve_bytes: u64,
    last: Position,
    synced: Position,
    /// Header checksum of the last frame; 0 where there is none.
    chain: u32,
    /// Memory of the frame that is being written, kept from append to append.
    buffer: Vec<u8>,
    /// File and text of the first write or sync that failed. Then `append`, `sync` and `trim` refuse.
    poison: Option<(String, String)>,
    counts: Status,
}

impl FileJournal {
    /// Opens the journal in `dir`, made where it is missing. Verifies every frame, cuts a torn tail, and makes the rest durable,
    /// so a record that `read` shows is never lost. The caller holds a lock that keeps other processes out.
    ///
    /// Errors: `Corrupt` where a synced frame is damaged or missing, `NewerFormat`, `Full` where there is no room for the first
    /// segment, `Io`, `Poisoned`. Cost: reads every frame.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &str,
        options: JournalOptions,
    ) -> Result<(FileJournal, Recovered)> {
        let io = |source| Error::Io {
            file: dir.to_owned(),
            source,
        };
        let listing = prepare::list(disk.as_ref(), dir).map_err(io)?;
        let segment_bytes = options
            .segment_bytes
            .max(1)
            .next_multiple_of(PAGE_BYTES as u64);
        let mut workshop = Workshop::new(
            Arc::clone(&disk),
            dir,
            segment_bytes,
            listing.spares.clone(),
        )?;
        let (log, recovered) = if listing.segments.is_empty() {
            begin(&mut workshop, dir, options.known_synced)?
        } else {
            recover(disk.as_ref(), dir, &listing, options.known_synced)?
        };
        let mut journal = FileJournal {
            segments: log.segments,
            prepared: log.prepared,
            preparer: Preparer::new(workshop, options.preparation)?,
            reserve_bytes: options.reserve_bytes.next_multiple_of(PAGE_BYTES as u64),
            last: log.last,
            synced: log.last,
            chain: log.chain,
            buffer: Vec::new(),
            poison: None,
            counts: Status::default(),
        };
        journal.prepare_ahead();
        Ok((journal, recovered))
    }

    fn append_leaving(&mut self, records: &[&[u8]], reserve_bytes: u64) -> Result<Position> {
        self.check_usable()?;
        if let Some(record) = records
            .iter()
            .find(|record| record.len() > RECORD_BYTES_MAX)
        {
            return Err(Error::RecordTooLarge {
                bytes: record.len(),
            });
        }
        if records.is_empty() {
            return Ok(self.last);
        }
        let bytes = frame::padded_bytes(records).map_err(|bytes| Error::FrameTooLarge { bytes })?;
        self.make_room(bytes, reserve_bytes)?;
        if !self.fits_active(bytes) {
            self.begin_segment()?;
        }
        let origin = Origin {
            segment: self.active().id,
            first: self.last.next(),
            synced: self.synced,
            chain: self.chain,
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let crc = frame::head(&origin, records, &mut buffer);
        let written = self.write(&mut buffer, records, bytes);
        buffer.clear();
        buffer.shrink_to(BUFFER_BYTES);
        self.buffer = buffer;
        written?;
        self.chain = crc;
        self.last = Position(self.last.0 + records.len() as u64);
        self.counts.frame_count += 1;
        self.counts.record_count += records.len() as u64;
        Ok(self.last)
    }

    /// Writes a frame of `bytes` at the end of the active segment. `buffer` holds what stands before the records. `Full` where the
    /// device is full: the frame is taken back.
    fn write(&mut self, buffer: &mut Vec<u8>, records: &[&[u8]], bytes: u64) -> Result<()> {
        match self.write_pieces(buffer, records, bytes) {
            Ok(()) => {
                let active = self.active_mut();
                active.end += bytes;
                active.len = active.len.max(active.end);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::StorageFull => {
                self.take_back().map_err(|error| self.poisoned_by(&error))?;
                Err(Error::Full)
            }
            Err(error) => Err(self.poisoned_by(&error)),
        }
    }

    /// Writes a frame of at most [`BUFFER_BYTES`] at once. Of a larger one, records that are as large are written from where they lie:
    /// a statement of many megabytes would be in memory once more.
    fn write_pieces(&self, buffer: &mut Vec<u8>, records: &[&[u8]], bytes: u64) -> io::Result<()> {
        let Segment { file, end, .. } = self.active();
        let frame_end = end + bytes;
        let put = |at: u64, piece: &[u8]| {
            let written = file.write_at(at, piece);
            written.map(|()| at + piece.len() as u64)
        };
        let mut at = *end;
        for record in records {
            if buffer.len() + record.len() > BUFFER_BYTES {
                at = put(at, buffer)?;
                buffer.clear();
            }
            if record.len() > BUFFER_BYTES {
                at = put(at, record)?;
            } else {
                buffer.extend_from_slice(record);
            }
        }
        buffer.resize((frame_end - at) as usize, 0);
        put(at, buffer).map(|_| ())
    }

    /// Removes the bytes of a write that found the device full: a start must not find a frame whose records were refused. The
    /// header's page is enough, because a frame is found by its header.
    fn take_back(&self) -> io::Result<()> {
        let active = self.active();
        if active.file.len()? > active.len {
            active.file.set_len(active.len)?;
        }
        if active.end < active.len {
            active.file.write_at(active.end, &[0; PAGE_BYTES])?;
        }
        Ok(())
    }

    /// Makes sure that a frame of `bytes` fits and leaves `reserve_bytes`. Waits for segments to be prepared where it does not.
    /// Error: `Full` where the device has no room for another segment.
    fn make_room(&mut self, bytes: u64, reserve_bytes: u64) -> Result<()> {
        self.collect_prepared()?;
        while !self.has_room(bytes, reserve_bytes) {
            let stopwatch = Stopwatch::start();
            if self.preparer.outstanding() == 0 {
                self.preparer.request(self.next_epoch());
            }
            let prepared = self.preparer.wait();
            self.counts.stall_us += stopwatch.elapsed_us();
            let mut segment = prepared.map_err(|error| self.keep_poison(error))?;
            segment.first = self.last.next();
            self.prepared.push_back(segment);
        }
        Ok(())
    }

    fn has_room(&self, bytes: u64, reserve_bytes: u64) -> bool {
        let prepared: u64 = self.prepared.iter().map(|segment| segment.len).sum();
        let left = if self.fits_active(bytes) {
            Some(self.active_room().saturating_sub(bytes) + prepared)
        } else {
            // A frame larger than the next segment makes that file longer and takes all of it.
            self.prepared
                .front()
                .map(|next| prepared - bytes.min(next.len))
        };
        left.is_some_and(|left| left >= reserve_bytes)
    }

    /// Whether a frame goes into the active segment. A segment without frames takes any frame, and its file grows: left behind
    /// without a frame, it would look as if its frames were lost.
    fn fits_active(&self, bytes: u64) -> bool {
        bytes <= self.active_room() || self.active().end == 0
    }

    fn active_room(&self) -> u64 {
        let active = self.active();
        active.len - active.end
    }

    /// Makes the next prepared segment the active one. Syncs the old one first: the frames of the new one say so.
    fn begin_segment(&mut self) -> Result<()> {
        self.sync_active()?;
        if let Some(mut next) = self.prepared.pop_front() {
            next.first = self.last.next();
            self.segments.push_back(next);
        }
        self.prepare_ahead();
        Ok(())
    }

    /// Requests a prepared segment, unless there is one or one is requested. A failure shows when the segment is needed.
    fn prepare_ahead(&mut self) {
        if self.prepared.is_empty() && self.preparer.outstanding() == 0 {
            self.preparer.request(self.next_epoch());
        }
    }

    fn collect_prepared(&mut self) -> Result<()> {
        while let Some(prepared) = self.preparer.take() {
            match prepared {
                Ok(segment) => self.prepared.push_back(segment),
                // `make_room` requests it again when it is needed; by then there may be room.
                Err(Error::Full) => {}
                Err(error) => return Err(self.keep_poison(error)),
            }
        }
        Ok(())
    }

    fn next_epoch(&self) -> u64 {
        self.prepared
            .back()
            .unwrap_or_else(|| self.active())
            .id
            .epoch
            + 1
    }

    fn sync_active(&mut self) -> Result<()> {
        if self.synced == self.last {
            return Ok(());
        }
        let stopwatch = Stopwatch::start();
        let synced = self.active().file.sync();
        self.counts.sync_count += 1;
        self.counts.sync_us += stopwatch.elapsed_us();
        synced.map_err(|error| self.poisoned_by(&error))?;
        self.synced = self.last;
        Ok(())
    }

    fn check_usable(&self) -> Result<()> {
        match &self.poison {
            Some((file, cause)) => Err(Error::Poisoned {
                file: file.clone(),
                cause: cause.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Poisons the journal with a failure of the active segment.
    fn poisoned_by(&mut self, error: &io::Error) -> Error {
        let error = poisoned(&self.active().path, error);
        self.keep_poison(error)
    }

    /// Passes an error on; if it poisons, the journal stays poisoned.
    fn keep_poison(&mut self, error: Error) -> Error {
        if let Error::Poisoned { file, cause } = &error {
            self.poison = Some((file.clone(), cause.clone()));
        }
        error
    }

    #[expect(
        clippy::expect_used,
        reason = "a journal is made with one segment and trim leaves the last one"
    )]
    fn active(&self) -> &Segment {
        self.segments.back().expect("there is always a segment")
    }

    #[expect(
        clippy::expect_used,
        reason = "a journal is made with one segment and trim leaves the last one"
    )]
    fn active_mut(&mut self) -> &mut Segment {
        self.segments.back_mut().expect("there is always a segment")
    }
}

/// Makes the first segment of a new journal. Error: `Corrupt` where the caller knows of synced records.
fn begin(
    workshop: &mut Workshop,
    dir: &str,
    known_synced: Position,
) -> Result<(LogFiles, Recovered)> {
    if known_synced > Position(0) {
        return Err(Error::Corrupt {
            file: dir.to_owned(),
            offset: 0,
            what: "the journal has no segments",
        });
    }
    let mut segment = workshop.prepare(1)?;
    segment.first = Position(1);
    let log = LogFiles {
        segments: VecDeque::from([segment]),
        prepared: VecDeque::new(),
        last: Position(0),
        chain: 0,
    };
    Ok((
        log,
        Recovered {
            segments: 1,
            ..Recovered::default()
        },
    ))
}

impl Log for FileJournal {
    fn append(&mut self, records: &[&[u8]]) -> Result<Position> {
        self.append_leaving(records, self.reserve_bytes)
    }

    fn sync(&mut self) -> Result<Position> {
        self.check_usable()?;
        self.sync_active()?;
        Ok(self.synced)
    }

    fn read(
        &mut self,
        from: Position,
        visit: &mut dyn FnMut(Position, &[u8]) -> bool,
    ) -> Result<()> {
        let from = from.max(Position(1));
        let first = self.status().first;
        if from < first {
            return Err(Error::Trimmed { asked: from, first });
        }
        let before = self
            .segments
            .partition_point(|segment| segment.first <= from);
        for segment in self.segments.iter().skip(before.saturating_sub(1)) {
            if !read_segment(segment, from, visit)? {
                break;
            }
        }
        Ok(())
    }

    fn trim(&mut self, below: Position) -> Result<()> {
        self.check_usable()?;
        let below = below.min(self.synced);
        let mut emptied = Vec::new();
        while self.segments.get(1).is_some_and(|next| next.first <= below) {
            emptied.extend(self.segments.pop_front());
        }
        if emptied.is_empty() {
            return Ok(());
        }
        self.preparer
            .retire(emptied)
            .map_err(|error| self.keep_poison(error))
    }

    fn status(&self) -> Status {
        let prepared: u64 = self.prepared.iter().map(|segment| segment.len).sum();
        let held: u64 = self.segments.iter().map(|segment| segment.len).sum();
        Status {
            first: self
                .segments
                .front()
                .map_or(self.last.next(), |segment| segment.first),
            last: self.last,
            synced: self.synced,
            disk_bytes: held + prepared + self.preparer.spare_bytes(),
            ..self.counts
        }
    }
}

impl LocalLog for FileJournal {
    fn append_reserved(&mut self, records: &[&[u8]]) -> Result<Position> {
        self.append_leaving(records, 0)
    }

    fn room_bytes(&self) -> u64 {
        let prepared = self.prepared.iter().map(|segment| segment.len);
        self.active_room() + prepared.sum::<u64>()
    }

    fn extents(&self) -> Vec<Extent> {
        let extent = |segment: &Segment| Extent {
            path: segment.path.clone(),
            bytes: segment.end,
        };
        self.segments.iter().map(extent).collect()
    }
}

/// Visits the records of one segment from `from` on. False where `visit` has returned false.
fn read_segment(
    segment: &Segment,
    from: Position,
    visit: &mut dyn FnMut(Position, &[u8]) -> bool,
) -> Result<bool> {
    let mut reader = SegmentReader::new(segment);
    let (mut offset, mut expected) = (0, segment.first);
    while offset < segment.end {
        let damaged = |what| segment.corrupt(offset, what);
        let (header, records) = match reader.frame(offset)? {
            FrameAt::Frame(header, records) => (header, records),
            FrameAt::Damaged(what) => return Err(damaged(what)),
            FrameAt::Nothing => return Err(damaged("the header of a frame cannot be read")),
        };
        if header.first != expected {
            return Err(damaged("the frame does not follow the one before it"));
        }
        let wanted = if header.last() < from {
            None
        } else {
            Some(records)
        };
        for (position, record) in (expected.0..)
            .map(Position)
            .zip(wanted.into_iter().flatten())
        {
            let record = record.map_err(damaged)?;
            if position >= from && !visit(position, record) {
                return Ok(false);
            }
        }
        expected = header.last().next();
        offset += header.padded_bytes();
    }
    Ok(true)
}
