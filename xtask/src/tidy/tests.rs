use super::source::{Function, Source};
use super::tree::{File, Tree};
use super::{
    Problem, arrows, banned, circles, count, documents, ids, imports, lengths, mutations, names,
    prose, readers, rooms, safety, wildcards, workspaces,
};
use crate::mutate::Mutation;

#[test]
fn the_tree_is_tidy() {
    let problems = super::check(&super::workspace_root()).unwrap();
    let list: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert!(list.is_empty(), "\n{}", list.join("\n"));
}

/// Runs one rule on a tree of given files; answers `path:line` of each problem.
#[track_caller]
fn check(rule: fn(&Tree, &mut Vec<Problem>), files: &[(&str, &str)], want: &[&str]) {
    let file = |(path, text): &(&str, &str)| File {
        path: (*path).into(),
        text: Some((*text).into()),
    };
    let tree = Tree {
        files: files.iter().map(file).collect(),
    };
    let mut problems = Vec::new();
    rule(&tree, &mut problems);
    let got: Vec<String> = problems
        .iter()
        .map(|p| format!("{}:{}", p.path, p.line))
        .collect();
    assert_eq!(got, want, "{problems:?}");
}

const ROOT: (&str, &str) = (
    "Cargo.toml",
    "[workspace.dependencies]\nseine-language = { path = \"x\" }\ncrc = \"1\" # sums (journal)\ninsta = \"1\" # golden (tests)\n",
);

#[test]
fn a_crate_imports_only_what_the_table_allows() {
    let journal = "[dependencies]\nseine-language.workspace = true\ncrc.workspace = true\n";
    let disk =
        "[dependencies]\ncrc = { workspace = true }\n[dev-dependencies]\ninsta.workspace = true\n";
    let files = [
        ROOT,
        ("crates/journal/Cargo.toml", journal),
        ("crates/disk/Cargo.toml", disk),
    ];
    check(
        imports::check,
        &files,
        &["crates/journal/Cargo.toml:2", "crates/disk/Cargo.toml:2"],
    );
}

#[test]
fn a_circle_of_three_files_is_found_through_re_exports_and_one_of_two_is_none() {
    let rule = |tree: &Tree, problems: &mut Vec<Problem>| {
        circles::check(&arrows::by_crate(tree), problems);
    };
    let root = "mod a; mod b; mod c; mod d;";
    let a = "pub(crate) use inside::{A, B as Named};\nmod inside;\n";
    let inside =
        "use crate::b;\nuse super::outer;\npub(crate) struct A(b::B); pub(crate) struct B;";
    let b = "use crate::c::{self, *};\npub(crate) struct B(C, c::D);";
    let c = "pub(crate) struct C; pub(crate) struct D; fn f() { crate::a::Named::new() }";
    let files = [
        ("crates/x/src/lib.rs", root),
        ("crates/x/src/a.rs", a),
        ("crates/x/src/a/inside.rs", inside),
        ("crates/x/src/b.rs", b),
        ("crates/x/src/c.rs", c),
    ];
    check(rule, &files, &["crates/x/src/a/inside.rs:1"]);
    let two = [
        files[0],
        files[1],
        files[2],
        ("crates/x/src/b.rs", "use crate::a::A; pub(crate) struct B;"),
        files[4],
    ];
    check(rule, &two, &[]);
    let tests_do = "#[cfg(test)]\nmod tests { use crate::c::C; }\npub(crate) struct B;";
    let apart = [
        files[0],
        files[1],
        files[2],
        ("crates/x/src/b.rs", tests_do),
        files[4],
    ];
    check(rule, &apart, &[]);
}

#[test]
fn a_version_outside_the_root_an_unused_crate_and_an_unknown_crate_are_refused() {
    let journal = "[dependencies]\ncrc = \"1\"\n";
    let files = [
        ROOT,
        ("crates/journal/Cargo.toml", journal),
        ("crates/odd/Cargo.toml", "[package]\n"),
    ];
    let want = [
        "crates/journal/Cargo.toml:2",
        "crates/odd/Cargo.toml:1",
        "Cargo.toml:1",
    ];
    check(imports::check, &files, &want);
}

