//! `seine.toml`: keys, their texts and their lines.

use language::nearest::nearest;
use toml::de::{DeTable, DeValue};

use super::table::SETTINGS;

/// One key of the file.
#[derive(Debug, PartialEq)]
pub(super) struct Entry {
    /// Name of the setting; a key `user` in the table `[auth]` is `auth.user`.
    pub name: &'static str,
    /// The value as text; a list gives several.
    pub texts: Vec<String>,
    /// Line of the key, from 1.
    pub line: usize,
}

/// Reads the text of a file. Gives the entries by rising line.
///
/// # Errors
/// One line of text: the line's number and the reason; for an unknown key the nearest known key.
pub(super) fn read(text: &str) -> Result<Vec<Entry>, String> {
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        format!("{line}: {}", error.message().replace('\n', " "))
    })?;
    let mut entries = Vec::new();
    gather(text, "", document.get_ref(), &mut entries)?;
    entries.sort_by_key(|entry| entry.line);
    Ok(entries)
}

fn gather(
    text: &str,
    prefix: &str,
    table: &DeTable<'_>,
    out: &mut Vec<Entry>,
) -> Result<(), String> {
    for (key, value) in table {
        let line = line_of(text, key.span().start);
        let name = format!("{prefix}{}", key.get_ref());
        if let Some(inner) = value.get_ref().as_table() {
            let known = SETTINGS
                .iter()
                .any(|setting| setting.name.starts_with(&format!("{name}.")));
            if !known {
                return Err(unknown(line, &name));
            }
            gather(text, &format!("{name}."), inner, out)?;
            continue;
        }
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            return Err(unknown(line, &name));
        };
        let texts = texts(value.get_ref()).ok_or_else(|| {
            format!("{line}: {name} wants a text, a number, true or false, or a list of texts")
        })?;
        out.push(Entry {
            name: setting.name,
            texts,
            line,
        });
    }
    Ok(())
}

fn unknown(line: usize, name: &str) -> String {
    let names = SETTINGS.iter().map(|setting| setting.name);
    let tables = SETTINGS
        .iter()
        .filter_map(|setting| setting.name.split_once('.'));
    let meant = nearest(name, names.chain(tables.map(|(table, _)| table)))
        .map(|near| format!("; did you mean {near:?}?"))
        .unwrap_or_default();
    format!("{line}: unknown key {name:?}{meant}")
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::String(text) => Some(vec![text.to_string()]),
        DeValue::Integer(number) => Some(vec![number.as_str().to_owned()]),
        DeValue::Boolean(on) => Some(vec![on.to_string()]),
        DeValue::Array(items) => items
            .iter()
            .map(|item| item.get_ref().as_str().map(str::to_owned))
            .collect(),
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}
