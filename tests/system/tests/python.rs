//! The Python package: the wheel is built, installed and tested with pytest. `tests/real/install`
//! installs what that needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::packaging::{check_wheel, run};
use crate::support::{folder, root};

/// A program of the environment for the Python package.
fn tool(name: &str) -> PathBuf {
    crate::packaging::tool("python-package", name)
}

/// Builds the wheel like the tests themselves, which takes the crates that are built already, checks
/// it, and installs it into a folder.
fn install(site: &Path) {
    let wheels = site.join("wheels");
    run(Command::new(tool("maturin"))
        .args([
            "build",
            "--quiet",
            "--strip",
            "--manifest-path",
            "bindings/gramc-python/Cargo.toml",
        ])
        .arg("--out")
        .arg(&wheels)
        .arg("--interpreter")
        .arg(tool("python"))
        .current_dir(root()));
    let wheel = std::fs::read_dir(&wheels).unwrap().next().unwrap().unwrap().path();
    check_wheel(&wheel);
    run(Command::new(tool("python"))
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"])
        .arg(site)
        .arg(wheel));
    std::fs::remove_dir_all(wheels).unwrap();
}

#[test]
fn the_python_package_passes_its_tests() {
    let files = folder(&[]);
    let site = files.file("site");
    install(&site);
    let package = root().join("bindings/gramc-python");
    let python = |arguments: &[&str]| {
        let mut command = Command::new(tool("python"));
        command.args(arguments).current_dir(&package);
        command.env("PYTHONPATH", &site).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("GRAMC", crate::support::binary());
        run(&mut command);
    };
    python(&["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]);
    let cache = format!("--cache-dir={}", files.file("mypy").display());
    let strict = ["-m", "mypy", "--strict", &cache];
    python(&[&strict[..], &["python/gramc", "tests/typed.py"]].concat());
}
