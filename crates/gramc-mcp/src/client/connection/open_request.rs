//! A request to a server that is not answered yet.

use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::ServerResult;
use rmcp::service::{RequestHandle, RoleClient, ServiceError};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::GOODBYE;
use crate::client::failure_log::FailureLog;

/// A request that is not answered yet.
pub(super) struct OpenRequest<'c> {
    pub(super) handle: Option<RequestHandle<RoleClient>>,
    /// Set if nothing waits for the answer any more.
    pub(super) doubtful: &'c AtomicBool,
    pub(super) goodbyes: &'c TaskTracker,
}

impl OpenRequest<'_> {
    /// Waits for the answer. Nothing where the connection is gone.
    pub(super) async fn answer(
        mut self,
        failures: &FailureLog,
    ) -> Option<Result<ServerResult, ServiceError>> {
        let answer = match &mut self.handle {
            None => None,
            Some(handle) => tokio::select! {
                biased;
                answer = &mut handle.rx => answer.ok(),
                () = failures.fatal() => None,
            },
        };
        self.handle = None;
        answer
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        self.doubtful.store(true, Ordering::Release);
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let goodbye = async move {
                let reason = "the caller no longer waits for the response".to_owned();
                let _ = timeout(GOODBYE, handle.cancel(Some(reason))).await;
            };
            self.goodbyes.spawn_on(goodbye, &runtime);
        }
    }
}
