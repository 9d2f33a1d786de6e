//! A failed write of a manifest changes nothing: the manifest before it and the files that it names stay.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Fault, FaultDisk, everything_kept, everything_lost};
use engine::{Command, Control, Now};

use crate::driver::{Driver, options};
use crate::scripts::show_answer;
use crate::statement::{Statement, command, options_of, parse};

#[test]
fn files_that_the_durable_manifest_names_stay_when_the_next_one_fails() {
    let disk = FaultDisk::new();
    let mut driver = Driver::open(options(Arc::new(disk.clone())), Now::default()).unwrap();
    driver.run(command("create pq alerts (body text)")).unwrap();
    let store = |driver: &mut Driver, query: &str| {
        let line = format!("replace alerts (id, query) values (1, '{query}')");
        driver.run(command(&line)).unwrap();
    };
    store(&mut driver, "cat");
    driver.run(Command::Checkpoint).unwrap();
    store(&mut driver, "dog"); // a new base: the file of the first one has no use any more
    disk.inject(Call::Rename, 1, Fault::Fail(ErrorKind::Other));
    driver.run(Command::Checkpoint).unwrap_err();
    for image in [disk.crash(everything_lost), disk.crash(everything_kept)] {
        let driver = Driver::open(options(Arc::new(image)), Now::default()).unwrap();
        let Statement::Select(select) = parse("select id, query from alerts") else {
            panic!("no SELECT")
        };
        let found =
            driver
                .handle
                .snapshot()
                .select(&select, &options_of(&select), &Control::default());
        let shown = show_answer(found.unwrap()).unwrap();
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown[1].contains("dog"), "{shown:?}");
    }
}
