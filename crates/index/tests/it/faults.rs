//! Disks that fail, fill up, or lose power in the middle of a seal.

use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk, MemoryDisk, at_random, everything_lost};

use index::Table;

use crate::model::shape;
use crate::packed::text;
use crate::subject::{DIR, Subject, row, select_all, tree};

/// Two segments, deletions in both, and a tail: the next seal writes every kind of file.
fn history(disk: Arc<dyn Disk>) -> Subject {
    let mut subject = Subject::new(disk);
    for id in 1..60 {
        let body = format!("cat dog {}", text(id, 300)); // a merge packs it
        subject.insert(id, row(&body, id as i64, "eel", 0.5, "s"));
        if id % 20 == 0 {
            subject.seal();
        }
    }
    for id in (1..60).step_by(7) {
        subject.delete(id);
    }
    subject
}

#[track_caller]
fn check(subject: &mut Subject) {
    subject.check_counts();
    subject.check(&select_all(), Some(&tree("cat")));
}

/// The seal that everything here disturbs.
fn seal_fails(subject: &mut Subject) -> bool {
    subject.freeze();
    let job = subject.job.take().expect("a job");
    match job.run() {
        Ok(sealed) => {
            subject.sealed = Some(sealed);
            false
        }
        Err(_) => {
            subject.table.thaw();
            true
        }
    }
}

