//! Programs that end with all that they started.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// A running program and the processes that it started. To drop it kills them all.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Box<dyn ChildWrapper>,
    /// Whether all processes were killed already; their number may be another's by now.
    over: bool,
}

/// The standard streams of a program.
pub(crate) struct ProcessPipes {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) errors: ChildStderr,
}

impl ProcessGroup {
    /// Starts a program, in `folder` where there is one. A program whose name holds a separator
    /// is looked for from `folder`, any other one where the system looks for programs.
    pub(crate) fn start(
        program: &str,
        arguments: &[String],
        folder: Option<&Path>,
    ) -> io::Result<(Self, ProcessPipes)> {
        let mut command = match folder {
            Some(folder) => {
                let mut command = if program.contains(std::path::is_separator) {
                    Command::new(folder.join(program))
                } else {
                    Command::new(program)
                };
                command.current_dir(folder);
                command
            }
            None => Command::new(program),
        };
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut command = CommandWrap::from(command);
        // `npx`, `uvx` and shells start what they are asked for as a child of theirs, which has to
        // end with them.
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut group = Self { child: command.spawn()?, over: false };
        let missing = || io::Error::other("it has no pipes");
        let input = group.child.stdin().take().ok_or_else(missing)?;
        let output = group.child.stdout().take().ok_or_else(missing)?;
        let errors = group.child.stderr().take().ok_or_else(missing)?;
        Ok((group, ProcessPipes { input, output, errors }))
    }

    /// Waits until the program has ended. Its children may still run.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks the program and all that it started to end.
    #[cfg(all(unix, feature = "mcp"))]
    pub(crate) fn ask_to_end(&self) -> io::Result<()> {
        /// The number of SIGTERM, the same on every Unix.
        const SIGTERM: i32 = 15;
        self.child.signal(SIGTERM)
    }

    /// Kills the program and all that it started.
    pub(crate) fn kill(&mut self) {
        if !self.over {
            // This fails if no process is left.
            let _ = self.child.start_kill();
            self.over = true;
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Why a program cannot be started, in words that follow its name.
pub(crate) fn start_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        io::ErrorKind::PermissionDenied => "that is not a program one may run".to_owned(),
        _ => format!("it cannot be started: {error}"),
    }
}
