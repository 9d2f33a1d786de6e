//! Where each setting's value came from: the command line, then the environment, then the file, then the default.

use std::fmt;
use std::path::{Path, PathBuf};

use super::table::{Key, SETTINGS, Setting};
use super::{BadSetting, file};

/// Files looked for where `--config` is not given; the first that exists is read.
pub(super) const FILES: [&str; 2] = ["./seine.toml", "/etc/seine/seine.toml"];

/// Who set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(&'static str),
    /// A line of a file.
    File(PathBuf, usize),
    /// Nobody.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => write!(out, "--{flag}"),
            Origin::Environment(name) => write!(out, "{name}"),
            Origin::File(path, line) => write!(out, "{}:{line}", path.display()),
            Origin::Default => write!(out, "default"),
        }
    }
}

/// One setting's texts, not yet read.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// Its row.
    pub setting: &'static Setting,
    /// One text, or several for a list.
    pub texts: Vec<String>,
    /// Who chose them.
    pub origin: Origin,
}

impl Chosen {
    /// The error of a text that cannot be read, naming where it stands.
    pub(super) fn bad(&self, why: impl fmt::Display) -> BadSetting {
        match &self.origin {
            Origin::Default => BadSetting(format!("{}: {why}", self.setting.name)),
            Origin::Flag(_) | Origin::Environment(_) => {
                BadSetting(format!("{}: {why}", self.origin))
            }
            Origin::File(..) => {
                BadSetting(format!("{}: {}: {why}", self.origin, self.setting.name))
            }
        }
    }

    /// The last text: of several, the latest counts where only one is taken.
    pub(super) fn text(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }
}

/// What the three sources say.
pub struct Sources<'a> {
    /// Texts given with a flag, in order; `None` where it was not given.
    pub flags: &'a dyn Fn(&'static str) -> Option<Vec<String>>,
    /// A variable of the environment.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// `--config`.
    pub config: Option<&'a Path>,
}

/// One entry a setting, in the order of the table. Reads at most one file.
pub(super) fn choose(sources: &Sources<'_>) -> Result<Vec<Chosen>, BadSetting> {
    let (path, entries) = read_file(sources.config)?;
    let choose_one = |setting: &'static Setting| {
        if let Some(flag) = setting.flag
            && let Some(texts) = (sources.flags)(flag)
        {
            return Chosen {
                setting,
                texts,
                origin: Origin::Flag(flag),
            };
        }
        if let Some(text) = (sources.environment)(setting.environment) {
            let texts = listed(setting, &text);
            return Chosen {
                setting,
                texts,
                origin: Origin::Environment(setting.environment),
            };
        }
        match entries.iter().find(|entry| entry.name == setting.name) {
            Some(entry) => Chosen {
                setting,
                texts: entry.texts.clone(),
                origin: Origin::File(path.clone(), entry.line),
            },
            None => Chosen {
                setting,
                texts: listed(setting, setting.default),
                origin: Origin::Default,
            },
        }
    };
    Ok(SETTINGS.iter().map(choose_one).collect())
}

/// Variables that begin with `SEINE_` and mean nothing here. They are a warning and no error: an orchestrator that
/// runs a service called "seine" adds such names by itself.
pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    const OTHERS: [&str; 2] = ["SEINE_ADDR", "SEINE_FAULTS"];
    names
        .filter(|name| name.starts_with("SEINE_") && !OTHERS.contains(&name.as_str()))
        .filter(|name| !SETTINGS.iter().any(|setting| setting.environment == name))
        .collect()
}

fn listed(setting: &Setting, text: &str) -> Vec<String> {
    if matches!(setting.key, Key::Mysql | Key::Http) {
        return text.split(',').map(|part| part.trim().to_owned()).collect();
    }
    vec![text.to_owned()]
}

fn read_file(config: Option<&Path>) -> Result<(PathBuf, Vec<file::Entry>), BadSetting> {
    let path = match config {
        Some(path) => path,
        None => match FILES.iter().map(Path::new).find(|path| path.exists()) {
            Some(path) => path,
            None => return Ok((PathBuf::new(), Vec::new())),
        },
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| BadSetting(format!("{}: {error}", path.display())))?;
    let entries =
        file::read(&text).map_err(|why| BadSetting(format!("{}:{why}", path.display())))?;
    Ok((path.to_owned(), entries))
}
