//! The Python package: the wheel of `tests/real/build-packages` is installed and tested with pytest.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::real::packaging::{check_wheel, run};
use crate::support::{folder, root};

/// A program of the environment for the Python package.
fn tool(name: &str) -> PathBuf {
    crate::real::packaging::tool("python-package", name)
}

/// Checks the wheel that `tests/real/build-packages` built, and installs it into a folder.
pub(crate) fn install(site: &Path) {
    let wheels = root().join("target/wheels");
    let wheels = std::fs::read_dir(&wheels).unwrap_or_else(|_| {
        panic!("{} is missing; run tests/real/build-packages", wheels.display())
    });
    let wheel = wheels.last().expect("a wheel").unwrap().path();
    check_wheel(&wheel);
    run(Command::new(tool("python"))
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"])
        .arg(site)
        .arg(wheel));
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
