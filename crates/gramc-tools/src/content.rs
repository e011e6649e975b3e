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
    pub violation: Option<String>,
}

/// Why a text is not a list of content blocks.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, thiserror::Error)]
pub enum BlocksError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("item {at} {error}")]
    Block {
        /// The position of the block, from 0.
        at: usize,
        error: BlockError,
    },
}

/// Why a content block is invalid. The message is a phrase that follows its position.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    #[error("has no `type`")]
    NoType,
    #[error("has the unknown type {0}")]
    UnknownType(String),
    #[error("of the type `{kind}` has no text `{key}`")]
    NoText { kind: String, key: &'static str },
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
        self.join_blocks(|_| None)
    }

    /// The text for a model that gets the images apart: each is named in its place. `None` if there
    /// are other blocks.
    pub fn text_beside_images(&self) -> Option<String> {
        self.join_blocks(|block| Some(format!("[image: {}]", image(block)?.media_type)))
    }

    /// The texts of all blocks joined by newlines. `other` is the text of a block of another type.
    fn join_blocks(&self, other: impl Fn(&Value) -> Option<String>) -> Option<String> {
        let texts = self.blocks().iter().map(|block| match block["text"].as_str() {
            Some(text) if block["type"] == "text" => Some(text.to_owned()),
            _ => other(block),
        });
        Some(texts.collect::<Option<Vec<_>>>()?.join("\n"))
    }

    /// The images among its blocks.
    pub fn images(&self) -> Vec<Image> {
        self.blocks().iter().filter_map(image).collect()
    }

    /// The structured content.
    pub fn structured_content(&self) -> Option<&Value> {
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
        blocks.sum::<usize>().max(self.structured_content().map_or(0, json_size))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key)
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
    value.to_string().len()
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
