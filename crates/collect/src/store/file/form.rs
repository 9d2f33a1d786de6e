//! How a message stands in a file.

use crate::message::Message;
use crate::store::thrift_file;

use super::checked;
use super::names::BUFFER_ENDING;

/// The form of a store's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `file`: the bytes of the message.
    Plain {
        /// The category and a newline go before it.
        has_category: bool,
        /// A newline goes after it.
        has_newline: bool,
        /// No message crosses a multiple of this; 0: off. Bytes.
        chunk_bytes: u64,
    },
    /// The files of a buffer: records with checksums.
    Checked,
    /// `thriftfile`.
    Events {
        /// No event crosses a multiple of this. Bytes, above 0.
        chunk_bytes: u64,
    },
    /// `thriftfile` with `use_simple_file`: message behind message.
    Bare,
}

impl Form {
    /// Appends a message to a buffer that will lie in the file from `start` on. `false`: this form cannot hold it.
    pub(super) fn append(self, message: &Message<'_>, start: u64, buffer: &mut Vec<u8>) -> bool {
        match self {
            Form::Plain {
                has_category,
                has_newline,
                chunk_bytes,
            } => {
                if chunk_bytes > 0 {
                    let category = if has_category {
                        message.category.len() + 1
                    } else {
                        0
                    };
                    let bytes = category + message.body.len() + usize::from(has_newline);
                    thrift_file::pad(bytes as u64, chunk_bytes, start, buffer);
                }
                if has_category {
                    buffer.extend_from_slice(message.category);
                    buffer.push(b'\n');
                }
                buffer.extend_from_slice(message.body);
                if has_newline {
                    buffer.push(b'\n');
                }
                true
            }
            Form::Checked => checked::append(message, start, buffer),
            Form::Events { chunk_bytes } => {
                thrift_file::append(message.body, chunk_bytes, start, buffer)
            }
            Form::Bare => {
                buffer.extend_from_slice(message.body);
                true
            }
        }
    }

    /// Whether each message is a line.
    pub(super) fn ends_lines(self) -> bool {
        let Form::Plain { has_newline, .. } = self else {
            return false;
        };
        has_newline
    }

    /// Whether the first file of a day that no rotation begins has the hour as its suffix, with `rotate_period=hourly`. In Scribe
    /// the first opening of a `thriftfile` is a rotation.
    pub(super) fn begins_at_the_hour(self) -> bool {
        matches!(self, Form::Plain { .. })
    }

    /// The end of a file's name.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Form::Checked => BUFFER_ENDING,
            Form::Plain { .. } | Form::Events { .. } | Form::Bare => "",
        }
    }

    /// Whether the first opening begins a new file: what a crash may have left at the end of an old one stays apart.
    pub(super) fn begins_anew(self) -> bool {
        !matches!(self, Form::Plain { .. })
    }
}
