//! Where a client comes from.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Where a client comes from: what limits and failed logins are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remote {
    /// An address of the network. Of an IPv6 address beyond this machine only the first 64 bits are kept: one client has all
    /// addresses that begin with them.
    Ip(IpAddr),
    /// A process of this machine on a unix socket: the id of its user, as far as the kernel tells it.
    Unix(Option<u32>),
}

impl Remote {
    /// A client at this address.
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

    /// Whether the client is on a unix socket, and runs as this process's user or as root.
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
