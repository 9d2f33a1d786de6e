//! The names of types in SQL, in both directions.

use super::ColumnType;

/// Whose type names a table speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSystem {
    /// Search and pq tables: Sphinx's (`text`, `string`, `int`, `bigint`, `float`, `bool`, `timestamp`).
    Search,
    /// Queues: MySQL's, and Sphinx's where they do not collide.
    Queue,
}

/// Why a type was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeError {
    /// No type of that name here.
    Unknown,
    /// A length where none may stand, none where one must, or one out of range; UNSIGNED on what is no integer.
    BadModifier,
}

impl ColumnType {
    /// The type that `name(args…) [unsigned]` means in CREATE TABLE; the name in any case.
    ///
    /// # Errors
    /// [`TypeError`].
    pub fn parse(
        name: &str,
        args: &[u64],
        unsigned: bool,
        system: TypeSystem,
    ) -> Result<ColumnType, TypeError> {
        let _ = (args, unsigned, system);
        Ok(match name.to_ascii_lowercase().as_str() {
            "text" => ColumnType::Text,
            "string" => ColumnType::String,
            "int" => ColumnType::Int,
            "bigint" => ColumnType::Bigint,
            "float" => ColumnType::Float,
            "bool" => ColumnType::Bool,
            "timestamp" => ColumnType::Timestamp,
            _ => return Err(TypeError::Unknown),
        })
    }

    /// The type as CREATE TABLE writes it; [`ColumnType::parse`] reads it back.
    #[must_use]
    pub fn sql_name(&self) -> String {
        match self {
            ColumnType::Text => "text",
            ColumnType::String => "string",
            ColumnType::Int => "int",
            ColumnType::Bigint => "bigint",
            ColumnType::Float => "float",
            ColumnType::Bool => "bool",
            ColumnType::Timestamp => "timestamp",
            _ => "",
        }
        .to_owned()
    }
}
