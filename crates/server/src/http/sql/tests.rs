use std::time::Duration;

use super::{SqlRequest, parameter};
use session::Budget;

#[track_caller]
fn check(body: &str, text: &str, raw: bool) {
    let held = Budget::new(1 << 20, Duration::ZERO).grant();
    let request = SqlRequest::read(body.as_bytes().to_vec(), held).unwrap();
    assert_eq!(
        (
            String::from_utf8(request.text).unwrap().as_str(),
            request.raw
        ),
        (text, raw)
    );
}

#[test]
fn a_form_is_told_from_a_statement_by_its_beginning() {
    check("SHOW TABLES", "SHOW TABLES", false);
    check(
        "SELECT * FROM t WHERE a=1&b",
        "SELECT * FROM t WHERE a=1&b",
        false,
    );
    check("query=SHOW+TABLES", "SHOW TABLES", false);
    check("mode=raw&query=SELECT%201%2B1", "SELECT 1+1", true);
    check("query=SELECT '100%'&mode=raw", "SELECT '100%'", true);
    check("raw_response=true&query=SHOW+TABLES", "SHOW TABLES", true);
    check("query=SELECT+1&raw_response=false", "SELECT 1", false);
}

#[test]
fn a_form_with_a_member_that_nothing_reads_is_refused() {
    let held = Budget::new(1 << 20, Duration::ZERO).grant();
    // An ampersand of the statement that is not escaped would cut it.
    let body = b"query=SELECT+1+WHERE+1&2".to_vec();
    let refused = SqlRequest::read(body, held).map(|_| ()).unwrap_err();
    let message = "unknown parameter '2', expected mode, raw_response, query";
    assert_eq!(refused.message, message);
}

#[test]
fn a_missing_parameter_is_none() {
    assert_eq!(parameter(b"a=1&b", "b"), None);
    assert_eq!(parameter(b"", "mode"), None);
}
