//! Names, bytes and rotation of `file` stores, variable by variable.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk};
use proptest::prelude::*;

use super::{at, file, listing, memory, messages, read, surroundings, web, write};
use crate::config::{FileConfig, RotatePeriod};
use crate::message::{Message, Now};
use crate::store::{Written, build};

/// The folder after two batches, with a change of the configuration.
fn after_two_batches(change: impl FnOnce(&mut FileConfig)) -> Vec<String> {
    let disk = memory();
    let mut store = web(&disk, &file(change));
    write(&mut *store, &["one", "two"], at(12, 0));
    write(&mut *store, &["three"], at(12, 1));
    store.sync().unwrap();
    listing(&*disk, "log")
}

#[test]
fn a_file_is_named_after_the_category_and_a_link_leads_to_it() {
    let want = ["web_00000: onetwothree", "web_current: onetwothree"];
    assert_eq!(after_two_batches(|_| ()), want);
}

#[test]
fn names_of_the_configuration_replace_the_category() {
    let listed = after_two_batches(|config| {
        config.base.base_filename = Some("all".to_owned());
        config.base.base_symlink_name = Some("newest".to_owned());
    });
    assert_eq!(
        listed,
        ["all_00000: onetwothree", "newest_current: onetwothree"]
    );
}

#[test]
fn a_folder_of_another_category_where_the_next_file_goes_is_passed_over() {
    let disk = memory();
    disk.create_dir("log/web_00007").unwrap();
    let mut store = web(&disk, &file(|_| ()));
    write(&mut *store, &["one"], at(12, 0));
    store.sync().unwrap();
    assert_eq!(read(&*disk, "log/web_00008"), b"one");
    let mut store = web(&disk, &file(|_| ()));
    write(&mut *store, &["two"], at(12, 1));
    store.sync().unwrap();
    assert_eq!(read(&*disk, "log/web_00008"), b"onetwo");
}

#[test]
fn a_link_where_the_next_file_goes_is_passed_over_and_its_target_is_not_touched() {
    let disk = memory();
    disk.create_dir("log").unwrap();
    disk.create("log/precious")
        .unwrap()
        .write_at(0, b"kept")
        .unwrap();
    disk.symlink("precious", "log/web_00000").unwrap();
    disk.symlink("nothing", "log/web_00003").unwrap();
    let mut store = web(&disk, &file(|_| ()));
    write(&mut *store, &["one"], at(12, 0));
    store.sync().unwrap();
    assert_eq!(read(&*disk, "log/web_00004"), b"one");
    assert_eq!(
        read(&*disk, "log/web_current"),
        b"one",
        "a link of the store's own"
    );
    disk.remove("log/web_00004").unwrap();
    disk.symlink("precious", "log/web_00004").unwrap(); // while the store has the file
    store.look(at(12, 1));
    write(&mut *store, &["two"], at(12, 2));
    store.sync().unwrap();
    assert_eq!(read(&*disk, "log/web_00005"), b"two");
    assert_eq!(read(&*disk, "log/precious"), b"kept");
    assert!(!disk.exists("log/nothing").unwrap());
    assert_eq!(store.status(), None);
}

#[test]
fn newlines_and_categories_stand_around_messages() {
    let listed = after_two_batches(|config| {
        config.add_newlines = true;
        config.base.write_category = true;
        config.base.create_symlink = false;
    });
    assert_eq!(listed, ["web_00000: web\none\nweb\ntwo\nweb\nthree\n"]);
}

#[test]
fn sub_directories_lie_below_the_path_and_the_host_name_goes_first() {
    let plain = |config: &mut FileConfig| {
        config.base.create_symlink = false;
        config.base.sub_directory = "sub".to_owned();
    };
    assert_eq!(after_two_batches(plain), ["sub/web_00000: onetwothree"]);
    let listed = after_two_batches(|config| {
        plain(config);
        config.base.use_hostname_sub_directory = true;
    });
    assert_eq!(listed, ["box/web_00000: onetwothree"]);
}

