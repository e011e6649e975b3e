//! Requests, which run on worker threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::{PendingRequest, Server, ServerEvent};
use crate::diagnostics;
use crate::dispatch;
use crate::global_state::ProjectKey;
use crate::message::{ErrorCode, Request, RequestId, ResponseError};
use crate::named_files;
use crate::request::{RequestContext, RequestError, RequestResult};
use crate::snapshot::Snapshot;
use crate::symbols;
use crate::test_groups;
use crate::transport::Json;

impl Server {
    pub(super) fn request(&mut self, request: Request) {
        let Some(about_document) = dispatch::is_about_document(&request.method) else {
            let why = format!("unknown method `{}`", request.method);
            return self.refuse(request.id, ErrorCode::MethodNotFound, &why);
        };
        if self.state.is_loading() {
            if self.waiting.is_empty() {
                self.since = Some(Instant::now());
            }
            return self.waiting.push(request);
        }
        self.start(request, about_document);
    }

    /// Handles the requests that waited for projects to load.
    pub(super) fn answer_waiting(&mut self) {
        for request in std::mem::take(&mut self.waiting) {
            let about_document = dispatch::is_about_document(&request.method).unwrap_or_default();
            self.start(request, about_document);
        }
    }

    fn start(&mut self, request: Request, about_document: bool) {
        let Request { id, method, params } = request;
        if !about_document {
            return self.start_for_all(id, &method, params);
        }
        let Some(uri) = dispatch::document(&params) else {
            let why = "missing document in the parameters";
            return self.refuse(id, ErrorCode::InvalidParams, why);
        };
        let snapshot = self.state.key_of(&uri).and_then(|key| self.state.snapshot(&key));
        let context = snapshot.and_then(|snapshot| {
            RequestContext::new(snapshot, Arc::clone(&self.client), &uri, &params)
        });
        let Some(cx) = context else {
            if self.state.document(&uri).is_some_and(|file| !file.kind.is_gram()) {
                return self.respond(id, Ok(dispatch::empty_answer(&method).into()));
            }
            let why = format!("unknown document {}", uri.as_str());
            return self.refuse(id, ErrorCode::InvalidParams, &why);
        };
        self.pending.insert(id.clone(), PendingRequest { document: Some(uri), outdated: false });
        self.run_job(id, move || dispatch::answer(&cx, &method, params));
    }

    fn start_for_all(&mut self, id: RequestId, method: &str, params: Value) {
        let keys: Vec<ProjectKey> = self.state.projects.keys().cloned().collect();
        let snapshots: Vec<Arc<Snapshot>> =
            keys.iter().filter_map(|key| self.state.snapshot(key)).collect();
        let (client, method) = (Arc::clone(&self.client), method.to_owned());
        self.pending.insert(id.clone(), PendingRequest { document: None, outdated: false });
        self.run_job(id, move || match method.as_str() {
            "workspace/symbol" => {
                let query = params["query"].as_str().unwrap_or_default();
                dispatch::serialize(&symbols::of_workspace(&snapshots, query))
            }
            "workspace/diagnostic" => {
                let items = diagnostics::pull_all(&snapshots, &dispatch::read(params)?);
                dispatch::serialize(&serde_json::json!({ "items": items }))
            }
            "workspace/willRenameFiles" => {
                let params = dispatch::read(params)?;
                dispatch::serialize(&named_files::will_rename(&client, &snapshots, &params))
            }
            test_groups::METHOD => dispatch::serialize(&test_groups::test_groups(&snapshots)),
            _ => execute_command(&params),
        });
    }

    fn run_job(
        &mut self,
        id: RequestId,
        work: impl FnOnce() -> RequestResult<Json> + Send + 'static,
    ) {
        let events = self.events.clone();
        self.workers.run(move || {
            let answer = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
                let why = "internal error; please report it";
                Err(RequestError(ErrorCode::InternalError, why.to_owned()))
            });
            let _ = events.send(ServerEvent::Answered(id, answer.map_err(ResponseError::from)));
        });
    }

    pub(super) fn send_answer(&mut self, id: RequestId, answer: Result<Json, ResponseError>) {
        // A cancelled request has already been answered.
        let Some(pending) = self.pending.remove(&id) else { return };
        if pending.outdated {
            let why = "the document changed during the request";
            return self.refuse(id, ErrorCode::ContentModified, why);
        }
        self.respond(id, answer);
    }
}

fn execute_command(params: &Value) -> RequestResult<Json> {
    let command = params["command"].as_str().unwrap_or_default();
    if command != crate::actions::EXPLAIN {
        return Err(RequestError::invalid(format!("unknown command `{command}`")));
    }
    let name = params["arguments"][0].as_str().unwrap_or_default();
    let page = diagnostics::explanation(name);
    dispatch::serialize(
        &page.ok_or_else(|| RequestError::invalid(format!("unknown code `{name}`")))?,
    )
}
