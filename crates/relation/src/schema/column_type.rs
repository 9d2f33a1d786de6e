//! The types of columns.

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

    /// Whether every value of a column of this type is a whole number or NULL.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            ColumnType::Int
                | ColumnType::Bigint
                | ColumnType::Bool
                | ColumnType::Timestamp
                | ColumnType::Integer { .. }
                | ColumnType::Year
        )
    }

    /// Whether a column of this type may have a `KEY`: it holds integers, or texts that are compared as they are.
    #[must_use]
    pub fn takes_key(self) -> bool {
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
}
