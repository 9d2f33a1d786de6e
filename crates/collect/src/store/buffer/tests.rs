//! The buffer over real files as its secondary: they stay over a restart, and fail as files do.

use std::io::ErrorKind;
use std::sync::Mutex;

use disk::{Call, Disk, FaultDisk};
use proptest::prelude::*;

use super::laws::{Inside, Line, MadeUp, config};
use super::*;
use crate::config::{FileBase, FileConfig, NetworkConfig, StoreConfig};
use crate::store::build;
use crate::store::file::buffer_file;
use crate::store::random::Random;
use crate::store::tests::{surroundings, web};

/// A line whose buffer has files of three messages.
fn line(config: &BufferConfig, primary: &MadeUp, disk: &FaultDisk) -> Line {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let surroundings = surroundings(&disk);
    let file = FileConfig {
        base: FileBase {
            file_path: "/buffer".to_owned(),
            max_size: 70,
            ..FileBase::default()
        },
        add_newlines: false,
    };
    let secondary = buffer_file(&file, b"web", 0, &surroundings).unwrap();
    Line::over(config, primary.clone(), Box::new(secondary), &surroundings)
}

/// A primary that is away, or takes all.
fn primary(is_away: bool) -> MadeUp {
    let primary = MadeUp::default();
    primary.set(|inside| (inside.is_away, inside.file_messages_max) = (is_away, usize::MAX));
    primary
}

#[test]
fn a_full_disk_leaves_what_does_not_fit_to_the_line_and_takes_it_once_there_is_room() {
    let disk = FaultDisk::new();
    disk.set_capacity(Some(2 * 4096));
    let mut line = line(&config(), &primary(true), &disk);
    line.write(9);
    assert!((1..9).contains(&line.waiting.len()), "{:?}", line.waiting);
    let status = line.buffer.status().unwrap();
    assert!(status.starts_with("File "), "{status}");
    line.primary.set(|inside| inside.is_away = false);
    line.pass(13);
    line.look_on();
    line.write(1);
    line.look_on();
    assert_eq!(line.waiting, [0; 0]);
    assert_eq!(line.primary.has(), (0..10).collect::<Vec<_>>());
    assert_eq!(line.buffer.status(), None);
}

/// Files of a buffer whose primary is away, `open` and `look` as often as its line does them; and how often it was tried.
fn files_of_an_outage(replay_buffer: bool) -> (Vec<String>, u64) {
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let surroundings = surroundings(&disk);
    let secondary = crate::store::tests::file(|config| {
        config.add_newlines = true;
        config.base.rotate_on_reopen = true;
        config.base.max_size = 8;
    });
    let nowhere = NetworkConfig {
        hosts: Vec::new(),
        is_service: false,
        timeout_ms: 1,
        ignore_network_error: false,
        bucket_updater: None,
    };
    let config = StoreConfig::Buffer(Box::new(BufferConfig {
        primary: StoreConfig::Network(nowhere),
        secondary,
        replay_buffer,
        ..config()
    }));
    let mut store = build(&config, b"web", 0, &surroundings).unwrap();
    let mut now = Now::default();
    store.open(now).unwrap();
    for bodies in [["one", "two"], ["three", "four"]] {
        crate::store::tests::write(&mut *store, &bodies, now);
        now.steady_us += 20_000_000;
        store.look(now);
    }
    store.sync().unwrap();
    let retries = surroundings.counters.all()[&b"web:retries"[..]];
    (crate::store::tests::listing(&*disk, "log"), retries)
}

#[test]
fn without_replay_the_secondary_is_files_that_people_read() {
    let want = [
        "web_00000: one\ntwo\nthree\n",
        "web_00001: four\n",
        "web_current: four\n",
    ];
    assert_eq!(files_of_an_outage(false).0, want);
    let (replayed, _) = files_of_an_outage(true);
    assert!(
        replayed.iter().all(|file| file.contains(".buffer2: ")),
        "{replayed:?}"
    );
}

#[test]
fn a_text_for_people_is_not_read_as_a_buffer_file() {
    let disk = FaultDisk::new();
    disk.create_dir("buffer").unwrap();
    let text = b"2026-11-27 a line for people\nand one more\n";
    let file = disk.create("buffer/web_00000").unwrap();
    file.write_at(0, text).unwrap();
    let mut line = line(&config(), &primary(false), &disk);
    line.look_on();
    assert_eq!(line.state(), State::Streaming);
    assert!(line.primary.has().is_empty());
    let want = [format!("web_00000.kept: {}", String::from_utf8_lossy(text))];
    assert_eq!(crate::store::tests::listing(&disk, "buffer"), want);
}

