//! What lints find, in texts that people might write, and what their fixes do to any text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gramc_check::Checked;
use gramc_language_tests::campaign;
use gramc_language_tests::generate;
use gramc_language_tests::lints::{Files, all_at, check, fixed, only, project, roughen, rules};
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::mutate::mutate;
use gramc_language_tests::rng::Rng;
use gramc_lint::{LINTS, Level, Lint, Settings};
use gramc_schema::import::{ImportOptions, import};
use gramc_syntax::{Applicability, Diagnostic, Fix, Limits, Parse, RenderOptions, Severity};

/// How many failures each thread reports before it stops.
const MAX_FAILURES: usize = 3;

fn folder(name: &str) -> PathBuf {
    gramc_language_tests::root().join("tests").join(name)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// A file, or the files of a folder, which are all named.
fn files(path: &Path) -> Files {
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    if !path.is_dir() {
        return Files::one(text(path));
    }
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let all: Vec<_> = entries(path).iter().map(|path| (name(path), text(path))).collect();
    Files { named: all.len(), all }
}

/// The cases of a rule and of a kind, `ok` or `err`, by name.
fn cases(rule: &str, kind: &str) -> Vec<(String, Files)> {
    // JSON Schema holds everything.
    if (rule, kind) == ("portable-json-schema", "err") {
        return Vec::new();
    }
    let folder = folder("corpus/lint").join(rule).join(kind);
    entries(&folder).iter().map(|path| (stem(path), files(path))).collect()
}

/// The settings under which the cases of a rule are read. Whether a comment that allows a lint is
/// of use shows only where that lint is on.
fn settings_of(rule: &str) -> Settings {
    match rule {
        "unused-allow" | "unknown-lint" => only(&[rule, "boolean-trap", "missing-description"]),
        _ => only(&[rule]),
    }
}

fn concise(found: &[Diagnostic]) -> String {
    found.iter().fold(String::new(), |mut list, diagnostic| {
        let _ = write!(list, "\n  {}", diagnostic.concise());
        list
    })
}

fn errors(found: &[Diagnostic]) -> usize {
    found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
}

#[test]
fn every_rule_has_a_corpus() {
    let folders: BTreeSet<_> =
        entries(&folder("corpus/lint")).iter().map(|path| stem(path)).collect();
    let names: BTreeSet<_> = rules().map(str::to_owned).collect();
    assert_eq!(folders, names);
    for rule in rules() {
        let (ok, err) = (cases(rule, "ok").len(), cases(rule, "err").len());
        let least = match rule {
            "portable-json-schema" => (1, 0),
            _ if rule.starts_with("portable-") && rule != "portable-gram" => (1, 1),
            _ => (2, 3),
        };
        assert!(ok >= least.0 && err >= least.1, "{rule}: {ok} ok, {err} err");
    }
}

#[test]
fn what_is_fine_is_left_alone() {
    for rule in rules() {
        for (name, files) in cases(rule, "ok") {
            let found = check(&files.load(), &settings_of(rule)).diagnostics;
            assert!(found.is_empty(), "{rule}/ok/{name}:{}", concise(&found));
        }
    }
}

/// The lines in which two texts differ.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[same..], &after[same..]);
    let rest = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let part = |lines: &[&str], sign: char| {
        lines[..lines.len() - rest]
            .iter()
            .fold(String::new(), |text, line| text + format!("{sign} {line}").trim_end() + "\n")
    };
    part(before, '-') + &part(after, '+')
}

#[test]
fn what_is_wrong_is_found() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/lint");
    let options = RenderOptions { color: false, width: 100 };
    for rule in rules().filter(|rule| *rule != "portable-json-schema") {
        for (name, files) in cases(rule, "err") {
            let found = check(&files.load(), &settings_of(rule)).diagnostics;
            let right =
                !found.is_empty() && found.iter().all(|diagnostic| diagnostic.code.name == rule);
            assert!(right, "{rule}/err/{name}:{}", concise(&found));
            let mut shown = files.show();
            for diagnostic in &found {
                let _ = write!(shown, "{}\n\n", diagnostic.render(options).trim_end());
                for fix in &diagnostic.fixes {
                    let text = diagnostic.source.text();
                    let kind = format!("{:?}", fix.applicability);
                    let change = difference(text, &fixed(text, fix));
                    let _ = write!(shown, "{kind}: {}\n{change}\n", fix.message);
                }
            }
            settings.bind(|| {
                insta::assert_snapshot!(format!("{rule}--{name}"), shown.trim_end());
            });
        }
    }
}

