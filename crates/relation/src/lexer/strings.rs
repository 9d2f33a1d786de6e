//! The meaning of quoted tokens.

/// The text of a string token: doubled quotes undone, and backslashes as in MySQL (`\%` and `\_` stay two bytes).
pub(super) fn unescaped(token: &[u8]) -> Vec<u8> {
    let Some((quote, inside)) = inside(token) else {
        return Vec::new();
    };
    let mut out = Vec::with_capacity(inside.len());
    let mut rest = inside.iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => match rest.next() {
                Some(b'0') => out.push(0),
                Some(b'b') => out.push(8),
                Some(b'n') => out.push(b'\n'),
                Some(b'r') => out.push(b'\r'),
                Some(b't') => out.push(b'\t'),
                Some(b'Z') => out.push(26),
                Some(wildcard @ (b'%' | b'_')) => out.extend([b'\\', wildcard]),
                Some(other) => out.push(other),
                None => {}
            },
            _ if byte == quote => {
                rest.next();
                out.push(quote);
            }
            _ => out.push(byte),
        }
    }
    out
}

/// The name of a token in backticks.
pub(super) fn unquoted(token: &[u8]) -> Vec<u8> {
    let Some((quote, inside)) = inside(token) else {
        return Vec::new();
    };
    let mut out = Vec::with_capacity(inside.len());
    let mut rest = inside.iter().copied();
    while let Some(byte) = rest.next() {
        if byte == quote {
            rest.next();
        }
        out.push(byte);
    }
    out
}

/// The bytes of `x'4D'` or `0x4D`; `0x` takes an odd count of digits, as if a 0 stood before them.
pub(super) fn from_hex(token: &[u8]) -> Vec<u8> {
    let digits = token.get(2..).unwrap_or_default();
    let digits = digits.strip_suffix(b"'").unwrap_or(digits);
    let worth = |digit: &u8| char::from(*digit).to_digit(16).unwrap_or(0) as u8;
    let (odd, pairs) = digits.split_at(digits.len() % 2);
    let first = odd.iter().map(worth);
    first
        .chain(
            pairs
                .chunks(2)
                .map(|pair| pair.iter().map(worth).fold(0, |high, low| high << 4 | low)),
        )
        .collect()
}

/// The quote of a token and what stands between it and the closing one.
fn inside(token: &[u8]) -> Option<(u8, &[u8])> {
    match token {
        [quote, inside @ .., _] => Some((*quote, inside)),
        _ => None,
    }
}
