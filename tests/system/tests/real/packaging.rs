//! What a release consists of: installers, hooks, the GitHub Action, workflows and the Docker image.
//! `tests/real/install` installs the tools. Publishing, macOS and Windows cannot be tested here, so the
//! workflows for them are only linted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Folder, binary, command, folder, root};

/// The version of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A definition without problems.
const GOOD: &str = "/** Returns the forecast */\n[forecast:Tool | (city::Text)==>(::Text)]\n";

/// A definition with an error that is also not formatted.
const BAD: &str = "/** Returns the forecast */ [forecast:Tool|(city::Text)==>(::Txt)]\n";

/// A program of an environment in `.tools`.
pub(crate) fn tool(environment: &str, name: &str) -> PathBuf {
    let path = root().join(".tools").join(environment).join("bin").join(name);
    assert!(path.exists(), "{} is missing; tests/real/install installs it", path.display());
    path
}

/// A `PATH` that begins with some folders.
fn path<'a>(folders: impl IntoIterator<Item = &'a Path>) -> OsString {
    let system = std::env::var_os("PATH").expect("there is a PATH");
    let all = folders.into_iter().map(Path::to_owned).chain(std::env::split_paths(&system));
    std::env::join_paths(all).expect("the folders can be joined")
}

/// A tool for packages, which finds the others and the binary under test on its `PATH`.
fn packaging(name: &str) -> Command {
    let program = tool("packaging", name);
    let folders = [program.parent(), binary().parent()].into_iter().flatten();
    let mut tool = command(&program);
    tool.env("PATH", path(folders)).current_dir(root());
    tool
}

/// Both streams of a command.
fn printed(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs a command that has to succeed, and returns what it printed.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    // Tests have variables of their crate. Build scripts that read them, such as that of `ring`, would run
    // again, and all that depends on their crates would be built again.
    for (name, _) in std::env::vars_os() {
        let is_of_crate =
            |name: &str| name.starts_with("CARGO_MANIFEST") || name.starts_with("CARGO_PKG");
        if name.to_str().is_some_and(is_of_crate) {
            command.env_remove(name);
        }
    }
    let output = command.output().expect("the program starts");
    let printed = printed(&output);
    assert!(output.status.success(), "{command:?}\n{printed}");
    printed
}

/// Runs a command that has to exit with 1, and returns what it printed.
#[track_caller]
fn fails(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let printed = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{command:?}\n{printed}");
    printed
}

/// The files of a folder of the workspace.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("there is such a folder");
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

/// Copies a file of the workspace into a folder.
fn copy(files: &Folder, from: &str, to: &str) {
    files.write(to, std::fs::read(root().join(from)).expect("it can be read"));
}

#[test]
fn the_workflows_and_the_action_are_valid() {
    let (generated, ours): (Vec<_>, Vec<_>) =
        files(".github/workflows").into_iter().partition(|path| path.ends_with("release.yml"));
    // The action is checked, too, since a workflow uses it.
    run(packaging("actionlint").args(ours));
    // The scripts in it come from dist.
    run(packaging("actionlint").arg("-shellcheck=").args(generated));
}

#[test]
fn the_release_workflow_is_the_one_that_dist_generates() {
    run(packaging("dist").args(["generate", "--check"]));
}

#[test]
fn scripts_and_the_docker_file_have_no_lints() {
    let scripts = [files(".ci"), vec![root().join(".github/action.sh")]].concat();
    run(packaging("shellcheck").args(scripts).args([
        "tests/run",
        "tests/real/install",
        "tests/real/build-packages",
    ]));
    run(packaging("hadolint").arg("Dockerfile"));
}

