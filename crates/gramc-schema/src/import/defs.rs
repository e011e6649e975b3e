//! Converts the entries of `$defs` to top-level types, which tools with the same entry share.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::convert::{Converter, Scope, next_id};
use super::keywords::definition;
use super::names::{Hint, pascal};
use super::walk;
use crate::lower::references_in;
use gramc_check::is_type_name;
use gramc_model::{TypeDeclaration, TypeId, TypeKind, TypeUse, Types};

/// The `$defs` of one schema.
pub(super) struct Block {
    original: Map<String, Value>,
    /// The hash and the references of each entry.
    outlines: HashMap<String, Outline>,
    pub(super) ids: Rc<HashMap<String, TypeId>>,
    /// Whether all tools share it, so that each of them uses only a part.
    pub(super) is_shared: bool,
}

impl Block {
    /// The original entries.
    pub(super) fn original(&self) -> &Map<String, Value> {
        &self.original
    }
}

struct Outline {
    hash: u64,
    refers_to: Vec<String>,
}

/// The first occurrence of an entry.
struct DefinitionEntry {
    id: TypeId,
    block: usize,
    name: String,
    tool: SmolStr,
}

/// The entries of all `$defs`.
#[derive(Default)]
pub(super) struct Registry {
    pub(super) blocks: Vec<Block>,
    by_hash: HashMap<u64, Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    entries: Vec<DefinitionEntry>,
}

/// The maximum number of entries in a block that is compared with other blocks.
const MAX_COMPARED: usize = 500;

impl Registry {
    /// Registers the `$defs` of a tool and returns the index of the block.
    pub(super) fn register(
        &mut self,
        converter: &mut Converter,
        tool: &SmolStr,
        definitions: Map<String, Value>,
    ) -> usize {
        let hash = hash_of(&definitions);
        let known = self.by_hash.entry(hash).or_default();
        let same = known.iter().find(|at| self.blocks[**at].original == definitions);
        if let Some(at) = same {
            return *at;
        }
        let block = self.blocks.len();
        known.push(block);
        let outline = |(name, schema): (&String, &Value)| {
            let references = references_in(schema);
            let refers_to = references.iter().filter_map(|to| definition(to)).map(Cow::into_owned);
            (name.clone(), Outline { hash: hash_of(schema), refers_to: refers_to.collect() })
        };
        let outlines: HashMap<_, _> = definitions.iter().map(outline).collect();
        let mut ids = HashMap::with_capacity(definitions.len());
        for name in definitions.keys() {
            let id = if let Some(id) = self.same(name, &definitions, &outlines) {
                id
            } else {
                let id = self.enter(converter, tool, name, block);
                let hash = outlines.get(name).map_or(0, |outline| outline.hash);
                converter.originals.insert(id, hash);
                id
            };
            ids.insert(name.clone(), id);
        }
        let is_shared = converter.is_shared;
        self.blocks.push(Block { original: definitions, outlines, ids: Rc::new(ids), is_shared });
        block
    }

    /// The type of an entry that was registered before and is the same, including everything that
    /// it refers to.
    fn same(
        &self,
        name: &str,
        definitions: &Map<String, Value>,
        outlines: &HashMap<String, Outline>,
    ) -> Option<TypeId> {
        let known = self.by_name.get(name).filter(|_| definitions.len() <= MAX_COMPARED)?;
        let reached = reachable_entries(name, outlines);
        let entries = known.iter().filter_map(|at| self.entries.get(*at));
        let mut entries = entries.filter_map(|entry| Some((entry, self.blocks.get(entry.block)?)));
        let same = entries.find(|(_, other)| {
            reached.iter().all(|name| {
                let hashes = (outlines.get(*name), other.outlines.get(*name));
                let alike = match hashes {
                    (Some(ours), Some(theirs)) => ours.hash == theirs.hash,
                    (ours, theirs) => ours.is_none() && theirs.is_none(),
                };
                alike && definitions.get(*name) == other.original.get(*name)
            })
        });
        same.map(|(entry, _)| entry.id)
    }

