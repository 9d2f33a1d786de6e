//! Keys that differ from each other.

use std::collections::HashSet;

/// The names, each once: a name that an earlier one has gets `_2`, `_3` and so on behind it.
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// No name is taken but these.
    pub(crate) fn without(reserved: &[&str]) -> Names {
        Names {
            taken: reserved.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The next key.
    pub(crate) fn next(&mut self, name: &str) -> String {
        let mut key = name.to_owned();
        let mut number = 2_u32;
        while !self.taken.insert(key.clone()) {
            key = format!("{name}_{number}");
            number += 1;
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn a_taken_name_gets_a_number() {
        let mut names = Names::without(&["title"]);
        let keys = ["a", "a", "title", "a_2", "a"].map(|name| names.next(name));
        assert_eq!(keys, ["a", "a_2", "title_2", "a_2_2", "a_3"]);
    }
}
