use std::path::PathBuf;

use super::{BadSetting, CategoryBy, Key, Kind, SETTINGS, Settings, Sources};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");

/// Settings from flags, variables and the text of a file.
fn load(
    flags: &[(&str, &str)],
    variables: &[(&str, &str)],
    toml: &str,
) -> Result<Settings, BadSetting> {
    let path = scratch(toml);
    let given = |flag: &'static str| {
        let texts: Vec<String> = flags
            .iter()
            .filter(|(name, _)| *name == flag)
            .map(|(_, text)| (*text).to_owned())
            .collect();
        (!texts.is_empty()).then_some(texts)
    };
    let variable = |wanted: &str| {
        variables
            .iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, text)| (*text).to_owned())
    };
    let result = Settings::load(&Sources {
        flags: &given,
        environment: &variable,
        config: Some(&path),
    });
    std::fs::remove_file(&path).unwrap();
    result
}

fn scratch(text: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!(
        "seine-settings-{}-{number}.toml",
        std::process::id()
    ));
    std::fs::write(&path, text).unwrap();
    path
}

#[track_caller]
fn refused(toml: &str, wanted: &str) {
    let error = load(&[], &[], toml).err().unwrap().0;
    assert!(error.contains(wanted), "{error:?} should hold {wanted:?}");
    assert_eq!(error.lines().count(), 1, "{error:?}");
}

#[test]
fn the_table_stands_in_the_order_of_its_keys() {
    for (index, setting) in SETTINGS.iter().enumerate() {
        assert_eq!(setting.key as usize, index, "{}", setting.name);
        assert!(setting.environment.starts_with("SEINE_"));
        assert!(setting.help.ends_with('.'));
    }
}

#[test]
fn defaults_are_what_the_table_says() {
    let settings = load(&[], &[], "").unwrap();
    assert_eq!(settings.data, PathBuf::from("./seine-data"));
    assert_eq!(settings.mysql[0].to_string(), "127.0.0.1:9306");
    assert_eq!(settings.http[0].to_string(), "127.0.0.1:9308");
    assert_eq!(settings.journal_bytes_max, 8 << 30);
    assert_eq!(settings.live.login, None);
    assert!(settings.memory_bytes >= 64 << 20);
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let toml = "data = 'c'\nmemory = '3GiB'\nlog = 'warn'\n";
    let settings = load(
        &[("data", "a")],
        &[("SEINE_DATA", "b"), ("SEINE_MEMORY", "2GiB")],
        toml,
    )
    .unwrap();
    assert_eq!(settings.data, PathBuf::from("a"));
    assert_eq!(settings.memory_bytes, 2 << 30);
    assert_eq!(settings.live.log, "warn");
    let lines = super::lines(&settings);
    let line = |name: &str| lines.iter().find(|line| line.starts_with(name)).unwrap();
    assert!(line("data ").ends_with("# --data"));
    assert!(line("memory ").ends_with("# SEINE_MEMORY"));
    assert!(line("log ").contains(":3"), "{}", line("log "));
    assert!(line("http ").ends_with("# default"));
}

