//! Grammars as rules, apart from any notation.

use gramc_json_schema::regular::{Leaf, Regex, Tree};

use std::collections::{HashMap, HashSet};

/// The index of a rule.
pub(crate) type RuleId = usize;

/// The index of a token.
pub(crate) type TokenId = usize;

/// A part of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    /// A JSON token as it is written.
    Text(String),
    Token(TokenId),
    Rule(RuleId),
}

/// What a rule derives. No part of it begins with what another part can end with, so that tokens are
/// found one by one.
pub(crate) type Expr = Tree<Atom>;

/// The most alternatives up to which equal ones are looked for.
const MAX_COMPARED: usize = 200;

impl Leaf for Atom {
    fn simplify(alternatives: Vec<Expr>) -> Vec<Expr> {
        let mut distinct: Vec<Expr> = Vec::with_capacity(alternatives.len());
        for alternative in alternatives {
            if distinct.len() >= MAX_COMPARED || !distinct.contains(&alternative) {
                distinct.push(alternative);
            }
        }
        distinct
    }

    fn repeat(part: Expr, least: u32, most: Option<u32>) -> Expr {
        match (least, most) {
            _ if most.is_some_and(|most| most < least) => Expr::NEVER,
            (_, Some(0)) => Expr::EMPTY,
            (0, _) if part.is_never() => Expr::EMPTY,
            (1, Some(1)) => part,
            _ if part.is_never() => Expr::NEVER,
            _ => Expr::Repeat(Box::new(part), least, most),
        }
    }
}

/// The parts of rules.
pub(crate) trait ExprExt: Sized {
    fn text(text: impl Into<String>) -> Self;

    fn rule(id: RuleId) -> Self;

    /// Items with a comma between them, at least and at most so many.
    fn list(item: Self, comma: Self, least: u32, most: Option<u32>) -> Self;

    /// The rules that it uses.
    fn rules(&self) -> impl DoubleEndedIterator<Item = RuleId>;

    /// Removes the parts that use rules which derive nothing.
    fn prune(self, productive: &[bool]) -> Self;

    /// Whether it derives a text, if some rules do.
    fn derives(&self, productive: &[bool]) -> bool;
}

impl ExprExt for Expr {
    fn text(text: impl Into<String>) -> Self {
        Self::Leaf(Atom::Text(text.into()))
    }

    fn rule(id: RuleId) -> Self {
        Self::Leaf(Atom::Rule(id))
    }

    fn list(item: Self, comma: Self, least: u32, most: Option<u32>) -> Self {
        let next = Self::seq([comma, item.clone()]);
        let more = next.repeat(least.saturating_sub(1), most.map(|most| most.saturating_sub(1)));
        match (least, most) {
            (0, Some(0)) => Self::EMPTY,
            (_, Some(0)) => Self::NEVER,
            (0, _) => Self::seq([item, more]).optional(),
            _ => Self::seq([item, more]),
        }
    }

    fn rules(&self) -> impl DoubleEndedIterator<Item = RuleId> {
        self.leaves().into_iter().filter_map(|leaf| match leaf {
            Atom::Rule(id) => Some(*id),
            Atom::Text(_) | Atom::Token(_) => None,
        })
    }

    fn prune(self, productive: &[bool]) -> Self {
        match self {
            Self::Leaf(Atom::Rule(id)) if !productive[id] => Self::NEVER,
            Self::Seq(parts) => Self::seq(parts.into_iter().map(|part| part.prune(productive))),
            Self::Alt(parts) => Self::alt(parts.into_iter().map(|part| part.prune(productive))),
            Self::Repeat(part, least, most) => part.prune(productive).repeat(least, most),
            leaf @ Self::Leaf(_) => leaf,
        }
    }

    fn derives(&self, productive: &[bool]) -> bool {
        match self {
            Self::Leaf(Atom::Rule(id)) => productive[*id],
            Self::Leaf(_) => true,
            Self::Seq(parts) => parts.iter().all(|part| part.derives(productive)),
            Self::Alt(parts) => parts.iter().any(|part| part.derives(productive)),
            Self::Repeat(part, least, _) => *least == 0 || part.derives(productive),
        }
    }
}

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
            Expr::Leaf(Atom::Rule(later)) if later > id => {
                std::mem::replace(&mut self.rules[later].body, Expr::rule(id))
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
        Expr::rule(id)
    }

    /// A token of JSON.
    pub(crate) fn token(&mut self, hint: &str, regex: Regex) -> Expr {
        if regex.is_never() {
            return Expr::NEVER;
        }
        if let Some(&id) = self.known_tokens.get(&regex) {
            return Expr::Leaf(Atom::Token(id));
        }
        let id = self.tokens.len();
        self.known_tokens.insert(regex.clone(), id);
        let name = self.free_name(hint);
        self.tokens.push(Named { name, body: regex });
        Expr::Leaf(Atom::Token(id))
    }

    /// A comma, and a space as many models write it.
    pub(crate) fn comma(&mut self) -> Expr {
        self.punctuation("comma", ",")
    }

    pub(crate) fn colon(&mut self) -> Expr {
        self.punctuation("colon", ":")
    }

    fn punctuation(&mut self, name: &str, text: &str) -> Expr {
        let space = Regex::literal(" ").optional();
        self.token(name, Regex::seq([Regex::literal(text), space]))
    }

    /// Removes what derives nothing from all rules and from some expressions, which are returned.
    pub(crate) fn prune(&mut self, starts: Vec<Expr>) -> Vec<Expr> {
        let mut users: Vec<Vec<RuleId>> = vec![Vec::new(); self.rules.len()];
        for (id, rule) in self.rules.iter().enumerate() {
            rule.body.rules().for_each(|used| users[used].push(id));
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
            rule.body = std::mem::replace(&mut rule.body, Expr::NEVER).prune(&productive);
        }
        starts.into_iter().map(|start| start.prune(&productive)).collect()
    }

    /// The tokens that an expression and some rules use, in the order of their first use.
    pub(crate) fn used_tokens(&self, start: &Expr, rules: &[RuleId]) -> Vec<TokenId> {
        let bodies = std::iter::once(start).chain(rules.iter().map(|&id| &self.rules[id].body));
        let mut seen = HashSet::new();
        let tokens = bodies.flat_map(Expr::leaves).filter_map(|leaf| match leaf {
            Atom::Token(id) => seen.insert(*id).then_some(*id),
            Atom::Text(_) | Atom::Rule(_) => None,
        });
        tokens.collect()
    }

    /// The rules that an expression uses, in the order of their first use.
    pub(crate) fn used_rules(&self, start: &Expr) -> Vec<RuleId> {
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<RuleId> = start.rules().rev().collect();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                order.push(id);
                open.extend(self.rules[id].body.rules().rev());
            }
        }
        order
    }
}

/// The most characters of a name that come from a hint.
const MAX_NAME: usize = 40;
