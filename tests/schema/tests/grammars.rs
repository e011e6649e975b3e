//! Grammars of calls: every sentence is a call that the check accepts as it is, and engines that
//! decode with grammars take them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod large;
mod real;

use std::collections::BTreeMap;
use std::fs;

use gramc_calls::check::{Policy, ToolCheck};
use gramc_check::{Valid, check};
use gramc_grammar::{Grammar, Syntax, ToolSchema};
use gramc_json_schema::values::same;
use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::rng::Rng;
use gramc_model::Module;
use gramc_model::print::print;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_schema::import::{ImportOptions, import};
use gramc_schema::lower::Became;
use gramc_schema_tests::arguments::has_two_values;
use gramc_schema_tests::gbnf::Gbnf;
use gramc_schema_tests::schemas::Schemas;
use gramc_syntax::{SourceFile, parse};
use serde_json::{Value, json};

/// How many sentences each campaign derives: `GRAMC_SENTENCES`, or as many as take some seconds.
fn sentences() -> usize {
    usize::try_from(campaign::number_from_env("GRAMC_SENTENCES", 50_000)).unwrap()
}

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 4;

/// How deep the rules of a sentence nest.
const DEPTH: usize = 14;

/// A tool with its check and its grammar.
struct Subject {
    name: String,
    schema: Value,
    hidden: Vec<String>,
    check: ToolCheck,
    grammar: Result<Grammar, String>,
}

impl Subject {
    fn of_schema(schema: Value) -> Option<Self> {
        let check = ToolCheck::of_schema(&schema).ok()?;
        let tool = ToolSchema { name: "tool", schema: schema.clone(), hidden: Vec::new() };
        let grammar = Grammar::of_arguments(&tool).map_err(|error| error.to_string());
        Some(Self { name: "tool".to_owned(), schema, hidden: Vec::new(), check, grammar })
    }

    /// The tools of a module whose calls can be checked.
    fn of_module(module: &Valid<Module>) -> Vec<Self> {
        let compilation = compilation(module);
        let mut subjects = Vec::new();
        for tool in &module.tools {
            let entry = *compilation.entries().iter().find(|it| it.name() == tool.name).unwrap();
            let schema = ToolSchema::new(&compilation, entry);
            let Ok(check) = ToolCheck::of_tool(&module.types, tool) else { continue };
            let grammar = Grammar::of_arguments(&schema).map_err(|error| error.to_string());
            let ToolSchema { name, schema, hidden } = schema;
            let hidden = hidden.into_iter().map(str::to_owned).collect();
            subjects.push(Self { name: name.to_owned(), schema, hidden, check, grammar });
        }
        subjects
    }

    /// Whether a loss says that items can be equal.
    fn may_repeat_items(&self) -> bool {
        let losses = self.grammar.iter().flat_map(Grammar::losses);
        let mut lost = losses.filter(|loss| matches!(loss.became, Became::Lost { .. }));
        lost.any(|loss| loss.constraint == "uniqueItems")
    }

    /// Derives sentences, and says what is wrong with one.
    fn fault(&self, rng: &mut Rng, count: usize) -> Result<(), String> {
        let Ok(grammar) = &self.grammar else { return Ok(()) };
        let text = grammar.print(Syntax::Gbnf);
        let read = Gbnf::read(&text).map_err(|error| format!("{error}\n{text}"))?;
        for _ in 0..count {
            let sentence = read.sentence(rng, DEPTH);
            self.judge(&sentence).map_err(|fault| {
                format!("{}: {fault}\n{sentence}\n{}\n{text}", self.name, self.schema)
            })?;
        }
        Ok(())
    }

    fn judge(&self, arguments: &str) -> Result<(), String> {
        // A grammar cannot exclude that a name of a map occurs twice, or that items are equal.
        if has_two_values(arguments) || (self.may_repeat_items() && has_equal_items(arguments)) {
            return Ok(());
        }
        match self.check.check(arguments, Policy::default()) {
            Ok(accepted) if accepted.repairs.is_empty() && accepted.stripped.is_empty() => Ok(()),
            Ok(accepted) => Err(format!("{:?}, {:?}", accepted.repairs, accepted.stripped)),
            Err(rejection) => Err(format!("{rejection:?}").chars().take(1_500).collect()),
        }
    }
}

/// Whether a list in arguments has two items that are equal.
fn has_equal_items(arguments: &str) -> bool {
    fn any(value: &Value) -> bool {
        match value {
            Value::Array(items) => {
                let equal = |at: usize| items[..at].iter().any(|other| same(other, &items[at]));
                (0..items.len()).any(equal) || items.iter().any(any)
            }
            Value::Object(map) => map.values().any(any),
            _ => false,
        }
    }
    serde_json::from_str(arguments).is_ok_and(|value| any(&value))
}

fn compilation(module: &Valid<Module>) -> Compilation<'_> {
    Compilation::new(module, &Options { expanded: true, ..Options::new(Target::JsonSchema, 1) })
}

fn checked(text: String) -> Option<Valid<Module>> {
    check(&[parse(SourceFile::new("tools.gram", text))]).module
}

