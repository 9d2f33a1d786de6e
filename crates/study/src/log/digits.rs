//! Numbers as decimal digits, appended to a line without memory of their own. The server's log writes a dozen of them a search.

/// Appends `before`, which is a constant for the compiler, and a number.
#[inline(always)]
pub(crate) fn write_number(before: &str, number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(before.as_bytes());
    if number < 10 {
        out.push(b'0' + number as u8);
    } else {
        write_long(number, out);
    }
}

fn write_long(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = number;
    while rest > 0 {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[start..]);
}

/// The last `DIGITS` digits of a number, zeros first.
#[inline]
pub(crate) fn padded<const DIGITS: usize>(number: u64) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        let mut numbers = vec![0, u64::MAX];
        for power in 0..20 {
            let ten = 10_u64.pow(power);
            numbers.extend([ten - 1, ten, ten + 1, ten / 3]);
        }
        for number in numbers {
            let mut written = Vec::new();
            write_number("n=", number, &mut written);
            assert_eq!(written, format!("n={number}").as_bytes());
            let last = format!("{:03}", number % 1_000);
            assert_eq!(&padded::<3>(number), last.as_bytes());
        }
    }
}