#[test]
fn the_installer_installs_gramc() {
    run(packaging("dist").args(["build", "--artifacts=global", &format!("--tag=v{VERSION}")]));
    let made = root().join("target/distrib");
    let formula = std::fs::read_to_string(made.join("gramc.rb")).unwrap();
    assert!(formula.contains(&format!("version \"{VERSION}\"")), "{formula}");

    // The archive that dist makes of a release build, with a script that runs the binary under test.
    let files = folder(&[]);
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-gnu" };
    let name = format!("gramc-{}-{system}", std::env::consts::ARCH);
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", binary().display());
    files.write(&format!("{name}/gramc"), script);
    run(command("chmod").arg("+x").arg(files.file(&name).join("gramc")));
    let archive = files.file(&format!("{name}.tar.gz"));
    run(command("tar").arg("-czf").arg(archive).arg("-C").arg(files.path()).arg(&name));

    let home = files.file("home");
    std::fs::create_dir(&home).unwrap();
    let mut installer = command("sh");
    installer.arg(made.join("gramc-installer.sh"));
    installer.env("HOME", &home).env_remove("XDG_CONFIG_HOME");
    installer.env("GRAMC_DOWNLOAD_URL", format!("file://{}", files.path().display()));
    run(&mut installer);
    let version = run(command(home.join(".local/bin/gramc")).arg("--version"));
    assert!(version.contains(VERSION), "{version}");
}

#[test]
fn a_tag_is_released_if_everything_has_its_version() {
    let files = folder(&[]);
    let node = "bindings/gramc-node/package.json";
    let mut names = vec!["Cargo.toml", "dist-workspace.toml", "docs/ci.md"];
    if root().join(node).exists() {
        names.push(node);
    }
    for name in names.iter().chain(&[".ci/release"]) {
        copy(&files, name, name);
    }
    let section =
        format!("# Changelog\n\n## [Unreleased]\n\n- Next.\n\n## [{VERSION}] - 2026-01-02\n\n");
    files.write("CHANGELOG.md", section.clone() + "- This.\n\n## [0.0.1]\n\n- Before.\n");
    let release = |tag: &str| {
        let mut command = command("bash");
        command.arg(files.file(".ci/release")).arg(tag);
        command
    };
    let tag = format!("v{VERSION}");

    assert!(fails(&mut release(&tag)).contains("replace OWNER"));
    for name in names {
        files.write(name, files.read(name).replace("OWNER", "someone"));
    }
    assert_eq!(run(&mut release(&tag)).trim(), "- This.");
    assert!(fails(&mut release(VERSION)).contains("expected a tag that begins with v"));
    assert!(
        fails(&mut release("v99.0.0")).contains(&format!("Cargo.toml has the version {VERSION}"))
    );

    files.write("CHANGELOG.md", section);
    assert!(fails(&mut release(&tag)).contains("CHANGELOG.md has no section"));
    files.write(node, "{\n  \"version\": \"0.0.1\",\n  \"name\": \"gramc\"\n}\n");
    assert!(fails(&mut release(&tag)).contains("package.json has the version 0.0.1"));
}

#[test]
fn the_hooks_check_and_format() {
    let files = folder(&[("project/tools.gram", BAD)]);
    copy(&files, ".pre-commit-hooks.yaml", "hooks/.pre-commit-hooks.yaml");
    let git = |folder: &str, line: &str| {
        let author = ["-c", "user.name=Test", "-c", "user.email=test@localhost"];
        let mut git = command("git");
        run(git.args(author).args(line.split(' ')).current_dir(files.file(folder)));
    };
    for folder in ["hooks", "project"] {
        git(folder, "init --quiet");
        git(folder, "add .");
        git(folder, "commit --quiet --message Start");
    }
    let hook = |id: &str| {
        let mut hook = packaging("pre-commit");
        hook.args(["try-repo", "../hooks", id, "--all-files"]);
        hook.env("PRE_COMMIT_HOME", files.file("cache")).current_dir(files.file("project"));
        hook
    };
    assert!(fails(&mut hook("gramc-check")).contains("unknown type `Txt`"));
    assert!(fails(&mut hook("gramc-fmt")).contains("files were modified by this hook"));
    assert_ne!(files.read("project/tools.gram"), BAD);
    run(&mut hook("gramc-fmt"));
    files.write("project/tools.gram", GOOD);
    run(&mut hook("gramc-check"));
}

/// The action with its default inputs.
fn action() -> Command {
    let mut action = command("bash");
    action.arg(root().join(".github/action.sh")).env("GITHUB_ACTION_PATH", root());
    let inputs = [("PATHS", ""), ("VERSION", ""), ("CHECK", "true"), ("DENY", ""), ("FMT", "true")];
    let inputs = inputs.into_iter().chain([("DIFF", ""), ("ALLOW", "")]);
    for (name, value) in inputs {
        action.env(format!("GRAMC_{name}"), value);
    }
    action
}