#[test]
fn the_benchmarks_say_why_they_import_a_crate_and_do_not_count_as_its_importers() {
    let bench = "[dependencies]\nseine-language = { path = \"x\" }\nredis = \"1\" # a peer\ncrc = \"1\"\n\
        seine-engine = { path = \"x\" }\n";
    let files = [ROOT, ("bench/Cargo.toml", bench)];
    let want = [
        "bench/Cargo.toml:4",
        "bench/Cargo.toml:5",
        "Cargo.toml:1",
        "Cargo.toml:1",
    ];
    check(imports::check, &files, &want);
}

#[test]
fn the_benchmarks_have_the_lints_profiles_and_versions_of_the_root() {
    let root = "[workspace.package]\nedition = \"2024\"\n[workspace.dependencies]\ncrc = \"1\" # sums (journal)\n\
        serde = { version = \"2\", features = [] } # bodies (wire)\n[workspace.lints.clippy]\ndbg_macro = \"warn\"\n\
        # Why.\n[profile.dev.package.\"*\"]\nopt-level = 1\n";
    let same = "[package]\nname = \"b\"\nedition = \"2024\"\n[dependencies]\ncrc = \"1\" # sums\nredis = \"9\" # a peer\n\
        serde = { version = \"2\" } # results\n[lints.clippy]\ndbg_macro = \"warn\"\n\
        [profile.dev.package.\"*\"]\nopt-level = 1\n";
    let files = [("Cargo.toml", root), ("bench/Cargo.toml", same)];
    check(workspaces::check, &files, &[]);
    let other_version = same.replace("\"2\"", "\"3\"");
    let files = [("Cargo.toml", root), ("bench/Cargo.toml", &other_version)];
    check(workspaces::check, &files, &["bench/Cargo.toml:7"]);
    for line in [
        "edition = \"2024\"\n",
        "dbg_macro = \"warn\"\n",
        "opt-level = 1\n",
    ] {
        let lacking = same.replace(line, "");
        let files = [("Cargo.toml", root), ("bench/Cargo.toml", &lacking)];
        check(workspaces::check, &files, &["bench/Cargo.toml:1"]);
    }
}

#[test]
fn banned_words_count_in_code_only_and_where_they_are_banned() {
    let code = "// std::fs is fine here\nuse std::fs;\nconst TEXT: &str = \"std::net\";\n";
    check(
        banned::check,
        &[("crates/relation/src/a.rs", code)],
        &["crates/relation/src/a.rs:2"],
    );
    check(banned::check, &[("crates/disk/src/a.rs", code)], &[]);
    check(
        banned::check,
        &[("crates/relation/src/tests.rs", code)],
        &[],
    );
    let test = "fn wait() {\n    std::thread::sleep(SHORT);\n}\n";
    check(banned::check, &[("crates/server/src/a.rs", test)], &[]);
    check(
        banned::check,
        &[("crates/cli/tests/it/a.rs", test)],
        &["crates/cli/tests/it/a.rs:2"],
    );
}

#[test]
fn text_is_read_as_a_number_by_the_one_reader_and_by_listed_files() {
    let code = "fn read(text: &str) -> Option<i64> {\n    text.parse().ok()\n}\n";
    let file = "crates/wire/src/json/filter.rs";
    check(
        readers::check,
        &[(file, code)],
        &["crates/wire/src/json/filter.rs:2"],
    );
    for spelt in [
        "let n = text.parse::<f64>();\n",
        "let n = u64::from_str_radix(text, 16);\n",
    ] {
        check(
            readers::check,
            &[(file, spelt)],
            &["crates/wire/src/json/filter.rs:1"],
        );
    }
    check(
        readers::check,
        &[(file, "let mode = Mode::parse(text);\n")],
        &[],
    );
    check(
        readers::check,
        &[("crates/wire/src/json/tests.rs", code)],
        &[],
    );
    for listed in [
        "crates/relation/src/schema/constant.rs",
        "crates/relation/src/options.rs",
        "bench/src/index.rs",
    ] {
        check(readers::check, &[(listed, code)], &[]);
    }
    check(
        readers::check,
        &[("crates/relation/src/options.rs", "")],
        &["crates/relation/src/options.rs:1"],
    );
}

