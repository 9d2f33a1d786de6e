//! The types of columns, and each question about a type that is not answered by its [`TypeFamily`].
//!
//! Example: `price decimal(12,2)` is of the family of decimals, has the tag 18 and the size 12·256 + 2 on disk, and takes no KEY.
//!
//! A question is a match that names each type, or each family: a new type does not compile before all questions have an answer for it.
//! A new tag does not compile before [`TYPES`] has a type for it, and [`SAMPLES`](super::samples::SAMPLES) a sample, from which the tests
//! of names, bytes, constants and doors take their types.

use std::ops::RangeInclusive;

use super::family::TypeFamily;

/// Most digits of a DECIMAL.
pub(crate) const DIGITS_MAX: u8 = 65;

/// Most digits behind the point.
pub(crate) const SCALE_MAX: u8 = 30;

/// Most digits of a second's fraction.
pub(super) const FRACTION_MAX: u8 = 6;

/// The last second of the year 9999. What is beyond it is milliseconds, most likely.
const SECONDS_MAX: i128 = 253_402_300_799;

/// A column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A full-text field, also stored.
    Text,
    /// A text attribute, not searched.
    String,
    /// A search table's integer: -2^31 ..= 2^32-1.
    Int,
    /// An integer: -2^63 ..= 2^63-1.
    Bigint,
    /// A 32-bit float, shown as Sphinx shows it.
    Float,
    /// A truth value: 0 or 1.
    Bool,
    /// Seconds since 1970-01-01 UTC, from -2^63 to the end of the year 9999. Reads ISO 8601 text.
    Timestamp,
    /// An integer as in MySQL.
    Integer {
        /// Width in bytes: TINYINT 1, SMALLINT 2, MEDIUMINT 3, INT 4, BIGINT 8.
        bytes: u8,
        /// Whether it is UNSIGNED.
        unsigned: bool,
    },
    /// DOUBLE (also REAL).
    Double,
    /// CHAR(n) or VARCHAR(n), longest length in characters.
    Char {
        /// Whether it is VARCHAR, not CHAR.
        variable: bool,
        /// Longest value, in characters.
        chars_max: u32,
    },
    /// TINYTEXT … LONGTEXT, longest length in bytes.
    LongText {
        /// Longest value, in bytes.
        bytes_max: u32,
    },
    /// BINARY(n), VARBINARY(n), TINYBLOB … LONGBLOB, longest length in bytes.
    Blob {
        /// Longest value, in bytes.
        bytes_max: u32,
    },
    /// DATE, kept as text: `2024-01-02`.
    Date,
    /// DATETIME, kept as text: `2024-01-02 03:04:05.678`.
    DateTime {
        /// Digits of a second's fraction, 0 ..= 6.
        fraction_digits: u8,
    },
    /// TIME, kept as text: `-838:59:59` … `838:59:59`.
    Time {
        /// Digits of a second's fraction, 0 ..= 6.
        fraction_digits: u8,
    },
    /// YEAR: 0, 1901 ..= 2155.
    Year,
    /// BIT(n): an unsigned number of 1 to 64 bits.
    Bit {
        /// Width in bits.
        bits: u8,
    },
    /// `multi` or `multi64`: a set of integers.
    Multi {
        /// `multi64`: signed numbers of 64 bits; else unsigned ones of 32.
        wide: bool,
    },
    /// A JSON document.
    Json,
    /// DECIMAL, kept as text: `12.50`.
    Decimal {
        /// All digits, 1 ..= 65.
        digits: u8,
        /// Digits behind the point, 0 ..= 30 and no more than `digits`.
        scale: u8,
    },
}

/// Count of the tags that types have on disk.
pub const TAGS: usize = 22;

