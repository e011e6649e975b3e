//! Queries: words, a signature or a part of one, or both.

use std::fmt::Write as _;
use std::sync::Arc;

use gramc_check::plain_type;
use gramc_model::Module;
use gramc_model::print::shape;
use gramc_schema::emit::ParameterSchema;
use gramc_syntax::{Diagnostic, Node, NodeKind, Parse, Severity, SourceFile, Span, Subject, parse};
use serde_json::Value;

use crate::schema::{properties, take_defs};
use crate::segments::{Segment, segments};

const MAX_BYTES: usize = 8_192;

/// The most parameters of a query.
const MAX_TERMS: usize = 32;

/// The name of a query in diagnostics.
const NAME: &str = "<query>";

const UNKNOWN_TYPE: &str = "unknown-type";

/// What to find.
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) words: String,
    /// The parameters that are there to be supplied. `None` if the query says nothing of them.
    pub(crate) parameters: Option<Vec<QueryTerm>>,
    /// The result that is wanted.
    pub(crate) result: Option<QueryTerm>,
    /// The names of types that are not built in.
    pub(crate) type_names: Vec<String>,
}

/// A parameter or the result.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    pub(crate) name: Option<String>,
    /// Whether the value may be absent.
    pub(crate) is_optional: bool,
    pub(crate) type_text: String,
    /// The schema of the type, which refers to unknown types as `#/$defs/NAME`. `None` if the query
    /// says no type.
    pub(crate) schema: Option<Value>,
}

impl QueryTerm {
    /// What the term is called in output.
    pub(crate) fn label(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => self.type_text.clone(),
        }
    }
}

/// A parameter or the result as written.
#[derive(Default)]
struct WrittenTerm {
    span: Span,
    /// Its type with colons.
    labels: String,
    /// The attributes of its type.
    record: String,
    name: Option<String>,
    has_type: bool,
    is_optional: bool,
}

impl Query {
    /// Reads a query. Words need no quotes: `email (to::Email[])`. A signature may leave out names,
    /// `Text ==> Date`, and each of its sides.
    ///
    /// # Errors
    ///
    /// The diagnostics of a signature that is not valid, of a query that is too long, and of one
    /// without words and types. A type that is not built in is not an error: it may be declared by what
    /// is searched.
    pub fn parse(text: &str) -> Result<Self, Vec<Diagnostic>> {
        let source = Arc::new(SourceFile::new(NAME, text));
        let whole = Span::from(0..text.len());
        let error = |message: &str, help: &str| {
            let code = &gramc_check::codes::MISSING_SIGNATURE;
            vec![Diagnostic::error(code, &source, whole, message).help(help)]
        };
        if text.len() > MAX_BYTES {
            return Err(error(
                &format!("the query has more than {MAX_BYTES} bytes"),
                "search for a few words or one signature",
            ));
        }
        if text.trim().is_empty() {
            return Err(error(
                "the query is empty",
                "search for words, or for a signature such as (city::Text)==>(::Forecast)",
            ));
        }
        let written = Written::of(&source);
        if !written.errors.is_empty() {
            return Err(written.errors);
        }
        let terms = written.parameters.len();
        if terms > MAX_TERMS {
            return Err(error(
                &format!("the query has more than {MAX_TERMS} parameters"),
                "leave out parameters",
            ));
        }
        let Written { words, has_parameters, parameters, result, .. } = written;
        let all: Vec<WrittenTerm> = parameters.into_iter().chain(result).collect();
        let (schemas, type_names) = schemas(&source, &all)?;
        let mut read = all.into_iter().zip(schemas).map(|(term, (schema, type_text))| QueryTerm {
            name: term.name,
            is_optional: term.is_optional,
            type_text,
            schema: schema.filter(|_| term.has_type),
        });
        let parameters: Vec<QueryTerm> = read.by_ref().take(terms).collect();
        let parameters = has_parameters.then_some(parameters);
        Ok(Self { words, parameters, result: read.next(), type_names })
    }

