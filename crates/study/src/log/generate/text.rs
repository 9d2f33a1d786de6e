//! The texts of generated queries: words of syllables, made from numbers.

use super::law::mix;

/// Syllables: 16 consonants by 4 vowels.
const SYLLABLES: [[u8; 2]; 64] = {
    let (consonants, vowels) = (b"bdfghjklmnprstvz", b"aeio");
    let mut table = [[0; 2]; 64];
    let mut at = 0;
    while at < 64 {
        table[at] = [consonants[at / 4], vowels[at % 4]];
        at += 1;
    }
    table
};

/// Appends the text of the query with `rank` in its class and returns 64 random bits that belong to it. Queries of different
/// classes or ranks have different texts: the first word is the rank's.
pub(super) fn write_query(class: usize, rank: u64, query: &mut Vec<u8>) -> u64 {
    let code = mix((rank << 3) | class as u64);
    let words = match class {
        0 => return code,
        1..=5 => class as u64,
        // Most have few words: the product of two even numbers.
        6 => 6 + (((code & 0xff) * (code >> 8 & 0xff) * 45) >> 16),
        _ => 51 + code % 30,
    };
    write_word(rank, query);
    let mut state = code;
    for _ in 1..words {
        state = mix(state.wrapping_add(1));
        query.push(b' ');
        write_word(((state & 0xffff) * (state >> 16 & 0xffff)) >> 16, query);
    }
    code
}

/// Appends the word of a number: 2 letters below 64, 4 below 4,160, 6 below 266,304, 8 below 17,043,520.
fn write_word(number: u64, text: &mut Vec<u8>) {
    let mut rest = number;
    loop {
        text.extend_from_slice(&SYLLABLES[(rest % 64) as usize]);
        rest /= 64;
        if rest == 0 {
            return;
        }
        rest -= 1;
    }
}

/// Appends the SELECT of a query.
pub(super) fn write_statement(table: &str, query: &[u8], statement: &mut Vec<u8>) {
    statement.extend_from_slice(b"SELECT * FROM ");
    statement.extend_from_slice(table.as_bytes());
    if !query.is_empty() {
        statement.extend_from_slice(b" WHERE MATCH('");
        statement.extend_from_slice(query);
        statement.extend_from_slice(b"')");
    }
}
