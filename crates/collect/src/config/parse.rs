//! Lines to a tree of blocks. Every key knows its line; keys that are no variables of Scribe are named and dropped here.
//!
//! # Invariants
//! - A block is closed by the next `</…>` on its level, whatever its name, or by the end of the file.
//! - The n-th `<store>` in a block is called `store<n>`, from 0: so the stores of a file and those of a `multi` differ.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::keys::{self, Kind};
use super::problem::{Problems, quote};
use super::{BLOCKS_MAX, FILE_BYTES_MAX, NESTING_MAX};

/// Block of a store of type `percolate` with its standing queries.
pub(super) const QUERIES: &str = "queries";

/// A value and its line.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) value: &'a str,
    pub(super) line: u32,
}

/// A block, or the whole file.
pub(super) struct Block<'a> {
    /// Line of its `<name>`; 1 for the file.
    pub(super) line: u32,
    pub(super) values: BTreeMap<&'static str, Entry<'a>>,
    /// Entries `type::key`, for this block and those in it.
    pub(super) inherited: BTreeMap<(Kind, &'static str), Entry<'a>>,
    /// Entries of a block `<queries>`, whose names are numbers.
    pub(super) numbered: BTreeMap<u64, Entry<'a>>,
    pub(super) blocks: BTreeMap<Cow<'a, str>, Block<'a>>,
    /// Blocks in it with the name `store`.
    stores: usize,
}

/// A file that is not read because it is beyond a limit.
pub(super) struct Refusal {
    pub(super) line: u32,
    pub(super) text: String,
}

/// The tree of a file.
///
/// # Errors
/// A file beyond a limit.
pub(super) fn parse<'a>(text: &'a [u8], problems: &mut Problems) -> Result<Block<'a>, Refusal> {
    if text.len() > FILE_BYTES_MAX {
        let text = format!(
            "the file has {} bytes, the most is {FILE_BYTES_MAX}",
            text.len()
        );
        return Err(Refusal { line: 1, text });
    }
    let mut parser = Parser {
        problems,
        root: Block::new(1),
        open: Vec::new(),
        blocks: 0,
    };
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    for (line, bytes) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let end = bytes.iter().position(|byte| *byte == b'#');
        match std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]) {
            Ok(text) => parser.line(text.trim(), line)?,
            Err(_) => parser
                .problems
                .error(line, "the line is not UTF-8 and is ignored"),
        }
    }
    while let Some((name, block)) = parser.open.pop() {
        let text = format!(
            "<{}> is never closed: the end of the file closes it",
            quote(name)
        );
        parser.problems.error(block.line, text);
        parser.attach(name, block);
    }
    Ok(parser.root)
}

struct Parser<'a, 'p> {
    problems: &'p mut Problems,
    root: Block<'a>,
    /// Blocks that are not closed yet, the outermost first.
    open: Vec<(&'a str, Block<'a>)>,
    blocks: usize,
}

impl<'a> Parser<'a, '_> {
    /// Takes a line without its comment and the blanks around it.
    fn line(&mut self, text: &'a str, line: u32) -> Result<(), Refusal> {
        if let Some(rest) = text.strip_prefix("</") {
            let (name, after) = rest.split_once('>').unwrap_or((rest, ""));
            self.ignored(after, line);
            self.close(name.trim(), line);
        } else if let Some(rest) = text.strip_prefix('<') {
            let Some((name, after)) = rest.split_once('>') else {
                let text = format!("{} has a < but no >: it is ignored", quote(text));
                self.problems.error(line, text);
                return Ok(());
            };
            self.ignored(after, line);
            return self.begin(name.trim(), line);
        } else if let Some((key, value)) = text.split_once('=') {
            self.entry(
                key.trim(),
                Entry {
                    value: value.trim(),
                    line,
                },
            );
        } else if !text.is_empty() {
            let text = format!("{} has no =: it is ignored", quote(text));
            self.problems.error(line, text);
        }
        Ok(())
    }

    fn ignored(&mut self, after: &str, line: u32) {
        if !after.trim().is_empty() {
            let text = format!("{} behind the > is ignored", quote(after.trim()));
            self.problems.warning(line, text);
        }
    }

    fn begin(&mut self, name: &'a str, line: u32) -> Result<(), Refusal> {
        self.blocks += 1;
        let limit = if self.open.len() == NESTING_MAX {
            format!("blocks lie in each other {NESTING_MAX} deep at most")
        } else if self.blocks > BLOCKS_MAX {
            format!("a file has {BLOCKS_MAX} blocks at most")
        } else {
            self.open.push((name, Block::new(line)));
            return Ok(());
        };
        let text = format!("{limit}: the file is not read");
        Err(Refusal { line, text })
    }

    fn close(&mut self, name: &str, line: u32) {
        let Some((opened, block)) = self.open.pop() else {
            // Scribe stops reading here and never sees the stores that follow.
            let text = format!("</{}> closes no block: it is ignored", quote(name));
            self.problems.error(line, text);
            return;
        };
        if name != opened {
            let text = format!(
                "</{}> closes <{}> of line {}",
                quote(name),
                quote(opened),
                block.line
            );
            self.problems.warning(line, text);
        }
        self.attach(opened, block);
    }

    /// Puts a closed block into the one around it.
    fn attach(&mut self, name: &'a str, block: Block<'a>) {
        let line = block.line;
        let around = current(&mut self.root, &mut self.open);
        let mut name = Cow::Borrowed(name);
        if name == "store" {
            name = Cow::Owned(format!("store{}", around.stores));
            around.stores += 1;
        }
        if let Some(before) = around.blocks.insert(name.clone(), block) {
            let text = format!(
                "<{}> is given in line {} already: this one counts",
                quote(&name),
                before.line
            );
            self.problems.error(line, text);
        }
    }

    fn entry(&mut self, name: &str, entry: Entry<'a>) {
        let number = match self.open.last() {
            Some((QUERIES, _)) => name.parse().ok().filter(|number| *number > 0),
            _ => None,
        };
        let block = current(&mut self.root, &mut self.open);
        let before = match name.split_once("::") {
            _ if let Some(number) = number => Some(block.numbered.insert(number, entry)),
            None => keys::find(name).map(|(key, _)| block.values.insert(key, entry)),
            Some((kind, key)) => {
                Kind::parse(kind)
                    .zip(keys::find(key))
                    .map(|(kind, (key, places))| {
                        let heirs = kind.place() | keys::TOP;
                        if places & heirs == 0 || !keys::is_inherited(key) {
                            let text = format!(
                                "{name} has no effect: {} stores inherit no {key}",
                                kind.name()
                            );
                            self.problems.warning(entry.line, text);
                        }
                        block.inherited.insert((kind, key), entry)
                    })
            }
        };
        let text = match before {
            None => format!("{} is no variable of Scribe: it is ignored", quote(name)),
            Some(Some(before)) => format!(
                "{name} is given in line {} already: this one counts",
                before.line
            ),
            Some(None) => return,
        };
        self.problems.warning(entry.line, text);
    }
}

/// The innermost open block.
fn current<'s, 'a>(
    root: &'s mut Block<'a>,
    open: &'s mut [(&'a str, Block<'a>)],
) -> &'s mut Block<'a> {
    open.last_mut().map_or(root, |(_, block)| block)
}

impl Block<'_> {
    fn new(line: u32) -> Self {
        Block {
            line,
            values: BTreeMap::new(),
            inherited: BTreeMap::new(),
            numbered: BTreeMap::new(),
            blocks: BTreeMap::new(),
            stores: 0,
        }
    }
}
