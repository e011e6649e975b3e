#![allow(clippy::unwrap_used)]
use gram_schema::lint::{Settings};
use gramc_tests::lints::{Files, check};
use std::collections::BTreeMap;
#[test]
fn zz() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for dir in ["corpus/import", "../examples"] {
        for e in std::fs::read_dir(root.join(dir)).unwrap() {
            let p = e.unwrap().path();
            let Ok(t) = std::fs::read_to_string(&p) else { continue };
            let text = if p.extension().is_some_and(|e| e == "json") {
                let Ok(i) = gram_schema::import::import(&t, &Default::default()) else { continue }; i.text
            } else if p.extension().is_some_and(|e| e == "gram") { t } else { continue };
            let mut s = Settings::default();
            s.set(gram_schema::lint::Rule::of("vocabulary-drift").unwrap(), gram_schema::lint::Level::Warn);
            for d in check(&Files::one(text).load(), &s).diagnostics {
                *counts.entry(d.code.name.to_owned()).or_default() += 1;
                let line = d.source.text()[d.span().start as usize..].lines().next().unwrap_or("").chars().take(110).collect::<String>();
                if d.code.name != "missing-description" && d.code.name != "vocabulary-drift" { println!("{}: {}: {}  | {}", p.file_name().unwrap().to_string_lossy(), d.code.name, d.message, line); }
            }
        }
    }
    println!("{counts:#?}");
}