#[test]
fn a_file_ends_behind_the_message_that_makes_it_too_long() {
    let listed = after_two_batches(|config| {
        config.base.max_size = 4;
        config.add_newlines = true;
    });
    let want = [
        "web_00000: one\ntwo\n",
        "web_00001: three\n",
        "web_00002: ",
        "web_current: ",
    ];
    assert_eq!(listed, want);
}

#[test]
fn a_file_without_a_bound_never_ends() {
    let listed = after_two_batches(|config| config.base.max_size = 0);
    assert_eq!(listed[0], "web_00000: onetwothree");
}

#[test]
fn the_end_of_a_file_names_the_next_one_and_is_noted_in_the_statistics() {
    let listed = after_two_batches(|config| {
        config.base.max_size = 8;
        config.base.write_meta = true;
        config.base.write_stats = true;
        config.base.create_symlink = false;
        config.add_newlines = true;
    });
    let want = [
        "scribe_stats: 2026-11-23-12:01 wrote <14> bytes in <3> events to file </log/web_00000>\n",
        "web_00000: one\ntwo\nthree\nscribe_meta<new_logfile>: /log/web_00001\n",
        "web_00001: ",
    ];
    assert_eq!(listed, want);
}

#[test]
fn a_chunk_is_filled_by_the_place_in_the_file_not_in_the_batch() {
    let listed = after_two_batches(|config| {
        config.base.chunk_size = 8;
        config.base.create_symlink = false;
    });
    assert_eq!(listed, ["web_00000: onetwo~~three"]);
    let longer = after_two_batches(|config| {
        config.base.chunk_size = 3;
        config.base.create_symlink = false;
    });
    assert_eq!(longer, ["web_00000: onetwothree"], "no chunk is left empty");
}

#[test]
fn a_batch_is_one_write_unless_its_size_is_bounded() {
    for (max_write_size, writes) in [(1_000_000, 1), (2, 3), (4, 2)] {
        let disk = FaultDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut store = web(
            &shared,
            &file(|config| config.base.max_write_size = max_write_size),
        );
        write(&mut *store, &["one", "two", "three"], at(12, 0));
        assert_eq!(
            disk.count(Call::Write),
            writes,
            "max_write_size={max_write_size}"
        );
        assert_eq!(read(&disk, "log/web_00000"), b"onetwothree");
    }
}

#[test]
fn the_newest_file_is_opened_again_unless_rotate_on_reopen_forbids() {
    let disk = memory();
    for (body, rotate_on_reopen) in [("one", false), ("two", false), ("three", true)] {
        let config = file(|config| config.base.rotate_on_reopen = rotate_on_reopen);
        let mut store = web(&disk, &config);
        write(&mut *store, &[body], at(12, 0));
        store.close(at(12, 0));
    }
    let want = [
        "web_00000: onetwo",
        "web_00001: three",
        "web_current: three",
    ];
    assert_eq!(listing(&*disk, "log"), want);
}

#[test]
fn half_a_message_that_a_crash_left_ends_before_the_next_only_with_add_newlines() {
    for (add_newlines, want) in [(true, "one\ntw\ntwo\n"), (false, "one\ntwtwo")] {
        let disk = memory();
        disk.create_dir("log").unwrap();
        let left = disk.create("log/web_00000").unwrap();
        left.write_at(0, b"one\ntw").unwrap();
        for body in [None, Some("two")] {
            let mut store = web(&disk, &file(|config| config.add_newlines = add_newlines));
            store.open(at(12, 0)).unwrap();
            if let Some(body) = body {
                write(&mut *store, &[body], at(12, 0));
            }
        }
        assert_eq!(read(&*disk, "log/web_00000"), want.as_bytes());
    }
}

#[test]
fn names_that_only_look_like_files_of_the_store_are_left_alone() {
    let disk = memory();
    disk.create_dir("log").unwrap();
    for name in [
        "web_00009.gz",
        "web_7",
        "web_00004_00008",
        "webcam_00006",
        "web_+0005",
    ] {
        disk.create(&format!("log/{name}")).unwrap();
    }
    write(&mut *web(&disk, &file(|_| ())), &["one"], at(12, 0));
    assert_eq!(read(&*disk, "log/web_00000"), b"one");
}

