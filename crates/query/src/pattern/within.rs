//! Regular expressions that are searched for inside long texts, and can be stopped there.
//!
//! A search takes the text byte by byte through a lazy DFA: a state is a set of states of the NFA, made when it is first reached. A
//! step costs a nanosecond where its state is known, and up to the length of the expression where it is not; states beyond the
//! cache's room are forgotten and made again. Where `\b` stands beside letters outside ASCII the DFA cannot tell, and the sets of
//! the NFA are taken step by step.

use std::fmt;
use std::sync::Arc;

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{BuildError, Compiler, Config, State, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;

use crate::limits::REGEX_PROGRAM_BYTES_MAX;
use crate::meter::Work;

/// Steps between two looks at the meter are so few that they make this many states of the NFA at most.
const NFA_STATES_A_LOOK: usize = 20_000;

/// Most bytes between two looks.
const BYTES_A_LOOK: usize = 1 << 10;

/// A compiled expression. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Within(Arc<Automaton>);

struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync>>,
    /// Bytes between two looks at the meter.
    look_every: usize,
}

impl fmt::Debug for Within {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Within({} states)",
            self.0.dfa.get_nfa().states().len()
        )
    }
}

impl Within {
    /// Compiles an expression. `folds`: letters have no case.
    ///
    /// # Errors
    /// The bytes to which it would compile at most, where that is what refuses it.
    pub(crate) fn new(text: &str, folds: bool) -> Result<Within, Option<usize>> {
        let limit = |error: &BuildError| error.size_limit();
        let config = Config::new()
            .nfa_size_limit(Some(REGEX_PROGRAM_BYTES_MAX))
            .which_captures(WhichCaptures::None);
        let nfa = Compiler::new()
            .syntax(syntax::Config::new().case_insensitive(folds))
            .configure(config)
            .build(text)
            .map_err(|error| limit(&error))?;
        let config = DFA::config()
            .unicode_word_boundary(true)
            .cache_capacity(REGEX_PROGRAM_BYTES_MAX)
            .skip_cache_capacity_check(true);
        let states = nfa.states().len().max(1);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa);
        let dfa = dfa.map_err(|_| None)?;
        let of = dfa.clone();
        Ok(Within(Arc::new(Automaton {
            dfa,
            caches: Pool::new(Box::new(move || of.create_cache())),
            look_every: (NFA_STATES_A_LOOK / states).clamp(1, BYTES_A_LOOK),
        })))
    }

    /// Whether the expression matches somewhere in a text. `None`: the meter has stopped.
    pub(crate) fn is_in(&self, text: &str, work: &Work<'_>) -> Option<bool> {
        self.0.is_in(text.as_bytes(), work)
    }
}

impl Automaton {
    fn is_in(&self, text: &[u8], work: &Work<'_>) -> Option<bool> {
        let mut guard = self.caches.get();
        let cache: &mut Cache = &mut guard;
        let Ok(mut state) = self.dfa.start_state_forward(cache, &Input::new(text)) else {
            return self.is_in_by_sets(text, work);
        };
        let mut memory = cache.memory_usage();
        for piece in text.chunks(self.look_every) {
            work.begin(2 * piece.len() as u64)?;
            for byte in piece {
                match self.dfa.next_state(cache, state, *byte) {
                    Ok(next) if next.is_match() => return Some(true),
                    Ok(next) if next.is_dead() => return Some(false),
                    Ok(next) if !next.is_quit() => state = next,
                    _ => return self.is_in_by_sets(text, work),
                }
            }
            // New states take memory, in proportion to the time that they take.
            let before = std::mem::replace(&mut memory, cache.memory_usage());
            work.begin(4 * memory.abs_diff(before) as u64)?;
        }
        match self.dfa.next_eoi_state(cache, state) {
            Ok(last) if !last.is_quit() => Some(last.is_match()),
            _ => self.is_in_by_sets(text, work),
        }
    }

