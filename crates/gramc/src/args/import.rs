//! The arguments of `gramc import`.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use clap::builder::TypedValueParser;
use gramc_schema::import::Origin;

use super::error::ArgError;
use super::{LiveServerWithToken, one_of, output_path};

/// Convert JSON Schemas, tool lists and API descriptions to gram
///
/// Reads a JSON Schema, tools in the format of OpenAI, Anthropic, Gemini or MCP, or an API that
/// OpenAPI 3, Swagger 2.0 or Google Discovery describes, in JSON or YAML. Compiling the result gives
/// the imported schemas again. Schemas that gram cannot express are kept as JSON, and a note reports
/// each of them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc import tools.json > tools.gram
  gramc import openapi.yaml -o shop.gram --library-out calls.gram
  gramc import https://api.example.com/openapi.json
  gramc import openapi.json --tag orders --exclude 'DELETE *'
  gramc import --command \"npx -y @modelcontextprotocol/server-memory\"
  gramc import --url http://127.0.0.1:3001/mcp --container files
  gramc import --command \"npx -y some-server\" -o guard.gram --library-out upstream.gram
  gramc import --url https://example.com/mcp --prefix github_ -o github.gram
  cat schema.json | gramc import - --name order")]
pub(crate) struct Import {
    /// File, URL of a document or an MCP server, or - for standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["command", "url"])]
    // `requires` alone does not refuse an option if what it requires conflicts with another argument.
    #[arg(conflicts_with_all = ["env", "header", "token_env", "ca", "cert", "key"])]
    pub(crate) file: Option<PathBuf>,
    /// Format of the file
    #[arg(long, value_name = "KIND", value_parser = formats(), default_value = "auto")]
    pub(crate) from: InputFormat,
    /// Import only the operations of an API with this name, id, path, or method and path; '*' matches
    /// any characters
    #[arg(long, value_name = "PATTERN")]
    pub(crate) include: Vec<String>,
    /// Leave out the operations of an API with this name, id, path, or method and path
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// Import only the operations of an API with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// URL of an API [default: the first one in its description]
    #[arg(long, value_name = "URL", value_parser = server)]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) live: LiveServerWithToken,
    /// Prefix of the names of the tools of --command or --url, which the library of --library-out
    /// removes from calls
    #[arg(long, value_name = "PREFIX", value_parser = name, conflicts_with = "file")]
    pub(crate) prefix: Option<String>,
    /// Put all tools into a container with this name [default: for a large API, containers by tag]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) container: Option<String>,
    /// Tool name for a single JSON Schema [default: the name of the file], or name of the library for
    /// an API [default: its title]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Option<String>,
    /// Output file, or - for standard output, which is the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a library that calls the API, or forwards calls of all tools to the MCP server
    #[arg(long, value_name = "FILE")]
    pub(crate) library_out: Option<PathBuf>,
    /// Whether tools that nothing calls are imported without a library.
    #[arg(skip)]
    pub(crate) is_library_optional: bool,
}

impl Import {
    /// The URL, if the input is one.
    pub(crate) fn url(&self) -> Option<String> {
        let text = self.file.as_ref()?.to_str()?;
        let is_url = text.starts_with("http://") || text.starts_with("https://");
        is_url.then(|| text.to_owned())
    }

    /// An import into a project, with a library if something can be called.
    pub(crate) fn into_files(
        file: Option<PathBuf>,
        live: LiveServerWithToken,
        output: PathBuf,
        library: PathBuf,
    ) -> Self {
        Self {
            file,
            live,
            output: Some(output),
            from: InputFormat::Tools(Origin::Auto),
            include: Vec::new(),
            exclude: Vec::new(),
            tag: Vec::new(),
            server: None,
            prefix: None,
            container: None,
            name: None,
            library_out: Some(library),
            is_library_optional: true,
        }
    }

    /// The same for the MCP server at a URL.
    pub(crate) fn of_server(mut self, url: String) -> Self {
        self.file = None;
        self.live.set_url(url);
        self
    }

    /// The output file, if it is not standard output.
    pub(crate) fn output(&self) -> Option<&Path> {
        output_path(self.output.as_deref())
    }
}

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// JSON Schemas and tools.
    Tools(Origin),
    /// A description of an API.
    Api,
}

/// The maximum characters of a name that all providers accept.
const MAX_NAME: usize = 64;

/// A name that all providers accept.
fn name(text: &str) -> Result<String, ArgError> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=MAX_NAME).contains(&text.len()) && text.chars().all(is_valid) {
        Ok(text.to_owned())
    } else {
        Err(ArgError::Expected("at most 64 letters, digits, `_` and `-`"))
    }
}

/// The URL of a server.
fn server(text: &str) -> Result<String, ArgError> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_url = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#']));
    if is_url && !text.contains(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '"')) {
        Ok(text.to_owned())
    } else {
        Err(ArgError::Expected("a URL such as https://api.example.com/v1"))
    }
}

/// All formats that can be imported.
fn formats() -> impl TypedValueParser<Value = InputFormat> {
    let tools = Origin::ALL.map(|origin| (origin.name().into(), InputFormat::Tools(origin)));
    one_of(tools.into_iter().chain([("openapi".into(), InputFormat::Api)]))
}
