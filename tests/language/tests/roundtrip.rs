//! What is printed is read back as the same module.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use gramc_check::{Checked, ImportGraph, check};
use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers, with_tool};
use gramc_language_tests::reference;
use gramc_language_tests::rng::Rng;
use gramc_lint::{Level, Lint, Settings, fix};
use gramc_model::print::print;
use gramc_model::{Agent, Container, Module};
use gramc_syntax::{Extension, Parse, SourceFile, parse};

/// How many failures each thread reports before it stops.
const MAX_FAILURES: usize = 3;

fn read(text: &str) -> Parse {
    parse(SourceFile::new("printed.gram", text))
}

/// Why a module does not come back from its text, if it does not.
fn loss(module: &Module) -> Option<String> {
    let text = print(module);
    let parsed = read(&text);
    if let Some(reason) = not_portable(&text, &parsed) {
        return Some(format!("{reason}\n{text}"));
    }
    let Checked { module: again, diagnostics } = check(&[parsed]);
    let found: Vec<_> = diagnostics.iter().map(|found| &found.message).collect();
    let Some(again) = again else { return Some(format!("{found:#?}\n{text}")) };
    if *again != *module {
        let difference = difference(&format!("{:#?}", *again), &format!("{module:#?}"));
        return Some(format!("another module:\n{difference}\n{text}"));
    }
    let second = print(&again);
    (second != text).then(|| format!("printed anew it is another text:\n{text}\n{second}"))
}

/// The first lines that differ, with those before them.
fn difference(found: &str, expected: &str) -> String {
    let (found, expected): (Vec<_>, Vec<_>) = (found.lines().collect(), expected.lines().collect());
    let same = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
    let part = |lines: &[&str], from: usize| lines[from..lines.len().min(same + 12)].join("\n");
    format!("{}\n--- instead of\n{}", part(&found, same.saturating_sub(12)), part(&expected, same))
}

/// Why the text is not as portable as it could be, if it is not.
fn not_portable(text: &str, parsed: &Parse) -> Option<String> {
    let uses = |kind| parsed.extensions().iter().any(|extension| extension.kind == kind);
    if uses(Extension::SlashString) || uses(Extension::AngleRecord) {
        return Some("it uses an extension without need".to_owned());
    }
    if uses(Extension::UnicodeEscape) && !text.contains("\\u0000") {
        return Some("it has an escape without need".to_owned());
    }
    let plain = parsed.extensions().is_empty();
    (plain && !reference::accepts(text)).then(|| "the reference rejects it".to_owned())
}

/// Modules of one declaration each, of which one may show the same loss as the whole. Types of the
/// top level are in each.
fn parts(module: &Module) -> Vec<Module> {
    let part = || with_tool(module, None);
    let mut parts = vec![part()];
    for term in &module.terms {
        parts.push(part());
        parts.last_mut().unwrap().terms.push(term.clone());
    }
    for tool in &module.tools {
        parts.push(with_tool(module, Some(tool)));
    }
    for container in &module.containers {
        parts.push(part());
        let container = Container { members: Vec::new(), ..container.clone() };
        parts.last_mut().unwrap().containers.push(container);
    }
    for agent in &module.agents {
        parts.push(part());
        let agent = Agent { members: Vec::new(), ..agent.clone() };
        parts.last_mut().unwrap().agents.push(agent);
    }
    for library in &module.libraries {
        parts.push(part());
        parts.last_mut().unwrap().libraries.push(library.clone());
    }
    parts
}

