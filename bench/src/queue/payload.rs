//! Content of a message, the same in every protocol.

use crate::error::{Error, Result};

/// Content of a message beside its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Payload {
    /// Length of a second column, in bytes, all `z`; 0: no second column.
    pub(super) length: usize,
}

impl Payload {
    /// The message as a text, for queues without columns: the number, a space, and the second column.
    pub(super) fn text(self, value: i64) -> String {
        let mut text = value.to_string();
        if self.length > 0 {
            text.push(' ');
            text.extend(std::iter::repeat_n('z', self.length));
        }
        text
    }

    /// The number of a message in such a text.
    pub(super) fn value(text: &[u8]) -> Result<i64> {
        let number = text.split(|byte| *byte == b' ').next().unwrap_or_default();
        std::str::from_utf8(number)
            .ok()
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| {
                Error::Peer(format!(
                    "{:?} is no message of ours",
                    text.escape_ascii().to_string()
                ))
            })
    }
}
