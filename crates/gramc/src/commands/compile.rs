//! `gramc compile`

mod grammar;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use gram_schema::Target;
use gram_schema::emit::{Compilation, Compiled, Options};
use gram_schema::lower::{Became, Loss, request_limits};
use gram_syntax::Severity;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{self, Compile, CompileTarget, Display, Format};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::{self, Layout};
use crate::{input, report};

pub(super) fn run(args: &Compile, display: Display) -> Outcome {
    let losses_alone = args.losses && display.format == Format::Json;
    if args.output.is_none() && !losses_alone {
        report::reserve_stdout(display, "write the tools to a file with -o")?;
    }
    let texts = input::read(&args.inputs)?;
    refuse_to_overwrite_sources(args, &texts)?;
    let mut checked = texts.check();
    // Who compiles wants to know what is wrong; `check` tells what is worth knowing besides.
    checked.diagnostics.retain(|found| found.severity > Severity::Note);
    report::show(display, &checked.diagnostics)?;
    let Some(module) = checked.module else { return Ok(PROBLEMS) };
    let (target, syntax) = match args.target {
        CompileTarget::Tools(target) => (target, None),
        // Grammars are derived from the schemas.
        CompileTarget::Grammar(syntax) => (Target::JsonSchema, Some(syntax)),
    };
    let options = Options {
        target,
        draft: match args.draft {
            args::Draft::Draft2020 => gram_schema::Draft::Draft2020,
            args::Draft::Draft7 => gram_schema::Draft::Draft7,
        },
        files: 0..texts.named,
        expanded: args.expanded || args.tool.is_some(),
    };
    let compilation = Compilation::new(&module, &options);
    let entries = match &args.tool {
        Some(name) => one(&compilation, name)?,
        None => compilation.entries().to_vec(),
    };
    if let Some(syntax) = syntax {
        return grammar::run(args, display, syntax, &compilation, &entries);
    }
    let tools = output::map_in_parallel(&entries, |entry| Tool {
        name: entry.name(),
        compiled: compilation.compile(*entry),
    });
    excesses(target, &tools)?;
    if args.losses {
        let all: Vec<&Loss> = tools.iter().flat_map(|tool| tool.compiled.losses()).collect();
        losses(display, &all)?;
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
fn refuse_to_overwrite_sources(args: &Compile, texts: &input::Texts) -> Result<(), Failure> {
    let Some(output) = args.output.as_deref().and_then(|path| path.canonicalize().ok()) else {
        return Ok(());
    };
    let same = |text: &gram_syntax::Parse| {
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
) -> Result<Vec<gram_schema::emit::Entry<'m>>, Failure> {
    let entries = compilation.entries();
    if let Some(entry) = entries.iter().find(|entry| entry.name() == name) {
        return Ok(vec![*entry]);
    }
    let help = gram_model::did_you_mean(name, entries.iter().map(|entry| entry.name()));
    let help = help.map(|help| format!("; {help}")).unwrap_or_default();
    Err(Failure::new(format!("there is no tool `{name}`{help}")))
}

/// Says which limits of a whole request the tools are beyond.
fn excesses(target: Target, tools: &[Tool<'_>]) -> Result<(), Failure> {
    let values: Vec<&Value> = tools.iter().filter_map(|tool| tool.compiled.json()).collect();
    let mut out = io::stderr().lock();
    for excess in request_limits(target.spec(), &values) {
        writeln!(out, "warning: {}: {excess}", target.name())
            .map_err(|error| Failure::output(&error))?;
    }
    Ok(())
}

/// Says what the target could not hold.
fn losses(display: Display, losses: &[&Loss]) -> Result<(), Failure> {
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
        for loss in losses {
            writeln!(out, "{loss}")?;
        }
        match losses.len() {
            0 => writeln!(out, "no losses"),
            1 => writeln!(out, "1 loss"),
            count => writeln!(out, "{count} losses"),
        }?;
        out.flush()
    };
    write().map_err(|error| Failure::output(&error))
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
            (Some(path), true, [tool]) => output::save_json(path, &tool.compiled, self.layout()),
            (None, true, [tool]) => output::print_json(&tool.compiled, self.layout()),
            (output, ..) => self.all(output),
        }
    }

    /// All tools together, one a line or indented.
    fn all(&self, output: Option<&Path>) -> Result<(), Failure> {
        if self.layout() == Layout::Pretty {
            let request = self.compilation.request();
            return match output {
                Some(path) => output::save_json(path, &request, Layout::Pretty),
                None => output::print_json(&request, Layout::Pretty),
            };
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
            let path = folder.join(name);
            output::save_json(&path, &tool.compiled, Layout::Pretty)?;
        }
        let names = MappedNames::of(self.tools);
        let path = folder.join(NAMES);
        if !names.is_empty() {
            return output::save_json(&path, &names, Layout::Pretty);
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
