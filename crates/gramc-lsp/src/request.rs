//! The input and the errors of request handlers.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use gramc_check::names::{Declaration, Found, Kind};
use gramc_syntax::{Span, Tree};
use lsp_types::{Range, Uri};
use serde_json::Value;

use crate::client::Client;
use crate::file::File;
use crate::message::{ErrorCode, ResponseError};
use crate::position::Positions;
use crate::snapshot::Snapshot;

/// The error of a request, whose message is for people.
#[derive(Debug)]
pub struct RequestError(pub(crate) ErrorCode, pub(crate) String);

impl Display for RequestError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.1)
    }
}

impl Error for RequestError {}

impl RequestError {
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Self(ErrorCode::InvalidParams, why.into())
    }

    /// A valid request that cannot be fulfilled.
    pub(crate) fn failure(why: impl Into<String>) -> Self {
        Self(ErrorCode::RequestFailed, why.into())
    }
}

impl From<RequestError> for ResponseError {
    fn from(error: RequestError) -> Self {
        Self { code: error.0 as i32, message: error.1 }
    }
}

pub(crate) type RequestResult<T> = Result<T, RequestError>;

/// The input of a request handler: a snapshot of the project and the document of the request.
#[derive(Debug)]
pub(crate) struct RequestContext {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) client: Arc<Client>,
    /// The index of the document in the snapshot. Larger than that of any file if it is not gram.
    pub(crate) number: usize,
    pub(crate) file: Arc<File>,
}

impl RequestContext {
    /// The context of a request with these parameters. In Markdown, it is that of the fence that they
    /// refer to.
    pub(crate) fn new(
        snapshot: Arc<Snapshot>,
        client: Arc<Client>,
        uri: &Uri,
        params: &Value,
    ) -> Option<Self> {
        let files = &snapshot.project.files;
        if let Some(number) = files.iter().position(|file| file.uri == *uri) {
            let file = Arc::clone(files.get(number)?);
            return Some(Self { snapshot, client, number, file });
        }
        let number = usize::MAX;
        if let Some(markdown) = &snapshot.project.markdown {
            let line =
                params.pointer("/position/line").or_else(|| params.pointer("/range/start/line"));
            let line = line.and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
            if let Some(fence) = line.and_then(|line| snapshot.fence_at(line)) {
                return Self::new(Arc::clone(fence), client, uri, params);
            }
            let file = Arc::clone(&markdown.file);
            return Some(Self { snapshot, client, number, file });
        }
        let others = snapshot.project_file().file.iter().chain(snapshot.project.open_data.values());
        let file = others.into_iter().find(|file| file.uri == *uri).map(Arc::clone)?;
        Some(Self { snapshot, client, number, file })
    }

    pub(crate) fn declarations(&self) -> &[Declaration] {
        self.snapshot.names().of(self.number)
    }

    /// The innermost declaration around an offset.
    pub(crate) fn declaration_at(&self, at: u32) -> Option<(Found, &Declaration)> {
        let own = self.declarations();
        let index = own.iter().rposition(|one| one.span.touches(Span::empty(at)))?;
        Some((Found { file: self.number, at: index }, own.get(index)?))
    }

    pub(crate) fn find(&self, kind: Kind, name: &str) -> Option<Found> {
        let mut own = self.declarations().iter();
        let at = own.position(|one| one.kind == kind && one.name == name)?;
        Some(Found { file: self.number, at })
    }

    pub(crate) fn tree(&self) -> &Tree {
        self.file.parse().tree()
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        self.positions().range(span)
    }

    pub(crate) fn positions(&self) -> Positions<'_> {
        self.file.positions(self.snapshot.encoding)
    }
}
