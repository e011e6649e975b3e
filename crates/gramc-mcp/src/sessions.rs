//! Limits the number of HTTP sessions, since each may have MCP servers of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// Maximum number of sessions.
pub(crate) const MAX_SESSIONS: usize = 100;
/// Idle time after which a session ends, long enough for a pause in a conversation.
const MAX_IDLE: Duration = Duration::from_hours(1);
/// Idle time after which a session ends if there is no room for another one.
pub(crate) const MIN_IDLE: Duration = Duration::from_mins(1);

/// The open sessions, and when each was used last.
#[derive(Debug)]
pub(crate) struct HttpSessions {
    pub(crate) manager: Arc<LocalSessionManager>,
    used: Mutex<HashMap<Arc<str>, Instant>>,
    most: usize,
    min_idle: Duration,
}

impl HttpSessions {
    pub(crate) fn new(most: usize, min_idle: Duration) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(MAX_IDLE);
        Self { manager: Arc::new(manager), used: Mutex::default(), most, min_idle }
    }

    /// Records that a session is used. Clients could fill the memory with ids that are none.
    pub(crate) async fn touch(&self, id: &str) {
        if self.manager.sessions.read().await.contains_key(id) {
            self.used.lock().insert(id.into(), Instant::now());
        }
    }

    /// Makes room for another session: ends the one that was idle for the longest time. Returns
    /// whether there is room.
    pub(crate) async fn make_room(&self) -> bool {
        let open: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let longest = {
            let mut used = self.used.lock();
            used.retain(|id, _| open.contains(id));
            if open.len() < self.most {
                return true;
            }
            let last = open.iter().filter_map(|id| Some((*used.get(id)?, id)));
            let idle = last.filter(|(last, _)| last.elapsed() >= self.min_idle);
            idle.min().map(|(_, id)| Arc::clone(id))
        };
        match longest {
            Some(id) => self.manager.close_session(&id).await.is_ok(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use super::*;

    #[tokio::test]
    async fn the_session_that_is_idle_for_the_longest_time_makes_room() {
        let sessions = HttpSessions::new(2, Duration::ZERO);
        let mut open = Vec::new();
        for _ in 0..2 {
            assert!(sessions.make_room().await);
            let (id, transport) = sessions.manager.create_session().await.unwrap();
            sessions.touch(&id).await;
            open.push((id, transport));
        }
        sessions.touch(&open[0].0).await;
        assert!(sessions.make_room().await);
        assert!(sessions.manager.has_session(&open[0].0).await.unwrap());
        assert!(!sessions.manager.has_session(&open[1].0).await.unwrap());
    }

    #[tokio::test]
    async fn sessions_in_use_are_kept() {
        let sessions = HttpSessions::new(1, Duration::from_mins(1));
        let (id, _transport) = sessions.manager.create_session().await.unwrap();
        sessions.touch(&id).await;
        assert!(!sessions.make_room().await);
        assert!(sessions.manager.has_session(&id).await.unwrap());
    }

    #[tokio::test]
    async fn ids_of_no_session_are_not_kept() {
        let sessions = HttpSessions::new(1, Duration::ZERO);
        sessions.touch("nothing").await;
        assert!(sessions.used.lock().is_empty());
        let (id, _transport) = sessions.manager.create_session().await.unwrap();
        sessions.touch(&id).await;
        assert_eq!(sessions.used.lock().len(), 1);
    }
}
