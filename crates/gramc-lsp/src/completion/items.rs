//! The items of a completion.

use gramc_check::names::{Declaration, Found, Kind, Space, values_in};
use gramc_lint::LINTS;
use gramc_model::attributes;
use gramc_model::attributes::{AttributeOwner, AttributeSpec, ValueType};
use gramc_model::print::{identifier, string};
use gramc_model::{BUILT_IN, Format};
use gramc_model::{ImplementationKind, Type};
use lsp_types as lsp;
use lsp_types::{CompletionItem, CompletionItemKind as K};

use super::context::{CompletionContext, Expected, RecordOwner, is_typed};
use super::named_values::named_values;
use crate::imports::{import_edit, relative};
use crate::lookup::{description, enum_members, node_of, touches};
use crate::markdown::built_in_documentation;
use crate::request::RequestContext;

/// Maximum number of items in a response. Items that start with the typed text come first.
const MAX_ITEMS: usize = 500;

/// Maximum number of items for which documentation is included.
const MAX_DOCUMENTED_ITEMS: usize = 100;

struct ItemList<'c> {
    cx: &'c RequestContext,
    context: &'c CompletionContext,
    range: lsp::Range,
    typed: String,
    found: Vec<CompletionItem>,
    more: bool,
}

/// The completions for a context, and whether the list is incomplete.
pub(super) fn items(
    cx: &RequestContext,
    context: &CompletionContext,
) -> (Vec<CompletionItem>, bool) {
    let typed = cx.file.text().get(context.word.range()).unwrap_or_default().to_lowercase();
    let range = cx.range(context.word);
    let mut items = ItemList { cx, context, range, typed, found: Vec::new(), more: false };
    match &context.expected {
        Expected::Nothing => {}
        Expected::Declaration { opened } => items.declarations(*opened),
        Expected::Label(holder) => items.labels(*holder),
        Expected::Type => items.types(),
        Expected::Implementation => {
            for kind in ImplementationKind::ALL {
                items.add(kind.name(), K::KEYWORD, kind.documentation(), None);
            }
        }
        Expected::ArmLabel => {
            items.add("Arm", K::KEYWORD, "an arm that differs in more than its library", None);
        }
        Expected::Parameter => items.add_declarations(Space::Terms, |_| true, true),
        Expected::Element(kind) => items.elements(*kind),
        Expected::Key(owner) => items.keys(owner),
        Expected::Value(owner, key) => items.values(owner, key),
        Expected::Lint => {
            for rule in LINTS {
                items.add(rule.code.name, K::VALUE, rule.code.summary(), None);
            }
        }
    }
    (items.found, items.more)
}

