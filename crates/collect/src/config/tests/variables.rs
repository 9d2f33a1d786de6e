//! Each variable: its default, and a value that is read. One row a variable.

use super::*;

/// Lines that make a store complete, by the type that the row's variable belongs to.
fn complete(kind: &str) -> &'static str {
    match kind {
        "file" => "type=file\n",
        "thriftfile" => "type=thriftfile\n",
        "network" => "type=network\nremote_host=h\nremote_port=1\n",
        "mapped" => {
            "type=network\ndynamic_config_type=thrift_bucket\nbucket_id=1\nbucket_updater_host=u\nbucket_updater_port=1\n"
        }
        "buffer" => {
            "type=buffer\n<primary>\ntype=null\n</primary>\n<secondary>\ntype=null\n</secondary>\n"
        }
        "bucket" => {
            "type=bucket\nnum_buckets=1\nbucket_type=key_range\nbucket_range=5\nbucket_subdir=b\n<bucket>\ntype=file\nfile_path=/d\nbase_filename=b\n</bucket>\n"
        }
        "multi" => "type=multi\n<store0>\ntype=null\n</store0>\n",
        "index" => "type=index\ntable=t\n",
        "json" => "type=index\ntable=t\nformat=json\nfields=a\n",
        "percolate" => "type=percolate\ntable=t\n",
        _ => "type=null\n",
    }
}

/// The configuration with this line, as `Debug` writes it, and the problems.
fn with(kind: &str, key: &str, value: &str) -> (String, Vec<String>) {
    let line = format!("{key}={value}\n");
    let text = match kind {
        "global" => line + &store(complete("null")),
        // The last of two lines with a key counts.
        _ => store(&(complete(kind).to_owned() + &line)),
    };
    let (configuration, problems) = told(&text, Defaults::V2_2);
    (format!("{configuration:?}"), problems)
}

