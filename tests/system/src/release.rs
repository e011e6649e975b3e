//! The release binary that the benches measure.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds `gramc` in the release profile and returns its path, for benches.
///
/// Cargo tells the bench about its own package in environment variables. They are removed: build
/// scripts watch some of them, and would rebuild half of the dependencies each time.
///
/// # Panics
///
/// If gramc does not build.
#[must_use]
pub fn gramc() -> PathBuf {
    let bench = std::env::current_exe().expect("a bench is a file");
    let release = bench.ancestors().nth(2).expect("a bench is in release/deps");
    let target = release.parent().expect("release is in the target folder");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "-p", "gramc", "--target-dir"]).arg(target);
    build.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    assert!(build.status().is_ok_and(|status| status.success()), "gramc does not build");
    release.join("gramc")
}
