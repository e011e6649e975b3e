//! The pages of a list of tools.

use std::collections::HashSet;

use gramc_tools::sanitize::sanitize_line;
use serde_json::Value;

use super::lines::MAX_MESSAGE_BYTES;

/// The most pages that a list of tools may have.
const PAGE_LIMIT: usize = 1_000;

/// Why a list of tools is invalid.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListError {
    #[error("its answer to `tools/list` holds no `tools`")]
    NoTools,
    #[error("`tools` of its answer to `tools/list` is not a list")]
    NoList,
    #[error("`nextCursor` of its answer to `tools/list` is not text")]
    InvalidCursor,
    #[error("its list of tools has no end: the cursor \"{0}\" came twice")]
    RepeatedCursor(String),
    #[error("its list of tools is longer than {} megabytes", MAX_MESSAGE_BYTES >> 20)]
    TooLong,
    #[error("its list of tools has more than {PAGE_LIMIT} pages")]
    TooManyPages,
}

/// The tools of the pages so far.
#[derive(Default)]
pub(super) struct ToolPages {
    tools: Vec<Value>,
    bytes: usize,
    cursor: Option<String>,
    cursors: HashSet<String>,
}

impl ToolPages {
    /// The cursor of the next page. `None` for the first one.
    pub(super) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    pub(super) fn into_tools(self) -> Vec<Value> {
        self.tools
    }

    /// Adds a page. Returns whether it is the last one.
    pub(super) fn add(&mut self, mut page: Value) -> Result<bool, ListError> {
        let tools = match page.get_mut("tools").map(Value::take) {
            Some(Value::Array(tools)) => tools,
            Some(_) => return Err(ListError::NoList),
            None => return Err(ListError::NoTools),
        };
        self.bytes += tools.iter().map(|tool| tool.to_string().len()).sum::<usize>();
        if self.bytes > MAX_MESSAGE_BYTES {
            return Err(ListError::TooLong);
        }
        self.tools.extend(tools);
        let cursor = match page.get_mut("nextCursor").map(Value::take) {
            // The protocol ends a list by leaving the cursor out; some servers send an empty one.
            None | Some(Value::Null) => return Ok(true),
            Some(Value::String(cursor)) if cursor.is_empty() => return Ok(true),
            Some(Value::String(cursor)) => cursor,
            Some(_) => return Err(ListError::InvalidCursor),
        };
        if !self.cursors.insert(cursor.clone()) {
            return Err(ListError::RepeatedCursor(sanitize_line(&cursor)));
        }
        if self.cursors.len() == PAGE_LIMIT {
            return Err(ListError::TooManyPages);
        }
        self.cursor = Some(cursor);
        Ok(false)
    }
}
