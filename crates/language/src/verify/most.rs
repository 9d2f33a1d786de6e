//! How much can count in a field, from the number of places of each term alone.

use super::prepared::{Kind, Prepared, Standing};

/// Upper bounds of what [`Verifier::count`](super::Verifier::count) finds in a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Most {
    /// Number of occurrences.
    pub hits: u64,
    /// Words of all occurrences, added up: no run has more.
    pub words: u64,
}

impl Most {
    fn and(self, other: Most) -> Most {
        Most {
            hits: self.hits.saturating_add(other.hits),
            words: self.words.saturating_add(other.words),
        }
    }
}

impl Prepared {
    /// What counts in one field. `standing`: the places of a term in the field, or more.
    pub(super) fn most(&self, field: u8, standing: &impl Fn(usize) -> u64) -> Most {
        let all = |parts: &[Prepared]| {
            let parts = parts.iter().map(|part| part.most(field, standing));
            parts.fold(Most::default(), Most::and)
        };
        let places = |word: &Standing| match word.fields.holds(field) {
            true => standing(word.term),
            false => 0,
        };
        match &self.kind {
            Kind::All | Kind::Not(_) => Most::default(),
            Kind::Word(word) | Kind::Repeated(word, _) => {
                let hits = places(word);
                Most { hits, words: hits }
            }
            Kind::Phrase(words) => {
                let each = words.iter().map(|(word, _)| places(word));
                let hits = each.min().unwrap_or(0);
                let words = hits.saturating_mul(words.len() as u64);
                Most { hits, words }
            }
            // Each occurrence forgets a place.
            Kind::Proximity(asked) => {
                let each = asked.listed.iter().map(|(word, _)| places(word));
                let listed = asked.listed.len() as u64;
                let (sum, least) = each.fold((0, u64::MAX), |(sum, least), places| {
                    (places.saturating_add(sum), places.min(least))
                });
                let hits = match least {
                    0 => 0,
                    _ => sum.saturating_sub(listed - listed.min(1)),
                };
                let words = hits.saturating_mul(listed);
                Most { hits, words }
            }
            // Joined are neighbours, so that all but the first and the last are in two joined ones.
            Kind::Near(near) => {
                let left = near.left.most(field, standing);
                let right = near.right.most(field, standing);
                let both = left.and(right);
                match left.hits == 0 || right.hits == 0 {
                    true if near.always_joins => Most::default(),
                    true => both,
                    false => Most {
                        words: both.words.saturating_mul(2).saturating_sub(2),
                        ..both
                    },
                }
            }
            Kind::NotNear(left, ..) => left.most(field, standing),
            Kind::Maybe(left, right) => {
                let (left, right) = (left.most(field, standing), right.most(field, standing));
                left.and(right)
            }
            Kind::AtLeast(parts, _) | Kind::And(parts) => all(parts),
            Kind::Order(parts) | Kind::Together(_, parts) => {
                let is_empty = |part: &Prepared| part.most(field, standing).hits == 0;
                match parts.iter().any(is_empty) {
                    true => Most::default(),
                    false => all(parts),
                }
            }
        }
    }

    /// Adds to `of`, by term, the fields in which the term may count: none under a negation.
    pub(super) fn add_fields(&self, of: &mut [u64]) {
        let mut add = |word: &Standing| {
            if let Some(fields) = of.get_mut(word.term) {
                *fields |= word.fields.0;
            }
        };
        match &self.kind {
            Kind::All | Kind::Not(_) => {}
            Kind::Word(word) | Kind::Repeated(word, _) => add(word),
            Kind::Phrase(words) => words.iter().for_each(|(word, _)| add(word)),
            Kind::Proximity(asked) => asked.listed.iter().for_each(|(word, _)| add(word)),
            Kind::Near(near) => {
                near.left.add_fields(of);
                near.right.add_fields(of);
            }
            Kind::NotNear(left, ..) => left.add_fields(of),
            Kind::Maybe(left, right) => {
                left.add_fields(of);
                right.add_fields(of);
            }
            Kind::AtLeast(parts, _)
            | Kind::And(parts)
            | Kind::Order(parts)
            | Kind::Together(_, parts) => parts.iter().for_each(|part| part.add_fields(of)),
        }
    }

    /// Whether no operator asks for two words in one field.
    pub(super) fn is_free(&self) -> bool {
        match &self.kind {
            Kind::All | Kind::Not(_) | Kind::Word(_) | Kind::Repeated(..) => true,
            Kind::Maybe(left, right) => left.is_free() && right.is_free(),
            Kind::AtLeast(parts, _) | Kind::And(parts) => parts.iter().all(Prepared::is_free),
            Kind::Phrase(_)
            | Kind::Proximity(_)
            | Kind::Near(_)
            | Kind::NotNear(..)
            | Kind::Order(_)
            | Kind::Together(..) => false,
        }
    }

    /// Whether every occurrence is a single word.
    pub(super) fn is_of_words(&self) -> bool {
        match &self.kind {
            Kind::All | Kind::Not(_) | Kind::Word(_) | Kind::Repeated(..) => true,
            Kind::Phrase(_) | Kind::Proximity(_) | Kind::Near(_) => false,
            Kind::NotNear(left, ..) => left.is_of_words(),
            Kind::Maybe(left, right) => left.is_of_words() && right.is_of_words(),
            Kind::AtLeast(parts, _)
            | Kind::And(parts)
            | Kind::Order(parts)
            | Kind::Together(_, parts) => parts.iter().all(Prepared::is_of_words),
        }
    }
}
