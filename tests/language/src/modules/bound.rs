//! Libraries and experiments.

use gramc_model::{Experiment, ExperimentArm, Implementation, ImplementationKind, Library};
use serde_json::{Value, json};

use super::Modules;

/// What the checker reads at libraries or implementations: no attribute that is only kept.
const READ: [&str; 16] = [
    "description",
    "title",
    "version",
    "inject",
    "run",
    "url",
    "headers",
    "method",
    "body",
    "env",
    "cwd",
    "command",
    "tool",
    "from",
    "name",
    "timeout",
];

impl Modules<'_> {
    /// Libraries and experiments that compare them, with names of their own namespace.
    pub(super) fn bound(&mut self) -> (Vec<Library>, Vec<Experiment>) {
        let (libraries, experiments) = (self.rng.below(3), self.rng.below(2));
        let names = self.names(libraries + experiments);
        let (of_libraries, others) = names.split_at(libraries.min(names.len()));
        let libraries: Vec<_> = of_libraries.iter().map(|name| self.library(name)).collect();
        // An experiment compares two at least.
        let others = if libraries.len() < 2 { &[] } else { others };
        let experiment = |name: &String| Experiment {
            name: name.into(),
            description: self.rng.chance(50).then(|| self.text().into()),
            arms: libraries.iter().map(|library| self.arm(&library.name)).collect(),
            attributes: keyed(self.unread()),
        };
        let experiments = others.iter().map(experiment).collect();
        (libraries, experiments)
    }

    /// An arm with a library, which is its name or has one of its own.
    fn arm(&mut self, library: &str) -> ExperimentArm {
        let is_library = self.rng.chance(50);
        let attributes = if is_library { Vec::new() } else { keyed(self.unread()) };
        let name = if is_library { library.to_owned() } else { format!("{library}-arm") };
        ExperimentArm { name: name.into(), library: library.into(), is_library, attributes }
    }

    fn library(&mut self, name: &str) -> Library {
        let mut attributes = self.policy();
        attributes.extend(self.unread());
        let count = self.rng.below(4);
        let tools = self.names(count);
        Library {
            name: name.into(),
            description: self.rng.chance(50).then(|| self.text().into()),
            implementations: tools.iter().map(|tool| self.implementation(tool)).collect(),
            attributes: keyed(attributes),
        }
    }

    fn implementation(&mut self, tool: &str) -> Implementation {
        let kind = ImplementationKind::ALL[self.rng.below(ImplementationKind::ALL.len())];
        // It names all tools of an MCP server.
        let kind = if tool == "*" { ImplementationKind::Mcp } else { kind };
        let (key, value) = match kind {
            ImplementationKind::Command => ("run", json!(["python3", self.text()])),
            ImplementationKind::Http => ("url", json!("http://127.0.0.1:8080/search")),
            ImplementationKind::Mcp => ("command", json!(["files-server"])),
            ImplementationKind::Replay => ("from", json!(self.text())),
            ImplementationKind::Builtin => ("signature", json!("(a::Int)==>(::Text)")),
            ImplementationKind::Fake => ("seed", json!(self.rng.below(9))),
            ImplementationKind::Client => ("description", json!(self.text())),
        };
        let mut attributes = vec![(key.to_owned(), value)];
        if self.rng.chance(30) {
            let names = self.names(2).into_iter();
            let sources = names.map(|name| (name, Value::String(self.text()))).collect();
            attributes.push(("inject".into(), Value::Object(sources)));
        }
        attributes.extend(self.policy());
        attributes.extend(self.unread());
        let (tool, attributes) = (tool.into(), keyed(attributes));
        Implementation { tool, kind, attributes, signature: None }
    }

    fn policy(&mut self) -> Vec<(String, Value)> {
        let all = [
            ("undeclared", json!("strip")),
            ("repair", json!(false)),
            ("maxAttempts", json!(3)),
            ("sameToolWindow", json!("10s")),
            ("maxResponse", json!("100kb")),
            ("timeout", json!("500ms")),
            ("expand", json!("turn")),
        ];
        let all = all.into_iter().filter(|_| self.rng.chance(20));
        all.map(|(key, value)| (key.into(), value)).collect()
    }

    /// Attributes that are only kept.
    fn unread(&mut self) -> Vec<(String, Value)> {
        let mut attributes = self.attributes();
        attributes.retain(|(key, _): &(String, Value)| !READ.contains(&key.as_str()));
        attributes
    }
}

/// Attributes with keys as the model has them.
fn keyed<K: From<String>>(attributes: Vec<(String, Value)>) -> Vec<(K, Value)> {
    attributes.into_iter().map(|(key, value)| (key.into(), value)).collect()
}
