//! The words of JSON Schema and of other libraries for attributes, and their meanings.

use std::sync::LazyLock;

use crate::unknown_attributes::find_at;
use gramc_json_schema::keywords::name as k;
use gramc_model::attributes::{AttributeOwner, find};

/// The meaning of a word of another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The lower bound of a range.
    Least(&'static str),
    /// The upper bound of a range.
    Most(&'static str),
    /// An attribute.
    Is(&'static str),
    /// One item of the list that is the value of an attribute.
    ItemOf(&'static str),
    /// Whether a parameter is required, or which parameters are.
    Required,
    /// The type.
    Type,
    /// The members of an agent, a container or an experiment.
    Members,
    /// A hint about a tool, by the name of its attribute there.
    HintOfTool(&'static str),
    /// An attribute of agents and arms, at an experiment.
    OfArm,
    /// The arguments of a program.
    Arguments(&'static str),
    /// A type or an attribute of another form, as this help explains.
    Help(&'static str),
    /// The head or the signature of a tool, as this help explains.
    OfTool(&'static str),
    /// The choice of a target, as this help explains.
    OfTarget(&'static str),
}

use Meaning::{Arguments, Help, HintOfTool, Is, ItemOf, Least, Members, Most, OfTarget, OfTool};

/// The rows of `foreign_words.txt`.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("foreign_words.txt").lines();
    lines.filter(|line| !line.starts_with('#')).filter_map(Row::read).collect()
});

struct Row {
    /// The names of the owners of the words; empty for all.
    owners: Vec<&'static str>,
    words: Vec<&'static str>,
    meaning: Meaning,
}

impl Row {
    fn read(line: &'static str) -> Option<Self> {
        let (words, meaning) = line.split_once(" = ")?;
        let (owners, words) = words.split(' ').partition(|word| word.starts_with('@'));
        let (name, argument) = meaning.split_once(' ').unwrap_or((meaning, ""));
        let meaning = match name {
            "least" => Least(argument),
            "most" => Most(argument),
            "is" => Is(argument),
            "item-of" => ItemOf(argument),
            "required" => Meaning::Required,
            "type" => Meaning::Type,
            "members" => Members,
            "hint-of-tool" => HintOfTool(argument),
            "arguments" => Arguments(argument),
            "help" => Help(argument),
            "of-tool" => OfTool(argument),
            "of-target" => OfTarget(argument),
            _ => return None,
        };
        Some(Self { owners, words, meaning })
    }

    fn is_of(&self, owner: AttributeOwner) -> bool {
        let owner = format!("@{owner:?}").to_lowercase();
        self.owners.iter().any(|one| *one == owner)
    }
}

/// The attribute that a meaning is about.
pub(crate) fn target(meaning: Meaning) -> Option<&'static str> {
    match meaning {
        Least(name) | Most(name) | Is(name) | ItemOf(name) | Arguments(name) => Some(name),
        _ => None,
    }
}

/// The meaning of a key at an owner, if it is a word of another language there.
pub(crate) fn meaning(key: &str, owner: AttributeOwner) -> Option<Meaning> {
    use AttributeOwner as O;
    if find_at(owner, key).is_some() {
        return None;
    }
    let mut rows = ROWS.iter().filter(|row| row.words.contains(&key));
    if let Some(row) = rows.clone().find(|row| row.is_of(owner)) {
        return Some(row.meaning);
    }
    if owner == O::Experiment && key != "agent" && find(O::Agent, key).is_some() {
        return Some(Meaning::OfArm);
    }
    let in_field = |meaning| match target(meaning) {
        Some(name) => find(O::Field, name).is_some(),
        None => matches!(meaning, Meaning::Required | Meaning::Type | Help(_)),
    };
    let named = |name: &str| name != "description" && find(owner, name).is_some();
    let applies = |meaning| match owner {
        O::Field => in_field(meaning),
        O::Record | O::Union | O::Enum | O::Alias => match target(meaning) {
            Some(name) => find_at(owner, name).is_some(),
            None => in_field(meaning),
        },
        // A constraint of a tool constrains nothing; other attributes are kept for targets.
        O::Tool => match meaning {
            OfTool(_) | OfTarget(_) => true,
            Is("description") => !matches!(key, "docs" | k::COMMENT),
            Is("enum" | "unique" | "default" | "nullable" | k::MULTIPLE_OF)
            | ItemOf(_)
            | Meaning::Type
            | Help(_) => false,
            Is(name) if find(O::Tool, name).is_some() => true,
            _ => in_field(meaning),
        },
        O::Agent | O::Container => match meaning {
            Members => true,
            Is(name) => named(name),
            _ => false,
        },
        O::Implementation(_) => target(meaning).is_some_and(named),
        _ => false,
    };
    rows.find(|row| row.owners.is_empty() && applies(row.meaning)).map(|row| row.meaning)
}
