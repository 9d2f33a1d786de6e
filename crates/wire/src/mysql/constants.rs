//! Numbers of the protocol, under the names of MySQL's manual.

use std::ops::BitOr;

/// A set of `CLIENT_…` flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(pub u32);

impl Capabilities {
    /// Also tells MariaDB's clients that this is no MariaDB server.
    pub const LONG_PASSWORD: Self = Self(1);
    /// Affected rows count rows found rather than rows changed.
    pub const FOUND_ROWS: Self = Self(1 << 1);
    /// Long column flags.
    pub const LONG_FLAG: Self = Self(1 << 2);
    /// The handshake response names a database.
    pub const CONNECT_WITH_DB: Self = Self(1 << 3);
    /// 4.1 protocol; required.
    pub const PROTOCOL_41: Self = Self(1 << 9);
    /// The client is a person at a terminal.
    pub const INTERACTIVE: Self = Self(1 << 10);
    /// TLS; never offered.
    pub const SSL: Self = Self(1 << 11);
    /// Status flags tell of transactions.
    pub const TRANSACTIONS: Self = Self(1 << 13);
    /// Passwords of 4.1 and later.
    pub const SECURE_CONNECTION: Self = Self(1 << 15);
    /// `a; b` in one command.
    pub const MULTI_STATEMENTS: Self = Self(1 << 16);
    /// Several result sets in one reply.
    pub const MULTI_RESULTS: Self = Self(1 << 17);
    /// Both sides name their authentication plugin.
    pub const PLUGIN_AUTH: Self = Self(1 << 19);
    /// Connect attributes.
    pub const CONNECT_ATTRS: Self = Self(1 << 20);
    /// The authentication data's length is length-encoded.
    pub const PLUGIN_AUTH_LENENC: Self = Self(1 << 21);
    /// No EOF packet after column definitions; an OK packet ends the rows.
    pub const DEPRECATE_EOF: Self = Self(1 << 24);

    /// The flags that our server offers.
    pub const SERVER: Self = Self(
        Self::LONG_PASSWORD.0
            | Self::FOUND_ROWS.0
            | Self::LONG_FLAG.0
            | Self::CONNECT_WITH_DB.0
            | Self::PROTOCOL_41.0
            | Self::INTERACTIVE.0
            | Self::TRANSACTIONS.0
            | Self::SECURE_CONNECTION.0
            | Self::MULTI_STATEMENTS.0
            | Self::MULTI_RESULTS.0
            | Self::PLUGIN_AUTH.0
            | Self::CONNECT_ATTRS.0
            | Self::PLUGIN_AUTH_LENENC.0
            | Self::DEPRECATE_EOF.0,
    );

    /// The flags that our client asks for, of those that the server offers.
    pub const CLIENT: Self = Self(
        Self::LONG_PASSWORD.0
            | Self::LONG_FLAG.0
            | Self::PROTOCOL_41.0
            | Self::TRANSACTIONS.0
            | Self::SECURE_CONNECTION.0
            | Self::MULTI_STATEMENTS.0
            | Self::MULTI_RESULTS.0
            | Self::PLUGIN_AUTH.0
            | Self::PLUGIN_AUTH_LENENC.0
            | Self::DEPRECATE_EOF.0,
    );

    /// Whether every flag of `other` is set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags that both have.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Capabilities {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Status flag: a transaction is open. Without it drivers do not send COMMIT and ROLLBACK, or refuse to begin.
pub const STATUS_IN_TRANSACTION: u16 = 1;
/// Status flag: each statement commits itself.
pub const STATUS_AUTOCOMMIT: u16 = 2;
/// Status flag: another result set follows this one.
pub const STATUS_MORE_RESULTS: u16 = 8;

/// Collation `utf8mb4_general_ci`, which every client knows.
pub const CHARSET_UTF8MB4: u16 = 45;
/// Collation `binary`, of bytes and of all numbers.
pub const CHARSET_BINARY: u16 = 63;

/// First byte of an OK packet.
pub(super) const OK: u8 = 0x00;
/// First byte of more authentication data.
pub(super) const AUTH_MORE: u8 = 0x01;
/// `caching_sha2_password`: the scramble was right.
pub(super) const FAST_AUTH_SUCCESS: u8 = 0x03;
/// `caching_sha2_password`: the password itself is wanted.
pub(super) const FULL_AUTH: u8 = 0x04;
/// A NULL cell of a text row.
pub(super) const NULL_CELL: u8 = 0xfb;
/// First byte of an EOF packet and of an authentication switch.
pub(super) const EOF: u8 = 0xfe;
/// First byte of an error.
pub(super) const ERR: u8 = 0xff;
