//! A line editor for terminals, with history and completion.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use rustyline::config::Behavior;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};
use tokio::sync::mpsc;

use crate::output::say;

/// How many lines are remembered.
const MAX_HISTORY: usize = 1_000;
/// The most bytes of a line that is remembered. Longer ones are pasted, and there to be pasted again.
const MAX_HISTORY_LINE: usize = 10_000;

/// The input at the prompt.
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    End,
    /// Nothing can be read any more, and why.
    Failed(String),
}

/// An editor at work on a thread of its own: reading a terminal cannot be broken off.
pub(in crate::commands::run) struct Chat {
    ask: mpsc::Sender<()>,
    typed: mpsc::Receiver<Typed>,
    terminal: Terminal,
}

impl Chat {
    /// Edits lines, if there is a terminal that can do that. They are remembered in a file, if there
    /// is one.
    pub(super) fn new(history: Option<PathBuf>) -> Option<Self> {
        let plain = std::env::var("TERM").is_ok_and(|terminal| {
            ["dumb", "cons25", "emacs"].iter().any(|plain| terminal.eq_ignore_ascii_case(plain))
        });
        if plain || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        let config = Config::builder()
            // Answers may go elsewhere than to the terminal; the prompt does not.
            .behavior(Behavior::PreferTerm)
            .max_history_size(MAX_HISTORY)
            .and_then(|config| config.history_ignore_dups(true));
        let config = config.ok()?.history_ignore_space(true).build();
        let mut editor = DefaultEditor::with_config(config).ok()?;
        let history = history.filter(|path| remember(&mut editor, path));
        let terminal = Terminal::new();
        let (ask, asked) = mpsc::channel(1);
        let (send, typed) = mpsc::channel(1);
        std::thread::spawn(move || edit(editor, history, asked, &send));
        Some(Self { ask, typed, terminal })
    }

    /// Waits for input at the prompt.
    pub(super) async fn next(&mut self) -> Typed {
        self.terminal.busy = true;
        // Without an editor there is nothing to wait for, either.
        let _ = self.ask.send(()).await;
        let typed = self.typed.recv().await.unwrap_or(Typed::End);
        self.terminal.busy = false;
        typed
    }
}

/// Reads a line per request.
fn edit(
    mut editor: DefaultEditor,
    mut history: Option<PathBuf>,
    mut asked: mpsc::Receiver<()>,
    send: &mpsc::Sender<Typed>,
) {
    while asked.blocking_recv().is_some() {
        let typed = match editor.readline("> ") {
            Ok(line) => {
                if line.len() <= MAX_HISTORY_LINE
                    && let Ok(true) = editor.add_history_entry(line.as_str())
                    && let Some(path) = &history
                    && let Err(error) = editor.append_history(path)
                {
                    report_lost_history(path, &error);
                    history = None;
                }
                Typed::Line(line)
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Typed::Interrupt,
            Err(ReadlineError::Eof) => Typed::End,
            Err(error) => Typed::Failed(error.to_string()),
        };
        if send.blocking_send(typed).is_err() {
            return;
        }
    }
}

/// Remembers what a file holds, and gives whether more can be added to it.
fn remember(editor: &mut DefaultEditor, path: &Path) -> bool {
    let folder = path.parent().map_or(Ok(()), private_folder);
    let outcome = folder.map_err(ReadlineError::from).and_then(|()| editor.load_history(path));
    match outcome {
        Ok(()) => true,
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => {
            report_lost_history(path, &error);
            false
        }
    }
}

fn report_lost_history(path: &Path, error: &ReadlineError) {
    let error = error.to_string();
    let error = error.split(" (os error").next().unwrap_or_default().to_lowercase();
    let path = path.display();
    say(format_args!("warning: cannot save the history to {path}: {error}"));
}

/// Creates a folder that only the user can access, if it does not exist.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// The file in which lines are remembered, in the user's folder for such things.
pub(in crate::commands::run) fn history_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;

    let base = etcetera::choose_base_strategy().ok()?;
    let folder = base.state_dir().unwrap_or_else(|| base.cache_dir());
    Some(folder.join("gramc").join("history"))
}

/// The settings of the terminal before a line was edited. If gramc is ended at the prompt, the editor
/// cannot restore them.
struct Terminal {
    /// Whether a line is edited.
    busy: bool,
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Terminal {
    fn new() -> Self {
        Self {
            busy: false,
            #[cfg(unix)]
            before: rustix::termios::tcgetattr(io::stdin()).ok(),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.busy {
            return;
        }
        #[cfg(unix)]
        if let Some(before) = &self.before {
            use std::io::Write as _;

            use rustix::termios::{OptionalActions, tcsetattr};

            // An error cannot be reported any more. This turns bracketed paste off.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
            let _ = io::stderr().write_all(b"\x1b[?2004l\r\n");
        }
    }
}
