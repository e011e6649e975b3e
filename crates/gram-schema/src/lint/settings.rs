//! How a project wants to be linted.

use std::collections::BTreeMap;

use gram_syntax::{Limits, Severity};

use super::rule::{Level, Rule};
use crate::lower::Target;

/// The levels of rules and what they have to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Levels that somebody set, by the name of the rule.
    levels: BTreeMap<&'static str, Level>,
    /// What the project compiles to. Turns on the rules about these targets.
    pub targets: Vec<Target>,
    /// How many findings each text is given. What looks for fixes wants all of them.
    pub max_findings: usize,
    /// The most characters of a description.
    pub max_description: usize,
    /// The most parameters of a tool.
    pub max_parameters: usize,
    /// The most tools outside of containers.
    pub max_tools: usize,
    /// How names of tools are written; where nothing is said, as most of a file's are.
    pub tool_case: Option<Case>,
    /// How names of parameters are written; where nothing is said, as most of a file's are.
    pub parameter_case: Option<Case>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            levels: BTreeMap::new(),
            targets: Vec::new(),
            max_findings: Limits::MAX_DIAGNOSTICS,
            max_description: 1024,
            max_parameters: 10,
            max_tools: 20,
            tool_case: None,
            parameter_case: None,
        }
    }
}

impl Settings {
    /// Sets the level of a rule.
    pub fn set(&mut self, rule: &Rule, level: Level) {
        self.levels.insert(rule.code.name, level);
    }

    /// Sets the level of all rules.
    pub fn set_all(&mut self, level: Level) {
        for rule in super::RULES {
            self.set(rule, level);
        }
    }

    /// The level of a rule: the one that was set, else to warn where the rule is about a target of
    /// the project, else the rule's own.
    pub fn level(&self, rule: &Rule) -> Level {
        if let Some(level) = self.levels.get(rule.code.name) {
            return *level;
        }
        match rule.target {
            Some(target) if self.targets.contains(&target) => Level::Warn,
            _ => rule.level,
        }
    }

    /// How grave the findings of a rule are; `None` where nobody wants them.
    pub(super) fn severity(&self, rule: &Rule) -> Option<Severity> {
        match self.level(rule) {
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
