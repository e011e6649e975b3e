//! Finds the schemas of a document, and where their references lead.

use std::collections::{HashMap, HashSet};
use std::ptr::from_ref;

use referencing::{Resolver, Retrieve, SPECIFICATIONS, Uri};
use serde_json::{Map, Value};

use super::{Dialect, UnresolvedReason, UnresolvedReference, below, is_reference, subschemas};
use crate::keywords::{Keyword, name as k};
use crate::pointer::dotted;

/// The base of schemas without an absolute `$id`, as in `jsonschema`.
const BASE: &str = "json-schema:///";

/// Retrieves nothing. References to other documents are found when they are resolved.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Value::Object(Map::new()))
    }
}

/// The schemas of a document and where their references lead. Schemas are identified by their
/// address.
#[derive(Default)]
pub(super) struct Crawl<'s> {
    schemas: HashSet<*const Value>,
    /// What the references of schemas lead to, except for metaschemas.
    pub(super) references: HashMap<*const Value, &'s Value>,
    /// What the references lead to.
    pub(super) targets: HashSet<*const Value>,
    /// Whether references can lead to different schemas, depending on where one comes from.
    pub(super) is_dynamic: bool,
}

impl<'s> Crawl<'s> {
    pub(super) fn of(root: &'s Value, dialect: Dialect) -> Result<Self, Vec<UnresolvedReference>> {
        // References and identifiers are URIs, so it has nothing to refuse.
        let malformed = |error: referencing::Error| {
            let (path, reference) = (String::new(), error.to_string());
            vec![UnresolvedReference { path, reference, reason: UnresolvedReason::Malformed }]
        };
        let draft = dialect.draft();
        let registry = SPECIFICATIONS.add(BASE, draft.create_resource_ref(root));
        let registry = registry
            .and_then(|builder| builder.draft(draft).retriever(Nothing).prepare())
            .map_err(malformed)?;
        let base = referencing::uri::from_str(BASE).map_err(malformed)?;
        let mut crawl = Self::default();
        let everything = all_values(root);
        let mut dynamic_anchors = HashSet::new();
        let mut unresolved = Vec::new();
        let mut waiting = vec![(root, registry.resolver(base), String::new())];
        // Schemas that are not in a keyword for schemas are reached by references alone. The others
        // come first, so that each is known by its own path.
        let mut referred = Vec::new();
        while let Some((schema, resolver, path)) = waiting.pop().or_else(|| referred.pop()) {
            let Value::Object(map) = schema else { continue };
            if !crawl.schemas.insert(schema) {
                continue;
            }
            let resolver =
                resolver.in_subresource(draft.create_resource_ref(schema)).unwrap_or(resolver);
            let anchor = map.get(k::DYNAMIC_ANCHOR).or_else(|| map.get("$recursiveAnchor"));
            crawl.is_dynamic |=
                anchor.is_some_and(|anchor| {
                    *anchor != false && !dynamic_anchors.insert(anchor.to_string())
                }) || map.keys().filter(|key| is_reference(Keyword::of(key))).count() > 1;
            for (key, value) in map {
                let keyword = Keyword::of(key);
                if !dialect.applies(keyword, map) {
                    continue;
                }
                for (step, inner) in subschemas(keyword, value) {
                    waiting.push((inner, resolver.clone(), below(&path, key) + &step));
                }
                let Some(reference) = value.as_str().filter(|_| is_reference(keyword)) else {
                    continue;
                };
                match lookup(&resolver, reference, &everything) {
                    Ok(Some((target, resolver))) => {
                        crawl.references.insert(schema, target);
                        crawl.targets.insert(target);
                        referred.push((target, resolver, path.clone()));
                    }
                    Ok(None) => {}
                    Err(reason) => unresolved.push(UnresolvedReference {
                        path: dotted(&path).into_owned(),
                        reference: reference.to_owned(),
                        reason,
                    }),
                }
            }
        }
        unresolved.sort_by(|one, other| one.path.cmp(&other.path));
        if unresolved.is_empty() { Ok(crawl) } else { Err(unresolved) }
    }
}

/// All values of a document by address, because a reference may lead anywhere.
fn all_values(root: &Value) -> HashMap<*const Value, &Value> {
    let mut found = HashMap::new();
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        found.insert(from_ref(value), value);
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(map) => waiting.extend(map.values()),
            _ => {}
        }
    }
    found
}

/// Resolves a reference: what it leads to, or `None` if that is a metaschema.
fn lookup<'s, 'r>(
    resolver: &Resolver<'r>,
    reference: &str,
    everything: &HashMap<*const Value, &'s Value>,
) -> Result<Option<(&'s Value, Resolver<'r>)>, UnresolvedReason> {
    let inside = |value: &Value| everything.get(&from_ref(value)).copied();
    let Ok(found) = resolver.lookup(reference) else {
        let (document, _) = reference.split_once('#').unwrap_or((reference, ""));
        let is_remote =
            resolver.lookup(document).is_ok_and(|found| inside(found.contents()).is_none());
        return Err(if is_remote { UnresolvedReason::Remote } else { UnresolvedReason::Missing });
    };
    let (contents, inner, _) = found.into_inner();
    if let Some(target) = inside(contents) {
        return Ok(Some((target, inner)));
    }
    let is_metaschema = SPECIFICATIONS.contains_resource(inner.base_uri().as_str());
    if is_metaschema { Ok(None) } else { Err(UnresolvedReason::Remote) }
}
