//! The progress of an experiment on a terminal.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::running::runner::Progress;

/// The number of characters of the bar.
const WIDTH: usize = 30;

/// The time between two drawings.
const INTERVAL: Duration = Duration::from_millis(100);

/// A progress bar on standard error if that is a terminal.
#[derive(Debug, Default)]
pub struct ProgressBar(Mutex<Drawing>);

#[derive(Debug, Default)]
struct Drawing {
    /// The time of the first progress, and the runs that were finished then. Earlier runs do not count
    /// for the estimate.
    start: Option<(Instant, usize)>,
    last: Option<Instant>,
}

impl ProgressBar {
    /// A bar that is shown once there is progress.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes the bar.
    pub fn end(&self) {
        if self.0.lock().last.take().is_some() {
            draw("");
        }
    }
}

impl Progress for ProgressBar {
    fn finished(&self, finished: usize, of: usize) {
        let now = Instant::now();
        let mut drawing = self.0.lock();
        let (start, before) = *drawing.start.get_or_insert((now, finished));
        let is_early = drawing.last.is_some_and(|last| now.duration_since(last) < INTERVAL);
        if (is_early && finished < of) || !stderr().is_terminal() {
            return;
        }
        drawing.last = Some(now);
        let done = WIDTH * finished.min(of) / of.max(1);
        let bar = "█".repeat(done) + &"░".repeat(WIDTH - done);
        let left = of.saturating_sub(finished);
        let left = match u32::try_from(finished.saturating_sub(before)) {
            Ok(0) | Err(_) => "?".to_owned(),
            Ok(done) => {
                let each = now.duration_since(start) / done;
                show_time(each * u32::try_from(left).unwrap_or(u32::MAX))
            }
        };
        draw(&format!("{bar} {finished} of {of} runs, {left} left"));
    }
}

fn show_time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Replaces the line of the cursor.
fn draw(line: &str) {
    let mut errors = stderr().lock();
    // Progress that cannot be shown is no error.
    let _ = write!(errors, "\r\x1b[2K{line}").and_then(|()| errors.flush());
}
