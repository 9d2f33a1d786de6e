//! The sites whose pages may tell touches: those that the server's owner names, and no other.

use crate::limits::TOUCH_ORIGINS_MAX;

/// The sites of the setting `touch.origins`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// `http://` or `https://`.
    scheme: &'static str,
    /// Host and perhaps port, in lower case. Of a pattern for all hosts below one: a dot before it.
    host: String,
    /// Written `https://*.host`: matches every name below the host, not the host itself.
    is_below: bool,
}

impl Origins {
    /// Parses origins with commas between them: `https://shop.example`, `https://*.shop.example`, `http://127.0.0.1:8080`.
    ///
    /// # Errors
    /// A sentence that quotes the first part that is no origin, or says that they are too many.
    pub fn parse(text: &str) -> Result<Origins, String> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let patterns: Vec<Pattern> = parts.map(Pattern::parse).collect::<Result<_, _>>()?;
        match patterns.len() {
            0..=TOUCH_ORIGINS_MAX => Ok(Origins(patterns)),
            count => Err(format!(
                "{count} origins are more than {TOUCH_ORIGINS_MAX}, the most that are taken"
            )),
        }
    }

    /// Whether no site is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of the entry that an `Origin` header matches, below [`TOUCH_ORIGINS_MAX`]; `None`: it matches none.
    pub fn find(&self, origin: &str) -> Option<usize> {
        self.0.iter().position(|pattern| pattern.holds(origin))
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Pattern, String> {
        let schemes = ["https://", "http://"];
        let found = schemes
            .into_iter()
            .find_map(|scheme| Some((scheme, text.strip_prefix(scheme)?)));
        let Some((scheme, rest)) = found else {
            return Err(format!(
                "{text:?} is not an origin, such as https://shop.example"
            ));
        };
        let (is_below, host) = match rest.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, rest),
        };
        if host.is_empty() || host.contains(['*', '/', '@', '?', '#', ' ']) {
            return Err(format!(
                "{text:?} is not an origin: write scheme, host and perhaps port, without a path"
            ));
        }
        let host = host.to_lowercase();
        Ok(Pattern {
            scheme,
            host: if is_below { format!(".{host}") } else { host },
            is_below,
        })
    }

    /// Browsers write origins in lower case and without the scheme's own port.
    fn holds(&self, origin: &str) -> bool {
        let Some(host) = origin.strip_prefix(self.scheme) else {
            return false;
        };
        match self.is_below {
            true => {
                let below = host.strip_suffix(self.host.as_str());
                below.is_some_and(|name| !name.is_empty() && !name.contains('/'))
            }
            false => host == self.host,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origins: &str, origin: &str, wanted: Option<usize>) {
        assert_eq!(
            Origins::parse(origins).unwrap().find(origin),
            wanted,
            "{origins} {origin}"
        );
    }

    #[test]
    fn only_named_origins_match() {
        let all = "https://shop.example, https://*.shop.example,http://127.0.0.1:8080";
        check(all, "https://shop.example", Some(0));
        check(all, "https://de.shop.example", Some(1));
        check(all, "https://a.b.shop.example", Some(1));
        check(all, "http://127.0.0.1:8080", Some(2));
        for origin in [
            "http://shop.example",
            "https://shop.example:444",
            "https://evilshop.example",
            "https://shop.example.evil.example",
            "https://.shop.example",
            "https://evil.example/.shop.example",
            "http://127.0.0.1",
            "null",
            "",
        ] {
            check(all, origin, None);
        }
        check("", "https://shop.example", None);
        check("https://Shop.Example", "https://shop.example", Some(0));
    }

    #[test]
    fn what_is_no_origin_is_refused_with_its_text() {
        for text in [
            "shop.example",
            "*",
            "https://",
            "https://*",
            "https://*.",
            "https://a/b",
            "ftp://a",
        ] {
            let why = Origins::parse(text).unwrap_err();
            assert!(why.contains(&format!("{text:?}")), "{why}");
        }
        let many = "https://a,".repeat(TOUCH_ORIGINS_MAX + 1);
        assert!(Origins::parse(&many).unwrap_err().contains("more than"));
    }
}
