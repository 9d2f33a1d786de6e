//! How much can count in a document, from the number of places of each term alone.

use super::prepared::{Kind, Prepared};

/// Upper bounds of what [`Verifier::count`](super::Verifier::count) finds in a document.
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
    /// `standing`: the places of a term in the document, or more.
    pub(super) fn most(&self, standing: &impl Fn(usize) -> u64) -> Most {
        let all = |parts: &[Prepared]| {
            let parts = parts.iter().map(|part| part.most(standing));
            parts.fold(Most::default(), Most::and)
        };
        match &self.kind {
            Kind::All | Kind::Not(_) => Most::default(),
            Kind::Word(word) | Kind::Repeated(word, _) => {
                let hits = standing(word.term);
                Most { hits, words: hits }
            }
            Kind::Phrase(words) => {
                let each = words.iter().map(|(word, _)| standing(word.term));
                let hits = each.min().unwrap_or(0);
                let words = hits.saturating_mul(words.len() as u64);
                Most { hits, words }
            }
            // Each occurrence forgets a place.
            Kind::Proximity(asked) => {
                let each = asked.listed.iter().map(|(word, _)| standing(word.term));
                let listed = asked.listed.len() as u64;
                let places = each.fold(0, u64::saturating_add);
                let hits = places.saturating_sub(listed - listed.min(1));
                let words = hits.saturating_mul(listed);
                Most { hits, words }
            }
            // An occurrence of an operand is in two joined ones at most; of two there is one joined.
            Kind::Near(left, right, _) => {
                let (left, right) = (left.most(standing), right.most(standing));
                let both = left.and(right);
                let is_one = (left.hits, right.hits) == (1, 1);
                let words = both.words.saturating_mul(if is_one { 1 } else { 2 });
                Most { words, ..both }
            }
            Kind::NotNear(left, ..) => left.most(standing),
            Kind::Maybe(left, right) => left.most(standing).and(right.most(standing)),
            Kind::AtLeast(parts, _)
            | Kind::And(parts)
            | Kind::Order(parts)
            | Kind::Together(_, parts) => all(parts),
        }
    }

    /// Whether every occurrence is a single word.
    pub(super) fn is_of_words(&self) -> bool {
        match &self.kind {
            Kind::All | Kind::Not(_) | Kind::Word(_) | Kind::Repeated(..) => true,
            Kind::Phrase(_) | Kind::Proximity(_) | Kind::Near(..) => false,
            Kind::NotNear(left, ..) => left.is_of_words(),
            Kind::Maybe(left, right) => left.is_of_words() && right.is_of_words(),
            Kind::AtLeast(parts, _)
            | Kind::And(parts)
            | Kind::Order(parts)
            | Kind::Together(_, parts) => parts.iter().all(Prepared::is_of_words),
        }
    }
}
