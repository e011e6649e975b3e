//! The npm package of `tests/real/build-packages`: it is tested, packed, and installed into a new project.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::real::packaging::run;
use crate::support::{folder, root};

fn package() -> PathBuf {
    root().join("bindings/gramc-node")
}

fn node(arguments: &[&str], folder: &Path) -> String {
    run(Command::new("node")
        .args(arguments)
        .current_dir(folder)
        .env("GRAMC", crate::support::binary()))
}

#[test]
fn the_npm_package_passes_its_tests() {
    let package = package();
    assert!(package.join("dist").exists(), "the package is missing; run tests/real/build-packages");
    node(&["--test", "tests/"], &package);
    node(&["node_modules/typescript/bin/tsc", "-p", "tests"], &package);

    let files = folder(&[("package.json", "{}")]);
    let out = files.file("out");
    node(&["scripts/package.mjs", "--out", &out.display().to_string()], &package);
    let mut packed: Vec<String> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    packed.sort();
    assert_eq!(packed.len(), 2, "{packed:?}");
    let main = packed[0].clone();
    node(&["node_modules/publint/src/cli.js", "--strict", &main], &package);
    // The profile leaves out what knows no `exports`, such as Node 10. `gramc/web` is an ES module alone.
    let check = "node_modules/@arethetypeswrong/cli/dist/index.js";
    let options =
        ["--exclude-entrypoints", "web/gramc.wasm", "--ignore-rules", "cjs-resolves-to-esm"];
    node(&[&[check][..], &options, &["--profile", "node16", &main]].concat(), &package);

    let project = files.path();
    let install = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(install).args(&packed).current_dir(project));
    let page = std::fs::read_to_string(root().join("docs/typescript.md")).unwrap();
    let block = |kind: &str| {
        let start = page.find(&format!("```{kind}\n")).unwrap() + kind.len() + 4;
        page[start..].split("```").next().unwrap().to_owned()
    };
    std::fs::write(files.file("shop.gram"), block("gram")).unwrap();
    std::fs::write(files.file("program.mjs"), block("ts")).unwrap();
    assert_eq!(node(&["program.mjs"], project), block("output"));
    let names = node(&["-p", "require('gramc').load('shop.gram').names.join()"], project);
    assert_eq!(names, "findOrder\n");
    std::fs::write(files.file("web.mjs"), "import { load } from 'gramc/web'; console.log((await load()).format('[a:Tool|()==>(::Text)]'));").unwrap();
    assert_eq!(node(&["web.mjs"], project), "[a:Tool | ()==>(::Text)]\n\n");
    let version =
        run(Command::new("node_modules/.bin/gramc").arg("--version").current_dir(project));
    assert!(version.starts_with("gramc "), "{version}");
}
