//! The pages of a list of tools.

use std::collections::HashSet;

use gramc_tools::sanitize::sanitize_line;
use serde_json::{Map, Value};

use crate::lines::MAX_MESSAGE_BYTES;

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
    #[error("its list of tools is longer than {} megabytes", MAX_MESSAGE_BYTES >> 20)]
    TooLong,
    #[error("its list of tools has more than {PAGE_LIMIT} pages")]
    TooManyPages,
}

/// The tools that a server lists, each as it was sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListedTools {
    /// The tools. Each has a name that no other one has.
    pub tools: Vec<Value>,
    /// The other entries of the first page, except the cursor.
    pub others: Map<String, Value>,
    /// What is wrong with the list, and what was left out therefore.
    pub warnings: Vec<String>,
}

impl ListedTools {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter_map(|tool| tool["name"].as_str())
    }

    pub(super) fn find(&self, name: &str) -> Option<&Value> {
        self.tools.iter().find(|tool| tool["name"] == name)
    }

    /// Adds a tool that can be called.
    fn add(&mut self, tool: Value, names: &mut HashSet<String>) {
        let Some(name) = tool["name"].as_str() else {
            self.warnings.push("a tool without a name is omitted".to_owned());
            return;
        };
        if names.insert(name.to_owned()) {
            self.tools.push(tool);
        } else {
            let name = sanitize_line(name);
            self.warnings.push(format!("`{name}` is listed twice: the second one is omitted"));
        }
    }
}

/// The pages of a list so far.
#[derive(Default)]
pub(super) struct ToolPages {
    list: ListedTools,
    names: HashSet<String>,
    bytes: usize,
    cursor: Option<String>,
    cursors: HashSet<String>,
}

impl ToolPages {
    /// The cursor of the next page. `None` for the first one.
    pub(super) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    pub(super) fn into_list(self) -> ListedTools {
        self.list
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
        for tool in tools {
            self.list.add(tool, &mut self.names);
        }
        let cursor = page.get_mut("nextCursor").map(Value::take);
        if self.cursor.is_none()
            && let Value::Object(mut others) = page
        {
            others.retain(|key, _| key != "tools" && key != "nextCursor");
            self.list.others = others;
        }
        let cursor = match cursor {
            // The protocol ends a list by leaving the cursor out; some servers send an empty one.
            None | Some(Value::Null) => return Ok(true),
            Some(Value::String(cursor)) if cursor.is_empty() => return Ok(true),
            Some(Value::String(cursor)) => cursor,
            Some(_) => return Err(ListError::InvalidCursor),
        };
        if !self.cursors.insert(cursor.clone()) {
            let cursor = sanitize_line(&cursor);
            let warning = format!("the list has no end: the cursor \"{cursor}\" came twice");
            self.list.warnings.push(warning);
            return Ok(true);
        }
        if self.cursors.len() == PAGE_LIMIT {
            return Err(ListError::TooManyPages);
        }
        self.cursor = Some(cursor);
        Ok(false)
    }
}
