//! Diagnostics in the form of the protocol. They are the same as those of `gramc check`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use gramc_lint::Lint;
use gramc_syntax::{Diagnostic, Severity, SourceFile};
use lsp_types as lsp;
use lsp_types::Uri;
use serde::Serialize;

use crate::data_files::data_files;
use crate::document_kind::DocumentKind;
use crate::file::File;
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

/// The `source` of diagnostics.
pub(crate) const SOURCE: &str = "gram";

#[derive(Debug, Clone)]
pub(crate) struct DocumentReport {
    pub(crate) uri: Uri,
    pub(crate) version: Option<i32>,
    /// Identifies the report among those of the same document.
    pub(crate) key: u64,
    place: ReportPlace,
}

/// Where the diagnostics of a document are in a snapshot.
#[derive(Debug, Clone, Copy)]
enum ReportPlace {
    File(usize),
    ProjectFile,
    /// The fences of a Markdown document.
    Fences,
    /// A file of cases or calls.
    Cases(usize),
}

impl ReportPlace {
    /// The diagnostics, with the snapshot that they refer to.
    fn diagnostics(self, snapshot: &Snapshot) -> Vec<(&Snapshot, &Diagnostic)> {
        let own = match self {
            Self::File(at) => snapshot.diagnostics().get(at).map(Vec::as_slice),
            Self::ProjectFile => Some(&*snapshot.project_file().found),
            Self::Cases(at) => data_files(snapshot).get(at).map(|cases| &*cases.found),
            Self::Fences => {
                let fences = snapshot.fences().iter();
                let found =
                    fences.flat_map(|it| it.own_diagnostics().iter().map(|one| (&**it, one)));
                return found.collect();
            }
        };
        own.unwrap_or_default().iter().map(|found| (snapshot, found)).collect()
    }
}

impl DocumentReport {
    /// The id that a client sends back to ask for changes.
    pub(crate) fn result_id(&self) -> String {
        format!("{:016x}", self.key)
    }

    /// The diagnostics in the form of the protocol.
    pub(crate) fn items(&self, snapshot: &Snapshot) -> Vec<lsp::Diagnostic> {
        let found = self.place.diagnostics(snapshot).into_iter();
        found.filter_map(|(snapshot, found)| to_protocol(snapshot, found)).collect()
    }
}

/// The reports of all documents of a project, including the project file and open files of cases and calls.
pub(crate) fn reports(snapshot: &Snapshot) -> Vec<DocumentReport> {
    places(snapshot).map(|(file, place)| report(snapshot, file, place)).collect()
}

/// The documents of a project that have diagnostics. Files of cases come last, because checking them
/// takes longest.
fn places(snapshot: &Snapshot) -> impl Iterator<Item = (&Arc<File>, ReportPlace)> {
    let project_file = snapshot.project_file().file.iter();
    let project_file = project_file.map(|file| (file, ReportPlace::ProjectFile));
    let files = snapshot.files().iter().zip(0..);
    let files = files.map(|(file, at)| (file, ReportPlace::File(at)));
    let markdown = snapshot.project.markdown.iter();
    let markdown = markdown.map(|markdown| (&markdown.file, ReportPlace::Fences));
    let cases = std::iter::once_with(|| data_files(snapshot).iter().zip(0..)).flatten();
    let cases = cases.map(|(cases, at)| (&cases.file, ReportPlace::Cases(at)));
    project_file.chain(files).chain(markdown).chain(cases)
}

fn report(snapshot: &Snapshot, file: &Arc<File>, place: ReportPlace) -> DocumentReport {
    let found = place.diagnostics(snapshot);
    let mut hasher = DefaultHasher::new();
    // Each version of an open document has its own report, even if it is empty, because clients
    // wait for it.
    file.version.hash(&mut hasher);
    // The file ids are part of the key because an offset can move to another line.
    if !found.is_empty() {
        file.id.hash(&mut hasher);
    }
    for (_, one) in found {
        (one.code.name, one.severity, &one.message, &one.help).hash(&mut hasher);
        for label in &one.labels {
            (label.span, &label.message).hash(&mut hasher);
            if let Some(source) = &label.source {
                (source.name(), source.text().len(), Arc::as_ptr(source)).hash(&mut hasher);
            }
        }
    }
    let (uri, version) = (file.uri.clone(), file.version);
    DocumentReport { uri, version, key: hasher.finish(), place }
}

pub(crate) fn own_diagnostics(cx: &RequestContext) -> &[Diagnostic] {
    match cx.file.kind {
        DocumentKind::Project => &cx.snapshot.project_file().found,
        DocumentKind::Data => {
            let mut cases = data_files(&cx.snapshot).iter();
            let own = cases.find(|cases| cases.file.uri == cx.file.uri);
            own.map(|cases| cases.found.as_slice()).unwrap_or_default()
        }
        _ => cx.snapshot.diagnostics().get(cx.number).map(Vec::as_slice).unwrap_or_default(),
    }
}

