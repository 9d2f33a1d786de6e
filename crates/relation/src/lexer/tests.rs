use proptest::prelude::*;

use super::*;

fn tokens(text: &[u8]) -> Vec<(TokenKind, String)> {
    let mut lexer = Lexer::new(text);
    let mut found = Vec::new();
    loop {
        let token = lexer.next();
        if token.kind == TokenKind::End {
            return found;
        }
        found.push((
            token.kind,
            String::from_utf8_lossy(lexer.bytes(&token)).into_owned(),
        ));
    }
}

#[track_caller]
fn check(text: &str, want: &[(TokenKind, &str)]) {
    let want: Vec<_> = want
        .iter()
        .map(|(kind, bytes)| (*kind, (*bytes).to_owned()))
        .collect();
    assert_eq!(tokens(text.as_bytes()), want);
}

#[track_caller]
fn check_string(text: &str, want: &[u8]) {
    let lexer = Lexer::new(text.as_bytes());
    assert_eq!(lexer.string(lexer.peek()), want);
    assert_eq!(lexer.peek().range, 0..text.len());
}

#[test]
fn names_numbers_strings_and_symbols_are_told_apart() {
    use TokenKind::*;
    check(
        "SELECT `a b`, 1.5e-3 .5 2nd 0x1F x'4d' @@session.x<=>'it''s'",
        &[
            (Word, "SELECT"),
            (Quoted, "`a b`"),
            (Comma, ","),
            (Decimal, "1.5e-3"),
            (Decimal, ".5"),
            (Word, "2nd"),
            (Hex, "0x1F"),
            (Hex, "x'4d'"),
            (Variable, "@@session.x"),
            (NullSafeEqual, "<=>"),
            (String, "'it''s'"),
        ],
    );
    check(
        "a.b!=1;",
        &[
            (Word, "a"),
            (Dot, "."),
            (Word, "b"),
            (NotEqual, "!="),
            (Integer, "1"),
            (Semicolon, ";"),
        ],
    );
    check(
        "1e5 1e 5.",
        &[(Decimal, "1e5"), (Word, "1e"), (Decimal, "5.")],
    );
    check(
        "größe {}",
        &[(Word, "größe"), (OpenBrace, "{"), (CloseBrace, "}")],
    );
}

#[test]
fn comments_are_passed_over_and_versioned_ones_are_read() {
    use TokenKind::*;
    check(
        "a -- b\nc # d\n /* e */f",
        &[(Word, "a"), (Word, "c"), (Word, "f")],
    );
    check(
        "/*!40101 SET x */ = 1 --",
        &[(Word, "SET"), (Word, "x"), (Equal, "="), (Integer, "1")],
    );
    check(
        "1--2",
        &[(Integer, "1"), (Minus, "-"), (Minus, "-"), (Integer, "2")],
    );
    check(
        "a /* b",
        &[(Word, "a"), (Invalid("unclosed comment"), "/* b")],
    );
    check("/*! a", &[(Word, "a"), (Invalid("unclosed comment"), "")]);
}

#[test]
fn strings_undo_their_escapes() {
    check_string(r"'a\'b''c\n\0\%\_\q\\'", b"a'b'c\n\0\\%\\_q\\");
    check_string(r#""it's ""so""""#, b"it's \"so\"");
    check_string("x'00fF'", &[0, 255]);
    check_string("0x1FF", &[1, 255]);
    check_string("''", b"");
}

#[test]
fn names_undo_their_backticks() {
    let lexer = Lexer::new(b"`a``b`");
    assert_eq!(lexer.name(lexer.peek()).unwrap(), "a`b");
    let lexer = Lexer::new(b"12");
    assert!(lexer.name(lexer.peek()).is_err());
}

#[test]
fn what_is_never_closed_is_invalid() {
    for (text, why) in [
        ("'a", "unclosed string"),
        ("'a\\'", "unclosed string"),
        ("`a", "unclosed backtick"),
        ("@", "a name must follow @"),
        ("x'4'", "malformed hexadecimal string"),
        ("1.5x", "malformed number"),
        ("\u{1}", "unexpected character"),
    ] {
        let lexer = Lexer::new(text.as_bytes());
        assert_eq!(lexer.peek().kind, TokenKind::Invalid(why), "{text}");
        assert_eq!(lexer.unexpected("a name").message, why);
    }
}

#[test]
fn messages_name_what_was_found() {
    let mut lexer = Lexer::new(b"FROM t");
    assert_eq!(
        lexer.unexpected("a value").to_string(),
        "expected a value, found 'FROM' at byte 0"
    );
    assert!(lexer.take_word("from") && !lexer.take_word("from"));
    assert!(lexer.take(TokenKind::Word));
    assert_eq!(
        lexer.unexpected("a value").to_string(),
        "expected a value, found the end at byte 6"
    );
}

/// A string token that means these bytes.
fn escaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => out.extend(b"''"),
            b'\\' => out.extend(b"\\\\"),
            0 => out.extend(b"\\0"),
            other => out.push(*other),
        }
    }
    out.push(b'\'');
    out
}

proptest! {
    #[test]
    fn any_bytes_end_and_tokens_rise(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut lexer = Lexer::new(&bytes);
        let mut end = 0;
        loop {
            let token = lexer.next();
            prop_assert!(token.range.start >= end && token.range.end <= bytes.len());
            end = token.range.end;
            if token.kind == TokenKind::End {
                break;
            }
        }
    }

    #[test]
    fn bytes_written_as_a_string_come_back(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let text = escaped(&bytes);
        let lexer = Lexer::new(&text);
        prop_assert_eq!(lexer.peek().range.clone(), 0..text.len());
        prop_assert_eq!(lexer.string(lexer.peek()), bytes);
    }
}
