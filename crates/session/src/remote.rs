//! Address of a client, as limits and failed logins count it.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Address of a client, as limits and failed logins count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remote {
    /// An IP address. An IPv4 address mapped into IPv6 is stored as IPv4. Any other IPv6 address but loopback keeps only its
    /// first 64 bits: one client usually has all addresses that begin with them.
    Ip(IpAddr),
    /// A process of this machine on a unix socket, with its user id if the kernel tells it.
    Unix(Option<u32>),
}

impl Remote {
    /// The client at this address.
    pub fn of(address: IpAddr) -> Remote {
        match address.to_canonical() {
            IpAddr::V6(long) if !long.is_loopback() => {
                const NETWORK: u128 = u128::MAX << 64;
                Remote::Ip(Ipv6Addr::from(u128::from(long) & NETWORK).into())
            }
            address => Remote::Ip(address),
        }
    }

    /// Whether the client is on this machine.
    pub fn is_local(self) -> bool {
        match self {
            Remote::Ip(address) => address.is_loopback(),
            Remote::Unix(_) => true,
        }
    }

    /// Whether the client is on a unix socket and runs as this process's user or as root.
    pub fn is_owners_process(self) -> bool {
        let Remote::Unix(Some(user)) = self else {
            return false;
        };
        user == rustix::process::geteuid().as_raw() || user == 0
    }

    /// Whether the client is on a unix socket.
    pub fn is_unix(self) -> bool {
        matches!(self, Remote::Unix(_))
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remote::Ip(address) => address.fmt(out),
            Remote::Unix(Some(user)) => write!(out, "unix, user id {user}"),
            Remote::Unix(None) => out.write_str("unix"),
        }
    }
}

#[cfg(test)]
mod tests;
