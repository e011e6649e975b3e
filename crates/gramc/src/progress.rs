//! The progress of an experiment on a terminal.

use gramc_experiment::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How far the runs are, on standard error if that is a terminal.
#[derive(Debug)]
pub struct RunBar(ProgressBar);

impl RunBar {
    /// A bar that is shown once there is progress.
    pub fn new() -> Self {
        // Draws nothing where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} runs, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self(bar)
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Default for RunBar {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress for RunBar {
    fn finished(&self, finished: usize, of: usize) {
        self.0.set_length(of as u64);
        if self.0.position() == 0 {
            // Runs of another day say nothing about the time that is left.
            self.0.reset_eta();
        }
        self.0.set_position(finished as u64);
    }
}
