//! The operations. Their parameters and results are typed in `bindings/gramc-web/lib/index.mts`.

use std::cell::RefCell;

use gramc_calls::check::Policy;
use gramc_codegen::targets::{self, Emission, EmitInput, EmittedOutput, TARGETS};
use gramc_diff::report::{Allowed, human};
use gramc_diff::{VersionStep, diff};
use gramc_lsp::LanguageServer;
use gramc_model::did_you_mean;
use gramc_openapi::ApiOptions;
use gramc_project::{Project, ValidTexts, diagnostic_json};
use gramc_schema::emit::{Compilation, Options};
use gramc_schema::import::{ImportOptions, Imported, Origin, import};
use gramc_schema::lower::{Loss, PortableSchema, lower_schema};
use gramc_schema::{Draft, Target, example_arguments};
use gramc_syntax::{FormatOptions, SourceFile, parse};
use gramc_tools::{Call, parse_undeclared};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::RequestError;
use crate::specification::Source;

type Answer = Result<Value, RequestError>;

thread_local! {
    static SERVER: RefCell<LanguageServer> = RefCell::new(LanguageServer::new());
    /// The last lowered schema, for the calls that follow.
    static LOWERED: RefCell<Option<(Lower, PortableSchema)>> = const { RefCell::new(None) };
}

/// Runs an operation with its parameters.
pub(crate) fn run(mut request: Value) -> Answer {
    let operation = request.as_object_mut().and_then(|it| it.shift_remove("operation"));
    match operation.as_ref().and_then(Value::as_str).unwrap_or_default() {
        "check" => Ok(check(read(request)?)),
        "format" => format(read(request)?),
        "compile" => compile(read(request)?),
        "import" => import_tools(read(request)?),
        "diff" => compare(read(request)?),
        "validate" => validate(read(request)?),
        "lower" => lower(read(request)?),
        "restore" => restore(read(request)?),
        "example" => example(read(request)?),
        "tools" => list_tools(request["source"].take()),
        "lsp" => lsp(&request["message"]),
        "explain" => explain(&request["code"]),
        "targets" => Ok(list_targets()),
        other => Err(format!("unknown operation `{other}`").into()),
    }
}

fn read<T: DeserializeOwned>(parameters: Value) -> Result<T, RequestError> {
    serde_json::from_value(parameters)
        .map_err(|error| format!("invalid parameters: {error}").into())
}

#[derive(Deserialize)]
struct Check {
    source: Source,
    /// The text of a `gram.toml`.
    #[serde(default)]
    project: String,
}

fn check(Check { source, project }: Check) -> Value {
    let (project, mut found) = Project::read(&SourceFile::new("gram.toml", project).into());
    found.extend(source.texts().diagnostics(&project.lints));
    found.iter().map(diagnostic_json).collect()
}

#[derive(Deserialize)]
struct Format {
    text: String,
    width: Option<u32>,
}

