//! Options by name: defaults, and what is refused.

use super::{DEFAULT_MODELS, DEFAULT_SHARES, DEFAULT_WINDOW, Form, SETTINGS, Setting, Settings};

fn set(settings: &mut Settings, name: &str, value: &str) -> Result<(), String> {
    let row = Setting::find(name).unwrap();
    settings.set(row.setting, &[value.to_owned()])
}

#[test]
fn the_written_defaults_are_those_of_no_option() {
    let mut settings = Settings::default();
    let written = [
        ("model", DEFAULT_MODELS),
        ("position_shares", DEFAULT_SHARES),
        ("window", DEFAULT_WINDOW),
        ("single_order", "0"),
    ];
    for (name, value) in written {
        set(&mut settings, name, value).unwrap();
    }
    assert_eq!(
        format!("{settings:?}"),
        format!("{:?}", Settings::default())
    );
    assert_eq!(settings.half_life_ms(), 45 * 6 * 60 * 60 * 1_000);
}

#[test]
fn each_row_of_the_register_changes_the_settings() {
    let values = [
        "all",
        "30,30,40",
        "source",
        "Direct",
        "7",
        "2.5",
        "2024-06-01",
        "2024-06-30 12:00",
        "1",
        "Direct",
        "EUR",
    ];
    for (row, value) in SETTINGS.iter().zip(values) {
        let mut settings = Settings::default();
        set(&mut settings, row.name, value).unwrap();
        assert_ne!(
            format!("{settings:?}"),
            format!("{:?}", Settings::default()),
            "{}",
            row.name
        );
    }
}

#[test]
fn a_bad_value_is_refused_in_words() {
    let refused = [
        (
            "model",
            "first,middle",
            "middle is no model: there are first, last, ",
        ),
        ("position_shares", "50,50,50", "100 together"),
        ("position_shares", "40,20,39.999,1", "two digits"),
        ("window", "0", "above 0"),
        ("window", "36526", "at most 36525"),
        ("half_life", "-1", "above 0"),
        ("from", "yesterday", "2007-06-29"),
        ("single_order", "2", "0 or 1"),
    ];
    for (name, value, message) in refused {
        let error = set(&mut Settings::default(), name, value).unwrap_err();
        assert!(error.contains(message), "{name}: {error}");
    }
    let mut settings = Settings::default();
    set(&mut settings, "from", "2024-06-02").unwrap();
    set(&mut settings, "to", "2024-06-01").unwrap();
    let error = settings.check(|name| format!("--{name}")).unwrap_err();
    assert!(error.starts_with("--to is not after --from"), "{error}");
    let none = settings.set(Setting::Direct, &[]).unwrap_err();
    assert!(none.contains("1 to 1000 names"), "{none}");
    assert_eq!(Setting::find("direct").unwrap().form, Form::Names);
}
