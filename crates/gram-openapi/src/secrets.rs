//! Security schemes as injected parameters.

use std::collections::HashSet;

use gram_model::RequestLocation;

use crate::api::{Secret, SecretScheme};
use crate::names::{identifier, variable};
use crate::notes::Notes;
use crate::source::{Source, SourceOperation, SourceScheme};

/// The names of the schemes that an operation uses: the first alternative that can be said, or what can
/// be said of one.
pub(crate) fn schemes_of<'d>(
    operation: &SourceOperation<'d>,
    source: &Source<'d>,
    notes: &mut Notes,
) -> Vec<&'d str> {
    let mut unknown = None;
    let mut fallback: Option<Vec<&'d str>> = None;
    for alternative in &operation.security {
        let mut known = Vec::new();
        for name in alternative {
            match source.schemes.iter().find(|(known, _)| known == name) {
                Some((_, SourceScheme::Unknown(kind))) => {
                    unknown.get_or_insert_with(|| format!("authentication by {kind} is left out"));
                }
                Some(_) => known.push(*name),
                None => {
                    unknown.get_or_insert_with(|| {
                        format!("the security scheme `{name}` is not described and left out")
                    });
                }
            }
        }
        if known.len() == alternative.len() {
            return known;
        }
        if !known.is_empty() {
            fallback.get_or_insert(known);
        }
    }
    if let Some(what) = unknown {
        notes.add(what, &operation.place());
    }
    fallback.unwrap_or_default()
}

/// The secret of a scheme. Its parameter has a name that no other parameter has.
pub(crate) fn secret(
    scheme_name: &str,
    scheme: &SourceScheme,
    api: &str,
    taken: &HashSet<String>,
) -> Option<Secret> {
    let name = identifier(scheme_name);
    let name = if name.is_empty() { "secret".to_owned() } else { name };
    let others = (2_u32..).map(|number| format!("{name}Auth{number}"));
    let mut candidates = [name.clone(), format!("{name}Auth")].into_iter().chain(others);
    let parameter = candidates.find(|name| !taken.contains(name))?;
    let (description, scheme) = match scheme {
        SourceScheme::Bearer => ("Access token".to_owned(), SecretScheme::Bearer),
        SourceScheme::Basic => {
            ("User and password, as user:password".to_owned(), SecretScheme::Basic)
        }
        SourceScheme::Key(location, name) => (
            format!("Value of the {} `{name}`", kind_name(*location)),
            SecretScheme::Key(*location, name.clone()),
        ),
        SourceScheme::Unknown(_) => return None,
    };
    let (api, scheme_name) = (variable(api), variable(scheme_name));
    let begins = scheme_name.strip_prefix(&api);
    let variable = if begins.is_some_and(|rest| rest.is_empty() || rest.starts_with('_')) {
        scheme_name
    } else {
        format!("{api}_{scheme_name}").trim_matches('_').to_owned()
    };
    Some(Secret { parameter: parameter.into(), description, variable, scheme })
}

fn kind_name(location: RequestLocation) -> &'static str {
    match location {
        RequestLocation::Query => "query parameter",
        RequestLocation::Cookie => "cookie",
        _ => "header",
    }
}
