//! `gramc compile`

mod grammar;
mod output_type;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gramc_openapi::emit;
use gramc_project::Texts;
use gramc_schema::emit::{Compilation, Compiled, Options};
use gramc_schema::lower::{Became, Loss, request_limits};
use gramc_schema::{Draft, Target};
use gramc_syntax::Severity;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{Compile, CompileTarget, Display, Format};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::{self, Layout};
use crate::{report, source};

pub(super) fn run(args: &Compile, display: Display) -> Outcome {
    let losses_alone = args.losses && display.format == Format::Json;
    if args.output.is_none() && !losses_alone {
        report::reserve_stdout(display, "write the tools to a file with -o")?;
    }
    let texts = source::texts(&args.inputs, &args.live, display)?;
    refuse_to_overwrite_sources(args, &texts)?;
    let mut checked = texts.check();
    // `gramc check` also shows notes.
    checked.diagnostics.retain(|found| found.severity > Severity::Note);
    report::show(display, &checked.diagnostics)?;
    let Some(module) = checked.module else { return Ok(PROBLEMS) };
    let target = match args.target {
        CompileTarget::Json(target) => target,
        // These have the schemas as they are declared.
        CompileTarget::TypeScript | CompileTarget::OpenApi | CompileTarget::Grammar(_) => {
            Target::JsonSchema
        }
    };
    if target.spec().shape.is_output() {
        return output_type::run(args, display, target, (&module).into());
    }
    if args.type_name.is_some() {
        let targets = Target::OUTPUTS.map(Target::name).join(", ");
        return Err(Failure::new(format!(
            "--type needs a target of structured output; choose one of {targets}"
        )));
    }
    if args.draft != Draft::default() && args.target != CompileTarget::Json(Target::JsonSchema) {
        return Err(Failure::new("--draft applies to --target json-schema"));
    }
    let options = Options {
        target,
        draft: args.draft,
        files: 0..texts.named,
        // Containers are tags there.
        expanded: args.expanded || args.tool.is_some() || args.target == CompileTarget::OpenApi,
    };
    let compilation = Compilation::new(&module, &options);
    let entries = match &args.tool {
        Some(name) => one(&compilation, name)?,
        None => compilation.entries().to_vec(),
    };
    match args.target {
        CompileTarget::Json(_) => {}
        CompileTarget::TypeScript => return typescript(args, display, &compilation, &entries),
        CompileTarget::OpenApi => {
            let document = emit::document(&texts.title(), (&module).into(), &compilation, &entries);
            return openapi(args, display, &document);
        }
        CompileTarget::Grammar(syntax) => {
            return grammar::run(args, display, syntax, &compilation, &entries);
        }
    }
    let tools = output::map_in_parallel(&entries, |entry| Tool {
        name: entry.name(),
        compiled: compilation.compile(*entry),
    });
    let values: Vec<&Value> = tools.iter().filter_map(|tool| tool.compiled.json()).collect();
    excesses(target, &values)?;
    if args.losses {
        losses(display, tools.iter().flat_map(|tool| tool.compiled.losses()))?;
        if losses_alone && args.output.is_none() {
            return Ok(CLEAN);
        }
    }
    Output { args, compilation: &compilation, tools: &tools }.write()?;
    Ok(CLEAN)
}

/// The file of a folder that holds the names that were mapped.
const NAMES: &str = "names.json";

/// A tool and its losses.
struct Tool<'m> {
    name: &'m str,
    compiled: Compiled<'m>,
}

/// Refuses to write over what is compiled.
fn refuse_to_overwrite_sources(args: &Compile, texts: &Texts) -> Result<(), Failure> {
    let Some(output) = args.output.as_deref().and_then(|path| path.canonicalize().ok()) else {
        return Ok(());
    };
    let same = |text: &gramc_syntax::Parse| {
        Path::new(text.source().name()).canonicalize().is_ok_and(|path| path == output)
    };
    if texts.all.iter().any(same) {
        let shown = args.output.as_deref().unwrap_or(&output).display();
        return Err(Failure::new(format!("{shown} is an input file; choose another output file")));
    }
    Ok(())
}

/// The one tool that is asked for.
fn one<'m>(
    compilation: &Compilation<'m>,
    name: &str,
) -> Result<Vec<gramc_schema::emit::Entry<'m>>, Failure> {
    let entries = compilation.entries();
    if let Some(entry) = entries.iter().find(|entry| entry.name() == name) {
        return Ok(vec![*entry]);
    }
    let known = entries.iter().map(|entry| entry.name());
    Err(Failure::unknown(&format!("there is no tool `{name}`"), name, known, None))
}

/// Reports the limits of a request that the tools or types exceed.
fn excesses(target: Target, values: &[&Value]) -> Result<(), Failure> {
    let mut out = io::stderr().lock();
    for excess in request_limits(target.spec(), values) {
        writeln!(out, "warning: {}: {excess}", target.name())
            .map_err(|error| Failure::output(&error))?;
    }
    Ok(())
}

/// Reports what the target cannot express.
fn losses<'l>(
    display: Display,
    losses: impl Iterator<Item = &'l Loss> + Clone,
) -> Result<(), Failure> {
    if display.format == Format::Json {
        let mut text = String::new();
        for loss in losses {
            // A loss serializes as an object with keys that are strings, so this cannot fail.
            text.push_str(&serde_json::to_string(loss).unwrap_or_default());
            text.push('\n');
        }
        return output::print(&text);
    }
    let mut out = io::BufWriter::new(io::stderr().lock());
    let mut write = || {
        for loss in losses.clone() {
            writeln!(out, "{loss}")?;
        }
        match losses.clone().count() {
            0 => writeln!(out, "no losses"),
            1 => writeln!(out, "1 loss"),
            count => writeln!(out, "{count} losses"),
        }?;
        out.flush()
    };
    write().map_err(|error| Failure::output(&error))
}

