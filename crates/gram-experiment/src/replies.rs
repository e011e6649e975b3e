//! Replies of models that are kept, so that an experiment can be run again without a network.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use gram_schema::Target;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ExperimentError;
use crate::about::hash;
use crate::journal::cannot;
use gram_agent::Reply;
use gram_agent::model::{Asked, Ear, Failure, Model, ModelError, Request};

/// Replies by what was asked: a file of JSON lines, each with the hash of a request, the reply, and
/// how long it took.
#[derive(Debug)]
pub struct Replies {
    known: Mutex<HashMap<String, (Reply, u64)>>,
    file: Mutex<File>,
    path: PathBuf,
    /// Whether models are not asked at all.
    offline: bool,
}

/// The most bytes of a reply.
const LONGEST: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    /// Microseconds.
    took: u64,
    reply: Reply,
}

impl Replies {
    /// The replies that a file holds; new ones are added to it. `offline` keeps models from being
    /// asked for what it does not hold.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or written, or holds something else.
    pub fn open(path: &Path, offline: bool) -> Result<Self, ExperimentError> {
        let file = OpenOptions::new().read(true).append(true).create(!offline).open(path);
        let file = file.map_err(|error| cannot("write", path, &error))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let shown = path.display();
            return Err(ExperimentError::new(format!(
                "another gramc uses {shown}: let it end, or name another file"
            )));
        }
        let (mut known, mut reader, mut end) = (HashMap::new(), BufReader::new(&file), 0);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = std::io::Read::take(&mut reader, LONGEST)
                .read_until(b'\n', &mut line)
                .map_err(|error| cannot("read", path, &error))?;
            if length as u64 == LONGEST {
                let shown = path.display();
                return Err(ExperimentError::new(format!("{shown} holds no replies, one a line")));
            }
            if line.last() != Some(&b'\n') {
                break;
            }
            // By way of a value: numbers of fields that stand in others are lost otherwise.
            let read = serde_json::from_slice(&line).and_then(serde_json::from_value::<Line>);
            let Line { key, took, reply } = read.map_err(|error| {
                ExperimentError::new(format!("{} holds no replies: {error}", path.display()))
            })?;
            known.insert(key, (reply, took));
            end += length as u64;
        }
        if !line.is_empty() && !offline {
            // A line that was broken off.
            file.set_len(end).map_err(|error| cannot("write", path, &error))?;
        }
        let (known, file) = (Mutex::new(known), Mutex::new(file));
        Ok(Self { known, file, path: path.to_owned(), offline })
    }

    fn keep(&self, key: &str, took: u64, reply: &Reply) -> Result<(), ModelError> {
        let line = Line { key: key.to_owned(), took, reply: reply.clone() };
        let text = serde_json::to_string(&line).unwrap_or_default() + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let end = file.metadata().map(|it| it.len());
        file.write_all(text.as_bytes()).map_err(|error| {
            // Half a line would spoil the next one.
            let _ = end.and_then(|end| file.set_len(end));
            let told = cannot("write", &self.path, &error).to_string();
            ModelError::new(Failure::Refused, told)
        })
    }
}

/// A model whose replies are kept. Each run has one of its own.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) replies: Arc<Replies>,
    /// What tells the run from others.
    pub(crate) run: String,
    /// How often what was asked in this run.
    pub(crate) asked: Mutex<HashMap<String, u32>>,
    /// How many microseconds the model took for replies that were kept.
    pub(crate) spared: Arc<AtomicU64>,
}

impl Kept {
    fn key(&self, request: &Request<'_>) -> String {
        let sampling = request.sampling;
        let asked = json!([
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
        let key = hash(asked.to_string());
        let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(key.clone()).or_insert(0);
        *count += 1;
        // What is asked again is not answered the same.
        if *count == 1 { key } else { format!("{key}-{count}") }
    }
}

impl Model for Kept {
    fn target(&self) -> Target {
        self.model.target()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn ask<'a>(&'a self, request: Request<'a>, ear: Ear<'a>) -> Asked<'a> {
        let key = self.key(&request);
        let known = {
            let known = self.replies.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(&key).cloned()
        };
        Box::pin(async move {
            if let Some((reply, took)) = known {
                self.spared.fetch_add(took, Ordering::Relaxed);
                return Ok(reply);
            }
            if self.replies.offline {
                return Err(ModelError::new(
                    Failure::Ended,
                    format!("{} holds no reply to this", self.replies.path.display()),
                ));
            }
            let began = Instant::now();
            let reply = self.model.ask(request, ear).await?;
            let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.replies.keep(&key, took, &reply)?;
            Ok(reply)
        })
    }
}
