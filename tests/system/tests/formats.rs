//! The formats that programs read: JSON and SARIF keep to their schemas, whatever is found, and
//! GitHub's annotations stay in their lines.

use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

use crate::markdown::blocks;
use crate::support::{Folder, command, folder, gramc, root};

/// Codes whose pages show no bad example that a file of its own could hold.
const WITHOUT_EXAMPLE: usize = 11;

/// A folder for each code with its bad example, and with some that no page can show.
fn examples() -> Folder {
    let folder = folder(&[
        ("nul-character/a.gram", "(greeting {text: \"a\0b\"})\n"),
        ("unknown-import/a.gram", "{imports: [\"b.gram\"]}\n[a:Tool | ()==>(::Text)]\n"),
        ("ambiguous-name/a.gram", "[where:Tool | ()==>(city::City)]\n"),
        ("ambiguous-name/b.gram", "[City::Enum | Graz, Linz]"),
        ("ambiguous-name/c.gram", "[City::Enum | Kobe, Nara]"),
        ("over-budget/gram.toml", "[budget]\ntool-tokens = 100\n"),
        ("too-many-errors/a.gram", &"(a,)\n".repeat(2_000)),
    ]);
    folder.write("invalid-utf8/a.gram", b"(greeting {text: \"gr\xfc\xdfe\"})\n");
    folder.write("unused-import/types.gram", "[City::Enum | Graz, Linz]");
    // What is laid out in another way only `gramc fmt` finds.
    for code in gramc_lint::all_codes().filter(|code| code.name != "unformatted") {
        if let Some(bad) = blocks(code.page).iter().find(|block| block.info == "gram bad") {
            folder.write(&format!("{}/a.gram", code.name), &bad.text);
        }
    }
    folder
}

/// What gramc writes about each folder of examples in a format.
fn written(format: &str) -> Vec<(String, String)> {
    let folder = examples();
    let names = folder.list(".");
    assert!(names.len() + WITHOUT_EXAMPLE >= gramc_lint::all_codes().count());
    let run = |name: String| {
        let run =
            gramc("check --warn all --format").args(format).arg(&name).within(folder.path()).run();
        assert!(run.code.is_some_and(|code| code < 2) && run.stderr.is_empty(), "{name} {run:?}");
        (name, run.stdout)
    };
    names.into_iter().map(run).collect()
}

