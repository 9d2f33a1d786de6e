//! The visitor's id: 128 random bits as 32 hexadecimal digits, kept by the browser in a cookie that the server sets.
//!
//! Browsers keep a cookie that a script sets for 7 days (Safari), one that a server sets for as long as it says. No script needs the id,
//! so the cookie is `HttpOnly`: a script that was smuggled into a page cannot read it.

use crate::limits::TOUCH_COOKIE_S;

/// Name of the cookie.
const COOKIE: &str = "seine_visitor";

/// Digits of an id.
const DIGITS: usize = 32;

/// The id in a `Cookie` header. One of another form is passed over, as if there were none.
pub(crate) fn of_cookies(header: &str) -> Option<&str> {
    header.split(';').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim();
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_id = value.len() == DIGITS && value.bytes().all(is_hex);
        (name.trim() == COOKIE && is_id).then_some(value)
    })
}

/// An id of random bytes.
pub(crate) fn from_random(bytes: [u8; DIGITS / 2]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

/// The `Set-Cookie` of an id. It lives 180 days from now on.
pub(crate) fn set_cookie(visitor: &str, is_https: bool) -> String {
    let secure = if is_https { "; Secure" } else { "" };
    format!("{COOKIE}={visitor}; Path=/; Max-Age={TOUCH_COOKIE_S}; SameSite=Lax; HttpOnly{secure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_back_from_the_cookie_that_was_set() {
        let id = from_random([0x0a; 16]);
        assert_eq!(id, "0a".repeat(16));
        let set = set_cookie(&id, true);
        assert!(
            set.ends_with("; Max-Age=15552000; SameSite=Lax; HttpOnly; Secure"),
            "{set}"
        );
        let (cookie, _) = set.split_once(';').unwrap();
        assert_eq!(of_cookies(&format!("a=b; {cookie}; c=d")), Some(&*id));
        assert!(!set_cookie(&id, false).contains("Secure"));
    }

    #[test]
    fn what_is_no_id_is_passed_over() {
        for value in ["", "0A0a", "' OR 1=1 --", &"g".repeat(32), &"a".repeat(33)] {
            assert_eq!(
                of_cookies(&format!("seine_visitor={value}")),
                None,
                "{value}"
            );
        }
        let other = format!("xseine_visitor={}", "a".repeat(32));
        assert_eq!(of_cookies(&other), None);
    }
}
