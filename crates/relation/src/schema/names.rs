//! The names of types in SQL, read and written.

use super::column_type::{ColumnType, DIGITS_MAX, FRACTION_MAX, SCALE_MAX};
use super::family::TypeFamily;

/// The set of type names that a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSystem {
    /// Sphinx's names, for search and pq tables: `text`, `string`, `int`, `bigint`, `float`, `bool`, `timestamp`; and MySQL's
    /// names for all others. `int unsigned` and `bigint unsigned` are MySQL's.
    Search,
    /// MySQL's names, for queues; and Sphinx's `text`, `string`, `float` and `timestamp`. `text` lacks MySQL's limit
    /// of 65,535 bytes, so that a queue takes every document that its source takes.
    Queue,
}

/// The reason why a type was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeError {
    /// The table's kind has no type of that name.
    Unknown,
    /// A length that is forbidden, missing or out of range, or UNSIGNED on a type that is no integer.
    BadModifier,
}

/// Most characters of CHAR(n), and bytes of BINARY(n).
const CHAR_MAX: u64 = 255;

/// Most characters of VARCHAR(n), and bytes of VARBINARY(n).
const VARCHAR_MAX: u64 = 65_535;

/// Longest lengths in bytes by which MySQL tells its types of texts and blobs apart.
const TINY: u32 = 255;
const PLAIN: u32 = 65_535;
const MEDIUM: u32 = (1 << 24) - 1;
const LONG: u32 = u32::MAX;

impl ColumnType {
    /// The type that `name(args…) [unsigned]` means in CREATE TABLE; the name in any case.
    ///
    /// # Errors
    /// [`TypeError::Unknown`] and [`TypeError::BadModifier`].
    pub fn parse(
        name: &str,
        args: &[u64],
        unsigned: bool,
        system: TypeSystem,
    ) -> Result<ColumnType, TypeError> {
        let name = name.to_ascii_lowercase();
        if system == TypeSystem::Search
            && !unsigned
            && let Ok(kind) = search_type(&name)
        {
            // A width to show, as MySQL's dumps have it.
            let has_width = kind.family() == TypeFamily::Whole;
            if args.is_empty() || has_width && matches!(args, [0..=255]) {
                return Ok(kind);
            }
        }
        queue_type(&name, args, unsigned)
    }

    /// The type as CREATE TABLE writes it; [`ColumnType::parse`] reads it back.
    #[must_use]
    pub fn sql_name(&self) -> String {
        let name = match *self {
            ColumnType::Text => "text",
            ColumnType::String => "string",
            ColumnType::Int => "int",
            ColumnType::Bigint => "bigint",
            ColumnType::Float => "float",
            ColumnType::Bool => "bool",
            ColumnType::Timestamp => "timestamp",
            ColumnType::Double => "double",
            ColumnType::Integer { bytes, unsigned } => {
                let name = match bytes {
                    1 => "tinyint",
                    2 => "smallint",
                    3 => "mediumint",
                    4 => "int",
                    _ => "bigint",
                };
                return format!("{name}{}", if unsigned { " unsigned" } else { "" });
            }
            ColumnType::Char {
                variable,
                chars_max,
            } => {
                return format!("{}char({chars_max})", if variable { "var" } else { "" });
            }
            ColumnType::LongText { bytes_max: TINY } => "tinytext",
            ColumnType::LongText { bytes_max: MEDIUM } => "mediumtext",
            ColumnType::LongText { .. } => "longtext",
            ColumnType::Blob { bytes_max: TINY } => "tinyblob",
            ColumnType::Blob { bytes_max: PLAIN } => "blob",
            ColumnType::Blob { bytes_max: MEDIUM } => "mediumblob",
            ColumnType::Blob { bytes_max: LONG } => "longblob",
            ColumnType::Blob { bytes_max } => return format!("varbinary({bytes_max})"),
            ColumnType::Date => "date",
            ColumnType::DateTime { fraction_digits: 0 } => "datetime",
            ColumnType::DateTime { fraction_digits } => {
                return format!("datetime({fraction_digits})");
            }
            ColumnType::Time { fraction_digits: 0 } => "time",
            ColumnType::Time { fraction_digits } => return format!("time({fraction_digits})"),
            ColumnType::Year => "year",
            ColumnType::Bit { bits } => return format!("bit({bits})"),
            ColumnType::Multi { wide: false } => "multi",
            ColumnType::Multi { wide: true } => "multi64",
            ColumnType::Json => "json",
            ColumnType::Decimal { digits, scale } => return format!("decimal({digits},{scale})"),
        };
        name.to_owned()
    }
}

fn search_type(name: &str) -> Result<ColumnType, TypeError> {
    Ok(match name {
        "text" => ColumnType::Text,
        "string" => ColumnType::String,
        "int" | "integer" | "uint" => ColumnType::Int,
        "bigint" => ColumnType::Bigint,
        "float" => ColumnType::Float,
        "bool" | "boolean" => ColumnType::Bool,
        "timestamp" => ColumnType::Timestamp,
        _ => return Err(TypeError::Unknown),
    })
}

