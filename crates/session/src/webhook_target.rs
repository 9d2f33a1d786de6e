//! Addresses that hits are sent to.

use std::fmt;

/// A webhook's address, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookTarget {
    /// As a request is sent to.
    pub url: String,
    /// Lower case.
    pub host: String,
    /// As written, else that of the scheme.
    pub port: u16,
}

impl WebhookTarget {
    /// Reads `http://host[:port][/path]` or the same with https.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(url: &str) -> Result<WebhookTarget, String> {
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
        Ok(WebhookTarget {
            url: url.to_owned(),
            host: host.to_lowercase(),
            port: port.unwrap_or(default_port),
        })
    }
}

impl fmt::Display for WebhookTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// `host`, `host:port`, `[::1]:port`; `None` for a port that is no number.
pub fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let colon = match text.rfind(']') {
        Some(bracket) => text[bracket..].find(':').map(|at| at + bracket),
        None => text.rfind(':'),
    };
    match colon {
        Some(colon) => Some((&text[..colon], Some(text[colon + 1..].parse().ok()?))),
        None => Some((text, None)),
    }
}
