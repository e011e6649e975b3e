//! Files that import others.

use crate::support::{folder, gramc};

const TOOL: &str = "{imports: [\"types/units.gram\"]}\n[weigh:Tool | (in::Unit)==>(::Number)]\n";
const UNITS: &str = "[Unit::Enum | gram, kilogram]\n[other:Tool | ()==>(::Text)]\n";

#[test]
fn imported_types_are_known_and_imported_tools_are_not_compiled() {
    let folder = folder(&[("tool.gram", TOOL), ("types/units.gram", UNITS)]);
    let tools = gramc("compile tool.gram").within(folder.path()).run().clean().json();
    assert_eq!(tools.as_object().map(serde_json::Map::len), Some(1));
    assert_eq!(tools["weigh"]["$defs"]["Unit"]["enum"], serde_json::json!(["gram", "kilogram"]));
    // The folder has both.
    let tools = gramc("compile .").within(folder.path()).run().clean().json();
    assert_eq!(tools.as_object().map(serde_json::Map::len), Some(2));
    // From elsewhere, the path is still that of the importing file.
    let path = folder.file("tool.gram");
    gramc("check --allow all").arg(path).run().clean();
}

#[test]
fn an_imported_name_beats_one_of_another_file_and_a_file_its_own() {
    let folder = folder(&[
        ("a.gram", "{imports: [\"b.gram\"]}\n[t:Tool | (x::Size)==>(::Text)]\n"),
        ("b.gram", "[Size::Enum | small]\n"),
        ("c.gram", "[Size::Enum | large]\n[u:Tool | (x::Size)==>(::Text)]\n"),
        ("d.gram", "[v:Tool | (x::Size)==>(::Text)]\n"),
    ]);
    let size = |line: &str, tool: &str| {
        let tools = gramc(line).within(folder.path()).run().clean().json();
        tools[tool]["$defs"]["Size"]["enum"][0].as_str().map(str::to_owned)
    };
    assert_eq!(size("compile a.gram b.gram c.gram", "t").as_deref(), Some("small"));
    assert_eq!(size("compile a.gram b.gram c.gram", "u").as_deref(), Some("large"));
    assert_eq!(size("compile d.gram c.gram", "v").as_deref(), Some("large"));
    let run = gramc("check --format concise .").within(folder.path()).run().exits(1);
    run.says(&["d.gram:1:15: error[ambiguous-name]", "b.gram", "c.gram"]);
}

#[test]
fn imports_may_go_in_circles() {
    let folder = folder(&[
        (
            "a.gram",
            "{imports: [\"b.gram\", \"./b.gram\", \"a.gram\"]}\n[A::Record | (b::`B?`)]\n[t:Tool | (a::A)==>(::A)]\n",
        ),
        ("b.gram", "{imports: [\"a.gram\"]}\n[B::Record | (a::`A[]`)]\n"),
    ]);
    let tools = gramc("compile a.gram").within(folder.path()).run().clean().json();
    assert_eq!(tools["t"]["$defs"].as_object().map(serde_json::Map::len), Some(2));
}

#[test]
fn errors_of_imported_files_are_errors() {
    let folder = folder(&[("tool.gram", TOOL), ("types/units.gram", "[Unit::Enum | gram,")]);
    let run = gramc("compile --format concise tool.gram").within(folder.path()).run().exits(1);
    assert_eq!(run.stdout, "");
    run.says(&["types/units.gram:1:"]);
}

#[test]
fn imports_that_lead_nowhere_say_so() {
    let folder = folder(&[
        ("project/gram.toml", ""),
        (
            "project/a.gram",
            "{imports: [\"no.gram\", \"../secret.gram\", \"types\", \"b.gram\"]}\n(x)\n",
        ),
        ("project/b.gram", "(y)\n"),
        ("project/types/c.gram", "(z)\n"),
        ("secret.gram", "(s)\n"),
    ]);
    let line = "check --format concise project/a.gram";
    let run = gramc(line).within(folder.path()).run().exits(1);
    run.says(&[
        "a.gram:1:12: error[unknown-import] there is no file `project/no.gram`",
        "a.gram:1:23: error[unknown-import] `../secret.gram` is outside of the project",
        "a.gram:1:41: error[unknown-import] `types` is a folder",
    ]);
    let run = gramc("check -").input("{imports: [\"no.gram\"]}\n").within(folder.path()).run();
    run.exits(1).says(&["unknown-import"]);
    let run = gramc("check -").input("{imports: \"no.gram\", gram: 2}\n").run().exits(1);
    run.says(&["`imports` expects a list of paths", "`gram` expects the version"]);
}
