//! What a lint is: its code and page, its default level, whether it fixes, and how it passes.

use gramc_syntax::{Applicability, Code};

use crate::context::{FieldView, Linter, ToolView, TypeView};
use gramc_schema::lower::Target;

/// A lint: something that is likely a mistake, though the text means something.
///
/// Everything about a lint is in one file of `lints`; the list of lints, `gramc explain`
/// and the documentation are made from these declarations.
#[derive(Debug)]
pub struct Lint {
    /// Its name and its page.
    pub code: Code,
    /// Its default level.
    pub level: Level,
    /// Whether its diagnostics come with a fix, and of which kind.
    pub fix: Option<Applicability>,
    /// Its options in a project file, in addition to its level.
    pub options: &'static [LintOption],
    /// The target that turns it on: where a project compiles to that, it warns.
    pub target: Option<Target>,
    pub(crate) passes: &'static [LintPass],
}

/// A setting of a lint.
#[derive(Debug)]
pub struct LintOption {
    /// Its key in a project file.
    pub name: &'static str,
    /// What it is about, in one phrase.
    pub about: &'static str,
    /// The default value, as written in a project file.
    pub default: &'static str,
}

/// What is done about the diagnostics of a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// Nothing: they are not looked for.
    Allow,
    /// They are shown.
    Warn,
    /// Diagnostics are errors and set the exit code.
    Deny,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Warn, Self::Deny];

    /// Its name in project files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }

    /// The level of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// A pass of a lint. Passes run on several threads, each text on one.
#[derive(Debug)]
pub(crate) enum LintPass {
    /// The checker reports it while it reads declarations.
    Checker,
    /// At the comments that allow lints.
    Comments,
    Text(fn(&Linter<'_>, usize)),
    Tool(fn(&Linter<'_>, &ToolView<'_>)),
    Type(fn(&Linter<'_>, &TypeView<'_>)),
    /// At each parameter of a tool and each field of a declared record.
    Field(fn(&Linter<'_>, &FieldView<'_>)),
    /// At all declarations together, with summaries of the tools.
    Module(fn(&Linter<'_>)),
    /// At all declarations together, with the whole tools, which are kept in memory for it.
    Whole(fn(&Linter<'_>)),
}

impl Lint {
    /// What most lints have in common; each has a code and passes of its own.
    pub(crate) const COMMON: Self = Self {
        code: Code { name: "", page: "" },
        level: Level::Warn,
        fix: None,
        options: &[],
        target: None,
        passes: &[],
    };
}
