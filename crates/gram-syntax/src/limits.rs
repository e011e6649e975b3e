//! Bounds on what a parse takes on.

/// Bounds on a text. What goes beyond one ends in a diagnostic, never in a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that a text may have. Default: 64 MiB, about 100,000 tools.
    pub max_bytes: usize,
    /// How deep brackets may nest. Default: 10,000.
    pub max_depth: usize,
    /// How many diagnostics one text is given. Default: 1,000.
    pub max_diagnostics: usize,
}

impl Limits {
    /// How many diagnostics one text is given, where nobody says otherwise.
    pub const MAX_DIAGNOSTICS: usize = 1_000;
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 64 << 20, max_depth: 10_000, max_diagnostics: Self::MAX_DIAGNOSTICS }
    }
}
