//! Programs that benches compare with ours.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python that has a package, in a folder of its own below `.tools`, where it is installed if it
/// is not there yet. `module` is what the package is imported as, `package` its name and version.
///
/// # Panics
///
/// When it cannot be installed.
#[expect(clippy::print_stdout, reason = "whoever waits wants to know for what")]
pub fn python_with(folder: &str, module: &str, package: &str) -> PathBuf {
    let root = gramc_language_tests::root();
    let place = root.join(".tools").join(folder);
    let python = place.join("bin/python");
    let run = |program: &Path, words: &[&str]| {
        Command::new(program).args(words).status().is_ok_and(|status| status.success())
    };
    if !run(&python, &["-c", &format!("import {module}")]) {
        println!("installing {package} into .tools/{folder}, which takes a minute");
        let made = run(Path::new("python3"), &["-m", "venv", &place.to_string_lossy()])
            && run(&python, &["-m", "pip", "install", "--quiet", package]);
        assert!(made, "{package} cannot be installed");
    }
    python
}
