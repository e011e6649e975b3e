//! Diagnostics as a SARIF document, which code hosts and editors read. The numbers of sections are
//! those of <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use std::path::{Path, PathBuf};

use gramc_syntax::{Applicability, Code, Diagnostic, Fix, Label, Severity, SourceFile, Span};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{forward_slashes, message_and_help};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Where gramc is at home, as its manifest says. Empty as long as it says nothing.
const HOME: &str = env!("CARGO_PKG_REPOSITORY");

/// What of a path is percent-encoded in a URI: all but the characters that every part of a URI
/// may hold, and the slash. A colon in a relative path would make a scheme of what is before it.
const NOT_IN_A_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The document of all diagnostics, which can be empty.
pub(super) fn document(found: &[Diagnostic]) -> Value {
    let places = Places { here: std::env::current_dir().ok() };
    let mut rules = Rules::default();
    let results: Vec<_> =
        found.iter().map(|diagnostic| places.result(diagnostic, rules.index(diagnostic))).collect();
    let mut driver = json!({
        "name": "gramc",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.0.into_iter().map(|(code, severity)| rule(code, severity)).collect::<Vec<_>>(),
    });
    // Until there is a repository, its owner is a placeholder.
    if !HOME.is_empty() && !HOME.contains("/OWNER/") {
        driver["informationUri"] = HOME.into();
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// The codes in the order of their first use, each with its highest severity.
#[derive(Default)]
struct Rules(Vec<(&'static Code, Severity)>);

impl Rules {
    /// The index of a diagnostic's code.
    fn index(&mut self, diagnostic: &Diagnostic) -> usize {
        let known = self.0.iter_mut().enumerate().find(|(_, (code, _))| *code == diagnostic.code);
        if let Some((index, (_, severity))) = known {
            *severity = (*severity).max(diagnostic.severity);
            return index;
        }
        self.0.push((diagnostic.code, diagnostic.severity));
        self.0.len() - 1
    }
}

fn rule(code: &Code, severity: Severity) -> Value {
    json!({
        "id": code.name,
        "shortDescription": {"text": code.summary()},
        "help": {"text": code.page, "markdown": code.page},
        "defaultConfiguration": {"level": severity.name()},
    })
}

/// A message. Literal braces are doubled, because braces enclose arguments (section 3.11.5).
fn message(text: &str) -> Value {
    json!({"text": text.replace('{', "{{").replace('}', "}}")})
}

/// A place in a text. The end is behind the last character.
fn region(source: &SourceFile, span: Span) -> Value {
    let (start, end) = (source.position(span.start), source.position(span.end));
    json!({
        "startLine": start.line + 1,
        "startColumn": start.column + 1,
        "endLine": end.line + 1,
        "endColumn": end.column + 1,
    })
}

/// What knows how places are named.
struct Places {
    /// The folder that paths are relative to.
    here: Option<PathBuf>,
}

impl Places {
    fn result(&self, diagnostic: &Diagnostic, rule: usize) -> Value {
        let mut labels = diagnostic.labels.iter();
        let first: Vec<_> =
            labels.next().map(|label| self.location(diagnostic, label)).into_iter().collect();
        let mut result = json!({
            "ruleId": diagnostic.code.name,
            "ruleIndex": rule,
            "level": diagnostic.severity.name(),
            "message": message(&message_and_help(diagnostic)),
            "locations": first,
        });
        let further = labels.enumerate().map(|(at, label)| {
            let mut location = self.location(diagnostic, label);
            // Two labels may say the same of one place, but the list holds nothing twice.
            location["id"] = (at + 1).into();
            location
        });
        let further: Vec<_> = further.collect();
        if !further.is_empty() {
            result["relatedLocations"] = further.into();
        }
        let fixes: Vec<_> = diagnostic
            .fixes
            .iter()
            .filter(|fix| !fix.edits.is_empty())
            .map(|fix| self.fix(diagnostic, fix))
            .collect();
        if !fixes.is_empty() {
            result["fixes"] = fixes.into();
        }
        result
    }

    fn location(&self, diagnostic: &Diagnostic, label: &Label) -> Value {
        let source = label.source.as_ref().unwrap_or(&diagnostic.source);
        let mut location = json!({
            "physicalLocation": {
                "artifactLocation": {"uri": self.uri(source.name())},
                "region": region(source, label.span),
            },
        });
        if !label.message.is_empty() {
            location["message"] = message(&label.message);
        }
        location
    }

    fn fix(&self, diagnostic: &Diagnostic, fix: &Fix) -> Value {
        let source = &*diagnostic.source;
        let replacements = fix.edits.iter().map(|edit| {
            json!({
                "deletedRegion": region(source, edit.span),
                "insertedContent": {"text": edit.text},
            })
        });
        let safe = fix.applicability == Applicability::Safe;
        json!({
            "description": message(&fix.message),
            "properties": {"applicability": if safe { "safe" } else { "needs-look" }},
            "artifactChanges": [{
                "artifactLocation": {"uri": self.uri(source.name())},
                "replacements": replacements.collect::<Vec<_>>(),
            }],
        })
    }

    /// The name of a text as a URI, relative where it lies below the current folder.
    fn uri(&self, name: &str) -> String {
        let path = Path::new(name);
        let below = self.here.as_deref().and_then(|here| path.strip_prefix(here).ok());
        let shown = below.and_then(Path::to_str).unwrap_or(name);
        let shown = forward_slashes(shown);
        let encoded = utf8_percent_encode(&shown, NOT_IN_A_PATH);
        if below.is_some() || path.is_relative() {
            return encoded.to_string();
        }
        // A path of Windows begins with a drive, and no slash.
        let slash = if shown.starts_with('/') { "" } else { "/" };
        format!("file://{slash}{encoded}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn names_become_uris() {
        let places = Places { here: Some("/home/me".into()) };
        for (name, uri) in [
            ("tools/a.gram", "tools/a.gram"),
            ("./a b.gram", "./a%20b.gram"),
            ("../ä#1?.gram", "../%C3%A4%231%3F.gram"),
            ("c:d,50%.gram", "c%3Ad%2C50%25.gram"),
            ("<stdin>", "%3Cstdin%3E"),
            ("/home/me/tools/a.gram", "tools/a.gram"),
            ("/home/you/a b.gram", "file:///home/you/a%20b.gram"),
        ] {
            assert_eq!(places.uri(name), uri);
        }
    }

    #[test]
    fn braces_of_messages_are_no_arguments() {
        assert_eq!(message("`{0}`"), json!({"text": "`{{0}}`"}));
    }
}
