//! Connections whose messages are lines, such as standard input and output.

use std::sync::Arc;

use gramc_tools::RpcError;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::connection::{ClientConnection, answer};
use crate::lines::{LineRead, MAX_MESSAGE_BYTES, read_message, skip_line};
use crate::message::{Message, Unreadable};
use crate::outbox::Outbox;
use crate::protocol::INVALID_REQUEST;
use crate::{MAX_DRAIN_TIME, ServeError, Server};

/// The number of messages that may wait to be written.
const QUEUE: usize = 64;

/// Serves a client until it disconnects, or `until` completes. Running calls then have some time to end.
pub(crate) async fn serve(
    server: &Server,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    until: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let (lines, written) = mpsc::channel(QUEUE);
    let writing = tokio::spawn(write(written, output));
    let outbox = Outbox::Lines(lines);
    let connection = ClientConnection::new(server, outbox.clone());
    let tasks = TaskTracker::new();
    let reader = LineServer { connection: Arc::clone(&connection), outbox, tasks: tasks.clone() };
    let mut until = std::pin::pin!(until);
    let outcome = {
        let mut reading = std::pin::pin!(reader.read(input));
        tokio::select! {
            outcome = &mut reading => {
                connection.end_input();
                tasks.close();
                // The answers to what was asked last are still sent.
                tokio::select! {
                    _ = tokio::time::timeout(MAX_DRAIN_TIME, tasks.wait()) => {}
                    () = &mut until => {}
                }
                outcome
            }
            () = &mut until => {
                // The client can still cancel calls and answer questions.
                tokio::select! {
                    outcome = &mut reading => outcome,
                    _no_new_calls = server.drain_calls() => Ok(()),
                }
            }
        }
    };
    connection.close().await;
    drop(connection);
    drop(reader);
    let _ = tokio::time::timeout(MAX_DRAIN_TIME, writing).await;
    outcome
}

/// Writes messages, each of which is a line, until no more can come or the client is gone.
async fn write(mut lines: mpsc::Receiver<String>, output: impl AsyncWrite + Unpin) {
    let mut output = BufWriter::new(output);
    while let Some(mut line) = lines.recv().await {
        loop {
            line.push('\n');
            if output.write_all(line.as_bytes()).await.is_err() {
                return;
            }
            match lines.try_recv() {
                Ok(next) => line = next,
                Err(_) => break,
            }
        }
        if output.flush().await.is_err() {
            return;
        }
    }
}

struct LineServer {
    connection: Arc<ClientConnection>,
    outbox: Outbox,
    tasks: TaskTracker,
}

impl LineServer {
    /// Reads messages until the input ends.
    async fn read(&self, input: impl AsyncRead + Unpin) -> Result<(), ServeError> {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        loop {
            match read_message(&mut input, &mut line, || MAX_MESSAGE_BYTES).await {
                Ok(Some(LineRead::Whole)) => self.receive(&line).await?,
                Ok(Some(LineRead::Long)) => {
                    line = Vec::new();
                    if skip_line(&mut input).await.is_err() {
                        return Ok(());
                    }
                    let why = format!("a message has more than {MAX_MESSAGE_BYTES} bytes");
                    self.refuse(Value::Null, RpcError::new(INVALID_REQUEST, why)).await;
                }
                // The client is gone.
                Ok(None) | Err(_) => return Ok(()),
            }
        }
    }

    async fn receive(&self, line: &[u8]) -> Result<(), ServeError> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(());
        }
        let message = match Message::parse(text) {
            Ok(message) => message,
            Err(error) => {
                let Unreadable { id, error, is_response } = Unreadable::new(text, &error);
                if is_response {
                    self.connection.take_answer(&id, Err(error));
                } else {
                    self.refuse(id, error).await;
                }
                return Ok(());
            }
        };
        match message {
            Message::Request { id, method, params } if method == "initialize" => {
                // What follows belongs to the connection that this opens.
                let outbox = self.outbox.clone();
                let answer =
                    answer(self.connection.begin(id.clone(), method, params, outbox)).await;
                let failure = match &answer {
                    Some(Err(error)) => Err(ServeError::Upstream(error.message.clone())),
                    _ => Ok(()),
                };
                self.outbox.finish(id, answer).await;
                return failure;
            }
            Message::Request { id, method, params } => {
                let outbox = self.outbox.clone();
                let begun = self.connection.begin(id.clone(), method, params, outbox.clone());
                self.tasks.spawn(async move { outbox.finish(id, answer(begun).await).await });
            }
            Message::Notification { method, params } => self.connection.hear(&method, params).await,
            Message::Response { id, outcome } => self.connection.take_answer(&id, outcome),
        }
        Ok(())
    }

    async fn refuse(&self, id: Value, error: RpcError) {
        self.outbox.send(Message::Response { id, outcome: Err(error) }).await;
    }
}
