//! Paths with counts, in ChannelAttribution's form:
//!
//! ```text
//! path,total_conversions,total_conversion_value,total_null
//! Search > Social > Search,3,120.50,7
//! ```

use csv::ByteRecord;

use super::rows::{Row, Rows, field, text_of};
use super::{Lines, Places, Refused, Source};
use crate::attribution::amount::Amount;
use crate::attribution::channels::{ChannelId, Channels, Naming};
use crate::attribution::limits::{PATH_TOUCHES_MAX, PATHS_MAX};
use crate::attribution::paths::{PathCount, PathTable, PathsFull};

/// Records between two reports of progress.
const PROGRESS_EVERY: u64 = 16_384;

/// Files of paths, counted.
#[derive(Debug, Default)]
pub struct CountedPaths {
    /// The names of the channels, in order.
    pub channels: Vec<String>,
    /// The different paths. Their channels are numbered by that order.
    pub paths: PathTable,
    /// Digits of the counts and the money.
    pub places: Places,
    /// How each file was read.
    pub lines: Vec<Lines>,
}

/// Columns of a file.
struct Columns {
    path: Option<usize>,
    conversions: Option<usize>,
    value: Option<usize>,
    nulls: Option<usize>,
}

/// Reads files of paths. The same path in several lines is added up.
///
/// # Errors
/// A message with a file that has no column `path` or no column of conversions, too many channels or different paths.
pub fn read_paths(
    sources: Vec<Source>,
    naming: Naming,
    on_progress: &mut dyn FnMut(u64),
) -> Result<CountedPaths, String> {
    let mut channels = Channels::new(naming);
    let mut counted = CountedPaths::default();
    let mut path = Vec::new();
    for source in sources {
        let mut lines = Lines::new(&source.name);
        let mut rows = Rows::open(source)?;
        let columns = Columns::find(&rows, &lines.name)?;
        let separator = rows.separator();
        loop {
            let (record, line) = match rows.next() {
                Row::Record(record, line) => (record, line),
                Row::Cut(why) => {
                    lines.cut = Some(why);
                    break;
                }
                Row::End => break,
            };
            lines.count += 1;
            if lines.count.is_multiple_of(PROGRESS_EVERY) {
                on_progress(lines.count);
            }
            let added = columns
                .read(record, &mut channels, &mut counted.places, &mut path)
                .and_then(|count| counted.paths.add(&path, count).map_err(Refused::from));
            if let Err(refused) = added {
                lines.refuse(refused, line, || text_of(record, separator))?;
            }
        }
        counted.lines.push(lines);
    }
    let (names, ranks) = channels.sorted();
    counted.channels = names;
    counted.paths = counted.paths.renumbered(&ranks);
    Ok(counted)
}

impl From<PathsFull> for Refused {
    fn from(full: PathsFull) -> Refused {
        match full {
            PathsFull::Paths => Refused::All(format!(
                "there are more than {PATHS_MAX} different paths, or these are too long: map channels together by --channels"
            )),
            PathsFull::Amount => {
                Refused::All("the counts or the money of one path are too large".to_owned())
            }
        }
    }
}

impl Columns {
    fn find(rows: &Rows, name: &str) -> Result<Columns, String> {
        let columns = Columns {
            path: rows.column(&["path"]),
            conversions: rows.column(&["conversions", "total_conversions"]),
            value: rows.column(&["value", "total_conversion_value"]),
            nulls: rows.column(&["nulls", "total_null"]),
        };
        if columns.path.is_none() || columns.conversions.is_none() {
            return Err(format!(
                "{name}: the first line names the columns path, conversions and perhaps value, nulls; it has {}",
                rows.names()
            ));
        }
        Ok(columns)
    }

    /// Reads a record: the path into `path`, and its counts.
    fn read(
        &self,
        record: &ByteRecord,
        channels: &mut Channels,
        places: &mut Places,
        path: &mut Vec<ChannelId>,
    ) -> Result<PathCount, Refused> {
        // Digits of a line that does not count must not count either.
        let mut read = *places;

        let conversions = read.count(field(record, self.conversions))?;
        let nulls = match field(record, self.nulls) {
            b"" => Amount::ZERO,
            text => read.count(text)?,
        };
        let value = match field(record, self.value) {
            b"" => Amount::ZERO,
            text => read.value(text)?,
        };
        if conversions < Amount::ZERO || nulls < Amount::ZERO {
            return Err(Refused::Line("a negative count"));
        }
        if conversions == Amount::ZERO && value > Amount::ZERO {
            return Err(Refused::Line("money without a conversion"));
        }
        path.clear();
        let text = field(record, self.path);
        let mut begin = 0;
        for end in memchr::memchr_iter(b'>', text).chain([text.len()]) {
            path.push(channels.of_name(text[begin..end].trim_ascii())?);
            begin = end + 1;
        }
        if path.len() > PATH_TOUCHES_MAX {
            return Err(Refused::Line("a path of more than 10,000 touches"));
        }
        *places = read;
        Ok(PathCount {
            conversions,
            value,
            nulls,
        })
    }
}
