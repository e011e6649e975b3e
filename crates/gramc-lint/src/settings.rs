//! The lint settings of a project.

use std::collections::BTreeMap;

use gramc_syntax::{Limits, Severity};

use crate::lint::{Level, Lint};
use gramc_schema::lower::Target;

/// The levels of lints and what they have to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The level of all lints that have none of their own here.
    all: Option<Level>,
    /// Levels by the name of the lint.
    levels: BTreeMap<&'static str, Level>,
    /// What the project compiles to. Turns on the lints about these targets.
    pub targets: Vec<Target>,
    /// The maximum number of diagnostics per text. Applying fixes requires all of them.
    pub max_diagnostics: usize,
    /// The most characters of a description.
    pub max_description: usize,
    /// The most parameters of a tool.
    pub max_parameters: usize,
    /// The most tools outside of containers.
    pub max_tools: usize,
    /// The case of tool names [default: the most common case of the file].
    pub tool_case: Option<Case>,
    /// The case of parameter names [default: the most common case of the file].
    pub parameter_case: Option<Case>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            all: None,
            levels: BTreeMap::new(),
            targets: Vec::new(),
            max_diagnostics: Limits::MAX_DIAGNOSTICS,
            max_description: 1024,
            max_parameters: 10,
            max_tools: 20,
            tool_case: None,
            parameter_case: None,
        }
    }
}

impl Settings {
    /// Sets the level of a lint.
    pub fn set(&mut self, lint: &Lint, level: Level) {
        self.levels.insert(lint.code.name, level);
    }

    /// Sets the level of all lints.
    pub fn set_all(&mut self, level: Level) {
        self.all = Some(level);
        self.levels.clear();
    }

    /// The level of a lint: the one that was set, else to warn where the lint is about a target of
    /// the project, else the lint's own.
    pub fn level(&self, lint: &Lint) -> Level {
        if let Some(level) = self.levels.get(lint.code.name).copied().or(self.all) {
            return level;
        }
        match lint.target {
            Some(target) if self.targets.contains(&target) => Level::Warn,
            _ => lint.level,
        }
    }

    /// The severity of a lint; `None` if it is off.
    pub(crate) fn severity(&self, lint: &Lint) -> Option<Severity> {
        match self.level(lint) {
            Level::Allow => None,
            Level::Warn => Some(Severity::Warning),
            Level::Deny => Some(Severity::Error),
        }
    }
}

/// A way to write names of several words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Case {
    /// `readFile`
    Camel,
    /// `read_file`
    Snake,
    /// `read-file`
    Kebab,
    /// `ReadFile`
    Pascal,
}

impl Case {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Camel, Self::Snake, Self::Kebab, Self::Pascal];

    /// Its name, written in itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Camel => "camelCase",
            Self::Snake => "snake_case",
            Self::Kebab => "kebab-case",
            Self::Pascal => "PascalCase",
        }
    }

    /// The case of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|case| case.name() == name)
    }
}
