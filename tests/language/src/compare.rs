//! The comparison of our parser with the reference on one text.
//!
//! The rule has three parts. What the reference accepts, we accept without the use of an
//! extension and with the same tree. What we accept without an extension, the reference accepts.
//! What we accept by an extension, the reference rejects, and the extension is one that the
//! caller has listed.

use std::cell::Cell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use gramc_syntax::{Diagnostic, Extension, SourceFile};

use crate::reference;
use crate::shrink::shrink;

/// What our parser says about a text.
#[derive(Debug, Clone)]
pub struct Ours {
    /// Whether there is no error among the diagnostics.
    pub accepted: bool,
    /// Whether the list of diagnostics is empty, which a text with errors never allows.
    pub silent: bool,
    /// The tree in the reference's S-expression form.
    pub sexp: String,
    /// The extensions used, in order and with repetitions.
    pub extensions: Vec<Extension>,
    /// The tokens' texts, one after the other.
    pub tokens: String,
    /// What a label or an edit of a diagnostic points at and is no part of the text.
    pub outside: Option<String>,
}

/// What both parsers agree on.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Both accept, with this tree.
    Accepted(String),
    /// Both reject.
    Rejected,
    /// The reference rejects, and we read these extensions.
    Extended(Vec<Extension>),
}

/// Why the two parsers disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// Our parser panicked, with this message.
    Panic(String),
    /// The reference accepts and we reject.
    Rejects,
    /// Both accept, and the trees differ.
    Tree,
    /// We accept without an extension, and the reference rejects.
    Accepts,
    /// The reference accepts, and we claim the use of an extension.
    Claims(Extension),
    /// The reference rejects, and we accept by an extension that is not listed.
    Unlisted(Extension),
    /// The tokens' texts do not add up to the input.
    Tokens,
    /// There are errors and no diagnostic.
    Silent,
    /// A diagnostic points at what is no part of the text.
    Outside(String),
}

impl Mismatch {
    /// The same kind of disagreement, whatever its details: what a shrunk text must keep.
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(message) => write!(f, "our parser panics: {message}"),
            Self::Rejects => f.write_str("the reference accepts, we reject"),
            Self::Tree => f.write_str("both accept, the trees differ"),
            Self::Accepts => f.write_str("the reference rejects, we accept"),
            Self::Claims(extension) => {
                write!(f, "the reference accepts, we claim the extension {extension:?}")
            }
            Self::Unlisted(extension) => {
                write!(f, "the extension {extension:?} is in no list of deviations")
            }
            Self::Tokens => f.write_str("the tokens do not add up to the input"),
            Self::Silent => f.write_str("there are errors and no diagnostic"),
            Self::Outside(what) => write!(f, "{what} is no part of the text"),
        }
    }
}

thread_local! {
    /// Set while a panic is expected to be caught, so that it does not flood the report.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The first label or edit of a diagnostic that does not lie in the text.
fn outside(text: &str, found: &Diagnostic) -> Option<String> {
    let labels = found.labels.iter().map(|label| label.span);
    let edits = found.fixes.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
    let span = labels.chain(edits).find(|span| text.get(span.range()).is_none())?;
    Some(format!("{span:?} of `{}`", found.code.name))
}

/// Parses `text` with our parser; a panic is an `Err` with its message.
pub fn parse_ours(text: &str) -> Result<Ours, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let ours = panic::catch_unwind(AssertUnwindSafe(|| {
        let parse = gramc_syntax::parse(SourceFile::new("case.gram", text));
        Ours {
            accepted: !parse.has_errors(),
            silent: parse.diagnostics().is_empty(),
            sexp: parse.sexp(),
            extensions: parse.extensions().iter().map(|used| used.kind).collect(),
            tokens: parse.tree().token_texts().collect(),
            outside: parse.diagnostics().iter().find_map(|found| outside(text, found)),
        }
    }));
    QUIET.set(false);
    ours.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("?").to_owned()
    })
}

/// Compares both parsers on `text`; `allowed` lists the extensions that may be read.
pub fn compare(text: &str, allowed: &[Extension]) -> Result<Outcome, Mismatch> {
    let ours = parse_ours(text).map_err(Mismatch::Panic)?;
    if ours.tokens != text {
        return Err(Mismatch::Tokens);
    }
    if !ours.accepted && ours.silent {
        return Err(Mismatch::Silent);
    }
    if let Some(what) = ours.outside {
        return Err(Mismatch::Outside(what));
    }
    let theirs = reference::parse(text);
    match (theirs.accepted, ours.accepted) {
        (true, false) => Err(Mismatch::Rejects),
        (true, true) => match ours.extensions.first() {
            Some(&extension) => Err(Mismatch::Claims(extension)),
            None if ours.sexp != theirs.sexp => Err(Mismatch::Tree),
            None => Ok(Outcome::Accepted(theirs.sexp)),
        },
        (false, true) => match ours.extensions.iter().find(|used| !allowed.contains(used)) {
            Some(&extension) => Err(Mismatch::Unlisted(extension)),
            None if ours.extensions.is_empty() => Err(Mismatch::Accepts),
            None => Ok(Outcome::Extended(ours.extensions)),
        },
        (false, false) => Ok(Outcome::Rejected),
    }
}

/// A small text that shows the same disagreement as `text`.
pub fn smallest(text: &str, mismatch: &Mismatch, allowed: &[Extension]) -> String {
    shrink(text, |candidate| {
        compare(candidate, allowed).is_err_and(|found| found.is_like(mismatch))
    })
}

/// A report of a mismatch on `text`, of which `small` shows the same disagreement.
pub fn report(name: &str, text: &str, small: &str, mismatch: &Mismatch) -> String {
    let theirs = reference::parse(small);
    let ours = match parse_ours(small) {
        Ok(ours) => format!(
            "{} {:?}\n    {}",
            if ours.accepted { "accepts" } else { "rejects" },
            ours.extensions,
            ours.sexp
        ),
        Err(message) => format!("panics: {message}"),
    };
    // A document of more than a few lines does not help beside its small text.
    let whole: String = text.chars().take(2_000).collect();
    format!(
        "{name}: {mismatch}\n  small: {small:?}\n  reference: {}\n    {}\n  ours: {ours}\n  \
         text: {whole:?}\n",
        if theirs.accepted { "accepts" } else { "rejects" },
        theirs.sexp
    )
}