fn format(Format { text, width }: Format) -> Answer {
    let mut options = FormatOptions::default();
    if let Some(width) = width {
        options.width = width;
    }
    let parse = parse(SourceFile::new("tools.gram", text));
    let formatted = gramc_syntax::format(&parse, options).map_err(|error| RequestError {
        message: error.to_string(),
        diagnostics: parse.diagnostics().iter().map(diagnostic_json).collect(),
    });
    formatted.map(Value::from)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compile {
    source: Source,
    target: String,
    tool: Option<String>,
    #[serde(rename = "type")]
    type_name: Option<String>,
    #[serde(default)]
    expanded: bool,
    #[serde(default)]
    draft7: bool,
}

/// Compiles like `gramc compile`. The text is what it writes to standard output.
fn compile(parameters: Compile) -> Answer {
    let Compile { source, target: name, tool, type_name, expanded, draft7 } = parameters;
    let Some(target) = targets::find(&name) else {
        return Err(unknown("target", &name, TARGETS.iter().map(|target| target.name())));
    };
    let specification = source.check()?;
    let ValidTexts { module, texts } = &specification.valid;
    let options = Options {
        draft: if draft7 { Draft::Draft7 } else { Draft::default() },
        expanded: expanded || tool.is_some() || target.expands_containers(),
        ..Options::new(target.schemas(), texts.named)
    };
    let compilation = Compilation::new(module, &options);
    let all = compilation.entries();
    let entries = match &tool {
        None => all.to_vec(),
        Some(name) => {
            let tool = all.iter().find(|entry| entry.name() == name).copied();
            vec![tool.ok_or_else(|| unknown("tool", name, all.iter().map(|it| it.name())))?]
        }
    };
    let Emission { warnings, losses, output } = target.emit(&EmitInput {
        title: texts.title(),
        module: module.into(),
        compilation: &compilation,
        entries,
        type_name: type_name.as_deref(),
        is_one_tool: tool.is_some(),
        needs_losses: true,
        is_folder: false,
    })?;
    let text = match output {
        EmittedOutput::Tools(tools) => match &tools[..] {
            [only] if tool.is_some() => serde_json::to_string(&only.compiled)? + "\n",
            tools => {
                let (open, close) = compilation.brackets();
                let line = |tool: &targets::EmittedTool<'_>| {
                    let json = serde_json::to_string(&tool.compiled)?;
                    let key = compilation.is_keyed().then(|| Value::from(tool.name));
                    Ok(key.map(|key| format!("{key}:")).unwrap_or_default() + &json)
                };
                let lines: Result<Vec<_>, serde_json::Error> = tools.iter().map(line).collect();
                let start = if tools.is_empty() { "" } else { "\n" };
                format!("{open}{start}{}\n{close}\n", lines?.join(",\n"))
            }
        },
        EmittedOutput::Json { value, .. } => value.to_string() + "\n",
        EmittedOutput::Text { text, .. } => text,
        EmittedOutput::Texts(texts) => texts.into_iter().map(|it| it.text).collect(),
    };
    Ok(json!({ "text": text, "losses": losses_json(&losses), "warnings": warnings }))
}

/// Losses with their effects and as sentences.
fn losses_json(losses: &[Loss]) -> Value {
    let json = losses.iter().map(|loss| {
        let mut json = json!(loss);
        json["effect"] = json!(loss.effect());
        json["message"] = loss.to_string().into();
        json
    });
    json.collect()
}

fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> RequestError {
    let help = did_you_mean(name, known).map(|help| format!("; {help}")).unwrap_or_default();
    format!("unknown {what} `{name}`{help}").into()
}

#[derive(Deserialize)]
struct Import {
    text: String,
    from: Option<String>,
    name: Option<String>,
    container: Option<String>,
}

/// Imports tools in JSON, or the description of an API in JSON or YAML.
fn import_tools(Import { text, from, name, container }: Import) -> Answer {
    let container = container.as_deref();
    let document = match from.as_deref() {
        Some("openapi") => Some(gramc_openapi::parse(&text)),
        None | Some("auto") => gramc_openapi::api_document(&text),
        Some(_) => None,
    };
    if let Some(document) = document {
        let name = name.as_deref().unwrap_or_default();
        let options = ApiOptions { name, container, ..ApiOptions::default() };
        let imported = gramc_openapi::import(&document?, &options)?;
        let mut json = imported_json(&imported.specification);
        json["library"] = imported.library.into();
        return Ok(json);
    }
    let from = match from.as_deref() {
        None => Origin::Auto,
        Some(name) => Origin::from_name(name)
            .ok_or_else(|| unknown("format", name, Origin::ALL.iter().map(|it| it.name())))?,
    };
    let name = name.as_deref().unwrap_or("tool");
    Ok(imported_json(&import(&text, &ImportOptions { from, name, container })?))
}

fn imported_json(imported: &Imported) -> Value {
    let texts = |items: &mut dyn Iterator<Item = String>| -> Value { items.collect() };
    json!({
        "text": imported.text,
        "notes": texts(&mut imported.notes.iter().map(ToString::to_string)),
        "verbatim": texts(&mut imported.verbatim.iter().map(ToString::to_string)),
        "unsound": imported.unsound,
    })
}

#[derive(Deserialize)]
struct Compare {
    old: Source,
    new: Source,
}

fn compare(Compare { old, new }: Compare) -> Answer {
    let (old, new) = (old.check()?, new.check()?);
    let changes = diff(&old.valid.module, &new.valid.module);
    Ok(json!({
        "changes": changes,
        "version": VersionStep::of(&changes).name(),
        "text": human(&changes, &Allowed::default()),
    }))
}

#[derive(Deserialize)]
struct Validate {
    source: Source,
    name: String,
    arguments: Option<String>,
    id: Option<String>,
    target: Option<String>,
    repair: Option<bool>,
    undeclared: Option<String>,
}

