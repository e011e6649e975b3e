//! The shape of the workspace: which crate may know which, how long a file may be, and that the
//! core does no input or output.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where the workspace cannot be read"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gramc_language_tests::circles::{Module, circles};
use gramc_language_tests::root;
use serde_json::Value;

/// The crates from the lowest floor to the highest. An edge may skip floors, but only downwards.
const FLOORS: [&str; 24] = [
    "gramc-stats",
    "gramc-syntax",
    "gramc-json-schema",
    "gramc-model",
    "gramc-check",
    "gramc-schema",
    "gramc-openapi",
    "gramc-grammar",
    "gramc-codegen",
    "gramc-lint",
    "gramc-search",
    "gramc-project",
    "gramc-calls",
    "gramc-tools",
    "gramc-diff",
    "gramc-mcp",
    "gramc-agent",
    "gramc-experiment",
    "gramc-lsp",
    "gramc-web",
    "gramc",
    "gramc-host",
    "gramc-node",
    "gramc-python",
];

/// The end of the names of the packages with tests. They may depend on every crate; no crate depends on them.
const TESTS: &str = "-tests";

/// The crates that do no input or output.
const CORE: [&str; 11] = [
    "gramc-syntax",
    "gramc-json-schema",
    "gramc-model",
    "gramc-check",
    "gramc-schema",
    "gramc-openapi",
    "gramc-codegen",
    "gramc-grammar",
    "gramc-lint",
    "gramc-search",
    "gramc-calls",
];

/// The modules of `std` that the core does without.
const OUTSIDE_WORLD: [&str; 4] = ["env", "fs", "net", "time"];

/// The most lines of a source file, its tests not counted.
const MAX_LINES: usize = 500;

/// The most of all lines that one crate holds, in percent.
const MAX_SHARE: usize = 20;

/// The most files that import each other in a circle.
const MAX_CIRCLE: usize = 5;

/// A package of the workspace and the packages of the workspace that it depends on, in any way.
struct Package {
    name: String,
    dependencies: Vec<String>,
}

fn packages() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");

    let text = |value: &Value| value.as_str().expect("names are strings").to_owned();
    let list = |value: &Value| value.as_array().expect("these are lists").clone();
    let members = list(&metadata["packages"]);
    let names: BTreeSet<String> = members.iter().map(|member| text(&member["name"])).collect();
    members
        .iter()
        .map(|member| Package {
            name: text(&member["name"]),
            dependencies: list(&member["dependencies"])
                .iter()
                // What only tests use is in no published crate.
                .filter(|dependency| {
                    dependency["kind"] != "dev" || !text(&dependency["name"]).ends_with(TESTS)
                })
                .map(|dependency| text(&dependency["name"]))
                .filter(|name| names.contains(name))
                .collect(),
        })
        .collect()
}

/// The edges that the order of the floors does not allow, each as a message.
fn forbidden_edges(packages: &[Package]) -> Vec<String> {
    let floor = |name: &str| FLOORS.iter().position(|known| *known == name);
    let mut found = Vec::new();
    for Package { name, dependencies } in
        packages.iter().filter(|package| !package.name.ends_with(TESTS))
    {
        let Some(own) = floor(name) else {
            found.push(format!("{name} has no place in the order of the crates: give it one"));
            continue;
        };
        for dependency in dependencies {
            if floor(dependency).is_none_or(|other| other >= own) {
                found.push(format!("{name} must not depend on {dependency}"));
            }
        }
    }
    found
}