    /// A query of words alone, whatever they look like.
    pub fn of_words(words: &str) -> Self {
        let end = words.floor_char_boundary(MAX_BYTES);
        let words = words[..end].to_owned();
        Self { words, parameters: None, result: None, type_names: Vec::new() }
    }

    /// Whether the query says something of types or names of parameters.
    pub(crate) fn has_signature(&self) -> bool {
        self.parameters.is_some() || self.result.is_some()
    }
}

#[derive(Default)]
struct Written {
    words: String,
    has_parameters: bool,
    parameters: Vec<WrittenTerm>,
    result: Option<WrittenTerm>,
    errors: Vec<Diagnostic>,
}

impl Written {
    fn of(source: &Arc<SourceFile>) -> Self {
        let segments = segments(source.text());
        let is_arrow = |at: usize| matches!(segments.get(at), Some(Segment::Arrow(_)));
        let last_arrow = segments.iter().rposition(|it| matches!(it, Segment::Arrow(_)));
        let mut written = Self::default();
        for (at, segment) in segments.iter().enumerate() {
            let is_result = last_arrow.is_some_and(|last| at == last + 1);
            let is_joined = is_result || is_arrow(at + 1) || (at > 0 && is_arrow(at - 1));
            let text = source.slice(segment.span());
            match segment {
                Segment::Arrow(_) => {}
                Segment::Group(span) if is_joined || text.contains("::") => {
                    written.group(source, *span, is_result);
                }
                Segment::Chunk(span) if is_joined && is_type(text) => {
                    let labels = format!("::{text}");
                    let term = WrittenTerm {
                        labels,
                        span: *span,
                        has_type: true,
                        ..WrittenTerm::default()
                    };
                    written.add(term, is_result);
                }
                Segment::Group(_) | Segment::Chunk(_) => {
                    written.words.push_str(text);
                    written.words.push(' ');
                }
            }
        }
        written
    }

    fn add(&mut self, term: WrittenTerm, is_result: bool) {
        if is_result {
            self.result = Some(term);
        } else {
            self.has_parameters = true;
            self.parameters.push(term);
        }
    }

    fn group(&mut self, source: &Arc<SourceFile>, span: Span, is_result: bool) {
        let text = source.slice(span);
        let parse = parse(SourceFile::new(NAME, text));
        let mut nodes = parse.tree().root().descendants();
        let node = nodes.find(|node| node.kind() == NodeKind::NodePattern);
        let subject = node.map(Node::subject);
        let Some(subject) = subject.filter(|_| !parse.has_errors()) else {
            let by = i32::try_from(span.start).unwrap_or_default();
            self.errors.extend(parse.diagnostics().iter().map(|found| found.shift(source, by)));
            return;
        };
        if subject.is_empty() {
            // `()` says that there are no parameters.
            self.has_parameters |= !is_result;
            return;
        }
        self.add(named_term(&subject, span), is_result);
    }
}

/// Whether a word next to an arrow is a type. Types begin with a capital letter.
fn is_type(text: &str) -> bool {
    let is_bracket = text.starts_with(['[', '{', '(', '"', '`']);
    is_bracket || text.starts_with(char::is_uppercase) || plain_type(text).is_some()
}

/// A parameter in parentheses.
fn named_term(subject: &Subject<'_>, span: Span) -> WrittenTerm {
    let name = subject.identifier.map(|name| name.content().into_owned());
    let labels = subject.labels_node().map(Node::text);
    let record = subject.record.map_or_else(String::new, |record| record.text().to_owned());
    // `(Text)` is a type, like `(::Text)`.
    let is_type = |name: &String| labels.is_none() && plain_type(name).is_some();
    let (lone_type, name) = match name {
        Some(name) if is_type(&name) => (Some(name), None),
        name => (None, name),
    };
    let has_type = labels.is_some() || lone_type.is_some();
    let labels = match (&lone_type, labels) {
        (Some(name), _) => format!("::{name}"),
        (None, Some(labels)) => labels.to_owned(),
        (None, None) => "::Any".to_owned(),
    };
    WrittenTerm { span, labels, record, has_type, name, is_optional: subject.optional.is_some() }
}

