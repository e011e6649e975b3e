//! Work on all processors.

/// The bytes of text from which on other threads are worth their start.
const MIN_BYTES: usize = 1 << 16;

/// Runs `parallel` for work on at least 64 KiB of text where there are several threads, else
/// `serial`.
pub fn run<R>(bytes: usize, parallel: impl FnOnce() -> R, serial: impl FnOnce() -> R) -> R {
    if bytes >= MIN_BYTES && rayon::current_num_threads() > 1 { parallel() } else { serial() }
}
