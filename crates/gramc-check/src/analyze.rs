//! Analysis of declarations, one top-level pattern at a time.
//!
//! An analysis depends on the text of its item and on the declarations that it refers to.
//! The hash of both is its key, so a [`Cache`] keeps it until one of them changes. Places are those
//! of the text that was analyzed; they are moved when the analysis is read in another text.

use std::collections::HashMap;
use std::sync::Arc;

use gramc_syntax::{Diagnostic, Parse, SourceFile, Span};
use rayon::prelude::*;
use smol_str::SmolStr;

use crate::analysis::{Analysis, Known, is_error};
use crate::checker::Checker;
use crate::fingerprints::hash;
use crate::imports::ImportGraph;
use crate::index::{FileIndex, Item};
use crate::keys::Keys;
use crate::threads;
use gramc_model::spans::Place;
use gramc_model::{Module, Tool};

/// The items that are analyzed one after the other on a thread.
const CHUNK: usize = 128;

/// How many chunks a thread takes at once. Larger tasks leave threads idle at the end.
const CHUNKS_PER_TASK: usize = 16;

/// Which declarations an analysis keeps in its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Whole,
    /// All but tools, of which summaries are kept.
    Summaries,
    /// All but the tools outside of a span of one file.
    Near(usize, Span),
}

/// What is done with each declaration when it is analyzed.
pub trait Visitor: Sync {
    /// What is kept of an item.
    type Output: Default + Send + Sync;

    /// Visits an item, given its file and a module of nothing but its declarations.
    fn visit(&self, known: Known<'_>, item: (usize, &Module)) -> Self::Output;

    /// The diagnostics of an output; `None` if some were left out because there are too many.
    fn diagnostics<'o>(&self, output: &'o Self::Output) -> Option<&'o [Diagnostic]>;
}

/// Visits nothing.
impl Visitor for () {
    type Output = ();

    fn visit(&self, _: Known<'_>, _: (usize, &Module)) {}

    fn diagnostics<'o>(&self, (): &'o ()) -> Option<&'o [Diagnostic]> {
        Some(&[])
    }
}

/// What is kept of a tool to compare it with others.
#[derive(Debug)]
pub struct ToolSummary {
    /// Its name.
    pub name: SmolStr,
    name_span: Span,
    span: Span,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// The hash of its description without the space around it; 0 where it has none.
    pub description: u64,
}

impl ToolSummary {
    fn new(tool: &Tool, place: &Place, text: &Parse) -> Self {
        let description = tool.description.as_deref().map(str::trim);
        let description = description.filter(|text| !text.is_empty());
        Self {
            name: tool.name.clone(),
            name_span: place.name,
            span: text.tree().node(place.node).span(),
            deprecated: tool.deprecated,
            description: description.map_or(0, |text| hash(text).max(1)),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct ItemAnalysis<O> {
    /// The hash of the item's text and of what it refers to, if it is reused.
    pub(crate) key: Option<u64>,
    /// Where the item began when it was analyzed.
    start: u32,
    found: Vec<Diagnostic>,
    pub(crate) tools: Vec<ToolSummary>,
    pub(crate) output: O,
    /// The other files whose declarations it uses.
    uses: Vec<usize>,
    /// The hash of all names, if its diagnostics depend on them: errors suggest names.
    pub(crate) names: Option<u64>,
    /// The hash of all declared types, if it depends on more of them than their outlines.
    pub(crate) types: Option<u64>,
    /// Whether it is valid wherever the item is.
    pub(crate) reusable: bool,
}

/// The analyses of a file, in the order of its text.
#[derive(Debug)]
pub struct FileAnalysis<O> {
    source: Arc<SourceFile>,
    index: Arc<FileIndex>,
    /// With the current place of each.
    pub(crate) items: Vec<(u32, Arc<ItemAnalysis<O>>)>,
}

/// A tool and its place.
#[derive(Clone, Copy)]
pub struct ToolAt<'a> {
    /// The tool.
    pub tool: &'a ToolSummary,
    /// The bytes that it has moved since it was analyzed.
    by: i32,
}

impl ToolAt<'_> {
    /// The place of its name.
    pub fn name_span(&self) -> Span {
        self.tool.name_span.shift(self.by)
    }

    /// The place of its declaration.
    pub fn span(&self) -> Span {
        self.tool.span.shift(self.by)
    }
}

impl<O> FileAnalysis<O> {
    /// The tools, in the order of the text.
    pub fn tools(&self) -> impl Iterator<Item = ToolAt<'_>> {
        self.items_with_shift()
            .flat_map(|(analysis, by)| analysis.tools.iter().map(move |tool| ToolAt { tool, by }))
    }