#[test]
fn a_copy_of_a_model_has_a_folder_of_its_category() {
    let disk = memory();
    let config = file(|config| {
        config.base.base_filename = Some("ignored".to_owned());
        config.base.sub_directory = "sub".to_owned();
        config.base.create_symlink = false;
    });
    for (category, want) in [
        (&b"web"[..], "web/sub/web_00000: x"),
        (b"team/app", "team/app/sub/team/app_00000: x"),
        (b"caf\xe9", "hex-636166e9/sub/hex-636166e9_00000: x"),
        (b"hex-00", "hex-6865782d3030/sub/hex-6865782d3030_00000: x"),
    ] {
        let mut store = build(&config, category, 1, &surroundings(&disk)).unwrap();
        assert_eq!(store.write(&messages(&["x"]), at(12, 0)).taken, 1);
        assert!(listing(&*disk, "log").contains(&want.to_owned()), "{want}");
    }
    for category in [
        &b".."[..],
        b"../etc",
        b"/etc",
        b"a//b",
        b"a/./b",
        b"a/",
        b"a\0b",
        &[b'x'; 300],
    ] {
        let refused = build(&config, category, 1, &surroundings(&disk)).err();
        assert!(refused.is_some_and(|why| why.contains("cannot be the name of a file")));
    }
}

#[test]
fn a_relative_path_lies_in_the_data_directory_and_none_leads_out_of_it() {
    let disk = memory();
    let below = file(|config| config.base.file_path = "logs/".to_owned());
    write(&mut *web(&disk, &below), &["x"], at(12, 0));
    assert_eq!(read(&*disk, "data/collected/logs/web_00000"), b"x");
    let out = file(|config| config.base.file_path = "../logs".to_owned());
    let why = build(&out, b"web", 0, &surroundings(&disk)).err().unwrap();
    assert_eq!(
        why,
        "file path \"data/collected/../logs/web\" has a part that is refused: `..` or a NUL"
    );
}

/// Files that exist after a message at each time, without the link.
fn rotated(period: RotatePeriod, times: &[Now]) -> Vec<String> {
    let disk = memory();
    let config = file(|config| {
        config.base.rotate_period = period;
        config.base.create_symlink = false;
    });
    let mut store = web(&disk, &config);
    for (number, now) in times.iter().enumerate() {
        write(&mut *store, &[&number.to_string()], *now);
    }
    listing(&*disk, "log")
}

#[test]
fn an_hourly_file_ends_at_the_minute_and_its_first_suffix_is_the_hour() {
    let times = [at(13, 20), at(14, 14), at(14, 15), at(15, 14), at(15, 16)];
    let want = [
        "web-2026-11-23_00013: 01",
        "web-2026-11-23_00014: 23",
        "web-2026-11-23_00015: 4",
    ];
    assert_eq!(rotated(RotatePeriod::Hourly, &times), want);
}

#[test]
fn a_daily_file_ends_at_the_hour_and_minute_of_the_next_day() {
    let times = [
        at(0, 50),
        at(1, 15),
        at(23, 59),
        at(24 + 1, 14),
        at(24 + 1, 15),
    ];
    let want = [
        "web-2026-11-23_00000: 0",
        "web-2026-11-23_00001: 123",
        "web-2026-11-24_00000: 4",
    ];
    assert_eq!(rotated(RotatePeriod::Daily, &times), want);
}

#[test]
fn days_and_hours_are_those_of_local_time() {
    let eastern = |now: Now| Now {
        utc_offset_s: -5 * 3_600,
        ..now
    };
    let times = [eastern(at(3, 0)), eastern(at(6, 14)), eastern(at(6, 15))];
    let want = ["web-2026-11-22_00000: 01", "web-2026-11-23_00000: 2"];
    assert_eq!(rotated(RotatePeriod::Daily, &times), want);
}

#[test]
fn a_period_in_seconds_goes_by_the_steady_clock() {
    let back = |now: Now| Now {
        unix_us: at(12, 0).unix_us,
        ..now
    };
    let times = [at(12, 0), back(at(12, 9)), back(at(12, 10)), at(12, 11)];
    let want = ["web-2026-11-23_00000: 01", "web-2026-11-23_00001: 23"];
    assert_eq!(rotated(RotatePeriod::Every { seconds: 600 }, &times), want);
}

