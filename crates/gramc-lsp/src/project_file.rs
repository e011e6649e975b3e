//! Completion and hover in `gram.toml`.

use gramc_lint::{Case, LINTS, Level, Lint};
use gramc_project::{SETTINGS, SettingKey, SettingValue};
use gramc_schema::Target;
use gramc_syntax::Span;
use lsp_types as lsp;
use lsp_types::CompletionItemKind as K;
use lsp_types::{CompletionItem, CompletionList, CompletionParams, CompletionResponse};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use crate::markdown::push_paragraph;
use crate::position::number;
use crate::request::{RequestContext, RequestResult};
use crate::toml_context::{TomlContext, TomlPlace, context, word_end};

/// A table of `gram.toml`.
#[derive(Debug, Clone, Copy)]
enum Table {
    /// A table with these keys.
    Keys(&'static [SettingKey]),
    /// A table of models, each with a table of these keys.
    Models(&'static [SettingKey]),
    /// The table of lints.
    Lints,
    /// The table of a lint.
    Lint(&'static Lint),
}

/// A key or value, as it is completed and shown.
#[derive(Debug)]
struct Word {
    text: String,
    kind: K,
    /// A summary in one line.
    detail: String,
    documentation: String,
}

impl Table {
    const ROOT: Self = Self::Keys(SETTINGS);

    /// The table at a path.
    fn at(path: &[String]) -> Option<Self> {
        path.iter().try_fold(Self::ROOT, |table, key| table.inner(key))
    }

    /// The table of a key.
    fn inner(self, key: &str) -> Option<Self> {
        match self {
            Self::Keys(keys) => match keys.iter().find(|it| it.name == key)?.value {
                SettingValue::Table(keys) => Some(Self::Keys(keys)),
                SettingValue::Models(keys) => Some(Self::Models(keys)),
                SettingValue::Lints => Some(Self::Lints),
                _ => None,
            },
            Self::Models(keys) => Some(Self::Keys(keys)),
            Self::Lints => Lint::of(key).map(Self::Lint),
            Self::Lint(_) => None,
        }
    }

    /// The keys of the table. `models` are the models of the project.
    fn keys(self, models: impl FnOnce() -> Vec<String>) -> Vec<Word> {
        match self {
            Self::Keys(keys) => keys.iter().map(setting).collect(),
            Self::Models(_) => models().into_iter().map(model).collect(),
            Self::Lints => LINTS.iter().map(|lint| lint_word(lint)).collect(),
            Self::Lint(lint) => {
                let level = Word::new("level", K::PROPERTY, level_summary(lint));
                let options = lint.options.iter().map(|option| {
                    let detail = format!("{} [default: {}]", option.about, option.default);
                    Word::new(option.name, K::PROPERTY, detail)
                });
                std::iter::once(level).chain(options).collect()
            }
        }
    }

    /// The values of a key.
    fn values(self, key: &str) -> Vec<Word> {
        let is_naming = |lint: &Lint| lint.code.name == "naming";
        match self {
            Self::Keys(keys) => match keys.iter().find(|it| it.name == key).map(|it| it.value) {
                Some(SettingValue::Targets) => Target::ALL.map(target).into(),
                _ => Vec::new(),
            },
            Self::Lints => Lint::of(key).map(levels).unwrap_or_default(),
            Self::Lint(lint) if key == "level" => levels(lint),
            Self::Lint(lint) if is_naming(lint) => {
                Case::ALL.map(|case| Word::new(case.name(), K::ENUM_MEMBER, "a case")).into()
            }
            Self::Models(_) | Self::Lint(_) => Vec::new(),
        }
    }
}

impl Word {
    fn new(text: impl Into<String>, kind: K, detail: impl Into<String>) -> Self {
        let documentation = String::new();
        Self { text: text.into(), kind, detail: detail.into(), documentation }
    }

    /// The hover text.
    fn hover(&self) -> String {
        let mut text = format!("`{}`", self.text);
        push_paragraph(&mut text, Some(&self.detail));
        push_paragraph(&mut text, Some(self.documentation.trim()).filter(|it| !it.is_empty()));
        text
    }
}

fn setting(key: &SettingKey) -> Word {
    let documentation = match key.value {
        SettingValue::Number(range) if *range.end() == i64::MAX => {
            format!("A number of at least {}.", range.start())
        }
        SettingValue::Number(range) => {
            format!("A number from {} to {}.", range.start(), range.end())
        }
        SettingValue::Amount => "A number of at least 0.".to_owned(),
        SettingValue::Targets => "A list of names of targets.".to_owned(),
        SettingValue::Table(keys) => {
            let names: Vec<_> = keys.iter().map(|key| format!("`{}`", key.name)).collect();
            format!("A table with {}.", names.join(", "))
        }
        SettingValue::Models(_) | SettingValue::Lints => String::new(),
    };
    let kind = match key.value {
        SettingValue::Table(_) | SettingValue::Models(_) | SettingValue::Lints => K::MODULE,
        _ => K::PROPERTY,
    };
    Word { documentation, ..Word::new(key.name, kind, key.documentation) }
}

fn model(name: String) -> Word {
    Word::new(name, K::VALUE, "A model of the project.")
}

fn lint_word(lint: &'static Lint) -> Word {
    let options = lint.options.iter();
    let options = options.map(|it| format!("\n- `{}`: {}", it.name, it.about));
    let mut documentation = level_summary(lint);
    options.for_each(|option| documentation += &option);
    Word { documentation, ..Word::new(lint.code.name, K::PROPERTY, lint.code.summary()) }
}

fn level_summary(lint: &Lint) -> String {
    format!("\"allow\", \"warn\" or \"deny\" [default: {}]", lint.level.name())
}

fn levels(lint: &'static Lint) -> Vec<Word> {
    let level = |level| {
        let detail = match level {
            Level::Allow => "Not looked for.",
            Level::Warn => "Shown as a warning.",
            Level::Deny => "An error, which sets the exit code.",
        };
        let default = if level == lint.level { " [default]" } else { "" };
        Word::new(Level::name(level), K::ENUM_MEMBER, format!("{detail}{default}"))
    };
    Level::ALL.map(level).into()
}

fn target(target: Target) -> Word {
    let detail = format!("Compile with `gramc compile --target {}`.", target.name());
    Word::new(target.name(), K::ENUM_MEMBER, detail)
}

/// The models that agents of the project use.
fn models(cx: &RequestContext) -> Vec<String> {
    let module = cx.snapshot.shared_module();
    let used = module.module().agents.iter().flat_map(|agent| agent.models.iter());
    let mut used: Vec<_> = used.map(ToString::to_string).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// The words at a place.
fn words(cx: &RequestContext, context: &TomlContext) -> Option<Vec<Word>> {
    let table = Table::at(&context.table)?;
    Some(match &context.place {
        TomlPlace::Key => table.keys(|| models(cx)),
        TomlPlace::Header => {
            // A header names tables.
            let all = table.keys(|| models(cx)).into_iter();
            all.filter(|word| table.inner(&word.text).is_some()).collect()
        }
        TomlPlace::Value { key, .. } => table.values(key),
        TomlPlace::Nothing => Vec::new(),
    })
}

/// The context at a position, and the offset.
fn context_at(cx: &RequestContext, position: lsp::Position) -> (TomlContext, usize) {
    let at = cx.positions().offset(position) as usize;
    (context(cx.file.text().get(..at).unwrap_or_default()), at)
}

fn range(cx: &RequestContext, start: usize, end: usize) -> lsp::Range {
    cx.positions().range(Span::new(number(start), number(end)))
}

/// `textDocument/completion`
pub(crate) fn completion(
    cx: &RequestContext,
    params: CompletionParams,
) -> RequestResult<Option<CompletionResponse>> {
    let (context, at) = context_at(cx, params.text_document_position.position);
    let text = cx.file.text();
    let end = word_end(text, &context, at);
    let is_value = matches!(context.place, TomlPlace::Value { .. });
    let in_list = matches!(context.place, TomlPlace::Value { in_list: true, .. });
    let quote = text.get(context.start..at).and_then(|word| word.chars().next());
    let quote = quote.filter(|quote| matches!(quote, '"' | '\''));
    let range = range(cx, context.start, end);
    let item = |(at, word): (usize, Word)| {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let quoted = is_value || quote.is_some() || !word.text.chars().all(is_bare);
        let inserted = if quoted { format!("\"{}\"", word.text) } else { word.text.clone() };
        let inserted = match (&context.place, in_list) {
            // A list has brackets around its items.
            (TomlPlace::Value { key, .. }, false) if key == "targets" => format!("[{inserted}]"),
            _ => inserted,
        };
        let documentation = (!word.documentation.is_empty()).then(|| {
            let (kind, value) = (MarkupKind::Markdown, word.documentation);
            lsp::Documentation::MarkupContent(MarkupContent { kind, value })
        });
        CompletionItem {
            filter_text: quote.map(|quote| format!("{quote}{}", word.text)),
            sort_text: Some(format!("{at:03}")),
            label: word.text,
            kind: Some(word.kind),
            detail: Some(word.detail),
            documentation,
            text_edit: Some(lsp::TextEdit::new(range, inserted).into()),
            ..CompletionItem::default()
        }
    };
    let items = words(cx, &context).unwrap_or_default();
    let items = items.into_iter().enumerate().map(item).collect();
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete: false, items })))
}

/// `textDocument/hover`
pub(crate) fn hover(cx: &RequestContext, params: HoverParams) -> RequestResult<Option<Hover>> {
    let (before, at) = context_at(cx, params.text_document_position_params.position);
    let text = cx.file.text();
    let end = word_end(text, &before, at);
    let context = context(text.get(..end).unwrap_or_default());
    let words = words(cx, &context).unwrap_or_default();
    let Some(word) = words.into_iter().find(|word| word.text == context.word) else {
        return Ok(None);
    };
    Ok(Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: word.hover(),
        }),
        range: Some(range(cx, context.start, end)),
    }))
}
