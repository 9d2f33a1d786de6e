//! Segments of format 1, whose words are in the files of another library. Only their rows are read;
//! the texts are analysed again and written as a segment of the present format.

use std::sync::Arc;

use disk::Disk;
use language::analysis::Words;
use relation::row;
use relation::value::Value;
use roaring::RoaringBitmap;

use super::from_tail::write_segment;
use super::reader::Files;
use super::rows::Rows;
use crate::edits::Edits;
use crate::error::Result;
use crate::shape::TableShape;
use crate::tail::{Tail, TailWriter};

/// The rows of a segment of format 1.
pub(crate) struct LegacySegment {
    rows: Rows,
    docs: u32,
    position: u64,
}

impl LegacySegment {
    pub(super) fn open(files: &Files<'_>) -> Result<LegacySegment> {
        Ok(LegacySegment {
            rows: files.rows()?,
            docs: files.commit.rows,
            position: files.commit.position,
        })
    }

    /// Writes the rows that are not deleted as a segment in the directory `path`, which must not
    /// exist. Returns their number; writes nothing where it is 0. All is durable but the
    /// directory's own name. Cost: analyses every text. Errors: `Io`, `Corrupt`.
    pub(crate) fn rewrite(
        &self,
        disk: &Arc<dyn Disk>,
        path: &str,
        shape: &TableShape,
        deleted: &RoaringBitmap,
    ) -> Result<u32> {
        let mut tail = Tail::default();
        let mut writer = TailWriter::new(&tail, Arc::default());
        let mut words = Words::new();
        for doc in (0..self.docs).filter(|doc| !deleted.contains(*doc)) {
            let encoded = self.rows.row(doc)?.encoded()?;
            let columns = row::decode(&encoded)
                .ok_or_else(|| self.rows.file().corrupt(0, "not an encoded row"))?;
            analyse(shape, &columns, &mut words);
            writer.insert(self.rows.id(doc)?, encoded.into_owned().into(), &words)?;
        }
        if writer.rows() == 0 {
            return Ok(0);
        }
        tail.publish(&mut writer);
        let fields = shape.text_columns() as u8; // at most 64
        let nothing = Edits::default();
        let what = (fields, &*shape.keyed());
        write_segment(disk, path, &tail, what, &nothing, self.position)?;
        Ok(tail.rows())
    }
}

/// The words of a row's texts, into `words`, which is emptied first.
pub(crate) fn analyse(shape: &TableShape, columns: &[Value], words: &mut Words) {
    words.clear();
    for (field, column) in shape.texts().enumerate() {
        if let Some(Value::Str(text)) = columns.get(column) {
            words.push_field(&shape.analyzer, field as u8, text); // at most 64 of them
        }
    }
}
