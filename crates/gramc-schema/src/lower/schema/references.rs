//! Lowers `$ref`.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::super::loss::Became;
use super::super::names;
use super::super::restore::RestorePlan;
use super::super::target_spec::{First, NameRule, Recursion, RefRule};
use super::cycles::Cycles;
use super::parts::Object;
use super::{At, Lowerer, MAX_INLINED, Out, Site, merge, parts};
use gramc_json_schema::keywords::{Keyword, name as k};
use gramc_json_schema::path::Path;
use gramc_json_schema::pointer::{
    decode_fragment as decoded, escape_fragment_token as escaped,
    unescape_fragment_token as unescaped,
};

/// The names of definitions. Some engines look for them without unescaping a reference.
const NAMES: NameRule = NameRule { first: First::Any, signs: "_.-", longest: 128 };

/// The definitions of a lowered schema.
#[derive(Default)]
pub(super) struct References {
    /// The number of each definition, by its `$ref` in the original schema.
    numbers: HashMap<String, usize>,
    /// The definitions: the name in the lowered schema, and the original `$ref`.
    all: Vec<(String, String)>,
    names: HashSet<String>,
    /// How many of them were returned by `next`.
    done: usize,
    cycles: Option<Cycles>,
}

impl References {
    /// Finds the cycles of an original schema.
    pub(super) fn look_for_cycles(&mut self, original: &Value) {
        self.cycles = Some(Cycles::of(original));
    }

    /// The next definition to lower: its number, its name, and its original `$ref`.
    pub(super) fn next(&mut self) -> Option<(usize, String, String)> {
        let (name, to) = self.all.get(self.done)?.clone();
        self.done += 1;
        Some((self.done, name, to))
    }

    /// The definition name that the model sees for `to`.
    fn seen(&self, to: &str) -> String {
        self.numbers.get(to).map_or_else(|| last_step(to), |&number| self.all[number].0.clone())
    }

    /// The name of the definition for `to`, which is added if it is new.
    fn name(&mut self, to: &str) -> String {
        if let Some(&number) = self.numbers.get(to) {
            return self.all[number].0.clone();
        }
        let name =
            names::free(&NAMES, &last_step(to), "Arguments", |name| self.names.contains(name));
        self.names.insert(name.clone());
        self.numbers.insert(to.to_owned(), self.all.len());
        self.all.push((name.clone(), to.to_owned()));
        name
    }
}

/// The kinds of references in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReferenceScope {
    /// No references.
    Nothing,
    /// To definitions of the root, or to other documents.
    ToDefinitions,
    /// To other parts of the schema.
    Anywhere,
}

/// The kinds of references in a schema.
pub(super) fn scope_of(schema: &Value) -> ReferenceScope {
    let scope = |to: &String| {
        let to_definitions = to.starts_with("#/$defs/") || to.starts_with("#/definitions/");
        if to_definitions || !to.starts_with('#') {
            ReferenceScope::ToDefinitions
        } else {
            ReferenceScope::Anywhere
        }
    };
    let most = super::sentences::references_in(schema).iter().map(scope).max();
    most.unwrap_or(ReferenceScope::Nothing)
}

/// The last segment of a pointer.
fn last_step(to: &str) -> String {
    unescaped(to.rsplit('/').next().unwrap_or_default())
}

/// The path of a reference's target in the original schema.
pub(super) fn place(to: &str) -> String {
    let steps: Vec<String> = to.split('/').skip(1).map(unescaped).collect();
    steps.join(".")
}

/// The name of the definition that a reference points to. `None` if it does not point to a
/// definition of the root.
fn definition(to: &str) -> Option<String> {
    let name = to.strip_prefix("#/$defs/").or_else(|| to.strip_prefix("#/definitions/"))?;
    (!name.contains('/')).then(|| unescaped(name))
}