pub(crate) fn to_protocol(snapshot: &Snapshot, found: &Diagnostic) -> Option<lsp::Diagnostic> {
    let range = |source: &Arc<SourceFile>, span| {
        let file = snapshot.file_of_source(source)?;
        Some(lsp::Location::new(file.uri.clone(), file.positions(snapshot.encoding).range(span)))
    };
    let place = range(&found.source, found.span())?;
    let message = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let more = found.labels.iter().skip(1).filter_map(|label| {
        let source = label.source.as_ref().unwrap_or(&found.source);
        let location = range(source, label.span)?;
        Some(lsp::DiagnosticRelatedInformation { location, message: label.message.clone() })
    });
    let more: Vec<_> = more.collect();
    let tags = tags(found.code.name);
    Some(lsp::Diagnostic {
        range: place.range,
        severity: Some(match found.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Note => lsp::DiagnosticSeverity::INFORMATION,
        }),
        code: Some(lsp::NumberOrString::String(found.code.name.to_owned())),
        // The pages of `gramc explain` are not published, so there is no link.
        code_description: None,
        source: Some(SOURCE.to_owned()),
        message,
        related_information: (!more.is_empty()).then_some(more),
        tags: (!tags.is_empty()).then_some(tags),
        data: None,
    })
}

/// The tags of a code, which change how editors render it.
fn tags(code: &str) -> Vec<lsp::DiagnosticTag> {
    match code {
        "deprecated-use" => vec![lsp::DiagnosticTag::DEPRECATED],
        "unused-type" | "unused-import" | "unused-allow" => vec![lsp::DiagnosticTag::UNNECESSARY],
        _ => Vec::new(),
    }
}

/// The response to a request for diagnostics: all of them, or the id of those that the client has.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Report {
    Full {
        #[serde(skip_serializing_if = "Option::is_none")]
        result_id: Option<String>,
        items: Vec<lsp::Diagnostic>,
    },
    Unchanged {
        result_id: String,
    },
}

#[derive(Debug, Serialize)]
pub(crate) struct WorkspaceReport {
    uri: String,
    version: Option<i32>,
    #[serde(flatten)]
    report: Report,
}

impl Report {
    const EMPTY: Self = Self::Full { result_id: None, items: Vec::new() };

    /// The report of a document. `before` is the id of the last report that the client has.
    fn of(snapshot: &Snapshot, report: &DocumentReport, before: Option<&str>) -> Self {
        let result_id = report.result_id();
        if before == Some(result_id.as_str()) {
            return Self::Unchanged { result_id };
        }
        Self::Full { result_id: Some(result_id), items: report.items(snapshot) }
    }
}

/// `textDocument/diagnostic`
pub(crate) fn pull(cx: &RequestContext, params: lsp::DocumentDiagnosticParams) -> Report {
    let own = places(&cx.snapshot).find(|(file, _)| file.uri == cx.file.uri);
    let before = params.previous_result_id.as_deref();
    own.map_or(Report::EMPTY, |(file, place)| {
        Report::of(&cx.snapshot, &report(&cx.snapshot, file, place), before)
    })
}

/// `workspace/diagnostic`: the reports that changed since the client's previous request.
pub(crate) fn pull_all(
    snapshots: &[Arc<Snapshot>],
    params: &lsp::WorkspaceDiagnosticParams,
) -> Vec<WorkspaceReport> {
    let known = params.previous_result_ids.iter();
    let mut known: BTreeMap<_, _> =
        known.map(|known| (known.uri.as_str().to_owned(), known.value.as_str())).collect();
    let mut items = Vec::new();
    for snapshot in snapshots {
        for document in reports(snapshot) {
            let before = known.remove(document.uri.as_str());
            let report = Report::of(snapshot, &document, before);
            let uri = document.uri.as_str().to_owned();
            items.push(WorkspaceReport { uri, version: document.version, report });
        }
    }
    // Removed documents get an empty report.
    let removed = known.into_keys();
    items.extend(removed.map(|uri| WorkspaceReport { uri, version: None, report: Report::EMPTY }));
    items
}

/// The explanation of a code or a target.
pub(crate) fn explanation(name: &str) -> Option<String> {
    let code = gramc_lint::all_codes().find(|code| code.name == name)?;
    let mut page = format!("{}\n", code.page.trim_end());
    if let Some(rule) = Lint::of(name) {
        let _ = writeln!(page, "\nLevel: {}", rule.level.name());
    }
    Some(page)
}