/// Kind of store, variable, value; what `Debug` shows without the line and with it.
const ROWS: [(&str, &str, &str, &str, &str); 66] = [
    ("global", "port", "1463", "port: 0,", "port: 1463,"),
    (
        "global",
        "max_msg_per_second",
        "9",
        "max_msg_per_second: 0,",
        "max_msg_per_second: 9,",
    ),
    (
        "global",
        "max_queue_size",
        "9",
        "max_queue_size: 5000000,",
        "max_queue_size: 9,",
    ),
    (
        "global",
        "check_interval",
        "9",
        "check_interval_s: 5,",
        "check_interval_s: 9,",
    ),
    ("global", "max_conn", "9", "max_conn: 0,", "max_conn: 9,"),
    (
        "global",
        "new_thread_per_category",
        "no",
        "new_thread_per_category: true",
        "new_thread_per_category: false",
    ),
    (
        "null",
        "target_write_size",
        "9",
        "target_write_size: 16384,",
        "target_write_size: 9,",
    ),
    (
        "null",
        "max_write_interval",
        "9",
        "max_write_interval_s: 1,",
        "max_write_interval_s: 9,",
    ),
    (
        "null",
        "must_succeed",
        "no",
        "must_succeed: true",
        "must_succeed: false",
    ),
    ("null", "sync", "never", "sync: None", "sync: Some(Never)"),
    (
        "file",
        "file_path",
        "/d",
        "file_path: \"/tmp\"",
        "file_path: \"/d\"",
    ),
    (
        "file",
        "base_filename",
        "x",
        "base_filename: None",
        "base_filename: Some(\"x\")",
    ),
    (
        "file",
        "base_symlink_name",
        "x",
        "base_symlink_name: None",
        "base_symlink_name: Some(\"x\")",
    ),
    (
        "file",
        "sub_directory",
        "x",
        "sub_directory: \"\"",
        "sub_directory: \"x\"",
    ),
    (
        "file",
        "use_hostname_sub_directory",
        "yes",
        "use_hostname_sub_directory: false",
        "use_hostname_sub_directory: true",
    ),
    (
        "file",
        "rotate_period",
        "2h",
        "rotate_period: Never",
        "rotate_period: Every { seconds: 7200 }",
    ),
    (
        "file",
        "rotate_hour",
        "9",
        "rotate_hour: 1,",
        "rotate_hour: 9,",
    ),
    (
        "file",
        "rotate_minute",
        "9",
        "rotate_minute: 15,",
        "rotate_minute: 9,",
    ),
    (
        "file",
        "max_size",
        "9",
        "max_size: 1000000000,",
        "max_size: 9,",
    ),
    (
        "file",
        "max_write_size",
        "9",
        "max_write_size: 1000000,",
        "max_write_size: 9,",
    ),
    (
        "file",
        "write_meta",
        "yes",
        "write_meta: false",
        "write_meta: true",
    ),
    (
        "file",
        "write_category",
        "yes",
        "write_category: false",
        "write_category: true",
    ),
    (
        "file",
        "create_symlink",
        "no",
        "create_symlink: true",
        "create_symlink: false",
    ),
    (
        "file",
        "write_stats",
        "yes",
        "write_stats: false",
        "write_stats: true",
    ),
    ("file", "chunk_size", "9", "chunk_size: 0", "chunk_size: 9"),
    (
        "file",
        "rotate_on_reopen",
        "yes",
        "rotate_on_reopen: false",
        "rotate_on_reopen: true",
    ),
    (
        "file",
        "add_newlines",
        "1",
        "add_newlines: false",
        "add_newlines: true",
    ),
    (
        "thriftfile",
        "flush_frequency_ms",
        "9",
        "flush_frequency_ms: 0",
        "flush_frequency_ms: 9",
    ),
    (
        "thriftfile",
        "msg_buffer_size",
        "9",
        "msg_buffer_size: 0",
        "msg_buffer_size: 9",
    ),
    (
        "thriftfile",
        "use_simple_file",
        "1",
        "use_simple_file: false",
        "use_simple_file: true",
    ),
    (
        "buffer",
        "buffer_send_rate",
        "9",
        "buffer_send_rate: None",
        "buffer_send_rate: Some(9)",
    ),
    (
        "buffer",
        "retry_interval",
        "90",
        "retry_interval_s: 300,",
        "retry_interval_s: 90,",
    ),
    (
        "buffer",
        "retry_interval_range",
        "9",
        "retry_interval_range_s: 60,",
        "retry_interval_range_s: 9,",
    ),
    (
        "buffer",
        "replay_buffer",
        "no",
        "replay_buffer: true",
        "replay_buffer: false",
    ),
    (
        "buffer",
        "flush_streaming",
        "yes",
        "flush_streaming: false",
        "flush_streaming: true",
    ),
    (
        "buffer",
        "buffer_bypass_max_ratio",
        "0.5",
        "buffer_bypass_max_ratio: 0.75",
        "buffer_bypass_max_ratio: 0.5",
    ),
    (
        "buffer",
        "adaptive_backoff",
        "yes",
        "adaptive_backoff: false",
        "adaptive_backoff: true",
    ),
    (
        "buffer",
        "min_retry_interval",
        "9",
        "min_retry_interval_s: 5,",
        "min_retry_interval_s: 9,",
    ),
    (
        "buffer",
        "max_retry_interval",
        "90",
        "max_retry_interval_s: 100,",
        "max_retry_interval_s: 90,",
    ),
    (
        "buffer",
        "max_random_offset",
        "9",
        "max_random_offset_s: 20,",
        "max_random_offset_s: 9,",
    ),
    (
        "buffer",
        "max_queue_length",
        "9",
        "max_queue_length: 0",
        "max_queue_length: 9",
    ),
    (
        "network",
        "remote_host",
        "x",
        "hosts: [(\"h\", 1)]",
        "hosts: [(\"x\", 1)]",
    ),
    (
        "network",
        "remote_port",
        "9",
        "hosts: [(\"h\", 1)]",
        "hosts: [(\"h\", 9)]",
    ),
    (
        "network",
        "service_list",
        "x:2 y:3",
        "is_service: false",
        "hosts: [(\"x\", 2), (\"y\", 3)], is_service: true",
    ),
    (
        "network",
        "timeout",
        "9",
        "timeout_ms: 5000,",
        "timeout_ms: 9,",
    ),
    (
        "network",
        "ignore_network_error",
        "yes",
        "ignore_network_error: false",
        "ignore_network_error: true",
    ),
    ("mapped", "bucket_id", "9", "bucket_id: 1,", "bucket_id: 9,"),
    (
        "mapped",
        "bucket_updater_host",
        "x",
        "hosts: [(\"u\", 1)]",
        "hosts: [(\"x\", 1)]",
    ),
    (
        "mapped",
        "bucket_updater_port",
        "9",
        "hosts: [(\"u\", 1)]",
        "hosts: [(\"u\", 9)]",
    ),
    ("mapped", "bucket_updater_ttl", "9", "ttl_s: 60", "ttl_s: 9"),
    (
        "bucket",
        "bucket_type",
        "random",
        "bucket_type: KeyRange",
        "bucket_type: Random",
    ),
    (
        "bucket",
        "delimiter",
        "44",
        "delimiter: 58,",
        "delimiter: 44,",
    ),
    (
        "bucket",
        "bucket_range",
        "9",
        "bucket_range: 5,",
        "bucket_range: 9,",
    ),
    (
        "bucket",
        "remove_key",
        "yes",
        "remove_key: false",
        "remove_key: true",
    ),
    (
        "bucket",
        "bucket_subdir",
        "x",
        "file_path: \"/d/b001\"",
        "file_path: \"/d/x001\"",
    ),
    ("bucket", "bucket_offset", "9", "001", "010"),
    ("bucket", "num_buckets", "3", "001", "003"),
    (
        "multi",
        "report_success",
        "any",
        "any_succeeds: false",
        "any_succeeds: true",
    ),
    ("index", "table", "x", "table: \"t\"", "table: \"x\""),
    ("index", "column", "x", "column: \"body\"", "column: \"x\""),
    (
        "index",
        "category_column",
        "x",
        "category_column: None",
        "category_column: Some(\"x\")",
    ),
    (
        "index",
        "host_column",
        "x",
        "host_column: None",
        "host_column: Some(\"x\")",
    ),
    (
        "index",
        "time_column",
        "x",
        "time_column: None",
        "time_column: Some(\"x\")",
    ),
    (
        "json",
        "fields",
        "a.b:c:int",
        "path: \"a\", column: \"a\", kind: \"text\"",
        "path: \"a.b\", column: \"c\", kind: \"int\"",
    ),
    (
        "json",
        "rest_column",
        "x",
        "rest_column: \"rest\"",
        "rest_column: \"x\"",
    ),
    ("percolate", "into", "x", "into: None", "into: Some(\"x\")"),
];

