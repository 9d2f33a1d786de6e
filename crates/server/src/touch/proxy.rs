//! What a proxy before the server says of the client.

use std::net::IpAddr;

use session::Remote;

/// Client and scheme of a request, as far as they can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The client at whom bounds are counted.
    pub(crate) client: Remote,
    /// Whether the client came by https.
    pub(crate) is_https: bool,
}

/// Reads the headers of a proxy. They are believed from this machine and from `proxies`, since anyone can write them.
///
/// Each proxy adds the address of its own client at the end of `X-Forwarded-For`, so the last one is the nearest proxy's word.
pub(crate) fn seen(
    peer: Remote,
    proxies: &[IpAddr],
    forwarded_for: Option<&str>,
    forwarded_proto: Option<&str>,
) -> Seen {
    let is_proxy = match peer {
        Remote::Ip(address) => address.is_loopback() || is_listed(address, proxies),
        Remote::Unix(_) => true,
    };
    if !is_proxy {
        return Seen {
            client: peer,
            is_https: false,
        };
    }
    let last = forwarded_for.and_then(|list| list.rsplit(',').next());
    let client = last.and_then(|address| address.trim().parse().ok());
    Seen {
        client: client.map_or(peer, Remote::of),
        is_https: forwarded_proto.is_some_and(|proto| proto.trim().eq_ignore_ascii_case("https")),
    }
}

/// A peer of IPv6 is known by its network alone.
fn is_listed(address: IpAddr, proxies: &[IpAddr]) -> bool {
    proxies
        .iter()
        .any(|proxy| Remote::of(*proxy) == Remote::Ip(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(text: &str) -> Remote {
        Remote::of(text.parse().unwrap())
    }

    #[track_caller]
    fn check(peer: &str, forwarded_for: Option<&str>, wanted: &str, is_https: bool) {
        let proxies = ["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        let seen = seen(remote(peer), &proxies, forwarded_for, Some("https"));
        assert_eq!((seen.client, seen.is_https), (remote(wanted), is_https));
    }

    #[test]
    fn only_proxies_are_believed() {
        check("198.51.100.9", Some("203.0.113.5"), "198.51.100.9", false);
        check("127.0.0.1", Some("203.0.113.5"), "203.0.113.5", true);
        check("192.0.2.1", Some("203.0.113.5"), "203.0.113.5", true);
        check("2001:db8::1", Some("203.0.113.5"), "203.0.113.5", true);
    }

    #[test]
    fn the_last_address_is_the_nearest_proxys_word() {
        let forged = Some("10.0.0.1, 203.0.113.5");
        check("127.0.0.1", forged, "203.0.113.5", true);
        check("127.0.0.1", Some("who?"), "127.0.0.1", true);
        check("127.0.0.1", None, "127.0.0.1", true);
    }
}