/// Whether all that a safe fix of this rule does is to say the same in another way.
fn keeps_the_meaning(code: &str) -> bool {
    ["portable-gram", "prefer-double-arrow", "unused-import", "unused-allow"].contains(&code)
}

/// How many findings say the same of the same file.
fn count(found: &[Diagnostic], like: &Diagnostic) -> usize {
    let key = |of: &Diagnostic| (of.code.name, of.source.name().to_owned(), of.message.clone());
    found.iter().filter(|diagnostic| key(diagnostic) == key(like)).count()
}

/// A fix, and the finding that it belongs to.
type Offer<'d> = (&'d Diagnostic, &'d Fix);

/// What one safe fix breaks, if it breaks anything.
fn harm(
    files: &Files,
    before: &Checked,
    settings: &Settings,
    (of, fix): Offer<'_>,
) -> Option<String> {
    let (name, code) = (of.source.name(), of.code.name);
    let new = files.with(name, &fixed(of.source.text(), fix));
    let texts = new.load();
    let after = check(&texts, settings);
    let syntax =
        |texts: &[Parse]| texts.iter().map(|text| errors(text.diagnostics())).sum::<usize>();
    let reason = if fix.applicability != Applicability::Safe {
        (syntax(&texts) > syntax(&files.load())).then_some("is no gram")
    } else if errors(&after.diagnostics) > errors(&before.diagnostics) {
        Some("adds an error")
    } else if count(&after.diagnostics, of) >= count(&before.diagnostics, of) {
        Some("leaves the diagnostic")
    } else if keeps_the_meaning(code)
        && !same(before, &after, names(&texts) == names(&files.load()))
    {
        Some("changes the module")
    } else {
        None
    }?;
    let change = difference(of.source.text(), &fixed(of.source.text(), fix));
    let list = concise(&after.diagnostics);
    Some(format!("{code}: the fix {reason}: {}\n{change}{list}\n{}", fix.message, files.show()))
}

fn names(texts: &[Parse]) -> Vec<String> {
    texts.iter().map(|text| text.source().name().to_owned()).collect()
}

/// Whether two checks gave one module. Where other texts were read, because an import is gone, it
/// may declare less, in another order.
fn same(before: &Checked, after: &Checked, of_same_texts: bool) -> bool {
    let (Some(before), Some(after)) = (&before.module, &after.module) else {
        return before.module.is_none() && after.module.is_none();
    };
    let kept = |tool| before.tools.iter().any(|known: &gramc_model::Tool| known.name == tool);
    if of_same_texts {
        before == after
    } else {
        after.tools.iter().all(|tool| kept(tool.name.clone()))
    }
}

/// What fixing all that can be fixed breaks, if it breaks anything.
fn unsettled(files: &Files, before: &Checked, settings: &Settings) -> Option<String> {
    let mut texts = files.load();
    let fixed = gramc_lint::fix(&mut texts, 0..files.named, |texts| check(texts, settings));
    let safe = |diagnostic: &&Diagnostic| {
        let named = texts[..files.named]
            .iter()
            .any(|text| text.source().name() == diagnostic.source.name());
        named && diagnostic.fixes.iter().any(|fix| fix.applicability == Applicability::Safe)
    };
    let mut result = files.clone();
    for text in &texts {
        result = result.with(text.source().name(), text.source().text());
    }
    let left: Vec<_> = fixed.checked.diagnostics.iter().filter(safe).cloned().collect();
    let again = check(&result.load(), settings);
    let reason = if !left.is_empty() {
        format!("these are left:{}", concise(&left))
    } else if errors(&fixed.checked.diagnostics) > errors(&before.diagnostics) {
        "there are more errors".to_owned()
    } else if errors(&again.diagnostics) > errors(&before.diagnostics) {
        format!("read anew, there are more errors:{}", concise(&again.diagnostics))
    } else if before.module.is_some() && fixed.checked.module != before.module {
        "the module is another one".to_owned()
    } else {
        let second = gramc_lint::fix(&mut texts, 0..files.named, |texts| check(texts, settings));
        if second.applied.iter().all(|count| *count == 0) {
            return None;
        }
        "fixing once more changes something".to_owned()
    };
    Some(format!("all fixes: {reason}\n{}\ngave\n{}", files.show(), result.show()))
}

