//! Regular expressions over characters.

use std::collections::HashSet;

use super::char_set::CharSet;
use super::tree::{Leaf, Tree};

/// The most nodes that a regular expression grows by, so that copies of copies end.
pub(super) const MAX_GROWTH: usize = 50_000;

/// The most nodes that are visited to narrow the lengths of texts.
const MAX_NARROWED: usize = 50_000;

/// A regular expression over characters, by sets of them that are not empty.
pub type Regex = Tree<CharSet>;

/// The lengths of the texts of a regular expression, in characters. `None` is unlimited.
type Lengths = (u32, Option<u32>);

impl Leaf for CharSet {
    fn simplify(alternatives: Vec<Regex>) -> Vec<Regex> {
        let mut seen = HashSet::with_capacity(alternatives.len());
        let is_new: Vec<bool> = alternatives.iter().map(|it| seen.insert(it)).collect();
        let mut joined: Vec<Regex> = Vec::with_capacity(alternatives.len());
        let mut sets: Vec<Self> = Vec::new();
        let end_of_sets = std::iter::once(None);
        let distinct = alternatives.into_iter().zip(is_new).filter(|it| it.1).map(|it| Some(it.0));
        for alternative in distinct.chain(end_of_sets) {
            match alternative {
                Some(Regex::Leaf(set)) => sets.push(set),
                other => {
                    if !sets.is_empty() {
                        joined.push(Regex::Leaf(Self::union_of(&sets)));
                        sets.clear();
                    }
                    joined.extend(other);
                }
            }
        }
        joined
    }

    /// A repeated part never matches the empty text: grammars would be left recursive. No text if the
    /// repetition would be too large.
    fn repeat(part: Regex, least: u32, most: Option<u32>) -> Regex {
        part.try_repeat(least, most, &mut { MAX_GROWTH }).unwrap_or(Regex::NEVER)
    }
}

impl Regex {
    /// One of the characters of a set.
    pub fn chars(set: CharSet) -> Self {
        if set.is_empty() { Self::NEVER } else { Self::Leaf(set) }
    }

    /// One of the characters in some ranges.
    pub fn class(ranges: &[(char, char)]) -> Self {
        Self::chars(CharSet::of(ranges))
    }

    /// A text.
    pub fn literal(text: &str) -> Self {
        Self::seq(text.chars().map(|c| Self::Leaf(CharSet::one(c))))
    }

    /// A repetition, or `None` if that takes more nodes than the budget has.
    pub(super) fn try_repeat(
        self,
        least: u32,
        most: Option<u32>,
        budget: &mut usize,
    ) -> Option<Self> {
        if most.is_some_and(|most| most < least) {
            return Some(Self::NEVER);
        }
        let (part, least) =
            if self.is_nullable() { (self.without_empty(budget)?, 0) } else { (self, least) };
        if most == Some(0) || (part.is_never() && least == 0) {
            return Some(Self::EMPTY);
        }
        Some(match (part, least, most) {
            (never, ..) if never.is_never() => Self::NEVER,
            (part, 1, Some(1)) => part,
            (Self::Repeat(inner, 1, None), least, _) => Self::Repeat(inner, least, None),
            (part, least, most) => Self::Repeat(Box::new(part), least, most),
        })
    }

    fn is_nullable(&self) -> bool {
        self.lengths().is_some_and(|(least, _)| least == 0)
    }