#[test]
fn several_addresses_come_from_flags_lists_and_commas() {
    let settings = load(
        &[("mysql", "127.0.0.1:1"), ("mysql", "unix:/tmp/x")],
        &[],
        "",
    )
    .unwrap();
    assert_eq!(settings.mysql.len(), 2);
    let settings = load(&[], &[("SEINE_HTTP", "127.0.0.1:1, 127.0.0.1:2")], "").unwrap();
    assert_eq!(settings.http.len(), 2);
    let settings = load(
        &[],
        &[],
        "mysql = ['127.0.0.1:1', '127.0.0.1:2', '[::1]:3']",
    )
    .unwrap();
    assert_eq!(settings.mysql.len(), 3);
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_known_key() {
    refused(
        "data = 'x'\nmysqll = 'y'",
        ":2: unknown key \"mysqll\"; did you mean \"mysql\"?",
    );
    refused("[auth]\npasword = 'y'", "did you mean \"auth.password\"?");
    refused("[nothing]\nx = 1", ":1: unknown key \"nothing\"");
    refused("[auht]\nuser = 'y'", "did you mean \"auth\"?");
    refused("data = ", ":1: ");
}

#[test]
fn a_bad_value_is_refused_with_its_place_and_an_example() {
    refused("memory = '12q'", ":1: memory: \"12q\" is not a size");
    refused("memory = '1MiB'", "less than 64MiB");
    refused("memory = '99999TiB'", "all memory of this machine");
    refused(
        "\nidle_timeout = 30",
        ":2: idle_timeout: \"30\" is not a time with its unit",
    );
    refused("connections_max = 0", "not a whole number above 0");
    refused("sync = 'sometimes'", "a time such as 100ms");
    refused("log = 'loud'", "\"loud\" is not a level");
    refused("http = '9308'", "\"9308\" is not an address");
    refused("mysql = []", "at least one address");
    refused("data = 1.5", "data wants a text");
}

#[test]
fn the_syslog_door_is_off_until_it_has_addresses_and_its_category_has_three_forms() {
    let settings = load(&[], &[], "").unwrap();
    assert!(settings.syslog.is_empty() && settings.syslog_udp.is_empty());
    assert_eq!(settings.syslog_category, CategoryBy::Program);
    let given = "syslog = ['127.0.0.1:601', 'unix:/s']\nsyslog_udp = '127.0.0.1:514'";
    let settings = load(&[], &[("SEINE_SYSLOG_CATEGORY", "=all/of it")], given).unwrap();
    assert_eq!((settings.syslog.len(), settings.syslog_udp.len()), (2, 1));
    assert_eq!(
        settings.syslog_category,
        CategoryBy::Name("all/of it".to_owned())
    );
    let several = [("SEINE_SYSLOG", "127.0.0.1:1,127.0.0.1:2")];
    assert_eq!(load(&[], &several, "").unwrap().syslog.len(), 2);
    refused(
        "syslog_udp = 'unix:/s'",
        "syslog_udp: datagrams come by UDP",
    );
    refused(
        "syslog_category = 'host'",
        "not one of: program, facility, =NAME",
    );
    for name in ["", "/x", "..", "a//b"] {
        refused(
            &format!("syslog_category = '={name}'"),
            "can be no category",
        );
    }
}

#[test]
fn an_address_beyond_this_machine_needs_a_password_or_insecure() {
    refused("mysql = '0.0.0.0:9306'", "open beyond this machine");
    refused("syslog = '0.0.0.0:601'", "open beyond this machine");
    refused("syslog_udp = '0.0.0.0:514'", "open beyond this machine");
    let guarded = "mysql = '0.0.0.0:9306'\n[auth]\npassword = 'secret'";
    let login = load(&[], &[], guarded).unwrap().live.login.unwrap();
    assert_eq!(
        (login.user.as_str(), login.password.as_str()),
        ("seine", "secret")
    );
    assert!(load(&[("insecure", "true")], &[], "mysql = '0.0.0.0:9306'").is_ok());
}

#[test]
fn the_password_comes_from_one_place_and_is_never_shown() {
    let secret = scratch("from-file\nrest");
    let path = secret.to_str().unwrap();
    let settings = load(&[], &[("SEINE_PASSWORD_FILE", path)], "").unwrap();
    assert_eq!(settings.live.login.as_ref().unwrap().password, "from-file");
    let both = load(
        &[],
        &[("SEINE_PASSWORD_FILE", path), ("SEINE_PASSWORD", "x")],
        "",
    );
    assert!(both.err().unwrap().0.contains("both set"));
    std::fs::remove_file(&secret).unwrap();
    let settings = load(&[], &[("SEINE_PASSWORD", "hush")], "").unwrap();
    assert!(!super::lines(&settings).join("\n").contains("hush"));
    assert!(!format!("{:?}", settings.live).contains("hush"));
    refused("[auth]\nuser = 'x'", "a user is set, but no password");
}

#[test]
fn a_password_that_is_set_and_blank_is_refused_and_none_is_none() {
    let names = ["SEINE_PASSWORD", "SEINE_PASSWORD_FILE"];
    for (name, blank) in names.iter().flat_map(|name| [(name, ""), (name, " \t")]) {
        let error = load(&[], &[(name, blank)], "").err().unwrap().0;
        assert!(error.starts_with(name), "{error}");
        assert!(error.contains("blank"), "{error}");
    }
    refused(
        "[auth]\npassword = ''",
        ":2: auth.password: is set and blank",
    );
    refused("[auth]\npassword = '  '", "blank");
    let file = scratch("  \nsecret");
    let path = file.to_str().unwrap().to_owned();
    let error = load(&[], &[("SEINE_PASSWORD_FILE", &path)], "");
    assert!(error.err().unwrap().0.contains("blank line"));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(load(&[], &[], "").unwrap().live.login, None);
}

#[test]
fn a_changed_setting_that_needs_a_start_is_named() {
    let old = load(&[], &[], "").unwrap();
    let new = load(&[], &[], "memory = '1GiB'\nlog = 'debug'").unwrap();
    assert_eq!(old.fixed_changes(&new), ["memory"]);
}

#[test]
fn every_line_of_the_printed_configuration_could_stand_in_the_file() {
    let settings = load(&[], &[], "").unwrap();
    let printed = super::lines(&settings).join("\n");
    let again = load(&[], &[], &printed).unwrap();
    let values = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim_start_matches("# "));
        lines
            .map(|line| line.split(" # ").next().unwrap().trim().to_owned())
            .collect()
    };
    assert_eq!(values(&super::lines(&again).join("\n")), values(&printed));
}

