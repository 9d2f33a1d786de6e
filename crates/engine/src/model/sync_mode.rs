//! The setting `sync=`: whether the reply to a write waits for the sync. `always`, a time such as `100ms`, or `never`.

use std::fmt;

use relation::time_unit;

/// How durable a write is when its reply is sent. `Always` is the least value. A greater value means that a power cut may take
/// more writes whose OK was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncMode {
    /// The reply is sent after the sync. A power cut takes nothing.
    #[default]
    Always,
    /// The reply is sent after the write; the sync follows within this time. A power cut may take the writes of this time.
    Within {
        /// Milliseconds; above 0.
        ms: u64,
    },
    /// The reply is sent after the write. The engine syncs only for another table or a manifest; else the system decides.
    Never,
}

/// Units that a time is shown in, the largest first, in milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

impl SyncMode {
    /// Reads `always`, `never` or a time with its unit: `100ms`, `1s`, `5m`, `1h`, `1d`.
    ///
    /// # Errors
    /// A sentence that quotes the text and names the accepted forms.
    pub fn parse(text: &str) -> std::result::Result<SyncMode, String> {
        match text {
            "always" => return Ok(SyncMode::Always),
            "never" => return Ok(SyncMode::Never),
            _ => {}
        }
        time_unit::milliseconds(text)
            .filter(|ms| *ms > 0)
            .map(|ms| SyncMode::Within { ms })
            .ok_or_else(|| {
                let units = time_unit::LENGTH_UNITS;
                format!(
                    "{text:?} is none of always, never and a time such as 100ms or 1s; units are {units}"
                )
            })
    }
}

impl fmt::Display for SyncMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SyncMode::Always => f.write_str("always"),
            SyncMode::Never => f.write_str("never"),
            SyncMode::Within { ms } => {
                let unit = UNITS.iter().find(|(_, unit_ms)| ms % unit_ms == 0);
                let (name, unit_ms) = unit.copied().unwrap_or(("ms", 1));
                write!(f, "{}{name}", ms / unit_ms)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_again_and_the_order_is_that_of_what_may_be_lost() {
        let texts = ["always", "1ms", "100ms", "1s", "90s", "5m", "1d", "never"];
        let modes: Vec<SyncMode> = texts
            .iter()
            .map(|text| SyncMode::parse(text).unwrap())
            .collect();
        assert!(modes.is_sorted());
        for (mode, text) in modes.iter().zip(texts) {
            assert_eq!(mode.to_string(), text);
        }
    }

    #[test]
    fn a_number_without_a_unit_and_a_time_of_zero_are_refused() {
        for text in ["", "100", "0ms", "ms", "sometimes", "1 week", "1M"] {
            let why = SyncMode::parse(text).unwrap_err();
            assert!(why.contains("such as 100ms"), "{why}");
        }
    }
}
