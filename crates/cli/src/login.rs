//! The arguments that name a server and its user. `bench` has this file as a module, too.

use clap::Arg;

/// The argument for the server's address.
pub(crate) fn addr() -> Arg {
    Arg::new("addr")
        .long("addr")
        .env("SEINE_ADDR")
        .value_name("ADDR")
        .help("Address of the server's MySQL door.")
}

/// The argument for the user's name, of every verb that logs in.
pub(crate) fn user() -> Arg {
    Arg::new("user")
        .long("user")
        .env("SEINE_USER")
        .default_value("seine")
        .help("User name; the password is SEINE_PASSWORD.")
}
