//! Login: greeting, response, proof of the password, OK.

use session::VERSION;
use session::errors::{self, Failure};
use session::places::Peer;
use tokio::time::timeout;
use wire::mysql::{
    Authenticator, CHARSET_UTF8MB4, Capabilities, Credential, Done, Encoder, Greeting,
    HandshakeResponse, Nonce, Packet, Plugin, STATUS_AUTOCOMMIT, Step,
};

use super::results;
use super::socket::{Ended, Socket};
use crate::limits::HANDSHAKE_TIMEOUT;
use crate::random;
use crate::server::Server;

/// Authentication plugin that the greeting names.
const OFFERED: Plugin = Plugin::CachingSha2;

/// A client that has logged in.
pub(super) struct Guest {
    /// Capabilities that both sides have.
    pub capabilities: Capabilities,
    /// The user name as given.
    pub user: String,
    /// The database that the client named.
    pub database: Option<String>,
    /// Nonce of the greeting; COM_CHANGE_USER uses it again.
    pub nonce: Nonce,
}

/// Does the login. `None`: it failed and the client was told. Errors: the client is gone, silent for
/// [`HANDSHAKE_TIMEOUT`], or does not speak the protocol.
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
    let nonce = Nonce::from_random(random::bytes().map_err(Ended::Gone)?);
    greeting(peer, nonce).encode(encoder.packets());
    socket.send(&mut encoder).await.map_err(Ended::Gone)?;

    let take = |packet: Packet<'_>| {
        (
            packet.sequence.wrapping_add(1),
            HandshakeResponse::decode(packet.payload),
        )
    };
    let (sequence, response) = socket.early_packet(take).await?;
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
    // Before the OK is sent: a client that has read it is never evicted.
    peer.owes_nothing();
    encoder.ok(&Done::default());
    socket.send(&mut encoder).await.map_err(Ended::Gone)?;
    socket.release().await;
    Ok(Some(Guest {
        capabilities: response.capabilities.common(Capabilities::SERVER),
        user: response.user,
        database: response.database,
        nonce,
    }))
}

/// A user name and the proof of its password.
pub(super) struct Login<'a> {
    /// The user name as given.
    pub user: &'a str,
    /// The plugin that made `auth`; `None`: an old client named none.
    pub plugin: Option<&'a str>,
    /// The scrambled password; empty without one.
    pub auth: &'a [u8],
    /// Nonce that `auth` was made with.
    pub nonce: Nonce,
}

impl Login<'_> {
    /// Checks the proof, with further packets if need be. The caller sends the refusal, which is the inner error. After failed
    /// logins of this address it first waits, so that guesses cost time. `again`: this is a COM_CHANGE_USER.
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
                    step = socket.early_packet(answer).await?;
                }
            }
        }
    }
}

fn greeting(peer: &Peer, nonce: Nonce) -> Greeting {
    Greeting {
        version: VERSION.to_owned(),
        // The protocol has only 32 bits for it. KILL takes the whole number, as SHOW PROCESSLIST shows it.
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