/// What fixes were tried, by code and kind.
type Tried = BTreeMap<(&'static str, bool), usize>;

/// What fixes of these files break. Of many fixes, some are tried one by one.
fn broken(files: &Files, settings: &Settings, rng: &mut Rng, tried: &mut Tried) -> Option<String> {
    let before = check(&files.load(), settings);
    let offers = |diagnostic| {
        let diagnostic: &Diagnostic = diagnostic;
        diagnostic.fixes.iter().map(move |fix| (diagnostic, fix))
    };
    let mut offers: Vec<Offer<'_>> = before.diagnostics.iter().flat_map(offers).collect();
    while offers.len() > 8 {
        offers.swap_remove(rng.below(offers.len()));
    }
    for offer in offers {
        let safe = offer.1.applicability == Applicability::Safe;
        *tried.entry((offer.0.code.name, safe)).or_default() += 1;
        if let Some(harm) = harm(files, &before, settings, offer) {
            return Some(harm);
        }
    }
    unsettled(files, &before, settings)
}

/// All rules but those about targets, which have no fixes.
fn with_fixes(off: &str) -> Settings {
    let mut settings = all_at(Level::Warn);
    // The fixes of these two undo each other.
    settings.set(Lint::of(off).unwrap(), Level::Allow);
    for rule in LINTS.iter().filter(|rule| rule.target.is_some() && rule.fix.is_none()) {
        settings.set(rule, Level::Allow);
    }
    settings
}

/// Files for one case of a campaign.
fn random_files(rng: &mut Rng) -> Files {
    if rng.chance(60) {
        let mut files = project(rng);
        for (_, text) in &mut files.all {
            if rng.chance(50) {
                *text = roughen(rng, text);
            }
        }
        return files;
    }
    let module = Modules::new(rng, Numbers::Exact).module();
    let text = gramc_model::print::print(&module);
    Files::one(roughen(rng, &text))
}

#[test]
fn fixes_converge_and_do_no_harm() {
    let seed = campaign::seed().wrapping_add(11);
    let cases = campaign::cases() / 4;
    let settings = ["prefer-bare-types", "portable-gram"].map(with_fixes);
    let parts = campaign::each_thread(|first, step| {
        let (mut failures, mut tried, mut valid) = (Vec::new(), Tried::new(), 0);
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let files = random_files(&mut rng);
            let settings = &settings[case % 2];
            valid += usize::from(check(&files.load(), settings).module.is_some());
            if let Some(failure) = broken(&files, settings, &mut rng, &mut tried) {
                failures.push(format!("case {case}: {failure}"));
            }
            if failures.len() == MAX_FAILURES {
                break;
            }
        }
        (failures, tried, valid)
    });
    let (mut failures, mut tried, mut valid) = (Vec::new(), Tried::new(), 0);
    for (some, of, ok) in parts {
        failures.extend(some);
        for (key, count) in of {
            *tried.entry(key).or_default() += count;
        }
        valid += ok;
    }
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
    assert!(valid > cases / 2, "only {valid} of {cases} are without errors");
    for rule in LINTS.iter().filter(|rule| rule.fix == Some(Applicability::Safe)) {
        let count = tried.get(&(rule.code.name, true)).copied().unwrap_or_default();
        assert!(count > cases / 50, "{} was fixed only {count} times: {tried:?}", rule.code.name);
    }
}

/// All texts of the project: the corpora, the pages and the examples.
fn written() -> Vec<(String, Files)> {
    let mut all = Vec::new();
    for rule in rules() {
        for kind in ["ok", "err"]
            .into_iter()
            .filter(|kind| folder("corpus/lint").join(rule).join(kind).is_dir())
        {
            let cases = cases(rule, kind).into_iter();
            all.extend(cases.map(|(name, files)| (format!("{rule}/{kind}/{name}"), files)));
        }
    }
    for case in gramc_language_tests::corpus::load() {
        all.push((case.name, Files::one(case.text)));
    }
    for code in gramc_lint::all_codes() {
        for (at, block) in code.page.split("```").skip(1).step_by(2).enumerate() {
            if let Some((info, text)) = block.split_once('\n')
                && info.starts_with("gram")
            {
                all.push((format!("page {} {at}", code.name), Files::one(text)));
            }
        }
    }
    for path in entries(&folder("../examples")) {
        if path.extension().is_some_and(|extension| extension == "gram") {
            all.push((stem(&path), files(&path)));
        }
    }
    all.extend(imported());
    all
}

