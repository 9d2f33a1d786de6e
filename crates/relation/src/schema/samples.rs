//! A sample of each type, from which the tests of names, bytes, constants and doors take their types.
//!
//! A tag of [`TYPES`](super::TYPES) without a sample does not compile. What a sample says is tested through both protocols by
//! `crates/cli/tests/it/column_types.rs`, and beside constants in every place of a statement by `crates/cli/tests/it/constants.rs`.

use super::column_type::TAGS;

/// A type as statements have it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The type in CREATE TABLE of a search table, of a queue and of a temporary table. Its tag is the sample's place.
    pub name: &'static str,
    /// Further types, and other names of it.
    pub others: &'static [&'static str],
    /// A value in SQL.
    pub value: &'static str,
    /// The value as a client of MySQL's protocol sees it.
    pub shown: &'static str,
    /// The least value, or one below `value`.
    pub least: &'static str,
    /// Constants in SQL that equal `value`. None: values of the type are not compared with constants.
    pub equal: &'static [&'static str],
    /// Constants that the type does not read.
    pub refused: &'static [&'static str],
}

const NO_NUMBER: &[&str] = &["'abc'", "''", "'12abc'", "'.'"];

const TEXT: Sample = Sample {
    name: "text",
    others: &[],
    value: "'Ab'",
    shown: "Ab",
    least: "''",
    equal: &["'Ab'", "'AB'"],
    refused: &[],
};

const WHOLE: Sample = Sample {
    name: "int",
    others: &["integer"],
    value: "12",
    shown: "12",
    least: "-2147483648",
    equal: &["12", "'12'", "' 12 '", "12.0", "'12.0'", "'1.2e1'"],
    refused: NO_NUMBER,
};

const DATE: Sample = Sample {
    name: "date",
    others: &[],
    value: "'2024-01-02'",
    shown: "2024-01-02",
    least: "'1000-01-01'",
    equal: &[
        "'2024-01-02'",
        "'2024-1-2'",
        "20240102",
        "'2024-01-02 00:00:00'",
    ],
    refused: &["'soon'", "''", "'2024-13-01'"],
};

/// A sample of each tag, by tag.
pub const SAMPLES: [Sample; TAGS] = [
    TEXT,
    Sample {
        name: "string",
        ..TEXT
    },
    WHOLE,
    Sample {
        name: "bigint",
        others: &["bigint(20)"],
        value: "9007199254740993",
        shown: "9007199254740993",
        least: "-9223372036854775808",
        equal: &["9007199254740993", "'9007199254740993'"],
        ..WHOLE
    },
    Sample {
        name: "float",
        others: &[],
        value: "0.5",
        shown: "0.500000",
        least: "-16777216",
        equal: &["0.5", "'0.5'", "'5e-1'"],
        ..WHOLE
    },
    Sample {
        name: "bool",
        others: &["boolean"],
        value: "1",
        shown: "1",
        least: "0",
        equal: &["1", "'1'", "'true'", "TRUE"],
        refused: &["'yes'", "''"],
    },
    Sample {
        name: "timestamp",
        others: &[],
        value: "'2024-01-02 03:04:05'",
        shown: "1704164645",
        least: "-9223372036854775808",
        equal: &[
            "'2024-01-02 03:04:05'",
            "'2024-01-02T03:04:05Z'",
            "'2024-01-02 05:04:05+02:00'",
            "1704164645",
            "'1704164645'",
        ],
        refused: &["'soon'", "''", "'2024-13-01'"],
    },
    Sample {
        name: "smallint",
        others: &["tinyint", "tinyint(1)", "mediumint"],
        least: "-32768",
        ..WHOLE
    },
    Sample {
        name: "bigint unsigned",
        others: &["tinyint unsigned", "int unsigned"],
        value: "18446744073709551615",
        shown: "18446744073709551615",
        least: "0",
        equal: &["18446744073709551615", "'18446744073709551615'"],
        ..WHOLE
    },
    Sample {
        name: "double",
        others: &["real"],
        value: "0.1",
        shown: "0.1",
        least: "-1.7976931348623157e308",
        equal: &["0.1", "'0.1'"],
        ..WHOLE
    },
    Sample {
        name: "char(2)",
        others: &["char"],
        ..TEXT
    },
    Sample {
        name: "varchar(9)",
        others: &["varchar(65535)"],
        ..TEXT
    },
    Sample {
        name: "longtext",
        others: &["tinytext", "mediumtext"],
        ..TEXT
    },
    Sample {
        name: "longblob",
        others: &["tinyblob", "blob", "mediumblob", "binary", "varbinary(9)"],
        equal: &["'Ab'"],
        ..TEXT
    },
    DATE,
    Sample {
        name: "datetime",
        others: &["datetime(3)"],
        value: "'2024-01-02 03:04:05'",
        shown: "2024-01-02 03:04:05",
        least: "'1000-01-01 00:00:00'",
        equal: &[
            "'2024-01-02 03:04:05'",
            "'2024-1-2 3:4:5'",
            "20240102030405",
        ],
        refused: &["'soon'", "''"],
    },
    Sample {
        name: "time",
        others: &["time(6)"],
        value: "'10:11:12'",
        shown: "10:11:12",
        least: "'-838:59:59'",
        equal: &["'10:11:12'", "101112", "'10:11:12.0'"],
        refused: &["'noon'"],
    },
    Sample {
        name: "year",
        others: &["year(4)"],
        value: "2024",
        shown: "2024",
        least: "1901",
        equal: &["2024", "'2024'", "'24'"],
        refused: &["'MMXXIV'", "''"],
    },
    Sample {
        name: "decimal(8,2)",
        others: &["decimal", "numeric(3)", "decimal(65,30)"],
        value: "12.50",
        shown: "12.50",
        least: "-999999.99",
        equal: &["12.5", "'12.50'", "'12.500'"],
        ..WHOLE
    },
    Sample {
        name: "bit(8)",
        others: &["bit", "bit(64)"],
        least: "0",
        ..WHOLE
    },
    Sample {
        name: "multi",
        others: &["multi64"],
        value: "(3,1)",
        shown: "1,3",
        least: "()",
        equal: &[],
        refused: &[],
    },
    Sample {
        name: "json",
        others: &[],
        value: "'{\"a\":[1,2.5]}'",
        shown: "{\"a\":[1,2.5]}",
        least: "'{}'",
        equal: &[],
        refused: &[],
    },
];