/// What some of the texts contain, if the modules are as various as they are meant to be.
#[rustfmt::skip] // Words to look for, which read better in rows.
const SOMEWHERE: &[&str] = &[
    "::Any", "::Null", "::Bool", "::Int", "::Number", "::Text", "::Bytes", "::Object", "::Array",
    "::Map", "::Date ", "::Time ", "::DateTime", "::Duration", "::Email", "::Uri", "::Uuid",
    "::Ipv4", "::Ipv6", "::Hostname", "[]", "?", " | ", "Map<", "?: ", " = ", "()==>", "\n  ==>",
    "description: ", "title: ", "default: ", "?::", "optional: false", "nullable: true",
    "examples: [", "deprecated: true", "deprecated: false", "unsound: true", "enum: ", "const: ",
    "above: ", "below: ", "multipleOf: ", "pattern: ", "format: ", "unique: true", "keys: ",
    "open: true", "open: false", "open: \"", "pinned: ", "injected: true", "secret: true",
    "range: 1..", "range: ...", "...,", "length: ...", "size: ...",
    "readOnly: ", "maxIterations: ", "api: \"functions\"", "result: ", "instruction: ", "model: ", "models: [",
    ":Record", ":Enum", ":Union", ":Alias", ":Container", ":Library", ":Experiment", ":Mcp {", "inject: {", "schemaName: ", "inline: true",
    "oneOf: true", "discriminator: ", "requires: [", "typeList: true", "extensions: ", "x-order: ",
    "`x-a b`: ", "schema: ", "schemaTitle: ", "schemaDescription: ", "schemaExtensions: ",
    "defs: [", "source: ", "::Address", "Tree[]", "Tree?",
    "/**\n * ", "```\n", "(Content-Type::", "`$vectorSearch`", "`MA(5)`", "`año`", "(42::", "(true::",
    "``", "json`", "\\u0000", "\\/\\/", "\\/**", "\\`", "\\\"", "\\\\", "'\"'", "9007199254740993", "e+5",
];

#[test]
fn random_modules_come_back() {
    let seed = campaign::seed().wrapping_add(3);
    let cases = campaign::cases() / 2;
    let threads = campaign::each_thread(|first, step| {
        let mut failures = Vec::new();
        let mut missing = SOMEWHERE.to_vec();
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let module = Modules::new(&mut rng, Numbers::Exact).module();
            if !missing.is_empty() {
                let text = print(&module);
                missing.retain(|word| !text.contains(word));
            }
            let Some(whole) = loss(&module) else { continue };
            let small = parts(&module).iter().find_map(loss);
            failures.push(format!("case {case}: {}", small.unwrap_or(whole)));
            if failures.len() == MAX_FAILURES {
                break;
            }
        }
        (failures, missing)
    });
    let (failures, missing): (Vec<_>, Vec<_>) = threads.into_iter().unzip();
    let failures = failures.concat();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
    let mut absent = SOMEWHERE.to_vec();
    absent.retain(|word| missing.iter().all(|missing| missing.contains(word)));
    assert!(absent.is_empty(), "nowhere in the texts: {absent:?}");
}

/// A text with the fixes of a lint applied.
fn converted(text: &str, lint: &str) -> (String, Checked) {
    let mut settings = Settings::default();
    settings.set_all(Level::Allow);
    settings.set(Lint::of(lint).unwrap(), Level::Warn);
    settings.max_diagnostics = usize::MAX;
    let mut texts = [read(text)];
    let imports = ImportGraph::default();
    let fixed = fix(&mut texts, 0..1, |texts| gramc_lint::check(texts, &imports, &settings));
    (texts[0].source().text().to_owned(), fixed.checked)
}

/// What is wrong with a module in plain gram, or with the readable form of that.
fn conversion_loss(module: &Module) -> Option<String> {
    let readable = print(module);
    let (plain, checked) = converted(&readable, "portable-gram");
    // Only plain gram cannot write a NUL.
    if !plain.contains("\\u0000") {
        if !read(&plain).extensions().is_empty() {
            return Some(format!("not plain gram:\n{plain}"));
        }
        if !reference::accepts(&plain) {
            return Some(format!("the reference rejects it:\n{plain}"));
        }
    }
    let same = |checked: &Checked| checked.module.as_ref().is_some_and(|it| **it == *module);
    if !same(&checked) {
        return Some(format!("another module:\n{readable}\n{plain}"));
    }
    let (again, checked) = converted(&plain, "prefer-bare-types");
    (!same(&checked)).then(|| format!("another module:\n{plain}\n{again}"))
}