#[test]
fn unfinished_marks_and_machine_paths_are_found_in_any_text() {
    let mark = format!("all good\n# {}: later\n", concat!("TO", "DO"));
    check(banned::check, &[("a.sh", &mark)], &["a.sh:2"]);
    let path = format!("see /{}/me/notes and a/home/b\n", "home");
    check(banned::check, &[("a.md", &path)], &["a.md:1"]);
    check(banned::check, &[("a.md", "see docs/home/notes\n")], &[]);
}

#[test]
fn files_with_empty_names_are_refused() {
    check(
        banned::check,
        &[("crates/relation/src/utils.rs", "")],
        &["crates/relation/src/utils.rs:1"],
    );
}

#[test]
fn long_files_and_functions_are_refused_but_not_in_tests() {
    let long = format!(
        "fn short() {{}}\nfn long() {{\n{}}}\n",
        "    step();\n".repeat(70)
    );
    check(lengths::check, &[("a.rs", &long)], &["a.rs:2"]);
    check(lengths::check, &[("tests.rs", &long)], &[]);
    let within = format!("#[cfg(test)]\nmod tests {{\n{long}}}\n");
    check(lengths::check, &[("a.rs", &within)], &[]);
    check(
        lengths::check,
        &[("a.rs", &"const A: u8 = 1;\n".repeat(1_001))],
        &["a.rs:1"],
    );
}

#[test]
fn two_bare_ids_of_one_function_are_refused() {
    let path = "crates/a/src/a.rs";
    let swapped = "fn note(\n    query_id: u64,\n    position: u64,\n) {}\n";
    check(ids::check, &[(path, swapped)], &["crates/a/src/a.rs:1"]);
    let behind = "fn note(each: impl Fn(u64, &[u8]) -> bool, id: u64, row: u32) {}\n";
    check(ids::check, &[(path, behind)], &["crates/a/src/a.rs:1"]);
    let typed = "fn note(query_id: u64, position: Position, rows: u64) -> u64 {}\n";
    check(ids::check, &[(path, typed)], &[]);
    check(ids::check, &[("crates/a/tests/a.rs", swapped)], &[]);
}

#[test]
fn links_must_lead_to_a_file_or_folder_of_the_tree() {
    let text =
        "[a](b.md) [b](../README.md#top) [c](https://x.y/z)\n[d](missing.md) [e](#here) [f](adr)\n";
    let files = [
        ("docs/a.md", text),
        ("docs/b.md", ""),
        ("README.md", ""),
        ("docs/adr/x.txt", ""),
    ];
    check(documents::check, &files, &["docs/a.md:2"]);
}

#[test]
fn a_guard_that_is_no_test_is_refused() {
    let page =
        "| a | b | `x/y.rs::kept`, `x/y.rs::gone` |\n`x/y.rs::plain` `z.rs::kept` `x/y.rs`\n";
    let code = "#[test]\n#[cfg(unix)]\nfn kept() {}\n\nfn plain() {}\n";
    check(
        safety::check,
        &[("SAFETY.md", page), ("x/y.rs", code)],
        &["SAFETY.md:1", "SAFETY.md:2", "SAFETY.md:2"],
    );
}

#[test]
fn a_stale_mutation_and_one_that_the_page_or_the_list_lacks_are_refused() {
    fn rule(tree: &Tree, problems: &mut Vec<Problem>) {
        let one = |name, text| Mutation {
            name,
            file: "a.rs",
            text,
            becomes: "",
            test: "a.rs::sees",
            may_hang: false,
        };
        let list = [
            one("sound", "once"),
            one("stale", "twice"),
            one("silent", "once"),
        ];
        mutations::check_list(tree, &list, problems);
    }
    let page = "| `before` |\n## Planted bugs\n\n| name | bug | test |\n|---|---|---|\n\
        | `sound` | a | `a.rs::sees` |\n| `stale` | a | `a.rs::sees` |\n| `gone` | a | `a.rs::sees` |\n\
        ## After\n| `after` |\n";
    let files = [("SAFETY.md", page), ("a.rs", "once twice twice")];
    let list = "xtask/src/mutate/list.rs:1";
    check(rule, &files, &[list, "SAFETY.md:1", "SAFETY.md:8"]);
}

