//! `seine attribution`: reports over small files, their forms, and what is refused.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::server::{Folder, clean_command};

const TOUCHES: &str = "visitor,time,channel,value,order\n\
    v,2024-06-01,Search,,\n\
    v,2024-06-02,Social,,\n\
    v,2024-06-03,,10.01,1\n\
    w,2024-06-03,Search,,\n\
    w,2024-06-04,,5,2\n\
    x,2024-06-05,Social,,\n\
    x,never,Social,,\n";

const COOKIE: &str = "__ORD!3!7.50!1719652678*google!cpc!!1719652001*news!email!june!1719652000\n";

const PATHS: &str = "path,conversions,value,nulls\nSearch > Social,2,10.01,1\nSearch,1,5,0\n";

/// A folder with the three files.
fn files() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        ("touches.csv", TOUCHES),
        ("cookies.txt", COOKIE),
        ("paths.csv", PATHS),
    ] {
        std::fs::write(folder.0.join(name), text).unwrap();
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command: Command = clean_command();
    command.args(["attribution", "report"]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null());
    command.output().unwrap()
}

#[track_caller]
fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, &[&["--json"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The message of a run that ends with `status`.
#[track_caller]
fn refused(folder: &Path, arguments: &[&str], status: i32) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(status));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn each_input_has_all_its_models() {
    let folder = files();
    let touches = json(&folder.0, &["--touches", "touches.csv", "--model", "all"]);
    assert_eq!(touches["total_revenue"], 15.01);
    assert_eq!(touches["unknown_lines"], 1);
    assert_eq!(touches["unknown"][0]["line"], 8);
    let columns = [
        "first",
        "last_non_direct",
        "time_decay",
        "markov_3",
        "shapley",
    ];
    for column in columns {
        let rows = touches["revenue"].as_array().unwrap();
        let cents = |row: &Value| (row[column].as_f64().unwrap() * 100.0).round() as i64;
        let sum: i64 = rows[..rows.len() - 1].iter().map(cents).sum();
        assert_eq!(sum, 1_501, "{column}");
        assert_eq!(cents(&rows[rows.len() - 1]), 1_501);
    }
    let both = ["--touches", "touches.csv", "--ga", "cookies.txt"];
    assert_eq!(json(&folder.0, &both)["total_revenue"], 22.51);
    let paths = json(
        &folder.0,
        &["--paths", "paths.csv", "--model", "linear,markov"],
    );
    assert_eq!(paths["transactions"][0]["linear"], 2.0);
    assert_eq!(paths["markov_effects"][0]["transactions_effect"], 1.0);
}

#[test]
fn a_page_and_the_terminals_report_are_written() {
    let folder = files();
    let output = run(
        &folder.0,
        &["--touches", "touches.csv", "--html", "page.html"],
    );
    assert_eq!(output.status.code(), Some(0));
    let page = std::fs::read_to_string(folder.0.join("page.html")).unwrap();
    assert!(page.contains("Overlap of channels"));
    let output = run(&folder.0, &["--touches", "touches.csv", "--ascii"]);
    assert!(output.stdout.is_ascii());
}

/// Orders of May and June 2024. 31 May is a Friday, 3 June a Monday. The figures are counted by hand.
#[test]
fn periods_lag_overlap_and_numbers_of_touches_are_those_of_the_orders() {
    let folder = Folder::new();
    let touches = "visitor,time,channel,value,order\n\
        a,2024-05-30,Search,,\n\
        a,2024-05-31T12:00:00Z,,4.00,0\n\
        v,2024-06-01,Search,,\n\
        v,2024-06-02,Social,,\n\
        v,2024-06-03,,10.01,1\n\
        w,2024-06-03,Search,,\n\
        w,2024-06-04,,5,2\n\
        x,2024-06-05,Social,,\n";
    std::fs::write(folder.0.join("touches.csv"), touches).unwrap();
    let arguments = ["--touches", "touches.csv", "--model", "linear", "--csv"];
    let output = run(&folder.0, &arguments);
    let report = String::from_utf8(output.stdout).unwrap();
    for table in [
        "# touch_counts\ntouches,transactions,revenue\n1,2,9\n2,1,10.01\n",
        "# channel_touch_counts\nchannel,touches,transactions,revenue\nSearch,1,3,19.01\nSocial,1,1,10.01\n",
        "# overlap\nchannels,transactions,revenue,touches\n1,2,9,2\n2,1,10.01,2\n",
        "# combinations\ncombination,transactions,revenue,touches\nSearch,2,9,2\nSearch+Social,1,10.01,2\n",
        "# paths\npath,transactions,revenue,nulls\nSearch,2,9,0\nSearch > Social,1,10.01,0\nSocial,0,0,1\n",
        "# lag\ndays,transactions,revenue,share_within\n1,2,9,0.6666666666666666\n2,1,10.01,1\n",
        "# days\nday,transactions,revenue\n2024-05-31,1,4\n2024-06-03,1,10.01\n2024-06-04,1,5\n",
        "# weeks\nweek,transactions,revenue\n2024-05-27,1,4\n2024-06-03,2,15.01\n",
        "# months\nmonth,transactions,revenue\n2024-05,1,4\n2024-06,2,15.01\n",
        "# channel_days\nday,channel,linear_transactions,linear_revenue\n2024-05-31,Search,1,4\n2024-06-03,Search,0.5,5.01\n",
        "# channel_weeks\nweek,channel,linear_transactions,linear_revenue\n2024-05-27,Search,1,4\n2024-06-03,Search,1.5,10.01\n",
        "# channel_months\nmonth,channel,linear_transactions,linear_revenue\n2024-05,Search,1,4\n2024-06,Search,1.5,10.01\n",
    ] {
        assert!(report.contains(table), "{table}\nis not in\n{report}");
    }
    assert!(report.contains(
        "\n1,2024-06-03 00:00:00,10.01,2,2024-06-01 00:00:00 Search > 2024-06-02 00:00:00 Social\n"
    ));
}

#[test]
fn a_workbook_has_a_sheet_for_each_table() {
    let folder = files();
    let arguments = ["--touches", "touches.csv", "--xlsx", "report.xlsx"];
    let output = run(&folder.0, &arguments);
    assert_eq!(output.status.code(), Some(0));
    let workbook = std::fs::read(folder.0.join("report.xlsx")).unwrap();
    let said = format!("report.xlsx: {} bytes\n", workbook.len());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), said);
    assert!(workbook.starts_with(b"PK\x03\x04"));
    let sheet = b"xl/worksheets/sheet";
    let sheets = workbook.windows(sheet.len()).filter(|name| name == sheet);
    // Each is named before its bytes and in the directory: that of the title, and at least a dozen tables.
    assert!(sheets.count() > 2 * 13);
    let both = ["--html", "report", "--xlsx", "report"];
    let wrong = refused(&folder.0, &[&arguments[..2], &both].concat(), 1);
    assert!(wrong.contains("both name report"), "{wrong}");
    assert!(!folder.0.join("report").exists());
}

