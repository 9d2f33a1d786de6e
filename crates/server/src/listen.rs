//! Addresses, listening sockets and client streams. Each type covers both TCP and unix sockets.

mod pace;
#[cfg(test)]
mod tests;
mod timed;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
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

/// Address of a door, as written in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `host:port`; the system replaces port 0 by a free port.
    Tcp(String),
    /// `unix:/path`.
    Unix(PathBuf),
}

impl Address {
    /// Parses `host:port` or `unix:/path`. Does not look the host up.
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

    /// Whether only this machine can reach the address. Looks a host name up, which may block.
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

/// A listening socket. Dropping it removes the file of a unix socket.
pub(crate) enum Listener {
    /// A TCP socket and its bound address.
    Tcp(TcpListener, SocketAddr),
    /// A unix socket and the path of its file.
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Binds and listens. Replaces the file of a unix socket that no process listens on. A new file has mode 660.
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

    /// The address with the port that the system has chosen.
    pub(crate) fn address(&self) -> Address {
        match self {
            Listener::Tcp(_, bound) => Address::Tcp(bound.to_string()),
            Listener::Unix(_, path) => Address::Unix(path.clone()),
        }
    }

    /// Whether only this machine can reach the socket.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Listener::Tcp(_, bound) => bound.ip().is_loopback(),
            Listener::Unix(..) => true,
        }
    }

    /// Waits for the next client.
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

/// A client whose machine has died never closes its connection, but the queue rows that it owns must come back. So the kernel
/// probes after a minute of silence, and closes the connection after another minute without an answer.
fn keepalive() -> TcpKeepalive {
    TcpKeepalive::new()
        .with_time(KEEPALIVE_SILENCE)
        .with_interval(KEEPALIVE_SILENCE / KEEPALIVE_PROBES)
        .with_retries(KEEPALIVE_PROBES)
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // A failure does no harm: the next server replaces the file.
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

/// A TCP or unix stream.
pub(crate) trait Io: AsyncRead + AsyncWrite + AsFd + Send + Unpin {}

impl Io for TcpStream {}
impl Io for UnixStream {}

/// A client's connection.
pub(crate) struct Stream {
    io: Box<dyn Io>,
    /// The client's address for people: `ip:port`, `unix`, or `gone` if it has left already.
    pub(crate) host: String,
    /// The client's address as limits count it.
    pub(crate) remote: Remote,
    /// The client's whole IP address. `None`: it comes by a unix socket, or has left already.
    pub(crate) address: Option<IpAddr>,
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Stream {
        // A client that has left already has no address. Its connection fails with the next read.
        let peer = stream.peer_addr().ok();
        let ip = peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip());
        Stream {
            io: Box::new(stream),
            host: peer.map_or_else(|| "gone".to_owned(), |peer| peer.to_string()),
            remote: Remote::of(ip),
            address: peer.map(|peer| peer.ip().to_canonical()),
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
            address: None,
        }
    }
}

impl Stream {
    /// A function that tells on any thread whether the client is gone. It holds a second file descriptor of the socket. The
    /// connection closes when both are closed. `None`: no descriptor is left.
    pub(crate) fn watched(&self) -> Option<IsGone> {
        let socket = self.io.as_fd().try_clone_to_owned().ok()?;
        Some(Arc::new(move || is_gone(&socket)))
    }
}

/// Whether a client has closed its end and no byte is left to read.
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