#[test]
fn the_document_holds_the_table_and_nothing_else() {
    let row = |setting: &super::table::Setting| {
        let flag = setting
            .flag
            .map(|flag| format!("`--{flag}`"))
            .unwrap_or_default();
        let default = match (setting.default, setting.kind) {
            ("", _) => String::new(),
            ("false", Kind::Switch) => "off".to_owned(),
            (default, _) => format!("`{default}`"),
        };
        let reload = if setting.reloads() { "yes" } else { "" };
        let range = setting.kind.range();
        let range = range.map_or_else(String::new, |(range, unit)| range.words(unit));
        format!(
            "| `{}` | {flag} | `{}` | {default} | {range} | {reload} | {} |",
            setting.name, setting.environment, setting.help
        )
    };
    let wanted: Vec<String> = SETTINGS.iter().map(row).collect();
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let written: Vec<&str> = document
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert_eq!(
        written,
        wanted,
        "docs/settings.md should hold:\n{}",
        wanted.join("\n")
    );
}

/// The least text above what a setting may be, and the largest that it may be.
fn around_most(range: super::Range, unit: super::Unit) -> (String, Option<String>) {
    let written = |value: u64| match unit {
        super::Unit::Milliseconds => format!("{value}ms"),
        super::Unit::Bytes | super::Unit::One => value.to_string(),
    };
    match range.most {
        super::Most::Value(most) => (written(most + 1), Some(written(most))),
        super::Most::Memory => ((65_u64 << 20).to_string(), Some("64MiB".to_owned())),
        super::Most::Machine => {
            let machine = super::memory::of_machine().unwrap();
            (written(machine + 1), Some(written(machine)))
        }
    }
}

#[test]
fn every_size_time_and_number_is_refused_outside_of_its_range_wherever_it_is_set() {
    let mut walked = 0;
    for setting in SETTINGS {
        let Some((range, unit)) = setting.kind.range() else {
            continue;
        };
        walked += 1;
        let memory = match setting.key {
            Key::Memory => vec![],
            _ => vec![("memory", "64MiB")],
        };
        let load = |text: &str| load(&memory, &[(setting.environment, text)], "");
        let (above, most) = around_most(range, unit);
        let huge = match unit {
            super::Unit::Bytes => "99999TiB",
            super::Unit::Milliseconds => "99999999d",
            super::Unit::One => "99999999999",
        };
        for text in [above.as_str(), huge] {
            let error = load(text)
                .err()
                .unwrap_or_else(|| panic!("{} = {text}", setting.name));
            assert!(error.0.contains("more than"), "{}", error.0);
            assert!(error.0.contains(setting.environment), "{}", error.0);
        }
        let most = most.unwrap();
        load(&most).unwrap_or_else(|error| panic!("{}: {error}", setting.name));
        if range.least > 1 {
            let below = (range.least - 1).to_string();
            assert!(load(&below).err().unwrap().0.contains("less than"));
        }
        // A default is always allowed: 0 of `query_log_min_msec`.
        assert_eq!(
            load("0").is_ok(),
            setting.default == "0",
            "{}",
            setting.name
        );
        assert!(load(&format!("{}0", u64::MAX)).is_err());
        let own = self::load(&memory, &[], "").unwrap();
        match own.with(setting.name, Some(huge)) {
            Err(super::Unsettable::Value(why)) => {
                assert!(setting.is_settable() && why.contains("more than"), "{why}");
            }
            Err(super::Unsettable::Name(_)) => assert!(!setting.is_settable()),
            Ok(_) => panic!("SET GLOBAL {} takes {huge}", setting.name),
        }
        if setting.is_settable() {
            own.with(setting.name, None).unwrap(); // the default suits any memory
        }
    }
    assert_eq!(walked, 14, "sizes, times and numbers of the table");
}

#[test]
fn the_files_with_secrets_are_the_password_file_and_a_configuration_that_has_one() {
    let secret = scratch("from-file");
    let path = secret.to_str().unwrap();
    let settings = load(&[], &[("SEINE_PASSWORD_FILE", path)], "log = 'warn'").unwrap();
    assert_eq!(settings.secret_files(), [PathBuf::from(path)]);
    std::fs::remove_file(&secret).unwrap();
    let settings = load(&[], &[], "[auth]\npassword = 'hush'").unwrap();
    assert_eq!(settings.secret_files().len(), 1);
    let settings = load(&[], &[("SEINE_PASSWORD", "hush")], "log = 'warn'").unwrap();
    assert!(settings.secret_files().is_empty());
}

#[test]
fn memory_is_bounded_by_default() {
    let half = super::memory::half_of_available();
    assert!(half > 0);
    assert_eq!(SETTINGS[Key::Memory as usize].default, "half");
}
