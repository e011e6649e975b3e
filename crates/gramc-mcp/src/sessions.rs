//! HTTP sessions of clients that begin with `initialize`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use parking_lot::Mutex;
use uuid::Uuid;

use crate::Server;
use crate::connection::ClientConnection;
use crate::outbox::{EventStream, Outbox};

/// Idle time after which a session ends, long enough for a pause in a conversation.
const MAX_IDLE: Duration = Duration::from_hours(1);
/// Idle time after which a session ends if there is no room for another one.
pub(crate) const MIN_IDLE: Duration = Duration::from_mins(1);
/// Maximum number of finished streams that a session keeps for clients that lost their connection.
const MAX_FINISHED: usize = 100;
/// Maximum bytes of the events in them.
const MAX_FINISHED_BYTES: usize = 8 << 20;

/// A session, with the streams of its events.
pub(crate) struct HttpSession {
    id: Arc<str>,
    pub(crate) connection: Arc<ClientConnection>,
    /// The events that belong to no request.
    pub(crate) own: Arc<EventStream>,
    /// The streams of its requests by their numbers, from the oldest one on.
    streams: Mutex<VecDeque<NumberedStream>>,
    begun: AtomicU64,
    used: Mutex<Instant>,
}

#[derive(Clone)]
pub(crate) struct NumberedStream {
    /// Its part of the ids of events. That of the own stream is 0.
    pub(crate) number: u64,
    pub(crate) stream: Arc<EventStream>,
}

impl HttpSession {
    pub(crate) fn new(server: &Server) -> Self {
        let own = Arc::<EventStream>::default();
        let (id, outbox) =
            (Arc::from(Uuid::new_v4().to_string()), Outbox::Events(Arc::clone(&own)));
        Self {
            connection: ClientConnection::of_session(server, outbox, Arc::clone(&id)),
            id,
            own,
            streams: Mutex::default(),
            begun: AtomicU64::default(),
            used: Mutex::new(Instant::now()),
        }
    }

    /// A stream for the answer to a request.
    pub(crate) fn begin_stream(&self) -> NumberedStream {
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let begun = NumberedStream { number, stream: Arc::default() };
        let mut streams = self.streams.lock();
        let (mut count, mut bytes) = (0, 0);
        for at in (0..streams.len()).rev() {
            let stream = &streams[at].stream;
            if stream.is_finished() {
                count += 1;
                bytes += stream.kept_bytes();
                if count > MAX_FINISHED || bytes > MAX_FINISHED_BYTES {
                    streams.remove(at);
                }
            }
        }
        streams.push_back(begun.clone());
        begun
    }

    /// The stream of a number, if it is kept.
    pub(crate) fn stream(&self, number: u64) -> Option<NumberedStream> {
        if number == 0 {
            return Some(NumberedStream { number, stream: Arc::clone(&self.own) });
        }
        self.streams.lock().iter().find(|stream| stream.number == number).cloned()
    }

    /// The session is used now.
    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    fn idle_time(&self, now: Instant) -> Duration {
        if self.connection.is_busy() {
            return Duration::ZERO;
        }
        now.saturating_duration_since(*self.used.lock())
    }

    async fn close(&self) {
        self.own.finish(None);
        self.connection.close().await;
    }
}

