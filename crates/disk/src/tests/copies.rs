use crate::{Copies, PAGE_BYTES, in_two_copies};

/// Content that tells by its last byte whether it is sound.
fn content(length: usize) -> Vec<u8> {
    let mut content: Vec<u8> = (1..length).map(|at| (at % 251) as u8).collect();
    content.push(sum(&content));
    content
}

fn sum(bytes: &[u8]) -> u8 {
    bytes
        .iter()
        .fold(7, |sum: u8, byte| sum.rotate_left(1) ^ byte)
}

/// A sound copy, or the offset of one that is not.
fn check(start: usize, copy: &[u8]) -> Result<&[u8], usize> {
    match copy.split_last() {
        Some((last, rest)) if sum(rest) == *last && rest.first().is_none_or(|byte| *byte == 1) => {
            Ok(copy)
        }
        _ => Err(start),
    }
}

const LENGTHS: [usize; 9] = [1, 2, 100, 2048, 4095, 4096, 4097, 8191, 12_289];

#[test]
fn content_of_any_length_is_found_in_a_file_of_two_copies_and_of_one() {
    for length in LENGTHS {
        let content = content(length);
        for file in [in_two_copies(&content), content.clone()] {
            let copies = Copies::of(&file);
            assert_eq!(copies.first_sound(check), Ok(&content[..]), "{length}");
            assert_eq!(copies.damages(check), Vec::<usize>::new(), "{length}");
        }
    }
}

#[test]
fn one_damaged_byte_or_page_leaves_the_other_copy_and_is_told() {
    for length in LENGTHS {
        let content = content(length);
        let file = in_two_copies(&content);
        let second = file.len() - length;
        for at in (0..file.len()).step_by(1 + file.len() / 150) {
            let mut flipped = file.clone();
            flipped[at] ^= 0x20;
            let mut torn = file.clone();
            let page = at / PAGE_BYTES * PAGE_BYTES;
            let end = file.len().min(page + PAGE_BYTES);
            torn[page..end].fill(0xee);
            for damaged in [flipped, torn] {
                let copies = Copies::of(&damaged);
                let found = copies.first_sound(check);
                assert_eq!(found, Ok(&content[..]), "{length}, byte {at}");
                let of_first = damaged[..length] != content[..];
                let of_second = damaged[second..] != content[..];
                let told: Vec<usize> = [(of_first, 0), (of_second, second)]
                    .into_iter()
                    .filter_map(|(is_damaged, start)| is_damaged.then_some(start))
                    .collect();
                assert_eq!(copies.damages(check), told, "{length}, byte {at}");
            }
        }
    }
}

#[test]
fn a_file_whose_copies_are_both_damaged_is_refused_with_the_error_of_the_first() {
    let content = content(5_000);
    let mut file = in_two_copies(&content);
    file[10] ^= 1;
    file[8_192 + 10] ^= 1;
    assert_eq!(Copies::of(&file).first_sound(check), Err(0));
    assert_eq!(Copies::of(&file).damages(check), [0, 8_192]);
    let mut one = content;
    one[10] ^= 1;
    assert_eq!(Copies::of(&one).first_sound(check), Err(0));
    assert_eq!(Copies::of(&one).damages(check).first(), Some(&0));
}
