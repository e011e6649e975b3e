//! What a request handler takes and gives.

use std::sync::Arc;

use lsp_server::{ErrorCode, ResponseError};

use crate::client::Client;
use crate::file::File;
use crate::position::Positions;
use crate::snapshot::Snapshot;

/// The code and message of a failed request.
#[derive(Debug)]
pub(crate) struct RequestError(pub(crate) ErrorCode, pub(crate) String);

impl RequestError {
    /// Invalid parameters.
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Self(ErrorCode::InvalidParams, why.into())
    }

    /// A valid request that cannot be fulfilled.
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self(ErrorCode::RequestFailed, why.into())
    }
}

impl From<RequestError> for ResponseError {
    fn from(RequestError(code, message): RequestError) -> Self {
        Self { code: code as i32, message, data: None }
    }
}

pub(crate) type RequestResult<T> = Result<T, RequestError>;

/// The input of a request handler: a snapshot of the project and the document of the request.
#[derive(Debug)]
pub(crate) struct RequestContext {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) client: Arc<Client>,
    /// The index of the document in the snapshot.
    pub(crate) number: usize,
    pub(crate) file: Arc<File>,
}

impl RequestContext {
    /// Converts offsets and positions in the document.
    pub(crate) fn positions(&self) -> Positions<'_> {
        self.file.positions(self.snapshot.encoding)
    }
}
