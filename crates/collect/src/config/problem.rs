//! What is wrong with a configuration file, and where.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::PROBLEMS_MAX;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A part of the file has no effect or another one than it seems: the server's status is WARNING.
    Error,
    /// Worth a look. The status is not changed.
    Warning,
}

/// A problem of a configuration file. Its `Display` is `file:line: severity: text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file as the caller named it.
    pub file: Arc<str>,
    /// Line of the file, from 1.
    pub line: u32,
    /// How bad it is.
    pub severity: Severity,
    /// The fact and its effect. Where Scribe has a status text of its own for the fact, the text begins with that.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{}:{}: {severity}: {}", self.file, self.line, self.text)
    }
}

/// Problems while they are found. An inherited value is read once for each heir; its problem is listed once.
pub(super) struct Problems {
    file: Arc<str>,
    list: Vec<Problem>,
    listed: HashSet<(u32, String)>,
    told_once: HashSet<String>,
}

impl Problems {
    pub(super) fn new(file: &str) -> Problems {
        Problems {
            file: file.into(),
            list: Vec::new(),
            listed: HashSet::new(),
            told_once: HashSet::new(),
        }
    }

    pub(super) fn error(&mut self, line: u32, text: impl Into<String>) {
        self.add(line, Severity::Error, text.into());
    }

    pub(super) fn warning(&mut self, line: u32, text: impl Into<String>) {
        self.add(line, Severity::Warning, text.into());
    }

    /// A fact about the server, not about a line: it is listed once, with the first line that it concerns.
    pub(super) fn warning_once(&mut self, line: u32, text: impl Into<String>) {
        let text = text.into();
        if self.told_once.insert(text.clone()) {
            self.add(line, Severity::Warning, text);
        }
    }

    fn add(&mut self, line: u32, severity: Severity, text: String) {
        // The last entry says that the list is cut. It is an error, since errors may have been cut.
        if self.list.len() >= PROBLEMS_MAX {
            return;
        }
        let is_last = self.list.len() + 1 == PROBLEMS_MAX;
        let (severity, text) = if is_last {
            let text =
                format!("the file has {PROBLEMS_MAX} problems or more: the others are not listed");
            (Severity::Error, text)
        } else {
            (severity, text)
        };
        if self.listed.insert((line, text.clone())) {
            let file = Arc::clone(&self.file);
            self.list.push(Problem {
                file,
                line,
                severity,
                text,
            });
        }
    }

    /// The problems, by line; those of a line in the order in which they were found.
    pub(super) fn into_list(mut self) -> Vec<Problem> {
        self.list.sort_by_key(|problem| problem.line);
        self.list
    }
}

/// A piece of the file as a problem quotes it: at most 60 characters.
pub(super) fn quote(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