#[test]
fn what_an_input_or_a_model_cannot_do_is_named() {
    let folder = files();
    let paths = |more: &[&str], status| {
        refused(
            &folder.0,
            &[&["--paths", "paths.csv"], more].concat(),
            status,
        )
    };
    assert!(paths(&["--model", "time-decay"], 1).contains("time-decay needs times"));
    assert!(paths(&["--window", "3"], 1).contains("--window needs times"));
    assert!(paths(&["--model", "middle"], 2).contains("middle is no model"));
    assert!(paths(&["--position-shares", "50,50,50"], 2).contains("100 together"));
    assert!(paths(&["--touches", "touches.csv"], 2).contains("cannot be used with"));
    let touches = |more: &[&str], status| {
        refused(
            &folder.0,
            &[&["--touches", "touches.csv"], more].concat(),
            status,
        )
    };
    assert!(touches(&["--window", "0"], 2).contains("above 0"));
    assert!(touches(&["--from", "2024-06-02", "--to", "2024-06-01"], 2).contains("not after"));
    let wrong = refused(&folder.0, &["--touches", "paths.csv"], 1);
    assert!(
        wrong.contains("visitor, time, channel or source"),
        "{wrong}"
    );
    let wrong = refused(&folder.0, &["--ga", "paths.csv"], 1);
    assert!(
        wrong.contains("none of 3 lines has a known form"),
        "{wrong}"
    );
    let many: String = (0..21).map(|channel| format!("c{channel},1\n")).collect();
    std::fs::write(
        folder.0.join("many.csv"),
        format!("path,conversions\n{many}"),
    )
    .unwrap();
    let wrong = refused(&folder.0, &["--paths", "many.csv", "--model", "shapley"], 1);
    assert!(
        wrong.contains("shapley: 21 channels, and it is exact up to 20"),
        "{wrong}"
    );
    std::fs::write(folder.0.join("none.csv"), "path,conversions,nulls\na,0,1\n").unwrap();
    let wrong = refused(&folder.0, &["--paths", "none.csv", "--model", "markov"], 1);
    assert!(wrong.contains("markov: no path converts"), "{wrong}");
}
