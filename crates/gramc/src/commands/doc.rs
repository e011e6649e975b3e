//! `gramc doc`

use std::fs;
use std::io;
use std::path::Path;

use gramc_codegen::reference::{Page, ReferenceOptions, reference};
use gramc_project::ValidTexts;

use super::watch;
use crate::args::{Display, Doc};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::{output, source};

/// The words near the beginning of all pages.
const MARK: &str = "content=\"gramc doc\"";

pub(super) fn run(args: &Doc, display: Display) -> Outcome {
    if args.watch {
        return watch::repeat(&args.inputs, || write_pages(args, display));
    }
    write_pages(args, display)
}

fn write_pages(args: &Doc, display: Display) -> Outcome {
    let texts = source::texts(&args.inputs, &args.live, display)?;
    let valid = source::check_without_notes(texts, display)?;
    let Some(ValidTexts { module, texts }) = valid else { return Ok(PROBLEMS) };
    let name = texts.title();
    let title = args.title.as_deref().unwrap_or(&name);
    let files = 0..texts.named;
    let options = ReferenceOptions { title, files, targets: args.targets() };
    write(&args.output, &reference(&module, &options))?;
    Ok(CLEAN)
}

fn write(folder: &Path, pages: &[Page]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::path("create", folder, &error))?;
    for page in pages {
        let path = folder.join(&page.name);
        if path.exists() && !output::has_mark(&path, MARK)? {
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
        if is_html && !is_current && output::has_mark(&path, MARK)? {
            fs::remove_file(&path).map_err(|error| Failure::path("remove", &path, &error))?;
        }
    }
    Ok(())
}
