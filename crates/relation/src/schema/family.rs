//! What the values of types are. Types of one family are compared, read beside constants and shown in the same way.
//!
//! The questions are asked for each value, so they are inlined.
//!
//! Example: `varchar(9)` and `longtext` are of the family of texts, and differ in the length of their values alone.

/// A family of types. Each question about it names each family: the compiler asks a new one for its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeFamily {
    /// Texts, compared without regard to the case of ASCII letters.
    Text,
    /// Bytes, compared one by one.
    Bytes,
    /// Whole numbers.
    Whole,
    /// Floats of 32 bits.
    Float,
    /// Floats of 64 bits.
    Double,
    /// Decimal numbers, stored as texts.
    Decimal,
    /// 0 and 1, which `false` and `true` name.
    Bool,
    /// Seconds since 1970-01-01 UTC.
    Timestamp,
    /// Dates with or without a time of day, stored as texts.
    Date,
    /// Times of day and durations, stored as texts.
    Time,
    /// Years of four digits, also written with two.
    Year,
    /// Sets of whole numbers.
    Set,
    /// JSON documents.
    Document,
}

use TypeFamily as F;

/// What of the time a value is. No condition compares two columns of different moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A date, with or without a time of day.
    Date,
    /// A time of day.
    Time,
    /// A year, which no condition compares with a date.
    Year,
}

/// How a client is shown a number of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// As it is. A float has six decimals where these read back the same.
    Plain,
    /// JSON has `true` and `false` for it.
    Truth,
    /// With four digits.
    Year,
    /// By the fewest digits that no other float of 32 bits has.
    Float,
    /// By the fewest digits that no other float of 64 bits has.
    Double,
}

impl TypeFamily {
    /// Whether values are compared as numbers or as texts; `None`: as what they are, each.
    #[inline]
    #[must_use]
    pub const fn compares_as_number(self) -> Option<bool> {
        match self {
            F::Set | F::Document => None,
            F::Text | F::Bytes | F::Date => Some(false),
            F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Timestamp
            | F::Time
            | F::Year => Some(true),
        }
    }

    /// Whether [`ColumnType::comparable`](super::ColumnType::comparable) may change a value.
    #[inline]
    #[must_use]
    pub const fn has_comparable(self) -> bool {
        match self {
            F::Decimal | F::Date | F::Time => true,
            F::Text
            | F::Bytes
            | F::Whole
            | F::Float
            | F::Double
            | F::Bool
            | F::Timestamp
            | F::Year
            | F::Set
            | F::Document => false,
        }
    }

    /// Whether every value is a whole number or NULL.
    #[inline]
    #[must_use]
    pub const fn is_integer(self) -> bool {
        match self {
            F::Whole | F::Bool | F::Timestamp | F::Year => true,
            F::Text
            | F::Bytes
            | F::Float
            | F::Double
            | F::Decimal
            | F::Date
            | F::Time
            | F::Set
            | F::Document => false,
        }
    }

    /// Whether values are numbers with which one reckons: no truths, no moments.
    #[inline]
    #[must_use]
    pub const fn is_number(self) -> bool {
        match self {
            F::Whole | F::Float | F::Double | F::Decimal => true,
            F::Text
            | F::Bytes
            | F::Bool
            | F::Timestamp
            | F::Date
            | F::Time
            | F::Year
            | F::Set
            | F::Document => false,
        }
    }

    /// Whether values are numbers, or are kept as numbers that may stand beside numbers: truths and years.
    #[inline]
    #[must_use]
    pub const fn is_counted(self) -> bool {
        match self {
            F::Whole | F::Float | F::Double | F::Decimal | F::Bool | F::Year => true,
            F::Text | F::Bytes | F::Timestamp | F::Date | F::Time | F::Set | F::Document => false,
        }
    }

    /// Whether values of a column may be read as others beside a column of another family, or are of one beside which others are.
    #[inline]
    #[must_use]
    pub const fn is_converted(self) -> bool {
        match self {
            F::Text | F::Date | F::Time | F::Timestamp => true,
            F::Bytes
            | F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Year
            | F::Set
            | F::Document => false,
        }
    }

