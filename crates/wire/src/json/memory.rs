//! Estimates the memory of a JSON text's values, before the text is parsed.

/// Memory of a value of a tree, in bytes: its entry in a list that doubles, and its share of the values made from it.
const ITEM_BYTES: usize = 96;

/// Memory of the first block of a list, in bytes.
const LIST_BYTES: usize = 160;

/// Memory of an object of a tree with one member, in bytes: a leaf of a `BTreeMap` has room for eleven.
const OBJECT_BYTES: usize = 640;

/// Memory of an object that is parsed into a list of fields, in bytes.
const FIELDS_BYTES: usize = 64;

/// Most memory of a JSON text's values, in bytes, strings included. Objects within the first `fields_depth` levels of brackets
/// are parsed into lists of fields, deeper ones into trees. The text need not be valid JSON.
///
/// Cost: one pass over the text; no allocation.
#[must_use]
pub fn memory_bytes(text: &[u8], fields_depth: usize) -> usize {
    let mut bytes = 2 * text.len();
    let mut depth: usize = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at += string_bytes(text.get(at..).unwrap_or_default()),
            b',' | b':' => bytes = bytes.saturating_add(ITEM_BYTES),
            b'[' => {
                depth += 1;
                bytes = bytes.saturating_add(LIST_BYTES);
            }
            b'{' => {
                depth += 1;
                let is_tree = depth > fields_depth;
                let object = if is_tree { OBJECT_BYTES } else { FIELDS_BYTES };
                bytes = bytes.saturating_add(object);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    bytes
}

/// Length of a string from behind its first quote to behind its last.
fn string_bytes(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_strings_is_text_only() {
        assert_eq!(memory_bytes(br#""[{,\"""#, 0), 14);
    }

    #[test]
    fn nested_objects_cost_a_node_of_a_map_each() {
        let text = br#"{"a":{"b":1}}"#;
        let fields = memory_bytes(text, 2);
        assert_eq!(memory_bytes(text, 1), fields + OBJECT_BYTES - FIELDS_BYTES);
        assert!(memory_bytes(text, 0) > 2 * OBJECT_BYTES);
    }

    #[test]
    fn a_tree_takes_no_more_than_was_foretold() {
        for text in [
            "[1,2,3,4,5,6,7,8,9]",
            "[[],[],[]]",
            r#"[{"a":1},{"b":[2]}]"#,
        ] {
            let tree: serde_json::Value = serde_json::from_str(text).unwrap();
            assert!(memory_bytes(text.as_bytes(), 0) >= taken(&tree), "{text}");
        }
    }

    /// Memory of a tree as its lists and maps are built.
    fn taken(tree: &serde_json::Value) -> usize {
        let own = size_of::<serde_json::Value>();
        match tree {
            serde_json::Value::Array(items) => {
                let spare = items.capacity() - items.len();
                own + spare * own + items.iter().map(taken).sum::<usize>()
            }
            serde_json::Value::Object(members) => {
                own + 11 * (own + 24) + members.values().map(taken).sum::<usize>()
            }
            serde_json::Value::String(text) => own + text.capacity(),
            _ => own,
        }
    }
}