#[test]
fn the_action_checks_and_formats() {
    let files = folder(&[("good tools/good.gram", GOOD), ("bad.gram", BAD)]);
    let with = |inputs: &[(&str, &str)]| {
        let mut action = action();
        action.env("PATH", path(binary().parent())).current_dir(files.path());
        action.envs(inputs.iter().copied());
        action
    };
    let error = "title=unknown-type";
    let unformatted = "title=unformatted";

    let printed = fails(&mut with(&[]));
    assert!(printed.contains(error) && printed.contains(unformatted), "{printed}");
    let printed = fails(&mut with(&[("GRAMC_FMT", "false")]));
    assert!(printed.contains(error) && !printed.contains(unformatted), "{printed}");
    let printed = fails(&mut with(&[("GRAMC_CHECK", "false"), ("GRAMC_PATHS", "bad.gram")]));
    assert!(!printed.contains(error) && printed.contains(unformatted), "{printed}");
    run(&mut with(&[("GRAMC_PATHS", "good tools\n")]));
    let deny = ("GRAMC_DENY", "naming unbounded-text");
    fails(&mut with(&[("GRAMC_PATHS", "good tools"), deny]));
}

#[test]
fn the_action_compares_with_a_revision() {
    let tool = |most: u32| format!("[f:Tool | (n::Int {{range: 1..{most}}})==>(::Any)]\n");
    let files = folder(&[("tools/f.gram", &tool(30))]);
    for line in ["init -q", "add .", "commit -q -m first"] {
        crate::diff::git(files.path(), line);
    }
    files.write("tools/f.gram", tool(14));
    let with = |inputs: &[(&str, &str)]| {
        let mut action = action();
        action.env("PATH", path(binary().parent())).current_dir(files.path());
        action.envs([("GRAMC_CHECK", "false"), ("GRAMC_FMT", "false"), ("GRAMC_DIFF", "HEAD")]);
        action.envs(inputs.iter().copied());
        action
    };
    for paths in ["", "tools", "tools/f.gram"] {
        let printed = fails(&mut with(&[("GRAMC_PATHS", paths)]));
        assert!(printed.contains("title=input-narrowed"), "{paths}: {printed}");
        run(&mut with(&[("GRAMC_PATHS", paths), ("GRAMC_ALLOW", "tool-removed,input-narrowed")]));
    }
    // What the revision does not have is new.
    files.write("new/g.gram", tool(30));
    let printed = run(&mut with(&[("GRAMC_PATHS", "new/g.gram\nnew/")]));
    assert_eq!(printed.matches("::notice title=gramc diff::new/").count(), 2, "{printed}");
    fails(&mut with(&[("GRAMC_PATHS", "new\ntools")]));
    fails(&mut with(&[("GRAMC_PATHS", "new"), ("GRAMC_DIFF", "none")]));
    fails(&mut with(&[("GRAMC_PATHS", "none.gram")]));
}

/// Checks a wheel, and lets the action install it where there is no gramc.
pub(crate) fn check_wheel(wheel: &Path) {
    run(packaging("twine").args(["check", "--strict"]).arg(wheel));
    run(packaging("abi3audit").args(["--strict", "--verbose"]).arg(wheel));

    let files = folder(&[("good.gram", GOOD)]);
    let bin = files.file("bin");
    let pipx = tool("packaging", "pipx");
    let wheels = wheel.parent().expect("it is in a folder");
    let folders = [bin.as_path(), pipx.parent().unwrap(), "/usr/bin".as_ref(), "/bin".as_ref()];
    let mut action = action();
    action.env("PATH", std::env::join_paths(folders).unwrap()).current_dir(files.path());
    action.env("PIPX_BIN_DIR", &bin).env("PIPX_HOME", files.file("pipx"));
    action.env("UV_OFFLINE", "1").env("UV_NO_CACHE", "1").env("UV_FIND_LINKS", wheels);
    let printed = run(&mut action);
    assert!(printed.contains(&format!("installed package gramc {VERSION}")), "{printed}");
}
