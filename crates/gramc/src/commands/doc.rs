//! `gramc doc`

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use gram_doc::{Page, ReferenceOptions, reference};
use gram_syntax::Severity;

use crate::args::{Display, Doc};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::{input, report};

/// The words near the beginning of all pages.
const MARK: &str = "content=\"gramc doc\"";

/// The number of bytes that have the mark.
const MARK_WITHIN: u64 = 1000;

pub(super) fn run(args: &Doc, display: Display) -> Outcome {
    let texts = input::read(&args.inputs)?;
    let mut checked = texts.check();
    // `gramc check` also shows notes.
    checked.diagnostics.retain(|found| found.severity > Severity::Note);
    report::show(display, &checked.diagnostics)?;
    let Some(module) = checked.module else { return Ok(PROBLEMS) };
    let name = texts.title();
    let title = args.title.as_deref().unwrap_or(&name);
    let files = 0..texts.named;
    let options = ReferenceOptions { title, files, targets: args.targets() };
    write(&args.output, &reference(&module, &options))?;
    Ok(CLEAN)
}

fn write(folder: &Path, pages: &[Page]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::path("make", folder, &error))?;
    for page in pages {
        let path = folder.join(&page.name);
        if path.exists() && !is_page(&path)? {
            return Err(Failure::new(format!(
                "{} was not written by `gramc doc`; choose another folder",
                path.display()
            )));
        }
        fs::write(&path, &page.html).map_err(|error| Failure::path("write", &path, &error))?;
    }
    remove_others(folder, pages)
}

/// Removes the pages of declarations that no longer exist.
fn remove_others(folder: &Path, pages: &[Page]) -> Result<(), Failure> {
    let failed = |error: &io::Error| Failure::path("read", folder, error);
    for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        let is_html = path.extension().is_some_and(|extension| extension == "html");
        let is_current = pages.iter().any(|page| path.ends_with(&page.name));
        if is_html && !is_current && is_page(&path)? {
            fs::remove_file(&path).map_err(|error| Failure::path("remove", &path, &error))?;
        }
    }
    Ok(())
}

/// Whether a file is a page of a reference.
fn is_page(path: &Path) -> Result<bool, Failure> {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MARK_WITHIN).read_to_end(&mut start));
    read.map_err(|error| Failure::path("read", path, &error))?;
    Ok(String::from_utf8_lossy(&start).contains(MARK))
}