#[test]
fn a_clock_set_back_ends_a_file_only_if_it_was_wrong_by_more_than_a_slot() {
    let times = [
        at(13, 20),
        at(13, 10),
        at(12, 20),
        at(11, 0),
        at(11, 10),
        at(13, 20),
    ];
    let want = [
        "web-2026-11-23_00013: 012",
        "web-2026-11-23_00014: 34",
        "web-2026-11-23_00015: 5",
    ];
    assert_eq!(rotated(RotatePeriod::Hourly, &times), want);
    let days = [at(30, 0), at(3, 0), at(-30, 0)];
    let want = ["web-2026-11-21_00000: 2", "web-2026-11-24_00000: 01"];
    assert_eq!(rotated(RotatePeriod::Daily, &days), want);
}

proptest! {
    #[test]
    fn whatever_the_clocks_do_each_message_is_in_one_file_once(
        steps in prop::collection::vec((-200_000..200_000_i64, -1..=1, any::<bool>()), 1..40),
        period in 0..3,
    ) {
        let disk = memory();
        let config = file(|config| {
            config.add_newlines = true;
            config.base.create_symlink = false;
            config.base.max_size = 60;
            config.base.rotate_period = match period {
                0 => RotatePeriod::Hourly,
                1 => RotatePeriod::Daily,
                _ => RotatePeriod::Every { seconds: 3 },
            };
        });
        let mut store = web(&disk, &config);
        for (number, (wall_s, offset_h, looks)) in steps.iter().enumerate() {
            let mut now = at(12, 0);
            now.unix_us += wall_s * 1_000_000;
            now.utc_offset_s = offset_h * 3_600;
            now.steady_us += number as u64 * 1_000_000;
            write(&mut *store, &[&number.to_string()], now);
            if *looks {
                store.look(now);
            }
        }
        store.sync().unwrap();
        let files = listing(&*disk, "log");
        let texts = files.iter().filter_map(|file| file.split_once(": "));
        let mut found: Vec<usize> = texts
            .flat_map(|(_, text)| text.lines())
            .map(|line| line.parse().unwrap())
            .collect();
        found.sort_unstable();
        let wanted: Vec<usize> = (0..steps.len()).collect();
        prop_assert_eq!(found, wanted);
        prop_assert!(files.len() <= 2 * steps.len() + 1, "{} files", files.len());
    }
}

#[test]
fn a_look_ends_a_file_without_a_message() {
    let disk = memory();
    let config = file(|config| config.base.rotate_period = RotatePeriod::Daily);
    let mut store = web(&disk, &config);
    write(&mut *store, &["x"], at(12, 0));
    store.look(at(24 + 1, 20));
    let want = [
        "web-2026-11-23_00000: x",
        "web-2026-11-24_00000: ",
        "web_current: ",
    ];
    assert_eq!(listing(&*disk, "log"), want);
}

#[test]
fn a_file_that_was_moved_away_is_followed_by_a_new_one_and_still_synced() {
    for does_look in [false, true] {
        let disk = FaultDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut store = web(&shared, &file(|config| config.base.create_symlink = false));
        write(&mut *store, &["one"], at(12, 0));
        store.sync().unwrap();
        write(&mut *store, &["two"], at(12, 0));
        disk.rename("log/web_00000", "log/web_00000.1").unwrap();
        if does_look {
            store.look(at(12, 1));
        }
        write(&mut *store, &["three"], at(12, 1));
        store.sync().unwrap();
        let image = disk.crash(disk::everything_lost);
        let want = ["web_00000: three", "web_00000.1: onetwo"];
        assert_eq!(listing(&image, "log"), want, "look: {does_look}");
    }
}

#[test]
fn a_file_moved_away_and_made_again_by_others_is_noticed_by_a_look() {
    let disk = memory();
    let mut store = web(&disk, &file(|config| config.base.create_symlink = false));
    write(&mut *store, &["one"], at(12, 0));
    disk.rename("log/web_00000", "log/web_00000.1").unwrap();
    disk.create("log/web_00000").unwrap();
    store.look(at(12, 1));
    write(&mut *store, &["two"], at(12, 1));
    assert_eq!(
        listing(&*disk, "log"),
        ["web_00000: two", "web_00000.1: one"]
    );
}