#[test]
fn decision_records_are_numbered_once_and_say_what_they_must() {
    let whole = "Status: accepted.\n## Context\n## Decision\n## Rejected\n## How we would notice we were wrong\n";
    let files = [
        ("docs/adr/README.md", "[001](001-a.md) [001](001-b.md)\n"),
        ("docs/adr/001-a.md", whole),
        ("docs/adr/001-b.md", whole),
        ("docs/adr/002-c.md", "## Context\n"),
    ];
    // The third has no status, is not listed, and lacks three parts.
    let want = [
        "docs/adr/001-b.md:1",
        "docs/adr/002-c.md:1",
        "docs/adr/002-c.md:1",
        "docs/adr/002-c.md:1",
        "docs/adr/002-c.md:1",
        "docs/adr/002-c.md:1",
    ];
    check(documents::check, &files, &want);
}

#[test]
fn a_second_function_called_of_in_a_file_is_refused() {
    let code = "impl A {\n    fn of() {}\n}\nimpl B {\n    fn of() {}\n}\n";
    let test = "#[cfg(test)]\nmod tests {\n    fn of() {}\n}\n";
    let tested = format!("fn of() {{}}\n{test}");
    let files = [("crates/a/src/b.rs", code), ("crates/a/src/c.rs", &tested)];
    check(names::check, &files, &["crates/a/src/b.rs:5"]);
}

#[test]
fn a_path_or_a_name_of_the_architecture_that_is_gone_is_refused() {
    let page = "`a/src/b.rs::run` and `a/src/b.rs::MAX` in `a/src` of `SELECT a/b` or `x::y`\n\
        `a/src/b.rs::gone`\n`a/src/c.rs::run`\n`a/tests`\n`a/src/b.rs::said` `xtask/main.rs::main`\n";
    let code = "const MAX: u8 = 1;\npub(crate) fn run() {} // fn said\n";
    let files = [
        ("ARCHITECTURE.md", page),
        ("crates/a/src/b.rs", code),
        ("xtask/main.rs", "fn main() {}\n"),
    ];
    let want = [2, 3, 4, 5].map(|line| format!("ARCHITECTURE.md:{line}"));
    let want: Vec<&str> = want.iter().map(String::as_str).collect();
    check(names::check, &files, &want);
}

#[test]
fn a_refused_phrase_is_found_over_the_end_of_a_line_and_not_between_backticks() {
    let page =
        "It takes so\nmany rows. `whoever` is code.\n\n    whoever indents\n\nWhoever reads\n";
    let code = "/// Of so\n/// many rows the first.\nfn a() {} // so many\n\n// whoever asks\n";
    let tests = "// so many\n";
    let files = [
        ("docs/a.md", page),
        ("CHANGELOG.md", page),
        ("crates/a/src/b.rs", code),
        ("crates/a/src/tests.rs", tests),
    ];
    let want = [
        "docs/a.md:1",
        "docs/a.md:6",
        "crates/a/src/b.rs:1",
        "crates/a/src/b.rs:5",
    ];
    check(prose::check, &files, &want);
}

#[test]
fn a_doc_comment_that_holds_a_place_is_refused_and_a_short_fact_is_not() {
    let code = "//! Rows of queues.\n\n/// The queue.\npub struct Queue {\n    /// Which.\n    a: u8,\n    /// From 1.\n    b: u8,\n    \
        /// `a << b`.\n    c: u8,\n    /// DROP TABLE.\n    d: u8,\n    // Why not.\n    /// Rows taken.\n    e: u8,\n    /// Rising.\n    f: u8,\n    /// Votes.\n    g: u8,\n}\n";
    let want = [
        "crates/a/src/b.rs:3",
        "crates/a/src/b.rs:5",
        "crates/a/src/b.rs:18",
    ];
    check(prose::check, &[("crates/a/src/b.rs", code)], &want);
}

#[test]
fn a_long_line_of_markdown_is_refused_but_for_rows_that_a_test_compares() {
    let (line, row) = ("é".repeat(131), format!("| {} |", "a".repeat(130)));
    let text = format!("{line}\n{row}\n{}\n", "é".repeat(130));
    let files = [("docs/a.md", &*text), ("docs/errors.md", &*text)];
    let want = ["docs/a.md:1", "docs/a.md:2", "docs/errors.md:1"];
    check(prose::check, &files, &want);
}

