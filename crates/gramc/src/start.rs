//! How gramc starts itself once more.

use std::ffi::OsString;
use std::sync::OnceLock;

/// The program and its first arguments, if it is not the program that runs.
static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the command that starts gramc, such as `python -m gramc`, for programs that contain it. The
/// default is the program that runs. Only the first call counts.
pub fn set_start_command(command: Vec<OsString>) {
    let _ = COMMAND.set(command);
}

/// The command that was set, if it is not empty.
pub(crate) fn start_command() -> Option<(&'static OsString, &'static [OsString])> {
    COMMAND.get()?.split_first()
}
