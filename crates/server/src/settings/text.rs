//! Values from the texts of settings. Errors name the accepted texts.

use std::net::IpAddr;

/// A whole number above zero.
pub(super) fn count(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("{text:?} is not a whole number above 0")),
    }
}

/// A truth value: `true`, `1`, `yes`, `on`, or `false`, `0`, `no`, `off` and the empty text.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" | "" => Ok(false),
        _ => Err(format!("{text:?} is neither true nor false")),
    }
}

/// One of `words`, as written.
pub(super) fn word(text: &str, words: &[&str]) -> Result<String, String> {
    if words.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("{text:?} is not one of: {}", words.join(", ")))
}

/// IP addresses, separated by commas; none for an empty text.
pub(super) fn ip_addresses(text: &str) -> Result<Vec<IpAddr>, String> {
    let names = text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let read = |name: &str| {
        name.parse()
            .map_err(|_| format!("{name:?} is not an IP address, such as 192.0.2.7"))
    };
    names.map(read).collect()
}
