//! The settings for people: `seine config` and SHOW VARIABLES.

use super::{Key, Origin, Settings};
use crate::listen::Address;

/// Shown in place of a secret's value.
const HIDDEN: &str = "********";

/// A line for each setting, with its source. The lines together are a valid `seine.toml` with the same meaning: secrets,
/// unset values and a default user name are comments.
pub fn lines(settings: &Settings) -> Vec<String> {
    let rows: Vec<(String, String)> = settings
        .chosen
        .iter()
        .map(|chosen| {
            let remark = if is_remark(chosen) { "# " } else { "" };
            let name = chosen.setting.name;
            let written = format!("{remark}{name} = {}", quoted(&shown(settings, chosen)));
            (written, chosen.origin.to_string())
        })
        .collect();
    let width = rows
        .iter()
        .map(|(written, _)| written.chars().count())
        .max()
        .unwrap_or(0);
    rows.iter()
        .map(|(written, origin)| format!("{written:width$}  # {origin}"))
        .collect()
}

/// Names and values for SHOW VARIABLES: `auth.user` is `seine_auth_user`, because MySQL's names have no dots. `socket` is the
/// path of the MySQL door's first unix socket.
pub(super) fn variables(settings: &Settings) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = settings
        .chosen
        .iter()
        .map(|chosen| {
            (
                format!("seine_{}", chosen.setting.name.replace('.', "_")),
                shown(settings, chosen).join(","),
            )
        })
        .collect();
    let path = settings.mysql.iter().find_map(|address| match address {
        Address::Unix(path) => Some(path.display().to_string()),
        Address::Tcp(_) => None,
    });
    rows.push(("socket".to_owned(), path.unwrap_or_default()));
    rows
}

fn is_remark(chosen: &super::Chosen) -> bool {
    let is_default_user = chosen.setting.key == Key::User && chosen.origin == Origin::Default;
    chosen.setting.is_secret() || is_default_user || chosen.text().is_empty()
}

fn shown(settings: &Settings, chosen: &super::Chosen) -> Vec<String> {
    if chosen.setting.is_secret() && !chosen.text().is_empty() {
        return vec![HIDDEN.to_owned()];
    }
    if chosen.setting.key == Key::Memory {
        return vec![format!("{}MiB", settings.memory_bytes >> 20)];
    }
    chosen.texts.clone()
}

fn quoted(texts: &[String]) -> String {
    match texts {
        [one] => format!("{one:?}"),
        several => format!("{several:?}"),
    }
}
