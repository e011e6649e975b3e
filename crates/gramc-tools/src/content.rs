//! Results of tools in the form of MCP.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The keys that a content block of each known type needs, each with text.
const BLOCK_TYPES: [(&str, &[&str]); 5] = [
    ("text", &["text"]),
    ("image", &["data", "mimeType"]),
    ("audio", &["data", "mimeType"]),
    ("resource_link", &["uri", "name"]),
    ("resource", &[]),
];

/// An image for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its media type: `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub data: String,
}

/// A result in the form of MCP: content blocks, structured content and metadata. All keys are kept
/// as they were received, including unknown ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolContent {
    fields: Map<String, Value>,
    /// Why it violates the output schema of its MCP server.
    violation: Option<String>,
}

/// Why a text is not a list of content blocks.
#[derive(Debug, thiserror::Error)]
pub enum BlocksError {
    /// It is not a JSON list.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A block is invalid.
    #[error("item {at} {error}")]
    Block {
        /// The position of the block, from 0.
        at: usize,
        /// The error.
        error: BlockError,
    },
}

/// Why a content block is invalid. The message is a phrase that follows its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// It has no type.
    #[error("has no `type`")]
    NoType,
    /// Its type is not one of the protocol.
    #[error("has the unknown type {0}")]
    UnknownType(String),
    /// A key of its type is missing or not a string.
    #[error("of the type `{kind}` has no text `{key}`")]
    NoText {
        /// The type.
        kind: String,
        /// The key.
        key: &'static str,
    },
    /// It lacks a valid resource.
    #[error("of the type `resource` has no `resource` with `uri` and `text` or `blob`")]
    NoResource,
}

impl ToolContent {
    /// Creates a result of content blocks, which are not checked.
    pub fn new(blocks: Vec<Value>) -> Self {
        let fields = Map::from_iter([("content".to_owned(), Value::Array(blocks))]);
        Self { fields, violation: None }
    }

    /// The result of a `tools/call`. Fails with the key whose value has the wrong type.
    pub fn from_result(fields: Map<String, Value>) -> Result<Self, &'static str> {
        let is_valid = |key: &str, is_type: fn(&Value) -> bool| {
            fields.get(key).is_none_or(|value| value.is_null() || is_type(value))
        };
        match () {
            () if !is_valid("content", Value::is_array) => Err("content"),
            () if !is_valid("isError", Value::is_boolean) => Err("isError"),
            () if !is_valid("resultType", Value::is_string) => Err("resultType"),
            () => Ok(Self { fields, violation: None }),
        }
    }

    /// Parses a JSON list of content blocks.
    pub fn from_blocks(text: &str) -> Result<Self, BlocksError> {
        let blocks: Vec<Value> = serde_json::from_str(text)?;
        for (at, block) in blocks.iter().enumerate() {
            check_block(block).map_err(|error| BlocksError::Block { at, error })?;
        }
        Ok(Self::new(blocks))
    }

    /// The content blocks.
    pub fn blocks(&self) -> &[Value] {
        self.fields.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The text blocks joined by newlines. `None` if there are other blocks.
    pub fn text(&self) -> Option<String> {
        let text = |block: &Value| match block["type"].as_str() {
            Some("text") => block["text"].as_str().map(str::to_owned),
            _ => None,
        };
        let texts = self.blocks().iter().map(text).collect::<Option<Vec<_>>>();
        texts.map(|texts| texts.join("\n"))
    }

    /// The text for a model that gets the images apart: each is named in its place. `None` if there
    /// are other blocks.
    pub fn text_beside_images(&self) -> Option<String> {
        let text = |block: &Value| match (block["text"].as_str(), image(block)) {
            (Some(text), _) if block["type"] == "text" => Some(text.to_owned()),
            (_, Some(image)) => Some(format!("[image: {}]", image.media_type)),
            _ => None,
        };
        let texts = self.blocks().iter().map(text).collect::<Option<Vec<_>>>();
        texts.map(|texts| texts.join("\n"))
    }

    /// The images among its blocks.
    pub fn images(&self) -> Vec<Image> {
        self.blocks().iter().filter_map(image).collect()
    }

    /// The structured content.
    pub fn structured(&self) -> Option<&Value> {
        self.fields.get("structuredContent").filter(|value| !value.is_null())
    }

    /// Whether the tool reports a failure.
    pub fn is_error(&self) -> bool {
        self.fields.get("isError") == Some(&Value::Bool(true))
    }

    /// The result of a `tools/call`, with all its keys.
    pub fn into_fields(self) -> Map<String, Value> {
        self.fields
    }

    /// The larger of the sizes of its blocks and of its structured content, in bytes.
    pub fn size(&self) -> usize {
        let blocks = self.blocks().iter().map(|block| match block["text"].as_str() {
            Some(text) if block["type"] == "text" => text.len(),
            _ => json_size(block),
        });
        blocks.sum::<usize>().max(self.structured().map_or(0, json_size))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key)
    }

    /// Records why it violates the output schema of its server.
    pub fn set_violation(&mut self, violation: Option<String>) {
        self.violation = violation;
    }

    /// Takes the reason why it violates the output schema of its server.
    pub fn take_violation(&mut self) -> Option<String> {
        self.violation.take()
    }

    /// Changes all keys and values. Returns whether that made a difference.
    pub fn change(&mut self, change: impl FnOnce(Value) -> Value) -> bool {
        let before = self.fields.clone();
        if let Value::Object(fields) = change(Value::Object(std::mem::take(&mut self.fields))) {
            self.fields = fields;
        }
        before != self.fields
    }
}

