//! Greeting, login, and the first OK.

use std::fs::File;
use std::io::{self, Read};
use std::sync::OnceLock;

use tokio::time::timeout;
use wire::mysql::{
    Authenticator, CHARSET_UTF8MB4, Capabilities, Credential, Done, Encoder, Greeting,
    HandshakeResponse, Nonce, Packet, Plugin, STATUS_AUTOCOMMIT, Step,
};

use super::results;
use super::socket::{Ended, Socket};
use crate::limits::HANDSHAKE_TIMEOUT;
use crate::server::Server;
use session::VERSION;
use session::errors::{self, Failure};
use session::places::Peer;

/// The plugin that the greeting names.
const OFFERED: Plugin = Plugin::CachingSha2;

/// Who passed.
pub(super) struct Guest {
    /// What both sides can.
    pub capabilities: Capabilities,
    /// The name that was given.
    pub user: String,
    /// The database that was named.
    pub database: Option<String>,
    /// What passwords of this connection are scrambled with.
    pub nonce: Nonce,
}

/// Lets a client in, or tells it why not (`None`).
pub(super) async fn shake(
    server: &Server,
    socket: &mut Socket,
    peer: &Peer,
) -> Result<Option<Guest>, Ended> {
    match timeout(HANDSHAKE_TIMEOUT, shake_unhurried(server, socket, peer)).await {
        Ok(result) => result,
        Err(_) => Err(Ended::Silent),
    }
}

async fn shake_unhurried(
    server: &Server,
    socket: &mut Socket,
    peer: &Peer,
) -> Result<Option<Guest>, Ended> {
    let mut encoder = Encoder::new(Capabilities::SERVER);
    let nonce = nonce().map_err(Ended::Gone)?;
    greeting(peer, nonce).encode(encoder.packets());
    socket.send(&mut encoder).await.map_err(Ended::Gone)?;

    let take = |packet: Packet<'_>| {
        (
            packet.sequence.wrapping_add(1),
            HandshakeResponse::decode(packet.payload),
        )
    };
    let (sequence, response) = socket.packet(HANDSHAKE_TIMEOUT, take).await?;
    encoder.packets().start(sequence);
    let response = match response {
        Ok(response) => response,
        Err(error) => {
            let failure = Failure::new(errors::MALFORMED_PACKET, format!("login: {error}"));
            return refuse(socket, &mut encoder, &failure).await;
        }
    };
    let login = Login {
        user: &response.user,
        plugin: response.plugin.as_deref(),
        auth: &response.auth,
        nonce,
    };
    let granted = login
        .prove(server, peer, socket, &mut encoder, false)
        .await?;
    if let Err(failure) = granted {
        return refuse(socket, &mut encoder, &failure).await;
    }
    // Before its client can know of the login: a client that has read this OK never loses its place to a newcomer.
    peer.owes_nothing();
    encoder.ok(&Done::default());
    socket.send(&mut encoder).await.map_err(Ended::Gone)?;
    socket.release();
    Ok(Some(Guest {
        capabilities: response.capabilities.common(Capabilities::SERVER),
        user: response.user,
        database: response.database,
        nonce,
    }))
}

/// A name and what is to prove it.
pub(super) struct Login<'a> {
    /// As given.
    pub user: &'a str,
    /// The plugin that made `auth`.
    pub plugin: Option<&'a str>,
    /// The scramble.
    pub auth: &'a [u8],
    /// What it was made with.
    pub nonce: Nonce,
}

impl Login<'_> {
    /// Goes through the exchange; the refusal, if there is one, is still to be sent. After failures of this address it waits
    /// first, so that guesses cost time.
    pub(super) async fn prove(
        &self,
        server: &Server,
        peer: &Peer,
        socket: &mut Socket,
        encoder: &mut Encoder,
        again: bool,
    ) -> Result<Result<(), Failure>, Ended> {
        server.slow_login(peer).await;
        let begin = if again {
            Authenticator::change_user
        } else {
            Authenticator::begin
        };
        let (exchange, mut step) = begin(
            self.nonce,
            OFFERED,
            credential(server, self.user),
            self.plugin,
            self.auth,
            encoder.packets(),
        );
        loop {
            match step {
                Step::Welcome => {
                    server.logins.passed(peer.remote);
                    return Ok(Ok(()));
                }
                Step::Denied { password_given } => {
                    server.login_failed(peer);
                    let using = if password_given { "YES" } else { "NO" };
                    let message = format!(
                        "access denied for user '{}' (using password: {using})",
                        self.user
                    );
                    return Ok(Err(Failure::new(errors::ACCESS_DENIED, message)));
                }
                Step::Read => {
                    socket.send(encoder).await.map_err(Ended::Gone)?;
                    let answer = |packet: Packet<'_>| {
                        encoder.packets().start(packet.sequence.wrapping_add(1));
                        exchange.answer(packet.payload, encoder.packets())
                    };
                    step = socket.packet(HANDSHAKE_TIMEOUT, answer).await?;
                }
            }
        }
    }
}

fn greeting(peer: &Peer, nonce: Nonce) -> Greeting {
    Greeting {
        version: VERSION.to_owned(),
        // The protocol has 32 bits for it; KILL takes the whole number that SHOW PROCESSLIST shows.
        connection_id: peer.id as u32,
        nonce,
        capabilities: Capabilities::SERVER,
        charset: CHARSET_UTF8MB4 as u8,
        status: STATUS_AUTOCOMMIT,
        plugin: OFFERED,
    }
}

fn credential(server: &Server, user: &str) -> Credential {
    match &server.settings().live.login {
        None => Credential::Anyone,
        Some(login) if login.user == user => Credential::Password(login.password.clone()),
        Some(_) => Credential::Nobody,
    }
}

async fn refuse(
    socket: &mut Socket,
    encoder: &mut Encoder,
    failure: &Failure,
) -> Result<Option<Guest>, Ended> {
    results::error(encoder, failure);
    socket.send(encoder).await.map_err(Ended::Gone)?;
    Ok(None)
}

/// The source is opened once: a connection must not fail because no file descriptor is left.
fn nonce() -> io::Result<Nonce> {
    static SOURCE: OnceLock<File> = OnceLock::new();
    let mut source = match SOURCE.get() {
        Some(source) => source,
        None => {
            let opened = File::open("/dev/urandom")?;
            SOURCE.get_or_init(|| opened)
        }
    };
    let mut random = [0; 20];
    source.read_exact(&mut random)?;
    Ok(Nonce::from_random(random))
}
