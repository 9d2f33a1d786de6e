//! The address of a webhook: hits of a pq table are sent to it.

use std::fmt;

/// A webhook's address, split into host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookTarget {
    /// The whole address, as written: requests go to it.
    pub url: String,
    /// Host name or IP address, in lower case; never empty.
    pub host: String,
    /// The port as written, else 80 for http and 443 for https.
    pub port: u16,
}

impl WebhookTarget {
    /// Reads `http://host[:port][/path]` or the same with https.
    ///
    /// # Errors
    /// A sentence that quotes the address: wrong scheme, user name in it, bad port, no host, or blanks.
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

/// Splits `host`, `host:port` or `[::1]:port`. `None`: the port is no number of 16 bits.
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