/// The files of tools that servers and providers have, and the examples.
fn real_modules() -> Vec<Valid<Module>> {
    let root = gramc_language_tests::root();
    let mut modules = Vec::new();
    let files = |folder: &str, extension: &str| {
        let mut found = Vec::new();
        let mut open = vec![root.join(folder)];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|it| it == extension) {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    };
    for path in files("tests/corpus/import", "json") {
        let text = fs::read_to_string(&path).unwrap();
        if let Ok(imported) = import(&text, &ImportOptions::default()) {
            modules.push(checked(imported.text).unwrap_or_else(|| panic!("{}", path.display())));
        }
    }
    for folder in ["tests/corpus/lint-real", "examples"] {
        for path in files(folder, "gram") {
            let text = fs::read_to_string(&path).unwrap();
            modules.extend(checked(text));
        }
    }
    modules
}

/// Runs cases on all cores. Fails with what is wrong in some, and counts the tools without a
/// grammar, by the reason.
fn run(
    cases: usize,
    salt: u64,
    look: impl Fn(&mut Rng, usize) -> Vec<Subject> + Sync,
    each: usize,
) -> (usize, BTreeMap<String, usize>) {
    let seed = campaign::seed().wrapping_add(salt);
    let found = campaign::each_thread(|first, step| {
        let (mut faults, mut count) = (Vec::new(), 0);
        let mut without: BTreeMap<String, usize> = BTreeMap::new();
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            for subject in look(&mut rng, case) {
                count += 1;
                if let Err(error) = &subject.grammar {
                    let (_, reason) = error.rsplit_once("narrowed: ").unwrap_or_default();
                    *without.entry(reason.to_owned()).or_default() += 1;
                }
                if let Err(fault) = subject.fault(&mut rng, each) {
                    faults.push(format!("case {case}: {fault}"));
                }
            }
            if faults.len() >= MAX_FAULTS {
                break;
            }
        }
        (faults, count, without)
    });
    let (mut faults, mut count) = (Vec::new(), 0);
    let mut without: BTreeMap<String, usize> = BTreeMap::new();
    for (some, of, reasons) in found {
        faults.extend(some);
        count += of;
        for (reason, times) in reasons {
            *without.entry(reason).or_default() += times;
        }
    }
    eprintln!("{count} tools; without a grammar: {without:?}");
    assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n\n"));
    (count, without)
}

#[test]
fn sentences_of_real_tools_are_accepted() {
    let modules = real_modules();
    assert!(modules.len() > 25, "{}", modules.len());
    let each = sentences() / 500;
    let (count, without) =
        run(modules.len(), 71, |_, case| Subject::of_module(&modules[case]), each);
    assert!(count > 100, "{count} tools");
    assert_eq!(without, BTreeMap::new());
}

#[test]
fn sentences_of_random_tools_are_accepted() {
    let cases = sentences() / 25;
    let (count, without) = run(
        cases,
        72,
        |rng, _| {
            let mut maker = rng.clone();
            rng.word();
            let text = print(&Modules::new(&mut maker, Numbers::Exact).one_tool());
            checked(text).iter().flat_map(Subject::of_module).collect()
        },
        25,
    );
    let lost: usize = without.values().sum();
    assert!(lost < count / 6, "{lost} of {count} have no grammar: {without:?}");
}

#[test]
fn sentences_of_the_tools_of_servers_are_accepted() {
    for (wild, salt) in [(false, 73), (true, 74)] {
        let (count, without) = run(
            sentences() / 50,
            salt,
            |rng, _| {
                let tool = Schemas::new(rng).wild(wild).tool();
                // The check strips what only a pattern declares, if other properties are refused.
                let schema = tool.get("inputSchema").cloned();
                let schema = schema.filter(|it| !it.to_string().contains("patternProperties"));
                schema.and_then(Subject::of_schema).into_iter().collect()
            },
            25,
        );
        let lost: usize = without.values().sum();
        assert!(lost < count / 10, "{lost} of {count} have no grammar: {without:?}");
    }
}

#[test]
fn calls_of_any_tool_name_their_tool() {
    let modules = real_modules();
    let module = modules.iter().max_by_key(|module| module.tools.len()).unwrap();
    let subjects = Subject::of_module(module);
    let compilation = compilation(module);
    let tools: Vec<_> =
        compilation.entries().iter().map(|it| ToolSchema::new(&compilation, *it)).collect();
    let grammar = Grammar::of_calls(&tools).unwrap();
    assert_eq!(grammar.left_out().count(), 0);
    let read = Gbnf::read(&grammar.print(Syntax::Gbnf)).unwrap();
    let mut rng = Rng::new(campaign::seed());
    let mut named = BTreeMap::new();
    for _ in 0..2_000 {
        let call: Value = serde_json::from_str(&read.sentence(&mut rng, DEPTH)).unwrap();
        let subject = subjects.iter().find(|it| call["name"] == it.name).unwrap();
        subject.judge(&call["arguments"].to_string()).unwrap();
        assert_eq!(call, json!({"name": call["name"], "arguments": call["arguments"]}));
        *named.entry(&subject.name).or_insert(0) += 1;
    }
    assert_eq!(named.len(), subjects.len());
}
