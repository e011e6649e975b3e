//! Experiments among real programs: a browser that shows the report, an engine that reads the runs, and
//! a cluster that spreads them. `tests/real/install` installs them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::ab::{REPLACE, keeps, report};
use crate::support::{Folder, command, folder, root};

pub(crate) fn tool(path: &str) -> PathBuf {
    let path = root().join(".tools").join(path);
    assert!(path.exists(), "{} is missing; tests/real/install installs it", path.display());
    path
}

fn kept() -> Folder {
    let kept = folder(&[]);
    keeps(REPLACE, &kept, "whole").exits(0);
    kept
}

/// Runs a program to its end, and gives its standard output.
pub(crate) fn output(mut program: std::process::Command) -> String {
    let output = program.output().expect("the program starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).expect("it is text")
}

fn python(script: impl AsRef<Path>) -> std::process::Command {
    let mut python = command(tool("python/bin/python"));
    python.arg(script.as_ref()).env("PYTHONPATH", tool("experiments")).current_dir(root());
    python
}

#[test]
fn a_browser_shows_the_report() {
    let kept = kept();
    std::fs::create_dir(kept.file("shots")).unwrap();
    let mut browser = command("node");
    browser
        .arg(root().join("tests/real/browser/report.mjs"))
        .arg(tool("browser"))
        .arg(tool("chromium/chromium"))
        .arg(kept.file("whole/report.html"))
        .arg(kept.file("shots"));
    let seen: Value = serde_json::from_str(&output(browser)).expect("the script tells JSON");
    for nothing in ["requests", "errors", "violations", "overflow"] {
        assert_eq!(seen[nothing].as_array().map(Vec::len), Some(0), "{nothing}: {seen:#}");
    }
    let expanded = seen["expanded"].as_array().unwrap();
    assert_eq!(expanded.len(), 4, "two widths, light and dark");
    for transcript in expanded {
        let text = transcript.as_str().unwrap();
        assert!(text.contains("findOrder") && text.contains("Your order is returned."), "{text}");
    }
    assert_eq!(kept.list("shots").len(), 4);
}

#[test]
fn an_engine_reads_the_runs() {
    let kept = kept();
    let read = "
import duckdb, sys
both = duckdb.sql(f\"\"\"
    select arm, count(*), count(*) filter (success), sum(tokens)::bigint,
           count(*) filter (messages[1].role = 'user')
    from '{sys.argv[1]}' group by arm order by arm\"\"\").fetchall()
print(both)
";
    kept.write("read.py", read);
    let mut engine = python(kept.file("read.py"));
    engine.arg(kept.file("whole/runs.jsonl"));
    assert_eq!(
        output(engine).trim(),
        "[('rewrite', 200, 180, 71400, 200), ('stable', 200, 200, 71400, 200)]"
    );
}

/// Two nodes on this machine, one of which is killed while it runs a part.
#[cfg(unix)]
#[test]
fn a_cluster_that_loses_a_node_comes_to_the_same_report() {
    let kept = kept();
    let mut cluster = python(root().join("tests/real/ray_cluster.py"));
    cluster
        .arg(crate::support::binary())
        .arg(root())
        .arg(kept.file("spread"))
        .args(REPLACE.split(' ').skip(1))
        // Slow enough to be killed in the middle.
        .args(["--rate", "30"]);
    output(cluster);
    assert_eq!(report(&kept.file("spread")), report(&kept.file("whole")));
}