/// The schemas of terms with their types as text, and the names of types that are not built in.
#[expect(clippy::type_complexity, reason = "the parts are used in one place")]
fn schemas(
    source: &Arc<SourceFile>,
    terms: &[WrittenTerm],
) -> Result<(Vec<(Option<Value>, String)>, Vec<String>), Vec<Diagnostic>> {
    /// How often types are declared that were unknown before. Nested ones may appear later.
    const ROUNDS: usize = 4;
    let mut declared: Vec<String> = Vec::new();
    for _ in 0..ROUNDS {
        let text = Generated::of(terms, &declared);
        let checked = gramc_check::check(std::slice::from_ref(&text.parse));
        if let Some(module) = checked.module {
            return Ok((read_schemas(&module, terms.len()), names(&module)));
        }
        let errors = checked.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        let (unknown, others): (Vec<_>, Vec<_>) =
            errors.partition(|error| error.code.name == UNKNOWN_TYPE);
        if !others.is_empty() || unknown.is_empty() {
            let others = others.into_iter();
            return Err(others.map(|it| text.move_diagnostic(it, source, terms)).collect());
        }
        for error in unknown {
            let name = error.source.slice(error.span()).to_owned();
            if !declared.contains(&name) {
                declared.push(name);
            }
        }
    }
    let whole = Span::from(0..source.text().len());
    let code = &gramc_check::codes::MISSING_SIGNATURE;
    Err(vec![Diagnostic::error(code, source, whole, "cannot read the types of the query")])
}

/// A specification whose only tool has the terms of a query as its parameters.
struct Generated {
    parse: Parse,
    /// The ends of the terms in its text.
    ends: Vec<usize>,
}

impl Generated {
    fn of(terms: &[WrittenTerm], declared: &[String]) -> Self {
        let mut text = "[query:Tool | ()==>".to_owned();
        if !terms.is_empty() {
            text.truncate("[query:Tool | ".len());
        }
        let mut ends = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            let WrittenTerm { labels, record, .. } = term;
            // What constrains an unknown type cannot be checked; what constrains a list of it can.
            let outer = labels.trim().trim_start_matches(':').trim_end_matches('?');
            let is_unknown = declared.iter().any(|name| outer == name.as_str());
            let record = if is_unknown { "" } else { record };
            // Writing to a string cannot fail.
            let _ = write!(text, "(p{at}{labels} {record})==>");
            ends.push(text.len());
        }
        text.push_str("(::Any)]\n");
        for name in declared {
            let _ = writeln!(text, "[{name}::Record | (unknown::Any)]");
        }
        Self { parse: parse(SourceFile::new(NAME, text)), ends }
    }

    /// A diagnostic, moved to the term that it is about.
    fn move_diagnostic(
        &self,
        found: &Diagnostic,
        to: &Arc<SourceFile>,
        terms: &[WrittenTerm],
    ) -> Diagnostic {
        let at = self.ends.iter().position(|end| found.span().start as usize <= *end);
        let at = at.unwrap_or(terms.len().saturating_sub(1));
        let span = terms.get(at).map_or_else(Span::default, |term| term.span);
        found.relocate(to, span)
    }
}

fn names(module: &Module) -> Vec<String> {
    module.types.iter().map(|(_, declared)| declared.name.to_string()).collect()
}

fn read_schemas(module: &Module, count: usize) -> Vec<(Option<Value>, String)> {
    let Some(tool) = module.tool("query") else { return vec![(None, String::new()); count] };
    let schema = ParameterSchema::new(&module.types, tool);
    // All keys of a view are strings, so serialization cannot fail.
    let mut schema = serde_json::to_value(schema).unwrap_or_default();
    take_defs(&mut schema);
    (0..count)
        .map(|at| {
            let name = format!("p{at}");
            let found = properties(&schema).find(|(known, _)| **known == name);
            let field = tool.parameters.iter().find(|field| field.name == name);
            let text = field.map(|field| shape(&module.types, &field.type_use.ty));
            (found.map(|(_, schema)| schema.clone()), text.unwrap_or_default())
        })
        .collect()
}
