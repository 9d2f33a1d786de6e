//! The script of pages: as it is served, and what it does with its cookie, by node where the machine has one.

use std::process::Command;

use super::setup;
use crate::server::{Server, request_with_headers};

/// Runs the script beside a document that is not there, case by case.
const CASES: &str = include_str!("cases.js");

fn script(server: &Server) -> String {
    let (status, head, script) = request_with_headers(server.http(), "GET /touch.js", "", b"");
    assert_eq!(status, 200);
    assert!(
        head.contains("content-type: text/javascript; charset=utf-8"),
        "{head}"
    );
    assert!(head.contains("cache-control: public, max-age="), "{head}");
    script
}

#[test]
fn the_script_is_served_to_pages_of_other_sites_with_the_settings_in_it() {
    let server = setup().start();
    assert!(script(&server).contains("(1 && n.globalPrivacyControl) || (0 && n.doNotTrack"));
    let headers =
        "Sec-Fetch-Site: cross-site\r\nReferer: https://shop.example/\r\nHost: t.shop.example\r\n";
    for (head, wanted) in [
        ("GET /touch.js", 200),
        ("GET /touch.js?v=2", 200),
        ("GET /touch.js?sites=all", 400),
        ("POST /touch?id=1", 400),
        ("GET /touch", 405),
    ] {
        let (status, _, body) = request_with_headers(server.http(), head, headers, b"");
        assert_eq!(status, wanted, "{head}: {body}");
    }
    let server = setup()
        .variable("SEINE_TOUCH_RESPECT_DNT", "on")
        .variable("SEINE_TOUCH_RESPECT_GPC", "off")
        .start();
    assert!(script(&server).contains("(0 && n.globalPrivacyControl) || (1 && n.doNotTrack"));
}

#[test]
fn the_cookie_is_that_of_the_old_library() {
    let server = setup().start();
    let folder = server.folder();
    let (script_path, cases_path) = (folder.path("touch.js"), folder.path("cases.js"));
    std::fs::write(&script_path, script(&server)).unwrap();
    std::fs::write(&cases_path, CASES).unwrap();
    let Ok(done) = Command::new("node")
        .args([&cases_path, &script_path])
        .output()
    else {
        eprintln!("the script's cases are left out: no node here");
        return;
    };
    let said = String::from_utf8_lossy(&done.stdout);
    let why = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}{why}");
    assert!(said.contains("cases hold"), "{said}");
}
