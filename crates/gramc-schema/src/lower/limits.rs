//! Depth limits of schemas.

/// The maximum depth of a lowered schema. Deeper subschemas become strings of JSON text. Each level
/// adds two levels of JSON, and many parsers, including `serde_json`, accept at most 128.
pub(super) const MAX_DEPTH: usize = 56;

/// The maximum depth of recursive searches. JSON parsed by `serde_json` is never that deep.
pub(super) const MAX_JSON_DEPTH: usize = 256;
