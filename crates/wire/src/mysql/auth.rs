//! Authentication: the two scrambles, and the server's side of the exchange.
//!
//! ```text
//! mysql_native_password    SHA1(password) xor SHA1(nonce ‖ SHA1(SHA1(password)))               20 bytes
//! caching_sha2_password    SHA256(password) xor SHA256(SHA256(SHA256(password)) ‖ nonce)       32 bytes
//! ```
//!
//! The server knows the password, so it can compute the scramble and compare. `caching_sha2_password` therefore never needs its
//! full exchange, which would need TLS or RSA: the server answers "fast authentication succeeded" or an error.

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::bytes::{Reader, put_terminated};
use super::constants::{AUTH_MORE, EOF, FAST_AUTH_SUCCESS};
use super::packet::PacketWriter;

/// Bytes of a nonce.
pub(super) const NONCE_BYTES: usize = 20;

/// Random bytes that a password is scrambled with, new for each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce([u8; NONCE_BYTES]);

impl Nonce {
    /// A nonce from random bytes. Each byte is mapped into 1 ..= 127, because clients cut the nonce at a zero byte.
    #[must_use]
    pub fn from_random(mut random: [u8; NONCE_BYTES]) -> Self {
        for byte in &mut random {
            *byte = (*byte & 0x7f).max(1);
        }
        Nonce(random)
    }

    pub(super) fn received(bytes: [u8; NONCE_BYTES]) -> Self {
        Nonce(bytes)
    }

    /// The 20 bytes of the nonce.
    #[must_use]
    pub fn bytes(&self) -> &[u8; NONCE_BYTES] {
        &self.0
    }
}

/// A method of proving a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// `caching_sha2_password`, the default of MySQL 8.
    CachingSha2,
    /// `mysql_native_password`, the default of MariaDB and of older clients.
    Native,
}

impl Plugin {
    /// The plugin's name in packets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => "caching_sha2_password",
            Plugin::Native => "mysql_native_password",
        }
    }

    /// The plugin of that name.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        [Plugin::CachingSha2, Plugin::Native]
            .into_iter()
            .find(|plugin| plugin.name().as_bytes() == name)
    }

    /// The scramble by which a client proves `password`; empty for an empty password.
    #[must_use]
    pub fn scramble(self, password: &[u8], nonce: &Nonce) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        match self {
            Plugin::Native => {
                let once = Sha1::digest(password);
                let twice = Sha1::digest(once);
                let mask = Sha1::new()
                    .chain_update(nonce.bytes())
                    .chain_update(twice)
                    .finalize();
                exclusive_or(&once, &mask)
            }
            Plugin::CachingSha2 => {
                let once = Sha256::digest(password);
                let twice = Sha256::digest(once);
                let mask = Sha256::new()
                    .chain_update(twice)
                    .chain_update(nonce.bytes())
                    .finalize();
                exclusive_or(&once, &mask)
            }
        }
    }
}

fn exclusive_or(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left ^ right)
        .collect()
}

/// Compares scrambles in a time that does not depend on where they differ.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .fold(0, |difference, (left, right)| difference | (left ^ right))
            == 0
}

/// The password that a user must prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Any password passes.
    Anyone,
    /// This password. If it is empty, only an empty password passes.
    Password(String),
    /// No password passes: the user is unknown. The exchange is that of a wrong password.
    Nobody,
}

/// Next step of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send the written packets, read the client's next packet, give it to [`Authenticator::answer`].
    Read,
    /// The password is proved: send the written packets, and an OK packet behind them.
    Welcome,
    /// The password is wrong: answer error 1045.
    Denied {
        /// Whether the client gave a password; the error message says so.
        password_given: bool,
    },
}

/// The server's side of one exchange.
#[derive(Clone, Debug)]
pub struct Authenticator {
    nonce: Nonce,
    credential: Credential,
    plugin: Plugin,
}