/// A type of each tag, by tag. The sizes are examples.
pub const TYPES: [ColumnType; TAGS] = [
    ColumnType::Text,
    ColumnType::String,
    ColumnType::Int,
    ColumnType::Bigint,
    ColumnType::Float,
    ColumnType::Bool,
    ColumnType::Timestamp,
    ColumnType::Integer {
        bytes: 8,
        unsigned: false,
    },
    ColumnType::Integer {
        bytes: 8,
        unsigned: true,
    },
    ColumnType::Double,
    ColumnType::Char {
        variable: false,
        chars_max: 1,
    },
    ColumnType::Char {
        variable: true,
        chars_max: 1,
    },
    ColumnType::LongText { bytes_max: 1 },
    ColumnType::Blob { bytes_max: 1 },
    ColumnType::Date,
    ColumnType::DateTime { fraction_digits: 0 },
    ColumnType::Time { fraction_digits: 0 },
    ColumnType::Year,
    ColumnType::Decimal {
        digits: 1,
        scale: 0,
    },
    ColumnType::Bit { bits: 1 },
    ColumnType::Multi { wide: false },
    ColumnType::Json,
];

/// A tag that [`TYPES`] has. One that it lacks does not compile.
const fn tag<const TAG: usize>() -> u8 {
    const {
        assert!(
            TAG < TAGS,
            "a new tag: raise TAGS, and give TYPES and SAMPLES a row for it"
        );
    }
    TAG as u8
}

/// The sizes of a type that MySQL's catalogs tell; `None`: the type has no such size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The longest text, in characters, or in bytes where the type counts bytes.
    pub chars: Option<u32>,
    /// Decimal digits of a number, or bits of a BIT.
    pub digits: Option<u32>,
    /// Of these, behind the point.
    pub scale: Option<u32>,
    /// Of a second.
    pub fraction_digits: Option<u32>,
}

impl ColumnType {
    /// The DECIMAL with the most digits.
    pub const WIDEST_DECIMAL: ColumnType = ColumnType::Decimal {
        digits: DIGITS_MAX,
        scale: SCALE_MAX,
    };

    /// What its values are.
    #[inline]
    #[must_use]
    pub const fn family(self) -> TypeFamily {
        match self {
            ColumnType::Text
            | ColumnType::String
            | ColumnType::Char { .. }
            | ColumnType::LongText { .. } => TypeFamily::Text,
            ColumnType::Blob { .. } => TypeFamily::Bytes,
            ColumnType::Int
            | ColumnType::Bigint
            | ColumnType::Integer { .. }
            | ColumnType::Bit { .. } => TypeFamily::Whole,
            ColumnType::Float => TypeFamily::Float,
            ColumnType::Double => TypeFamily::Double,
            ColumnType::Decimal { .. } => TypeFamily::Decimal,
            ColumnType::Bool => TypeFamily::Bool,
            ColumnType::Timestamp => TypeFamily::Timestamp,
            ColumnType::Date | ColumnType::DateTime { .. } => TypeFamily::Date,
            ColumnType::Time { .. } => TypeFamily::Time,
            ColumnType::Year => TypeFamily::Year,
            ColumnType::Multi { .. } => TypeFamily::Set,
            ColumnType::Json => TypeFamily::Document,
        }
    }

    /// Whether its values are dates, with or without a time of day.
    #[inline]
    #[must_use]
    pub const fn is_date(self) -> bool {
        matches!(self.family(), TypeFamily::Date)
    }

    /// Its tag and size on disk, of which [`ColumnType::of_code`] makes it again. A tag is never given to another type.
    #[must_use]
    pub const fn code(self) -> (u8, u32) {
        match self {
            ColumnType::Text => (tag::<0>(), 0),
            ColumnType::String => (tag::<1>(), 0),
            ColumnType::Int => (tag::<2>(), 0),
            ColumnType::Bigint => (tag::<3>(), 0),
            ColumnType::Float => (tag::<4>(), 0),
            ColumnType::Bool => (tag::<5>(), 0),
            ColumnType::Timestamp => (tag::<6>(), 0),
            ColumnType::Integer { bytes, unsigned } => match unsigned {
                false => (tag::<7>(), bytes as u32),
                true => (tag::<8>(), bytes as u32),
            },
            ColumnType::Double => (tag::<9>(), 0),
            ColumnType::Char {
                variable,
                chars_max,
            } => match variable {
                false => (tag::<10>(), chars_max),
                true => (tag::<11>(), chars_max),
            },
            ColumnType::LongText { bytes_max } => (tag::<12>(), bytes_max),
            ColumnType::Blob { bytes_max } => (tag::<13>(), bytes_max),
            ColumnType::Date => (tag::<14>(), 0),
            ColumnType::DateTime { fraction_digits } => (tag::<15>(), fraction_digits as u32),
            ColumnType::Time { fraction_digits } => (tag::<16>(), fraction_digits as u32),
            ColumnType::Year => (tag::<17>(), 0),
            ColumnType::Decimal { digits, scale } => {
                (tag::<18>(), digits as u32 * 256 + scale as u32)
            }
            ColumnType::Bit { bits } => (tag::<19>(), bits as u32),
            ColumnType::Multi { wide } => (tag::<20>(), wide as u32),
            ColumnType::Json => (tag::<21>(), 0),
        }
    }

