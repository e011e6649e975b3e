//! `gramc explain`

use gram_schema::Target;
use gram_syntax::Code;

use crate::args::Explain;
use crate::failure::{CLEAN, Failure, Outcome};
use crate::output;

pub(super) fn run(args: &Explain) -> Outcome {
    let text = match &args.code {
        Some(name) => page(name)?,
        None => list(),
    };
    output::print(&text)?;
    Ok(CLEAN)
}

fn codes() -> impl Iterator<Item = &'static Code> {
    gram_schema::codes::all()
}

fn page(name: &str) -> Result<String, Failure> {
    if let Some(code) = codes().find(|code| code.name == name) {
        return Ok(format!("{}\n", code.page.trim_end()));
    }
    if let Some(target) = Target::from_name(name) {
        return Ok(gram_schema::lower::page(target));
    }
    let targets = Target::ALL.map(Target::name);
    let known = codes().map(|code| code.name).chain(targets);
    let help = gram_schema::did_you_mean(name, known);
    let help = help.unwrap_or_else(|| "gramc explain lists all codes".to_owned());
    Err(Failure::new(format!("there is no code or target `{name}`; {help}")))
}

fn list() -> String {
    let mut codes: Vec<_> = codes().collect();
    codes.sort_by_key(|code| code.name);
    let width = codes.iter().map(|code| code.name.len()).max().unwrap_or_default();
    let line = |code: &&Code| format!("{:width$}  {}", code.name, code.summary());
    codes.iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
}