    /// What the visitor kept of each item, with the bytes that it has moved since.
    pub fn outputs(&self) -> impl Iterator<Item = (&O, i32)> {
        self.items_with_shift().map(|(analysis, by)| (&analysis.output, by))
    }

    /// Where the item begins that contains a place.
    pub fn item_at(&self, place: u32) -> Option<u32> {
        let behind = self.items.partition_point(|(start, _)| *start <= place);
        self.items.get(behind.checked_sub(1)?).map(|(start, _)| *start)
    }

    fn items_with_shift(&self) -> impl Iterator<Item = (&ItemAnalysis<O>, i32)> {
        // No text is longer than 31 bits count.
        self.items.iter().map(|(start, analysis)| {
            (&**analysis, start.wrapping_sub(analysis.start).cast_signed())
        })
    }

    /// A diagnostic of an item that has moved.
    pub fn diagnostic(&self, found: &Diagnostic, by: i32) -> Diagnostic {
        if by == 0 && Arc::ptr_eq(&found.source, &self.source) {
            return found.clone();
        }
        found.shift(&self.source, by)
    }
}

/// The analyses of an earlier check, by the names of the files.
#[derive(Debug)]
pub struct Cache<O>(HashMap<Arc<str>, Arc<FileAnalysis<O>>>);

impl<O> Default for Cache<O> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<O> Cache<O> {
    /// A cache of the analyses of files.
    pub fn new(files: &[Arc<FileAnalysis<O>>]) -> Self {
        let named = files.iter().map(|file| (Arc::from(file.source.name()), Arc::clone(file)));
        Self(named.collect())
    }
}

/// Analyzes files that belong together. Gives their declarations, and the analyses of each file.
///
/// Summaries are taken from the `cache` where they are still valid, the indexes of files in any scope.
pub fn analyze<'t, V: Visitor>(
    texts: &'t [Parse],
    imports: &ImportGraph,
    scope: Scope,
    cache: Option<&Cache<V::Output>>,
    visitor: &V,
) -> (Analysis, Vec<Arc<FileAnalysis<V::Output>>>) {
    let before = |text: &Parse| cache?.0.get(text.source().name()).map(|file| &**file);
    let before: Vec<_> = texts.iter().map(before).collect();
    let indexes = index_all(texts, &before);
    let mut checker = Checker::new(texts);
    checker.resolve_names(&indexes, imports);
    let keys = (cache.is_some() && scope == Scope::Summaries).then(|| {
        fingerprint_all(texts, &indexes, &before);
        Keys::new(&checker, &indexes, imports)
    });
    let reuse = |file: usize| match &keys {
        Some(keys) => keys.reuse(file, &texts[file], &indexes[file], before[file]),
        None => Vec::new(),
    };
    let reused: Vec<_> = (0..texts.len()).map(reuse).collect();
    let work = split_work(&indexes, &reused, scope);
    let context =
        Context { shared: &checker, indexes: &indexes, reused: &reused, keys: &keys, scope };
    let chunk =
        |reader: &mut Checker<'t>, work: &Work| reader.analyze_chunk(&context, work, visitor);
    let bytes = if work.len() > 1 { size(texts) } else { 0 };
    let analyzed: Vec<_> = threads::run(
        bytes,
        || {
            let work = work.par_iter().with_max_len(CHUNKS_PER_TASK);
            work.map_init(|| checker.reader(), chunk).collect()
        },
        || {
            let mut reader = checker.reader();
            work.iter().map(|work| chunk(&mut reader, work)).collect()
        },
    );
    let count = analyzed.iter().map(|chunk| chunk.items.len()).sum();
    let files = checker.gather(&indexes, reused, work, analyzed);
    (Analysis { analyzed: count, ..checker.finish() }, files)
}

fn size(texts: &[Parse]) -> usize {
    texts.iter().map(|text| text.source().text().len()).sum()
}