    /// Whether a value of a column is read as one of the other family beside a column of that: beside a date a number is, by its digits,
    /// and beside dates, times and moments a text.
    #[inline]
    #[must_use]
    pub fn is_read_as(self, other: TypeFamily) -> bool {
        match other {
            F::Date => self.is_number() || self == F::Text,
            F::Time | F::Timestamp => self == F::Text,
            F::Text
            | F::Bytes
            | F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Year
            | F::Set
            | F::Document => false,
        }
    }

    /// Whether rows are found by the values of a column that is compared with what is of the other family: the text of a constant means
    /// the same as a text of a row. `None`: only beside a column of the same type.
    ///
    /// Beside a column of years it does not: the constant `'0'` is the year 2000, and a text `0` is the number 0.
    #[inline]
    #[must_use]
    pub fn names_values(self, other: Option<TypeFamily>) -> Option<bool> {
        match self {
            F::Document | F::Decimal | F::Date | F::Time => Some(false),
            F::Year | F::Bool | F::Timestamp => None,
            F::Text | F::Bytes => match other {
                Some(F::Date | F::Time | F::Timestamp) => None,
                Some(_) | None => Some(true),
            },
            F::Whole | F::Float | F::Double | F::Set => match other {
                Some(F::Date) => None,
                Some(_) | None => Some(true),
            },
        }
    }

    /// Whether a value of this family may be compared with one of the other: numbers and texts may, where the text is a number, and
    /// documents hold values of all kinds. Dates, times and sets are compared with their own kind alone.
    #[inline]
    #[must_use]
    pub fn is_like(self, other: TypeFamily) -> bool {
        let kind = |of: TypeFamily| match of {
            F::Date => "date",
            F::Time => "time",
            F::Set => "set",
            F::Text
            | F::Bytes
            | F::Document
            | F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Timestamp
            | F::Year => "number or text",
        };
        [self, other].contains(&F::Document) || kind(self) == kind(other)
    }

    /// See [`Moment`]; `None`: no value is one.
    #[inline]
    #[must_use]
    pub const fn moment(self) -> Option<Moment> {
        match self {
            F::Date | F::Timestamp => Some(Moment::Date),
            F::Time => Some(Moment::Time),
            F::Year => Some(Moment::Year),
            F::Text
            | F::Bytes
            | F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Set
            | F::Document => None,
        }
    }

    /// How a moment such as NOW() is written beside a value, for `strftime`; `None`: it is its seconds.
    #[inline]
    #[must_use]
    pub const fn moment_format(self) -> Option<&'static str> {
        match self {
            F::Time => Some("%H:%M:%S"),
            F::Year => Some("%Y"),
            F::Text | F::Bytes | F::Date => Some("%Y-%m-%d %H:%M:%S"),
            F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Timestamp
            | F::Set
            | F::Document => None,
        }
    }

    /// Whether values are texts that a client wrote, of which none is incorrect.
    #[inline]
    #[must_use]
    pub const fn takes_texts(self) -> bool {
        match self {
            F::Text | F::Bytes => true,
            F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Timestamp
            | F::Date
            | F::Time
            | F::Year
            | F::Set
            | F::Document => false,
        }
    }

    /// Whether a value may have more bytes than a number or a date has.
    #[inline]
    #[must_use]
    pub const fn may_be_long(self) -> bool {
        match self {
            F::Text | F::Bytes | F::Set | F::Document => true,
            F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Timestamp
            | F::Date
            | F::Time
            | F::Year => false,
        }
    }

    /// Whether a value is one that is equal to others or not, and no list of values.
    #[inline]
    #[must_use]
    pub const fn is_single(self) -> bool {
        match self {
            F::Set | F::Document => false,
            F::Text
            | F::Bytes
            | F::Whole
            | F::Float
            | F::Double
            | F::Decimal
            | F::Bool
            | F::Timestamp
            | F::Date
            | F::Time
            | F::Year => true,
        }
    }

    /// See [`NumberForm`].
    #[inline]
    #[must_use]
    pub const fn number_form(self) -> NumberForm {
        match self {
            F::Bool => NumberForm::Truth,
            F::Year => NumberForm::Year,
            F::Float => NumberForm::Float,
            F::Double => NumberForm::Double,
            F::Text
            | F::Bytes
            | F::Whole
            | F::Decimal
            | F::Timestamp
            | F::Date
            | F::Time
            | F::Set
            | F::Document => NumberForm::Plain,
        }
    }
}