#[test]
fn each_attempt_to_reach_a_primary_that_is_away_counts() {
    for replay_buffer in [false, true] {
        assert_eq!(files_of_an_outage(replay_buffer).1, 3, "{replay_buffer}");
    }
}

/// Scribe tells it when it starts, and not at the first outage.
#[test]
fn a_secondary_that_cannot_be_opened_is_told_before_the_first_message() {
    let disk = FaultDisk::new();
    disk.create("buffer").unwrap();
    let mut line = line(&config(), &primary(false), &disk);
    line.buffer.open(line.now).unwrap();
    let told = line.buffer.status().unwrap();
    assert!(told.contains("File open error"), "{told}");
}

#[test]
fn a_folder_that_cannot_be_written_leaves_all_to_the_line() {
    let disk = FaultDisk::new();
    let mut line = line(&config(), &primary(true), &disk);
    disk.refuse(Some((Call::Create, ErrorKind::PermissionDenied)));
    line.write(2);
    line.write(1);
    assert_eq!(line.waiting, [0, 1, 2]);
    disk.refuse(None);
    line.write(1);
    assert_eq!(line.waiting, [0; 0]);
    line.primary.set(|inside| inside.is_away = false);
    line.pass(13);
    line.look_on();
    assert_eq!(line.primary.has(), [0, 1, 2, 3]);
}

#[test]
fn a_folder_that_is_removed_takes_its_own_messages_and_no_later_one() {
    for is_half_sent in [false, true] {
        let disk = FaultDisk::new();
        let mut line = line(&config(), &primary(true), &disk);
        line.write(5);
        let mut want = Vec::new();
        if is_half_sent {
            let half =
                |inside: &mut Inside| (inside.is_away, inside.fails_after) = (false, Some(1));
            line.primary.set(half);
            line.pass(13);
            line.look_on();
            want.push(0);
        }
        disk.remove_dir("buffer").unwrap();
        line.write(4);
        line.primary.set(|inside| inside.is_away = false);
        line.pass(13);
        line.look_on();
        line.write(1);
        want.extend(5..10);
        assert_eq!(line.primary.has(), want, "half sent: {is_half_sent}");
        assert_eq!(line.state(), State::Streaming);
        assert_eq!(line.buffer.status(), None);
    }
}

/// A store of files that takes this number of messages of a batch and then fails, as a server that goes away does. `None`: all.
struct Gate {
    files: Box<dyn Store>,
    takes: Arc<Mutex<Option<usize>>>,
}

