//! Selection of parts of a JSON text by paths, for `_source` and `filter_path`; and `pretty`.

use serde_json::{Map, Value as Json};

/// Selection of fields of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Whether no field is shown.
    pub nothing: bool,
    /// Patterns of the fields to show; empty: all.
    pub includes: Vec<String>,
    /// Patterns of fields to leave out, of those.
    pub excludes: Vec<String>,
}

impl Paths {
    /// Whether the document is shown unchanged.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        !self.nothing && self.includes.is_empty() && self.excludes.is_empty()
    }

    /// The selected part of a document.
    #[must_use]
    pub fn of(&self, document: &str) -> String {
        let Ok(json) = serde_json::from_str::<Json>(document) else {
            return "{}".to_owned();
        };
        let holds = |patterns: &[String], path: &[String]| {
            patterns.iter().any(|pattern| {
                (1..=path.len()).any(|end| {
                    path.get(..end)
                        .is_some_and(|start| glob(pattern, &start.join(".")))
                })
            })
        };
        let keep = |path: &[String]| {
            (self.includes.is_empty() || holds(&self.includes, path))
                && !holds(&self.excludes, path)
        };
        kept(&json, &mut Vec::new(), &keep).map_or_else(|| "{}".to_owned(), |json| json.to_string())
    }
}

/// The part of a reply that `filter_path` selects. Paths have commas between them; `*` is any name, `**` any path, and `-`
/// before a path leaves it out.
#[must_use]
pub fn filter_path(reply: &str, paths: &str) -> String {
    let Ok(json) = serde_json::from_str::<Json>(reply) else {
        return reply.to_owned();
    };
    let paths = paths
        .split(',')
        .map(str::trim)
        .filter(|path| !path.is_empty());
    let (excludes, includes): (Vec<&str>, Vec<&str>) =
        paths.partition(|path| path.starts_with('-'));
    let parts = |paths: Vec<&str>| -> Vec<Vec<String>> {
        let parts = |path: &&str| {
            path.trim_start_matches('-')
                .split('.')
                .map(str::to_owned)
                .collect()
        };
        paths.iter().map(parts).collect()
    };
    let (includes, excludes) = (parts(includes), parts(excludes));
    let keep = |path: &[String]| {
        (includes.is_empty() || includes.iter().any(|pattern| begins(pattern, path)))
            && !excludes.iter().any(|pattern| begins(pattern, path))
    };
    kept(&json, &mut Vec::new(), &keep).map_or_else(|| "{}".to_owned(), |json| json.to_string())
}

/// A reply with line breaks and indentation.
#[must_use]
pub fn pretty(reply: &str) -> String {
    let json = serde_json::from_str::<Json>(reply);
    let text = json.and_then(|json| serde_json::to_string_pretty(&json));
    text.map_or_else(|_| reply.to_owned(), |text| text + "\n")
}

/// The leaves that `keep` selects, with the objects and arrays around them.
fn kept(json: &Json, path: &mut Vec<String>, keep: &dyn Fn(&[String]) -> bool) -> Option<Json> {
    match json {
        Json::Object(fields) if !fields.is_empty() => {
            let mut out = Map::new();
            for (name, json) in fields {
                path.push(name.clone());
                if let Some(json) = kept(json, path, keep) {
                    out.insert(name.clone(), json);
                }
                path.pop();
            }
            (!out.is_empty()).then_some(Json::Object(out))
        }
        Json::Array(list) if !list.is_empty() => {
            let out: Vec<Json> = list
                .iter()
                .filter_map(|json| kept(json, path, keep))
                .collect();
            (!out.is_empty()).then_some(Json::Array(out))
        }
        leaf => keep(path).then(|| leaf.clone()),
    }
}

/// Whether a pattern names the path, or an object or array around it.
fn begins(pattern: &[String], path: &[String]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return true;
    };
    if first == "**" {
        return (0..=path.len())
            .any(|start| path.get(start..).is_some_and(|path| begins(rest, path)));
    }
    let Some((name, path)) = path.split_first() else {
        return false;
    };
    glob(first, name) && begins(rest, path)
}

/// Whether a text fits a pattern: `*` fits any run of characters, `?` any single character.
#[must_use]
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(one) if *one == '?' || text.get(seen) == Some(one) => {
                at += 1;
                seen += 1;
            }
            _ => match star.as_mut() {
                // The last star takes one more character.
                Some((back, taken)) => {
                    *taken += 1;
                    (at, seen) = (*back + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|one| *one == '*')
}