#[test]
fn dependencies_run_downwards_only() {
    let packages = packages();
    for name in CORE {
        assert!(packages.iter().any(|package| package.name == name), "{name} is not found");
    }
    let found = forbidden_edges(&packages);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn edges_upwards_sideways_and_to_strangers_are_found() {
    let package = |name: &str, dependencies: &[&str]| Package {
        name: name.to_owned(),
        dependencies: dependencies.iter().map(|&name| name.to_owned()).collect(),
    };
    let found = forbidden_edges(&[
        package("gramc-syntax", &["gramc-schema"]),
        package("gramc-schema", &["gramc-syntax", "gramc-schema"]),
        package("gramc", &["gramc-lsp", "gramc-syntax", "gramc-schema-tests"]),
        package("gram-extra", &[]),
        package("gramc-schema-tests", &["gramc", "gramc-syntax"]),
    ]);
    assert_eq!(
        found,
        [
            "gramc-syntax must not depend on gramc-schema",
            "gramc-schema must not depend on gramc-schema",
            "gramc must not depend on gramc-schema-tests",
            "gram-extra has no place in the order of the crates: give it one",
        ]
    );
}

/// The folder with the source files of a crate.
fn source_folder(name: &str) -> PathBuf {
    let folders = ["crates", "bindings"].map(|folder| root().join(folder).join(name).join("src"));
    folders.into_iter().find(|folder| folder.is_dir()).unwrap_or_else(|| panic!("no crate {name}"))
}

/// The source files of a crate, without test modules.
fn sources(name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![source_folder(name)];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries {
            let path = entry.expect("a folder can be listed").path();
            if path.file_stem().is_some_and(|stem| stem == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "{name} has no source files");
    files
}

/// What of a source file is not its tests.
fn before_tests(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().take_while(|line| !line.trim_start().starts_with("#[cfg(test)]"));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn no_crate_holds_too_much() {
    let lines = |name: &&str| -> usize {
        sources(name).iter().map(|path| before_tests(path).lines().count()).sum()
    };
    let lines: Vec<usize> = FLOORS.iter().map(lines).collect();
    let all: usize = lines.iter().sum();
    let too_large = FLOORS.iter().zip(&lines).filter(|(_, lines)| **lines * 100 > all * MAX_SHARE);
    let too_large: Vec<_> = too_large.collect();
    assert!(too_large.is_empty(), "more than {MAX_SHARE} % of {all} lines: {too_large:?}");
}

#[test]
fn few_files_import_each_other() {
    let mut found = String::new();
    for name in FLOORS {
        let root = source_folder(name);
        let module = |path: &Path| -> Module {
            let below = path.strip_prefix(&root).expect("a source lies below its root");
            let names = below.with_extension("");
            let names = names.iter().map(|name| name.to_string_lossy().into_owned());
            names.filter(|name| !matches!(name.as_str(), "lib" | "main" | "mod")).collect()
        };
        let files = sources(name).into_iter().map(|path| (module(&path), before_tests(&path)));
        for circle in circles(&files.collect()) {
            if circle.len() > MAX_CIRCLE {
                let names: Vec<_> = circle.iter().map(|module| module.join("/")).collect();
                let _ = writeln!(found, "{name}: {} files: {}", circle.len(), names.join(", "));
            }
        }
    }
    assert!(found.is_empty(), "more than {MAX_CIRCLE} files import each other\n{found}");
}

#[test]
fn source_files_are_short() {
    let mut found = String::new();
    for name in FLOORS {
        for path in sources(name) {
            let lines = before_tests(&path).lines().count();
            if lines > MAX_LINES {
                let _ = writeln!(found, "{}: {lines} lines, split it", path.display());
            }
        }
    }
    assert!(found.is_empty(), "the limit is {MAX_LINES} lines\n{found}");
}

/// The modules of `OUTSIDE_WORLD` that a source text names, alone or in a group of imports.
fn outside_world(text: &str) -> Vec<&'static str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.fold(String::new(), |code, line| code + line + "\n");
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("std::") {
        let after = &code[at + "std::".len()..];
        match after.strip_prefix('{') {
            Some(group) => named.extend(first_segments(group)),
            None => named.extend(segment(after)),
        }
    }
    OUTSIDE_WORLD.into_iter().filter(|module| named.contains(module)).collect()
}

/// The name that a path begins with.
fn segment(path: &str) -> Option<&str> {
    path.trim_start().split(|c: char| c != '_' && !c.is_alphanumeric()).next()
}

/// The names that the paths of an import group begin with. The text starts after its brace.
fn first_segments(group: &str) -> Vec<&str> {
    let mut segments: Vec<&str> = segment(group).into_iter().collect();
    let mut depth = 1;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => segments.extend(segment(&group[at + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    segments
}

#[test]
fn the_core_does_no_input_or_output() {
    let mut found = String::new();
    for path in CORE.into_iter().flat_map(sources) {
        for module in outside_world(&before_tests(&path)) {
            let _ = writeln!(found, "{} names std::{module}", path.display());
        }
    }
    assert!(
        found.is_empty(),
        "files, clock, environment and network are for the crates above\n{found}"
    );
}

#[test]
fn every_spelling_of_a_module_is_found() {
    for (text, expected) in [
        ("use std::fs;", &["fs"][..]),
        ("let text = std::fs::read(path);", &["fs"]),
        ("use ::std::env::{args, vars};", &["env"]),
        ("use std::{\n    fmt,\n    io::{self, Read},\n    net::IpAddr,\n};", &["net"]),
        ("use std::{time::Instant, fs as files};", &["fs", "time"]),
        ("use std::{fmt, sync};\nmod time;\nuse crate::{fs, time};", &[]),
        ("// Unlike std::fs, this reads nothing.\nuse std::fmt;", &[]),
        ("use std::environment;", &[]),
        ("let x = env!(\"HOME\");", &[]),
    ] {
        assert_eq!(outside_world(text), expected, "{text}");
    }
}