#[test]
fn a_file_cut_by_others_goes_on_at_its_new_end() {
    let disk = memory();
    let mut store = web(&disk, &file(|config| config.base.create_symlink = false));
    write(&mut *store, &["one"], at(12, 0));
    disk.open("log/web_00000").unwrap().set_len(0).unwrap();
    write(&mut *store, &["two"], at(12, 1));
    assert_eq!(listing(&*disk, "log"), ["web_00000: two"]);
}

#[test]
fn a_folder_that_refuses_every_sync_is_told_and_its_messages_are_not_written_again() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &file(|_| ()));
    disk.inject(Call::SyncDir, 2, Fault::Fail(ErrorKind::PermissionDenied));
    write(&mut *store, &["one"], at(12, 0));
    store.sync().unwrap();
    let told = store.status().unwrap();
    assert!(told.contains("/log cannot be synced"), "{told}");
    write(&mut *store, &["two"], at(12, 0));
    store.sync().unwrap();
    assert_eq!(read(&*shared, "log/web_00000"), b"onetwo");
}

#[test]
fn a_folder_that_cannot_be_made_fails_the_write_and_no_sync() {
    let disk = memory();
    disk.create("log").unwrap();
    let mut store = web(
        &disk,
        &file(|config| config.base.sub_directory = "x".to_owned()),
    );
    assert!(store.open(at(12, 0)).is_err());
    let written = store.write(&messages(&["one"]), at(12, 0));
    assert_eq!(written.taken, 0);
    store.sync().unwrap();
    assert!(store.status().unwrap().contains("File open error"));
}

#[test]
fn a_folder_that_was_removed_is_made_again() {
    let disk = memory();
    let mut store = web(&disk, &file(|_| ()));
    write(&mut *store, &["one"], at(12, 0));
    store.sync().unwrap();
    disk.remove_dir("log").unwrap();
    write(&mut *store, &["two"], at(12, 1));
    assert_eq!(read(&*disk, "log/web_00000"), b"two");
    store.sync().unwrap();
}

#[test]
fn a_sync_that_finds_the_file_gone_says_so_once() {
    let disk = memory();
    let mut store = web(&disk, &file(|config| config.base.create_symlink = false));
    write(&mut *store, &["one"], at(12, 0));
    disk.remove_dir("log").unwrap();
    assert!(store.sync().is_err());
    assert!(store.status().unwrap().starts_with("File sync error: "));
    write(&mut *store, &["one"], at(12, 0));
    store.sync().unwrap();
    assert_eq!(store.status(), None);
    assert_eq!(listing(&*disk, "log"), ["web_00000: one"]);
}

#[test]
fn a_disk_that_refuses_gives_a_status_and_the_next_attempt_opens_anew() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &file(|_| ()));
    disk.refuse(Some((Call::Create, ErrorKind::PermissionDenied)));
    assert!(store.open(at(12, 0)).is_err());
    let written = store.write(&messages(&["one"]), at(12, 0));
    assert_eq!(written.taken, 0);
    assert_eq!(written.failed, store.status());
    assert!(store.status().unwrap().starts_with("File open error: "));
    disk.refuse(None);
    store.look(at(12, 1));
    assert_eq!(store.status(), None);
    write(&mut *store, &["one"], at(12, 1));
    assert_eq!(read(&disk, "log/web_00000"), b"one");
}

#[test]
fn a_partial_write_is_cut_off_also_if_cutting_fails_at_first() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &file(|config| config.base.create_symlink = false));
    write(&mut *store, &["one"], at(12, 0));
    disk.inject(Call::Write, 1, Fault::Short(2));
    disk.inject(Call::SetLen, 1, Fault::Fail(ErrorKind::Other));
    let written = store.write(&messages(&["two", "three"]), at(12, 0));
    assert_eq!((written.taken, written.failed.is_some()), (0, true));
    assert_eq!(read(&disk, "log/web_00000"), b"onetw");
    store.sync().unwrap();
    assert_eq!(read(&disk, "log/web_00000"), b"one");
    write(&mut *store, &["two", "three"], at(12, 0));
    assert_eq!(listing(&disk, "log"), ["web_00000: onetwothree"]);
}

