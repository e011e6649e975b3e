//! Finds the tools in a JSON document of any supported format.

use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::error::ImportError;
use super::openapi;
use gramc_model::attributes::{AttributeOwner, find};

/// The format of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// Detect the format.
    #[default]
    Auto,
    /// A JSON Schema of one tool's parameters, or an object from tool names to schemas.
    JsonSchema,
    /// Tools or functions of OpenAI's APIs.
    OpenAi,
    /// Tools of Anthropic.
    Anthropic,
    /// Function declarations of Gemini.
    Gemini,
    /// The tools of an MCP server.
    Mcp,
}

impl Origin {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Auto, Self::JsonSchema, Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Mcp];

    /// The format with a name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.name() == name)
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::JsonSchema => "json-schema",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mcp => "mcp",
        }
    }
}

type Object = Map<String, Value>;

/// A tool before its conversion.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ImportedTool {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) title: Option<String>,
    /// The schema of its parameters.
    pub(super) schema: Option<Value>,
    /// The schema of its result.
    pub(super) output: Option<Value>,
    pub(super) attributes: Vec<(SmolStr, Value)>,
}

impl ImportedTool {
    fn of_schema(name: String, schema: Value) -> Self {
        Self { name, schema: Some(schema), ..Self::default() }
    }
}

/// The tools of all documents.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) tools: Vec<ImportedTool>,
    /// Whether all tools come from MCP.
    pub(super) is_mcp: bool,
    /// Sentences about skipped parts.
    pub(super) notes: Vec<String>,
}

/// The tools that Gemini itself has, each a key with its options.
const GEMINI_TOOLS: [&str; 16] = [
    "codeExecution",
    "code_execution",
    "computerUse",
    "computer_use",
    "enterpriseWebSearch",
    "enterprise_web_search",
    "fileSearch",
    "file_search",
    "googleMaps",
    "google_maps",
    "googleSearch",
    "googleSearchRetrieval",
    "google_search",
    "google_search_retrieval",
    "urlContext",
    "url_context",
];

/// The expected format, for an error message.
fn expected_format(from: Origin) -> &'static str {
    match from {
        Origin::Auto => "a list of tools, or a JSON Schema",
        Origin::JsonSchema => "a JSON Schema of an object, or an object from tool names to schemas",
        Origin::OpenAi => "tools of OpenAI, {\"type\": \"function\", \"function\": {…}}",
        Origin::Anthropic => "tools of Anthropic, with `input_schema`",
        Origin::Gemini => "tools of Gemini, [{\"functionDeclarations\": […]}]",
        Origin::Mcp => "tools of MCP, {\"tools\": […]}, with `inputSchema`",
    }
}

/// The format of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolForm {
    /// With `inputSchema`.
    Mcp,
    /// With `input_schema`.
    Anthropic,
    /// With `parameters`, or without a schema.
    Function,
    /// With `parametersJsonSchema`.
    Gemini,
}

impl Input {
    /// Adds the tools of a document. `name` is the tool name for a bare schema.
    pub(super) fn document(
        &mut self,
        document: Value,
        from: Origin,
        name: &str,
    ) -> Result<(), ImportError> {
        match document {
            Value::Array(items) => self.list(items, from),
            Value::Object(map) => self.object(map, from, name),
            other => Err(unrecognised_error(&other, from)),
        }
    }