impl Authenticator {
    /// An exchange with the plugin that the client named, if it is known here, else with `offered`. Also gives the named plugin.
    fn new(
        nonce: Nonce,
        offered: Plugin,
        credential: Credential,
        named: Option<&str>,
    ) -> (Self, Option<Plugin>) {
        let plugin = named_or_native(named);
        let authenticator = Authenticator {
            nonce,
            credential,
            plugin: plugin.unwrap_or(offered),
        };
        (authenticator, plugin)
    }

    /// Begins a login with the data of the handshake response. `offered` is the greeting's plugin, `named` the response's.
    ///
    /// Writes to `packets` the packets to send before the next step.
    pub fn begin(
        nonce: Nonce,
        offered: Plugin,
        credential: Credential,
        named: Option<&str>,
        auth: &[u8],
        packets: &mut PacketWriter,
    ) -> (Self, Step) {
        let (authenticator, plugin) = Authenticator::new(nonce, offered, credential, named);
        // A client with another plugin than the greeting's may not have sent its proof: it waits for a switch.
        let scrambled = plugin.is_some() && auth.len() > 1;
        let step = if plugin == Some(offered) || scrambled && authenticator.proves(auth) {
            authenticator.verify(auth, packets)
        } else {
            authenticator.switch(packets)
        };
        (authenticator, step)
    }

    /// Begins a COM_CHANGE_USER, with the nonce of the connection's greeting.
    ///
    /// Clients differ in the data that they send here. All of them answer a switch, so any doubt leads to one.
    pub fn change_user(
        nonce: Nonce,
        offered: Plugin,
        credential: Credential,
        named: Option<&str>,
        auth: &[u8],
        packets: &mut PacketWriter,
    ) -> (Self, Step) {
        let (authenticator, plugin) = Authenticator::new(nonce, offered, credential, named);
        let step = if plugin.is_some() && auth.len() > 1 && authenticator.proves(auth) {
            authenticator.verify(auth, packets)
        } else {
            authenticator.switch(packets)
        };
        (authenticator, step)
    }

    /// Takes the client's answer to a switch.
    pub fn answer(&self, payload: &[u8], packets: &mut PacketWriter) -> Step {
        self.verify(payload, packets)
    }

    /// Asks the client for a new scramble: AuthSwitchRequest.
    fn switch(&self, packets: &mut PacketWriter) -> Step {
        let out = packets.begin();
        out.push(EOF);
        put_terminated(out, self.plugin.name().as_bytes());
        put_terminated(out, self.nonce.bytes());
        packets.end();
        Step::Read
    }

    fn proves(&self, auth: &[u8]) -> bool {
        match &self.credential {
            Credential::Anyone => true,
            Credential::Nobody => false,
            Credential::Password(password) => same(
                auth,
                &self.plugin.scramble(password.as_bytes(), &self.nonce),
            ),
        }
    }

    fn verify(&self, auth: &[u8], packets: &mut PacketWriter) -> Step {
        // Some clients send a single zero byte for "no password".
        let auth = if auth == [0] { &[] } else { auth };
        let password_given = !auth.is_empty();
        if !self.proves(auth) {
            return Step::Denied { password_given };
        }
        if password_given && self.plugin == Plugin::CachingSha2 {
            packets
                .begin()
                .extend_from_slice(&[AUTH_MORE, FAST_AUTH_SUCCESS]);
            packets.end();
        }
        Step::Welcome
    }
}

/// The plugin of that name, if it is known. A client that names none is older than plugins and scrambles natively.
fn named_or_native(named: Option<&str>) -> Option<Plugin> {
    named.map_or(Some(Plugin::Native), |name| Plugin::named(name.as_bytes()))
}

/// Plugin and nonce of an AuthSwitchRequest, for a client. `None`: an unknown plugin, or too few bytes.
pub(super) fn read_switch(payload: &[u8]) -> Option<(Plugin, Nonce)> {
    let mut reader = Reader::new(payload);
    reader.u8("header").ok()?;
    let plugin = Plugin::named(reader.terminated())?;
    let nonce = reader.take(NONCE_BYTES, "nonce").ok()?;
    Some((plugin, Nonce(nonce.try_into().ok()?)))
}
