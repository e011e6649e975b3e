//! `gramc generate`

use std::fs;
use std::io;
use std::path::Path;

use gramc_codegen::{GeneratedFile, Interface, generate};
use gramc_project::ValidTexts;

use super::watch;
use crate::args::{Display, Generate};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::say;
use crate::{output, source};

pub(super) fn run(args: &Generate, display: Display) -> Outcome {
    if args.watch {
        return watch::repeat(&args.inputs, || generate_files(args, display));
    }
    generate_files(args, display)
}

fn generate_files(args: &Generate, display: Display) -> Outcome {
    let language = args.language()?;
    let texts = source::texts(&args.inputs, &args.live, display)?;
    let valid = source::check_without_notes(texts, display)?;
    let Some(ValidTexts { module, texts }) = valid else { return Ok(PROBLEMS) };
    let interface = Interface::new(&module, texts.named, language);
    if interface.is_empty() {
        return Err(Failure::new("there are no tools to generate code for"));
    }
    let files = generate(&interface, language, &format!("{}.gram", texts.title()));
    if args.check { check(&args.output, &files) } else { write(&args.output, &files) }
}

fn write(folder: &Path, files: &[GeneratedFile]) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| Failure::path("create", folder, &error))?;
    for file in files {
        let path = folder.join(&file.name);
        if path.exists() {
            if file.is_skeleton {
                continue;
            }
            refuse_what_is_not_generated(&path)?;
        }
        fs::write(&path, &file.text).map_err(|error| Failure::path("write", &path, &error))?;
    }
    Ok(CLEAN)
}

/// The words in the first line of a generated file.
const MARK: &str = "Written by `gramc generate";

/// Refuses to replace a file that is not generated.
fn refuse_what_is_not_generated(path: &Path) -> Result<(), Failure> {
    if output::has_mark(path, MARK)? {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} was not written by `gramc generate`; choose another folder",
        path.display()
    )))
}

/// Whether the files on disk are up to date. A skeleton is the user's.
fn check(folder: &Path, files: &[GeneratedFile]) -> Outcome {
    let mut outcome = CLEAN;
    for file in files.iter().filter(|file| !file.is_skeleton) {
        let path = folder.join(&file.name);
        let problem = match fs::read(&path) {
            // A checkout may have other line ends.
            Ok(bytes) if String::from_utf8_lossy(&bytes).replace("\r\n", "\n") == file.text => {
                continue;
            }
            Ok(_) => "is out of date",
            Err(error) if error.kind() == io::ErrorKind::NotFound => "does not exist",
            Err(error) => return Err(Failure::path("read", &path, &error)),
        };
        say(format_args!("gramc: {} {problem}: run `gramc generate`", path.display()));
        outcome = PROBLEMS;
    }
    Ok(outcome)
}
