//! Which file imports which, for the rules about circles and rooms.
//!
//! An arrow runs from a file to the file that defines what it names: `use` and paths in the code are followed through re-exports.
//! A file may name what a module around it defines: it stands inside that, so such arrows do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, line_of, words};
use super::tree::{Tree, in_crate};

/// A module's path in its crate; the crate's root has none.
type ModulePath = Vec<String>;

/// One file as a module.
struct Module {
    file: String,
    /// Names of its items.
    defined: BTreeSet<String>,
    /// What a name stands for: the path after `use`, as written.
    imported: BTreeMap<String, Vec<String>>,
    /// Modules all of whose names are imported.
    globs: Vec<Vec<String>>,
    /// Paths that its code names, and the first line, from 1, that names each.
    named: BTreeMap<Vec<String>, usize>,
}

/// Why a file imports another: the first line, from 1, that names an item of it, and that item.
pub(super) struct Arrow {
    pub(super) line: usize,
    pub(super) name: String,
}

/// From a file to the files that it imports.
pub(super) type Arrows = BTreeMap<String, BTreeMap<String, Arrow>>;

/// The arrows between the files of each crate, by the crate's folder.
pub(super) fn by_crate(tree: &Tree) -> BTreeMap<String, Arrows> {
    let mut crates: BTreeMap<String, BTreeMap<ModulePath, Module>> = BTreeMap::new();
    for (path, text) in tree.ending(".rs") {
        let Some((krate, inside)) = in_crate(path) else {
            continue;
        };
        let Some(inside) = inside.strip_prefix("src/") else {
            continue;
        };
        let source = Source::new(path, text);
        if (1..=source.lines().count()).all(|line| source.is_test(line)) {
            continue;
        }
        let modules = crates.entry(krate.to_owned()).or_default();
        modules.insert(module_path(inside), module(path, &source));
    }
    let each = crates.into_iter();
    each.map(|(krate, modules)| (krate, arrows(&modules)))
        .collect()
}

/// `a/b.rs`, `a/b/mod.rs` → `a`, `b`.
fn module_path(inside: &str) -> ModulePath {
    let path = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    let root = ["lib", "main"].contains(&path);
    let parts = path.split('/').filter(|_| !root);
    parts.map(str::to_owned).collect()
}

fn module(file: &str, source: &Source) -> Module {
    let shipped = source.lines().map(|(line, text)| {
        let shown = if source.is_test(line) { "" } else { text };
        format!("{shown}\n")
    });
    let code: String = shipped.collect();
    let mut module = Module {
        file: file.to_owned(),
        defined: BTreeSet::new(),
        imported: BTreeMap::new(),
        globs: Vec::new(),
        named: BTreeMap::new(),
    };
    for keyword in [
        "fn",
        "struct",
        "enum",
        "union",
        "trait",
        "type",
        "const",
        "static",
        "macro_rules!",
    ] {
        let keyword = keyword.trim_end_matches('!');
        for at in words(&code, keyword) {
            let rest = code[at + keyword.len()..].trim_start_matches(['!', ' ']);
            module.defined.insert(name_at(rest).to_owned());
        }
    }
    let mut rest = code.clone();
    for at in words(&code, "use") {
        let Some(bytes) = code[at..].find(';') else {
            continue;
        };
        let blank = code[at..at + bytes].bytes();
        let blank: String = blank
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
            .collect();
        rest.replace_range(at..at + bytes, &blank);
        let line = line_of(&code, at);
        take_use(&mut module, line, &[], &code[at + "use".len()..at + bytes]);
    }
    take_paths(&mut module, &rest);
    module
}

fn name_at(text: &str) -> &str {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !joins(c)).next().unwrap_or_default()
}

