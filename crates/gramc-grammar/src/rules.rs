//! Grammars as rules, apart from any notation.

use std::collections::{HashMap, HashSet};

use crate::regex::Regex;

/// The index of a rule.
pub(crate) type RuleId = usize;

/// The index of a token.
pub(crate) type TokenId = usize;

/// What a rule derives. No part of it begins with what another part can end with, so that tokens are
/// found one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    /// A JSON token as it is written.
    Text(String),
    Token(TokenId),
    Rule(RuleId),
    /// One after the other. Without parts, nothing.
    Seq(Vec<Expr>),
    /// One of these. Without alternatives, no sentence at all.
    Alt(Vec<Expr>),
    /// Repeated, at least and at most so many times.
    Repeat(Box<Expr>, u32, Option<u32>),
}

impl Expr {
    /// No sentence.
    pub(crate) const NEVER: Self = Self::Alt(Vec::new());
    /// The empty sentence.
    pub(crate) const EMPTY: Self = Self::Seq(Vec::new());

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn is_never(&self) -> bool {
        matches!(self, Self::Alt(alternatives) if alternatives.is_empty())
    }

    pub(crate) fn seq(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                never if never.is_never() => return Self::NEVER,
                Self::Seq(more) => flat.extend(more),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.swap_remove(0) } else { Self::Seq(flat) }
    }

    pub(crate) fn alt(alternatives: impl IntoIterator<Item = Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        for alternative in alternatives {
            match alternative {
                Self::Alt(more) => flat.extend(more),
                other if flat.len() < MAX_COMPARED && flat.contains(&other) => {}
                other => flat.push(other),
            }
        }
        if flat.len() > 1
            && let Some(at) = flat.iter().position(|it| *it == Self::EMPTY)
        {
            flat.remove(at);
            return Self::alt(flat).optional();
        }
        if flat.len() == 1 { flat.swap_remove(0) } else { Self::Alt(flat) }
    }

    pub(crate) fn repeat(self, least: u32, most: Option<u32>) -> Self {
        match (least, most) {
            _ if most.is_some_and(|most| most < least) => Self::NEVER,
            (_, Some(0)) => Self::EMPTY,
            (0, _) if self.is_never() => Self::EMPTY,
            _ if self.is_never() => Self::NEVER,
            (1, Some(1)) => self,
            _ => Self::Repeat(Box::new(self), least, most),
        }
    }

    pub(crate) fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }

    /// The rules that it uses.
    fn rules(&self, found: &mut Vec<RuleId>) {
        match self {
            Self::Text(_) | Self::Token(_) => {}
            Self::Rule(id) => found.push(*id),
            Self::Seq(parts) | Self::Alt(parts) => parts.iter().for_each(|part| part.rules(found)),
            Self::Repeat(part, ..) => part.rules(found),
        }
    }

    /// The tokens that it uses.
    fn tokens(&self, found: &mut Vec<TokenId>) {
        match self {
            Self::Text(_) | Self::Rule(_) => {}
            Self::Token(id) => found.push(*id),
            Self::Seq(parts) | Self::Alt(parts) => parts.iter().for_each(|it| it.tokens(found)),
            Self::Repeat(part, ..) => part.tokens(found),
        }
    }

    /// Without what uses rules that derive nothing.
    fn pruned(self, productive: &[bool]) -> Self {
        match self {
            Self::Rule(id) if !productive[id] => Self::NEVER,
            Self::Seq(parts) => Self::seq(parts.into_iter().map(|part| part.pruned(productive))),
            Self::Alt(parts) => Self::alt(parts.into_iter().map(|part| part.pruned(productive))),
            Self::Repeat(part, least, most) => part.pruned(productive).repeat(least, most),
            other => other,
        }
    }

    fn derives(&self, productive: &[bool]) -> bool {
        match self {
            Self::Text(_) | Self::Token(_) => true,
            Self::Rule(id) => productive[*id],
            Self::Seq(parts) => parts.iter().all(|part| part.derives(productive)),
            Self::Alt(parts) => parts.iter().any(|part| part.derives(productive)),
            Self::Repeat(part, least, _) => *least == 0 || part.derives(productive),
        }
    }
}

/// The most alternatives up to which equal ones are looked for.
const MAX_COMPARED: usize = 200;

/// A rule or a token with its name.
#[derive(Debug, Clone)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    pub(crate) body: T,
}

/// Rules, and the tokens that they use.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_field_names, reason = "rules and tokens are what it holds")]
pub(crate) struct Rules {
    pub(crate) rules: Vec<Named<Expr>>,
    pub(crate) tokens: Vec<Named<Regex>>,
    known_tokens: HashMap<Regex, TokenId>,
    names: HashSet<String>,
    /// The numbers that were appended to names.
    numbers: HashMap<String, u32>,
}

