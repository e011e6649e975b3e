//! Lines that a server writes, none of which is kept longer than it is useful.

use std::io::Read;

use tokio::io::{self, AsyncBufRead, AsyncBufReadExt as _};
use tokio::sync::mpsc;

use crate::message::Envelope;

/// The most bytes that one message may have, and the tools of all pages together. The longest
/// lists of real servers have a few hundred kilobytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// The most bytes of the rest of a long message that are passed over to learn whose it is.
const MAX_PASSED_OVER: usize = 2 * MAX_MESSAGE_BYTES;
/// The number of buffered parts of a long message.
const QUEUE: usize = 4;

/// How much of a line was read.
pub(crate) enum LineRead {
    /// All of it.
    Whole,
    /// As much as there was room for.
    Long,
}

/// The next part of a line, which has to be consumed, and whether the line ends with it. Empty at
/// the end.
async fn next_part(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<(&[u8], bool)> {
    let bytes = reader.fill_buf().await?;
    let end = bytes.iter().position(|&byte| byte == b'\n');
    Ok((&bytes[..end.map_or(bytes.len(), |end| end + 1)], end.is_some()))
}

/// Reads a line into `line`, unless it gets longer than `room` says at that moment. Nothing at the
/// end.
pub(crate) async fn read_message(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    room: impl Fn() -> usize,
) -> io::Result<Option<LineRead>> {
    line.clear();
    loop {
        let (part, is_end) = next_part(reader).await?;
        if part.is_empty() {
            return Ok((!line.is_empty()).then_some(LineRead::Whole));
        }
        if line.len() + part.len() > room() {
            return Ok(Some(LineRead::Long));
        }
        line.extend_from_slice(part);
        let taken = part.len();
        reader.consume(taken);
        if is_end {
            return Ok(Some(LineRead::Whole));
        }
    }
}

/// Reads a line into `line`, at most about `limit` bytes of it. Nothing at the end.
pub(crate) async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Option<()>> {
    line.clear();
    let mut length = 0_usize;
    loop {
        let (part, is_end) = next_part(reader).await?;
        if part.is_empty() {
            return Ok((length > 0).then_some(()));
        }
        if line.len() < limit {
            line.extend_from_slice(part);
        }
        let taken = part.len();
        length = length.saturating_add(taken);
        reader.consume(taken);
        // A line that never ends must not be waited for either.
        if is_end || length > MAX_MESSAGE_BYTES {
            return Ok(Some(()));
        }
    }
}

/// Passes over the rest of a line. Fails where it does not end.
pub(crate) async fn skip_line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    let mut passed = 0_usize;
    loop {
        let (part, is_end) = next_part(reader).await?;
        let taken = part.len();
        passed += taken;
        reader.consume(taken);
        if passed > MAX_PASSED_OVER {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if is_end || taken == 0 {
            return Ok(());
        }
    }
}

/// Passes over the rest of a line that begins with `line`, and gives the request that it answers,
/// if it is an answer. Fails where it does not end.
///
/// The id may be at either end of a message, so all of it is read as JSON, of which nothing is
/// kept.
pub(crate) async fn whose(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: Vec<u8>,
) -> io::Result<Option<u64>> {
    let (sender, parts) = mpsc::channel(QUEUE);
    let parsing = tokio::task::spawn_blocking(move || {
        let text = PartReader { part: std::io::Cursor::new(line), more: parts };
        serde_json::from_reader::<_, Envelope>(std::io::BufReader::new(text)).ok()
    });
    let mut passed = 0_usize;
    loop {
        let (part, is_end) = next_part(reader).await?;
        let taken = part.len();
        passed += taken;
        if passed > MAX_PASSED_OVER {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        // Lines that are not JSON are passed on as well.
        let _ = sender.send(part.to_vec()).await;
        reader.consume(taken);
        if is_end || taken == 0 {
            break;
        }
    }
    drop(sender);
    Ok(parsing.await.ok().flatten().and_then(|envelope| envelope.id()))
}

struct PartReader {
    part: std::io::Cursor<Vec<u8>>,
    more: mpsc::Receiver<Vec<u8>>,
}

impl Read for PartReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let length = self.part.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            match self.more.blocking_recv() {
                Some(part) => self.part = std::io::Cursor::new(part),
                None => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use super::*;

    #[tokio::test]
    async fn long_lines_are_passed_over_and_told_apart() {
        let long = format!(
            r#"{{"result":{{"id":5,"x":"{}"}},"jsonrpc":"2.0","id":3}}"#,
            "y".repeat(3_000_000)
        );
        let text = format!("short\n{long}\nno json {long}\nlast");
        let mut reader = io::BufReader::new(text.as_bytes());
        let mut line = Vec::new();
        let mut told = Vec::new();
        while let Some(read) = read_message(&mut reader, &mut line, || 1000).await.unwrap() {
            told.push(match read {
                LineRead::Whole => String::from_utf8(line.clone()).unwrap(),
                LineRead::Long => {
                    let id = whose(&mut reader, std::mem::take(&mut line)).await.unwrap();
                    format!("{id:?}")
                }
            });
        }
        assert_eq!(told, ["short\n", "Some(3)", "None", "last"]);
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_not_waited_for() {
        let mut reader = io::BufReader::with_capacity(1 << 20, io::repeat(b'x'));
        assert!(whose(&mut reader, Vec::new()).await.is_err());
    }
}
