//! A command of our own, for `seine load`: rows in binary, and the place in the input that the load has reached.
//!
//! Limits: those of a packet; a row has at most 65,535 columns.
//!
//! ```text
//! 0x6c | table: string | load: u64 | step: u8 (0 ask, 1 put, 2 end, 3 forget)
//! put: from: integer | to: integer | flags: u8 (1 replace, 2 follows) | columns: u16, then a string for each
//!      | rows: u32 | the cells of all rows, row by row
//! cell: 0 NULL | 1 number: i64 | 2 real: f64 | 3 text: string | 4 wide number: i128
//! ```
//!
//! `integer` and `string` are the protocol's length-encoded forms. Numbers of a fixed width are little-endian. Example: load 9
//! of table `t`, rows of the input's bytes 0 to 40, one column `id`, the row 7:
//!
//! ```text
//! 6c   01 't'   09 00 00 00 00 00 00 00   01            the command, table, load, step put
//! 00   28   00   01 00   02 'id'   01 00 00 00          from 0, to 40, no flag, one column, one row
//! 01   07 00 00 00 00 00 00 00                          the cell
//! ```
//!
//! Each command gets one answer, in order; a client may send several before it reads. The answer is an error, or an OK packet.
//! Its `affected` counts the rows stored now. Its `last_id` is the place reached, if the step asked for it or if the rows were
//! stored before.

use relation::value::Value;

use super::bytes::{DecodeError, Reader, put_integer, put_string};
use super::packet::PacketWriter;

pub(super) const LOAD: u8 = 0x6c;

const ASK: u8 = 0;
const PUT: u8 = 1;
const END: u8 = 2;
const FORGET: u8 = 3;

const REPLACE: u8 = 1;
const FOLLOWS: u8 = 2;

const NULL: u8 = 0;
const INT: u8 = 1;
const FLOAT: u8 = 2;
const TEXT: u8 = 3;
const WIDE: u8 = 4;

/// One step of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The table's name, as written.
    pub table: String,
    /// Number that names the load within its table.
    pub load: u64,
    /// What is to be done: begin, rows, end.
    pub step: LoadStep,
}

/// A step of a load.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadStep {
    /// Asks for the place that the load has reached.
    Ask,
    /// Stores rows, and the place behind them.
    Put(LoadRows),
    /// Ends the load: its place is forgotten.
    End,
    /// Ends every load of the table.
    Forget,
}

/// Rows between two places of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRows {
    /// Place of the rows in the input.
    pub part: LoadPart,
    /// Names of the columns; at least one if there is a row.
    pub columns: Vec<String>,
    /// The rows; each has a value for each column.
    pub rows: Vec<Vec<Value>>,
}

/// Place of rows in the input, and how they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadPart {
    /// Place in the input at which the rows begin.
    pub from: u64,
    /// Place behind the rows.
    pub to: u64,
    /// REPLACE; false: INSERT.
    pub replace: bool,
    /// Whether the client sent this before it had read the answer to the step before. Refused if that step was refused.
    pub follows: bool,
}

