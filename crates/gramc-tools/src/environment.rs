//! The working folder and the variables of child processes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use smol_str::SmolStr;

/// The variables that every program inherits: those that the MCP SDKs pass on, and the folder of
/// temporary files, the language and the time zone, without which a program writes to other places
/// and in another encoding. None of them holds a secret.
#[cfg(not(windows))]
const INHERITED: &[&str] =
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR", "LANG", "LANGUAGE", "TZ"];

/// The variables that every program inherits: those that the MCP SDKs pass on, and those that
/// Windows needs to find programs and their files.
#[cfg(windows)]
const INHERITED: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
    "COMSPEC",
    "PATHEXT",
    "PROGRAMFILES",
    "TMP",
    "LANG",
    "TZ",
];

/// The beginning of the names of the variables of the locale, such as `LC_ALL`.
const LOCALE: &str = "LC_";

/// What a program gets of the environment: the inherited variables, those that
/// are named for it, and the folder that it runs in.
#[derive(Clone, Default)]
pub struct ProgramEnvironment {
    /// The folder that a program with a path separator in its name is looked for from.
    folder: Option<PathBuf>,
    working_folder: Option<PathBuf>,
    variables: Vec<(SmolStr, String)>,
    /// Whether the program inherits all variables.
    is_whole: bool,
    secrets: Vec<String>,
}

impl ProgramEnvironment {
    /// Runs the program in `folder`. If its name holds a path separator, it is looked for from
    /// there.
    pub fn in_folder(folder: &Path) -> Self {
        // A relative folder would be resolved twice if the program is relative, too. This fails
        // without a working folder; then everything else fails as well.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Self { folder: Some(folder), ..Self::default() }
    }

    /// Runs the program in another folder, which is relative to the first one.
    #[must_use]
    pub fn working_folder(mut self, folder: &Path) -> Self {
        let base = self.folder.clone().unwrap_or_default();
        self.working_folder = Some(base.join(folder));
        self
    }

    /// Passes all variables of this process on, secrets included. Only for programs that act for the
    /// user as this one does.
    #[must_use]
    pub fn with_all_variables(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Sets a variable whose value must not appear in any output.
    #[must_use]
    pub fn secret(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        self.secrets.push(value.clone());
        self.variable(name, value)
    }

    /// The values that must not appear in any output.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    #[cfg(not(target_family = "wasm"))]
    /// The variables of this process that every program inherits. A value that begins with `()` is
    /// a function of a shell, which could run code, and is left out.
    fn inherited_variables() -> impl Iterator<Item = (OsString, OsString)> {
        std::env::vars_os().filter(|(name, value)| {
            is_inherited(name) && !value.as_encoded_bytes().starts_with(b"()")
        })
    }

    /// The folder that the program runs in. `None` for that of this process.
    pub fn place(&self) -> Option<&Path> {
        self.working_folder.as_deref().or(self.folder.as_deref())
    }

    #[cfg(not(target_family = "wasm"))]
    /// The command that runs a program with these variables in its folder.
    pub fn command(&self, program: &str) -> tokio::process::Command {
        let base = self.folder.as_deref().filter(|_| program.contains(std::path::is_separator));
        let mut command = match base {
            Some(folder) => tokio::process::Command::new(folder.join(program)),
            None => tokio::process::Command::new(program),
        };
        if let Some(folder) = self.place() {
            command.current_dir(folder);
        }
        if !self.is_whole {
            command.env_clear().envs(Self::inherited_variables());
        }
        command.envs(self.variables.iter().map(|(name, value)| (name.as_str(), value)));
        command
    }
}

fn is_inherited(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    // The names of Windows have no case.
    let name = if cfg!(windows) { name.to_ascii_uppercase() } else { name.to_owned() };
    name.starts_with(LOCALE) || INHERITED.contains(&name.as_str())
}

impl fmt::Debug for ProgramEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("ProgramEnvironment")
            .field("folder", &self.place())
            .field("variables", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_variables_are_inherited() {
        for name in ["PATH", "HOME", "TERM", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"] {
            assert!(is_inherited(OsStr::new(name)), "{name}");
        }
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "path", "HOMES", "SSH_AUTH_SOCK", ""] {
            assert!(!is_inherited(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn values_are_not_shown() {
        let environment = ProgramEnvironment::in_folder(Path::new("/"))
            .secret("TOKEN", "hunter2")
            .variable("MODE", "fast");
        let shown = format!("{environment:?}");
        assert!(shown.contains("TOKEN") && !shown.contains("hunter2") && !shown.contains("fast"));
        assert_eq!(environment.secrets(), ["hunter2"]);
    }
}
