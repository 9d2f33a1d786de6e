use super::*;

const NOW: Arrival = Arrival {
    unix_s: 1_795_474_800,
    utc_offset_s: 0,
};

fn whole(bytes: &[u8]) -> Frame<'_> {
    Frame {
        bytes,
        is_begin: true,
        is_end: true,
    }
}

/// Category, host and body of each message.
fn said(batch: &Batch) -> Vec<(String, String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = batch.messages();
    said.map(|one| (text(one.category), one.host.to_owned(), text(one.body)))
        .collect()
}

fn wanted(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    let own = |(a, b, c): &(&str, &str, &str)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned());
    rows.iter().map(own).collect()
}

#[test]
fn a_message_goes_to_the_category_of_its_program_and_without_a_clean_one_to_syslog() {
    let mut batch = Batch::default();
    batch.begin(1 << 16, "192.0.2.7");
    for message in [
        &b"<34>Oct 11 22:14:15 db su[7]: no"[..],
        b"<34>Oct 11 22:14:15 db su[7]: no\n\n",
        b"<13>up",
        b"<22>postfix/smtpd[9]: x",
        b"<22>../../etc/passwd: x",
        b"<22>/etc: x",
        b"<22>..: x",
        b"<13>",
        b"\n",
        b"<13>\xff\0: x",
    ] {
        batch.push(whole(message), NOW, &CategoryBy::Program);
    }
    let rows = [
        ("su", "db", "Oct 11 22:14:15 db su[7]: no\n"),
        ("su", "db", "Oct 11 22:14:15 db su[7]: no\n"),
        ("syslog", "192.0.2.7", "up\n"),
        ("postfix/smtpd", "192.0.2.7", "postfix/smtpd[9]: x\n"),
        ("syslog", "192.0.2.7", "../../etc/passwd: x\n"),
        ("syslog", "192.0.2.7", "/etc: x\n"),
        ("syslog", "192.0.2.7", "..: x\n"),
        ("syslog", "192.0.2.7", "\u{fffd}\0: x\n"),
    ];
    assert_eq!(said(&batch), wanted(&rows));
    let times: Vec<i64> = batch.messages().map(|one| one.unix_s).collect();
    assert_eq!(times[..3], [1_791_756_855, 1_791_756_855, NOW.unix_s]);
    let bytes: usize = batch
        .messages()
        .map(|one| one.category.len() + one.body.len())
        .sum();
    assert_eq!((batch.text_bytes(), batch.counts()), (bytes, (8, 0)));
}

#[test]
fn a_facility_or_one_name_may_be_the_category() {
    let mut batch = Batch::default();
    batch.begin(1 << 16, "h");
    batch.push(whole(b"<22>su: x"), NOW, &CategoryBy::Facility);
    batch.push(whole(b"su: x"), NOW, &CategoryBy::Facility);
    batch.push(
        whole(b"<22>su: x"),
        NOW,
        &CategoryBy::Name("all".to_owned()),
    );
    let rows = [
        ("mail", "h", "su: x\n"),
        ("user", "h", "su: x\n"),
        ("all", "h", "su: x\n"),
    ];
    assert_eq!(said(&batch), wanted(&rows));
}

#[test]
fn the_pieces_of_a_message_stay_together_over_batches_and_hold_every_byte() {
    let mut batch = Batch::default();
    let piece = |bytes, is_begin, is_end| Frame {
        bytes,
        is_begin,
        is_end,
    };
    let by = CategoryBy::Program;
    batch.begin(1 << 16, "h");
    batch.push(
        piece(b"<13>Oct 11 22:14:15 db su: a\n", true, false),
        NOW,
        &by,
    );
    assert_eq!(batch.counts(), (1, 1));
    let rows = [("su", "db", "Oct 11 22:14:15 db su: a\n\n")];
    assert_eq!(said(&batch), wanted(&rows));
    batch.begin(1 << 16, "h");
    batch.push(
        piece(b"<14>Oct 11 22:14:15 web cron: b", false, false),
        NOW,
        &by,
    );
    batch.push(piece(b"c\n", false, true), NOW, &by);
    batch.push(whole(b"<13>cron: d"), NOW, &by);
    let rows = [
        ("su", "db", "<14>Oct 11 22:14:15 web cron: b\n"),
        ("su", "db", "c\n"),
        ("cron", "h", "cron: d\n"),
    ];
    assert_eq!(said(&batch), wanted(&rows));
    assert_eq!(batch.counts(), (1, 2));
    let first = batch.messages().next().unwrap();
    assert_eq!(first.unix_s, 1_791_756_855);
}

#[test]
fn a_batch_is_full_by_lines_and_by_bytes_and_holds_what_it_says() {
    let mut batch = Batch::default();
    for message in [&b"x"[..], &[b'x'; 3_000], b"<1>Oct 11 22:14:15 hh pp:"] {
        batch.begin(16 << 10, "h");
        let mut count = 0;
        while !batch.is_full() {
            batch.push(whole(message), NOW, &CategoryBy::Program);
            count += 1;
        }
        assert!(count <= 256 && count * (message.len() + 1) <= (16 << 10) + 3_001);
        let held = batch.bodies.capacity() + batch.names.capacity() + 32 * batch.lines.capacity();
        assert!(held <= Batch::held_bytes(16 << 10), "{held}");
    }
    assert_eq!(size_of::<Line>(), 32);
    batch.begin(0, "");
    let held = batch.bodies.capacity() + batch.lines.capacity();
    assert_eq!(held, 0);
}