/// The indexes of all files. A file whose text is the same has the same one.
fn index_all<O: Send + Sync>(
    texts: &[Parse],
    before: &[Option<&FileAnalysis<O>>],
) -> Vec<Arc<FileIndex>> {
    let known = |file: usize| {
        let same = before[file].filter(|it| Arc::ptr_eq(&it.source, texts[file].source()));
        same.map(|before| Arc::clone(&before.index))
    };
    let index = |file: usize| known(file).unwrap_or_else(|| Arc::new(FileIndex::new(&texts[file])));
    let new = (0..texts.len()).filter(|file| known(*file).is_none());
    let new: Vec<_> = new.map(|file| texts[file].source().text().len()).collect();
    let bytes = if new.len() > 1 { new.iter().sum() } else { 0 };
    threads::run(
        bytes,
        || (0..texts.len()).into_par_iter().map(index).collect(),
        || (0..texts.len()).map(index).collect(),
    )
}

/// Computes the fingerprints of files, as far as they are not those of earlier texts.
fn fingerprint_all<O>(
    texts: &[Parse],
    indexes: &[Arc<FileIndex>],
    before: &[Option<&FileAnalysis<O>>],
) {
    for ((text, index), before) in texts.iter().zip(indexes).zip(before) {
        index.fingerprints(text, before.map(|before| (&*before.source, &*before.index)));
    }
}

/// The analyses of a file that are known, by item; with the keys of all. Empty where none are kept.
pub(crate) type Reused<O> = Vec<ReusedItem<O>>;

/// The key of an item, and its analysis if it is known.
type ReusedItem<O> = (Option<u64>, Option<Arc<ItemAnalysis<O>>>);

/// Some items of a file.
struct Work {
    file: usize,
    items: Vec<usize>,
}

/// The input of all chunks.
struct Context<'c, 't, O> {
    shared: &'c Checker<'t>,
    indexes: &'c [Arc<FileIndex>],
    reused: &'c [Reused<O>],
    keys: &'c Option<Keys>,
    scope: Scope,
}

/// The analyses of some items of a file, and their declarations.
struct Chunk<O> {
    items: Vec<(usize, Arc<ItemAnalysis<O>>)>,
    module: Module,
}

/// The items to analyze, in chunks of one file each.
fn split_work<O>(indexes: &[Arc<FileIndex>], reused: &[Reused<O>], scope: Scope) -> Vec<Work> {
    let mut chunks = Vec::new();
    for (file, (index, reused)) in indexes.iter().zip(reused).enumerate() {
        let is_near = |item: &Item| match scope {
            Scope::Near(near, span) => {
                let touches = item.span.start <= span.end && span.start <= item.span.end;
                item.depends_on_all || (file == near && touches)
            }
            Scope::Whole | Scope::Summaries => true,
        };
        let is_open = |at: &usize| {
            let item = &index.items[*at];
            let known = reused.get(*at).is_some_and(|(_, known)| known.is_some());
            !known && !item.others.is_empty() && is_near(item)
        };
        let open: Vec<_> = (0..index.items.len()).filter(is_open).collect();
        chunks.extend(open.chunks(CHUNK).map(|items| Work { file, items: items.to_vec() }));
    }
    chunks
}

