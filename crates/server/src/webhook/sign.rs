//! Signatures of the Standard Webhooks specification 1.0, over a message's id, time and body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Prefix of a secret in the specification; base64 follows.
const PREFIX: &str = "whsec_";

/// A secret that signs messages; empty by default, and then messages are unsigned. `Debug` does not show it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// Parses `whsec_` and base64 of 24 to 64 bytes. An empty text is no secret.
    ///
    /// # Errors
    /// The accepted form. The text itself is not repeated.
    pub fn parse(text: &str) -> Result<Secret, String> {
        if text.is_empty() {
            return Ok(Secret::default());
        }
        let key = text
            .strip_prefix(PREFIX)
            .and_then(|key| STANDARD.decode(key).ok());
        match key.filter(|key| (24..=64).contains(&key.len())) {
            Some(key) => Ok(Secret(key)),
            None => Err("not whsec_ followed by base64 of 24 to 64 bytes".to_owned()),
        }
    }

    /// Value of the header `webhook-signature`; `None` without a secret. `seconds` is the value of `webhook-timestamp`.
    pub fn sign(&self, id: &str, seconds: i64, body: &str) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        Some(format!("v1,{signature}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn the_signature_is_the_specifications() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = secret.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            "{\"test\": 2432232314}",
        );
        assert_eq!(
            signed.as_deref(),
            Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        );
        assert_eq!(Secret::default().sign("a", 1, "b"), None);
    }

    #[test]
    fn a_bad_secret_is_refused_without_being_shown() {
        for text in ["secret", "whsec_AAAA", "whsec_!!"] {
            let why = Secret::parse(text).unwrap_err();
            assert!(!why.contains(text), "{why}");
        }
    }
}