#[test]
fn braces_in_literals_and_comments_do_not_count() {
    let text = "fn a<'x>(s: &'x str) -> char {\n    /* { /* { */ */\n    let _ = (r#\"{\"{\"#, \"\\\"{\", b\"{\", '\\'', '{', 'é');\n    '}' // }\n}\nfn b();\n";
    let source = Source::new("a.rs", text);
    assert_eq!(
        source.functions(),
        [Function {
            name: "a".into(),
            first: 1,
            last: 5
        }]
    );
}

#[test]
fn lines_are_counted_without_blanks_comments_and_tests() {
    let code = "//! Head.\n\nfn one() {\n    two(); // behind code\n}\n\n#[cfg(test)]\nmod tests {\n    fn three() {}\n}\n";
    let file = |path: &str| File {
        path: path.to_owned(),
        text: Some(code.to_owned()),
    };
    let paths = [
        "crates/disk/src/lib.rs",
        "crates/disk/tests/it.rs",
        "bench/src/lib.rs",
        "benchmarks/x.rs",
        "fuzz/x.rs",
    ];
    let tree = Tree {
        files: paths.map(file).into(),
    };
    let counted: Vec<(String, usize)> = count::by_crate(&tree).into_iter().collect();
    assert_eq!(counted, [("bench".to_owned(), 3), ("disk".to_owned(), 3)]);
}

#[test]
fn a_file_may_not_import_from_a_higher_room_by_use_path_or_re_export() {
    let rule = |tree: &Tree, problems: &mut Vec<Problem>| {
        rooms::order(
            "x",
            "low side < high",
            &arrows::by_crate(tree)["x"],
            problems,
        );
    };
    let root = (
        "crates/x/src/lib.rs",
        "mod high; mod low; mod side; pub use high::H;",
    );
    let high = (
        "crates/x/src/high.rs",
        "use crate::low::L;\npub struct H(L);",
    );
    let side = ("crates/x/src/side.rs", "pub struct S;");
    let low = |text| ("crates/x/src/low/inside.rs", text);
    let outer = ("crates/x/src/low.rs", "mod inside;\npub struct L;");
    let fine =
        "use super::L;\nuse crate::side::S;\n#[cfg(test)]\nmod tests { use crate::high::H; }";
    check(rule, &[root, high, side, outer, low(fine)], &[]);
    let by_use = "use crate::side::{\n    S,\n};\n\nuse crate::high::H;";
    check(
        rule,
        &[root, high, side, outer, low(by_use)],
        &["crates/x/src/low/inside.rs:5"],
    );
    let by_path = "use crate::side::{\n    S,\n};\nfn f() {\n    crate::high::H::new()\n}";
    check(
        rule,
        &[root, high, side, outer, low(by_path)],
        &["crates/x/src/low/inside.rs:5"],
    );
    let re_exported = "\nuse crate::H;";
    check(
        rule,
        &[root, high, side, outer, low(re_exported)],
        &["crates/x/src/low/inside.rs:2"],
    );
    let unknown = ("crates/x/src/new.rs", "pub struct N;");
    let want = ["crates/x/src/new.rs:1", "xtask/src/tidy/rooms.rs:1"];
    check(rule, &[root, high, outer, unknown], &want);
}

#[test]
fn a_crate_may_not_import_one_that_the_code_map_lists_after_it() {
    let percolate = "[dependencies]\nseine-language.workspace = true\n";
    let root = "[workspace.dependencies]\nseine-language = { path = \"x\" }\n";
    let map = |text| {
        [
            ("Cargo.toml", root),
            ("crates/percolate/Cargo.toml", percolate),
            ("ARCHITECTURE.md", text),
        ]
    };
    let right = "- **language**: words.\n- **percolate**: hits.\n";
    let wrong = "- **percolate**: hits.\n- **language**: words.\n";
    check(imports::check, &map(right), &[]);
    check(
        imports::check,
        &map(wrong),
        &["crates/percolate/Cargo.toml:2"],
    );
}

