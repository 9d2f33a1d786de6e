//! The command line. The flags of `serve` and `config` are made from the table of settings.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command};

use server::settings::{BadSetting, Kind, SETTINGS, Settings, Sources};

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("seine")
        .about("One server for text in motion and text at rest.")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(with_settings(
            Command::new("serve").about("Run the server."),
        ))
        .subcommand(with_settings(
            Command::new("config").about("Print each setting and where its value came from."),
        ))
        .subcommand(crate::sql_client::command())
        .subcommand(crate::load_command::command())
        .subcommand(crate::log_command::command())
        .subcommand(crate::attribution_command::command())
        .subcommand(crate::match_command::command())
        .subcommand(crate::bench_command::command())
        .subcommand(crate::check_command::command())
        .subcommand(crate::dump_command::command())
        .subcommand(crate::repair_command::command())
        .subcommand(crate::restore_command::command())
        .subcommand(crate::cat_command::command())
        .subcommand(crate::ctl_command::command())
        .subcommand(crate::tail_command::command())
        .subcommand(
            crate::demo::Options::augment_args(Command::new("demo"))
                .about("Show the whole product in ten seconds, with real text."),
        )
}

/// Reads the settings of `serve` or `config` from all sources.
pub(crate) fn settings(matches: &ArgMatches) -> Result<Settings, BadSetting> {
    let config = matches.get_one::<String>("config").map(PathBuf::from);
    let flags = |flag: &'static str| {
        let is_switch = SETTINGS
            .iter()
            .any(|setting| setting.flag == Some(flag) && setting.kind == Kind::Switch);
        if is_switch {
            return matches.get_flag(flag).then(|| vec!["true".to_owned()]);
        }
        matches
            .get_many::<String>(flag)
            .map(|texts| texts.cloned().collect())
    };
    Settings::load(&Sources {
        flags: &flags,
        environment: &|name| std::env::var(name).ok(),
        config: config.as_deref(),
    })
}

fn with_settings(command: Command) -> Command {
    let config = Arg::new("config")
        .long("config")
        .value_name("FILE")
        .help("Configuration file; else ./seine.toml, else /etc/seine/seine.toml.");
    SETTINGS
        .iter()
        .fold(command.arg(config), |command, setting| match setting.flag {
            Some(flag) => command.arg(argument(flag, setting.kind, setting.help, setting.default)),
            None => command,
        })
}

fn argument(flag: &'static str, kind: Kind, help: &'static str, default: &'static str) -> Arg {
    let help = if default.is_empty() || kind == Kind::Switch {
        help.to_owned()
    } else {
        format!("{help} [default: {default}]")
    };
    let argument = Arg::new(flag).long(flag).help(help);
    match kind {
        Kind::Switch => argument.action(ArgAction::SetTrue),
        Kind::Addresses => argument.action(ArgAction::Append).value_name("ADDR"),
        Kind::Address => argument.value_name("ADDR"),
        Kind::Path if flag == "data" => argument.value_name("DIR"),
        Kind::Path => argument.value_name("FILE"),
        Kind::Size(_) => argument.value_name("SIZE"),
        Kind::Sync(_) => argument.value_name("MODE"),
        Kind::Word(_) => argument.value_name("WORD"),
        Kind::Duration(_) | Kind::Count(_) | Kind::Text | Kind::LogFilter => {
            argument.value_name("VALUE")
        }
    }
}