impl Rules {
    /// No rules. Some names are taken.
    pub(crate) fn new(reserved: &[&str]) -> Self {
        let names = reserved.iter().map(|&name| name.to_owned()).collect();
        Self { names, ..Self::default() }
    }

    /// A name of letters, digits and hyphens that no other rule or token has.
    fn free_name(&mut self, hint: &str) -> String {
        let mut base = String::new();
        for c in hint.chars().take(MAX_NAME) {
            match c.to_ascii_lowercase() {
                c if c.is_ascii_alphanumeric() => base.push(c),
                _ if base.ends_with('-') || base.is_empty() => {}
                _ => base.push('-'),
            }
        }
        let base = base.trim_end_matches('-');
        let base = match base.chars().next() {
            Some(first) if first.is_ascii_alphabetic() => base.to_owned(),
            _ => format!("x{base}"),
        };
        let number = self.numbers.entry(base.clone()).or_default();
        loop {
            *number += 1;
            let name = if *number == 1 { base.clone() } else { format!("{base}-{number}") };
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }

    /// A new rule, which derives nothing until it is set.
    pub(crate) fn declare(&mut self, hint: &str) -> RuleId {
        let name = self.free_name(hint);
        self.rules.push(Named { name, body: Expr::NEVER });
        self.rules.len() - 1
    }

    pub(crate) fn set(&mut self, id: RuleId, body: Expr) {
        self.rules[id].body = body;
    }

    /// Sets a declared rule. If that is only a reference to a later one, takes over what it derives.
    pub(crate) fn define(&mut self, id: RuleId, body: Expr) {
        let body = match body {
            Expr::Rule(later) if later > id => {
                std::mem::replace(&mut self.rules[later].body, Expr::Rule(id))
            }
            body => body,
        };
        self.rules[id].body = body;
    }

    /// A reference to a new rule.
    pub(crate) fn rule(&mut self, hint: &str, body: Expr) -> Expr {
        if body.is_never() {
            return body;
        }
        let id = self.declare(hint);
        self.set(id, body);
        Expr::Rule(id)
    }

    /// A token of JSON.
    pub(crate) fn token(&mut self, hint: &str, regex: Regex) -> Expr {
        if regex.is_never() {
            return Expr::NEVER;
        }
        if let Some(&id) = self.known_tokens.get(&regex) {
            return Expr::Token(id);
        }
        let id = self.tokens.len();
        self.known_tokens.insert(regex.clone(), id);
        let name = self.free_name(hint);
        self.tokens.push(Named { name, body: regex });
        Expr::Token(id)
    }

    /// A comma, and a space as many models write it.
    pub(crate) fn comma(&mut self) -> Expr {
        self.spaced("comma", ",")
    }

    pub(crate) fn colon(&mut self) -> Expr {
        self.spaced("colon", ":")
    }

    fn spaced(&mut self, name: &str, text: &str) -> Expr {
        let space = Regex::literal(" ").optional();
        self.token(name, Regex::seq([Regex::literal(text), space]))
    }

    /// Removes what derives nothing from all rules and from some expressions, which are returned.
    pub(crate) fn prune(&mut self, starts: Vec<Expr>) -> Vec<Expr> {
        let mut users: Vec<Vec<RuleId>> = vec![Vec::new(); self.rules.len()];
        for (id, rule) in self.rules.iter().enumerate() {
            let mut used = Vec::new();
            rule.body.rules(&mut used);
            for other in used {
                users[other].push(id);
            }
        }
        let mut productive = vec![false; self.rules.len()];
        let mut open: Vec<RuleId> = (0..self.rules.len()).collect();
        while let Some(id) = open.pop() {
            if !productive[id] && self.rules[id].body.derives(&productive) {
                productive[id] = true;
                open.extend(&users[id]);
            }
        }
        for rule in &mut self.rules {
            rule.body = std::mem::replace(&mut rule.body, Expr::NEVER).pruned(&productive);
        }
        starts.into_iter().map(|start| start.pruned(&productive)).collect()
    }

    /// The tokens that an expression and some rules use, in the order of their first use.
    pub(crate) fn used_tokens(&self, start: &Expr, rules: &[RuleId]) -> Vec<TokenId> {
        let mut found = Vec::new();
        start.tokens(&mut found);
        for &id in rules {
            self.rules[id].body.tokens(&mut found);
        }
        let mut seen = HashSet::new();
        found.retain(|&id| seen.insert(id));
        found
    }

    /// The rules that an expression uses, in the order of their first use.
    pub(crate) fn used(&self, start: &Expr) -> Vec<RuleId> {
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let mut open = Vec::new();
        start.rules(&mut open);
        open.reverse();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                order.push(id);
                let mut used = Vec::new();
                self.rules[id].body.rules(&mut used);
                open.extend(used.into_iter().rev());
            }
        }
        order
    }
}

/// The most characters of a name that come from a hint.
const MAX_NAME: usize = 40;
