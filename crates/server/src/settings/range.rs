//! The values that a size, a time or a number of a setting may have.

use super::memory;

/// The least and the most, both allowed: bytes of a size, milliseconds of a time, else a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Above 0.
    pub least: u64,
    /// At least `least`.
    pub most: Most,
}

/// The most that a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Most {
    /// A value that is the same on each machine.
    Value(u64),
    /// The memory of this machine with its swap space. No bound where the system does not tell it.
    Machine,
    /// The setting `memory`.
    Memory,
}

/// What the value of a range counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of a size.
    Bytes,
    /// Milliseconds of a time.
    Milliseconds,
    /// Things, such as threads or clients.
    One,
}

const BYTE_UNITS: [(u64, &str); 5] = [
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
    (1, ""),
];
const TIME_UNITS: [(u64, &str); 5] = [
    (86_400_000, "d"),
    (3_600_000, "h"),
    (60_000, "m"),
    (1_000, "s"),
    (1, "ms"),
];

impl Unit {
    /// A value as a user writes it.
    pub fn text(self, value: u64) -> String {
        let units: &[(u64, &str)] = match self {
            Unit::Bytes => &BYTE_UNITS,
            Unit::Milliseconds => &TIME_UNITS,
            Unit::One => &[],
        };
        let whole = units.iter().find(|(unit, _)| value.is_multiple_of(*unit));
        let (unit, name) = whole.copied().unwrap_or((1, ""));
        format!("{}{name}", value / unit)
    }
}

impl Range {
    /// Why a value is refused; `None`: it is allowed. `text`: the value as it was written; `memory_bytes`: the setting `memory`.
    pub(super) fn refusal(
        self,
        (text, value): (&str, u64),
        unit: Unit,
        memory_bytes: u64,
    ) -> Option<String> {
        if value < self.least {
            let least = unit.text(self.least);
            return Some(format!(
                "{text:?} is less than {least}, the least that works"
            ));
        }
        let (most, of) = match self.most {
            Most::Value(most) => (most, ""),
            Most::Machine => (
                memory::of_machine().unwrap_or(u64::MAX),
                ", all memory of this machine",
            ),
            Most::Memory => (memory_bytes, ", the setting memory"),
        };
        (value > most).then(|| {
            let most = unit.text(most);
            format!("{text:?} is more than {most}{of}, the most that it may be")
        })
    }

    /// The range in words: `1ms to 365d`.
    pub fn words(self, unit: Unit) -> String {
        let most = match self.most {
            Most::Value(most) => unit.text(most),
            Most::Machine => "the machine's memory".to_owned(),
            Most::Memory => "`memory`".to_owned(),
        };
        format!("{} to {most}", unit.text(self.least))
    }
}
