//! Running the binary.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("the crate lies two folders deep")
}

/// The binary under test.
pub(crate) fn binary() -> &'static Path {
    // Under its own name, for a `PATH`.
    let link = Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/gramc"));
    if !link.exists() {
        // Another test may be faster.
        let _ = std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gramc-under-test"), link);
    }
    link
}

/// A file or folder that `tests/real/install` has installed.
pub(crate) fn installed(path: &str) -> PathBuf {
    let path = root().join(".tools").join(path);
    assert!(path.exists(), "{} is missing; `tests/real/install` installs it", path.display());
    path
}

/// A command whose environment does not depend on who runs the tests.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in [
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "GRAMC_SIGN_INS",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    ] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// A call of `gramc`.
pub(crate) struct Gramc {
    command: Command,
    input: Option<Vec<u8>>,
}

/// A call of `gramc` with the words of a line as its arguments. It runs in the workspace's root.
pub(crate) fn gramc(line: &str) -> Gramc {
    let mut command = command(binary());
    command.args(line.split_whitespace()).current_dir(root());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Gramc { command, input: None }
}

/// A call of `gramc` that a signal ends after some seconds of processor time, however busy the machine is.
pub(crate) fn limited(seconds: u32, line: &str) -> Gramc {
    let mut command = command("sh");
    command.arg("-c").arg(format!("ulimit -t {seconds}; exec \"$0\" \"$@\"")).arg(binary());
    command.args(line.split_whitespace()).current_dir(root());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Gramc { command, input: None }
}

impl Gramc {
    /// Adds an argument as it is.
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds the words of a line as arguments.
    pub(crate) fn args(mut self, line: &str) -> Self {
        self.command.args(line.split_whitespace());
        self
    }

    /// Runs in a folder.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Sets a variable of the environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives it something to read on standard input.
    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self.command.stdin(Stdio::piped());
        self
    }

    /// Sends standard output to a file.
    pub(crate) fn stdout(mut self, path: &str) -> Self {
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("it can be written");
        self.command.stdout(file);
        self
    }

    /// Sends standard error to a file.
    pub(crate) fn stderr(mut self, path: &str) -> Self {
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("it can be written");
        self.command.stderr(file);
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Run {
        let Self { mut command, input } = self;
        let shown = format!("{command:?}");
        let start = Instant::now();
        let mut child = command.spawn().expect("the binary starts");
        // It need not read everything: what is too large it leaves unread.
        let writer =
            child.stdin.take().zip(input).map(|(mut stdin, input)| {
                std::thread::spawn(move || drop(stdin.write_all(&input)))
            });
        let output = child.wait_with_output();
        if let Some(writer) = writer {
            writer.join().expect("the writer does not panic");
        }
        let output = output.expect("the binary runs");
        Run {
            shown,
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
            took: start.elapsed(),
        }
    }
}

/// What a call did.
#[derive(Debug)]
pub(crate) struct Run {
    shown: String,
    /// The exit code; nothing when a signal ended it, as a stack overflow does.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Run {
    /// Asserts the exit code, and that it did not panic.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert!(!self.stderr.contains("panicked"), "{}\n{}", self.shown, self.stderr);
        let shown: String = self.stderr.chars().take(2000).collect();
        assert_eq!(self.code, Some(code), "exit code of {}\n{shown}", self.shown);
        self
    }

    /// Asserts that it was clean: exit code 0, and nothing to say but that nothing was found.
    #[track_caller]
    pub(crate) fn clean(self) -> Self {
        let run = self.exits(0);
        let summary =
            |line: &str| line.starts_with("checked ") && line.ends_with(" no problems found");
        let said: Vec<_> = run.stderr.lines().filter(|line| !summary(line)).collect();
        assert_eq!(said, [""; 0], "{}", run.shown);
        run
    }

    /// Asserts that it could not do its work: exit code 2, nothing on standard output, and a
    /// message that holds the given words.
    #[track_caller]
    pub(crate) fn fails_with(self, words: &[&str]) -> Self {
        let run = self.exits(2);
        assert_eq!(run.stdout, "", "{}", run.shown);
        run.says(words)
    }

    /// Asserts that standard error holds the given words.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} after {}\n{}", self.shown, self.stderr);
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{}", self.stdout))
    }
}

/// A line so many times, each with its number, from 0, for `#`.
pub(crate) fn numbered(line: &str, count: usize) -> String {
    (0..count).map(|number| line.replace('#', &number.to_string()) + "\n").collect()
}

/// A folder of files that is gone after the test.
pub(crate) struct Folder(tempfile::TempDir);

/// A folder with the given files. The folders that they are in are made.
pub(crate) fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder(tempfile::tempdir().expect("a temporary folder can be made"));
    for (name, text) in files {
        folder.write(name, text);
    }
    folder
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.file(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// The names of the files in one of its folders.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.file(name)).expect("the folder is there");
        let names = entries.map(|entry| entry.expect("it can be listed").file_name());
        let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
