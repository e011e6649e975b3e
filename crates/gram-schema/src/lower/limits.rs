//! Depths of schemas.

/// How deep a changed schema nests at most; deeper places become text that holds JSON. Each level
/// is two of JSON, which many readers, `serde_json` among them, read up to 128 levels of.
pub(super) const MAX_DEPTH: usize = 56;

/// How deep a schema is searched for references. Nothing that was read as JSON is as deep.
pub(super) const MAX_JSON_DEPTH: usize = 256;
