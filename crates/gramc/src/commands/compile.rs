//! `gramc compile`

use std::fmt::Write as _;
use std::path::Path;

use gram_schema::model::Tool;
use gram_schema::{Module, Valid};

use crate::args::{self, Compile, Display};
use crate::failure::{CLEAN, FINDINGS, Failure, Outcome};
use crate::output::{self, Layout};
use crate::{input, report};

pub(super) fn run(args: &Compile, display: Display) -> Outcome {
    let texts = input::read(&args.inputs)?;
    let checked = gram_schema::check(texts);
    report::show(display, &checked.diagnostics)?;
    let Some(module) = checked.module else { return Ok(FINDINGS) };
    let module: &'static Valid<Module> = Box::leak(Box::new(module));
    let compiled = Compiled {
        module,
        target: target(args.target),
        draft: match args.draft {
            args::Draft::Draft2020 => gram_schema::Draft::Draft2020,
            args::Draft::Draft7 => gram_schema::Draft::Draft7,
        },
        pretty: args.pretty,
    };
    match (&args.tool, &args.output) {
        (Some(name), output) => compiled.one(name, output.as_deref())?,
        (None, Some(folder)) if is_folder(folder) => compiled.folder(folder, texts.len())?,
        (None, output) => compiled.all(output.as_deref(), texts.len())?,
    }
    Ok(CLEAN)
}

fn target(target: args::Target) -> gram_schema::Target {
    match target {
        args::Target::JsonSchema => gram_schema::Target::JsonSchema,
        args::Target::OpenAi => gram_schema::Target::OpenAi,
        args::Target::OpenAiFunctions => gram_schema::Target::OpenAiFunctions,
    }
}

/// Whether an output path means a folder: it ends with a slash, or is one.
fn is_folder(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]) || path.is_dir()
}

struct Compiled {
    module: &'static Valid<Module>,
    target: gram_schema::Target,
    draft: gram_schema::Draft,
    pretty: bool,
}

impl Compiled {
    /// All tools together, one a line or indented.
    fn all(&self, output: Option<&Path>, files: usize) -> Result<(), Failure> {
        let tools = self.target.tools(self.module, 0..files, self.draft);
        if self.layout() == Layout::Pretty {
            return match output {
                Some(path) => output::save_json(path, &tools, Layout::Pretty),
                None => output::print_json(&tools, Layout::Pretty),
            };
        }
        let keyed = self.target.is_keyed();
        let brackets = if keyed { ("{", "}") } else { ("[", "]") };
        let tools: Vec<_> = tools.iter().collect();
        output::write_lines(output, brackets, &tools, |line, tool| {
            if keyed {
                serde_json::to_writer(&mut *line, &*tool.name)?;
                line.push(b':');
            }
            Ok(serde_json::to_writer(line, &self.target.tool(tool, self.draft))?)
        })
    }

    /// One tool alone.
    fn one(&self, name: &str, output: Option<&Path>) -> Result<(), Failure> {
        let Some(tool) = self.module.tool(name) else {
            let names = self.module.tools.iter().map(|tool| tool.name.as_str());
            let help = gram_schema::did_you_mean(name, names);
            let help = help.map(|help| format!("; {help}")).unwrap_or_default();
            return Err(Failure::new(format!("there is no tool `{name}`{help}")));
        };
        let compiled = self.target.tool(tool, self.draft);
        let layout = self.layout();
        match output {
            Some(folder) if is_folder(folder) => self.file(folder, tool),
            Some(path) => output::save_json(path, &compiled, layout),
            None => output::print_json(&compiled, layout),
        }
    }

    /// One file a tool.
    fn folder(&self, folder: &Path, files: usize) -> Result<(), Failure> {
        for tool in self.target.tools(self.module, 0..files, self.draft).iter() {
            self.file(folder, tool)?;
        }
        Ok(())
    }

    fn file(&self, folder: &Path, tool: &Tool) -> Result<(), Failure> {
        std::fs::create_dir_all(folder).map_err(|error| Failure::path("make", folder, &error))?;
        let path = folder.join(format!("{}.json", file_name(&tool.name)));
        output::save_json(&path, &self.target.tool(tool, self.draft), Layout::Pretty)
    }

    fn layout(&self) -> Layout {
        if self.pretty { Layout::Pretty } else { Layout::Line }
    }
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