impl Store for Gate {
    fn open(&mut self, now: Now) -> Result<(), String> {
        match *self.takes.lock().unwrap() {
            Some(0) => Err("away".to_owned()),
            _ => self.files.open(now),
        }
    }

    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written {
        let takes = *self.takes.lock().unwrap();
        let part = &batch[..takes.unwrap_or(batch.len()).min(batch.len())];
        let written = self.files.write(part, now);
        let is_cut = written.failed.is_none() && part.len() < batch.len();
        Written {
            failed: written.failed.or(is_cut.then(|| "gone".to_owned())),
            ..written
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.files.sync()
    }
}

/// A buffer from files to files of one disk. Its secondary has files of some eight messages.
fn between_files(disk: &FaultDisk, takes: &Arc<Mutex<Option<usize>>>) -> Buffer {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let surroundings = surroundings(&disk);
    let base = FileBase {
        file_path: "/buffer".to_owned(),
        max_size: 200,
        ..FileBase::default()
    };
    let file = FileConfig {
        base,
        add_newlines: false,
    };
    let secondary = buffer_file(&file, b"web", 0, &surroundings).unwrap();
    let lines = |config: &mut FileConfig| {
        (config.add_newlines, config.base.create_symlink) = (true, false);
    };
    let primary = Gate {
        files: web(&disk, &crate::store::tests::file(lines)),
        takes: Arc::clone(takes),
    };
    Buffer::new(
        (Box::new(primary), Box::new(secondary)),
        &config(),
        (b"web", 0),
        &surroundings,
    )
}

/// Numbers of the messages that the primary's files hold whole.
fn numbers(disk: &dyn Disk) -> Vec<u64> {
    let names = disk.list("log").unwrap_or_default();
    let texts = names.iter().map(|name| {
        let data = crate::store::tests::read(disk, &format!("log/{name}"));
        String::from_utf8_lossy(&data).into_owned()
    });
    let text: String = texts.collect();
    let lines = text.lines().filter(|line| line.len() == 6);
    lines.filter_map(|line| line.parse().ok()).collect()
}

/// Random steps over a buffer until the power goes, at any change of the disk. `durable`: messages that a sync covered.
fn live(disk: &FaultDisk, random: &mut Random, durable: &mut u64) {
    let takes = Arc::new(Mutex::new(None));
    let mut buffer = between_files(disk, &takes);
    let (mut given, mut now) = (*durable, Now::default());
    for _ in 0..60 {
        match random.below(8) {
            0..3 => {
                let new = given..given + 1 + random.below(6);
                let bodies: Vec<String> = new.map(|number| format!("{number:06}")).collect();
                let batch = bodies.iter().map(|body| Message {
                    category: b"web",
                    body: body.as_bytes(),
                });
                let batch: Vec<Message<'_>> = batch.collect();
                given += buffer.write(&batch, now).taken as u64;
            }
            3..5 => buffer.look(now),
            5 => now.steady_us += random.below(20) * 1_000_000,
            6 => {
                let choice = [Some(0), Some(1), Some(3), None][random.below(4) as usize];
                *takes.lock().unwrap() = choice;
            }
            _ => match buffer.sync() {
                Ok(()) => *durable = given,
                Err(_) => given = *durable, // the line gives them again
            },
        }
    }
}

#[test]
fn power_lost_at_any_change_loses_no_message_between_secondary_and_primary() {
    let mut most = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let (mut disk, mut durable) = (FaultDisk::new(), 0);
        for _ in 0..4 {
            disk.power_off_after(random.below(120));
            live(&disk, &mut random, &mut durable);
            let image = match random.below(3) {
                0 => disk.crash(disk::everything_lost),
                1 => disk.crash(disk::everything_kept),
                _ => disk.crash(disk::at_random(random.below(u64::MAX))),
            };
            disk = FaultDisk::over(&image);
        }
        let mut buffer = between_files(&disk, &Arc::default());
        buffer.open(Now::default()).unwrap();
        for _ in 0..1_000 {
            buffer.look(Now::default());
        }
        assert_eq!(buffer.state, State::Streaming, "seed {seed}");
        buffer.sync().unwrap();
        let has = numbers(&disk.crash(disk::everything_lost));
        let lost = (0..durable).find(|number| !has.contains(number));
        assert_eq!(lost, None, "seed {seed}, {durable} durable: {has:?}");
        most = durable.max(most);
    }
    assert!(most > 30, "some lives get somewhere: {most}");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u64),
    Look,
    Pass(u64),
    Primary {
        is_away: bool,
    },
    PrimaryFailsAfter(usize),
    /// A clean stop and a start.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..6_u64).prop_map(Step::Write),
        4 => Just(Step::Look),
        3 => (0..15_u64).prop_map(Step::Pass),
        2 => any::<bool>().prop_map(|is_away| Step::Primary { is_away }),
        2 => (0..6_usize).prop_map(Step::PrimaryFailsAfter),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #[test]
    fn each_message_gets_to_the_primary_once_and_in_order(
        steps in prop::collection::vec(step(), 1..60),
        adaptive_backoff in any::<bool>(),
        buffer_send_rate in prop::option::of(1..3_u64),
    ) {
        let config = BufferConfig { adaptive_backoff, buffer_send_rate, ..config() };
        let disk = FaultDisk::new();
        let mut line = line(&config, &primary(false), &disk);
        for step in steps {
            match step {
                Step::Write(count) => line.write(count),
                Step::Look => line.look(),
                Step::Pass(seconds) => line.pass(seconds),
                Step::Primary { is_away } => line.primary.set(|inside| inside.is_away = is_away),
                Step::PrimaryFailsAfter(count) => {
                    line.primary.set(|inside| inside.fails_after = Some(count));
                }
                Step::Restart => {
                    line.buffer.close(line.now);
                    let after = self::line(&config, &line.primary, &disk);
                    line = line.restarted(after);
                }
            }
            let has = line.primary.has();
            prop_assert_eq!(&has, &(0..has.len() as u64).collect::<Vec<_>>());
        }
        line.primary.set(|inside| (inside.is_away, inside.fails_after) = (false, None));
        for _ in 0..400 {
            line.pass(101);
            line.look_on();
        }
        prop_assert_eq!(line.primary.has(), (0..line.given).collect::<Vec<_>>());
    }
}