impl ItemList<'_> {
    /// Adds a plain item and returns its index. `None` if the list is full or the item does not match.
    fn add(&mut self, label: &str, kind: K, detail: &str, text: Option<String>) -> Option<usize> {
        if self.found.len() >= MAX_ITEMS {
            self.more = true;
            return None;
        }
        let text = text.unwrap_or_else(|| label.to_owned());
        self.found.push(CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail: (!detail.is_empty()).then(|| detail.to_owned()),
            // Inside quotes, clients compare with the unquoted text.
            filter_text: (text != label).then(|| label.to_owned()),
            text_edit: Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit::new(self.range, text))),
            ..CompletionItem::default()
        });
        Some(self.found.len() - 1)
    }

    /// Adds a snippet, or plain text if the client does not support snippets.
    fn snippet(&mut self, label: &str, kind: K, detail: &str, snippet: &str, plain: &str) {
        let snippets = self.cx.client.snippets;
        let text = if snippets { snippet } else { plain };
        if let Some(at) = self.add(label, kind, detail, Some(text.to_owned())) {
            let item = &mut self.found[at];
            item.filter_text = Some(label.to_owned());
            if snippets {
                item.insert_text_format = Some(lsp::InsertTextFormat::SNIPPET);
            }
        }
    }

    /// Adds the declarations of a namespace that match, those of this file first.
    fn add_declarations(
        &mut self,
        space: Space,
        wanted: impl Fn(&Declaration) -> bool,
        import: bool,
    ) {
        let names = self.cx.snapshot.names();
        let at = self.context.word.start;
        let own = self.cx.declarations();
        let tool = own.iter().rposition(|one| one.kind == Kind::Tool && touches(one.span, at));
        let seen = |found: &Found, one: &Declaration| match one.holder {
            // A type declared in a tool is visible only in that tool.
            Some(holder) if space == Space::Types => {
                found.file == self.cx.number && Some(holder) == tool
            }
            _ => true,
        };
        let all = names
            .all()
            .filter(|(found, one)| one.kind.space() == space && wanted(one) && seen(found, one));
        let mut all: Vec<_> = all.collect();
        if all.len() > MAX_ITEMS {
            let typed = self.typed.clone();
            all.retain(|(_, one)| one.name.to_lowercase().starts_with(&typed));
            self.more = true;
        }
        all.sort_by_key(|(found, _)| found.file != self.cx.number);
        let explained = all.len() <= MAX_DOCUMENTED_ITEMS;
        let all: Vec<_> = all.into_iter().map(|(found, one)| (found, one.clone())).collect();
        let mut before: Option<String> = None;
        for (found, one) in all {
            if before.as_deref() == Some(one.name.as_str()) && space != Space::Types {
                continue;
            }
            before = Some(one.name.to_string());
            self.declaration(found, &one, import, explained);
        }
    }

    fn declaration(&mut self, found: Found, one: &Declaration, import: bool, explained: bool) {
        let snapshot = &self.cx.snapshot;
        let elsewhere = found.file != self.cx.number;
        let file = snapshot.text(found.file).filter(|_| elsewhere);
        let mut detail = one.kind.word().to_owned();
        let mut documentation = None;
        if explained && let Some(node) = node_of(snapshot, found) {
            if one.kind == Kind::Term
                && let Some(label) = node.subject().labels().next()
            {
                detail = format!("::{}", label.text());
            }
            documentation = description(node);
        }
        if let Some(file) = file {
            detail = format!("{detail}, {}", file.source().name());
        }
        let in_name = one.kind.is_type() || self.context.quoted;
        let text = if in_name { one.name.to_string() } else { identifier(&one.name) };
        let kind = match one.kind {
            Kind::Tool => K::FUNCTION,
            Kind::Agent | Kind::Alias => K::CLASS,
            Kind::Container | Kind::Library | Kind::Experiment => K::MODULE,
            Kind::Record => K::STRUCT,
            Kind::Enum => K::ENUM,
            Kind::Union => K::INTERFACE,
            Kind::Term => K::FIELD,
        };
        let edit = if import && elsewhere { import_edit(self.cx, found.file) } else { None };
        if let Some(at) = self.add(&one.name, kind, &detail, Some(text)) {
            let item = &mut self.found[at];
            item.additional_text_edits = edit.map(|edit| vec![edit]);
            item.documentation = documentation.map(lsp::Documentation::String);
            item.sort_text = Some(format!("{}{}", u8::from(elsewhere), one.name));
        }
    }

    fn types(&mut self) {
        self.add_declarations(Space::Types, |_| true, true);
        for name in BUILT_IN {
            if let Some(at) = self.add(name, K::KEYWORD, "built-in type", None) {
                let item = &mut self.found[at];
                item.sort_text = Some(format!("2{name}"));
                let (kind, value) = (lsp::MarkupKind::Markdown, built_in_documentation(name));
                let explained = lsp::MarkupContent { kind, value };
                item.documentation = Some(lsp::Documentation::MarkupContent(explained));
            }
        }
    }

    fn labels(&mut self, holder: Option<Kind>) {
        let fits = |kind: &Kind| match holder {
            None => true,
            Some(Kind::Tool) => kind.is_type(),
            Some(Kind::Container) => *kind == Kind::Tool,
            Some(Kind::Agent) => matches!(kind, Kind::Tool | Kind::Container | Kind::Agent),
            Some(_) => false,
        };
        for kind in Kind::LABELLED.into_iter().filter(fits) {
            self.add(kind.label(), K::KEYWORD, &format!("declares {}", kind.noun()), None);
        }
    }

    fn elements(&mut self, kind: Kind) {
        match kind {
            Kind::Agent => {
                let own = self.cx.declaration_at(self.context.word.start);
                let own = own.map(|(_, one)| one.name.clone());
                self.add_declarations(Space::Tools, |one| Some(&one.name) != own.as_ref(), true);
            }
            Kind::Container | Kind::Library => {
                let is_imported = kind != Kind::Library;
                self.add_declarations(Space::Tools, |one| one.kind == Kind::Tool, is_imported);
            }
            Kind::Experiment => {
                self.add_declarations(Space::Libraries, |one| one.kind == Kind::Library, true);
            }
            Kind::Union => self.types(),
            _ => {}
        }
    }

    /// Adds snippets of declarations, or of what is inside of their brackets.
    fn declarations(&mut self, opened: bool) {
        let rest = self.cx.file.text().get(self.context.word.end as usize..).unwrap_or_default();
        let is_closed = rest.starts_with(']');
        for (label, about, snippet) in SNIPPETS {
            let inside = snippet.split_once('[').map(|(_, rest)| rest).filter(|_| opened);
            let inside = inside.and_then(|rest| rest.strip_suffix("]$0"));
            let snippet = match inside {
                Some(inside) if is_closed => format!("{inside}$0"),
                Some(inside) => format!("{inside}]$0"),
                None if opened => continue,
                None => snippet.to_owned(),
            };
            self.snippet(label, K::SNIPPET, about, &snippet, &plain(&snippet));
        }
    }

    fn keys(&mut self, owner: &RecordOwner) {
        if *owner == RecordOwner::Property {
            for (name, about) in
                [("name", "Name of the property"), ("type", "Type of the property, in quotes")]
            {
                let (snippet, plain) = (format!("{name}: \"$1\"$0"), format!("{name}: "));
                self.snippet(name, K::PROPERTY, about, &snippet, &plain);
            }
        }
        let required: &[&str] = match owner.attribute_owner() {
            Some(AttributeOwner::Implementation(kind)) => {
                kind.required().map_or(&[], |required| required.one_of)
            }
            Some(AttributeOwner::Arm) => &["library"],
            _ => &[],
        };
        for one in self.attributes(owner) {
            if !self.context.siblings.iter().any(|known| known == one.name) {
                self.attribute(one, required.contains(&one.name));
            }
        }
    }

    fn attribute(&mut self, one: &AttributeSpec, is_required: bool) {
        let name = one.name;
        let value = match one.value {
            ValueType::Text
            | ValueType::Type
            | ValueType::Format
            | ValueType::Url
            | ValueType::OneOf(_)
            | ValueType::Approval(_) => "\"$1\"$0",
            ValueType::Flag => "${1|true,false|}$0",
            ValueType::Range | ValueType::Size => "${1:1}..${2:10}$0",
            ValueType::Names => "[\"$1\"]$0",
            ValueType::List if matches!(name, "imports") => "[\"$1\"]$0",
            ValueType::List => "[$1]$0",
            _ => "$0",
        };
        let (snippet, plain) = (format!("{name}: {value}"), format!("{name}: "));
        self.snippet(name, K::PROPERTY, one.documentation, &snippet, &plain);
        if is_required && let Some(item) = self.found.last_mut().filter(|item| item.label == name) {
            // Before all others, which have no text to sort by but their name.
            item.sort_text = Some(format!(" {name}"));
        }
    }

    /// The attributes that are allowed at the cursor.
    fn attributes(&self, owner: &RecordOwner) -> Vec<&'static AttributeSpec> {
        let Some(attribute_owner) = owner.attribute_owner() else { return Vec::new() };
        let all = attributes::of_owner(attribute_owner);
        if *owner == RecordOwner::Arm {
            // An arm may have any attribute of its agent.
            let known: Vec<_> = all.collect();
            let of_agent = attributes::of_owner(AttributeOwner::Agent);
            let others = of_agent.filter(|spec| known.iter().all(|one| one.name != spec.name));
            return known.iter().copied().chain(others).collect();
        }
        let RecordOwner::Field(label) = owner else { return all.collect() };
        let types = &self.cx.snapshot.shared_module().module().types;
        let ty = self.type_of(label).unwrap_or_default();
        all.filter(|spec| spec.applies_to(types, &ty)).collect()
    }

    /// The type of a label, as far as it is known without checking the project.
    fn type_of(&self, label: &str) -> Option<Type> {
        let label = label.trim_matches('`');
        if let Some(ty) = gramc_check::plain_type(label) {
            return Some(ty);
        }
        let names = self.cx.snapshot.names();
        let found = names.find(self.cx.number, None, Space::Types, label);
        match names.declaration(*found.first()?)?.kind {
            Kind::Record => Some(Type::Object(Box::default())),
            Kind::Enum => Some(Type::Text),
            _ => None,
        }
    }

    fn values(&mut self, owner: &RecordOwner, key: &str) {
        if matches!((owner, key), (RecordOwner::Header, "imports")) {
            return self.imports();
        }
        if is_typed(key) {
            if self.context.quoted {
                return self.types();
            }
            return;
        }
        if let Some(values) = named_values(self.cx, owner, key) {
            return values.iter().for_each(|(value, about, kind)| self.string(value, *kind, about));
        }
        let Some(one) = self.attributes(owner).into_iter().find(|one| one.name == key) else {
            return;
        };
        match one.value {
            ValueType::Flag => self.words(&["true", "false"]),
            ValueType::OneOf(words) | ValueType::Approval(words) => {
                for word in words {
                    self.string(word, K::ENUM_MEMBER, one.documentation);
                }
            }
            ValueType::Format => {
                for name in BUILT_IN.iter().filter_map(|name| format_of(name)) {
                    self.string(name, K::ENUM_MEMBER, "format");
                }
            }
            ValueType::OfType | ValueType::List => self.of_type(owner),
            _ => {}
        }
    }

    fn words(&mut self, words: &[&str]) {
        for word in words.iter().filter(|_| !self.context.quoted) {
            self.add(word, K::VALUE, "", None);
        }
    }

    /// Adds a string value, quoted unless the cursor is inside quotes.
    fn string(&mut self, text: &str, kind: K, about: &str) {
        let quoted = if self.context.quoted { text.to_owned() } else { string(text) };
        self.add(text, kind, about, Some(quoted));
    }

    /// Adds the values of a `Boolean`, enum or literal type.
    fn of_type(&mut self, owner: &RecordOwner) {
        let RecordOwner::Field(label) = owner else { return };
        let label = label.trim_matches('`');
        if matches!(gramc_check::plain_type(label), Some(Type::Boolean)) {
            return self.words(&["true", "false"]);
        }
        for value in values_in(label) {
            match serde_json::from_str(value) {
                Ok(serde_json::Value::String(text)) => {
                    self.string(&text, K::ENUM_MEMBER, label);
                }
                _ => self.words(&[value]),
            }
        }
        let names = self.cx.snapshot.names();
        let found = names.find(self.cx.number, None, Space::Types, label);
        let Some(found) = found.first().copied() else { return };
        if names.declaration(found).map(|one| one.kind) == Some(Kind::Enum) {
            for (name, _) in enum_members(&self.cx.snapshot, found) {
                self.string(&name, K::ENUM_MEMBER, label);
            }
        }
    }

    fn imports(&mut self) {
        let files = self.cx.snapshot.files();
        let paths = files.iter().enumerate().filter(|(at, _)| *at != self.cx.number);
        let paths: Vec<_> = paths.filter_map(|(_, file)| relative(&self.cx.file, file)).collect();
        for path in &paths {
            self.string(path, K::FILE, "");
        }
    }
}

