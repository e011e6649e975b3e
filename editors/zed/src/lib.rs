//! Tells Zed how to start the language server.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Gram;

impl zed::Extension for Gram {
    fn new() -> Self {
        Self
    }

    /// The command `gramc lsp`, from `lsp.gramc.binary.path` in the settings or from the `PATH`.
    fn language_server_command(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?;
        let set = settings.binary.and_then(|binary| binary.path);
        let command = set.or_else(|| worktree.which("gramc")).ok_or(
            "gramc is not on the PATH; install it, or set lsp.gramc.binary.path in the settings",
        )?;
        Ok(Command { command, args: vec!["lsp".to_owned()], env: worktree.shell_env() })
    }
}

zed::register_extension!(Gram);
