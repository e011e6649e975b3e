//! `gramc compile`

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gramc_codegen::targets::{
    Emission, EmitError, EmitInput, EmittedOutput, EmittedTool, ToolText, file_name,
};
use gramc_project::{Texts, ValidTexts};
use gramc_schema::emit::{Compilation, Entry, Options};
use gramc_schema::lower::{Became, Loss};
use gramc_schema::{Draft, Target};
use serde::Serialize;
use serde_json::{Map, Value};

use super::watch;
use crate::args::{Compile, Display, Format};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::{self, Layout};
use crate::{report, source};

pub(super) fn run(args: &Compile, display: Display) -> Outcome {
    if args.watch {
        return watch::repeat(&args.inputs, || compile(args, display));
    }
    compile(args, display)
}

fn compile(args: &Compile, display: Display) -> Outcome {
    let only_losses = args.losses && display.format == Format::Json && args.output().is_none();
    if args.output().is_none() && !only_losses {
        report::reserve_stdout(display, "write the tools to a file with -o")?;
    }
    let texts = source::texts(&args.inputs, &args.live, display)?;
    refuse_to_overwrite_sources(args, &texts)?;
    let valid = source::check_without_notes(texts, display)?;
    let Some(ValidTexts { module, texts }) = valid else { return Ok(PROBLEMS) };
    check_options(args)?;
    let target = args.target;
    let options = Options {
        target: target.schemas(),
        draft: args.draft,
        files: 0..texts.named,
        expanded: args.expanded || args.tool.is_some() || target.expands_containers(),
    };
    let compilation = Compilation::new(&module, &options);
    let entries = match &args.tool {
        Some(name) => vec![find_tool(&compilation, name)?],
        None => compilation.entries().to_vec(),
    };
    let emission = target.emit(&EmitInput {
        title: texts.title(),
        module: (&module).into(),
        compilation: &compilation,
        entries,
        type_name: args.type_name.as_deref(),
        is_one_tool: args.tool.is_some(),
        needs_losses: args.losses,
        is_folder: args.output().is_some_and(is_folder),
    });
    let emission = emission.map_err(|error| match error {
        EmitError::NoResult | EmitError::SeveralResults(_) => {
            Failure::new(format!("{error} with --type"))
        }
        error => error.into(),
    })?;
    let Emission { warnings, losses, output } = emission;
    output::say_each("warning: ", warnings);
    if args.losses {
        report_losses(display, &losses)?;
        if only_losses {
            return Ok(CLEAN);
        }
    }
    Writer { args, compilation: &compilation }.write(output)?;
    Ok(CLEAN)
}

/// Fails for options that do not apply to the target.
fn check_options(args: &Compile) -> Result<(), Failure> {
    let name = args.target.name();
    if args.target.compiles_type() {
        if args.tool.is_some() {
            return Err(Failure::new(format!("{name} takes a type; use --type instead of --tool")));
        }
        return Ok(());
    }
    if args.type_name.is_some() {
        let targets = Target::OUTPUTS.map(Target::name).join(", ");
        return Err(Failure::new(format!(
            "--type needs a target of structured output; choose one of {targets}"
        )));
    }
    if args.draft != Draft::default() && name != Target::JsonSchema.name() {
        return Err(Failure::new("--draft applies to --target json-schema"));
    }
    Ok(())
}

/// The file of a folder with the mapped names.
const NAMES: &str = "names.json";

/// Refuses to overwrite an input.
fn refuse_to_overwrite_sources(args: &Compile, texts: &Texts) -> Result<(), Failure> {
    let Some(output) = args.output().and_then(|path| path.canonicalize().ok()) else {
        return Ok(());
    };
    let is_output = |text: &gramc_syntax::Parse| {
        Path::new(text.source().name()).canonicalize().is_ok_and(|path| path == output)
    };
    if texts.all.iter().any(is_output) {
        let shown = args.output().unwrap_or(&output).display();
        return Err(Failure::new(format!("{shown} is an input file; choose another output file")));
    }
    Ok(())
}

/// Finds the tool of `--tool`.
fn find_tool<'m>(compilation: &Compilation<'m>, name: &str) -> Result<Entry<'m>, Failure> {
    let entries = compilation.entries();
    entries.iter().find(|entry| entry.name() == name).copied().ok_or_else(|| {
        let known = entries.iter().map(|entry| entry.name());
        Failure::unknown_name(&format!("there is no tool `{name}`"), name, known, None)
    })
}

