//! A process that ends the programs that gramc started, should gramc be killed.
//!
//! A killed process can clean up nothing, so gramc starts itself once more as a watchdog, before
//! the first program. The watchdog reads the ids of process groups from its standard input.
//! When that ends, gramc has ended, and the watchdog ends the groups that are left.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::start::start_command;
use gramc_tools::ProcessWatcher;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

/// The name under which gramc is a watchdog.
const NAME: &str = "gramc-watchdog";
/// Time for programs to end when they are asked to.
const GRACE: Duration = Duration::from_secs(1);
/// Interval at which the watchdog looks whether they have ended.
const INTERVAL: Duration = Duration::from_millis(10);

/// Tells a watchdog which process groups run. It is started with the first one.
#[derive(Default)]
pub(crate) struct Watchdog(Mutex<Option<io::Result<(Child, ChildStdin)>>>);

impl Watchdog {
    /// Without a watchdog, groups are ended by gramc alone, so its failures do not matter.
    fn tell(&self, message: &str) {
        let mut watchdog = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok((_, input)) = watchdog.get_or_insert_with(start) {
            let _ = input.write_all(message.as_bytes());
        }
    }
}

impl ProcessWatcher for Watchdog {
    /// Starts the watchdog, which takes longer than a program needs to start others.
    fn before_start(&self) {
        self.tell("");
    }

    fn after_start(&self, group: u32) {
        self.tell(&format!("+{group}\n"));
    }

    fn after_end(&self, group: u32) {
        self.tell(&format!("-{group}\n"));
    }
}

fn start() -> io::Result<(Child, ChildStdin)> {
    let mut command = if let Some((program, arguments)) = start_command() {
        let mut command = Command::new(program);
        command.args(arguments).arg(NAME).env_clear();
        // Where Python finds its packages.
        for name in ["PYTHONHOME", "PYTHONPATH"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
    } else {
        // The file may have been replaced since gramc was started, for which Linux has a name.
        let program = if cfg!(target_os = "linux") {
            "/proc/self/exe".into()
        } else {
            std::env::current_exe()?
        };
        let mut command = Command::new(program);
        command.arg0(NAME).env_clear();
        command
    };
    let mut child = command
        .current_dir("/")
        // What is sent to the group of gramc, such as Ctrl-C, does not end it.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let input = child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))?;
    Ok((child, input))
}

/// Whether this process is a watchdog: it is started under that name, or, by another program that
/// contains gramc, with that name as its only argument.
pub(crate) fn is_one(arguments: &[OsString]) -> bool {
    match arguments {
        [name, ..] if name == NAME => true,
        [_, only] => only == NAME,
        _ => false,
    }
}

/// Waits until gramc has ended, then ends what is left of its groups.
pub(crate) fn watch() {
    let mut groups = HashSet::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let id = |text: &str| text.parse().ok().and_then(Pid::from_raw);
        if let Some(group) = line.strip_prefix('+').and_then(id) {
            groups.insert(group);
        } else if let Some(group) = line.strip_prefix('-').and_then(id) {
            groups.remove(&group);
        }
    }
    end(&groups);
}

fn end(groups: &HashSet<Pid>) {
    if groups.is_empty() {
        return;
    }
    // Found while they have their parents: some have left the group.
    let others = descendants(groups);
    for group in groups {
        // It may have ended.
        let _ = kill_process_group(*group, Signal::TERM);
    }
    let start = Instant::now();
    let is_alive = |group: &Pid| test_kill_process_group(*group).is_ok();
    while start.elapsed() < GRACE && groups.iter().any(is_alive) {
        std::thread::sleep(INTERVAL);
    }
    for group in groups {
        let _ = kill_process_group(*group, Signal::KILL);
    }
    for process in others {
        let _ = kill_process(process, Signal::KILL);
    }
}

/// The processes that descend from the leaders of groups.
#[cfg(target_os = "linux")]
fn descendants(leaders: &HashSet<Pid>) -> HashSet<Pid> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: Vec<(Pid, Pid)> = processes
        .filter_map(|process| {
            let id = process.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
            let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
            // The name of the program may contain anything; the state and the parent follow it.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
            Some((id, Pid::from_raw(parent.parse().ok()?)?))
        })
        .collect();
    let mut found = HashSet::new();
    let mut open: Vec<Pid> = leaders.iter().copied().collect();
    while let Some(parent) = open.pop() {
        for (id, _) in parents.iter().filter(|(_, its)| *its == parent) {
            if found.insert(*id) {
                open.push(*id);
            }
        }
    }
    found
}

/// Only Linux shows the parents of processes as files.
#[cfg(not(target_os = "linux"))]
fn descendants(_: &HashSet<Pid>) -> HashSet<Pid> {
    HashSet::new()
}
