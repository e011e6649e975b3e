//! Changes between two versions of a specification.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::Value;
use smol_str::SmolStr;

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// A tool is new.
    ToolAdded,
    /// A tool is gone.
    ToolRemoved,
    /// A tool has another name.
    ToolRenamed,
    /// The tool refuses arguments that it accepted.
    InputNarrowed,
    /// The tool accepts more arguments.
    InputWidened,
    /// The tool refuses arguments that it accepted, and accepts others.
    InputChanged,
    /// The tool returns only some of the results that it may have returned.
    ResultNarrowed,
    /// The tool may return results that it did not return.
    ResultWidened,
    /// The tool returns other results.
    ResultChanged,
    /// A description.
    Description,
    /// What a client may know of the tool: titles, defaults, examples and hints.
    Annotation,
    /// What the host does with calls: approval, limits and hidden parameters.
    Policy,
}

/// The names of all kinds in output.
const KIND_NAMES: [(ChangeKind, &str); 12] = [
    (ChangeKind::ToolAdded, "tool-added"),
    (ChangeKind::ToolRemoved, "tool-removed"),
    (ChangeKind::ToolRenamed, "tool-renamed"),
    (ChangeKind::InputNarrowed, "input-narrowed"),
    (ChangeKind::InputWidened, "input-widened"),
    (ChangeKind::InputChanged, "input-changed"),
    (ChangeKind::ResultNarrowed, "result-narrowed"),
    (ChangeKind::ResultWidened, "result-widened"),
    (ChangeKind::ResultChanged, "result-changed"),
    (ChangeKind::Description, "description"),
    (ChangeKind::Annotation, "annotation"),
    (ChangeKind::Policy, "policy"),
];

impl ChangeKind {
    /// The names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KIND_NAMES.iter().map(|(_, name)| *name)
    }

    /// The name in output.
    pub fn name(self) -> &'static str {
        KIND_NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The kind of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        KIND_NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Whether it is about the arguments that a tool accepts.
    pub const fn is_input(self) -> bool {
        matches!(self, Self::InputNarrowed | Self::InputWidened | Self::InputChanged)
    }

    /// Whether it is about the results of a tool.
    pub const fn is_result(self) -> bool {
        matches!(self, Self::ResultNarrowed | Self::ResultWidened | Self::ResultChanged)
    }
}

/// Whether a change breaks callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaking {
    /// It breaks some.
    Yes,
    /// It breaks none.
    No,
    /// That could not be decided.
    Unknown,
}

/// A value that shows that a change is breaking.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// For an input, complete arguments that the old version accepts and the new one refuses, with `***`
    /// for the values of secret parameters. For a result, a result that the new version may return and
    /// the old one does not.
    pub value: Value,
    /// Whether the run-time check of the new version repairs the arguments.
    pub repaired: bool,
}

/// A change of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The name of the tool in the old version, or in the new one if it is new there.
    pub tool: SmolStr,
    /// Its kind.
    pub kind: ChangeKind,
    /// The new name of a renamed tool.
    pub to: Option<SmolStr>,
    /// Whether it breaks callers.
    pub breaking: Breaking,
    /// The part of the arguments or of the result that changed, as a JSON pointer. Empty for the
    /// whole. `*` is any item, or any property that is not declared.
    pub pointer: String,
    /// What changed, in words.
    pub message: String,
    /// A value that shows that it is breaking.
    pub witness: Option<Witness>,
}

impl Change {
    /// A change that breaks nothing.
    pub(crate) fn harmless(tool: &SmolStr, kind: ChangeKind, message: String) -> Self {
        Self {
            tool: tool.clone(),
            kind,
            to: None,
            breaking: Breaking::No,
            pointer: String::new(),
            message,
            witness: None,
        }
    }

    pub(crate) fn with_pointer(self, pointer: String) -> Self {
        Self { pointer, ..self }
    }
}

impl Serialize for Breaking {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Yes => serializer.serialize_bool(true),
            Self::No => serializer.serialize_bool(false),
            Self::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tool", &*self.tool)?;
        map.serialize_entry("change", self.kind.name())?;
        if let Some(to) = &self.to {
            map.serialize_entry("to", &**to)?;
        }
        map.serialize_entry("breaking", &self.breaking)?;
        map.serialize_entry("pointer", &self.pointer)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(Witness { value, repaired }) = &self.witness {
            map.serialize_entry("witness", value)?;
            map.serialize_entry("repaired", repaired)?;
        }
        map.end()
    }
}

/// The step to the next version that semantic versioning asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionStep {
    /// Nothing changed.
    None,
    /// Only texts, hints and policies changed.
    Patch,
    /// There is something new, and nothing breaks.
    Minor,
    /// Something breaks, or may break.
    Major,
}

impl VersionStep {
    /// The step that changes ask for.
    pub fn of(changes: &[Change]) -> Self {
        let step = |change: &Change| match (change.breaking, change.kind) {
            (Breaking::Yes | Breaking::Unknown, _) => Self::Major,
            (_, ChangeKind::Description | ChangeKind::Annotation | ChangeKind::Policy) => {
                Self::Patch
            }
            _ => Self::Minor,
        };
        changes.iter().map(step).max().unwrap_or(Self::None)
    }

    /// The name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}
