//! The members of objects and arrays: which may be left out, and how many there are.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use gramc_json_schema::keywords::name as k;

use super::Builder;
use crate::rules::{Expr, ExprExt as _, RuleId};

/// The most rules for the numbers of members that were given before.
const MAX_COUNTED: usize = 20_000;

impl Builder<'_> {
    /// Members in their order, those that are not required or not, then further ones; their number
    /// is within bounds.
    pub(super) fn members(
        &mut self,
        members: Vec<(Expr, bool)>,
        further: Option<Expr>,
        least: u32,
        most: Option<u32>,
        hint: &str,
    ) -> Expr {
        let required = members.iter().filter(|member| member.1).count();
        let fits = |count: usize, bound: u32| u32::try_from(count).is_ok_and(|it| it >= bound);
        let least = if fits(required, least) { 0 } else { least };
        let bounded = most.filter(|&most| {
            further.is_some() || !u32::try_from(members.len()).is_ok_and(|count| count <= most)
        });
        let comma = self.comma();
        let mut chain = Chain::new(members, further, comma, least, bounded);
        if chain.is_too_large() {
            if least > 0 {
                self.lose(
                    k::MIN_PROPERTIES,
                    &least.into(),
                    "the first properties have to be given",
                );
            }
            if let Some(most) = bounded {
                self.lose(
                    k::MAX_PROPERTIES,
                    &most.into(),
                    "only the first properties can be given",
                );
            }
            chain = chain.with_first_members();
        }
        self.chain(&chain, hint)
    }

    /// The members, with a rule for each number of them that may have been given before one.
    fn chain(&mut self, chain: &Chain, hint: &str) -> Expr {
        let (end, mut after) = chain.end();
        let states = (1..end).flat_map(|at| chain.counts(at).map(move |count| (at, count)));
        let mut states: Vec<(usize, u32)> = states.collect();
        states.sort_by_key(|&(at, count)| (Reverse(count), at));
        let name = format!("{hint}-rest");
        let ids: HashMap<(usize, u32), RuleId> =
            states.into_iter().map(|state| (state, self.rules.declare(&name))).collect();
        for at in (0..end).rev() {
            let first = *chain.counts(at + 1).start();
            let rest = |count: u32| {
                let derived = count.checked_sub(first).and_then(|at| after.get(at as usize));
                derived.cloned().unwrap_or(Expr::NEVER)
            };
            let derived: Vec<_> =
                chain.counts(at).map(|count| (count, chain.member(at, count, rest))).collect();
            after = derived
                .into_iter()
                .map(|(count, derived)| match ids.get(&(at, count)) {
                    Some(&id) => {
                        self.rules.set(id, derived);
                        Expr::rule(id)
                    }
                    None => derived,
                })
                .collect();
        }
        after.pop().unwrap_or(Expr::NEVER)
    }
}

/// The members of an object or an array.
struct Chain {
    /// What they derive, and whether they are required.
    members: Vec<(Expr, bool)>,
    further: Option<Expr>,
    comma: Expr,
    least: u32,
    most: Option<u32>,
    /// From how many members on their number does not matter any more.
    enough: u32,
    /// How many of the members before each one are required.
    required_before: Vec<u32>,
}

impl Chain {
    fn new(
        members: Vec<(Expr, bool)>,
        further: Option<Expr>,
        comma: Expr,
        least: u32,
        most: Option<u32>,
    ) -> Self {
        let mut required_before = vec![0];
        for (at, (_, required)) in members.iter().enumerate() {
            required_before.push(required_before[at] + u32::from(*required));
        }
        let enough = most.unwrap_or_else(|| least.max(1));
        Self { members, further, comma, least, most, enough, required_before }
    }

    /// How many members may have been given before one.
    fn counts(&self, at: usize) -> RangeInclusive<u32> {
        let all = u32::try_from(at).unwrap_or(u32::MAX);
        let required = self.required_before[at];
        // With an upper bound, too many are no start of a sentence.
        let first = if self.most.is_some() { required } else { required.min(self.enough) };
        first..=all.min(self.enough)
    }

    fn is_too_large(&self) -> bool {
        let counts = (0..self.members.len()).map(|at| self.counts(at).count());
        self.enough > 1 && counts.sum::<usize>() > MAX_COUNTED
    }

    /// The same members with as many required ones as there have to be, and no more than there may.
    fn with_first_members(mut self) -> Self {
        let mut required = *self.required_before.last().unwrap_or(&0);
        for member in self.members.iter_mut().filter(|member| !member.1) {
            member.1 = required < self.least;
            required += u32::from(member.1);
        }
        if let Some(most) = self.most {
            let mut room = most.saturating_sub(required);
            self.members.retain(|member| {
                let is_kept = member.1 || room > 0;
                room -= u32::from(is_kept && !member.1);
                is_kept
            });
            self.further = None;
        }
        let is_possible = required >= self.least && self.most.is_none_or(|most| required <= most);
        let Self { members, further, comma, .. } = self;
        if is_possible {
            Self::new(members, further, comma, 0, None)
        } else {
            Self::new(vec![(Expr::NEVER, true)], None, comma, 0, None)
        }
    }

    /// From which member on no rules are needed, and what is derived from there on after each number
    /// of members.
    fn end(&self) -> (usize, Vec<Expr>) {
        let first = self.members.iter().position(|member| member.1).map(|at| at + 1);
        if let Some(first) = first.filter(|_| self.most.is_none() && self.enough == 1) {
            let members = self.members[first..].iter();
            let members = members.map(|(member, required)| self.next(member, *required));
            (first, vec![Expr::seq(members.chain([self.further(1)]))])
        } else {
            let end = self.members.len();
            (end, self.counts(end).map(|count| self.further(count)).collect())
        }
    }

    /// A member that is not the first one.
    fn next(&self, member: &Expr, required: bool) -> Expr {
        let next = Expr::seq([self.comma.clone(), member.clone()]);
        if required { next } else { next.optional() }
    }

    /// The members from one on, after so many.
    fn member(&self, at: usize, count: u32, rest: impl Fn(u32) -> Expr) -> Expr {
        let (member, required) = &self.members[at];
        if self.most.is_none() && count == self.enough {
            return Expr::seq([self.next(member, *required), rest(count)]);
        }
        let with = if self.most.is_some_and(|most| count >= most) {
            Expr::NEVER
        } else {
            let before = if count == 0 { Expr::EMPTY } else { self.comma.clone() };
            Expr::seq([before, member.clone(), rest(count + 1)])
        };
        let without = if *required { Expr::NEVER } else { rest(count) };
        Expr::alt([with, without])
    }

    /// The further members, after so many.
    fn further(&self, count: u32) -> Expr {
        let missing = self.least.saturating_sub(count);
        let room = self.most.map(|most| most.saturating_sub(count));
        if self.most.is_some_and(|most| count > most) {
            return Expr::NEVER;
        }
        let Some(further) = &self.further else {
            return if missing == 0 { Expr::EMPTY } else { Expr::NEVER };
        };
        // Two further members may have the same name, and then count as one.
        if missing > 1 {
            return Expr::NEVER;
        }
        if count > 0 {
            return Expr::seq([self.comma.clone(), further.clone()]).repeat(missing, room);
        }
        Expr::list(further.clone(), self.comma.clone(), missing, room)
    }
}
