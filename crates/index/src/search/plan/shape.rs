//! What a tree's form lets the executor do.

use super::step::Step;

/// Facts about a tree, found once.
pub(super) struct Shape {
    /// By word: whether it stands outside of every negation.
    pub(super) wanted: Vec<bool>,
    /// Whether positions decide: a phrase, or a word that may stand in some fields only.
    pub(super) has_places: bool,
    /// Whether in every row that matches, each wanted word that the row holds counts.
    pub(super) counts_present: bool,
    /// Whether the tree is an OR of words in any field.
    pub(super) is_or_of_words: bool,
    /// Whether it is a phrase, or words in any field of which each is asked for.
    pub(super) is_joined: bool,
}

impl Shape {
    pub(super) fn new(root: &Step, words: usize) -> Shape {
        let mut wanted = vec![false; words];
        mark(root, &mut wanted);
        Shape {
            wanted,
            has_places: has_places(root),
            is_joined: is_joined(root),
            counts_present: counts_present(root),
            is_or_of_words: match root {
                Step::AtLeast { parts, least: 1 } => {
                    !parts.is_empty() && parts.iter().all(is_plain)
                }
                step => is_plain(step),
            },
        }
    }
}

fn is_plain(step: &Step) -> bool {
    step.word().is_some()
}

fn is_joined(step: &Step) -> bool {
    match step {
        Step::Phrase { .. } => true,
        Step::And { required, excluded } => {
            excluded.is_empty() && !required.is_empty() && required.iter().all(is_plain)
        }
        _ => false,
    }
}

fn mark(step: &Step, wanted: &mut [bool]) {
    match step {
        Step::All => {}
        Step::Word { word, .. } => wanted[*word] = true,
        Step::Phrase { words, .. } => words.iter().for_each(|(word, _)| wanted[*word] = true),
        Step::And {
            required: parts, ..
        }
        | Step::AtLeast { parts, .. } => {
            parts.iter().for_each(|step| mark(step, wanted));
        }
        Step::Maybe(left, right) => {
            mark(left, wanted);
            mark(right, wanted);
        }
    }
}

fn has_places(step: &Step) -> bool {
    match step {
        Step::All => false,
        Step::Word { fields, .. } => !fields.every,
        Step::Phrase { .. } => true,
        Step::And { required, excluded } => required.iter().chain(excluded).any(has_places),
        Step::AtLeast { parts, .. } => parts.iter().any(has_places),
        Step::Maybe(left, right) => has_places(left) || has_places(right),
    }
}

/// Whether each word that a row holds counts where the row matches the step.
fn counts_present(step: &Step) -> bool {
    match step {
        Step::All | Step::Word { .. } | Step::Phrase { .. } => true,
        Step::And { required, .. } => required.iter().all(counts_present),
        Step::AtLeast { parts, .. } => parts.iter().all(needs_one),
        Step::Maybe(left, right) => counts_present(left) && needs_one(right),
    }
}

/// Whether a row that holds any word of the step matches it, and each that it holds counts.
fn needs_one(step: &Step) -> bool {
    match step {
        Step::AtLeast { parts, least: 1 } => parts.iter().all(needs_one),
        step => is_plain(step),
    }
}
