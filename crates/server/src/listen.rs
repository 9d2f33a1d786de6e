//! Addresses, listening sockets and the streams they accept: TCP and unix, behind one type each.

mod pace;
#[cfg(test)]
mod tests;
mod timed;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use session::Remote;
use session::searches::IsGone;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::limits::{KEEPALIVE_PROBES, KEEPALIVE_SILENCE};

pub(crate) use pace::{Pace, TooSlow};
pub(crate) use timed::TimedStream;

/// Where a door listens, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `host:port`; port 0 is a free one.
    Tcp(String),
    /// `unix:/path`.
    Unix(PathBuf),
}

impl Address {
    /// Reads `host:port` or `unix:/path`. Does not look the host up.
    pub fn parse(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if !path.starts_with('/') {
                return Err(format!("{text:?}: the path of a unix socket begins with /"));
            }
            return Ok(Address::Unix(PathBuf::from(path)));
        }
        let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
        if host.is_empty() || port.parse::<u16>().is_err() {
            return Err(format!(
                "{text:?} is not an address, such as 127.0.0.1:9306 or unix:/run/seine.sock"
            ));
        }
        Ok(Address::Tcp(text.to_owned()))
    }

    /// Whether only this machine can reach it. Looks a host name up, which may block.
    pub fn is_local(&self) -> Result<bool, String> {
        match self {
            Address::Unix(_) => Ok(true),
            Address::Tcp(text) => {
                let mut found = text
                    .to_socket_addrs()
                    .map_err(|error| format!("{text}: {error}"))?;
                Ok(found.all(|address| address.ip().is_loopback()))
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(text) => out.write_str(text),
            Address::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}

/// A listening socket. A unix socket's file goes away with it.
pub(crate) enum Listener {
    /// TCP.
    Tcp(TcpListener, SocketAddr),
    /// Unix.
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Binds and listens. A unix socket's file that nobody listens on any more is replaced.
    pub(crate) async fn bind(address: &Address) -> io::Result<Listener> {
        match address {
            Address::Tcp(text) => {
                let listener = TcpListener::bind(text.as_str()).await?;
                let bound = listener.local_addr()?;
                Ok(Listener::Tcp(listener, bound))
            }
            Address::Unix(path) => {
                remove_abandoned(path)?;
                let listener = UnixListener::bind(path)?;
                fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
                Ok(Listener::Unix(listener, path.clone()))
            }
        }
    }

    /// The address with the port that was really taken.
    pub(crate) fn address(&self) -> Address {
        match self {
            Listener::Tcp(_, bound) => Address::Tcp(bound.to_string()),
            Listener::Unix(_, path) => Address::Unix(path.clone()),
        }
    }

    /// Whether only this machine reaches it.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Listener::Tcp(_, bound) => bound.ip().is_loopback(),
            Listener::Unix(..) => true,
        }
    }

    /// The next client.
    pub(crate) async fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener, _) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                SockRef::from(&stream).set_tcp_keepalive(&keepalive())?;
                Ok(stream.into())
            }
            Listener::Unix(listener, _) => Ok(listener.accept().await?.0.into()),
        }
    }
}

/// A client whose machine died says nothing more, not even goodbye; the row of a queue that it owned must go back all the
/// same. The kernel asks after a minute of silence, and gives up after another.
fn keepalive() -> TcpKeepalive {
    TcpKeepalive::new()
        .with_time(KEEPALIVE_SILENCE)
        .with_interval(KEEPALIVE_SILENCE / KEEPALIVE_PROBES)
        .with_retries(KEEPALIVE_PROBES)
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // Nothing to do about a failure: the next server replaces an abandoned file.
            let _ = fs::remove_file(path);
        }
    }
}

fn remove_abandoned(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if !is_socket {
        return Ok(());
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another server listens there",
        )),
    }
}

/// What a client's connection is made of.
pub(crate) trait Io: AsyncRead + AsyncWrite + AsFd + Send + Unpin {}

impl Io for TcpStream {}
impl Io for UnixStream {}

/// A client's connection.
pub(crate) struct Stream {
    io: Box<dyn Io>,
    /// The client's address, or `unix`.
    pub(crate) host: String,
    /// Where the client comes from.
    pub(crate) remote: Remote,
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Stream {
        // A client that is gone already has no address: its connection ends with the next call.
        let peer = stream.peer_addr().ok();
        let ip = peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip());
        Stream {
            io: Box::new(stream),
            host: peer.map_or_else(|| "gone".to_owned(), |peer| peer.to_string()),
            remote: Remote::of(ip),
        }
    }
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Stream {
        let user = stream.peer_cred().ok().map(|user| user.uid());
        Stream {
            io: Box::new(stream),
            host: "unix".to_owned(),
            remote: Remote::Unix(user),
        }
    }
}

impl Stream {
    /// Tells from anywhere whether the client is gone. It holds a second file descriptor, and the connection is closed when
    /// both are: `None` where there is none left.
    pub(crate) fn watched(&self) -> Option<IsGone> {
        let socket = self.io.as_fd().try_clone_to_owned().ok()?;
        Some(Arc::new(move || is_gone(&socket)))
    }
}

/// Whether a client has closed its end: there is nothing to read and never will be.
fn is_gone(client: &OwnedFd) -> bool {
    let mut byte = [std::mem::MaybeUninit::uninit()];
    match SockRef::from(client).peek(&mut byte) {
        Ok(read) => read == 0,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        ),
    }
}
