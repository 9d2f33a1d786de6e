mod limits;
mod tables;
mod variables;

use proptest::prelude::*;

use super::*;

fn told(text: &str, defaults: Defaults) -> (Configuration, Vec<String>) {
    let (configuration, problems) = read(text.as_bytes(), "f", defaults);
    let told = problems.iter().map(ToString::to_string).collect();
    (configuration, told)
}

/// A store of category `a` with these lines.
fn store(lines: &str) -> String {
    format!("<store>\ncategory=a\n{lines}\n</store>\n")
}

#[test]
fn keys_are_sorted() {
    assert!(keys::KEYS.is_sorted_by(|a, b| a.0 < b.0));
}

/// The usual client: a buffer that sends to a network and waits in files.
#[test]
fn a_buffer_in_front_of_a_network_is_read_without_problems() {
    let text = "port=1463\nmax_queue_size=0100\nfile::max_size=3000 # inherited\n<store>\ncategories=web* mail\ntype=buffer\n\
        retry_interval=30\nretry_interval_range=10\nsync=100ms\n<primary>\ntype=network\nremote_host=central\nremote_port=0x5b7\n\
        </primary>\n<secondary>\ntype=file\nfile_path=/var/spool/x\n</secondary>\n</store>\n";
    let (configuration, problems) = told(text, Defaults::V2_2);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(
        (configuration.port, configuration.max_queue_size),
        (1463, 100)
    );
    let top = &configuration.stores[0];
    assert_eq!((top.name.as_str(), top.is_model), ("store0", true));
    let names = [
        Categories::Exact(b"mail".to_vec()),
        Categories::Prefix(b"web".to_vec()),
    ];
    assert_eq!(top.categories, names);
    assert_eq!(top.sync, Some(engine::SyncMode::Within { ms: 100 }));
    let StoreConfig::Buffer(buffer) = &top.store else {
        panic!("{top:?}")
    };
    assert_eq!(
        (buffer.retry_interval_s, buffer.retry_interval_range_s),
        (30, 10)
    );
    assert_eq!(
        (buffer.buffer_send_rate, buffer.max_queue_length),
        (None, 0)
    );
    let StoreConfig::Network(network) = &buffer.primary else {
        panic!("{buffer:?}")
    };
    assert_eq!(network.hosts, [("central".to_owned(), 1463)]);
    let StoreConfig::File(file) = &buffer.secondary else {
        panic!("{buffer:?}")
    };
    assert_eq!(
        (file.base.max_size, file.base.create_symlink),
        (3000, false)
    );
}

