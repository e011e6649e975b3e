//! Consecutive releases of real MCP servers, as `tests/real/releases` names them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{folder, gramc, root};

/// The servers with their arguments.
const SERVERS: [(&str, &str); 7] = [
    ("everything", "stdio"),
    ("filesystem", "."),
    ("memory", ""),
    ("sequential-thinking", ""),
    ("notion", ""),
    ("chrome-devtools", "--no-usage-statistics"),
    ("context7", ""),
];

/// The releases of each server.
const RELEASES: usize = 3;

/// The command that starts a release.
fn command(server: &str, release: usize, arguments: &str) -> String {
    let package = root().join(format!(".tools/releases/node_modules/{server}-{release}"));
    let text = std::fs::read_to_string(package.join("package.json"))
        .expect("the servers are not installed; `tests/real/install` installs them");
    let about: Value = serde_json::from_str(&text).expect("it is JSON");
    let bin = match &about["bin"] {
        Value::Object(all) => all.values().next().and_then(Value::as_str),
        bin => bin.as_str(),
    };
    let script = package.join(bin.expect("a program"));
    format!("env NOTION_TOKEN=none node '{}' {arguments}", script.display())
}

/// Each difference is read once by a person, when the snapshot is accepted.
#[test]
fn releases_of_real_servers_are_compared() {
    let folder = folder(&[]);
    let mut report = String::new();
    for (server, arguments) in SERVERS {
        for release in 1..=RELEASES {
            let file = format!("{server}-{release}.gram");
            let run = gramc("import -o").arg(&file).arg("--command");
            run.arg(command(server, release, arguments)).within(folder.path()).run().exits(0);
        }
        for release in 1..RELEASES {
            let next = release + 1;
            let line = format!("diff {server}-{release}.gram --command");
            let run =
                gramc(&line).arg(command(server, next, arguments)).within(folder.path()).run();
            let files = format!("diff {server}-{release}.gram {server}-{next}.gram");
            let same = gramc(&files).within(folder.path()).run();
            // What is imported first and what is asked live are compared alike.
            assert_eq!((run.code, &run.stdout), (same.code, &same.stdout), "{server}");
            let code = run.code.expect("it ends by itself");
            let _ = writeln!(
                report,
                "# {server} {release} to {next}: exit code {code}\n\n{}",
                run.stdout
            );
        }
    }
    insta::assert_snapshot!(report);
}