    fn object(&mut self, mut map: Object, from: Origin, name: &str) -> Result<(), ImportError> {
        if let Some(error) = map.get("error").filter(|_| map.contains_key("jsonrpc")) {
            let message = error.get("message").and_then(Value::as_str);
            return Err(ImportError::Refused(
                message.map_or_else(|| error.to_string(), Into::into),
            ));
        }
        for key in ["result", "toolConfig"] {
            if let Some(Value::Object(inner)) = map.get_mut(key)
                && inner.get("tools").is_some_and(Value::is_array)
            {
                let inner = std::mem::take(inner);
                return self.object(inner, from, name);
            }
        }
        if from != Origin::JsonSchema {
            for key in ["tools", "functions", "function"] {
                if let Some(Value::Array(items)) = map.get_mut(key) {
                    let items = std::mem::take(items);
                    return self.list(items, from);
                }
            }
            if is_tool(&map) {
                return self.tool(map, from, 1);
            }
        }
        let schemas = !map.is_empty()
            && map.values().all(|schema| schema.get("type").is_some_and(|ty| ty == "object"));
        if !matches!(from, Origin::Auto | Origin::JsonSchema) {
            return Err(unrecognised_error(&Value::Object(map), from));
        }
        if schemas {
            let tools = map.into_iter();
            self.tools.extend(tools.map(|(name, schema)| ImportedTool::of_schema(name, schema)));
            return Ok(());
        }
        if !is_schema(&map) {
            return Err(unrecognised_error(&Value::Object(map), from));
        }
        self.tools.push(ImportedTool::of_schema(name.to_owned(), map.into()));
        Ok(())
    }

