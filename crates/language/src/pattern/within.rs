//! Regular expressions that are searched for inside long texts, and can be stopped there, or compared with a whole word.
//!
//! A search takes the text byte by byte through a lazy DFA: a state is a set of states of the NFA, made when it is first reached. A
//! step costs a nanosecond where its state is known, and up to the length of the expression where it is not; states beyond the
//! cache's room are forgotten and made again. Where `\b` stands beside letters outside ASCII the DFA cannot tell, and the sets of
//! the NFA are taken step by step.
//!
//! Memory: the NFA, and one cache that stays. A second thread at the same time makes a cache of its own, and drops it. So what an
//! expression takes is known when it is compiled ([`Within::memory`]), however many texts it meets.

use std::fmt;
use std::sync::{Arc, Mutex, TryLockError};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{BuildError, Compiler, Config, NFA, State, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use crate::limits::REGEX_PROGRAM_BYTES_MAX;
use crate::meter::Work;

/// Steps between two looks at the meter are so few that they make this many states of the NFA at most.
const NFA_STATES_A_LOOK: usize = 20_000;

/// Most bytes between two looks.
const BYTES_A_LOOK: usize = 1 << 10;

/// Bytes of the cache of an expression that is one of very many, or is compared with words: some dozen states, more than most words
/// lead to.
const LITTLE_CACHE_BYTES: usize = 16 << 10;

/// Memory of an automaton beside its NFA and its cache: the classes of bytes and the states of starts.
const AUTOMATON_BYTES: usize = 2 << 10;

/// A compiled expression. Cloning shares it.
#[derive(Clone)]
pub struct Within(Arc<Automaton>);

struct Automaton {
    dfa: DFA,
    cache: Mutex<Cache>,
    /// Whether a match is the whole text.
    is_whole: bool,
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
    /// Compiles an expression that is searched for. `folds`: letters have no case.
    ///
    /// # Errors
    /// The bytes to which it would compile at most, where that is what refuses it.
    pub fn new(text: &str, folds: bool) -> Result<Within, Option<usize>> {
        Within::compiled(text, folds, false)
    }

    /// Compiles an expression that must match the whole of a text, such as a word.
    ///
    /// # Errors
    /// As those of [`Within::new`].
    pub(crate) fn whole(text: &str) -> Result<Within, Option<usize>> {
        Within::compiled(&format!(r"(?:{text})\z"), false, true)
    }

    fn compiled(text: &str, folds: bool, is_whole: bool) -> Result<Within, Option<usize>> {
        let limit = |error: &BuildError| error.size_limit();
        let config = Config::new()
            .nfa_size_limit(Some(REGEX_PROGRAM_BYTES_MAX))
            .which_captures(WhichCaptures::None);
        let nfa = Compiler::new()
            .syntax(syntax::Config::new().case_insensitive(folds))
            .configure(config)
            .build(text)
            .map_err(|error| limit(&error))?;
        let cache_bytes = if is_whole {
            LITTLE_CACHE_BYTES
        } else {
            REGEX_PROGRAM_BYTES_MAX
        };
        Within::of_nfa(nfa, cache_bytes, is_whole).ok_or(None)
    }

    fn of_nfa(nfa: NFA, cache_bytes: usize, is_whole: bool) -> Option<Within> {
        let config = DFA::config()
            .unicode_word_boundary(true)
            .cache_capacity(cache_bytes)
            .skip_cache_capacity_check(true);
        let states = nfa.states().len().max(1);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        Some(Within(Arc::new(Automaton {
            cache: Mutex::new(dfa.create_cache()),
            dfa,
            is_whole,
            look_every: (NFA_STATES_A_LOOK / states).clamp(1, BYTES_A_LOOK),
        })))
    }

    /// The same expression with a small cache.
    pub fn with_little(&self) -> Within {
        let nfa = self.0.dfa.get_nfa().clone();
        let little = Within::of_nfa(nfa, LITTLE_CACHE_BYTES, self.0.is_whole);
        little.unwrap_or_else(|| self.clone())
    }

    /// Memory of its compiled form without caches, in bytes.
    pub fn program_bytes(&self) -> usize {
        self.0.dfa.get_nfa().memory_usage()
    }

    /// Memory that the expression takes at most, in bytes.
    pub fn memory(&self) -> usize {
        let (dfa, config) = (&self.0.dfa, self.0.dfa.get_config());
        let nfa = dfa.get_nfa();
        let least = config.get_minimum_cache_capacity(nfa).unwrap_or_default();
        let cache = config.get_cache_capacity().max(least);
        // The lists of the cache grow by doubling.
        AUTOMATON_BYTES + nfa.memory_usage() + cache + cache / 2
    }

    /// Whether the expression matches somewhere in a text. `None`: the meter has stopped.
    pub fn is_in(&self, text: &str, work: &Work<'_>) -> Option<bool> {
        self.0.is_in(text.as_bytes(), work)
    }
}

impl Automaton {
    fn is_in(&self, text: &[u8], work: &Work<'_>) -> Option<bool> {
        match self.cache.try_lock() {
            Ok(mut cache) => self.is_in_with(&mut cache, text, work),
            // What a panic left is made anew from nothing.
            Err(TryLockError::Poisoned(poisoned)) => {
                let mut cache = poisoned.into_inner();
                cache.reset(&self.dfa);
                self.is_in_with(&mut cache, text, work)
            }
            Err(TryLockError::WouldBlock) => {
                self.is_in_with(&mut self.dfa.create_cache(), text, work)
            }
        }
    }

    fn is_in_with(&self, cache: &mut Cache, text: &[u8], work: &Work<'_>) -> Option<bool> {
        let anchored = match self.is_whole {
            true => Anchored::Yes,
            false => Anchored::No,
        };
        let input = Input::new(text).anchored(anchored);
        let Ok(mut state) = self.dfa.start_state_forward(cache, &input) else {
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
            // A match may begin at each place, or only at the first.
            if at == 0 || !self.is_whole {
                now.push(nfa.start_anchored());
            }
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

    /// All three ways, which must agree; the expression must match the whole text, too.
    #[track_caller]
    fn check(pattern: &str, folds: bool, text: &str) -> bool {
        let whole = Within::whole(pattern).unwrap();
        let known = regex::Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap();
        let known = Some(known.is_match(text));
        let work = Work::new(&Unmetered);
        let by_sets = whole.0.is_in_by_sets(text.as_bytes(), &work);
        let fast = whole.is_in(text, &work);
        assert_eq!((fast, by_sets), (known, known), "{pattern} as {text}");
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