/// Room for a session that begins.
#[must_use]
pub(crate) struct Room(#[expect(dead_code, reason = "it counts")] Arc<()>);

/// The open sessions by their ids. Their number is limited, since each may have MCP servers of its own.
pub(crate) struct HttpSessions {
    open: Mutex<HashMap<String, Arc<HttpSession>>>,
    /// Counts the sessions that begin.
    beginning: Arc<()>,
    pub(crate) most: usize,
    min_idle: Duration,
}

impl HttpSessions {
    pub(crate) fn new(most: usize, min_idle: Duration) -> Self {
        Self { open: Mutex::default(), beginning: Arc::default(), most, min_idle }
    }

    /// The session of an id, which is used from now on.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<HttpSession>> {
        let found = self.open.lock().get(id).cloned()?;
        found.touch();
        Some(found)
    }

    /// Makes room for another session: ends the one that was idle for the longest time. Gives
    /// nothing if there is none. The room is kept until the result is dropped.
    pub(crate) async fn make_room(&self) -> Option<Room> {
        let ended = {
            let mut open = self.open.lock();
            let room = Room(Arc::clone(&self.beginning));
            // Includes this one.
            if open.len() + Arc::strong_count(&self.beginning) - 1 <= self.most {
                return Some(room);
            }
            let now = Instant::now();
            let idle = open.iter().map(|(id, session)| (session.idle_time(now), id));
            let longest = idle.filter(|(time, _)| *time >= self.min_idle).max();
            let longest = longest.map(|(_, id)| id.clone());
            longest.and_then(|id| open.remove(&id)).map(|session| (room, session))
        };
        let (room, session) = ended?;
        session.close().await;
        Some(room)
    }

    /// Adds a session, and gives its id.
    pub(crate) fn add(&self, session: Arc<HttpSession>) -> String {
        let id = session.id.to_string();
        self.open.lock().insert(id.clone(), session);
        id
    }

    /// Ends a session. Returns whether there was one.
    pub(crate) async fn end(&self, id: &str) -> bool {
        let ended = self.open.lock().remove(id);
        match ended {
            Some(session) => {
                session.close().await;
                true
            }
            None => false,
        }
    }

    /// Ends the sessions that are idle for too long, as long as it runs.
    pub(crate) async fn end_idle(&self) {
        loop {
            tokio::time::sleep(MIN_IDLE).await;
            self.end_where(|session| {
                !session.own.has_reader() && session.idle_time(Instant::now()) >= MAX_IDLE
            })
            .await;
        }
    }

    /// Ends all sessions.
    pub(crate) async fn end_all(&self) {
        self.end_where(|_| true).await;
    }

    async fn end_where(&self, is_over: impl Fn(&HttpSession) -> bool) {
        let ended: Vec<_> = {
            let mut open = self.open.lock();
            open.extract_if(|_, session| is_over(session)).map(|(_, session)| session).collect()
        };
        join_all(ended.iter().map(|session| session.close())).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use gramc_check::check;
    use gramc_syntax::{SourceFile, parse};
    use gramc_tools::ToolLibrary;

    use super::*;

    fn session() -> Arc<HttpSession> {
        let module = check(&[parse(SourceFile::new("tools.gram", ""))]).module.unwrap();
        let bound = ToolLibrary::new("none").bind(&module).unwrap();
        Arc::new(HttpSession::new(&Server::new(&module, &bound).unwrap()))
    }

    #[tokio::test]
    async fn the_session_that_is_idle_for_the_longest_time_makes_room() {
        let sessions = HttpSessions::new(2, Duration::ZERO);
        let (first, second) = (sessions.add(session()), sessions.add(session()));
        assert!(sessions.find(&first).is_some());
        assert!(sessions.make_room().await.is_some());
        assert!(sessions.find(&first).is_some());
        assert!(sessions.find(&second).is_none());
    }

    #[tokio::test]
    async fn sessions_in_use_are_kept() {
        let sessions = HttpSessions::new(1, Duration::from_mins(1));
        let room = sessions.make_room().await;
        assert!(room.is_some());
        // Another one begins.
        assert!(sessions.make_room().await.is_none());
        drop(room);
        let id = sessions.add(session());
        assert!(sessions.make_room().await.is_none());
        assert!(sessions.find(&id).is_some());
        assert!(sessions.end(&id).await);
        assert!(!sessions.end(&id).await);
    }

    #[test]
    fn finished_streams_are_kept_within_limits() {
        let session = session();
        for _ in 0..2 * MAX_FINISHED {
            session.begin_stream().stream.finish(Some("{}".to_owned()));
        }
        let running = session.begin_stream();
        assert!(session.stream(1).is_none());
        assert!(session.stream(running.number - 1).is_some());
        for _ in 0..2 * MAX_FINISHED {
            session.begin_stream().stream.finish(Some("x".repeat(1 << 20)));
        }
        assert!(session.streams.lock().len() < 20);
        assert!(session.stream(running.number).is_some());
    }
}