    /// The number of nodes, where each range of a set counts.
    pub fn size(&self) -> usize {
        match self {
            Self::Leaf(set) => set.ranges().len(),
            Self::Seq(parts) | Self::Alt(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
            Self::Repeat(part, ..) => 1 + part.size(),
        }
    }

    /// The texts that are not empty, or `None` if that takes more nodes than the budget has.
    fn without_empty(&self, budget: &mut usize) -> Option<Self> {
        if !self.is_nullable() {
            return self.copy_within(budget);
        }
        match self {
            Self::Leaf(_) => self.copy_within(budget),
            Self::Alt(alternatives) => {
                let all: Option<Vec<Self>> =
                    alternatives.iter().map(|it| it.without_empty(budget)).collect();
                Some(Self::alt(all?))
            }
            Self::Repeat(part, _, most) => part.copy_within(budget)?.try_repeat(1, *most, budget),
            Self::Seq(parts) => {
                let mut alternatives = Vec::with_capacity(parts.len());
                for (at, part) in parts.iter().enumerate() {
                    let mut sequence = vec![part.without_empty(budget)?];
                    for part in &parts[at + 1..] {
                        sequence.push(part.copy_within(budget)?);
                    }
                    alternatives.push(Self::seq(sequence));
                }
                Some(Self::alt(alternatives))
            }
        }
    }

    /// A copy, or `None` if it has more nodes than the budget.
    pub(super) fn copy_within(&self, budget: &mut usize) -> Option<Self> {
        *budget = budget.checked_sub(self.size())?;
        Some(self.clone())
    }

    /// The lengths of the texts. `None` if there are none.
    pub fn lengths(&self) -> Option<Lengths> {
        match self {
            Self::Leaf(_) => Some((1, Some(1))),
            Self::Seq(parts) => parts.iter().try_fold((0, Some(0)), |sum: Lengths, part| {
                let (least, most) = part.lengths()?;
                let most = sum.1.zip(most).map(|(a, b)| a.saturating_add(b));
                Some((sum.0.saturating_add(least), most))
            }),
            Self::Alt(alternatives) => {
                let mut all = alternatives.iter().filter_map(Self::lengths);
                let first = all.next()?;
                Some(all.fold(first, |known, (least, most)| {
                    (known.0.min(least), known.1.zip(most).map(|(a, b)| a.max(b)))
                }))
            }
            Self::Repeat(part, least, most) => {
                let (shortest, longest) = part.lengths()?;
                let most = longest.zip(*most).map(|(a, b)| a.saturating_mul(b));
                Some((shortest.saturating_mul(*least), most))
            }
        }
    }

    /// Only texts whose length is within bounds, and whether these are all of them.
    pub fn within(&self, least: u32, most: Option<u32>) -> (Self, bool) {
        self.narrow(least, most, &mut { MAX_NARROWED })
    }

    /// Only texts whose length is within bounds, as many as the budget suffices for.
    fn narrow(&self, least: u32, most: Option<u32>, budget: &mut usize) -> (Self, bool) {
        let Some((shortest, longest)) = self.lengths() else { return (Self::NEVER, true) };
        let too_short = longest.is_some_and(|longest| longest < least);
        if too_short || most.is_some_and(|most| most < shortest) {
            return (Self::NEVER, true);
        }
        let fits = most.is_none_or(|most| longest.is_some_and(|longest| longest <= most));
        if shortest >= least && fits {
            return (self.clone(), true);
        }
        let Some(left) = budget.checked_sub(self.size()) else { return (Self::NEVER, false) };
        *budget = left;
        match self {
            Self::Leaf(_) => (Self::NEVER, true),
            Self::Alt(alternatives) => {
                let mut exact = true;
                let narrowed = Self::alt(alternatives.iter().map(|alternative| {
                    let (narrowed, all) = alternative.narrow(least, most, budget);
                    exact &= all;
                    narrowed
                }));
                (narrowed, exact)
            }
            Self::Seq(parts) => sequence_within(parts, least, most, budget),
            Self::Repeat(part, low, high) => {
                repetition_within(part, (*low, *high), (least, most), budget)
            }
        }
    }
}

/// Narrows a sequence. If more than one part varies in length, the widest ones give way last.
fn sequence_within(
    parts: &[Regex],
    least: u32,
    most: Option<u32>,
    budget: &mut usize,
) -> (Regex, bool) {
    let lengths: Vec<Lengths> =
        parts.iter().map(|part| part.lengths().unwrap_or_default()).collect();
    let mut bounds: Vec<Lengths> = lengths.iter().map(|&(low, _)| (low, Some(low))).collect();
    let fixed: u32 = lengths.iter().map(|&(low, _)| low).fold(0, u32::saturating_add);
    let varied: Vec<usize> =
        (0..parts.len()).filter(|&at| lengths[at].1 != Some(lengths[at].0)).collect();
    let mut order = varied.clone();
    order.sort_by_key(|&at| std::cmp::Reverse((lengths[at].1.unwrap_or(u32::MAX), at)));
    let mut missing = least.saturating_sub(fixed);
    let mut room = most.map(|most| most.saturating_sub(fixed).saturating_sub(missing));
    for &at in &order {
        let (low, high) = lengths[at];
        let more = high.map_or(missing, |high| missing.min(high - low));
        missing -= more;
        bounds[at].0 = low + more;
        bounds[at].1 = match (high, room) {
            (high, None) => high,
            (high, Some(left)) => {
                let used = high.map_or(left, |high| left.min(high - low - more));
                room = Some(left - used);
                Some(low + more + used)
            }
        };
    }
    let mut exact = varied.len() < 2;
    let narrowed = Regex::seq(parts.iter().zip(&bounds).map(|(part, &(low, high))| {
        let (part, all) = part.narrow(low, high, budget);
        exact &= all;
        part
    }));
    (narrowed, exact)
}

/// The most copies of a part that is repeated and varies in length.
const MAX_COPIES: u32 = 16;

/// Narrows a repetition.
fn repetition_within(
    part: &Regex,
    times: Lengths,
    lengths: Lengths,
    budget: &mut usize,
) -> (Regex, bool) {
    let ((low, high), (least, most)) = (times, lengths);
    let (shortest, longest) = part.lengths().unwrap_or_default();
    let shortest = shortest.max(1);
    let low = low.max(match longest {
        Some(longest) if longest == shortest => least.div_ceil(shortest),
        _ => 0,
    });
    if longest == Some(shortest) {
        let most = most.map(|most| most / shortest);
        let high = high.zip(most).map(|(a, b)| a.min(b)).or(high).or(most);
        return (part.clone().repeat(low, high), true);
    }
    // Every number of copies is a sequence; so many are tried, and those that fit are kept.
    let first = low.max(1);
    let last = high.unwrap_or(u32::MAX).min(first.saturating_add(MAX_COPIES));
    let empty = (low == 0 && least == 0).then_some(Regex::EMPTY);
    let mut copies: Vec<Regex> = empty.into_iter().collect();
    for count in first..=last {
        let too_long = most.is_some_and(|most| count.saturating_mul(shortest) > most);
        let left = budget.checked_sub(part.size().saturating_mul(count as usize));
        let Some(left) = left.filter(|_| !too_long) else { break };
        *budget = left;
        copies.push(sequence_within(&vec![part.clone(); count as usize], least, most, budget).0);
    }
    (Regex::alt(copies), false)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    fn digits(least: u32, most: Option<u32>) -> Regex {
        Regex::class(&[('0', '9')]).repeat(least, most)
    }

    #[test]
    fn what_repeats_is_never_empty() {
        let optional = digits(0, Some(1));
        assert_eq!(optional.clone().repeat(0, None), digits(0, None));
        assert_eq!(optional.repeat(3, None), digits(0, None));
        let both = Regex::seq([digits(0, None), Regex::literal("a").optional()]);
        let Regex::Repeat(part, 0, None) = both.repeat(2, None) else { panic!("not repeated") };
        assert_eq!(part.lengths(), Some((1, None)));
    }

    #[test]
    fn lengths_are_narrowed_exactly_where_one_part_varies() {
        let name = Regex::seq([Regex::class(&[('a', 'z')]), digits(0, None)]);
        let narrow = Regex::seq([Regex::class(&[('a', 'z')]), digits(2, Some(7))]);
        assert_eq!(name.within(3, Some(8)), (narrow, true));
        let pairs = Regex::literal("ab").repeat(0, None);
        assert_eq!(pairs.within(3, Some(7)), (Regex::literal("ab").repeat(2, Some(3)), true));
        assert_eq!(Regex::literal("abc").within(4, None).0, Regex::NEVER);
    }

    #[test]
    fn several_varying_parts_share_the_room() {
        let parts = Regex::seq([digits(0, None), Regex::literal("-"), digits(1, Some(4))]);
        for (least, most) in [(0, Some(3)), (4, Some(6)), (9, None), (2, Some(2))] {
            let (narrowed, exact) = parts.within(least, most);
            let (low, high) = narrowed.lengths().unwrap_or_default();
            let fits = most.is_none_or(|most| high.is_some_and(|high| high <= most));
            assert!(low >= least && fits, "{narrowed:?}");
            assert!(!exact && !narrowed.is_never());
        }
    }

    #[test]
    fn repetitions_of_varying_parts_are_narrowed() {
        let words = Regex::seq([digits(1, None), Regex::literal(" ").optional()]).repeat(1, None);
        let (narrowed, exact) = words.within(3, Some(5));
        let (low, high) = narrowed.lengths().unwrap_or_default();
        assert!(low >= 3 && high.is_some_and(|high| high <= 5) && !exact);
    }
}
