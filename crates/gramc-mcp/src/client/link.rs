//! The connection of a server that is opened when it is needed, and again when it broke.

use std::sync::Arc;
use std::time::Duration;

use gramc_tools::invocation::InvocationError;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::McpError;
use super::address::{ServerAddress, ServerPlace};
use super::client_slot::ClientSlot;
use super::connection::Connection;

/// How long a server may take to begin. `npx` and its like install a server before they start it,
/// which can take most of a minute.
const START_LIMIT: Duration = Duration::from_mins(1);
/// The longest wait before a broken server is tried again. The waits begin with none, and then
/// double from one second on.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// The state of a connection.
#[derive(Default)]
pub(super) struct ServerLink {
    pub(super) opening: Option<ConnectionAttempt>,
    /// How often in a row it could not be opened, or broke before it was of use.
    pub(super) failures: u32,
    /// Set if somebody opens it again whenever it breaks. Others then do not wait for that.
    pub(super) is_kept: bool,
    /// When it may be tried again, and why not before.
    wait: Option<(Instant, InvocationError)>,
    /// Tells one opening from another.
    count: u64,
}

pub(super) type ConnectionResult = Result<Arc<Connection>, InvocationError>;

/// A connection that is open or being opened. A separate task opens it, so that it is there for the
/// next caller if the first one gives up.
pub(super) struct ConnectionAttempt {
    pub(super) outcome: watch::Receiver<Option<ConnectionResult>>,
    pub(super) number: u64,
    pub(super) client: Arc<ClientSlot>,
    task: AbortHandle,
}

impl Drop for ConnectionAttempt {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn open(address: ServerAddress, client: Arc<ClientSlot>) -> ConnectionResult {
    if let ServerPlace::Command { words, .. } = &address.place
        && words.is_empty()
    {
        return Err(InvocationError::unreachable(McpError::EmptyCommand));
    }
    Connection::open(&address, START_LIMIT, &client)
        .await
        .map(Arc::new)
        .map_err(InvocationError::unreachable)
}

impl ServerLink {
    /// The connection that there is, or else a new one, with its number. Fails where it is too
    /// early to try again, unless `is_keeper` says that it is due now.
    pub(super) fn open(
        &mut self,
        address: &ServerAddress,
        client: impl FnOnce() -> ClientSlot,
        is_keeper: bool,
    ) -> Result<(watch::Receiver<Option<ConnectionResult>>, u64), InvocationError> {
        let is_open = |opening: &ConnectionAttempt| opening.outcome.borrow().is_some();
        if self.is_kept
            && !is_keeper
            && self.failures > 0
            && !self.opening.as_ref().is_some_and(is_open)
            && let Some((_, error)) = &self.wait
        {
            return Err(error.clone());
        }
        if let Some(opening) = &self.opening {
            return Ok((opening.outcome.clone(), opening.number));
        }
        if let Some((moment, error)) = self.wait.as_ref().filter(|_| !is_keeper) {
            let left = moment.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                // Rounded up, so that it is true.
                let seconds = left.as_secs() + 1;
                let detail = format!("{}\nIt is tried again in {seconds} s.", error.detail);
                return Err(InvocationError::unreachable(detail));
            }
        }
        self.count += 1;
        let (tell, outcome) = watch::channel(None);
        let (address, client) = (address.clone(), Arc::new(client()));
        let slot = Arc::clone(&client);
        let task = tokio::spawn(async move {
            let opened = open(address, slot).await;
            // The receiver may be gone.
            let _ = tell.send(Some(opened));
        });
        let opening = ConnectionAttempt {
            outcome: outcome.clone(),
            number: self.count,
            client,
            task: task.abort_handle(),
        };
        self.opening = Some(opening);
        Ok((outcome, self.count))
    }

    pub(super) fn forget(&mut self, number: u64) {
        if self.opening.as_ref().is_some_and(|opening| opening.number == number) {
            self.opening = None;
        }
    }

    /// Counts a connection that was of no use. The first time the next one may begin at once.
    pub(super) fn count_failure(&mut self, number: u64, error: &InvocationError) {
        // Another caller has counted it.
        if self.opening.as_ref().is_none_or(|opening| opening.number != number) {
            return;
        }
        self.opening = None;
        self.failures = self.failures.saturating_add(1);
        let wait = match self.failures {
            1 => Duration::ZERO,
            failures => {
                let doubled = 1_u64.checked_shl(failures - 2).unwrap_or(u64::MAX);
                Duration::from_secs(doubled).min(MAX_WAIT)
            }
        };
        self.wait = Some((Instant::now() + wait, error.clone()));
    }
}
