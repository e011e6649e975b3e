//! What is left of the programs that gramc started when gramc is killed: nothing.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Folder, binary, command, folder, root};

const SOON: Duration = Duration::from_secs(30);

fn start(folder: &Folder, words: &[&str]) -> Child {
    let mut gramc = command(binary());
    gramc.args(words).current_dir(folder.path()).stdin(Stdio::piped());
    gramc.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
}

/// The ids of so many processes, as they write them into a file.
fn pids(folder: &Folder, count: usize) -> Vec<String> {
    let start = Instant::now();
    loop {
        let pids = std::fs::read_to_string(folder.file("pids")).unwrap_or_default();
        if pids.ends_with('\n') && pids.lines().count() >= count {
            return pids.lines().map(str::to_owned).collect();
        }
        assert!(start.elapsed() < SOON, "the programs do not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills gramc, and waits for the processes to end.
fn kill(mut gramc: Child, pids: &[String]) {
    gramc.kill().expect("it runs");
    gramc.wait().expect("it ends");
    let start = Instant::now();
    for pid in pids {
        // A process that ended may wait for its parent to notice.
        let is_alive = || {
            let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while is_alive() {
            assert!(start.elapsed() < SOON, "{pid} still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_killed_guard_leaves_no_server() {
    let server =
        json!(["sh", "-c", "python3 upstream.py none pids & python3 upstream.py none pids"]);
    let upstream = std::fs::read_to_string(root().join("tests/real/upstream.py")).expect("a text");
    let folder = folder(&[
        ("guard.gram", "[say:Tool | (text::Text)==>(::Any)]"),
        ("upstream.gram", &format!("[upstream:Library | (`*`:Mcp {{command: {server}}})]")),
        ("upstream.py", &upstream),
    ]);
    let gramc = start(&folder, &["mcp", "guard.gram", "--library", "upstream.gram"]);
    kill(gramc, &pids(&folder, 2));
}

#[test]
fn programs_that_leave_their_group_end_as_well() {
    // It has arguments to read once the watchdog knows of it.
    let run = "read arguments; setsid sleep 600 & echo $! > pids; echo $$ >> pids; wait";
    let run = json!(["sh", "-c", run]);
    let folder = folder(&[
        ("tools.gram", "[sleep:Tool | ()==>(::Any)]"),
        ("library.gram", &format!("[slow:Library | (sleep:Command {{run: {run}}})]")),
    ]);
    let gramc = start(&folder, &["call", "tools.gram", "sleep", "{}", "--library", "library.gram"]);
    kill(gramc, &pids(&folder, 2));
}