#[test]
fn a_wildcard_arm_beside_a_variant_of_an_enum_that_grows_is_found() {
    let rule = |tree: &Tree, problems: &mut Vec<Problem>| {
        wildcards::check_but(tree, &[], problems);
    };
    let finds = |code: &str, want: &[usize]| {
        let want: Vec<String> = want.iter().map(|line| format!("a.rs:{line}")).collect();
        let want: Vec<&str> = want.iter().map(String::as_str).collect();
        check(rule, &[("a.rs", code)], &want);
    };
    finds("fn f() { match x {\n Kind::A => 1,\n _ => 2,\n} }", &[3]);
    finds(
        "fn f() { match x {\n Kind::A(_) | Kind::B => 1,\n other => 2 } }",
        &[3],
    );
    finds(
        "fn f() { match (x, y) {\n (Some(Kind::A), _) => 1,\n (_, mut y) => 2 } }",
        &[3],
    );
    finds(
        "use a::ColumnType as T;\nfn f() { match x {\n T::A => 1,\n _ => 2 } }",
        &[4],
    );
    finds(
        "macro_rules! m { () => { match x {\n Node::A => 1,\n _ => 2 } } }",
        &[3],
    );
    // The commas of a body end no arm; matches in a body have arms of their own.
    finds(
        "match x {\n Kind::A => y.collect::<Vec<_, _>>(),\n _ => 2 }",
        &[3],
    );
    finds(
        "match x {\n Kind::A => match y {\n Node::A => 1,\n _ => 2,\n },\n Kind::B => { 3 }\n }",
        &[4],
    );
    finds(
        "match x {\n Other::A => match y {\n Node::A => 1,\n Node::B => 2,\n },\n _ => 3 }",
        &[],
    );
    finds(
        "match f(|y| { y }) {\n Kind::A { .. } => {}\n name => g(name) }",
        &[3],
    );
}

#[test]
fn a_match_that_names_every_variant_or_asks_by_a_guard_is_left_alone() {
    let code = "fn f() { match x { Kind::A => 1, Kind::B(_) | Kind::C { .. } => 2 }\n\
                match x { Kind::A => 1, _ if y => 2, Kind::B => 3 }\n\
                match x { LinkKind::A => 1, Kinds::A => 3, _ => 2 }\n\
                match x { true if y == Kind::A => 1, _ => 2 }\n\
                match x { '_' => Kind::A, _ => Kind::B } }\n\
                #[cfg(test)]\nmod tests { fn f() { match x { Kind::A => 1, _ => 2 } } }";
    let rule = |tree: &Tree, problems: &mut Vec<Problem>| {
        wildcards::check_but(tree, &[], problems);
    };
    check(rule, &[("a.rs", code)], &[]);
    let wild = "fn f() { match x { Kind::A => 1, _ => 2 } }";
    check(rule, &[("tests/a.rs", wild)], &[]);
}

#[test]
fn a_list_of_types_is_refused_and_the_question_for_one_type_is_not() {
    check(
        |tree, problems| wildcards::check_but(tree, &[], problems),
        &[(
            "a.rs",
            "fn f(kind: ColumnType) -> bool {\n    matches!(kind, ColumnType::Date | ColumnType::Time { .. })\n}\n\
             fn g(kind: ColumnType) -> bool {\n    matches!(kind, ColumnType::Time { .. })\n}\n\
             #[cfg(test)]\nmod tests {\n    fn h() -> bool {\n        matches!(A, TypeFamily::B | TypeFamily::C)\n    }\n}\n",
        )],
        &["a.rs:2"],
    );
}

#[test]
fn an_excused_wildcard_passes_and_an_excuse_that_is_not_needed_is_refused() {
    let rule = |tree: &Tree, problems: &mut Vec<Problem>| {
        let excused = [("a.rs", "f", "as a test")];
        wildcards::check_but(tree, &excused, problems);
    };
    let wild = "fn f() { match x { Kind::A => 1, _ => 2 } }";
    check(rule, &[("a.rs", wild)], &[]);
    check(rule, &[("a.rs", "fn f() {}")], &["a.rs:1"]);
    // A file that has moved takes its excuse along.
    check(rule, &[("b.rs", wild)], &["b.rs:1", "a.rs:1"]);
    let other =
        "fn f() { match x { Kind::A => 1, _ => 2 } }\nfn g() { match x { Kind::A => 1, _ => 2 } }";
    check(rule, &[("a.rs", other)], &["a.rs:2"]);
}
