//! gramc as a Python package: the classes of the module `gramc._native`.
//!
//! The interface is Python, in `python/gramc`; this crate has the parts that must be fast or need the
//! crates of gramc.

mod agent;
mod caller;
mod convert;
mod experiment;
mod function;
mod grader;
mod library;
mod pending;
mod runtime;
mod session;
mod specification;
mod stream;
mod target_tools;
mod verdict;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The native part of `gramc`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::experiment::{Cancellation, Report, merge_parts, run_experiment};
    #[pymodule_export]
    use super::function::Completion;
    #[pymodule_export]
    use super::grader::Grader;
    #[pymodule_export]
    use super::library::{BoundLibrary, Library, load_library};
    #[pymodule_export]
    use super::pending::PendingCall;
    #[pymodule_export]
    use super::runtime::close;
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::specification::{Specification, import_tools, load, loads};
    #[pymodule_export]
    use super::stream::CallStream;
    #[pymodule_export]
    use super::target_tools::TargetTools;
    #[pymodule_export]
    use super::verdict::Verdict;
    #[pymodule_export]
    use super::{run, set_start_command, setting_fault, setting_names};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the command line and ends the process. The first argument is the name of the program.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<OsString>) {
    py.detach(|| std::process::exit(gramc::run(arguments)));
}

/// Says how gramc starts itself once more, and watches the programs that it starts.
#[pyfunction]
fn set_start_command(command: Vec<OsString>) {
    gramc::set_start_command(command);
}

/// The names of all settings, as attributes of gram.
#[pyfunction]
fn setting_names() -> Vec<&'static str> {
    gramc_host::setting_names()
}

/// The first setting with a wrong value, and the value that is expected.
#[pyfunction]
fn setting_fault(settings: &Bound<'_, PyAny>) -> PyResult<Option<(String, String)>> {
    let settings = convert::to_value(settings)?;
    Ok(settings.as_object().and_then(gramc_host::setting_fault))
}
