//! `gramc doc`: references of specifications, as files and as a browser shows them.

use serde_json::{Value, json};

use crate::real::ab::{output, tool};
use crate::support::{Folder, command, folder, gramc, root};

const SPECIFICATION: &str = r#"
[Pet::Record | (name::Text), (friends?::Pet[])]
[find:Tool {description: "Finds pets", readOnly: true} | (name::Text)==>(limit::Int {default: 3})==>(::Pet[])]
[pet:Tool {description: "Pets a pet"} | (pet::Pet)==>(::Null)]
"#;

fn pets() -> Folder {
    folder(&[("pets.gram", SPECIFICATION)])
}

#[test]
fn pages_follow_the_specification() {
    let pets = pets();
    let doc = |options: &str| gramc(&format!("doc {options}")).within(pets.path()).run();
    doc("pets.gram -o site").exits(0);
    assert_eq!(
        pets.list("site"),
        ["index.html", "tool-find.html", "tool-pet.html", "type-Pet.html"]
    );
    assert!(pets.read("site/index.html").contains("<title>pets</title>"));
    let first = pets.read("site/tool-find.html");
    assert!(first.contains("gemini-json"), "{first}");
    // A page of a tool that is gone goes, and nothing else.
    pets.write("pets.gram", "[other:Tool {description: \"Does it\"} | ()==>(::Null)]");
    pets.write("site/notes.html", "mine");
    doc("pets.gram -o site --target mcp --title Pets").exits(0);
    assert_eq!(pets.list("site"), ["index.html", "notes.html", "tool-other.html"]);
    assert!(pets.read("site/index.html").contains("<title>Pets</title>"));
    let only = pets.read("site/tool-other.html");
    assert!(only.contains("mcp") && !only.contains("gemini"), "{only}");
}

#[test]
fn files_of_others_are_kept() {
    let pets = pets();
    std::fs::create_dir(pets.file("site")).unwrap();
    pets.write("site/index.html", "mine");
    let run = gramc("doc pets.gram -o site").within(pets.path()).run().exits(2);
    assert!(run.stderr.contains("index.html was not written by `gramc doc`"), "{}", run.stderr);
    assert_eq!(pets.read("site/index.html"), "mine");
    pets.write("pets.gram", "[broken:Tool | (a::Nothing)==>(::Null)]");
    gramc("doc pets.gram -o new").within(pets.path()).run().exits(1);
    assert!(!pets.file("new").exists());
}

#[test]
fn real_browser_shows_a_reference() {
    let folder = folder(&[]);
    std::fs::create_dir(folder.file("shots")).unwrap();
    let examples = ["hotel/hotel.gram", "shop/shop.gram"];
    let mut doc = gramc("doc --title Examples");
    for example in examples {
        doc = doc.arg(root().join("examples").join(example));
    }
    doc.arg("-o").arg(folder.file("site")).run().exits(0);
    let mut browser = command("node");
    browser
        .arg(root().join("tests/real/browser/reference.mjs"))
        .arg(tool("browser"))
        .arg(tool("chromium/chromium"))
        .arg(folder.file("site"))
        .arg("order number");
    let seen: Value = serde_json::from_str(&output(browser)).expect("the script tells JSON");
    for nothing in ["requests", "errors", "violations", "overflow", "broken"] {
        assert_eq!(seen[nothing], json!([]), "{nothing}: {seen:#}");
    }
    let pages = folder.list("site").len();
    assert_eq!(seen["pages"], json!(4 * pages), "two widths, light and dark");
    assert_eq!(seen["found"][0], "findOrder", "{seen:#}");
    assert_eq!(seen["opened"], "findOrder");
    assert_eq!(seen["said"], json!("1 match"));
}
