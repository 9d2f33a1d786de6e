use std::sync::Weak;

use super::*;

fn folder() -> PathBuf {
    let name = format!("seine-query-log-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn what_is_no_line_of_ours_stays_and_a_half_line_goes() {
    let path = folder().join("tail.log");
    for (held, left) in [
        ("", ""),
        ("[a] whole\n", "[a] whole\n"),
        ("[a] whole\n[b] half", "[a] whole\n"),
        ("/* half", ""),
        (
            "[a] whole\nnotes of somebody",
            "[a] whole\nnotes of somebody",
        ),
    ] {
        std::fs::write(&path, held).unwrap();
        LogFile::open(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), left, "{held:?}");
    }
}

#[test]
fn a_file_under_another_name_is_seen_and_a_folder_is_refused() {
    let path = folder().join("place.log");
    let file = LogFile::open(&path).unwrap();
    assert!(file.is_at(&path));
    std::fs::rename(&path, folder().join("place.old")).unwrap();
    assert!(!file.is_at(&path));
    assert!(LogFile::open(&folder()).is_err());
}

#[test]
fn lines_that_a_full_disk_refuses_are_lost_counted_and_told_by_the_next_line() {
    let full = Path::new("/dev/full");
    let file = OpenOptions::new().write(true).open(full).unwrap();
    let metadata = file.metadata().unwrap();
    let place = (metadata.dev(), metadata.ino());
    let file = Some(LogFile { file, place });
    let (log, asked) = (QueryLog::default(), Asked::default());
    let sizes = Sizes::new(Weak::new());
    let mut lines = Lines::new(full.to_owned(), Form::Json, file, sizes);
    let entry = |statement: &'static str| Entry {
        statement: Some(statement.as_bytes().into()),
        ..Entry::default()
    };
    for _ in 0..2 {
        lines.put(0, &mut entry("SELECT 1"));
        lines.put(0, &mut entry("SELECT 2"));
        lines.write(&log, &asked);
    }
    assert_eq!(log.lost(), 4);
    // There is room again: as after a rename, the file is opened anew.
    lines.path = folder().join("full.log");
    lines.put(0, &mut entry("SELECT 3"));
    lines.write(&log, &asked);
    lines.put(0, &mut entry("SELECT 4"));
    lines.write(&log, &asked);
    let written = std::fs::read_to_string(&lines.path).unwrap();
    let beginnings = ["{\"lost\":4}", "{\"time\":", "{\"time\":"];
    assert_eq!(written.lines().count(), 3, "{written}");
    for (line, beginning) in written.lines().zip(beginnings) {
        assert!(line.starts_with(beginning), "{written}");
    }
    assert_eq!(log.lost(), 4);
}
