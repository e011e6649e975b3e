//! A specification from what implementations declare of themselves.

use gramc_check::Valid;
use gramc_model::{Module, WHOLE_SERVER};
use gramc_schema::import::{ImportOptions, Origin, import_value};
use gramc_syntax::{SourceFile, parse};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::{LibraryEntry, ToolLibrary};
use crate::bind::{SignatureError, declared_schemas};
use crate::invocation::DeclaredInterface;

/// Why an implementation declares no tool.
#[derive(Debug, thiserror::Error)]
enum DeclarationError {
    #[error("its server was not asked for its tools")]
    NotConnected,
    #[error("it declares neither a signature nor schemas")]
    Undeclared,
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error("{0}")]
    Import(String),
    #[error("these schemas declare no tools")]
    NoTools,
}

impl DeclarationError {
    fn of(self, tool: impl Into<SmolStr>) -> LibraryError {
        LibraryError { tool: tool.into(), message: self.to_string() }
    }
}

fn import_tools(tools: Value) -> Result<Valid<Module>, DeclarationError> {
    let options = ImportOptions { from: Origin::Mcp, ..ImportOptions::default() };
    let imported = import_value(tools, &options)
        .map_err(|error| DeclarationError::Import(error.to_string()))?;
    let checked = gramc_check::check(&[parse(SourceFile::new("tools", imported.text))]);
    checked.module.ok_or_else(|| {
        let first = checked.diagnostics.first();
        first.map_or(DeclarationError::NoTools, |found| {
            DeclarationError::Import(found.message.clone())
        })
    })
}

/// Why a library has no specification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}`: {message}")]
pub struct LibraryError {
    /// The tool whose implementation is meant.
    pub tool: SmolStr,
    /// The error as a sentence.
    pub message: String,
}

impl ToolLibrary {
    /// The specification that the library's implementations declare by themselves: functions with
    /// their signatures or schemas and descriptions, MCP servers that are connected.
    ///
    /// ```
    /// use gramc_tools::ToolLibrary;
    /// use gramc_tools::implementations::function;
    /// use serde_json::Value;
    ///
    /// let double = function(|arguments: Value| {
    ///     arguments["n"].as_i64().map(|n| n * 2).ok_or("there is no n")
    /// });
    /// let double = double.signature("(n::Int)==>(::Int)").description("Doubles a number");
    /// let library = ToolLibrary::new("numbers").with("double", double);
    /// let specification = library.specification().unwrap();
    /// assert_eq!(specification.tools[0].description.as_deref(), Some("Doubles a number"));
    /// assert!(library.bind(&specification).is_ok());
    /// ```
    pub fn specification(&self) -> Result<Valid<Module>, Vec<LibraryError>> {
        let mut tools = Vec::new();
        let mut errors = Vec::new();
        let mut entries = self.entries.to_vec();
        for source in self.sources.iter() {
            let Some(names) = source.source.tools() else {
                errors.push(DeclarationError::NotConnected.of(WHOLE_SERVER));
                continue;
            };
            let is_own = |name: &SmolStr| self.entries.iter().any(|entry| entry.tool == *name);
            entries.extend(names.iter().filter(|it| !is_own(it)).map(|name| source.entry(name)));
        }
        for entry in &entries {
            match describe_tool(entry) {
                Ok(tool) => tools.push(tool),
                Err(error) => errors.push(error.of(entry.tool.clone())),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        import_tools(json!({ "tools": tools })).map_err(|error| vec![error.of(self.name.clone())])
    }
}

/// A tool as MCP has it.
fn describe_tool(entry: &LibraryEntry) -> Result<Value, DeclarationError> {
    let (parameters, result) = match entry.interface() {
        None => return Err(DeclarationError::Undeclared),
        Some(DeclaredInterface::Schemas { parameters, result }) => (parameters, result),
        Some(DeclaredInterface::Signature { text, types }) => {
            declared_schemas(&Module::default(), &text, &types)?
        }
    };
    let mut tool = Map::new();
    tool.insert("name".to_owned(), json!(entry.tool.as_str()));
    if let Some(description) = entry.implementation.description() {
        tool.insert("description".to_owned(), json!(description.as_str()));
    }
    tool.insert("inputSchema".to_owned(), parameters);
    tool.extend(result.map(|result| ("outputSchema".to_owned(), result)));
    Ok(Value::Object(tool))
}