#[test]
fn a_call_that_fails_costs_nothing_but_the_seal() {
    for call in [
        Call::Create,
        Call::Write,
        Call::Sync,
        Call::SyncDir,
        Call::CreateDir,
    ] {
        let mut failures = 0;
        for nth in 1..40 {
            let disk = FaultDisk::new();
            let mut subject = history(Arc::new(disk.clone()));
            disk.inject(call, nth, Fault::Fail(std::io::ErrorKind::Other));
            if !seal_fails(&mut subject) {
                break;
            }
            failures += 1;
            check(&mut subject);
            subject.insert(1_000, row("cat", 1, "", 0.0, ""));
            subject.delete(30);
            subject.seal();
            subject.seal();
            assert!(subject.table.is_saved());
            check(&mut subject);
            subject.reopen();
            check(&mut subject);
        }
        assert!(failures > 0, "{call:?} is never called");
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_the_rows_in_memory() {
    let disk = FaultDisk::new();
    let mut subject = history(Arc::new(disk.clone()));
    let used = disk.space().expect("space");
    disk.set_capacity(Some(
        used.total_bytes.saturating_sub(used.free_bytes) + 4096,
    ));
    subject.freeze();
    let error = subject
        .job
        .take()
        .expect("a job")
        .run()
        .err()
        .expect("a full disk");
    assert!(
        error.is_full(),
        "{error}: {:?}",
        std::error::Error::source(&error)
    );
    subject.table.thaw();
    check(&mut subject);
    disk.set_capacity(None);
    subject.seal();
    check(&mut subject);
    subject.reopen();
    check(&mut subject);
}

#[test]
fn a_seal_tried_again_writes_what_the_first_one_froze() {
    let disk = FaultDisk::new();
    let mut subject = history(Arc::new(disk.clone()));
    disk.inject(
        Call::Create,
        1,
        Fault::Fail(std::io::ErrorKind::StorageFull),
    );
    assert!(seal_fails(&mut subject));
    let row = |id| (id, crate::subject::row("later", 1, "", 0.0, ""));
    subject.refuse(vec![row(10), row(45)], &[]);
    let (id, later) = row(10);
    subject.replace(id, later);
    assert!(!seal_fails(&mut subject));
    subject.install();
    check(&mut subject);
    subject.reopen_on(Arc::new(disk.crash(everything_lost)));
    check(&mut subject);
}

#[test]
fn power_may_go_at_any_moment_of_a_seal() {
    let disk = FaultDisk::new();
    let mut subject = history(Arc::new(disk.clone()));
    let before = disk.change_count();
    assert!(!seal_fails(&mut subject));
    let changes = disk.change_count() - before;
    for change in 0..=changes {
        let disk = FaultDisk::new();
        let mut subject = history(Arc::new(disk.clone()));
        disk.power_off_after(change);
        subject.freeze();
        let sealed = subject.job.take().expect("a job").run();
        assert!(sealed.is_err() || change == changes);
        let manifest = subject.manifest.clone();
        for image in [disk.crash(everything_lost), disk.crash(at_random(change))] {
            subject.manifest = manifest.clone();
            subject.reopen_on(Arc::new(image));
            check(&mut subject);
            subject.seal();
            subject.reopen();
            check(&mut subject);
        }
    }
}

#[test]
fn what_a_job_made_is_durable_when_it_returns() {
    let disk = FaultDisk::new();
    let mut subject = history(Arc::new(disk.clone()));
    subject.seal();
    subject.reopen_on(Arc::new(disk.crash(everything_lost)));
    assert_eq!(subject.table.tail().rows, 0);
    check(&mut subject);
}

#[test]
fn orphans_are_removed_at_open() {
    let disk = MemoryDisk::new();
    let mut subject = history(Arc::new(disk.clone()));
    subject.freeze();
    subject.run_job();
    let segments = disk.list(DIR).expect("a listing");
    subject.reopen();
    assert_eq!(segments.len(), disk.list(DIR).expect("a listing").len() + 1);
    for segment in &subject.manifest.segments {
        let path = format!("{DIR}/{}", segment.directory);
        let names = disk.list(&path).expect("a listing");
        let deleted: Vec<&String> = names
            .iter()
            .filter(|name| name.starts_with("deleted"))
            .collect();
        assert_eq!(deleted, segment.deleted.iter().collect::<Vec<_>>());
    }
    check(&mut subject);
}

/// Three segments with deleted rows in files, nothing in memory; all of them are merged next.
fn merging(disk: Arc<dyn Disk>) -> Subject {
    let mut subject = history(disk);
    subject.seal();
    subject.start_merge(true);
    subject
}

#[test]
fn a_call_that_fails_costs_nothing_but_the_merge() {
    for call in [
        Call::Create,
        Call::Write,
        Call::Sync,
        Call::SyncDir,
        Call::CreateDir,
    ] {
        let mut failures = 0;
        for nth in 1..40 {
            let disk = FaultDisk::new();
            let mut subject = merging(Arc::new(disk.clone()));
            disk.inject(call, nth, Fault::Fail(std::io::ErrorKind::StorageFull));
            let job = subject.merge.take().expect("a job");
            if job.run().is_ok() {
                break;
            }
            failures += 1;
            subject.table.abandon_merge();
            check(&mut subject);
            subject.insert(1_000, row("cat", 1, "", 0.0, ""));
            subject.delete(30);
            subject.seal();
            subject.optimize();
            assert_eq!(subject.manifest.segments.len(), 1);
            check(&mut subject);
            subject.reopen();
            check(&mut subject);
        }
        assert!(failures > 0, "{call:?} is never called");
    }
}

#[test]
fn power_may_go_at_any_moment_of_a_merge() {
    let disk = FaultDisk::new();
    let mut subject = merging(Arc::new(disk.clone()));
    let before = disk.change_count();
    subject.run_merge();
    let changes = disk.change_count() - before;
    for change in 0..=changes {
        let disk = FaultDisk::new();
        let mut subject = merging(Arc::new(disk.clone()));
        disk.power_off_after(change);
        let merged = subject.merge.take().expect("a job").run();
        assert!(merged.is_err() || change == changes);
        let manifest = subject.manifest.clone();
        for image in [disk.crash(everything_lost), disk.crash(at_random(change))] {
            subject.manifest = manifest.clone();
            subject.reopen_on(Arc::new(image));
            check(&mut subject);
            subject.optimize();
            subject.reopen();
            check(&mut subject);
        }
    }
}

/// The manifest then names the merged segment for the position of the seal: what was deleted before that must be in files.
#[test]
fn deletions_that_a_seal_wrote_during_a_merge_are_in_its_files() {
    let disk = FaultDisk::new();
    let mut subject = merging(Arc::new(disk.clone()));
    subject.run_merge();
    subject.delete(10);
    subject.delete(41);
    subject.seal();
    subject.delete(42);
    subject.install_merged();
    assert_eq!(subject.manifest.segments.len(), 1);
    check(&mut subject);
    subject.reopen_on(Arc::new(disk.crash(everything_lost)));
    check(&mut subject);
}

/// A seal that failed has frozen deletions of segments that are merged before it is tried again.
#[test]
fn a_seal_tried_again_after_a_merge_writes_its_deletions_of_the_new_segment() {
    let disk = FaultDisk::new();
    let mut subject = merging(Arc::new(disk.clone()));
    subject.delete(10);
    subject.insert(1_000, row("cat", 1, "", 0.0, ""));
    disk.inject(Call::Create, 1, Fault::Fail(std::io::ErrorKind::Other));
    assert!(seal_fails(&mut subject));
    subject.delete(41);
    subject.run_merge();
    subject.install_merged();
    assert_eq!(subject.manifest.segments.len(), 1);
    check(&mut subject);
    assert!(!seal_fails(&mut subject));
    subject.install();
    check(&mut subject);
    subject.reopen_on(Arc::new(disk.crash(everything_lost)));
    check(&mut subject);
}

/// A full disk: the seal failed for want of room, and the rows that it was to write are deleted.
#[test]
fn a_seal_tried_again_writes_no_row_that_was_deleted_since() {
    for kept in [0, 1] {
        let disk = FaultDisk::new();
        let mut subject = Subject::new(Arc::new(disk.clone()));
        for id in 1..=60 {
            subject.insert(id, row("cat dog", id as i64, "eel", 0.5, "s"));
        }
        disk.inject(
            Call::Create,
            1,
            Fault::Fail(std::io::ErrorKind::StorageFull),
        );
        assert!(seal_fails(&mut subject));
        subject.insert(1_000, row("cat", 1, "", 0.0, ""));
        for id in 1 + kept..=60 {
            subject.delete(id);
        }
        subject.replace(7 + kept, row("cat", 2, "", 0.0, ""));
        assert!(!seal_fails(&mut subject));
        subject.install();
        let rows = subject.manifest.segments.iter().map(|segment| segment.rows);
        assert_eq!(u64::from(rows.sum::<u32>()), kept);
        check(&mut subject);
        subject.reopen_on(Arc::new(disk.crash(everything_lost)));
        check(&mut subject);
        subject.seal();
        check(&mut subject);
    }
}

#[test]
fn a_stopped_merge_ends_and_leaves_nothing() {
    let disk = MemoryDisk::new();
    let mut subject = merging(Arc::new(disk.clone()));
    let before = disk.list(DIR).expect("a listing");
    let job = subject.merge.take().expect("a job");
    subject.reopen(); // the table that wanted it is gone
    assert!(matches!(job.run(), Err(index::Error::Stopped)));
    assert_eq!(disk.list(DIR).expect("a listing"), before);
}

#[test]
fn segments_go_with_all_their_rows_and_others_lose_only_those_named() {
    let disk = MemoryDisk::new();
    let mut subject = history(Arc::new(disk.clone()));
    subject.seal();
    subject.delete(7);
    subject.insert(1_000, row("cat", 1, "", 0.0, ""));
    let listed = subject.table.segments_by_age(1).expect("sound files");
    let mut ids = subject.table.ids(&[listed[0].name.clone()]).expect("ids");
    assert_eq!(ids.len() as u64, listed[0].rows_live);
    assert!(!ids.contains(&7));
    ids.extend([30, 1_000, 5_000]); // of another segment, of the tail, of nobody
    let gone = subject.table.delete_all(&ids).expect("sound files");
    assert_eq!(gone, listed[0].rows_live + 2);
    for id in ids {
        subject.model.delete(id);
    }
    check(&mut subject);
    assert_eq!(subject.table.files().segments.len(), listed.len() - 1);
    let files = subject.table.segments_by_age(1).expect("sound files");
    let rest: Vec<String> = files.iter().map(|segment| segment.name.clone()).collect();
    let but_one = subject.table.ids(&rest).expect("ids").split_off(1);
    subject.table.delete_all(&but_one).expect("sound files");
    for id in but_one {
        subject.model.delete(id);
    }
    check(&mut subject);
    assert_eq!(
        subject.table.files().segments.len(),
        1,
        "the one with a row that stays"
    );
    subject.seal();
    subject.reopen();
    check(&mut subject);
}

#[test]
fn dropped_segments_are_gone_for_good_and_their_names_with_them() {
    let disk = MemoryDisk::new();
    let mut subject = history(Arc::new(disk.clone()));
    subject.seal();
    let n = 1;
    let listed = subject.table.segments_by_age(n).expect("sound files");
    let newest: Vec<_> = listed.iter().map(|segment| segment.newest).collect();
    assert_eq!(newest, [Some(20), Some(40), Some(59)]);
    subject.start_merge(true);
    subject.run_merge();
    let old = vec![listed[0].name.clone(), "segment-00000077".to_owned()];
    assert_eq!(subject.table.drop_segments(&old), listed[0].rows_live);
    for id in 1..=20 {
        subject.model.delete(id);
    }
    check(&mut subject);
    subject.install_merged(); // of no use: one of its segments is gone
    check(&mut subject);
    assert_eq!(subject.manifest.segments.len(), 2);
    subject.reopen();
    check(&mut subject);
    assert_eq!(subject.table.drop_segments(&old), 0);
    subject.insert(1_000, row("cat", 1, "", 0.0, ""));
    subject.seal();
    let names = subject.manifest.segments.iter().map(|s| &s.directory);
    assert_eq!(names.max().expect("segments"), "segment-00000078");
    check(&mut subject);
}

#[test]
fn a_table_is_created_anew_over_what_a_refused_creation_left() {
    let folder = "tables/1";
    let mut refused = 0;
    for nth in 1.. {
        let disk = FaultDisk::new();
        disk.inject(Call::SyncDir, nth, Fault::Fail(std::io::ErrorKind::Other));
        if Table::create(Arc::new(disk.clone()), folder, shape()).is_ok() {
            break;
        }
        refused += 1;
        disk.create_dir(&format!("{folder}/segment-1")).unwrap();
        Table::create(Arc::new(disk.clone()), folder, shape()).unwrap();
        assert_eq!(disk.list(folder).unwrap(), Vec::<String>::new());
        let image = disk.crash(everything_lost);
        assert_eq!(image.list(folder).unwrap(), Vec::<String>::new());
    }
    assert!(refused > 0);
}