impl Load {
    /// Most memory that the rows of a command take once they are decoded, in bytes; 0 for a command without rows.
    #[must_use]
    pub fn memory_bytes(payload: &[u8]) -> usize {
        let mut reader = Reader::new(payload);
        let mut rows = || {
            if reader.u8("command").ok()? != LOAD {
                return None;
            }
            reader.string("table").ok()?;
            reader.u64("load").ok()?;
            if reader.u8("step").ok()? != PUT {
                return None;
            }
            let head = head(&mut reader).ok()?;
            let row = size_of::<Vec<Value>>() + 16 + head.columns.len() * size_of::<Value>();
            Some(head.rows_max(&reader) * row + reader.left())
        };
        rows().unwrap_or(0)
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Load, DecodeError> {
        let table = name(reader)?;
        let load = reader.u64("load")?;
        let step = match reader.u8("step")? {
            ASK => LoadStep::Ask,
            PUT => LoadStep::Put(rows(reader)?),
            END => LoadStep::End,
            FORGET => LoadStep::Forget,
            _ => return Err(reader.fail("a known step")),
        };
        match reader.is_empty() {
            true => Ok(Load { table, load, step }),
            false => Err(reader.fail("the end of the command")),
        }
    }
}

fn name(reader: &mut Reader<'_>) -> Result<String, DecodeError> {
    let bytes = reader.string("a name")?;
    let text = std::str::from_utf8(bytes).map_err(|_| reader.fail("a name"))?;
    Ok(text.to_owned())
}

/// The part of a put before its cells.
struct Head {
    part: LoadPart,
    columns: Vec<String>,
    count: u32,
}

impl Head {
    /// Most rows that can follow. A cell has at least a byte, so a false count reserves no more than the packet can hold.
    fn rows_max(&self, reader: &Reader<'_>) -> usize {
        (reader.left() / self.columns.len().max(1)).min(self.count as usize)
    }
}

fn head(reader: &mut Reader<'_>) -> Result<Head, DecodeError> {
    let (from, to) = (reader.integer("from")?, reader.integer("to")?);
    let flags = reader.u8("flags")?;
    let part = LoadPart {
        from,
        to,
        replace: flags & REPLACE != 0,
        follows: flags & FOLLOWS != 0,
    };
    let width = reader.u16("columns")?;
    let columns: Result<Vec<String>, DecodeError> = (0..width).map(|_| name(reader)).collect();
    Ok(Head {
        part,
        columns: columns?,
        count: reader.u32("rows")?,
    })
}

fn rows(reader: &mut Reader<'_>) -> Result<LoadRows, DecodeError> {
    let head = head(reader)?;
    let mut rows = Vec::with_capacity(head.rows_max(reader));
    let Head {
        part,
        columns,
        count,
    } = head;
    for _ in 0..count {
        if columns.is_empty() {
            return Err(reader.fail("columns"));
        }
        let mut row = Vec::with_capacity(columns.len());
        for _ in 0..columns.len() {
            row.push(cell(reader)?);
        }
        rows.push(row);
    }
    Ok(LoadRows {
        part,
        columns,
        rows,
    })
}

#[inline]
fn cell(reader: &mut Reader<'_>) -> Result<Value, DecodeError> {
    Ok(match reader.u8("cell")? {
        NULL => Value::Null,
        INT => Value::Int((reader.u64("number")? as i64).into()),
        FLOAT => Value::Float(f64::from_bits(reader.u64("real")?)),
        TEXT => {
            let bytes = reader.string("text")?;
            let text = std::str::from_utf8(bytes).map_err(|_| reader.fail("UTF-8"))?;
            Value::Str(text.to_owned())
        }
        WIDE => {
            let low = reader.u64("number")?;
            let high = reader.u64("number")?;
            Value::Int((u128::from(high) << 64 | u128::from(low)) as i128)
        }
        _ => return Err(reader.fail("a known cell")),
    })
}

/// Encoded cells of rows, for a client.
#[derive(Clone, Debug, Default)]
pub struct LoadCells {
    bytes: Vec<u8>,
}

impl LoadCells {
    /// Appends NULL.
    pub fn null(&mut self) {
        self.bytes.push(NULL);
    }

