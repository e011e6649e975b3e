//! Limits of the parser.

/// How deep type expressions may nest.
pub const MAX_TYPE_DEPTH: u32 = 64;

/// Limits of the parser. Exceeding a limit is reported as a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a text in bytes. Default: 64 MiB, about 100,000 tools.
    pub max_bytes: usize,
    /// Maximum nesting depth of brackets. Default: 10,000.
    pub max_depth: usize,
    /// Maximum number of diagnostics per text. Default: 1,000.
    pub max_diagnostics: usize,
}

impl Limits {
    /// Default maximum number of diagnostics per text.
    pub const MAX_DIAGNOSTICS: usize = 1_000;
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 64 << 20, max_depth: 10_000, max_diagnostics: Self::MAX_DIAGNOSTICS }
    }
}
