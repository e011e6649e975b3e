//! The messages of binding a library, in every format.

use serde_json::Value;

use crate::support::{Folder, folder, gramc};

/// The lines of severity `error`, `warning` of binding `library.gram` to `spec.gram`.
fn found(spec: &str, library: &str) -> Vec<String> {
    found_in(&folder(&[("spec.gram", spec), ("library.gram", library)]))
}

fn found_in(folder: &Folder) -> Vec<String> {
    let line = "bind spec.gram --library library.gram --format json";
    let run = gramc(line).within(folder.path()).run();
    let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = lines.filter(|line| line["severity"].is_string());
    let found = found.map(|line| {
        format!("{}: {}", line["severity"].as_str().unwrap(), line["message"].as_str().unwrap())
    });
    found.collect()
}

/// A library with one implementation of the tool `f`.
fn signed(signature: &str) -> String {
    format!("[l:Library | (f:Builtin {{name: \"echo\", signature: \"{signature}\"}})]")
}

#[test]
fn a_signature_means_what_its_own_file_declares() {
    let spec = "[Top:Record | (z::Int)] [f:Tool | (a::Top)==>(::Any)]";
    let library = signed("(a::Top)==>(::Text)");
    // Its own `Top` is another one.
    let other = format!("[Top:Record | (completely::Text)] {library}");
    let errors = found(spec, &other);
    assert!(
        errors.len() == 1 && errors[0].contains("rejects arguments that the tool"),
        "{errors:?}"
    );
    // Nobody but the specification declares one.
    assert_eq!(found(spec, &library), [] as [&str; 0]);
    // Nobody but the library does.
    let own = format!("[Mine:Record | (z::Int)] {}", signed("(a::Mine)==>(::Text)"));
    assert_eq!(found(spec, &own), [] as [&str; 0]);
    // Both kinds of names in one signature.
    let spec = "[Top:Record | (z::Int)] [f:Tool | (a::Top)==>(b::Int)==>(::Any)]";
    let own = |range| {
        format!("[Few::Alias | (::Int {range})] {}", signed("(a::Top)==>(b::Few)==>(::Text)"))
    };
    assert_eq!(found(spec, &own("")), [] as [&str; 0]);
    let errors = found(spec, &own("{range: 1..5}"));
    assert!(
        errors.len() == 1 && errors[0].contains("rejects arguments that the tool"),
        "{errors:?}"
    );
    // Nobody declares one.
    let errors = found(spec, &signed("(a::Tpo)==>(b::Int)==>(::Text)"));
    assert!(errors.len() == 1 && errors[0].contains("unknown type `Tpo`"), "{errors:?}");
}

#[test]
fn a_signature_may_use_terms_and_imports() {
    let spec = "[f:Tool | (town::Text)==>(::Any)]";
    let library = format!("(town::Text) {}", signed("(town)==>(::Text)"));
    assert_eq!(found(spec, &library), [] as [&str; 0]);
    let library = format!("(town::Int) {}", signed("(town)==>(::Text)"));
    assert_eq!(found(spec, &library).len(), 1);
    let library = format!("{{imports: [\"types.gram\"]}} {}", signed("(town::Town)==>(::Text)"));
    let folder = folder(&[
        ("spec.gram", spec),
        ("library.gram", &library),
        ("types.gram", "[Town::Enum | Graz, Linz]"),
    ]);
    let errors = found_in(&folder);
    assert!(
        errors.len() == 1 && errors[0].contains("rejects arguments that the tool"),
        "{errors:?}"
    );
    // What a signature uses is in use.
    let checked = gramc("check spec.gram library.gram").within(folder.path()).run();
    assert!(!checked.stderr.contains("unused"), "{}", checked.stderr);
}

#[test]
fn what_a_library_injects_into_all_tools_is_taken_by_one() {
    let spec = "[f:Tool | (key::Text {injected: true})==>(::Any)] [g:Tool | ()==>(::Any)]";
    let library = |name: &str| {
        format!(
            "[l:Library {{inject: {{key: \"file:library.gram\", {name}: \"file:a\"}}}} | (f:Builtin {{name: \"echo\"}}), (g:Builtin {{name: \"echo\"}})]"
        )
    };
    assert_eq!(
        found(spec, &library("kye")),
        ["warning: `inject` sets `kye`, but no tool has an injected parameter of this name; \
             did you mean `key`?"]
    );
}

#[test]
fn an_unknown_builtin_is_one_of_all_gaps() {
    let spec = "[f:Tool | ()==>(::Any)] [g:Tool | ()==>(::Any)] [echo:Tool | (x::Any)==>(::Any)]";
    let errors =
        found(spec, "[l:Library | (f:Builtin {name: \"ecko\"}), (h:Client), (echo:Builtin)]");
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].contains("`f`") && errors[0].contains("ecko"), "{errors:?}");
    assert!(errors[1].contains("`g` has no implementation"), "{errors:?}");
    assert!(errors[2].contains("`h`"), "{errors:?}");
}