    /// Appends a whole number.
    pub fn int(&mut self, number: i128) {
        match i64::try_from(number) {
            Ok(number) => {
                self.bytes.push(INT);
                self.bytes.extend_from_slice(&number.to_le_bytes());
            }
            Err(_) => {
                self.bytes.push(WIDE);
                self.bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    /// Appends a real number.
    pub fn float(&mut self, number: f64) {
        self.bytes.push(FLOAT);
        self.bytes
            .extend_from_slice(&number.to_bits().to_le_bytes());
    }

    /// Appends a text.
    pub fn text(&mut self, text: &str) {
        self.bytes.push(TEXT);
        put_string(&mut self.bytes, text.as_bytes());
    }

    /// Bytes so far: after the last cell of a row, the row's end for [`between`](Self::between).
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes of the cells between two offsets, which must be ends of rows.
    #[must_use]
    pub fn between(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }
}

/// Writes a put, as a client. `cells` are the cells of `rows` rows of these columns.
pub fn put(
    packets: &mut PacketWriter,
    (table, load): (&str, u64),
    part: LoadPart,
    columns: &[String],
    (rows, cells): (u32, &[u8]),
) {
    packets.start(0);
    let out = packets.begin();
    begin(out, table, load, PUT);
    put_integer(out, part.from);
    put_integer(out, part.to);
    out.push((REPLACE * u8::from(part.replace)) | (FOLLOWS * u8::from(part.follows)));
    out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
    columns
        .iter()
        .for_each(|name| put_string(out, name.as_bytes()));
    out.extend_from_slice(&rows.to_le_bytes());
    out.extend_from_slice(cells);
    packets.end();
}

/// Writes an ask, as a client.
pub fn ask(packets: &mut PacketWriter, (table, load): (&str, u64)) {
    simple(packets, table, load, ASK);
}

/// Writes an end, as a client.
pub fn end(packets: &mut PacketWriter, (table, load): (&str, u64)) {
    simple(packets, table, load, END);
}

/// Writes a forget, as a client. The answer's `affected` is the count of loads ended.
pub fn forget(packets: &mut PacketWriter, table: &str) {
    simple(packets, table, 0, FORGET);
}

fn simple(packets: &mut PacketWriter, table: &str, load: u64, step: u8) {
    packets.start(0);
    begin(packets.begin(), table, load, step);
    packets.end();
}

fn begin(out: &mut Vec<u8>, table: &str, load: u64, step: u8) {
    out.push(LOAD);
    put_string(out, table.as_bytes());
    out.extend_from_slice(&load.to_le_bytes());
    out.push(step);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::{Capabilities, Command};

    fn sent(write: impl FnOnce(&mut PacketWriter)) -> Vec<u8> {
        let mut packets = PacketWriter::new();
        write(&mut packets);
        packets.bytes()[4..].to_vec()
    }

    fn rows() -> Vec<u8> {
        let mut cells = LoadCells::default();
        cells.int(7);
        cells.text("ä b");
        cells.int(i128::from(u64::MAX));
        cells.null();
        cells.int(-1);
        cells.float(0.5);
        let part = LoadPart {
            from: 3,
            to: 1 << 40,
            replace: true,
            follows: false,
        };
        let columns = ["id".to_owned(), "body".to_owned()];
        sent(|out| {
            put(
                out,
                ("t", 9),
                part,
                &columns,
                (3, cells.between(0, cells.len())),
            )
        })
    }

    #[test]
    fn rows_arrive_as_they_were_sent() {
        let bytes = rows();
        let read = Command::decode(&bytes, Capabilities::CLIENT).unwrap();
        let Command::Load(load) = read else {
            panic!("{read:?}")
        };
        assert_eq!((load.table.as_str(), load.load), ("t", 9));
        let LoadStep::Put(rows) = load.step else {
            panic!("no rows")
        };
        assert_eq!((rows.part.from, rows.part.to), (3, 1 << 40));
        assert!(rows.part.replace && !rows.part.follows);
        let wanted = vec![
            vec![Value::Int(7), Value::Str("ä b".to_owned())],
            vec![Value::Int(u64::MAX.into()), Value::Null],
            vec![Value::Int(-1), Value::Float(0.5)],
        ];
        assert_eq!(rows.rows, wanted);
    }

    #[test]
    fn questions_arrive() {
        for (bytes, step) in [
            (sent(|out| ask(out, ("t", 1))), LoadStep::Ask),
            (sent(|out| end(out, ("t", 1))), LoadStep::End),
            (sent(|out| forget(out, "t")), LoadStep::Forget),
        ] {
            let load = Load {
                table: "t".to_owned(),
                load: u64::from(step != LoadStep::Forget),
                step,
            };
            let read = Command::decode(&bytes, Capabilities::CLIENT);
            assert_eq!(read, Ok(Command::Load(load)));
        }
    }

    #[test]
    fn what_ends_early_or_late_is_refused() {
        let bytes = rows();
        for end in 0..bytes.len() {
            let read = Command::decode(&bytes[..end], Capabilities::CLIENT);
            assert!(read.is_err(), "{end} bytes");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Command::decode(&longer, Capabilities::CLIENT).is_err());
    }
}
