//! Descriptors of the process while many categories have files.

use std::path::Path;
use std::sync::Arc;

use collect::config::{FileBase, FileConfig, StoreConfig};
use collect::store::{Surroundings, build};
use collect::{Message, Now};
use disk::RealDisk;

/// Files of the process below a folder that are open now.
fn open_below(folder: &Path) -> usize {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let paths = entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    paths.filter(|path| path.starts_with(folder)).count()
}

#[test]
fn at_most_512_files_stay_open_and_every_category_gets_its_messages() {
    let name = format!("seine-collect-{}", std::process::id());
    let folder = std::env::temp_dir().canonicalize().unwrap().join(name);
    let surroundings = Surroundings {
        disk: Arc::new(RealDisk::open(Path::new("/")).unwrap()),
        folder: String::new(),
        spools: String::new(),
        host_name: String::new(),
        counters: Arc::default(),
        max_queue_size: 0,
        queue_bytes: Arc::default(),
        tables: Arc::new(()),
        seed: 0,
    };
    let config = StoreConfig::File(FileConfig {
        base: FileBase {
            file_path: folder.to_str().unwrap().to_owned(),
            ..FileBase::default()
        },
        add_newlines: false,
    });
    let names: Vec<String> = (0..1_500).map(|number| format!("c{number}")).collect();
    let built = names
        .iter()
        .map(|name| build(&config, name.as_bytes(), 1, &surroundings));
    let mut stores: Vec<_> = built.map(Result::unwrap).collect();
    for body in [&b"one"[..], b"two"] {
        for (store, name) in stores.iter_mut().zip(&names) {
            let category = name.as_bytes();
            let written = store.write(&[Message { category, body }], Now::default());
            assert_eq!((written.taken, written.failed), (1, None));
        }
        assert_eq!(open_below(&folder), 512);
    }
    for (store, name) in stores.iter_mut().zip(&names) {
        let newest = folder.join(name).join(format!("{name}_current"));
        assert_eq!(std::fs::read(newest).unwrap(), b"onetwo");
        store.look(Now::default());
    }
    stores[0].sync().unwrap();
    stores[0].look(Now::default());
    assert_eq!(
        open_below(&folder),
        511,
        "a file that nothing is written to is closed"
    );
    drop(stores);
    assert_eq!(open_below(&folder), 0);
    std::fs::remove_dir_all(&folder).unwrap();
}