#[test]
fn a_file_that_time_ended_gets_nothing_more_when_the_next_cannot_be_made_at_once() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let config = file(|config| {
        config.base.rotate_period = RotatePeriod::Every { seconds: 60 };
        config.base.create_symlink = false;
    });
    let mut store = web(&shared, &config);
    write(&mut *store, &["one"], at(12, 0));
    disk.inject(Call::Create, 1, Fault::Fail(ErrorKind::Other));
    assert_eq!(store.write(&messages(&["two"]), at(12, 1)).taken, 0);
    write(&mut *store, &["two"], at(12, 1));
    let want = ["web-2026-11-23_00000: one", "web-2026-11-23_00001: two"];
    assert_eq!(listing(&disk, "log"), want);
}

#[test]
fn a_sync_does_not_take_another_file_of_the_same_name_for_its_own() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &file(|_| ()));
    write(&mut *store, &["one"], at(12, 0));
    disk.inject(Call::Write, 1, Fault::Short(1));
    store.write(&messages(&["two"]), at(12, 0));
    disk.rename("log/web_00000", "log/web_00000.1").unwrap();
    disk.create("log/web_00000").unwrap();
    let why = store.sync().unwrap_err().to_string();
    assert!(why.contains("was replaced before its sync"), "{why}");
}

#[test]
fn a_sync_that_could_not_open_its_file_leaves_it_to_the_next_sync() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &file(|_| ()));
    write(&mut *store, &["one"], at(12, 0));
    disk.inject(Call::Write, 1, Fault::Short(1));
    store.write(&messages(&["two"]), at(12, 0));
    disk.inject(Call::Open, 1, Fault::Fail(ErrorKind::Other));
    assert!(store.sync().is_err());
    store.sync().unwrap();
    assert_eq!(
        read(&disk.crash(disk::everything_lost), "log/web_00000"),
        b"one"
    );
}

#[test]
fn only_messages_that_no_write_reached_are_kept() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &file(|config| config.base.max_write_size = 4));
    disk.inject(Call::Write, 2, Fault::Short(3));
    let written = store.write(&messages(&["one", "two", "three", "four"]), at(12, 0));
    let want = Written {
        taken: 2,
        failed: Some("File write error: short write".to_owned()),
    };
    assert_eq!(written, want);
    write(&mut *store, &["three", "four"], at(12, 0));
    assert_eq!(read(&disk, "log/web_00000"), b"onetwothreefour");
}

proptest! {
    #[test]
    fn any_batches_lie_in_the_files_in_order(
        batches in prop::collection::vec(prop::collection::vec("[a-z]{0,9}", 0..9), 1..9),
        max_size in 0..40_u64,
        max_write_size in 0..40_u64,
        chunk_size in 0..20_u64,
    ) {
        let disk = memory();
        let config = file(|config| {
            config.base.max_size = max_size;
            config.base.max_write_size = max_write_size;
            config.base.chunk_size = chunk_size;
            config.base.create_symlink = false;
            config.add_newlines = true;
        });
        let mut store = web(&disk, &config);
        let mut want = Vec::new();
        for batch in &batches {
            let list: Vec<Message<'_>> = messages(&batch.iter().map(String::as_str).collect::<Vec<_>>());
            let written = store.write(&list, at(12, 0));
            prop_assert_eq!(written.taken, batch.len());
            want.extend(batch.iter().cloned());
        }
        let mut all = Vec::new();
        for name in disk.list("log").unwrap_or_default() {
            let content = read(&*disk, &format!("log/{name}"));
            prop_assert!(max_size == 0 || content.len() as u64 <= max_size + 10 + chunk_size);
            all.extend(content);
        }
        all.retain(|byte| *byte != 0);
        let got: Vec<&str> = std::str::from_utf8(&all).unwrap().split_terminator('\n').collect();
        prop_assert_eq!(got, want);
    }
}