#[test]
fn plain_gram_and_back_is_the_same_module() {
    let seed = campaign::seed().wrapping_add(17);
    let cases = campaign::cases() / 2;
    let failures = campaign::each_thread(|first, step| {
        let mut failures = Vec::new();
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let module = Modules::new(&mut rng, Numbers::Exact).module();
            let Some(whole) = conversion_loss(&module) else { continue };
            let small = parts(&module).iter().find_map(conversion_loss);
            failures.push(format!("case {case}: {}", small.unwrap_or(whole)));
            if failures.len() == MAX_FAILURES {
                break;
            }
        }
        failures
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
}

/// What a place may say over what a term says.
#[rustfmt::skip] // Attributes to choose from, which read better in rows.
const OVERRIDES: &[&str] = &[
    "default: 1", "default: \"x\"", "default: null", "default: [\"a\"]", "optional: true",
    "optional: false", "nullable: true", "description: \"D\"", "title: \"T\"", "examples: [1, 5]",
    "examples: []", "deprecated: true", "deprecated: false", "range: 1..5", "range: 5...",
    "range: ...5", "above: 0", "below: 10", "multipleOf: 5", "length: 1..3", "length: 2...",
    "length: ...2", "pattern: \"a\"", "format: \"date\"", "size: 1..2", "size: 1...", "size: ...1",
    "unique: true", "enum: [1, \"x\"]", "enum: []", "const: 1", "const: \"x\"", "open: false",
    "open: \"Int\"", "pinned: 1", "pinned: \"x\"", "injected: true", "secret: true", "fields: []",
    "fields: [{name: \"x\", type: \"Int\"}]", "elementType: \"Int\"", "valueType: \"Int\"",
    "keys: \"Email\"", "unsound: true", "unsound: false",
];

/// A text with terms, and with a tool that uses each as a parameter or as a field.
fn with_terms(rng: &mut Rng) -> String {
    let mut module = Module::default();
    module.terms = Modules::new(rng, Numbers::Exact).module().terms;
    for (at, term) in module.terms.iter_mut().enumerate() {
        term.field.name = format!("t{at}").into();
    }
    let mut text = print(&module) + "[tool:Tool | ";
    for at in 0..module.terms.len() {
        let mut attributes: Vec<&str> = Vec::new();
        for _ in 0..rng.below(3) {
            let attribute = rng.pick(OVERRIDES);
            let key = attribute.split(':').next();
            if attributes.iter().all(|known| known.split(':').next() != key) {
                attributes.push(attribute);
            }
        }
        if rng.chance(70) {
            write!(text, "(t{at} {{{}}})==>", attributes.join(", ")).unwrap();
        } else {
            attributes.insert(0, "name: ");
            let field = attributes.join(", ").replace("name: ", &format!("name: t{at}"));
            write!(text, "(o{at}::Object {{fields: [{{{field}}}]}})==>").unwrap();
        }
    }
    let unit = if module.terms.is_empty() { "()==>" } else { "" };
    text + unit + "(::Text)]"
}

#[test]
fn what_terms_bring_comes_back() {
    let seed = campaign::seed().wrapping_add(5);
    let cases = campaign::cases() / 2;
    let found = campaign::each_thread(|first, step| {
        let (mut valid, mut failures) = (0, Vec::new());
        for case in (first..cases).step_by(step) {
            let text = with_terms(&mut Rng::for_case(seed, case));
            let Some(module) = check(&[read(&text)]).module else { continue };
            valid += 1;
            if let Some(loss) = loss(&module) {
                failures.push(format!("case {case}:\n{text}\n{loss}"));
            }
            if failures.len() == MAX_FAILURES {
                break;
            }
        }
        (valid, failures)
    });
    let failures: Vec<&str> = found.iter().flat_map(|(_, found)| found).map(|f| &**f).collect();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
    let valid: usize = found.iter().map(|(valid, _)| valid).sum();
    assert!(valid > cases / 3, "only {valid} of {cases} texts are without errors");
}

#[test]
fn the_examples_come_back() {
    let folder = gramc_language_tests::root().join("examples");
    let mut examples = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gram") {
            assert_comes_back(&std::fs::read_to_string(&path).unwrap());
            examples += 1;
        }
    }
    assert!(examples >= 3);
}