    /// As [`Automaton::is_in`], by the set of the NFA's states behind each byte.
    fn is_in_by_sets(&self, text: &[u8], work: &Work<'_>) -> Option<bool> {
        let nfa = self.dfa.get_nfa();
        let mut seen = vec![usize::MAX; nfa.states().len()];
        let (mut now, mut next) = (Vec::new(), Vec::new());
        for at in 0..=text.len() {
            // A match may begin at each place.
            now.push(nfa.start_anchored());
            let byte = text.get(at).copied();
            while let Some(id) = now.pop() {
                if std::mem::replace(&mut seen[id.as_usize()], at) == at {
                    continue;
                }
                work.begin(10)?;
                match nfa.state(id) {
                    State::Match { .. } => return Some(true),
                    State::Fail => {}
                    State::ByteRange { trans } => {
                        next.extend(
                            byte.filter(|byte| trans.matches_byte(*byte))
                                .map(|_| trans.next),
                        );
                    }
                    State::Sparse(sparse) => {
                        next.extend(byte.and_then(|byte| sparse.matches_byte(byte)));
                    }
                    State::Dense(dense) => {
                        next.extend(byte.and_then(|byte| dense.matches_byte(byte)));
                    }
                    State::Look { look, next } => {
                        let holds = nfa.look_matcher().matches(*look, text, at);
                        now.extend(holds.then_some(*next));
                    }
                    State::Union { alternates } => now.extend_from_slice(alternates),
                    State::BinaryUnion { alt1, alt2 } => now.extend([*alt1, *alt2]),
                    State::Capture { next, .. } => now.push(*next),
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::meter::{Budget, Unmetered};

    /// All three ways, which must agree.
    #[track_caller]
    fn check(pattern: &str, folds: bool, text: &str) -> bool {
        let work = Work::new(&Unmetered);
        let known = regex::RegexBuilder::new(pattern)
            .case_insensitive(folds)
            .build()
            .unwrap()
            .is_match(text);
        let within = Within::new(pattern, folds).unwrap();
        let by_sets = within.0.is_in_by_sets(text.as_bytes(), &work);
        let fast = within.is_in(text, &work);
        assert_eq!(
            (fast, by_sets),
            (Some(known), Some(known)),
            "{pattern} in {text}"
        );
        known
    }

    #[test]
    fn places_in_a_text_and_borders_of_words_count() {
        assert!(check(r"^ab", false, "abc") && !check(r"^ab", false, "cab"));
        assert!(check(r"ab$", false, "cab") && !check(r"ab$", false, "abc"));
        assert!(check(r"\bété\b", false, "un été, puis") && !check(r"\bét\b", false, "été"));
        assert!(check(r"(?m)^b$", false, "a\nb\nc") && check("É", true, "é"));
        assert!(check("", false, "") && !check(r"\B", false, "é") && !check("a", false, ""));
    }

    #[test]
    fn an_expression_that_makes_states_for_ever_is_counted_and_stopped() {
        let within = Within::new("[ab]*a[ab]{200}c", false).unwrap();
        let mut seed = 7_u64;
        let mut letter = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if seed >> 63 == 0 { 'a' } else { 'b' }
        };
        let text: String = (0..20_000).map(|_| letter()).collect();
        let budget = Budget::new(u64::MAX);
        assert_eq!(within.is_in(&text, &Work::new(&budget)), Some(false));
        let spent = u64::MAX - budget.left();
        assert!(spent > 100 * text.len() as u64, "{spent}");
        let budget = Budget::new(spent / 2);
        assert_eq!(within.is_in(&text, &Work::new(&budget)), None);
    }

    proptest! {
        #[test]
        fn the_library_finds_the_same(
            pattern in "(\\^)?([abé]|\\[ab\\]\\*|\\(ab\\|é\\)\\+|\\.|b\\?|\\\\b|\\\\B|\\$){1,6}",
            text in "[abéA\n ]{0,12}", folds in any::<bool>()
        ) {
            check(&pattern, folds, &text);
        }
    }
}