/// The file of a folder that holds TypeScript declarations.
const TYPESCRIPT: &str = "tools.ts";

/// Writes TypeScript declarations.
fn typescript(
    args: &Compile,
    display: Display,
    compilation: &Compilation<'_>,
    entries: &[gramc_schema::emit::Entry<'_>],
) -> Outcome {
    if args.losses {
        losses(display, [].iter())?;
        if display.format == Format::Json && args.output.is_none() {
            return Ok(CLEAN);
        }
    }
    let tools = entries.iter().map(|entry| compilation.source(*entry)).collect();
    let text = gramc_schema::typescript::declarations(tools);
    let Some(path) = &args.output else {
        output::print(&text)?;
        return Ok(CLEAN);
    };
    let path = in_folder(path, TYPESCRIPT)?;
    std::fs::write(&path, text).map_err(|error| Failure::path("write", &path, &error))?;
    Ok(CLEAN)
}

/// The file of a folder that holds a document of `OpenAPI`.
const OPENAPI: &str = "openapi.json";

/// Writes a document of `OpenAPI`.
fn openapi(args: &Compile, display: Display, document: &emit::Document) -> Outcome {
    if args.losses {
        losses(display, document.losses.iter())?;
        if display.format == Format::Json && args.output.is_none() {
            return Ok(CLEAN);
        }
    }
    let layout = if args.pretty { Layout::Pretty } else { Layout::Line };
    let path = args.output.as_deref().map(|path| in_folder(path, OPENAPI)).transpose()?;
    output::write_json(path.as_deref(), &document.value, layout)?;
    Ok(CLEAN)
}

/// An output path, or a file with this name if it is a folder, which is made.
fn in_folder(path: &Path, name: &str) -> Result<PathBuf, Failure> {
    if !is_folder(path) {
        return Ok(path.to_owned());
    }
    std::fs::create_dir_all(path).map_err(|error| Failure::path("make", path, &error))?;
    Ok(path.join(name))
}

/// Where the tools go.
struct Output<'c> {
    args: &'c Compile,
    compilation: &'c Compilation<'c>,
    tools: &'c [Tool<'c>],
}

impl Output<'_> {
    fn write(&self) -> Result<(), Failure> {
        match (self.args.output.as_deref(), self.args.tool.is_some(), self.tools) {
            (Some(folder), _, _) if is_folder(folder) => self.folder(folder),
            (path, true, [tool]) => output::write_json(path, &tool.compiled, self.layout()),
            (output, ..) => self.all(output),
        }
    }

    /// All tools together, one a line or indented.
    fn all(&self, output: Option<&Path>) -> Result<(), Failure> {
        if self.layout() == Layout::Pretty {
            return output::write_json(output, &self.compilation.request(), Layout::Pretty);
        }
        let keyed = self.compilation.is_keyed();
        output::write_lines(output, self.compilation.brackets(), self.tools, |line, tool| {
            if keyed {
                serde_json::to_writer(&mut *line, tool.name)?;
                line.push(b':');
            }
            Ok(serde_json::to_writer(line, &tool.compiled)?)
        })
    }

    /// One file a tool, and one for names that were mapped.
    fn folder(&self, folder: &Path) -> Result<(), Failure> {
        std::fs::create_dir_all(folder).map_err(|error| Failure::path("make", folder, &error))?;
        for tool in self.tools {
            let mut name = format!("{}.json", file_name(tool.name));
            if name == NAMES {
                // Percent-encoded, as no other tool's name comes out.
                "%6Eames.json".clone_into(&mut name);
            }
            output::write_json(Some(&folder.join(name)), &tool.compiled, Layout::Pretty)?;
        }
        let names = MappedNames::of(self.tools);
        let path = folder.join(NAMES);
        if !names.is_empty() {
            return output::write_json(Some(&path), &names, Layout::Pretty);
        }
        // A file of an earlier run would list mappings that no longer exist.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::path("remove", &path, &error))
            }
            _ => Ok(()),
        }
    }

    fn layout(&self) -> Layout {
        if self.args.pretty { Layout::Pretty } else { Layout::Line }
    }
}

/// The mapped names of tools, and of properties by tool and path.
#[derive(Default, Serialize)]
struct MappedNames {
    tools: Map<String, Value>,
    properties: Map<String, Value>,
}

impl MappedNames {
    fn of(tools: &[Tool<'_>]) -> Self {
        let mut names = Self::default();
        for Loss { tool, path, constraint, became, .. } in
            tools.iter().flat_map(|tool| tool.compiled.losses())
        {
            let Became::Renamed { to } = became else { continue };
            let to = Value::String(to.clone());
            if constraint == "name" {
                names.tools.insert(tool.clone(), to);
            } else {
                let of_tool = names.properties.entry(tool.as_str());
                if let Value::Object(map) = of_tool.or_insert_with(|| Map::new().into()) {
                    map.insert(path.clone(), to);
                }
            }
        }
        names
    }

    fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.properties.is_empty()
    }
}

/// Whether an output path means a folder: it ends with a slash, or is one.
fn is_folder(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]) || path.is_dir()
}

/// A tool's name as a file's: what a file system may refuse, and `%`, is percent-encoded, so that
/// two tools never share a file.
fn file_name(tool: &str) -> String {
    let mut name = String::new();
    for (at, c) in tool.char_indices() {
        let plain = c.is_alphanumeric() || matches!(c, '_' | '-' | '@') || (c == '.' && at > 0);
        if plain {
            name.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string does not fail.
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    name
}