    fn enter(
        &mut self,
        converter: &mut Converter,
        tool: &SmolStr,
        name: &str,
        block: usize,
    ) -> TypeId {
        let id = next_id(&converter.types);
        let free =
            |candidate: &str| is_type_name(candidate) && !converter.top_names.contains(candidate);
        let gram_name = if free(name) {
            SmolStr::from(name)
        } else {
            let base = pascal(name);
            let base = if base.is_empty() { "Type".to_owned() } else { base };
            let numbered = (2_u64..).map(|number| format!("{base}{number}"));
            let mut candidates = [base.clone(), format!("{base}Type")].into_iter().chain(numbered);
            SmolStr::from(candidates.find(|candidate| free(candidate)).unwrap_or_default())
        };
        converter.top_names.insert(gram_name.clone());
        let schema_name = (gram_name != name).then(|| SmolStr::from(name));
        converter.types.0.push(TypeDeclaration {
            name: gram_name,
            schema_name,
            kind: TypeKind::Alias,
            type_use: TypeUse::default(),
            local: false,
            referred: true,
        });
        self.by_name.entry(name.to_owned()).or_default().push(self.entries.len());
        self.entries.push(DefinitionEntry { id, block, name: name.to_owned(), tool: tool.clone() });
        id
    }

    /// Converts all entries.
    pub(super) fn convert(&self, converter: &mut Converter) {
        // All entries share one scope, so that equal types within them are declared once.
        let mut scope = Scope::default();
        for entry in &self.entries {
            self.declare(converter, &mut scope, entry, |converter, block| {
                let schema = block.original.get(&entry.name).cloned().unwrap_or_default();
                let name = converter.types.get(entry.id).map_or("", |known| &known.name).to_owned();
                converter.definition(schema, Hint::new(&name, ""))
            });
        }
        self.cut_endless(converter);
    }

    /// Keeps types verbatim that have no finite value, which gram rejects.
    fn cut_endless(&self, converter: &mut Converter) {
        loop {
            let endless = walk::find_endless(&converter.types);
            let mut cut = false;
            for entry in self.entries.iter().filter(|entry| endless.contains(&entry.id)) {
                self.declare(converter, &mut Scope::default(), entry, |converter, block| {
                    // What refers to the type would go on without an end.
                    let schema = match block.original.get(&entry.name) {
                        Some(schema) if !block.is_shared => schema.clone(),
                        _ => Value::Object(Map::new()),
                    };
                    (converter.keep(schema, "it has no finite value".to_owned()), TypeKind::Alias)
                });
                cut = true;
            }
            if !cut {
                break;
            }
        }
    }

    /// Declares the type of an entry, which `convert` makes in a scope.
    fn declare(
        &self,
        converter: &mut Converter,
        scope: &mut Scope,
        entry: &DefinitionEntry,
        convert: impl FnOnce(&mut Converter, &Block) -> (TypeUse, TypeKind),
    ) {
        let Some(block) = self.blocks.get(entry.block) else { return };
        scope.definitions = Some(Rc::clone(&block.ids));
        scope.tool = entry.tool.clone();
        scope.path = format!("$defs.{}", entry.name);
        std::mem::swap(&mut converter.scope, scope);
        let (type_use, kind) = convert(converter, block);
        std::mem::swap(&mut converter.scope, scope);
        if let Some(declared) = converter.types.0.get_mut(entry.id.0 as usize) {
            (declared.type_use, declared.kind) = (type_use, kind);
        }
    }

    /// The entries of a block that are not reachable from the roots, in order.
    pub(super) fn unreachable_entries(
        &self,
        block: usize,
        types: &Types,
        roots: Vec<TypeId>,
    ) -> Vec<TypeId> {
        let Some(block) = self.blocks.get(block).filter(|block| !block.is_shared) else {
            return Vec::new();
        };
        let reached = walk::reach(types, roots);
        let names = block.original.keys();
        names
            .filter_map(|name| block.ids.get(name))
            .filter(|id| !reached.contains(id))
            .copied()
            .collect()
    }
}

/// The names of all entries that are reachable from one, including itself.
fn reachable_entries<'n>(
    name: &'n str,
    outlines: &'n HashMap<String, Outline>,
) -> HashSet<&'n str> {
    let mut found = HashSet::from([name]);
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        for next in outlines.get(name).into_iter().flat_map(|outline| &outline.refers_to) {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
