//! Work on many things at once, on all processors.

use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The most things that a thread takes at once: asking for each alone would cost more than some of
/// them take, and with many the last thread would work alone in the end.
const MOST_AT_ONCE: usize = 8;

/// The bytes of a thread's stack, as many as the first thread of a program has on most systems: types
/// nest, and who reads them goes along.
const STACK: usize = 8 << 20;

/// What `make` makes of each number below `count`, in order, on so many `threads`. `start` makes
/// what a thread works with.
pub(crate) fn map<S, R: Send>(
    count: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, usize) -> R + Sync,
) -> Vec<R> {
    if count == 0 {
        return Vec::new();
    }
    let threads = threads.min(count);
    if threads <= 1 {
        let mut state = start();
        return (0..count).map(|at| make(&mut state, at)).collect();
    }
    let at_once = (count / (threads * 16)).clamp(1, MOST_AT_ONCE);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut state, mut made) = (start(), Vec::new());
        loop {
            let first = next.fetch_add(at_once, Ordering::Relaxed);
            if first >= count {
                return made;
            }
            let end = count.min(first + at_once);
            made.push((first, (first..end).map(|at| make(&mut state, at)).collect::<Vec<R>>()));
        }
    };
    let mut made = thread::scope(|scope| {
        // Where a thread cannot be had, this one does its share, too.
        let spawn = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        let workers: Vec<_> = (1..threads).filter_map(spawn).collect();
        let mut made = work();
        for worker in workers {
            // A worker that panics ends the process here, as it would have without threads.
            made.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    });
    made.sort_unstable_by_key(|(first, _)| *first);
    let mut all = Vec::with_capacity(count);
    for (_, made) in made {
        all.extend(made);
    }
    all
}

/// How many threads work on something: one where it is below what is worth starting others.
pub(crate) fn threads(size: usize, worth: usize) -> usize {
    // Asking the system takes as long as small works do.
    static ALL: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));
    if size < worth { 1 } else { *ALL }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes so many frames deep, each with four kilobytes at least.
    fn deep(frames: usize) -> usize {
        let room = std::hint::black_box([frames; 512]);
        if frames == 0 { room[0] } else { 1 + deep(frames - 1) }
    }

    #[test]
    fn threads_have_room_for_what_nests() {
        // This thread works, too, and is one of a test, which has less.
        let work = || map(64, 4, || (), |(), _| deep(1_000));
        let made =
            thread::Builder::new().stack_size(STACK).spawn(work).map(thread::JoinHandle::join);
        assert!(matches!(made, Ok(Ok(made)) if made == vec![1_000; 64]));
    }

    #[test]
    fn what_is_made_comes_in_order() {
        for (count, threads) in [(0, 4), (1, 4), (7, 2), (8, 2), (1000, 1), (1000, 3), (1001, 4)] {
            let made = map(count, threads, || (), |(), at| at);
            assert!(made.into_iter().eq(0..count), "{count} on {threads}");
        }
    }
}
