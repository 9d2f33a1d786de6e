//! The one login that guards both doors.

use std::fmt;

/// A name and a password. Its `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The name that must be given.
    pub user: String,
    /// The password; never empty.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Login {
    /// Whether an `Authorization` header of HTTP's basic scheme carries this login.
    pub fn accepts_basic(&self, header: &str) -> bool {
        let Some(encoded) = header
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))
        else {
            return false;
        };
        let Some(decoded) = base64_decode(encoded.1.trim()) else {
            return false;
        };
        let wanted = format!("{}:{}", self.user, self.password);
        equal_in_constant_time(&decoded, wanted.as_bytes())
    }
}

/// Compares without telling by the time taken where the first difference is.
pub(crate) fn equal_in_constant_time(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

/// Base64 with the standard alphabet, padded or not.
fn base64_decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for letter in text.trim_end_matches('=').bytes() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
