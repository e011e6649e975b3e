//! Repairs beside those of other libraries, on the calls of `tests/corpus/calls`. `tests/real/install` installs
//! them.

use crate::support::{binary, command, installed, root};

#[test]
fn the_table_of_repairs_is_as_documented() {
    installed("ai-sdk/node_modules/jsonrepair");
    let mut python = command(installed("frameworks/bin/python"));
    python.arg(root().join("tests/real/repairs.py")).arg(binary());
    let run = python.env("PYTHONPATH", installed("repairs")).output().expect("python starts");
    let table = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let manual = std::fs::read_to_string(root().join("docs/calls.md")).unwrap();
    assert!(manual.contains(&table), "docs/calls.md should have this table:\n{table}");
}
