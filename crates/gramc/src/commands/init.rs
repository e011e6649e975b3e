//! `gramc init`

use std::fs;
use std::path::{Path, PathBuf};

use gramc_model::print::identifier;

use super::import;
use crate::args::{Color, Display, Format, Import, Init};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::{output, source};

const SPECIFICATION: &str = "tools.gram";
const LIBRARY: &str = "library.gram";

/// The files that do not depend on the tools.
const FILES: [(&str, &str); 3] = [
    ("gram.toml", include_str!("init/gram.toml")),
    (".github/workflows/gramc.yml", include_str!("init/workflow.yml")),
    (".claude/skills/gramc/SKILL.md", include_str!("../skill/SKILL.md")),
];

pub(super) fn run(args: &Init) -> Outcome {
    let project = Project { folder: &args.folder };
    let server = args.live.server().is_named();
    let (specification, library) = (project.path(SPECIFICATION), project.path(LIBRARY));
    if args.from.is_none() && !server {
        project.write(SPECIFICATION, include_str!("init/tools.gram"))?;
        project.write(LIBRARY, include_str!("init/library.gram"))?;
    } else if specification.exists() {
        project.report(SPECIFICATION, false)?;
    } else {
        fs::create_dir_all(&args.folder)
            .map_err(|error| Failure::path("create", &args.folder, &error))?;
        let (from, live) = (args.from.clone(), args.live.clone());
        let outcome = import::run(Import::into_files(from, live, specification, library.clone()))?;
        if outcome != CLEAN {
            return Ok(outcome);
        }
        project.report(SPECIFICATION, true)?;
        if library.exists() {
            project.report(LIBRARY, true)?;
        } else {
            let Some(text) = fakes(&project.path(SPECIFICATION))? else { return Ok(PROBLEMS) };
            project.write(LIBRARY, &text)?;
        }
    }
    for (name, text) in FILES {
        project.write(name, text)?;
    }
    let folder = match args.folder.to_str() {
        Some(".") | None => String::new(),
        Some(folder) => format!("cd {folder}\n"),
    };
    let next = format!(
        "\nNext:\n{folder}gramc check\ngramc list\ngramc test {SPECIFICATION} --library {LIBRARY}\n"
    );
    output::print(&next)?;
    Ok(CLEAN)
}

/// A library that makes up the results of all tools.
fn fakes(specification: &Path) -> Result<Option<String>, Failure> {
    let display = Display { format: Format::Human, color: Color::Auto, errors_only: true };
    let Some(read) = source::read(specification, display)? else { return Ok(None) };
    let tools = read.module.tools.iter().map(|tool| format!("({}:Fake)", identifier(&tool.name)));
    let tools = tools.collect::<Vec<_>>().join(",\n  ");
    Ok(Some(format!(
        "// Replace the made-up results by implementations.\n[library:Library |\n  {tools}\n]\n"
    )))
}

struct Project<'p> {
    folder: &'p Path,
}

impl Project<'_> {
    fn path(&self, name: &str) -> PathBuf {
        if self.folder == Path::new(".") { name.into() } else { self.folder.join(name) }
    }

    /// Writes a file, unless it exists.
    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.path(name);
        let is_new = !path.exists();
        if is_new {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)
                    .map_err(|error| Failure::path("create", folder, &error))?;
            }
            fs::write(&path, text).map_err(|error| Failure::path("write", &path, &error))?;
        }
        self.report(name, is_new)
    }

    fn report(&self, name: &str, is_new: bool) -> Result<(), Failure> {
        let verb = if is_new { "wrote" } else { "kept" };
        output::print(&format!("{verb} {}\n", self.path(name).display()))
    }
}