/// The image that a block is.
fn image(block: &Value) -> Option<Image> {
    let text = |key: &str| block[key].as_str().map(str::to_owned);
    let (media_type, data) = (text("mimeType")?, text("data")?);
    (block["type"] == "image").then_some(Image { media_type, data })
}

fn check_block(block: &Value) -> Result<(), BlockError> {
    let kind = block["type"].as_str().ok_or(BlockError::NoType)?;
    let known = BLOCK_TYPES.iter().find(|(name, _)| *name == kind);
    let (_, keys) = known.ok_or_else(|| BlockError::UnknownType(block["type"].to_string()))?;
    if let Some(key) = keys.iter().find(|key| !block[**key].is_string()) {
        return Err(BlockError::NoText { kind: kind.to_owned(), key });
    }
    let resource = &block["resource"];
    let is_resource = resource["uri"].is_string()
        && (resource["text"].is_string() || resource["blob"].is_string());
    if kind == "resource" && !is_resource {
        return Err(BlockError::NoResource);
    }
    Ok(())
}

/// The size of a value as JSON, in bytes.
fn json_size(value: &Value) -> usize {
    struct ByteCounter(usize);

    impl std::io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = ByteCounter(0);
    // Neither a value nor counting can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use serde_json::json;

    use super::*;

    #[test]
    fn lists_of_content_blocks_are_read() {
        let blocks = json!([
            {"type": "text", "text": "a", "annotations": {"priority": 1}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a:b", "text": ""}},
            {"type": "resource_link", "uri": "a:b", "name": "b"},
        ]);
        let content = ToolContent::from_blocks(&blocks.to_string()).unwrap();
        assert_eq!(Value::from(content.blocks()), blocks);
    }

    #[test]
    fn other_output_is_refused_with_the_reason() {
        for (text, why) in [
            ("hello", "expected value"),
            ("{}", "expected a sequence"),
            ("[5]", "item 0 has no `type`"),
            (r#"[{"type": "picture"}]"#, "item 0 has the unknown type \"picture\""),
            (r#"[{"type": "image", "data": "A"}]"#, "has no text `mimeType`"),
            (r#"[{"type": "resource", "resource": {"uri": "a"}}]"#, "has no `resource`"),
        ] {
            let error = ToolContent::from_blocks(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
