//! Which blocks of a dictionary have words that hold a sequence of three bytes: so `*ogi*` and `*ism` need not compare each word.
//!
//! A word ends with [`END`], so a sequence may hold a word's end. Sequences with the same hash share a list of blocks. Example, the
//! words black, blue in block 0 and lack in block 1:
//!
//! ```text
//! lac      0, 1        ack   0, 1        ck END   0, 1
//! ue END   0           the blocks of `*lac*` are 0 and 1, those of `*ue` are 0
//! ```
//!
//! A block of a list need not hold the sequence, since lists are shared; a block that is not in it does not. The table is made once
//! some patterns have asked for it, and takes some 8 bytes a word.

use language::pattern::Literal;
use relation::codec::{cut_small, put_number};

use crate::error::Result;

/// Most words of a dictionary that has such a table: it then takes some 32 MB.
pub(super) const WORDS_MAX: u32 = 4 << 20;

/// No word of a text has this byte.
const END: u8 = 0xFF;

/// Bits of a sequence's hash.
const BITS: u32 = 16;
const LISTS: usize = 1 << BITS;

/// For each hash of a sequence, its blocks.
pub(super) struct Sequences {
    /// End of each list in `blocks`.
    ends: Vec<u32>,
    /// The lists: LEB128 distances between blocks, the first from -1.
    blocks: Vec<u8>,
}

impl Sequences {
    /// `each` calls its argument with each word and the number of its block, rising. It is called twice.
    pub(super) fn new(
        mut each: impl FnMut(&mut dyn FnMut(u32, &[u8])) -> Result<()>,
    ) -> Result<Sequences> {
        // By list: the number behind its last block, and its bytes.
        let (mut behind, mut ends) = (vec![0; LISTS], vec![0u32; LISTS]);
        let mut entry = Vec::new();
        each(&mut |block, word| {
            each_list(word, |list| {
                if behind[list] <= block {
                    entry.clear();
                    put_number(&mut entry, u64::from(block + 1 - behind[list]));
                    ends[list] += entry.len() as u32;
                    behind[list] = block + 1;
                }
            });
        })?;
        let mut end = 0;
        for bytes in &mut ends {
            end += std::mem::replace(bytes, end);
        }
        let mut blocks = vec![0; end as usize];
        behind.fill(0);
        each(&mut |block, word| {
            each_list(word, |list| {
                if behind[list] <= block {
                    entry.clear();
                    put_number(&mut entry, u64::from(block + 1 - behind[list]));
                    let at = ends[list] as usize;
                    if let Some(place) = blocks.get_mut(at..at + entry.len()) {
                        place.copy_from_slice(&entry);
                    }
                    ends[list] += entry.len() as u32;
                    behind[list] = block + 1;
                }
            });
        })?;
        Ok(Sequences { ends, blocks })
    }

    /// The blocks that may have words with the literal, rising; `None` where it tells no sequence.
    pub(super) fn blocks(&self, literal: &Literal) -> Option<Vec<u32>> {
        let mut text = literal.text().as_bytes().to_vec();
        if matches!(literal, Literal::Suffix(_)) {
            text.push(END);
        }
        let lists = text.windows(3).map(|sequence| self.list(hash(sequence)));
        let mut list = lists.min_by_key(|list| list.len())?;
        let (mut blocks, mut behind) = (Vec::new(), 0);
        while let Some(step) = cut_small(&mut list) {
            behind += step;
            blocks.push(behind - 1);
        }
        Some(blocks)
    }

    fn list(&self, list: usize) -> &[u8] {
        let start = list.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start as usize..self.ends[list] as usize;
        self.blocks.get(range).unwrap_or_default()
    }
}

/// Calls `visit` with the list of each sequence of a word.
fn each_list(word: &[u8], mut visit: impl FnMut(usize)) {
    word.windows(3).for_each(|sequence| visit(hash(sequence)));
    if let [.., before, last] = word {
        visit(hash(&[*before, *last, END]));
    }
}

fn hash(sequence: &[u8]) -> usize {
    let number = sequence
        .iter()
        .fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    (number.wrapping_mul(0x9E37_79B1) >> (u32::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_block_with_a_word_that_holds_the_literal_is_left_out(
            mut words in proptest::collection::btree_set("[abé]{1,6}", 1..60),
            literal in "[abé]{1,4}",
            is_suffix in any::<bool>(),
        ) {
            words.insert("abaab".to_owned());
            let literal = match is_suffix {
                true => Literal::Suffix(literal.into()),
                false => Literal::Infix(literal.into()),
            };
            let blocks = |at: usize| at as u32 / 4;
            let made = Sequences::new(|visit| {
                words.iter().enumerate().for_each(|(at, word)| visit(blocks(at), word.as_bytes()));
                Ok(())
            });
            if let Some(found) = made.unwrap().blocks(&literal) {
                prop_assert!(found.is_sorted_by(|one, next| one < next));
                let holding = words.iter().enumerate().filter(|(_, word)| literal.is_in(word.as_bytes()));
                for (at, word) in holding {
                    prop_assert!(found.contains(&blocks(at)), "{word}");
                }
            }
        }
    }

    #[test]
    fn a_literal_of_two_letters_tells_a_sequence_only_where_the_word_ends() {
        let words = ["black", "blue", "lack"];
        let made = Sequences::new(|visit| {
            (0..)
                .zip(words)
                .for_each(|(block, word)| visit(block, word.as_bytes()));
            Ok(())
        });
        let blocks = |literal| made.as_ref().unwrap().blocks(&literal);
        assert_eq!(blocks(Literal::Suffix("ck".into())), Some(vec![0, 2]));
        assert_eq!(blocks(Literal::Infix("lac".into())), Some(vec![0, 2]));
        assert_eq!(blocks(Literal::Infix("ck".into())), None);
        assert_eq!(blocks(Literal::None), None);
    }
}
