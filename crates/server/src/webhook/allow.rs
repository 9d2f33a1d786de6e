//! Hosts that webhooks may reach: those that the server's owner names, and no other.
//!
//! Any client may create a table with any address. Without this list it could reach hosts of the server's own network.

use session::webhook_target::{WebhookTarget, split_port};

/// The hosts of the setting `webhook.allow`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// The host in lower case, without the star.
    host: String,
    /// Written `*.host`: matches every name below the host, not the host itself.
    below: bool,
    /// The port; `None`: any.
    port: Option<u16>,
}

impl Allowed {
    /// Parses hosts with commas between them: `hooks.example.com`, `*.example.com`, `127.0.0.1:8080`.
    ///
    /// # Errors
    /// A sentence that quotes the first part that is no host.
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

    /// Whether a target's host and port are allowed.
    pub fn holds(&self, target: &WebhookTarget) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allowed: &str, url: &str, wanted: bool) {
        let target = WebhookTarget::parse(url).unwrap();
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
            assert!(WebhookTarget::parse(url).is_err(), "{url}");
        }
        for allowed in ["https://a.test", "a.test/x", "a:b", "*", "*.*"] {
            assert!(Allowed::parse(allowed).is_err(), "{allowed}");
        }
    }
}
