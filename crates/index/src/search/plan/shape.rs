//! Facts about a tree that decide which way the executor takes.
//!
//! ```text
//! query               has_places   counts_present   is_or_of_words   is_joined
//! cat                 no           yes              yes              no
//! cat | dog           no           yes              yes              no
//! cat dog             no           yes              no               yes
//! "cat dog"           yes          yes              no               yes
//! cat | (dog eel)     no           no               no               no
//! ```
//!
//! In the last query a row may hold cat and dog without eel: dog then does not count.

use super::step::Step;

/// Facts about a tree, computed once for a plan.
pub(super) struct Shape {
    /// By word: whether it stands outside of every negation.
    pub(super) wanted: Vec<bool>,
    /// Whether places decide which rows match: a phrase, or a word that may stand only in some
    /// fields.
    pub(super) has_places: bool,
    /// Whether in every matching row each wanted word that the row holds counts.
    pub(super) counts_present: bool,
    /// Whether [`Shape::counts_present`], and each word counts by itself, wherever it stands in its fields: no phrase is wanted.
    pub(super) counts_alone: bool,
    /// Whether the tree is a word, or an OR of words, in any field.
    pub(super) is_or_of_words: bool,
    /// Whether the tree is a phrase, or an AND of words in any field without exclusions.
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
            counts_alone: counts_present(root) && is_of_words(root),
            is_or_of_words: match root {
                Step::AtLeast { parts, least: 1 } => {
                    !parts.is_empty() && parts.iter().all(is_plain)
                }
                step => is_plain(step),
            },
        }
    }
}

/// Whether a step is a word in any field.
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

/// Marks the words outside of every negation.
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
        // Such a plan marks the words that have a place in the query.
        Step::Placed { .. } => {}
    }
}

fn has_places(step: &Step) -> bool {
    match step {
        Step::All => false,
        Step::Word { fields, .. } => !fields.every,
        Step::Phrase { .. } | Step::Placed { .. } => true,
        Step::And { required, excluded } => required.iter().chain(excluded).any(has_places),
        Step::AtLeast { parts, .. } => parts.iter().any(has_places),
        Step::Maybe(left, right) => has_places(left) || has_places(right),
    }
}

/// Whether in each row that matches the step, every word of the step that the row holds counts.
fn counts_present(step: &Step) -> bool {
    match step {
        Step::All | Step::Word { .. } | Step::Phrase { .. } => true,
        Step::And { required, .. } => required.iter().all(counts_present),
        Step::AtLeast { parts, .. } => parts.iter().all(needs_one),
        Step::Maybe(left, right) => counts_present(left) && needs_one(right),
        Step::Placed { .. } => false,
    }
}

/// Whether no phrase is wanted.
fn is_of_words(step: &Step) -> bool {
    match step {
        Step::All | Step::Word { .. } => true,
        Step::Phrase { .. } | Step::Placed { .. } => false,
        Step::And {
            required: parts, ..
        }
        | Step::AtLeast { parts, .. } => parts.iter().all(is_of_words),
        Step::Maybe(left, right) => is_of_words(left) && is_of_words(right),
    }
}

/// Whether a row that holds any word of the step matches it, and every word that it holds counts.
fn needs_one(step: &Step) -> bool {
    match step {
        Step::AtLeast { parts, least: 1 } => parts.iter().all(needs_one),
        step => is_plain(step),
    }
}