/// The format of a built-in type.
fn format_of(name: &str) -> Option<&'static str> {
    match gramc_check::plain_type(name) {
        Some(Type::Formatted(format)) => Some(Format::json_name(format)),
        _ => None,
    }
}

/// Snippets at the top level: label, detail and text.
const SNIPPETS: [(&str, &str, &str); 11] = [
    (
        "Tool",
        "a tool",
        "/** ${1:What it does} */\n[${2:name}:Tool | (${3:parameter}::${4:Text})==>(::${5:Text})]$0",
    ),
    ("Record", "an object type", "[${1:Name}:Record | (${2:field}::${3:Text})]$0"),
    ("Enum", "a closed set of strings", "[${1:Name}:Enum | ${2:first}, ${3:second}]$0"),
    ("Union", "one of several types", "[${1:Name}:Union | ${2:Text}, ${3:Int}]$0"),
    ("Alias", "a constrained type", "[${1:Name}:Alias | (::${2:Int} {${3:range: 0..150}})]$0"),
    ("Term", "a vocabulary term", "(${1:name}::${2:Text} {description: \"$3\"})$0"),
    ("Container", "tools that are expanded before use", "[${1:name}:Container | ${2:tool}]$0"),
    (
        "Agent",
        "an agent",
        "[${1:name}:Agent {model: \"${2:openai/gpt-4o-mini}\", instruction: \"$3\"} | ${4:tool}]$0",
    ),
    ("Library", "implementations of tools", "[${1:name}:Library | (${2:tool}:${3:Builtin})]$0"),
    ("Experiment", "a comparison of libraries", "[${1:name}:Experiment | ${2:one}, ${3:other}]$0"),
    ("imports", "the header of a file", "{imports: [\"$1\"]}$0"),
];

/// A snippet as plain text, with its default values.
fn plain(snippet: &str) -> String {
    let mut out = String::new();
    let mut rest = snippet;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(inside) = rest.strip_prefix('{') {
            let end = inside.find('}').unwrap_or(inside.len());
            // A default may contain `{`, as in an alias's record, but no nested braces.
            out.push_str(inside[..end].split_once(':').map_or("", |(_, text)| text));
            rest = inside.get(end + 1..).unwrap_or_default();
        } else {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each snippet parses without errors to the kind that its label names.
    #[test]
    fn snippets_are_gram() {
        for (label, _, snippet) in SNIPPETS {
            let text = plain(snippet);
            let parse = gramc_syntax::parse(gramc_syntax::SourceFile::new("a.gram", text.clone()));
            assert!(!parse.has_errors(), "{label}: {text}: {:?}", parse.diagnostics());
            if let Some(kind) = Kind::of_label(label) {
                let found = gramc_check::names::declarations(&parse, |_| false);
                assert_eq!(found.first().map(|one| one.kind), Some(kind), "{text}");
            }
        }
    }
}
