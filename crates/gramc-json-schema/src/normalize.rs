//! Rewrites schemas of drafts 4 to 2019-09, and references of any kind, as plain draft 2020-12.
//!
//! Afterwards, all references are JSON pointers from the root, except for those to metaschemas, and
//! definitions are in `$defs`. Where a reference really is dynamic, because several resources have
//! its anchor, the references and identifiers of the schema stay as they are.

mod crawl;
mod rewrite;

use std::collections::HashMap;
use std::fmt;

use referencing::{Draft, SPECIFICATIONS, UriRef};
use serde_json::{Map, Value};

use crate::keywords::{Keyword, KeywordValue, name as k};
use crate::pointer::{below, dotted, escape_token};
use crawl::Crawl;
use rewrite::Rewriter;

/// The start of the identifiers of metaschemas up to draft 7.
const OLD_METASCHEMAS: &str = "http://json-schema.org/draft-0";

/// The start of the identifiers of copies of them.
const COPIES: &str = "json-schema:///draft-0";

/// A reference that leads to no schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedReference {
    /// The dotted path of the schema that has it. Empty for the root.
    pub path: String,
    /// The reference as it is written.
    pub reference: String,
    /// Why it leads to none.
    pub reason: UnresolvedReason,
}

/// Why a reference leads to no schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnresolvedReason {
    /// It is not a URI reference.
    Malformed,
    /// It leads to another document.
    Remote,
    /// Nothing is at the place that it leads to.
    Missing,
}

impl fmt::Display for UnresolvedReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reference, reason } = self;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "the reference `{reference}` ")?;
        f.write_str(match reason {
            UnresolvedReason::Malformed => "is not a valid URI",
            UnresolvedReason::Remote => "leads to another document: copy that schema into `$defs`",
            UnresolvedReason::Missing => "leads nowhere",
        })
    }
}

/// A rewritten schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalized {
    /// The schema in draft 2020-12, without `$schema`.
    pub schema: Value,
    /// The dotted paths of keywords that the declared draft ignores, and that are left out.
    pub ignored: Vec<String>,
}

/// Rewrites a schema as draft 2020-12. Its draft is the one in `$schema`; a schema without it may
/// use the notation of any draft.
///
/// # Errors
///
/// If references lead to another document or nowhere: all of them.
pub fn normalize(mut schema: Value) -> Result<Normalized, Vec<UnresolvedReference>> {
    let Value::Object(map) = &mut schema else {
        return Ok(Normalized { schema, ignored: Vec::new() });
    };
    let declared = map.shift_remove(k::SCHEMA);
    let declared = declared.as_ref().and_then(Value::as_str).map(Draft::from_schema_uri);
    let dialect = Dialect(declared.filter(|draft| *draft != Draft::Unknown));
    let (mut copies, mut malformed) = (HashMap::new(), Vec::new());
    check_uris(&mut schema, "", dialect, &mut copies, &mut malformed);
    if !malformed.is_empty() {
        return Err(malformed);
    }
    if !copies.is_empty() {
        refer_to_copies(&mut schema, &copies);
    }
    let crawl = Crawl::of(&schema, dialect)?;
    Ok(Rewriter::new(dialect, crawl).rewrite(&schema))
}

/// The draft that a schema declares. One that declares none is of the newest, and may also use
/// what only older drafts have.
#[derive(Clone, Copy)]
struct Dialect(Option<Draft>);

impl Dialect {
    fn draft(self) -> Draft {
        self.0.unwrap_or_default()
    }

    /// Whether the reference of a schema overrules what stands next to it.
    fn is_overruled(self, schema: &Map<String, Value>) -> bool {
        self.draft() <= Draft::Draft7 && schema.get(k::REF).is_some_and(Value::is_string)
    }

    /// Whether a keyword has an effect where it stands.
    fn applies(self, keyword: Keyword, schema: &Map<String, Value>) -> bool {
        let is_known = self.0.is_none_or(|draft| draft.is_known_keyword(keyword.name()));
        keyword.is_annotation()
            || matches!(keyword, Keyword::Nullable | Keyword::Ref)
            || is_known && !self.is_overruled(schema)
    }
}

/// Finds references that are no URIs, and removes identifiers that are none, because nothing can refer
/// to them. A schema with the identifier of a metaschema up to draft 7 is a copy, whose references lead
/// into itself: its identifier is removed in the root, and is another one elsewhere, which is added to
/// `copies`.
fn check_uris(
    schema: &mut Value,
    place: &str,
    dialect: Dialect,
    copies: &mut HashMap<String, String>,
    malformed: &mut Vec<UnresolvedReference>,
) {
    let Value::Object(map) = schema else { return };
    let is_uri = |text: &str| text.starts_with('#') || UriRef::parse(text).is_ok();
    let id = dialect.draft().id_keyword();
    if let Some(Value::String(text)) = map.get_mut(id) {
        let known = text.trim_end_matches('#');
        let is_copy = known.starts_with(OLD_METASCHEMAS) && SPECIFICATIONS.contains_resource(known);
        if is_copy && !place.is_empty() {
            let own = known.replacen(OLD_METASCHEMAS, COPIES, 1);
            copies.insert(known.to_owned(), own.clone());
            *text = own;
        } else if is_copy || !is_uri(text) {
            map.shift_remove(id);
        }
    }
    for (key, value) in map {
        let keyword = Keyword::of(key);
        if let Some(text) = value.as_str().filter(|text| is_reference(keyword) && !is_uri(text)) {
            malformed.push(UnresolvedReference {
                path: dotted(place).into_owned(),
                reference: text.to_owned(),
                reason: UnresolvedReason::Malformed,
            });
        }
        let steps: Vec<_> = subschemas(keyword, value).into_iter().map(|(step, _)| step).collect();
        for (step, inner) in steps.into_iter().zip(keyword.subschemas_mut(value)) {
            check_uris(inner, &(below(place, key) + &step), dialect, copies, malformed);
        }
    }
}

/// Makes references to metaschemas lead to their copies.
fn refer_to_copies(schema: &mut Value, copies: &HashMap<String, String>) {
    let Value::Object(map) = schema else { return };
    for (key, value) in map {
        let keyword = Keyword::of(key);
        if let (Value::String(text), true) = (&mut *value, is_reference(keyword)) {
            let (document, fragment) = text.split_once('#').unwrap_or((text, ""));
            if let Some(copy) = copies.get(document) {
                *text = format!("{copy}#{fragment}");
            }
        }
        for inner in keyword.subschemas_mut(value) {
            refer_to_copies(inner, copies);
        }
    }
}

fn is_reference(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Ref | Keyword::DynamicRef | Keyword::RecursiveRef)
}

/// The schemas in the value of a keyword, each with its pointer from there.
fn subschemas(keyword: Keyword, value: &Value) -> Vec<(String, &Value)> {
    use KeywordValue as V;
    match (keyword.value(), value) {
        (V::Schema | V::SchemaOrList, Value::Object(_) | Value::Bool(_)) => {
            vec![(String::new(), value)]
        }
        (V::SchemaList | V::SchemaOrList, Value::Array(items)) => {
            items.iter().enumerate().map(|(at, item)| (format!("/{at}"), item)).collect()
        }
        (V::SchemaMap | V::SchemaOrNamesMap, Value::Object(map)) => {
            let schemas = map.iter().filter(|(_, value)| !value.is_array());
            schemas.map(|(key, value)| (format!("/{}", escape_token(key)), value)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