    fn list(&mut self, items: Vec<Value>, from: Origin) -> Result<(), ImportError> {
        let mcp = self.tools.is_empty() || self.is_mcp;
        let mut refused = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let read = match item {
                Value::Object(map) => self.tool(map, from, at + 1),
                other => Err(unrecognised_error(&other, from)),
            };
            refused.extend(read.err().map(|error| (at + 1, error)));
        }
        self.is_mcp &= mcp;
        self.leave_out(refused)
    }

    /// Notes what is no tool, if there are tools beside it.
    fn leave_out(&mut self, mut refused: Vec<(usize, ImportError)>) -> Result<(), ImportError> {
        if self.tools.is_empty() && !refused.is_empty() {
            return Err(refused.swap_remove(0).1);
        }
        let note = |(at, error)| match error {
            ImportError::Nameless(_) => format!("left out: {error}"),
            error => format!("left out tool {at}: {error}"),
        };
        self.notes.extend(refused.into_iter().map(note));
        Ok(())
    }

    /// Adds one item of a tool list.
    fn tool(&mut self, mut map: Object, from: Origin, at: usize) -> Result<(), ImportError> {
        for key in ["functionDeclarations", "function_declarations"] {
            if let Some(Value::Array(items)) = map.get_mut(key) {
                let items = std::mem::take(items);
                for name in map.keys().filter(|name| name.as_str() != key) {
                    let note =
                        format!("skipped `{name}` of tool {at}: it is built into the provider");
                    self.notes.push(note);
                }
                return self.declarations(items, from);
            }
        }
        if let Some(Value::Object(inner)) = map.get_mut("toolSpec") {
            let mut inner = std::mem::take(inner);
            if let Some(Value::Object(schema)) = inner.get_mut("inputSchema")
                && let Some(json) = schema.remove("json")
            {
                inner.insert("inputSchema".to_owned(), json);
            }
            return self.read(inner, ToolForm::Mcp, at);
        }
        if let Some(Value::Object(inner)) = map.get_mut("function") {
            let mut inner = std::mem::take(inner);
            for (key, value) in map {
                if !matches!(key.as_str(), "type" | "function") {
                    inner.entry(key).or_insert(value);
                }
            }
            check(from, ToolForm::Function, &inner)?;
            return self.read(inner, ToolForm::Function, at);
        }
        let form = form_of(&map);
        let kind = map.get("type").and_then(Value::as_str);
        if form.is_none_or(|form| form == ToolForm::Function)
            && !map.contains_key("parameters")
            && let Some(kind) = kind.filter(|kind| *kind != "function")
        {
            self.notes.push(match kind {
                "custom" => {
                    format!("left out tool {at}: a `custom` tool takes text, not arguments")
                }
                _ => format!("skipped tool {at}: `{kind}` is built into the provider"),
            });
            return Ok(());
        }
        let built_in = |key: &&String| GEMINI_TOOLS.contains(&key.as_str());
        if form.is_none()
            && let Some(name) = map.keys().find(built_in)
        {
            self.notes.push(format!("skipped tool {at}: `{name}` is built into the provider"));
            return Ok(());
        }
        let Some(form) = form else { return Err(unrecognised_error(&Value::Object(map), from)) };
        check(from, form, &map)?;
        if from == Origin::Gemini {
            return self.declarations(vec![Value::Object(map)], from);
        }
        self.read(map, form, at)
    }

    /// Adds function declarations of Gemini, whose schemas are `OpenAPI` schemas.
    fn declarations(&mut self, items: Vec<Value>, from: Origin) -> Result<(), ImportError> {
        if !matches!(from, Origin::Auto | Origin::Gemini) {
            return Err(ImportError::Mismatch(expected_format(from), "tools of Gemini".to_owned()));
        }
        let mut refused = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let read = match item {
                Value::Object(mut map) => {
                    for key in ["parameters", "response"] {
                        if let Some(schema) = map.get_mut(key) {
                            openapi::to_json_schema(schema);
                        }
                    }
                    self.read(map, ToolForm::Gemini, at + 1)
                }
                other => Err(unrecognised_error(&other, from)),
            };
            refused.extend(read.err().map(|error| (at + 1, error)));
        }
        self.leave_out(refused)
    }

    fn read(&mut self, map: Object, form: ToolForm, at: usize) -> Result<(), ImportError> {
        let mut tool = ImportedTool::default();
        let mut name = None;
        for (key, value) in map {
            match (key.as_str(), value) {
                ("name", Value::String(text)) => name = Some(text),
                ("description", Value::String(text)) => tool.description = Some(text),
                ("title", Value::String(text)) => tool.title = Some(text),
                ("description" | "title" | "strict", Value::Null) => {}
                ("type", Value::String(kind)) if kind == "function" || kind == "custom" => {}
                (
                    "inputSchema"
                    | "input_schema"
                    | "parameters"
                    | "parametersJsonSchema"
                    | "parameters_json_schema",
                    schema,
                ) => tool.schema = Some(schema).filter(|schema| !schema.is_null()),
                ("outputSchema", schema) if form == ToolForm::Mcp => {
                    tool.output = Some(schema).filter(|schema| !schema.is_null());
                }
                ("responseJsonSchema" | "response", schema) if form == ToolForm::Gemini => {
                    tool.output = Some(schema);
                }
                ("output_schema", schema) if form == ToolForm::Function => {
                    tool.output = Some(schema).filter(|schema| !schema.is_null());
                }
                ("input_examples", Value::Array(examples)) if form == ToolForm::Anthropic => {
                    tool.attributes.push((SmolStr::new_static("examples"), examples.into()));
                }
                ("defer_loading", Value::Bool(is_deferred)) if form != ToolForm::Mcp => {
                    if is_deferred {
                        tool.attributes.push((SmolStr::new_static("defer"), true.into()));
                    }
                }
                ("annotations", Value::Object(hints)) if form == ToolForm::Mcp => {
                    annotations(&mut tool, hints);
                }
                (key, value) => self.keep(&mut tool, at, key, value),
            }
        }
        tool.name = name.ok_or(ImportError::Nameless(at))?;
        self.is_mcp = form == ToolForm::Mcp && (self.is_mcp || self.tools.is_empty());
        self.tools.push(tool);
        Ok(())
    }

    /// Keeps an unknown key of a tool.
    fn keep(&mut self, tool: &mut ImportedTool, at: usize, key: &str, value: Value) {
        if find(AttributeOwner::Tool, key).is_some() {
            self.notes
                .push(format!("skipped `{key}` of tool {at}: it has a different meaning in gram"));
            return;
        }
        if gramc_check::is_foreign_attribute(AttributeOwner::Tool, key) {
            self.notes.push(match key {
                "strict" if value == false => return,
                "strict" => format!(
                    "skipped `strict` of tool {at}: compile for a strict target, such as openai-strict"
                ),
                _ => format!("skipped `{key}` of tool {at}: it is not an attribute of gram"),
            });
            return;
        }
        tool.attributes.push((SmolStr::new(key), value));
    }
}