fn queue_type(name: &str, args: &[u64], unsigned: bool) -> Result<ColumnType, TypeError> {
    let integer = |bytes| match args {
        [] | [0..=255] => Ok(ColumnType::Integer { bytes, unsigned }), // INT(11): a width to show
        _ => Err(TypeError::BadModifier),
    };
    let text = |bytes_max| bare(ColumnType::LongText { bytes_max }, args, unsigned);
    let blob = |bytes_max| bare(ColumnType::Blob { bytes_max }, args, unsigned);
    match name {
        "tinyint" => integer(1),
        "smallint" => integer(2),
        "mediumint" => integer(3),
        "int" | "integer" => integer(4),
        "bigint" => integer(8),
        "bool" | "boolean" => bare(
            ColumnType::Integer {
                bytes: 1,
                unsigned: false,
            },
            args,
            unsigned,
        ),
        "double" | "real" => bare(ColumnType::Double, args, unsigned),
        "char" => {
            let chars_max = length(args, unsigned, Some(1), CHAR_MAX)?;
            Ok(ColumnType::Char {
                variable: false,
                chars_max,
            })
        }
        "varchar" => {
            let chars_max = length(args, unsigned, None, VARCHAR_MAX)?;
            Ok(ColumnType::Char {
                variable: true,
                chars_max,
            })
        }
        "binary" => Ok(ColumnType::Blob {
            bytes_max: length(args, unsigned, Some(1), CHAR_MAX)?,
        }),
        "varbinary" => Ok(ColumnType::Blob {
            bytes_max: length(args, unsigned, None, VARCHAR_MAX)?,
        }),
        "tinytext" => text(TINY),
        "mediumtext" => text(MEDIUM),
        "longtext" => text(LONG),
        "tinyblob" => blob(TINY),
        "blob" => blob(PLAIN),
        "mediumblob" => blob(MEDIUM),
        "longblob" => blob(LONG),
        "date" => bare(ColumnType::Date, args, unsigned),
        "datetime" => Ok(ColumnType::DateTime {
            fraction_digits: fraction_digits(args, unsigned)?,
        }),
        "time" => Ok(ColumnType::Time {
            fraction_digits: fraction_digits(args, unsigned)?,
        }),
        "year" if args == [4] => bare(ColumnType::Year, &[], unsigned), // YEAR(4): a width to show
        "year" => bare(ColumnType::Year, args, unsigned),
        "decimal" | "numeric" | "dec" | "fixed" => decimal(args, unsigned),
        "bit" => match length(args, unsigned, Some(1), 64)? {
            0 => Err(TypeError::BadModifier),
            bits => Ok(ColumnType::Bit { bits: bits as u8 }),
        },
        "multi" => bare(ColumnType::Multi { wide: false }, args, unsigned),
        "multi64" => bare(ColumnType::Multi { wide: true }, args, unsigned),
        "json" => bare(ColumnType::Json, args, unsigned),
        "text" | "string" | "float" | "timestamp" => bare(search_type(name)?, args, unsigned),
        _ => Err(TypeError::Unknown),
    }
}

/// A type that takes no modifier.
fn bare(kind: ColumnType, args: &[u64], unsigned: bool) -> Result<ColumnType, TypeError> {
    if args.is_empty() && !unsigned {
        Ok(kind)
    } else {
        Err(TypeError::BadModifier)
    }
}

/// The `n` of CHAR(n).
fn length(args: &[u64], unsigned: bool, default: Option<u32>, max: u64) -> Result<u32, TypeError> {
    match args {
        [] if !unsigned => default.ok_or(TypeError::BadModifier),
        [length] if !unsigned && *length <= max => Ok(*length as u32),
        _ => Err(TypeError::BadModifier),
    }
}

/// The digits of DATETIME(n) and TIME(n).
fn fraction_digits(args: &[u64], unsigned: bool) -> Result<u8, TypeError> {
    length(args, unsigned, Some(0), FRACTION_MAX.into()).map(|digits| digits as u8)
}

/// DECIMAL, DECIMAL(n), DECIMAL(n, scale); DECIMAL(0) is MySQL's default of ten digits.
fn decimal(args: &[u64], unsigned: bool) -> Result<ColumnType, TypeError> {
    let (digits, scale) = match *args {
        [] | [0] | [0, 0] => (10, 0),
        [digits] => (digits, 0),
        [digits, scale] => (digits, scale),
        _ => return Err(TypeError::BadModifier),
    };
    if unsigned || digits > DIGITS_MAX.into() || scale > digits.min(SCALE_MAX.into()) {
        return Err(TypeError::BadModifier);
    }
    Ok(ColumnType::Decimal {
        digits: digits as u8,
        scale: scale as u8,
    })
}
