//! The settings as people see them: `seine config`, SHOW VARIABLES.

use super::{Key, Settings};

/// What stands for the value of a secret that is set.
const HIDDEN: &str = "********";

/// One line a setting, as it could stand in the file, with where it came from.
pub fn lines(settings: &Settings) -> Vec<String> {
    let rows: Vec<(String, String)> = settings
        .chosen
        .iter()
        .map(|chosen| {
            let written = format!(
                "{} = {}",
                chosen.setting.name,
                quoted(&shown(settings, chosen))
            );
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

/// Names and values, sorted by name, for SHOW VARIABLES. Dots become underscores, as MySQL's names have none.
pub fn variables(settings: &Settings) -> Vec<(String, String)> {
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
    rows.sort();
    rows
}

fn shown(settings: &Settings, chosen: &super::Chosen) -> Vec<String> {
    if chosen.setting.secret && !chosen.text().is_empty() {
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
