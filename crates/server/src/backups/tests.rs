use super::place;
use std::path::{Path, PathBuf};

/// A folder with `data` and `out` in it, removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("seine-{name}-{}", std::process::id()));
        for folder in ["data", "out/full"] {
            std::fs::create_dir_all(path.join(folder)).unwrap();
        }
        std::fs::write(path.join("out/full/file"), b"").unwrap();
        Scratch(path.canonicalize().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_backup_goes_to_a_new_folder_and_nowhere_else() {
    let scratch = Scratch::new("backup-places");
    let (data, out) = (scratch.0.join("data"), scratch.0.join("out"));
    let free = |to: &str| place(None, &data, to);
    assert_eq!(free(&scratch.at("out/new")), Ok(out.join("new")));
    for refused in [
        "",
        "new",
        "/",
        &scratch.at("out/full"),
        &scratch.at("data/new"),
        &scratch.at("out/../data/new"),
        &scratch.at("missing/new"),
        &scratch.at("out/full/file"),
    ] {
        assert!(free(refused).is_err(), "{refused}");
    }
    let bound = |to: &str| place(Some(Path::new(&out)), &data, to);
    assert_eq!(bound("new"), Ok(out.join("new")));
    assert_eq!(bound(&scratch.at("out/new")), Ok(out.join("new")));
    assert!(bound(&scratch.at("new")).is_err());
    assert!(bound(&scratch.at("out")).is_err(), "not below it");
}

#[test]
fn a_link_below_the_folder_of_backups_does_not_lead_out_of_it() {
    let scratch = Scratch::new("backup-links");
    let (data, out) = (scratch.0.join("data"), scratch.0.join("out"));
    std::fs::create_dir(scratch.0.join("empty")).unwrap();
    std::os::unix::fs::symlink(scratch.0.join("empty"), out.join("link")).unwrap();
    let bound = |to: &str| place(Some(Path::new(&out)), &data, to);
    assert!(bound("link").is_err());
    assert!(bound("link/new").is_err());
    assert!(place(None, &data, &scratch.at("out/link")).is_err());
}
