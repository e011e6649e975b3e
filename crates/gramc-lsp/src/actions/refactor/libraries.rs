//! Libraries for tools that no library implements.

use gramc_check::names::{Declaration, Kind};
use gramc_model::print::{identifier, string};
use gramc_syntax::{Edit, Span};

use crate::request::RequestContext;
use crate::runnables::implemented_tools;

/// What a new library implements tools with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stub {
    /// Programs, which are to be written.
    Programs,
    /// Made-up answers.
    Fakes,
}

impl Stub {
    const fn library(self) -> &'static str {
        match self {
            Self::Programs => "programs",
            Self::Fakes => "fakes",
        }
    }

    fn implementation(self, tool: &Declaration) -> String {
        let name = identifier(&tool.name);
        match self {
            Self::Programs => {
                let program = string(&format!("./{}", tool.name));
                format!("  ({name}:Command {{run: [{program}]}})")
            }
            Self::Fakes => format!("  ({name}:Fake)"),
        }
    }
}

/// A library for the tools of the file that no library implements, if a tool is at the offset. The number
/// of its tools, and the edit.
pub(super) fn library(cx: &RequestContext, at: u32, stub: Stub) -> Option<(usize, Edit)> {
    cx.declaration_at(at).filter(|(_, one)| one.kind == Kind::Tool)?;
    let names = cx.snapshot.names();
    let implemented = implemented_tools(cx);
    let tools = cx.declarations().iter().filter(|one| one.kind == Kind::Tool);
    let tools: Vec<_> = tools.filter(|one| !implemented.contains(&one.name)).collect();
    if tools.is_empty() {
        return None;
    }
    let taken = |name: &str| names.all().any(|(_, one)| one.name == name);
    let own_name = stub.library();
    let numbered = (2..).map(|n| format!("{own_name}{n}"));
    let name = std::iter::once(own_name.to_owned()).chain(numbered).find(|it| !taken(it))?;
    let entries: Vec<_> = tools.iter().map(|tool| stub.implementation(tool)).collect();
    let end = cx.file.text().trim_end().len();
    let text = format!("\n\n[{name}:Library |\n{}\n]", entries.join(",\n"));
    Some((tools.len(), Edit { span: Span::from(end..end), text }))
}