/// Variables whose effect is a message, or the kind of a store: other tests of this folder show them.
const TOLD: [&str; 15] = [
    "bucket_updater_service",
    "bucket_updater_service_options",
    "categories",
    "category",
    "dynamic_config_type",
    "failure_bucket",
    "format",
    "fs_type",
    "list_default_port",
    "num_thrift_server_threads",
    "service_cache_timeout",
    "service_options",
    "smc_service",
    "type",
    "use_conn_pool",
];

#[test]
fn each_variable_has_its_default_and_takes_its_value() {
    for (kind, key, value, default, set) in ROWS {
        let (without, _) = with(kind, "category", "a");
        assert!(without.contains(default), "{kind} {key}: {without}");
        let (with, problems) = with(kind, key, value);
        assert!(
            with.contains(set),
            "{kind} {key}={value}: {with} {problems:?}"
        );
    }
}

#[test]
fn a_host_without_a_port_has_the_default_port_of_the_list() {
    let text = store("type=network\nservice_list=x:2 y\nlist_default_port=7\n");
    let (configuration, problems) = told(&text, Defaults::V2_2);
    let shown = format!("{configuration:?}");
    assert!(shown.contains("hosts: [(\"x\", 2), (\"y\", 7)]"), "{shown}");
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn what_has_no_effect_is_told() {
    let rows = [
        ("network", "smc_service"),
        ("network", "service_options"),
        ("network", "service_cache_timeout"),
        ("mapped", "bucket_updater_service"),
        ("mapped", "bucket_updater_service_options"),
    ];
    for (kind, key) in rows {
        let (_, problems) = with(kind, key, "x");
        let told = |problem: &String| problem.contains(key) && problem.contains("not supported");
        assert!(problems.iter().any(told), "{key}: {problems:?}");
    }
}

#[test]
fn what_a_hundred_stores_say_is_told_once() {
    let bucket = |number| {
        format!(
            "<bucket{number}>\ntype=network\nremote_host=h\nremote_port=1\nuse_conn_pool=yes\n</bucket{number}>\n"
        )
    };
    let buckets: String = (0..=99).map(bucket).collect();
    let text = store(&format!(
        "type=bucket\nnum_buckets=99\nbucket_type=random\n{buckets}"
    ));
    let (_, problems) = told(&text, Defaults::V2_2);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains("use_conn_pool has no effect"),
        "{problems:?}"
    );
}

/// As scribed names them: by the prefix without its star, by the list as it stands.
#[test]
fn files_that_categories_share_have_the_name_of_the_store() {
    for (categories, name) in [
        ("category=we*", "we"),
        ("category=default", "default"),
        ("categories=web a", "web a"),
    ] {
        let text = format!(
            "new_thread_per_category=no\n<store>\n{categories}\ntype=file\nfile_path=/d\n</store>\n"
        );
        let (configuration, _) = told(&text, Defaults::V2_2);
        let StoreConfig::File(file) = &configuration.stores[0].store else {
            panic!("{configuration:?}")
        };
        assert_eq!(file.base.base_filename.as_deref(), Some(name));
    }
}

#[test]
fn no_variable_is_left_out() {
    let rows: Vec<&str> = ROWS.iter().map(|(_, key, ..)| *key).chain(TOLD).collect();
    for (key, _) in keys::KEYS {
        assert!(rows.contains(&key), "{key}");
    }
}

#[test]
fn a_bad_number_is_told_with_its_line_and_the_default_counts() {
    for (kind, key, value, default, _) in ROWS {
        // A row whose store gives the variable a value of its own has no default to show.
        let is_given = complete(kind).contains(&format!("{key}="));
        let is_flag = ["add_newlines", "use_simple_file"].contains(&key);
        if value.parse::<f64>().is_err() || is_flag || is_given {
            continue;
        }
        for bad in ["nine", "-1", "99999999999999999999999"] {
            let (with, problems) = with(kind, key, bad);
            let told = problems
                .iter()
                .any(|problem| problem.contains(&format!("{key}={bad}")));
            assert!(told, "{kind} {key}={bad}: {problems:?}");
            let is_cut = bad.starts_with('9') && with.contains(&u64::MAX.to_string());
            assert!(
                is_cut || with.contains(default),
                "{kind} {key}={bad}: {with}"
            );
        }
    }
}
