//! Calls of the tools of real servers, which `tests/real/install` installs.

use std::process::Command;

use gramc_language_tests::rng::Rng;
use serde_json::Value;

use super::verdicts::ask;
use super::{Counts, Judges};

/// How many arguments each tool is asked about.
const VALUES: usize = 100;

/// The tools of all servers that speak over pipes.
fn tools() -> Vec<Value> {
    let root = gramc_language_tests::root().canonicalize().unwrap();
    assert!(
        root.join(".tools/node/stamp").exists() && root.join(".tools/python/stamp").exists(),
        "the servers are not installed; `tests/real/install` installs them"
    );
    let text = std::fs::read_to_string(root.join("tests/real/servers.json")).unwrap();
    let text = text.replace("{tools}", root.join(".tools").to_str().unwrap());
    let servers: Vec<Value> = serde_json::from_str(&text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut tools = Vec::new();
    for server in servers.iter().filter(|server| server.get("path").is_none()) {
        let words = server["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let environment = server.get("environment").and_then(Value::as_object);
        let environment = environment.into_iter().flatten();
        let output = Command::new("python3")
            .arg(root.join("tests/real/raw_tools.py"))
            .args(words)
            .envs(environment.map(|(name, value)| (name, value.as_str().unwrap())))
            .current_dir(folder.path())
            .output()
            .expect("python3 is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for page in String::from_utf8(output.stdout).unwrap().lines() {
            let mut page: Value = serde_json::from_str(page).unwrap();
            tools.append(page["tools"].as_array_mut().unwrap());
        }
    }
    tools
}

#[test]
fn calls_of_real_tools_are_judged_by_their_schemas() {
    let tools = tools();
    let mut counts = Counts::default();
    for (tool, case) in tools.iter().zip(0..) {
        let Some(judges) = Judges::of_schema(tool["inputSchema"].clone()) else {
            panic!("{tool}");
        };
        ask(&mut Rng::for_case(51, case), &judges, VALUES, &mut counts);
    }
    eprintln!("{} tools, {:?}", tools.len(), counts.of);
    assert!(tools.len() >= 100, "{}", tools.len());
    assert!(counts.faults.is_empty(), "{}", counts.faults.join("\n\n"));
    assert!(counts.of("valid") > 1_000 && counts.of("not valid") > 1_000, "{:?}", counts.of);
}