    /// The type of a tag and a size; `None`: there is no such tag, or its type cannot have that size.
    #[must_use]
    pub fn of_code(tag: u8, size: u32) -> Option<ColumnType> {
        TYPES.get(usize::from(tag))?.with_size(size)
    }

    /// The type of the same tag with that size on disk.
    fn with_size(self, size: u32) -> Option<ColumnType> {
        let fraction_digits = u8::try_from(size)
            .ok()
            .filter(|digits| *digits <= FRACTION_MAX);
        Some(match self {
            ColumnType::Integer { unsigned, .. } => ColumnType::Integer {
                bytes: matches!(size, 1..=4 | 8).then_some(size as u8)?,
                unsigned,
            },
            ColumnType::Char { variable, .. } => ColumnType::Char {
                variable,
                chars_max: size,
            },
            ColumnType::LongText { .. } => ColumnType::LongText { bytes_max: size },
            ColumnType::Blob { .. } => ColumnType::Blob { bytes_max: size },
            ColumnType::DateTime { .. } => ColumnType::DateTime {
                fraction_digits: fraction_digits?,
            },
            ColumnType::Time { .. } => ColumnType::Time {
                fraction_digits: fraction_digits?,
            },
            ColumnType::Decimal { .. } => {
                let [_, _, digits, scale] = size.to_be_bytes();
                let is_valid = size >> 16 == 0
                    && (1..=DIGITS_MAX).contains(&digits)
                    && scale <= digits.min(SCALE_MAX);
                is_valid.then_some(ColumnType::Decimal { digits, scale })?
            }
            ColumnType::Bit { .. } => ColumnType::Bit {
                bits: (1..=64).contains(&size).then_some(size as u8)?,
            },
            ColumnType::Multi { .. } => ColumnType::Multi {
                wide: (size <= 1).then_some(size == 1)?,
            },
            ColumnType::Text
            | ColumnType::String
            | ColumnType::Int
            | ColumnType::Bigint
            | ColumnType::Float
            | ColumnType::Bool
            | ColumnType::Timestamp
            | ColumnType::Double
            | ColumnType::Date
            | ColumnType::Year
            | ColumnType::Json => (size == 0).then_some(self)?,
        })
    }

    /// The least and the greatest of its values, if all of them are whole numbers that lie between without a gap.
    #[must_use]
    pub fn range(self) -> Option<RangeInclusive<i128>> {
        Some(match self {
            ColumnType::Bool => 0..=1,
            ColumnType::Int => i32::MIN.into()..=u32::MAX.into(),
            ColumnType::Bigint => i64::MIN.into()..=i64::MAX.into(),
            ColumnType::Timestamp => i64::MIN.into()..=SECONDS_MAX,
            ColumnType::Integer { bytes, unsigned } => {
                let values = 1 << (8 * u32::from(bytes));
                match unsigned {
                    true => 0..=values - 1,
                    false => -values / 2..=values / 2 - 1,
                }
            }
            ColumnType::Bit { bits } => 0..=(1 << bits) - 1,
            ColumnType::Text
            | ColumnType::String
            | ColumnType::Float
            | ColumnType::Double
            | ColumnType::Char { .. }
            | ColumnType::LongText { .. }
            | ColumnType::Blob { .. }
            | ColumnType::Date
            | ColumnType::DateTime { .. }
            | ColumnType::Time { .. }
            | ColumnType::Year
            | ColumnType::Multi { .. }
            | ColumnType::Json
            | ColumnType::Decimal { .. } => return None,
        })
    }