#[test]
fn one_bucket_becomes_a_file_store_for_each_number() {
    let text = store(
        "type=bucket\nnum_buckets=2\nbucket_type=key_hash\nbucket_subdir=b\nbucket_offset=9\nfailure_bucket=none\n\
         <bucket>\ntype=file\nfile_path=/d\nbase_filename=x\n</bucket>",
    );
    let (configuration, problems) = told(&text, Defaults::V2_2);
    assert_eq!(problems, Vec::<String>::new());
    let StoreConfig::Bucket(bucket) = &configuration.stores[0].store else {
        panic!("{configuration:?}")
    };
    let paths = bucket.buckets.iter().map(|bucket| match bucket {
        StoreConfig::File(file) => file.base.file_path.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(paths.collect::<Vec<_>>(), ["/d/none", "/d/b010", "/d/b011"]);
}

#[test]
fn explicit_buckets_know_their_number_and_inherit_the_network_of_the_store() {
    let text = store(
        "type=bucket\nnum_buckets=1\nbucket_type=key_modulo\nnetwork::dynamic_config_type=thrift_bucket\n\
         network::bucket_updater_host=h\nnetwork::bucket_updater_port=9\n<bucket0>\ntype=null\n</bucket0>\n\
         <bucket1>\ntype=network\n</bucket1>",
    );
    let (configuration, problems) = told(&text, Defaults::V2_2);
    assert_eq!(problems, Vec::<String>::new());
    let StoreConfig::Bucket(bucket) = &configuration.stores[0].store else {
        panic!("{configuration:?}")
    };
    let StoreConfig::Network(network) = &bucket.buckets[1] else {
        panic!("{bucket:?}")
    };
    let updater = network.bucket_updater.as_ref().unwrap();
    assert_eq!(
        (
            updater.bucket_id,
            updater.category.as_slice(),
            updater.ttl_s
        ),
        (1, b"a".as_slice(), 60)
    );
}

#[test]
fn a_multi_takes_its_stores_by_number_or_in_order() {
    for names in [
        ["store", "store"],
        ["store0", "store1"],
        ["store1", "store2"],
    ] {
        let [first, second] = names;
        let text = store(&format!(
            "type=multi\nreport_success=any\n<{first}>\ntype=null\n</{first}>\n<{second}>\ntype=multifile\nfile_path=/x\n\
             base_filename=y\n</{second}>"
        ));
        let (configuration, problems) = told(&text, Defaults::V2_2);
        assert_eq!(problems, Vec::<String>::new());
        let StoreConfig::Multi(multi) = &configuration.stores[0].store else {
            panic!("{configuration:?}")
        };
        assert!(multi.any_succeeds);
        assert_eq!(multi.stores[0], StoreConfig::Null);
        assert!(
            matches!(&multi.stores[1], StoreConfig::Category(model) if matches!(**model, StoreConfig::File(_)))
        );
    }
}

#[test]
fn the_defaults_of_2008_are_those_of_the_page() {
    let text = store(
        "type=buffer\n<primary>\ntype=null\n</primary>\n<secondary>\ntype=null\n</secondary>",
    );
    let (configuration, _) = told(&text, Defaults::V2008);
    assert_eq!(
        (
            configuration.max_msg_per_second,
            configuration.max_queue_size
        ),
        (100_000, 500_000)
    );
    assert_eq!(configuration.stores[0].max_write_interval_s, 10);
    let StoreConfig::Buffer(buffer) = &configuration.stores[0].store else {
        panic!("{configuration:?}")
    };
    assert_eq!(buffer.max_queue_length, 2_000_000);
}

/// Lines of a store of type `null` in category `a`, from line 3 on, or whole files; and the problem that each has.
#[test]
fn each_mistake_is_told_with_its_line() {
    let null = |lines: &str| store(&format!("type=null\n{lines}"));
    let file = |lines: &str| {
        store(&format!(
            "type=file\nfile_path=/x\nbase_filename=y\n{lines}"
        ))
    };
    let cases = [
        (
            null("colour=red"),
            "f:4: warning: colour is no variable of Scribe: it is ignored",
        ),
        (
            null("max_size=1"),
            "f:4: warning: max_size has no effect in this store of type null",
        ),
        (null("junk"), "f:4: error: junk has no =: it is ignored"),
        (null("<x"), "f:4: error: <x has a < but no >: it is ignored"),
        (
            null("<x>\n</x>"),
            "f:4: warning: <x> has no effect in this store of type null",
        ),
        (
            null("must_succeed=maybe"),
            "f:4: warning: must_succeed=maybe counts as yes, as with Scribe",
        ),
        (
            null("") + "</store>",
            "f:6: error: </store> closes no block: it is ignored",
        ),
        (
            null("type=null"),
            "f:4: warning: type is given in line 3 already: this one counts",
        ),
        (
            file("max_size=8MB"),
            "f:6: warning: max_size=8MB: only 8 of it counts, as with Scribe",
        ),
        (
            file("max_size=big"),
            "f:6: error: max_size=big is no number: the default counts",
        ),
        (
            file("max_size=-1"),
            "f:6: error: max_size=-1 is no number: the default counts",
        ),
        (
            file("rotate_hour=24"),
            "f:6: error: rotate_hour=24 is not between 0 and 23: the default counts",
        ),
        (
            file("rotate_minute=010"),
            "f:6: warning: rotate_minute=010 counts as 8, as with Scribe: numbers that begin with 0 are octal",
        ),
        (
            null("")
                + "<store>\ncategory=b\ntype=network\nremote_host=h\nremote_port=1\nuse_conn_pool=yes\n</store>",
            "f:11: warning: use_conn_pool has no effect: each network store has a connection of its own",
        ),
        (
            null("") + "<store>\ncategory=b\ntype=red\n</store>",
            "f:8: error: Bad config - can't create a store of type: red",
        ),
        (
            null("") + "<store>\ntype=null\n</store>",
            "f:6: error: Bad config - store with no category",
        ),
        (
            null("") + "<store>\ncategory=b\n</store>",
            "f:6: error: Bad config - no type for store with category: b",
        ),
        (
            null("") + "num_thrift_server_threads=0",
            "f:6: error: Bad config - exception: invalid value for num_thrift_server_threads",
        ),
        (
            null("") + "<store>\ncategory=b\ntype=file\nfs_type=hdfs\n</store>",
            "f:9: error: fs_type=hdfs is not supported, only std is: this store is left out",
        ),
        (
            null("") + "<store>\ncategory=b\ntype=null\n",
            "f:6: error: <store> is never closed: the end of the file closes it",
        ),
    ];
    for (text, problem) in cases {
        let (configuration, problems) = told(&text, Defaults::V2_2);
        assert_eq!(problems, [problem], "{text}");
        assert_eq!(
            configuration.stores[0].categories,
            [Categories::Exact(b"a".to_vec())]
        );
    }
}

#[test]
fn a_buffer_without_its_stores_keeps_messages_below_the_data_directory() {
    let (configuration, problems) = told(&store("type=buffer"), Defaults::V2_2);
    assert_eq!(problems.len(), 4, "{problems:?}");
    let StoreConfig::Buffer(buffer) = &configuration.stores[0].store else {
        panic!("{configuration:?}")
    };
    let StoreConfig::File(file) = &buffer.secondary else {
        panic!("{buffer:?}")
    };
    assert_eq!(file.base.file_path, "secondary");
}

#[test]
fn a_file_beyond_a_limit_is_refused() {
    let deep = "<a>\n".repeat(NESTING_MAX + 1);
    let many = "<a>\n</a>\n".repeat(BLOCKS_MAX + 1);
    let large = " ".repeat(FILE_BYTES_MAX + 1);
    for text in [deep, many, large] {
        let (configuration, problems) = told(&text, Defaults::V2_2);
        assert!(configuration.stores.is_empty());
        assert!(
            problems.iter().any(|problem| problem.contains("error")),
            "{problems:?}"
        );
        assert!(problems.len() <= PROBLEMS_MAX);
    }
}

const PIECES: [&str; 24] = [
    "<store>",
    "</store>",
    "<primary>",
    "</primary>",
    "<secondary>",
    "</secondary>",
    "<bucket>",
    "</bucket>",
    "<store0>",
    "<model>",
    "category=a",
    "categories=a b*",
    "type=file",
    "type=buffer",
    "type=bucket",
    "type=multi",
    "type=network",
    "type=category",
    "num_buckets=3",
    "bucket_subdir=x",
    "file_path=/x",
    "file::max_size=9z",
    "remote_port=99999",
    "x\u{e9}#",
];

proptest! {
    #[test]
    fn no_text_panics_and_each_problem_has_a_line_of_the_file(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut text = pieces.join("\n").into_bytes();
        text.extend(noise);
        let lines = text.split(|byte| *byte == b'\n').count();
        for defaults in [Defaults::V2_2, Defaults::V2008] {
            let (_, problems) = read(&text, "f", defaults);
            for problem in problems {
                prop_assert!((1..=lines).contains(&(problem.line as usize)), "{problem}");
            }
        }
    }
}
