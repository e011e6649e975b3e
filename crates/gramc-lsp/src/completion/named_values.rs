//! Values of attributes that name something: agents, libraries, files, models, fields, built-in
//! implementations.

use gramc_check::names::Kind;
use gramc_model::{ImplementationKind, Type};
use lsp_types::CompletionItemKind as K;

use super::context::RecordOwner;
use crate::imports::relative_path;
use crate::lookup::fields;
use crate::request::RequestContext;

pub(super) type NamedValue = (String, &'static str, K);

/// The values of an attribute, if they name something.
pub(super) fn named_values(
    cx: &RequestContext,
    owner: &RecordOwner,
    key: &str,
) -> Option<Vec<NamedValue>> {
    let kind = match owner {
        RecordOwner::Declaration(kind) => Some(*kind),
        _ => None,
    };
    let builtin = ImplementationKind::Builtin.name();
    let replay = ImplementationKind::Replay.name();
    Some(match (key, owner) {
        ("agent", _) => declared_names(cx, Kind::Agent),
        ("library", RecordOwner::Arm) => declared_names(cx, Kind::Library),
        ("cases", _) if kind == Some(Kind::Experiment) => data_files(cx, "cases"),
        ("from", RecordOwner::Implementation(word)) if word == replay => {
            data_files(cx, "recording")
        }
        ("model" | "models" | "judge", _) => models(cx),
        ("discriminator", _) => discriminators(cx),
        ("name", RecordOwner::Implementation(word)) if word == builtin => builtin_names()
            .map(|name| (name.to_owned(), "built-in implementation", K::FUNCTION))
            .collect(),
        _ => return None,
    })
}

fn declared_names(cx: &RequestContext, kind: Kind) -> Vec<NamedValue> {
    let all = cx.snapshot.names().all().filter(|(_, one)| one.kind == kind);
    all.map(|(_, one)| (one.name.to_string(), kind.word(), K::REFERENCE)).collect()
}

/// The JSON Lines files of the project.
fn data_files(cx: &RequestContext, what: &'static str) -> Vec<NamedValue> {
    let files = cx.snapshot.project.data_files.iter();
    let paths = files.filter_map(|path| relative_path(cx.file.path.as_deref()?, path));
    paths.map(|path| (path, what, K::FILE)).collect()
}

/// The models that the project names, then providers.
fn models(cx: &RequestContext) -> Vec<NamedValue> {
    let module = cx.snapshot.shared_module();
    let used = module.module().agents.iter().flat_map(|agent| agent.models.iter());
    let mut used: Vec<_> = used.map(ToString::to_string).collect();
    used.sort_unstable();
    used.dedup();
    let used = used.into_iter().map(|name| (name, "model", K::VALUE));
    let providers = providers().map(|name| (format!("{name}/"), "provider", K::MODULE));
    used.chain(providers).collect()
}

/// The fields with a literal type, which distinguish records.
fn discriminators(cx: &RequestContext) -> Vec<NamedValue> {
    let module = cx.snapshot.shared_module();
    let module = module.module();
    let all = module.types.iter().flat_map(|(id, _)| fields(module, id));
    let literal = all.filter(|field| matches!(field.type_use.ty, Type::Literal(_)));
    let mut names: Vec<_> = literal.map(|field| field.name.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (name, "field with a literal type", K::FIELD)).collect()
}

/// The names of built-in implementations.
fn builtin_names() -> impl Iterator<Item = &'static str> {
    #[cfg(feature = "agents")]
    let names = gramc_agent::builtins();
    #[cfg(not(feature = "agents"))]
    let names = std::iter::empty();
    names
}

fn providers() -> impl Iterator<Item = &'static str> {
    #[cfg(feature = "agents")]
    let names = gramc_agent::model::providers();
    #[cfg(not(feature = "agents"))]
    let names = std::iter::empty();
    names
}