    /// See [`Sizes`].
    #[must_use]
    pub fn sizes(self) -> Sizes {
        let none = Sizes::default();
        let chars = |chars: u32| Sizes {
            chars: Some(chars),
            ..none
        };
        let number = |digits: u32, scale: u32| Sizes {
            digits: Some(digits),
            scale: Some(scale),
            ..none
        };
        let seconds = |digits: u8| Sizes {
            fraction_digits: Some(digits.into()),
            ..none
        };
        match self {
            ColumnType::Text | ColumnType::String => chars(u32::MAX),
            ColumnType::Char { chars_max, .. } => chars(chars_max),
            ColumnType::LongText { bytes_max } | ColumnType::Blob { bytes_max } => chars(bytes_max),
            ColumnType::Int => number(10, 0),
            ColumnType::Bigint => number(19, 0),
            ColumnType::Bool => number(3, 0),
            ColumnType::Integer { bytes, unsigned } => match (bytes, unsigned) {
                (1, _) => number(3, 0),
                (2, _) => number(5, 0),
                (3, _) => number(7, 0),
                (4, _) => number(10, 0),
                (_, false) => number(19, 0),
                (_, true) => number(20, 0),
            },
            ColumnType::Float => Sizes {
                digits: Some(12),
                ..none
            },
            ColumnType::Double => Sizes {
                digits: Some(22),
                ..none
            },
            ColumnType::Bit { bits } => Sizes {
                digits: Some(bits.into()),
                ..none
            },
            ColumnType::Decimal { digits, scale } => number(digits.into(), scale.into()),
            ColumnType::Timestamp => seconds(0),
            ColumnType::DateTime { fraction_digits } | ColumnType::Time { fraction_digits } => {
                seconds(fraction_digits)
            }
            ColumnType::Date | ColumnType::Year | ColumnType::Multi { .. } | ColumnType::Json => {
                none
            }
        }
    }

    /// Whether a column of this type may have a `KEY`: it holds integers, or texts that are compared as they are.
    #[must_use]
    pub const fn takes_key(self) -> bool {
        match self {
            ColumnType::String
            | ColumnType::Int
            | ColumnType::Bigint
            | ColumnType::Bool
            | ColumnType::Timestamp
            | ColumnType::Integer { .. }
            | ColumnType::Char { .. }
            | ColumnType::Bit { .. }
            | ColumnType::Year => true,
            ColumnType::Text
            | ColumnType::Float
            | ColumnType::Double
            | ColumnType::Multi { .. }
            | ColumnType::Json
            | ColumnType::LongText { .. }
            | ColumnType::Blob { .. }
            | ColumnType::Date
            | ColumnType::DateTime { .. }
            | ColumnType::Time { .. }
            | ColumnType::Decimal { .. } => false,
        }
    }

    /// Whether a search table stores NULL in a column of this type. In columns of Sphinx's types it stores
    /// [`ColumnType::empty`], as Sphinx does.
    #[must_use]
    pub const fn keeps_null(self) -> bool {
        match self {
            ColumnType::Text
            | ColumnType::String
            | ColumnType::Int
            | ColumnType::Bigint
            | ColumnType::Float
            | ColumnType::Bool
            | ColumnType::Timestamp
            | ColumnType::Multi { .. } => false,
            ColumnType::Integer { .. }
            | ColumnType::Double
            | ColumnType::Char { .. }
            | ColumnType::LongText { .. }
            | ColumnType::Blob { .. }
            | ColumnType::Date
            | ColumnType::DateTime { .. }
            | ColumnType::Time { .. }
            | ColumnType::Year
            | ColumnType::Bit { .. }
            | ColumnType::Json
            | ColumnType::Decimal { .. } => true,
        }
    }
}
