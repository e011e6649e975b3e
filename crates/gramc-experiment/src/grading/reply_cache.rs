//! A cache of model replies, with which an experiment runs again without a network.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use gramc_schema::Target;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::ExperimentError;
use crate::hash::hash;
use gramc_agent::Reply;
use gramc_agent::model::{
    Model, ModelError, ModelErrorKind, ModelRequest, ReplyFuture, StreamSink,
};

/// A cache of replies: JSON lines with the hash of a request, the reply and its duration.
#[derive(Debug)]
pub(crate) struct ReplyCache {
    known: Mutex<HashMap<String, (Reply, u64)>>,
    file: Mutex<File>,
    path: PathBuf,
    /// Whether requests that are not cached fail.
    offline: bool,
}

const MAX_REPLY_BYTES: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
struct CacheLine {
    key: String,
    /// Microseconds.
    took: u64,
    reply: Reply,
}

impl ReplyCache {
    /// Opens or creates a cache. With `offline`, requests that are not cached fail.
    pub(crate) fn open(path: &Path, offline: bool) -> Result<Self, ExperimentError> {
        let file = OpenOptions::new().read(true).append(true).create(!offline).open(path);
        let file = file.map_err(ExperimentError::io("write", path))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(ExperimentError::lock_error(path));
        }
        let invalid = |error: String| {
            ExperimentError::content(path.display(), format!("invalid reply cache: {error}"))
        };
        let (mut known, mut reader, mut end) = (HashMap::new(), BufReader::new(&file), 0);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = std::io::Read::take(&mut reader, MAX_REPLY_BYTES)
                .read_until(b'\n', &mut line)
                .map_err(ExperimentError::io("read", path))?;
            if length as u64 == MAX_REPLY_BYTES {
                return Err(invalid("the line is too long".to_owned()));
            }
            if line.last() != Some(&b'\n') {
                break;
            }
            // Flattened types lose numbers unless they are read from a `Value`.
            let read = serde_json::from_slice(&line).and_then(serde_json::from_value::<CacheLine>);
            let CacheLine { key, took, reply } =
                read.map_err(|error| invalid(error.to_string()))?;
            known.insert(key, (reply, took));
            end += length as u64;
        }
        if !line.is_empty() && !offline {
            // The last line is incomplete.
            file.set_len(end).map_err(ExperimentError::io("write", path))?;
        }
        let (known, file) = (Mutex::new(known), Mutex::new(file));
        Ok(Self { known, file, path: path.to_owned(), offline })
    }

    fn keep(&self, key: &str, took: u64, reply: &Reply) -> Result<(), ModelError> {
        let line = CacheLine { key: key.to_owned(), took, reply: reply.clone() };
        let text = serde_json::to_string(&line).unwrap_or_default() + "\n";
        let mut file = self.file.lock();
        let end = file.metadata().map(|it| it.len());
        file.write_all(text.as_bytes()).map_err(|error| {
            // An incomplete line would corrupt the next one.
            let _ = end.and_then(|end| file.set_len(end));
            let error = ExperimentError::io("write", &self.path)(error).to_string();
            ModelError::new(ModelErrorKind::Rejected, error)
        })
    }
}

/// A model with cached replies. Each run has its own.
#[derive(Debug)]
struct CachedModel {
    model: Arc<dyn Model>,
    replies: Arc<ReplyCache>,
    /// The unique name of the run.
    run: String,
    /// Counts of requests in this run, by their keys.
    requests: Mutex<HashMap<String, u32>>,
    /// Microseconds that the model took for replies that came from the cache.
    saved: Arc<AtomicU64>,
}

/// The model of one run, named `run`, whose replies depend on no other run. With a cache, its replies
/// come from there; the time that they took is added to `saved`, in microseconds.
pub(crate) fn model_of_run(
    model: &Arc<dyn Model>,
    replies: Option<&Arc<ReplyCache>>,
    run: &str,
    saved: &Arc<AtomicU64>,
) -> Arc<dyn Model> {
    let model = model.fork().unwrap_or_else(|| Arc::clone(model));
    let Some(replies) = replies else { return model };
    Arc::new(CachedModel {
        model,
        replies: Arc::clone(replies),
        run: run.to_owned(),
        requests: Mutex::default(),
        saved: Arc::clone(saved),
    })
}

impl CachedModel {
    fn key(&self, request: &ModelRequest<'_>) -> String {
        let sampling = request.sampling;
        let parts = json!([
            self.run,
            self.model.name(),
            request.instruction,
            request.messages,
            request.tools,
            [
                json!(sampling.temperature),
                json!(sampling.top_p),
                json!(sampling.max_tokens),
                json!(sampling.seed)
            ],
        ]);
        let key = hash(parts.to_string());
        let mut all = self.requests.lock();
        let count = all.entry(key.clone()).or_insert(0);
        *count += 1;
        // Repeated requests may have different replies.
        if *count == 1 { key } else { format!("{key}-{count}") }
    }
}

impl Model for CachedModel {
    fn target(&self) -> Target {
        self.model.target()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn send<'a>(&'a self, request: ModelRequest<'a>, sink: StreamSink<'a>) -> ReplyFuture<'a> {
        let key = self.key(&request);
        let known = {
            let known = self.replies.known.lock();
            known.get(&key).cloned()
        };
        Box::pin(async move {
            if let Some((reply, took)) = known {
                self.saved.fetch_add(took, Ordering::Relaxed);
                return Ok(reply);
            }
            if self.replies.offline {
                return Err(ModelError::new(
                    ModelErrorKind::Exhausted,
                    format!("{} has no reply to this request", self.replies.path.display()),
                ));
            }
            let start = Instant::now();
            let reply = self.model.send(request, sink).await?;
            let took = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.replies.keep(&key, took, &reply)?;
            Ok(reply)
        })
    }
}