/// Tool lists as they are imported.
fn imported() -> Vec<(String, Files)> {
    let mut all = Vec::new();
    for path in entries(&folder("corpus/import")) {
        let Ok(json) = fs::read_to_string(&path) else { continue };
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        if let Ok(imported) = import(&json, &ImportOptions::default()) {
            all.push((stem(&path), Files::one(imported.text)));
        }
    }
    all
}

#[test]
fn fixes_of_written_texts_do_no_harm() {
    let mut tried = Tried::new();
    for off in ["portable-gram", "prefer-bare-types"] {
        let settings = with_fixes(off);
        for (name, files) in written() {
            let mut rng = Rng::new(1);
            if let Some(failure) = broken(&files, &settings, &mut rng, &mut tried) {
                panic!("{name}: {failure}");
            }
        }
    }
    for rule in LINTS {
        let safe = rule.fix == Some(Applicability::Safe);
        let fixed = tried.contains_key(&(rule.code.name, safe));
        assert_eq!(fixed, rule.fix.is_some(), "{}: {tried:?}", rule.code.name);
    }
}

/// What people see who lint what they have: nothing of it should be nonsense.
#[test]
fn tools_that_people_use_are_judged_well() {
    let mut shown = String::new();
    let mut all = vec![("servers".to_owned(), files(&folder("corpus/lint-real/servers.gram")))];
    all.extend(imported());
    for (name, files) in all {
        let found = check(&files.load(), &Settings::default()).diagnostics;
        let (missing, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|diagnostic| diagnostic.code.name == "missing-description");
        let _ = writeln!(shown, "{name}: {} without a description", missing.len());
        for diagnostic in others {
            let _ = writeln!(shown, "  {}: {}", diagnostic.code.name, diagnostic.message);
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/lint");
    settings.bind(|| insta::assert_snapshot!("tools-that-people-use", shown));
}

#[test]
fn no_rule_panics_on_any_text() {
    let seed = campaign::seed().wrapping_add(13);
    let cases = campaign::cases() / 4;
    let settings = all_at(Level::Warn);
    let written = written();
    let diagnostics: usize = campaign::each_thread(|first, step| {
        let mut diagnostics = 0;
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let mut files = match rng.below(4) {
                0 => Files::one(generate::document(&mut rng)),
                1 => random_files(&mut rng),
                _ => written[rng.below(written.len())].1.clone(),
            };
            for (_, text) in files.all.iter_mut().filter(|(_, text)| text.len() < 20_000) {
                for _ in 0..rng.below(3) {
                    *text = mutate(&mut rng, text);
                }
            }
            let found = check(&files.load(), &settings).diagnostics;
            diagnostics += found.len();
            for diagnostic in &found {
                let text = diagnostic.source.text();
                assert!(text.get(diagnostic.span().range()).is_some(), "{}", diagnostic.concise());
                for fix in &diagnostic.fixes {
                    fixed(text, fix);
                }
            }
        }
        diagnostics
    })
    .into_iter()
    .sum();
    assert!(diagnostics > cases);
}

/// The findings about one text, each with its line.
fn found(text: &str, settings: &Settings) -> Vec<(String, usize)> {
    let texts = Files::one(text).load();
    let found = check(&texts, settings).diagnostics;
    let places = |diagnostic: &Diagnostic| {
        // One diagnostic names all that lacks a description in a tool.
        let several = diagnostic.labels.len() > 1 && diagnostic.code.name == "missing-description";
        let labels = diagnostic.labels.iter().filter(|label| !several || !label.message.is_empty());
        let labels = labels.take(if several { usize::MAX } else { 1 });
        let line =
            |start: u32| diagnostic.source.text()[..start as usize].matches('\n').count() + 1;
        let name = diagnostic.code.name;
        labels.map(|label| (name.to_owned(), line(label.span.start))).collect::<Vec<_>>()
    };
    found.iter().flat_map(places).collect()
}

fn with_comments(rules: &[&str]) -> Settings {
    only(&[rules, &["unused-allow", "unknown-lint"]].concat())
}

#[test]
fn comments_allow_what_they_are_about() {
    let settings = with_comments(&["missing-description"]);
    let allow = "// gram-allow: missing-description";
    // Each text, and the lines of what is still found.
    let cases: [(&str, &[usize]); 18] = [
        ("[a:Tool | (b::Text)==>(c::Text)==>(::Null)]", &[1, 1, 1]),
        ("[a:Tool | (b::Text)==>(::Null)] @\n[c:Tool | ()==>(::Null)]", &[2]),
        ("@\n[a:Tool |\n (b::Text)\n ==>(::Null)]\n[c:Tool | ()==>(::Null)]", &[5]),
        ("@\n/** */\n@title('x')\n[a:Tool |\n (b::Text)==>(::Null)]", &[]),
        ("[a:Tool | @\n (b::Text)==>(::Null)]", &[2]),
        ("[a:Tool |\n @\n (b::Text)==>(c::Text)==>(::Null)]", &[1, 3]),
        ("[a:Tool |\n (b::Text)\n @\n ==>(c::Text)\n ==>(d::Text)==>(::Null)]", &[1, 2, 5]),
        ("[a:Tool |\n (b::Text) @\n ==>(c::Text)==>(::Null)]", &[1, 3]),
        ("[a:Tool |\n (b::Text)==> @\n (c::Text)==>(::Null)]", &[1, 3]),
        ("[a:Tool |\n (\n @\n b::Text)==>(::Null)]", &[1]),
        ("[a:Agent |\n @\n [b:Tool | (c::Text)==>(::Null)],\n [d:Tool | ()==>(::Null)]]", &[4]),
        ("@\n\n[a:Tool | (b::Text)==>(::Null)]\n[c:Tool | ()==>(::Null)]", &[]),
        ("\u{feff}// x\n\n@\n\n{gram: 1}\n[c:Tool | ()==>(::Null)]", &[]),
        ("/** x */ @\n\n[c:Tool | (a::Text)==>(::Null)]", &[1, 3]),
        ("[c:Tool | ()==>(::Null)]\n@", &[1, 2]),
        ("@\n// x\n@\n[c:Tool | ()==>(::Null)]", &[]),
        ("@\r\n[a:Tool | ()==>(::Null)]\r\n[c:Tool | ()==>(::Null)] @\r\n", &[]),
        ("@\r\n\r\n[a:Tool | ()==>(::Null)]\r\n[c:Tool | ()==>(::Null)]", &[]),
    ];
    for (text, left) in cases {
        let text =
            text.replace('@', allow).replace("// gram-allow: missing-descriptiontitle", "@title");
        let lines: Vec<_> = found(&text, &settings).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, left, "{text}");
    }
}

