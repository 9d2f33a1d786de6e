use super::Login;

fn accepts(header: &str) -> bool {
    Login {
        user: "seine".to_owned(),
        password: "a:b ü".to_owned(),
    }
    .accepts_basic(header)
}

#[test]
fn basic_authentication_takes_the_login_and_nothing_else() {
    // seine:a:b ü
    assert!(accepts("Basic c2VpbmU6YTpiIMO8"));
    assert!(accepts("basic  c2VpbmU6YTpiIMO8=="));
    assert!(!accepts("Basic c2VpbmU6YTpiIMO9"));
    assert!(!accepts("Basic c2VpbmU6"));
    assert!(!accepts("Basic not*base64"));
    assert!(!accepts("Bearer c2VpbmU6YTpiIMO8"));
    assert!(!accepts("Basic"));
    assert!(!accepts(""));
}