/// Takes in the tree of a `use` of a line, below the path that leads to it.
fn take_use(module: &mut Module, line: usize, above: &[String], text: &str) {
    let text = text.trim();
    if let Some(open) = text.find('{') {
        let prefix = text[..open].trim().trim_end_matches("::");
        let above = [above, &segments(prefix)].concat();
        let inner = text[open + 1..].trim_end().trim_end_matches('}');
        let inner = if text.ends_with('}') {
            inner
        } else {
            &text[open + 1..]
        };
        let (mut depth, mut start) = (0, 0);
        for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth <= 0 => {
                    let mut part = inner[start..at].to_owned();
                    part.push_str(&"}".repeat(usize::from(depth < 0)));
                    take_use(module, line, &above, &part);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let (path, alias) = match text.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim())),
        None => (text, None),
    };
    let mut full = [above, &segments(path)].concat();
    if full.last().is_some_and(|last| last == "*") {
        full.pop();
        module.globs.push(full);
        return;
    }
    if full.last().is_some_and(|last| last == "self") {
        full.pop();
    }
    let Some(last) = full.last() else { return };
    let name = alias.unwrap_or(last).to_owned();
    module.named.entry(full.clone()).or_insert(line);
    module.imported.insert(name, full);
}

fn segments(path: &str) -> Vec<String> {
    let parts = path.split("::").map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Takes in every `a::b::c` of the code.
fn take_paths(module: &mut Module, code: &str) {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let (mut rest, mut line) = (code, 1);
    while let Some(at) = rest.find("::") {
        let first = rest[..at]
            .rfind(|c| !joins(c))
            .map_or(0, |before| before + 1);
        let mut path = vec![rest[first..at].to_owned()];
        line += rest[..at].matches('\n').count();
        rest = &rest[at..];
        while let Some(after) = rest.strip_prefix("::") {
            let name = name_at(after);
            if name.is_empty() {
                rest = after;
                break;
            }
            path.push(name.to_owned());
            rest = &after[name.len()..];
        }
        if !path[0].is_empty() {
            module.named.entry(path).or_insert(line);
        }
    }
}

fn arrows(modules: &BTreeMap<ModulePath, Module>) -> Arrows {
    let mut arrows = Arrows::new();
    for (place, module) in modules {
        let to = arrows.entry(module.file.clone()).or_default();
        for (path, &line) in &module.named {
            let Some(target) = resolved(modules, place, path, 0) else {
                continue;
            };
            let is_around = place.starts_with(&target);
            if let Some(found) = modules.get(&target)
                && !is_around
            {
                let name = path.last().cloned().unwrap_or_default();
                let arrow = to.entry(found.file.clone());
                let arrow = arrow.or_insert_with(|| Arrow {
                    line,
                    name: name.clone(),
                });
                if line < arrow.line {
                    *arrow = Arrow { line, name };
                }
            }
        }
    }
    arrows
}

/// The module that defines what a path names, seen from a module; `None` for what is not of this crate, and for a module itself.
fn resolved(
    modules: &BTreeMap<ModulePath, Module>,
    from: &ModulePath,
    path: &[String],
    depth: usize,
) -> Option<ModulePath> {
    if depth > 8 {
        return None; // names that import each other
    }
    let mut at = from.clone();
    let mut rest = path;
    let first = path.first()?;
    match first.as_str() {
        "crate" => {
            at.clear();
            rest = &path[1..];
        }
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|one| one == "super") {
                at.pop()?;
                rest = &rest[1..];
            }
        }
        name => {
            let here = modules.get(from)?;
            let child = [&from[..], &[name.to_owned()]].concat();
            if !modules.contains_key(&child) && !here.defined.contains(name) {
                let import = here.imported.get(name)?;
                if import.first() == Some(first) {
                    return None; // an outside crate
                }
                let full = [import, &path[1..]].concat();
                return resolved(modules, from, &full, depth + 1);
            }
        }
    }
    while let Some((name, after)) = rest.split_first() {
        let child = [&at[..], std::slice::from_ref(name)].concat();
        if modules.contains_key(&child) {
            (at, rest) = (child, after);
            continue;
        }
        let module = modules.get(&at)?;
        if module.defined.contains(name) {
            return Some(at);
        }
        if let Some(import) = module.imported.get(name) {
            let full = [import, after].concat();
            return resolved(modules, &at, &full, depth + 1);
        }
        let mut globs = module.globs.iter();
        return globs.find_map(|glob| {
            let full = [glob, rest].concat();
            resolved(modules, &at, &full, depth + 1)
        });
    }
    None
}