#[test]
fn comments_name_lints() {
    let settings = with_comments(&["missing-description", "boolean-trap"]);
    let tool = "\n[a:Tool {description: \"x\"} | (b::Bool)==>(c::Bool)==>(::Null)]";
    // Each comment, and what is found besides what it allows.
    let (missing, unused) = ("missing-description", "unused-allow");
    let cases: [(&str, &[&str]); 12] = [
        ("// gram-allow: boolean-trap, missing-description", &[]),
        ("//gram-allow:boolean-trap,missing-description -- as it is -- indeed", &[]),
        ("/// gram-allow : boolean-trap , missing-description--x", &[]),
        ("// gram-allow: boolean-trap", &[missing, missing]),
        ("// gram-allow: missing-description, boolean-trap, missing-description", &[]),
        ("// gram-allow: boolean-trap, missing-description, naming", &[]),
        ("// gram-allow: boolean-trap, missing-description, unused-allow", &[]),
        ("// gram-allow: boolean-trap, missing-description, nameing", &["unknown-lint"]),
        ("// gram-allow: boolean-trap, missing-description, unknown-type", &["unknown-lint"]),
        (
            "// gram-allow: boolean-trap missing-description",
            &["unknown-lint", missing, missing, "boolean-trap"],
        ),
        (
            "// gram-allow: boolean-trap, nameing, unknown-lint",
            &["unknown-lint", unused, missing, missing],
        ),
        ("// gram-allow boolean-trap", &[missing, missing, "boolean-trap"]),
    ];
    for (comment, left) in cases {
        let codes: Vec<_> = found(&format!("{comment}{tool}"), &settings)
            .into_iter()
            .map(|(code, _)| code)
            .collect();
        let left: Vec<_> = left.iter().map(|code| (*code).to_owned()).collect();
        assert_eq!(codes, left, "{comment}");
    }
    let idle = "// gram-allow: boolean-trap\n/** x */\n[a:Tool | ()==>(::Null)]";
    assert_eq!(found(idle, &settings), [(unused.to_owned(), 1)]);
    // One comment may allow that another one is of no use.
    let idle = format!("// gram-allow: unused-allow\n{idle}");
    assert_eq!(found(&idle, &settings), []);
    let unknown = "// gram-allow: unknown-lint, boolean-trap\n\n/** x */\n// gram-allow: nameing\n[a:Tool | ()==>(::Null)]";
    assert_eq!(found(unknown, &settings), [(unused.to_owned(), 1)]);
    // Advice about a broken text waits.
    let broken = "// gram-allow: boolean-trap\n[a:Tool | ()==>(::Nope)]";
    let codes: Vec<_> = found(broken, &settings).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["unknown-type"]);
}

