//! Where the files of a store lie and how they are called.
//!
//! ```text
//! file_path=/var/log/scribe, a model's copy for the category web, rotate_period=daily
//!
//! var/log/scribe/web/                     folder
//!     web-2026-11-23_00000                stem web-2026-11-23, suffix 0
//!     web-2026-11-23_00001                the newest
//!     web_current -> web-2026-11-23_00001
//! ```
//!
//! The date stands in a name only where files end by time. A suffix has at least 5 digits. The names of a buffer's files end in
//! `.buffer2`, those of earlier builds in `.buffer`; one without either is Scribe's.

use std::io::{self, ErrorKind};

use disk::Disk;

use crate::config::{FileBase, RotatePeriod};
use crate::message::Now;
use crate::store::Surroundings;

/// Longest name of a category's part or of a file without date and suffix. Bytes; a file system allows 255 in all.
const NAME_BYTES_MAX: usize = 220;

/// End of the name of a buffer's file: records with categories and checksums.
pub(super) const BUFFER_ENDING: &str = ".buffer2";
/// End of the name of a buffer's file of an earlier build: frames with categories. Scribe's files, whose names have no such end,
/// have categories or not, as `write_category` said when they were written.
pub(super) const FRAMED_ENDING: &str = ".buffer";

/// Names of a store's files.
pub(super) struct Names {
    /// A path of the disk.
    pub(super) folder: String,
    base: String,
    /// Path of the link to the newest file; `None`: there is none.
    pub(super) link: Option<String>,
    ending: &'static str,
    is_dated: bool,
    is_hourly: bool,
}

impl Names {
    /// Names of a store for a category; an empty category: several share it. `copies` as in [`build`](crate::store::build).
    pub(super) fn new(
        base: &FileBase,
        ending: &'static str,
        category: &[u8],
        copies: usize,
        surroundings: &Surroundings,
    ) -> Result<Names, String> {
        let category = match category {
            b"" => "default".to_owned(),
            category => category_name(category)?,
        };
        let mut path = match base.file_path.starts_with('/') {
            true => base.file_path.clone(),
            false => format!("{}/{}", surroundings.folder, base.file_path),
        };
        let below = match base.use_hostname_sub_directory && !surroundings.host_name.is_empty() {
            true => &surroundings.host_name,
            false => &base.sub_directory,
        };
        let name = match &base.base_filename {
            Some(name) if copies == 0 => name,
            _ => &category,
        };
        let folders = std::iter::repeat_n(&category, copies);
        for part in folders.chain([below, name]) {
            if !part.is_empty() {
                path.push('/');
                path.push_str(part);
            }
        }
        let path = clean_path(&path)?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let link_name = base.base_symlink_name.as_deref().unwrap_or(name);
        if link_name.contains('/') || link_name.len() > NAME_BYTES_MAX {
            return Err(format!(
                "base_symlink_name {link_name:?} is no name of a file"
            ));
        }
        Ok(Names {
            link: base
                .create_symlink
                .then(|| join(folder, &format!("{link_name}_current"))),
            folder: folder.to_owned(),
            base: name.to_owned(),
            ending,
            is_dated: base.rotate_period != RotatePeriod::Never,
            is_hourly: base.rotate_period == RotatePeriod::Hourly,
        })
    }

    /// The part of a file's name before its suffix.
    pub(super) fn stem(&self, now: Now) -> String {
        match self.is_dated {
            true => format!("{}-{}", self.base, date(now)),
            false => self.base.clone(),
        }
    }

    /// Suffix of the first file of a date that no rotation begins.
    pub(super) fn first_suffix(&self, now: Now) -> u64 {
        let hour = local_s(now).rem_euclid(86_400) / 3_600;
        if self.is_hourly { hour as u64 } else { 0 }
    }

    /// Name of a file: `web_00012`.
    pub(super) fn file(&self, stem: &str, suffix: u64) -> String {
        format!("{stem}_{suffix:05}{}", self.ending)
    }

    /// Suffixes and names of the files of a stem, the oldest first; none if the folder is missing. Of a buffer, those
    /// of Scribe and of earlier builds too.
    pub(super) fn files(&self, disk: &dyn Disk, stem: &str) -> io::Result<Vec<(u64, String)>> {
        let names = match disk.list(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            names => names?,
        };
        let earlier = match self.ending {
            BUFFER_ENDING => FRAMED_ENDING,
            ending => ending,
        };
        let numbered = |name: String| {
            let own = name
                .strip_suffix(self.ending)
                .or_else(|| name.strip_suffix(earlier))
                .unwrap_or(&name);
            let digits = own.strip_prefix(stem)?.strip_prefix('_')?;
            let suffix: u64 = digits.parse().ok()?;
            (format!("{suffix:05}") == digits).then_some((suffix, name))
        };
        let mut files: Vec<(u64, String)> = names.into_iter().filter_map(numbered).collect();
        files.sort_unstable();
        Ok(files)
    }

    /// Path of a file in the folder.
    pub(super) fn path(&self, name: &str) -> String {
        join(&self.folder, name)
    }
}

/// The wall clock as the name of a file has it: `2026-11-23`.
pub(super) fn date(now: Now) -> String {
    let (year, month, day) = civil(local_s(now).div_euclid(86_400));
    format!("{year}-{month:02}-{day:02}")
}

/// Hour and minute of the wall clock: `16:05`.
pub(super) fn hour_and_minute(now: Now) -> String {
    let second = local_s(now).rem_euclid(86_400);
    format!("{:02}:{:02}", second / 3_600, second / 60 % 60)
}

/// Local time in seconds since 1970-01-01 00:00 of the local calendar.
pub(super) fn local_s(now: Now) -> i64 {
    now.unix_us.div_euclid(1_000_000) + i64::from(now.utc_offset_s)
}

/// Year, month and day of a number of days since 1970-01-01 (Howard Hinnant's algorithm for the Gregorian calendar).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The name of a category in the file system. Bytes that are not UTF-8 are written in hexadecimal behind `hex-`; so is a name
/// that begins so, lest two categories share a file.
fn category_name(category: &[u8]) -> Result<String, String> {
    let text = match std::str::from_utf8(category) {
        Ok(text) if !text.starts_with("hex-") => text.to_owned(),
        _ => {
            let digits = category.iter().map(|byte| format!("{byte:02x}"));
            format!("hex-{}", digits.collect::<String>())
        }
    };
    let is_clean = text.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !is_clean || text.contains('\0') || text.split('/').any(|part| part.len() > NAME_BYTES_MAX) {
        let shown: String = text.chars().take(80).collect();
        return Err(format!("category {shown:?} cannot be the name of a file"));
    }
    Ok(text)
}

/// A path of the disk: no `/` at the front, no empty part, no `.`.
fn clean_path(path: &str) -> Result<String, String> {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if parts.contains(&"..") || path.contains('\0') {
        return Err(format!(
            "file path {path:?} has a part that is refused: `..` or a NUL"
        ));
    }
    match parts.last() {
        Some(name) if name.len() <= NAME_BYTES_MAX => Ok(parts.join("/")),
        _ => Err(format!(
            "file path {path:?} ends in no name of a file, or a long one"
        )),
    }
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}
