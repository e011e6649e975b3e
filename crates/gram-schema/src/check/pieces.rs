//! Pieces of a large text that can be read alone. Where a text changes, most of them stay.

use std::ops::Range;
use std::sync::Arc;

use gram_syntax::{Change, Node, Parse, SourceFile, Span};

use super::alone::{Alone, read_patterns};
use super::parts::{Known, PARALLEL_FROM};
use crate::model::Module;
use crate::parallel;

/// How many patterns of the top level make a piece: fewer cost more memory, and more are more to read
/// when one of them changes.
const AT_ONCE: usize = 16;

/// The pieces of a text that others make no difference to, in its order.
#[derive(Debug)]
pub(crate) struct Pieces<R> {
    source: Arc<SourceFile>,
    pub(crate) all: Vec<Piece<R>>,
}

/// A piece of a text, that was read alone.
#[derive(Debug)]
pub(crate) struct Piece<R> {
    /// From the end of the pattern before it to the end of its last one.
    pub(crate) span: Span,
    /// How many bytes further it stands than where it was read.
    pub(crate) by: i32,
    pub(crate) alone: Arc<Alone<R>>,
}

impl<R> Clone for Piece<R> {
    fn clone(&self) -> Self {
        Self { span: self.span, by: self.by, alone: Arc::clone(&self.alone) }
    }
}

/// Patterns of the top level, by their numbers: a piece that is known, or some that are not.
enum Stretch<R> {
    Known(Range<usize>, Piece<R>),
    New(Range<usize>),
}

impl<R: Send + Sync> Pieces<R> {
    /// The pieces of a text, by those of an earlier form of it. Nothing where equal pieces of two
    /// texts may mean different things.
    pub(crate) fn of(
        text: &Parse,
        before: Option<&Self>,
        visit: impl Fn(Known<'_>, &Module) -> R + Sync,
    ) -> Option<Self> {
        if text.tree().is_farsighted() {
            return None;
        }
        let tops: Vec<_> = text.tree().root().children().collect();
        let stretches = stretches(tops.len(), before.map(|it| it.kept(text, &tops)));
        let threads = parallel::threads(bytes(&tops, &stretches), PARALLEL_FROM);
        let all = parallel::map(
            stretches.len(),
            threads,
            || (),
            |(), at| {
                let range = match stretches.get(at)? {
                    Stretch::Known(_, piece) => return Some(piece.clone()),
                    Stretch::New(range) => range.clone(),
                };
                let span = span(&tops, &range)?;
                let own = tops.get(range)?;
                let alone = read_patterns(text, own.iter().copied(), &visit);
                let alone = alone.filter(|_| !is_broken(text, span));
                Some(Piece { span, by: 0, alone: Arc::new(alone?) })
            },
        );
        let source = Arc::clone(text.source());
        Some(Self { source, all: all.into_iter().flatten().collect() })
    }

    /// The pieces that a text still has, and which of its patterns each is.
    fn kept(&self, text: &Parse, tops: &[Node<'_>]) -> Vec<(Range<usize>, Piece<R>)> {
        let change = Change::between(self.source.text(), text.source().text());
        let piece = |piece: &Piece<R>| {
            let by = match piece.span {
                span if span.end <= change.old.start => 0,
                span if span.start >= change.old.end => change.by,
                _ => return None,
            };
            let now = piece.span.moved(by);
            let first = tops.partition_point(|top| top.span().start < now.start);
            let end = tops.partition_point(|top| top.span().end <= now.end);
            let own = first..end;
            let whole = span(tops, &own) == Some(now) && !is_broken(text, now);
            whole.then(|| (own, Piece { span: now, by: piece.by + by, ..piece.clone() }))
        };
        self.all.iter().filter_map(piece).collect()
    }
}

/// From the end of the pattern before some to the end of the last of them.
fn span(tops: &[Node<'_>], range: &Range<usize>) -> Option<Span> {
    let before = range.start.checked_sub(1).and_then(|at| tops.get(at));
    let start = before.map_or(0, |top| top.span().end);
    let end = tops.get(range.clone())?.last()?.span().end;
    Some(Span::new(start, end))
}

/// Whether a syntax error stands in a stretch of a text, or touches it.
fn is_broken(text: &Parse, span: Span) -> bool {
    let mut found = text.diagnostics().iter();
    found.any(|found| span.start <= found.span().start && found.span().start <= span.end)
}

/// All patterns of a text, of which some pieces are known.
fn stretches<R>(count: usize, kept: Option<Vec<(Range<usize>, Piece<R>)>>) -> Vec<Stretch<R>> {
    let mut all: Vec<Stretch<R>> = Vec::new();
    let new = |all: &mut Vec<Stretch<R>>, mut from: usize, to: usize| {
        // A small piece before others joins them, so that pieces do not get smaller and smaller.
        while let Some(Stretch::Known(range, _)) = all.last()
            && range.len() < AT_ONCE / 2
            && from < to
        {
            from = range.start;
            all.pop();
        }
        let pieces = (from..to).step_by(AT_ONCE);
        all.extend(pieces.map(|first| Stretch::New(first..to.min(first + AT_ONCE))));
    };
    let mut done = 0;
    for (range, piece) in kept.into_iter().flatten() {
        new(&mut all, done, range.start);
        done = range.end;
        all.push(Stretch::Known(range, piece));
    }
    new(&mut all, done, count);
    all
}

/// How many bytes are to be read.
fn bytes<R>(tops: &[Node<'_>], stretches: &[Stretch<R>]) -> usize {
    let bytes = |stretch: &Stretch<R>| match stretch {
        Stretch::Known(..) => 0,
        Stretch::New(range) => span(tops, range).map_or(0, |span| span.len() as usize),
    };
    stretches.iter().map(bytes).sum()
}