impl Checker<'_> {
    /// A checker that analyzes items by what this one has resolved.
    fn reader(&self) -> Self {
        Self {
            names: Arc::clone(&self.names),
            libraries: Arc::clone(&self.libraries),
            terms: Arc::clone(&self.terms),
            term_fields: Arc::clone(&self.term_fields),
            type_names: Arc::clone(&self.type_names),
            types: Arc::clone(&self.types),
            unread_terms: Arc::clone(&self.unread_terms),
            ..Self::empty(self.texts)
        }
    }

    /// Analyzes some items of a file.
    fn analyze_chunk<V: Visitor>(
        &mut self,
        context: &Context<'_, '_, V::Output>,
        work: &Work,
        visitor: &V,
    ) -> Chunk<V::Output> {
        let Context { shared, indexes, scope, .. } = *context;
        let (file, items, keys) = (work.file, &work.items, context.keys.as_ref());
        let (index, reused) = (&indexes[file], &context.reused[file]);
        let (known, text) = (shared.vocabulary(), &self.texts[file]);
        let mut whole = Module::default();
        let mut analyzed = Vec::with_capacity(items.len());
        self.found.clear();
        self.file = file;
        for at in items {
            let Some(item) = index.items.get(*at) else { continue };
            self.brought = shared.brought;
            self.reads_fields = false;
            for entry in &index.others[item.others.clone()] {
                self.read(&entry.declaration(file, text));
            }
            let mut module = std::mem::take(&mut self.module);
            let output = visitor.visit(known, (file, &module));
            let tools = module.tools.iter().zip(&module.spans.tools);
            let tools = tools.map(|(tool, place)| ToolSummary::new(tool, place, text)).collect();
            let found = self.found.get_mut(&file);
            let found = found.map(|found| std::mem::take(&mut found.all)).unwrap_or_default();
            let inside = |found: &Diagnostic| is_inside(found, item.span);
            let key = reused.get(*at).and_then(|(key, _)| *key);
            let reusable = key.is_some()
                && !item.depends_on_all
                && !item.broken
                && !self.is_full()
                && found.iter().all(inside)
                && visitor.diagnostics(&output).is_some_and(|found| found.iter().all(inside));
            let analysis = ItemAnalysis {
                key,
                start: item.span.start,
                tools,
                output,
                uses: self.uses.drain().map(|(_, owner)| owner).collect(),
                names: keys.filter(|_| found.iter().any(is_error)).map(|keys| keys.names),
                types: keys.filter(|_| self.reads_fields).map(|keys| keys.types),
                found,
                reusable,
            };
            analyzed.push((*at, Arc::new(analysis)));
            if scope == Scope::Summaries {
                module.tools.clear();
                module.spans.tools.clear();
            }
            append(&mut whole, module);
        }
        Chunk { items: analyzed, module: whole }
    }

    /// Puts analyses into the order of the files, and takes over what was found and declared.
    fn gather<O: Default>(
        &mut self,
        indexes: &[Arc<FileIndex>],
        reused: Vec<Reused<O>>,
        work: Vec<Work>,
        chunks: Vec<Chunk<O>>,
    ) -> Vec<Arc<FileAnalysis<O>>> {
        let nothing = Arc::new(ItemAnalysis::default());
        let mut work = work.into_iter().zip(chunks).peekable();
        let mut files = Vec::with_capacity(indexes.len());
        for ((file, index), reused) in indexes.iter().enumerate().zip(reused) {
            let mut items: Vec<_> = reused.into_iter().map(|(_, known)| known).collect();
            items.resize_with(index.items.len(), || None);
            while let Some((_, chunk)) = work.next_if(|(work, _)| work.file == file) {
                append(&mut self.module, chunk.module);
                for (at, analysis) in chunk.items {
                    items[at] = Some(analysis);
                }
            }
            let starts = index.items.iter().map(|item| item.span.start);
            let items = items.into_iter().map(|it| it.unwrap_or_else(|| Arc::clone(&nothing)));
            let items = starts.zip(items).collect();
            self.file = file;
            let source = Arc::clone(self.source());
            let analysis = FileAnalysis { source, index: Arc::clone(index), items };
            for (item, by) in analysis.items_with_shift() {
                let found = item.found.iter().map(|found| analysis.diagnostic(found, by));
                self.found.entry(file).or_default().extend(found);
                item.uses.iter().for_each(|owner| self.note_use(*owner));
            }
            files.push(Arc::new(analysis));
        }
        files
    }

    fn vocabulary(&self) -> Known<'_> {
        Known {
            terms: &self.module.terms,
            term_places: &self.module.spans.terms,
            term_names: &self.terms,
            types: &self.types,
            type_places: &self.module.spans.types,
            type_names: &self.type_names,
        }
    }
}

/// Whether all places that a diagnostic names are in one stretch of its own file.
fn is_inside(found: &Diagnostic, span: Span) -> bool {
    let holds = |place: Span| span.start <= place.start && place.end <= span.end;
    let edits = found.fixes.iter().flat_map(|fix| &fix.edits);
    found.labels.iter().all(|label| label.source.is_none() && holds(label.span))
        && edits.into_iter().all(|edit| holds(edit.span))
}

/// Adds what other files declare, types and terms aside.
fn append(module: &mut Module, mut other: Module) {
    module.tools.append(&mut other.tools);
    module.agents.append(&mut other.agents);
    module.containers.append(&mut other.containers);
    module.libraries.append(&mut other.libraries);
    module.experiments.append(&mut other.experiments);
    module.spans.tools.append(&mut other.spans.tools);
    module.spans.agents.append(&mut other.spans.agents);
    module.spans.containers.append(&mut other.spans.containers);
    module.spans.libraries.append(&mut other.spans.libraries);
    module.spans.implementations.append(&mut other.spans.implementations);
    module.spans.experiments.append(&mut other.spans.experiments);
}
