//! The one login that guards the MySQL door and the HTTP door. Scribe's protocol has no login.

use std::fmt;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use subtle::ConstantTimeEq;

/// Base64 without padding, which is removed before; stray bits behind the last byte are ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// A name and a password. Its `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user name that a client must give.
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
        let wanted = format!("{}:{}", self.user, self.password);
        let decoded = BASE64.decode(encoded.1.trim().trim_end_matches('='));
        decoded.is_ok_and(|decoded| decoded.ct_eq(wanted.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests;