/// Adds MCP annotations. The four hints become separate attributes.
fn annotations(tool: &mut ImportedTool, mut hints: Object) {
    let empty = hints.is_empty();
    for (hint, attribute) in [
        ("readOnlyHint", "readOnly"),
        ("destructiveHint", "destructive"),
        ("idempotentHint", "idempotent"),
        ("openWorldHint", "openWorld"),
    ] {
        if hints.get(hint).is_some_and(Value::is_boolean)
            && let Some(value) = hints.shift_remove(hint)
        {
            tool.attributes.push((SmolStr::new(attribute), value));
        }
    }
    if empty || !hints.is_empty() {
        tool.attributes.push((SmolStr::new("annotations"), Value::Object(hints)));
    }
}

fn form_of(map: &Object) -> Option<ToolForm> {
    let keys = [
        ("inputSchema", ToolForm::Mcp),
        ("input_schema", ToolForm::Anthropic),
        ("parametersJsonSchema", ToolForm::Gemini),
        ("parameters_json_schema", ToolForm::Gemini),
        ("parameters", ToolForm::Function),
        ("name", ToolForm::Function),
    ];
    let is_typed = map.get("type").is_some_and(Value::is_string);
    let found = keys.iter().find(|(key, _)| map.contains_key(*key)).map(|(_, form)| *form);
    found.or(is_typed.then_some(ToolForm::Function))
}

/// Whether an object is a tool, and not a schema or an object with schemas.
fn is_tool(map: &Object) -> bool {
    let named = map.get("name").is_some_and(Value::is_string);
    let holds = |key: &str| map.get(key).is_some_and(|value| value.is_object() || value.is_array());
    let schema = ["inputSchema", "input_schema", "parameters", "parametersJsonSchema"];
    (named && (schema.iter().any(|key| holds(key)) || map.contains_key("description")))
        || holds("toolSpec")
        || holds("functionDeclarations")
        || holds("function_declarations")
        || (holds("function") && map.get("type").is_some_and(|kind| kind == "function"))
}

/// Whether an object looks like a JSON Schema.
fn is_schema(map: &Object) -> bool {
    let word = |key: &str| map.get(key).is_some_and(Value::is_string);
    let holds = |key: &str| map.get(key).is_some_and(|value| value.is_object() || value.is_array());
    word("type")
        || word("$schema")
        || word("$ref")
        || word("$id")
        || holds("type")
        || ["properties", "anyOf", "oneOf", "allOf", "$defs", "definitions"]
            .iter()
            .any(|key| holds(key))
}

/// Rejects a tool of another format than the requested one.
fn check(from: Origin, form: ToolForm, map: &Object) -> Result<(), ImportError> {
    let has_schema = map.contains_key("parameters");
    let fits = match from {
        Origin::Auto => true,
        Origin::JsonSchema => false,
        Origin::OpenAi => form == ToolForm::Function,
        Origin::Anthropic => {
            form == ToolForm::Anthropic || (form == ToolForm::Function && !has_schema)
        }
        Origin::Gemini => matches!(form, ToolForm::Gemini | ToolForm::Function),
        Origin::Mcp => form == ToolForm::Mcp || (form == ToolForm::Function && !has_schema),
    };
    if fits {
        return Ok(());
    }
    let found = match form {
        ToolForm::Mcp => "a tool of MCP",
        ToolForm::Anthropic => "a tool of Anthropic",
        ToolForm::Gemini => "a tool of Gemini",
        ToolForm::Function => "a function with `parameters`",
    };
    Err(ImportError::Mismatch(expected_format(from), found.to_owned()))
}

fn unrecognised_error(found: &Value, from: Origin) -> ImportError {
    let found = match found {
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Object(map) => {
            let keys: Vec<_> = map.keys().take(5).map(|key| format!("`{key}`")).collect();
            let more = if map.len() > 5 { ", …" } else { "" };
            format!("an object with {}{more}", keys.join(", "))
        }
        Value::Array(_) => "a list in a list".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Null => "null".to_owned(),
    };
    match from {
        Origin::Auto => ImportError::Unrecognised(found),
        from => ImportError::Mismatch(expected_format(from), found),
    }
}