/// The target of a reference in the original schema, if it exists.
pub(in super::super) fn target<'o>(original: &'o Value, to: &str) -> Option<&'o Value> {
    let pointer = to.strip_prefix('#')?;
    if pointer.contains('%') {
        original.pointer(&decoded(pointer))
    } else {
        original.pointer(pointer)
    }
}

impl Lowerer<'_> {
    /// A reference's target.
    pub(super) fn target(&self, to: &str) -> Option<&Value> {
        target(self.original.as_deref()?, to)
    }

    /// A copy of a reference's target.
    pub(super) fn resolve(&self, to: &str) -> Option<Value> {
        self.target(to).cloned()
    }

    /// Removes a reference that leads back to itself, without a property or an item between.
    pub(super) fn take_endless(&self, map: &mut Object) -> Option<Value> {
        let to = map.get(k::REF).and_then(Value::as_str)?;
        self.endless.contains(to).then(|| map.shift_remove(k::REF)).flatten()
    }

    /// Lowers a schema with a `$ref` and its sibling keywords.
    pub(super) fn reference(&mut self, site: &mut Site<'_>) -> Out {
        if let Some(to) = self.take_endless(site.map) {
            // What it accepts is not defined. The rest may say more.
            if site.map.keys().all(|key| Keyword::of(key).is_annotation()) {
                return self.text_of_anything(site, to);
            }
            self.lose_key(site.path, k::REF, to, Became::dropped("it leads back to itself"));
            return self.place(site);
        }
        let Some(Value::String(to)) = site.map.shift_remove(k::REF) else {
            return self.place(site);
        };
        let original = self.original.clone();
        let Some(found) = original.as_deref().and_then(|original| target(original, &to)) else {
            // It leads to another document, or nowhere.
            let sentence = format!("As described at `{to}`.");
            self.lose(site.path, k::REF, to.into(), Became::sentence(sentence.as_str()));
            super::leftovers::describe(site.map, &[sentence]);
            return self.place(site);
        };
        match self.spec.refs {
            RefRule::Defs { .. } => self.kept_reference(site, &to, found),
            _ => self.inlined_reference(site, &to, found),
        }
    }

    /// Replaces a reference by its target.
    fn inlined_reference(&mut self, site: &mut Site<'_>, to: &str, found: &Value) -> Out {
        let around = self.stack.iter().find(|(open, _)| open == to);
        if to == "#" || around.is_some() {
            let place = around.map_or("", |(_, place)| place.as_str());
            let form = match definition(to) {
                Some(name) if place.is_empty() => format!("`{name}`"),
                // The model sees the property, not the definition.
                Some(name) => format!("`{name}` at `{place}`"),
                None if place.is_empty() => "the arguments as a whole".to_owned(),
                None => format!("`{place}`"),
            };
            return self.text_of_cycle(site, to, &form);
        }
        if self.inlined > MAX_INLINED {
            parts::put(site.map, k::REF, to);
            return self.text(site, k::REF, TypeSet::ALL);
        }
        self.lose(site.path, k::REF, to.into(), Became::Inlined);
        self.add(site, parts::object_of(found.clone()));
        let muted = self.muted;
        self.muted |= !self.seen.insert(to.to_owned());
        self.stack.push((to.to_owned(), site.path.seen()));
        let written = place(to);
        let path = site.path.leads_to(&written);
        let out = self.place(&mut Site::new(site.map, &path, site.at.deeper()));
        self.stack.pop();
        self.muted = muted;
        out
    }

    /// Merges a reference's target into the sibling keywords of the `$ref`. Keywords that cannot be
    /// merged become a sentence.
    fn add(&mut self, site: &mut Site<'_>, whole: Object) {
        if merge::can_merge(site.map, &whole) {
            // The description next to a `$ref` describes this use, so it replaces the target's.
            let own = site.map.get(k::DESCRIPTION).cloned();
            merge::merge(site.map, whole);
            if let Some(own) = own {
                parts::put(site.map, k::DESCRIPTION, own);
            }
            return;
        }
        let annotations = parts::take(site.map, Keyword::is_annotation);
        let beside = std::mem::replace(site.map, whole);
        let sentence = self.describe_siblings(site.path, beside);
        site.map.extend(annotations);
        super::leftovers::describe(site.map, sentence.as_slice());
    }

    /// Turns sibling keywords of a `$ref` that the target does not support into a sentence.
    fn describe_siblings(&mut self, path: &Path<'_>, beside: Object) -> Option<String> {
        let beside = Value::Object(beside);
        let shown = self.print(&beside);
        let sentence = shown.map(|shown| format!("Also fits this JSON Schema: {shown}"));
        let became = sentence.clone().map_or(super::leftovers::TOO_LONG, Became::sentence);
        self.lose(path, k::REF, beside, became);
        sentence
    }

    /// Lowers a reference that the target supports, possibly in another form.
    fn kept_reference(&mut self, site: &mut Site<'_>, to: &str, found: &Value) -> Out {
        if self.breaks_recursion(site.at, to) {
            let form = match to {
                "#" => "the arguments as a whole".to_owned(),
                to => format!("`{}`", self.references.seen(to)),
            };
            return self.text_of_cycle(site, to, &form);
        }
        let plain = site.map.keys().all(|key| Keyword::of(key).is_annotation());
        if !plain
            && !self.is_recursive(to)
            && self.inlined <= MAX_INLINED
            && let Value::Object(found) = found
        {
            self.inlined += parts::size(found, 0);
            self.lose(site.path, k::REF, to.into(), Became::Inlined);
            self.add(site, found.clone());
            site.at = site.at.deeper();
            return self.place(site);
        }
        let name = match to {
            "#" if matches!(self.spec.refs, RefRule::Defs { root: true, .. }) => to.to_owned(),
            to => format!("#/$defs/{}", escaped(&self.references.name(to))),
        };
        if !plain {
            let beside = parts::take(site.map, |keyword| !keyword.is_annotation());
            let sentence = self.describe_siblings(site.path, beside);
            site.notes.extend(sentence);
        }
        self.leftovers(site, TypeSet::ALL);
        site.describe();
        if site.map.is_empty() {
            parts::put(site.map, k::REF, name.as_str());
        } else {
            // A union with one member can have a description next to it, a `$ref` cannot.
            let alternative = parts::one(k::REF, name.as_str());
            parts::put(site.map, k::ANY_OF, vec![Value::Object(alternative)]);
        }
        RestorePlan::Ref(name).into()
    }

    /// Whether a reference closes a cycle that the target does not support.
    fn breaks_recursion(&mut self, at: At, to: &str) -> bool {
        let RefRule::Defs { recursion, .. } = self.spec.refs else { return false };
        let from = self.references.all.get(at.definition.wrapping_sub(1));
        let from = from.map_or("#", |(_, to)| to.as_str()).to_owned();
        let Some(cycles) = self.cycles() else { return false };
        match recursion {
            Recursion::Any => false,
            // A reference to the root always closes a cycle.
            Recursion::Never => to == "#" || cycles.closes(&from, to),
            Recursion::Optional => {
                cycles.on_one(&from, to)
                    && (at.required || !at.optional && cycles.closes_without_property(&from, to))
            }
        }
    }

    /// Whether inlining a reference's target could close a cycle that the target does not support.
    pub(super) fn breaks_if_copied(&mut self, to: &str) -> bool {
        let never = matches!(
            self.spec.refs,
            RefRule::Defs { recursion: Recursion::Never | Recursion::Optional, .. }
        );
        never && self.is_recursive(to)
    }

    /// Whether a reference's target is recursive.
    fn is_recursive(&mut self, to: &str) -> bool {
        self.cycles().is_some_and(|cycles| cycles.is_recursive(to))
    }

    fn cycles(&mut self) -> Option<&Cycles> {
        if self.references.cycles.is_none() {
            let original: Rc<Value> = self.original.clone()?;
            self.references.look_for_cycles(&original);
        }
        self.references.cycles.as_ref()
    }
}