#[test]
fn denied_lints_are_errors_and_the_module_stands() {
    let texts = Files::one("[a:Tool | (b::Text)==>(::Null)]").load();
    let Checked { module, diagnostics } = check(&texts, &all_at(Level::Deny));
    assert!(module.is_some());
    assert!(errors(&diagnostics) == diagnostics.len() && diagnostics.len() > 1);
    let Checked { module, diagnostics } = check(&texts, &all_at(Level::Allow));
    assert!(module.is_some() && diagnostics.is_empty());
    // What the checker finds has levels, too.
    let texts = Files::one("[a:Tool | (b::Text {lenght: 1..2})==>(::Null)]").load();
    for (level, wanted) in [(Level::Deny, Some(Severity::Error)), (Level::Allow, None)] {
        let checked = check(&texts, &all_at(level));
        let found = checked
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.code.name == "unknown-attribute");
        assert_eq!(found.map(|diagnostic| diagnostic.severity), wanted);
        assert!(checked.module.is_some());
    }
}

#[test]
fn targets_turn_their_rules_on() {
    for target in gramc_schema::Target::ALL {
        let texts = cases("portable-openai-strict", "err")[0].1.load();
        let mut settings = Settings::default();
        settings.targets = vec![target];
        let found = check(&texts, &settings).diagnostics;
        let name = format!("portable-{}", target.name());
        let ours = found.iter().filter(|diagnostic| diagnostic.code.name.starts_with("portable-"));
        let ours: Vec<_> = ours.map(|diagnostic| diagnostic.code.name).collect();
        let all = ours.iter().all(|code| *code == name);
        assert!(all && ours.is_empty() == (name == "portable-json-schema"), "{name}: {ours:?}");
        let texts = Files::one("[a:Tool | ()==>(::Text)]").load();
        let objects = check(&texts, &settings).diagnostics;
        let objects = objects.iter().any(|diagnostic| diagnostic.code.name == "result-not-object");
        assert_eq!(objects, target.name() == "mcp");
    }
}

#[test]
fn limits_are_settings() {
    let mut settings =
        only(&["too-many-parameters", "too-many-tools", "description-too-long", "naming"]);
    let text = "/** Twelve chars */\n[a_b:Tool | (c_d::Text)==>(d::Text)==>(::Null)]\n[b_c:Tool | ()==>(::Null)]";
    assert_eq!(found(text, &settings), []);
    (settings.max_parameters, settings.max_tools, settings.max_description) = (1, 1, 11);
    settings.tool_case = Some(gramc_lint::Case::Camel);
    settings.parameter_case = Some(gramc_lint::Case::Pascal);
    let codes: Vec<_> = found(text, &settings).into_iter().collect();
    let wanted = [
        ("too-many-parameters", 2),
        ("description-too-long", 2),
        ("naming", 2),
        ("naming", 2),
        ("naming", 2),
        ("too-many-tools", 3),
        ("naming", 3),
    ];
    let (mut codes, mut wanted): (Vec<_>, Vec<_>) =
        (codes, wanted.map(|(code, line)| (code.to_owned(), line)).to_vec());
    codes.sort();
    wanted.sort();
    assert_eq!(codes, wanted);
}

#[test]
fn very_many_diagnostics_are_cut_and_comments_stay_of_use() {
    let settings = with_comments(&["missing-description"]);
    let tools = |comment: &str| {
        (0..3000).fold(String::new(), |mut text, at| {
            let _ = writeln!(text, "[t{at}:Tool | ()==>(::Null)]{comment}");
            text
        })
    };
    let cut = found(&tools(""), &settings);
    assert_eq!(cut.len(), Limits::MAX_DIAGNOSTICS + 1);
    assert_eq!(cut.last().unwrap().0, "too-many-errors");
    // Comments that allow more than anybody would read are all of use, and hide nothing else.
    let text = tools(" // gram-allow: missing-description") + "[x:Tool | ()==>(::Null)]";
    assert_eq!(found(&text, &settings), [("missing-description".to_owned(), 3001)]);
    let text = "// gram-allow: missing-description\n\n".to_owned() + &tools("");
    assert_eq!(found(&text, &settings), []);
}
