//! Streams of events, as servers answer with.

use std::io::{self, Cursor};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream::{BoxStream, StreamExt as _};
use gramc_tools::http_client;
use gramc_tools::sanitize::sanitize_line;
use reqwest::Response;
use sse_stream::{Sse, SseStream};
use tokio::time::sleep;

use super::http_error::HttpError;

/// How often in a row a stream that broke off is resumed. The waits double, from one second on.
const MAX_RETRIES: u32 = 2;

/// Where a stream of events goes on.
#[derive(Default)]
pub(super) struct Place {
    pub(super) last_event: Option<String>,
    /// The pause that the server wants.
    pause: Option<Duration>,
    retries: u32,
}

impl Place {
    pub(super) fn pass(&mut self, event: &Sse) {
        self.retries = 0;
        self.pause = event.retry.map(Duration::from_millis).or(self.pause);
        if event.id.is_some() {
            self.last_event.clone_from(&event.id);
        }
    }

    /// Waits before the stream is resumed. Returns whether it should be.
    pub(super) async fn wait(&mut self) -> bool {
        if self.retries == MAX_RETRIES {
            return false;
        }
        let pause = self.pause.unwrap_or_else(|| Duration::from_secs(1 << self.retries));
        self.retries += 1;
        sleep(pause).await;
        true
    }
}

/// The events of a response.
pub(super) struct Events {
    stream: BoxStream<'static, Result<Sse, sse_stream::Error>>,
    /// How many bytes more the next event may have.
    left: Arc<AtomicUsize>,
    most: usize,
}

impl Events {
    pub(super) fn new(response: Response, most: usize) -> Self {
        let left = Arc::new(AtomicUsize::new(most));
        let own = Arc::clone(&left);
        let parts = response.bytes_stream().map(move |part| {
            let part = part.map_err(|error| io::Error::other(http_client::root(&error)))?;
            let rest = own.load(Ordering::Relaxed).checked_sub(part.len());
            own.store(rest.unwrap_or(0), Ordering::Relaxed);
            rest.ok_or(io::ErrorKind::FileTooLarge)?;
            Ok::<_, io::Error>(Cursor::new(part.to_vec()))
        });
        Self { stream: SseStream::from_bytes_stream(parts).boxed(), left, most }
    }

    /// The next event. `None` at the end, and `Some(None)` if it is too long.
    pub(super) async fn next(&mut self) -> Result<Option<Option<Sse>>, HttpError> {
        match self.stream.next().await {
            None => Ok(None),
            Some(Ok(event)) => {
                self.left.store(self.most, Ordering::Relaxed);
                Ok(Some(Some(event)))
            }
            Some(Err(_)) if self.left.load(Ordering::Relaxed) == 0 => Ok(Some(None)),
            Some(Err(error)) => Err(HttpError::Broken(sanitize_line(&error.to_string()))),
        }
    }
}