#[track_caller]
fn assert_valid(schema: &Validator, value: &Value, name: &str) {
    let errors = schema.iter_errors(value);
    let errors: Vec<_> =
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {}\n{value:#}", errors.join("\n"));
}

/// Every object of a schema has to name all of its keys, and say what they mean.
fn assert_strict(schema: &Value) {
    if let Some(properties) = schema["properties"].as_object() {
        assert_eq!(schema["additionalProperties"], false, "{schema:#}");
        let required: Vec<_> = schema["required"].as_array().unwrap().iter().collect();
        assert_eq!(required, properties.keys().collect::<Vec<_>>());
        for (name, property) in properties {
            let described = property["description"].is_string() || name == "path";
            assert!(described, "{name} has no description");
        }
    }
}

#[test]
fn json_diagnostics_keep_to_the_published_schema() {
    let text = std::fs::read_to_string(root().join("grammar/diagnostic.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    for definition in schema["$defs"].as_object().unwrap().values() {
        assert_strict(definition);
    }
    let schema = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let mut count = 0;
    for (name, lines) in written("json") {
        let diagnostics: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(
            diagnostics.iter().any(|diagnostic| diagnostic["code"] == *name),
            "{name}: {lines}"
        );
        for diagnostic in &diagnostics {
            assert_valid(&schema, diagnostic, &name);
            count += 1;
        }
    }
    assert!(count > 1_000, "only {count} diagnostics");
    // The schema does refuse what is no finding.
    let other = serde_json::json!({"path": "a.gram", "severity": "error"});
    assert!(!schema.is_valid(&other));
}

/// SARIF's schema, as the crate `serde-sarif` brings it along.
fn sarif_schema() -> Validator {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = command(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let package = packages.iter().find(|package| package["name"] == "serde-sarif");
    let manifest = package.expect("the tests depend on it")["manifest_path"].as_str().unwrap();
    let text = std::fs::read_to_string(Path::new(manifest).with_file_name("src/schema.json"));
    // The pattern of languages has a bracket that closes nothing, which the validator refuses.
    // gramc names no language.
    let text = text.expect("the crate has it").replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    let options = jsonschema::draft7::options().should_validate_formats(true);
    options.build(&schema).expect("the schema is one")
}

#[test]
fn sarif_documents_keep_to_their_schema() {
    let schema = sarif_schema();
    for (name, text) in written("sarif") {
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_valid(&schema, &document, &name);
        let run = &document["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert!(rules.iter().any(|rule| rule["id"] == *name), "{name}");
        for result in run["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"], "{name}");
        }
    }
    for (input, results) in [("", 0), ("[a:Tool | ()==>(::Txt)]", 1)] {
        let document = gramc("check - --allow all --format sarif").input(input).run().json();
        assert_valid(&schema, &document, "standard input");
        assert_eq!(document["runs"][0]["results"].as_array().map(Vec::len), Some(results));
    }
    // Many files in one document.
    let document = gramc("check tests/corpus --format sarif").run().exits(1).json();
    assert_valid(&schema, &document, "the corpus");
    assert!(document["runs"][0]["results"].as_array().is_some_and(|results| results.len() >= 50));
    let other = serde_json::json!({"version": "2.1.0", "runs": [{"results": []}]});
    assert!(!schema.is_valid(&other), "a run without a tool");
}

#[test]
fn a_sarif_document_says_all_that_there_is_to_say() {
    let folder = folder(&[
        ("a b/one.gram", "// ä\n[a:Tool | (x::`{y: Int`)==>(::Text)]\n[a:Tool | ()==>(::Txt)]\n"),
        ("two.gram", "[b:Tool {desciption: \"x\"} | ()==>(::Txt)]\n"),
    ]);
    let run = gramc("check . --format sarif").within(folder.path()).run().exits(1);
    assert_eq!((run.stderr.as_str(), run.stdout.lines().count()), ("", 1));
    let mut document = run.json();
    // Versions change, and so do the pages, which are long.
    let driver = &mut document["runs"][0]["tool"]["driver"];
    for version in ["version", "semanticVersion"] {
        assert_eq!(driver[version], env!("CARGO_PKG_VERSION"));
        driver[version] = "the version".into();
    }
    for rule in driver["rules"].as_array_mut().unwrap() {
        let text = rule["help"]["markdown"].as_str().unwrap();
        assert!(text.starts_with("# ") && rule["help"]["text"] == text);
        rule["help"] = "the page".into();
    }
    insta::assert_snapshot!(format!("{document:#}"));
}

#[test]
fn standard_input_has_a_uri() {
    let run = |flags: &str| {
        let run = gramc("check - --format sarif").args(flags).input("(a").run().exits(1);
        let result = &run.json()["runs"][0]["results"][0];
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone()
    };
    assert_eq!(run(""), "%3Cstdin%3E");
    assert_eq!(run("--stdin-filename tools/a:b.gram"), "tools/a%3Ab.gram");
}

#[test]
fn absolute_paths_below_the_current_folder_become_relative() {
    let folder = folder(&[("tools/a.gram", "(a")]);
    // Where the folder for temporary files is a link, gramc sees where it leads.
    let here = folder.path().canonicalize().unwrap();
    let run = gramc("check --format sarif").arg(here.join("tools")).within(&here).run().exits(1);
    let result = &run.json()["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "tools/a.gram");
}

#[test]
#[cfg(unix)]
fn annotations_of_github_are_escaped() {
    let text =
        "[a:Tool | (x::`50%::\nTxt`)==>(::Txt)]\n[b:Tool {desciption: \"x\"} | ()==>(::Text)]";
    let folder = folder(&[("a,b:100%.gram", text)]);
    let run = gramc("check . --format github").within(folder.path()).run().exits(1);
    assert_eq!(run.stderr, "");
    insta::assert_snapshot!(run.stdout);
    let clean = gramc("check - --format github").input("").run().clean();
    assert_eq!(clean.stdout, "");
}

#[test]
fn formats_for_people_leave_standard_output_alone() {
    let folder = examples();
    for format in ["human", "concise"] {
        for line in ["check", "compile"] {
            for name in ["unknown-type", "invalid-utf8", "too-many-errors"] {
                let run = gramc(line).args("--format").args(format).arg(name);
                let run = run.within(folder.path()).run().exits(1);
                assert_eq!(run.stdout, "", "{line} {format} {name}");
                assert!(!run.stderr.is_empty());
            }
        }
    }
}

#[test]
fn diagnostics_never_stand_among_other_data() {
    let folder = folder(&[
        ("odd.gram", "[one:Tool {desciption: \"x\"} | ()==>(::Text)]\n"),
        ("wrong.gram", "[one:Tool | ()==>(::Txt)]\n"),
    ]);
    let run = |line: &str| gramc(line).within(folder.path()).run();
    for format in ["json", "sarif", "github"] {
        let line = format!("compile odd.gram --format {format}");
        run(&line).fails_with(&["--format", format, "standard output", "-o"]);
        let tools = run(&format!("{line} -o tools.json")).exits(0);
        assert!(tools.stdout.contains("unknown-attribute") && tools.stderr.is_empty(), "{tools:?}");
        assert!(folder.read("tools.json").contains("\"one\""));
        let wrong = run(&format!("compile wrong.gram --format {format} -o wrong.json")).exits(1);
        assert!(wrong.stdout.contains("unknown-type") && wrong.stderr.is_empty(), "{wrong:?}");
        assert!(!folder.file("wrong.json").exists());

        let line = format!("parse wrong.gram --format {format}");
        run(&line).fails_with(&["--format", format, "--tree none"]);
        run(&format!("{line} --tree none")).clean();
    }
}

#[test]
fn diagnostics_of_one_code_in_a_declaration_are_shown_together() {
    let text = "[a:Tool {description: \"Adds\"} |\n  (x::Nope)\n  ==>(y::Nope2)\n  ==>(::Int)\n]\n\
                [b:Tool {description: \"Subtracts\"} | (x::Nope)==>(::Int)]\n";
    let folder = folder(&[("a.gram", text)]);
    let check = |options: &str| {
        let command = format!("check --allow all {options} a.gram");
        gramc(&command).within(folder.path()).run().exits(1)
    };
    let shown = check("").says(&["(and 1 more like it)", "2 │   (x::Nope)", "3 │   ==>(y::Nope2)"]);
    assert_eq!(shown.stderr.matches("unknown-type\n").count(), 2, "{}", shown.stderr);
    assert!(shown.stderr.contains("3 errors"), "{}", shown.stderr);
    // Programs read each on its own.
    assert_eq!(check("--format concise").stderr.matches("unknown-type").count(), 3);
}