fn validate(parameters: Validate) -> Answer {
    let Validate { source, name, arguments, id, target, repair, undeclared } = parameters;
    let mut policy = Policy::default();
    policy.repair = repair.unwrap_or(policy.repair);
    if let Some(name) = undeclared {
        let known = ["strip", "reject", "keep", "schema"];
        policy.undeclared = parse_undeclared(&name)
            .ok_or_else(|| unknown("treatment of arguments", &name, known.into_iter()))?;
    }
    let target = target.map(|name| provider(&name)).transpose()?;
    let session = source.check()?.session(policy, target);
    Ok(session.validate(Call { id, arguments, ..Call::new(name, "") }).json())
}

/// The target of a name, which describes tools or structured output in JSON.
fn provider(name: &str) -> Result<Target, RequestError> {
    let all = Target::ALL.into_iter().chain(Target::OUTPUTS).map(Target::name);
    Target::from_name(name).ok_or_else(|| unknown("provider", name, all))
}

#[derive(Debug, PartialEq, Deserialize)]
struct Lower {
    schema: Value,
    provider: String,
    description: Option<String>,
}

fn lower(parameters: Lower) -> Answer {
    lowered(parameters, |lowered| {
        let PortableSchema { schema, description, losses, restore } = lowered;
        json!({
            "schema": schema,
            "description": description,
            "losses": losses_json(losses),
            "restores": !restore.is_identity(),
        })
    })
}

#[derive(Deserialize)]
struct Restore {
    #[serde(flatten)]
    lower: Value,
    arguments: Value,
}

fn restore(Restore { lower, arguments }: Restore) -> Answer {
    lowered(read(lower)?, |lowered| lowered.restore.arguments(arguments))
}

/// Lowers a schema, unless it is the last one.
fn lowered<R>(
    parameters: Lower,
    work: impl FnOnce(&PortableSchema) -> R,
) -> Result<R, RequestError> {
    LOWERED.with_borrow_mut(|kept| {
        let known = kept.take().filter(|(known, _)| *known == parameters);
        let (parameters, lowered) = if let Some(known) = known {
            known
        } else {
            let Lower { schema, provider: name, description } = &parameters;
            let target = provider(name)?;
            let lowered = lower_schema(target, schema.clone(), description.as_deref());
            (parameters, lowered)
        };
        let result = work(&lowered);
        *kept = Some((parameters, lowered));
        Ok(result)
    })
}

/// The names and descriptions of the tools.
fn list_tools(source: Value) -> Answer {
    let specification = read::<Source>(source)?.check()?;
    let module = &specification.valid.module;
    let tools = module.tools.iter().map(
        |tool| json!({ "name": tool.name.as_str(), "description": tool.description.as_deref() }),
    );
    Ok(tools.collect())
}

#[derive(Deserialize)]
struct Example {
    source: Source,
    tool: String,
}

/// Finds arguments that a tool accepts.
fn example(Example { source, tool: name }: Example) -> Answer {
    let specification = source.check()?;
    let module = &specification.valid.module;
    let names = module.tools.iter().map(|tool| tool.name.as_str());
    let tool = module.tools.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| unknown("tool", &name, names))?;
    Ok(example_arguments(&module.types, tool).into())
}

fn lsp(message: &Value) -> Answer {
    let messages = SERVER.with_borrow_mut(|server| server.handle(&message.to_string()));
    let parsed: Result<Vec<Value>, _> =
        messages.iter().map(|it| serde_json::from_str(it)).collect();
    Ok(parsed?.into())
}

/// The page about the code of a diagnostic, or about a target, in Markdown.
fn explain(code: &Value) -> Answer {
    let name = code.as_str().unwrap_or_default();
    if let Some(code) = gramc_lint::all_codes().find(|code| code.name == name) {
        return Ok(format!("{}\n", code.page.trim_end()).into());
    }
    let known = gramc_lint::all_codes().map(|code| code.name);
    let target = targets::find(name).ok_or_else(|| unknown("code or target", name, known))?;
    Ok(target.page().into())
}

fn list_targets() -> Value {
    let target = |target: &dyn targets::Emitter| {
        json!({
            "name": target.name(),
            "about": target.about(),
            "compilesType": target.compiles_type(),
        })
    };
    TARGETS.iter().map(|it| target(it.as_ref())).collect()
}
