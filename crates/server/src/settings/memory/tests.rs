use super::{bytes_of, cgroup_bytes, limit_upward};

#[test]
fn the_machine_tells_its_memory_in_kib() {
    let text = "MemTotal:       24663072 kB\nMemFree:        1 kB\n";
    assert_eq!(bytes_of(text, "MemTotal:"), Some(24_663_072 << 10));
    assert_eq!(bytes_of("nothing", "MemTotal:"), None);
}

#[test]
fn the_lowest_limit_on_the_way_up_counts() {
    let root = std::env::temp_dir().join(format!("seine-cgroup-{}", std::process::id()));
    let leaf = root.join("a/b");
    std::fs::create_dir_all(&leaf).unwrap();
    std::fs::write(leaf.join("memory.max"), "max\n").unwrap();
    std::fs::write(root.join("a/memory.max"), "1048576\n").unwrap();
    std::fs::write(root.join("memory.max"), "4194304\n").unwrap();
    let limit = limit_upward(root.to_str().unwrap(), "/a/b", "memory.max");
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(limit, Some(1_048_576));
}

#[test]
fn a_process_in_no_memory_group_has_no_limit_of_one() {
    assert_eq!(cgroup_bytes("3:cpu:/x\n"), None);
    assert_eq!(cgroup_bytes("garbage"), None);
}
