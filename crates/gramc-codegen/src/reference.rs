//! The reference of a specification as HTML pages.
//!
//! [`reference()`] makes an overview with a search, and a page for each tool, type and other declaration.
//! The pages refer to each other and to nothing else. They can be read without JavaScript; the search needs
//! it. Nothing here reads or writes files.

mod code;
mod declaration;
mod forms;
mod layout;
mod overview;
mod site;
mod tool;

use gramc_check::Valid;
use gramc_model::Module;
use rayon::prelude::*;

use forms::Forms;
use site::Site;

pub use site::ReferenceOptions;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The name of its file.
    pub name: String,
    /// Its text.
    pub html: String,
}

/// The pages of a specification: `index.html`, then those of the declarations.
pub fn reference(module: &Valid<Module>, options: &ReferenceOptions<'_>) -> Vec<Page> {
    let site = Site::new(module, options);
    let forms = Forms::new(module, options);
    let mut pages = vec![Page { name: "index.html".to_owned(), html: overview::page(&site) }];
    let tools = site.tools.par_iter().filter_map(|tool| {
        let name = site.link(&tool.name, "tool")?.to_owned();
        Some(Page { name, html: tool::page(&site, tool, &forms) })
    });
    pages.par_extend(tools);
    let others = site.declarations.par_iter().filter(|it| it.kind != "tool");
    pages.par_extend(others.map(|declaration| Page {
        name: declaration.file.clone(),
        html: declaration::page(&site, declaration),
    }));
    pages
}

#[cfg(test)]
mod tests;
