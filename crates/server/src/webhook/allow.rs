//! Where webhooks may go: hosts that the server's owner has named, and nowhere else.
//!
//! Whoever may create a table may write any address into it; what lies behind the server's own network must not be reached so.

use std::fmt;

/// The hosts of the setting `webhook.allow`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// Lower case; without the star.
    host: String,
    /// `*.host`: everything below it.
    below: bool,
    /// Any, if none is named.
    port: Option<u16>,
}

/// A webhook's address, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As a request is sent to.
    pub url: String,
    host: String,
    port: u16,
}

impl Allowed {
    /// Hosts with commas between: `hooks.example.com`, `*.example.com`, `127.0.0.1:8080`.
    ///
    /// # Errors
    /// The first one that is no host.
    pub fn parse(text: &str) -> Result<Allowed, String> {
        let hosts = text
            .split(',')
            .map(str::trim)
            .filter(|host| !host.is_empty());
        hosts
            .map(Pattern::parse)
            .collect::<Result<_, _>>()
            .map(Allowed)
    }

    /// Whether a target is one of them.
    pub fn holds(&self, target: &Target) -> bool {
        self.0.iter().any(|pattern| {
            let named = match pattern.below {
                true => target
                    .host
                    .strip_suffix(&pattern.host)
                    .is_some_and(|rest| rest.ends_with('.')),
                false => target.host == pattern.host,
            };
            named && pattern.port.is_none_or(|port| port == target.port)
        })
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Pattern, String> {
        let (name, below) = match text.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (text, false),
        };
        let (host, port) =
            split_port(name).ok_or_else(|| format!("{text:?} is not host or host:port"))?;
        if host.is_empty() || host.contains(['*', '/', '@']) {
            return Err(format!(
                "{text:?} is not a host: write it without https:// and path"
            ));
        }
        Ok(Pattern {
            host: host.to_lowercase(),
            below,
            port,
        })
    }
}

impl Target {
    /// Reads `http://host[:port][/path]` or the same with https.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(url: &str) -> Result<Target, String> {
        let (rest, default_port) = if let Some(rest) = url.strip_prefix("https://") {
            (rest, 443)
        } else if let Some(rest) = url.strip_prefix("http://") {
            (rest, 80)
        } else {
            return Err(format!(
                "{url:?} begins neither with https:// nor with http://"
            ));
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = &rest[..end];
        if authority.contains('@') {
            return Err(format!(
                "{url:?} holds a user name: sign with webhook.secret instead"
            ));
        }
        let (host, port) =
            split_port(authority).ok_or_else(|| format!("{url:?} has a bad port"))?;
        if host.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(format!("{url:?} is not an address"));
        }
        Ok(Target {
            url: url.to_owned(),
            host: host.to_lowercase(),
            port: port.unwrap_or(default_port),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// `host`, `host:port`, `[::1]:port`; `None` for a port that is no number.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let colon = match text.rfind(']') {
        Some(bracket) => text[bracket..].find(':').map(|at| at + bracket),
        None => text.rfind(':'),
    };
    match colon {
        Some(colon) => Some((&text[..colon], Some(text[colon + 1..].parse().ok()?))),
        None => Some((text, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allowed: &str, url: &str, wanted: bool) {
        let target = Target::parse(url).unwrap();
        assert_eq!(
            Allowed::parse(allowed).unwrap().holds(&target),
            wanted,
            "{allowed} {url}"
        );
    }

    #[test]
    fn only_named_hosts_are_allowed() {
        check("", "https://hooks.example.com/x", false);
        check("hooks.example.com", "https://Hooks.Example.com/x?y", true);
        check(
            "hooks.example.com",
            "https://hooks.example.com.evil.test/",
            false,
        );
        check(
            "hooks.example.com",
            "https://evil.test/hooks.example.com",
            false,
        );
        check("*.example.com", "https://a.b.example.com:8443/", true);
        check("*.example.com", "https://example.com/", false);
        check("*.example.com", "https://badexample.com/", false);
        check("a.test:8080, 127.0.0.1:9", "http://127.0.0.1:9/in", true);
        check("127.0.0.1:9", "http://127.0.0.1/in", false);
        check("[::1]:80", "http://[::1]", true);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in [
            "ftp://a/",
            "https://user@a/",
            "https:///x",
            "https://a:x/",
            "https://a/b c",
            "a.test",
        ] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
        for allowed in ["https://a.test", "a.test/x", "a:b", "*", "*.*"] {
            assert!(Allowed::parse(allowed).is_err(), "{allowed}");
        }
    }
}