/// Reports the constraints that the target cannot express.
fn report_losses(display: Display, losses: &[Loss]) -> Result<(), Failure> {
    if display.format == Format::Json {
        // A loss serializes as an object with keys that are strings, so this cannot fail.
        let line = |loss| serde_json::to_string(loss).unwrap_or_default() + "\n";
        return output::print(&losses.iter().map(line).collect::<String>());
    }
    let mut out = io::BufWriter::new(io::stderr().lock());
    let mut write = || {
        losses.iter().try_for_each(|loss| writeln!(out, "{loss}"))?;
        match losses.len() {
            0 => writeln!(out, "no losses"),
            1 => writeln!(out, "1 loss"),
            count => writeln!(out, "{count} losses"),
        }?;
        out.flush()
    };
    write().map_err(|error| Failure::output(&error))
}

/// Returns the output path, or a file in it if it is a folder, which is created.
fn in_folder(path: &Path, name: &str) -> Result<PathBuf, Failure> {
    if !is_folder(path) {
        return Ok(path.to_owned());
    }
    create_folder(path)?;
    Ok(path.join(name))
}

fn create_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| Failure::path("create", path, &error))
}

/// Writes the output of a target.
struct Writer<'c> {
    args: &'c Compile,
    compilation: &'c Compilation<'c>,
}

impl Writer<'_> {
    fn write(&self, output: EmittedOutput<'_>) -> Result<(), Failure> {
        let path = self.args.output();
        match output {
            EmittedOutput::Tools(tools) => match (path, self.args.tool.is_some(), &tools[..]) {
                (Some(folder), _, _) if is_folder(folder) => write_folder(folder, &tools),
                (path, true, [tool]) => output::write_json(path, &tool.compiled, self.layout()),
                (path, ..) => self.write_all(path, &tools),
            },
            EmittedOutput::Json { file, value } => {
                let layout =
                    if path.is_some_and(is_folder) { Layout::Pretty } else { self.layout() };
                let path = path.map(|path| in_folder(path, &file)).transpose()?;
                output::write_json(path.as_deref(), &value, layout)
            }
            EmittedOutput::Text { file, text } => {
                let path = path.map(|path| in_folder(path, &file)).transpose()?;
                output::write_to(path.as_deref(), |out| out.write_all(text.as_bytes()))
            }
            EmittedOutput::Texts(texts) => {
                let folder = path.unwrap_or(Path::new("."));
                create_folder(folder)?;
                texts.iter().try_for_each(|ToolText { tool, extension, text }| {
                    let path = folder.join(format!("{}.{extension}", file_name(tool)));
                    output::write_to(Some(&path), |out| out.write_all(text.as_bytes()))
                })
            }
        }
    }

    /// Writes all tools together, one per line or indented.
    fn write_all(&self, path: Option<&Path>, tools: &[EmittedTool<'_>]) -> Result<(), Failure> {
        if self.layout() == Layout::Pretty {
            return output::write_json(path, &self.compilation.request(), Layout::Pretty);
        }
        let keyed = self.compilation.is_keyed();
        output::write_lines(path, self.compilation.brackets(), tools, |line, tool| {
            if keyed {
                serde_json::to_writer(&mut *line, tool.name)?;
                line.push(b':');
            }
            Ok(serde_json::to_writer(line, &tool.compiled)?)
        })
    }

    fn layout(&self) -> Layout {
        if self.args.pretty { Layout::Pretty } else { Layout::Line }
    }
}

/// Writes one file per tool, and one for mapped names.
fn write_folder(folder: &Path, tools: &[EmittedTool<'_>]) -> Result<(), Failure> {
    create_folder(folder)?;
    for tool in tools {
        let mut name = format!("{}.json", file_name(tool.name));
        if name == NAMES {
            // Percent-encoded, unlike the name of any other tool's file.
            "%6Eames.json".clone_into(&mut name);
        }
        output::write_json(Some(&folder.join(name)), &tool.compiled, Layout::Pretty)?;
    }
    let names = MappedNames::of(tools);
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

/// The mapped names of tools, and of properties by tool and path.
#[derive(Default, Serialize)]
struct MappedNames {
    tools: Map<String, Value>,
    properties: Map<String, Value>,
}

impl MappedNames {
    fn of(tools: &[EmittedTool<'_>]) -> Self {
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