fn assert_comes_back(text: &str) {
    let Checked { module, diagnostics } = check(&[read(text)]);
    let Some(module) = module else { panic!("{diagnostics:#?}\n{text}") };
    if let Some(loss) = loss(&module) {
        panic!("{loss}");
    }
}

/// A text of every notation that a module keeps no memory of.
#[test]
fn every_notation_comes_back() {
    for text in [
        "",
        "[t:Tool | (a::Integer)-->(b::Float)-->(::String)]",
        "[t:Tool | (::String)<~~(b::List)<~~(a::Boolean)]",
        "/** One.\n *\n *   Two. */ [t:Tool | ()==>(::Any)]",
        "@title(t) @description('d') [t:Tool | ()==>(x::Null {description: \"r\", default: null})]",
        "(a::Text {default: \"x\"}) [t:Tool | (a {default: \"y\", nullable: true})==>(a::Text)]",
        "[t:Tool {a: 1..2, b: 2s, c: x, d: date`d`, e: 0x10, f: 017, g: null} | ()==>(::Text)]",
        "[t:Tool {a: json`{\"b\": [1E5, {}]}`, b: [], c: [[1]], d: {e: {}}} | ()==>(::Text)]",
        "[a:Agent | [b:Agent | [c:Tool | ()==>(::Text)], d], d] [d:Tool | ()==>(::Text)]",
        "[t:Tool | (a::Object {nullable: true, open: \"Text\", fields: []})==>(::Text)]",
        "[t:Tool | (a::`Map<Int>?`)==>(b::Map {nullable: true, keys: \"Email\"})==>(::Text)]",
        "[t:Tool | (a::Text {deprecated: false})==>(b::`(Any?)?`)==>(::`Null?`)]",
        "[t:Tool | (a::`{x?: Int = 3, \"y z\": {}[]}` {open: false})==>(::Text)]",
    ] {
        assert_comes_back(text);
    }
}

/// What nests as deep as the checker reads it, printed in the other of two spellings, would
/// sometimes nest too deep to be read.
#[test]
fn what_nests_deep_comes_back() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let fields = nested("[{name: 'x', title: 'T', fields: ", "[]", "}]", 99);
    let values = nested("[", &format!("json`{}`", nested("[", "", "]", 127)), "]", 119);
    for parameter in [
        format!("a::Object {{fields: {fields}}}"),
        format!("a::Any {{default: {values}}}"),
        format!("a::`{}`", nested("[", "Text | Int", "]", 64)),
        format!("a::Array {{elementType: '{}'}}", nested("[", "Text | Int", "]", 64)),
        format!(
            "a::Array {{elementType: '{}', nullable: true}}",
            nested("Map<", "[Int|Text]", ">", 63)
        ),
        format!("a::Map {{valueType: '{}', keys: 'Text'}}", nested("Map<", "Int[]", ">", 63)),
        format!("a::`{}` {{nullable: true}}", nested("{a: ", "Int | Text", "}", 64)),
        format!("a::`{}` {{open: true}}", nested("{a: ", "Int | Text", "}", 64)),
        format!("a::`Text{}`", "[]".repeat(64)),
        format!("a::`(Text | Int){}`", "[]?".repeat(32)),
        format!("a::`[(Text | Int){}]?`", "[]?".repeat(31)),
    ] {
        assert_comes_back(&format!("[t:Tool | ({parameter})==>(::Text)]"));
    }
}
