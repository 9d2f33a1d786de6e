//! The files of a table, as the engine's manifest names them.

/// The files of one table at a checkpoint. With these files and the journal above
/// [`Files::position`] the table is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Journal position of the files: they hold every record up to it and none after it.
    pub position: u64,
    /// In the order in which they were made, oldest first; then damaged ones.
    pub segments: Vec<SegmentFiles>,
}

/// One segment, as the manifest of the last checkpoint names it; of now, see the parts of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFiles {
    /// Name of its directory, inside the table's.
    pub directory: String,
    /// Rows in it, deleted ones included; at least 1.
    pub rows: u32,
    /// Name of its file of deleted rows, inside its directory; `None` if no row was deleted up to
    /// the checkpoint.
    pub deleted: Option<String>,
    /// Name of its file of changed values, inside its directory; `None` if no value was changed up to
    /// the checkpoint.
    pub changed: Option<String>,
}

impl Files {
    /// Paths of all files, below the table's directory.
    pub fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.segments.iter().flat_map(|segment| {
            let names = crate::segment::FILES.iter().copied();
            let names = names.chain(segment.deleted.as_deref());
            let names = names.chain(segment.changed.as_deref());
            names.map(|name| format!("{}/{name}", segment.directory))
        })
    }

    /// Appends the binary form for the manifest. It tells its own end; `docs/formats/segment.md`
    /// has the layout.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.position.to_le_bytes());
        out.extend((self.segments.len() as u32).to_le_bytes());
        for segment in &self.segments {
            out.extend(segment.rows.to_le_bytes());
            encode_name(&segment.directory, out);
            encode_name(segment.deleted.as_deref().unwrap_or(""), out);
            encode_name(segment.changed.as_deref().unwrap_or(""), out);
        }
    }

    /// Reads a value of [`Files::encode`] and moves `bytes` behind it. `has_changes`: whether it names files of changed values;
    /// manifests before version 9 do not. `None` where the bytes are no such value.
    #[must_use]
    pub fn decode(bytes: &mut &[u8], has_changes: bool) -> Option<Files> {
        let position = u64::from_le_bytes(take(bytes)?);
        let count = u32::from_le_bytes(take(bytes)?);
        let mut segments = Vec::new();
        for _ in 0..count {
            let rows = u32::from_le_bytes(take(bytes)?);
            let directory = decode_name(bytes)?;
            let deleted = Some(decode_name(bytes)?).filter(|name| !name.is_empty());
            let changed = match has_changes {
                true => Some(decode_name(bytes)?).filter(|name| !name.is_empty()),
                false => None,
            };
            segments.push(SegmentFiles {
                directory,
                rows,
                deleted,
                changed,
            });
        }
        Some(Files { position, segments })
    }
}

/// This crate makes the names, so one byte holds the length.
fn encode_name(name: &str, out: &mut Vec<u8>) {
    assert!(
        name.len() <= usize::from(u8::MAX),
        "names of segments and their files are short"
    );
    out.push(name.len() as u8);
    out.extend(name.as_bytes());
}

fn decode_name(bytes: &mut &[u8]) -> Option<String> {
    let [length] = take::<1>(bytes)?;
    let (name, rest) = bytes.split_at_checked(usize::from(length))?;
    *bytes = rest;
    String::from_utf8(name.to_vec()).ok()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}
