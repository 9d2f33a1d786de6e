//! Source of each setting's value. The first that names it wins: command line, environment, file, default.

use std::fmt;
use std::path::{Path, PathBuf};

use super::table::{Kind, SETTINGS, Setting};
use super::{BadSetting, file};

/// Configuration files without `--config`: the first that exists is read.
pub(super) const FILES: [&str; 2] = ["./seine.toml", "/etc/seine/seine.toml"];

/// Source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line, without its dashes.
    Flag(&'static str),
    /// An environment variable, by name.
    Environment(&'static str),
    /// A file and the line, from 1.
    File(PathBuf, usize),
    /// SET GLOBAL.
    Statement,
    /// The default of [`SETTINGS`].
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => write!(out, "--{flag}"),
            Origin::Environment(name) => write!(out, "{name}"),
            Origin::File(path, line) => write!(out, "{}:{line}", path.display()),
            Origin::Statement => write!(out, "SET GLOBAL"),
            Origin::Default => write!(out, "default"),
        }
    }
}

/// A setting with the texts of the source that won.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// The setting's row of the table.
    pub setting: &'static Setting,
    /// One text, or several for a list.
    pub texts: Vec<String>,
    /// Source of the texts.
    pub origin: Origin,
}

impl Chosen {
    /// The error for a bad text; it names the source.
    pub(super) fn bad(&self, why: impl fmt::Display) -> BadSetting {
        match &self.origin {
            Origin::Default => BadSetting(format!("{}: {why}", self.setting.name)),
            Origin::Flag(_) | Origin::Environment(_) => {
                BadSetting(format!("{}: {why}", self.origin))
            }
            Origin::File(..) | Origin::Statement => {
                BadSetting(format!("{}: {}: {why}", self.origin, self.setting.name))
            }
        }
    }

    /// The text of a setting with a single value: the last, if the source gives several.
    pub(super) fn text(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }
}

/// The three sources beside the defaults.
pub struct Sources<'a> {
    /// Texts of a flag, in order; `None`: the flag was not given.
    pub flags: &'a dyn Fn(&'static str) -> Option<Vec<String>>,
    /// Value of an environment variable; `None`: not set.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// File of `--config`; `None`: the usual files are tried.
    pub config: Option<&'a Path>,
}

/// The winning texts of every setting, in the order of [`SETTINGS`]. Reads at most one file.
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

/// Names that begin with `SEINE_` but are no setting. The server only warns of them: an orchestrator that runs a service
/// called "seine" sets such variables by itself.
pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    const OTHERS: [&str; 2] = ["SEINE_ADDR", "SEINE_FAULTS"];
    names
        .filter(|name| name.starts_with("SEINE_") && !OTHERS.contains(&name.as_str()))
        .filter(|name| !SETTINGS.iter().any(|setting| setting.environment == name))
        .collect()
}

/// A text of SET GLOBAL for a setting, else its default.
pub(super) fn of_statement(setting: &'static Setting, text: Option<&str>) -> Chosen {
    Chosen {
        setting,
        texts: listed(setting, text.unwrap_or(setting.default)),
        origin: match text {
            Some(_) => Origin::Statement,
            None => Origin::Default,
        },
    }
}

fn listed(setting: &Setting, text: &str) -> Vec<String> {
    if setting.kind == Kind::Addresses {
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
