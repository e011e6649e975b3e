//! The arguments and methods of types in other languages, as attributes.

use super::Reader;
use super::names::{find, is};

/// Marks between the bounds of a range. A longer one comes before the one that it begins with.
const TO: &[&str] = &["...", "..=", "..", "…", "–", "—", "-", "~", ":", "to ", "and ", "through "];

/// The type and the limit of a name: `PositiveInt`.
pub(super) fn find_limited(name: &str) -> Option<(&'static str, &'static str)> {
    find("limited", name)?.split_once(' ')
}

/// The attributes of a type and whether it is optional, in its foreign form.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    least: Option<String>,
    most: Option<String>,
    /// Other attributes, whole.
    others: Vec<String>,
    pub(super) optional: bool,
}

impl Limits {
    pub(super) fn is_empty(&self) -> bool {
        self.least.is_none() && self.most.is_none() && self.others.is_empty()
    }

    /// Adds other attributes of the same type, which take precedence.
    pub(super) fn join(&mut self, other: Self) {
        self.least = other.least.or(self.least.take());
        self.most = other.most.or(self.most.take());
        self.others.extend(other.others);
        self.optional |= other.optional;
    }

    pub(super) fn range(least: Option<String>, most: Option<String>) -> Self {
        Self { least, most, ..Self::default() }
    }

    fn other(&mut self, key: &str, value: &str) {
        self.others.push(format!("{key}: {value}"));
    }

    /// The attributes of a type.
    pub(super) fn attributes(&self, ty: &str) -> Vec<String> {
        let key = key_of(ty);
        let range = match (&self.least, &self.most) {
            (None, None) => None,
            (Some(least), Some(most)) => Some(format!("{key}: {least}..{most}")),
            (Some(least), None) => Some(format!("{key}: {least}...")),
            (None, Some(most)) => Some(format!("{key}: ...{most}")),
        };
        range.into_iter().chain(self.others.iter().cloned()).collect()
    }

    /// Adds the limit of a word; `false` if the value does not fit it.
    pub(super) fn add(&mut self, word: &str, value: Option<&str>) -> bool {
        let number = value.filter(|value| is_number(value)).map(str::to_owned);
        let text = value.filter(|value| value.starts_with('"'));
        let flag = value.is_none_or(|value| matches!(value, "true" | "True"));
        match (word, &number) {
            ("least", Some(_)) => self.least = number,
            ("most", Some(_)) => self.most = number,
            ("exactly", Some(_)) => (self.least, self.most) = (number.clone(), number),
            ("above" | "below", None) if flag => self.other(word, "0"),
            ("above" | "below" | "multipleOf", Some(number)) => self.other(word, number),
            ("at-least-one", _) if flag => self.least = Some("1".to_owned()),
            ("not-negative", _) if flag => self.least = Some("0".to_owned()),
            ("not-positive", _) if flag => self.most = Some("0".to_owned()),
            ("unique", _) if flag => self.other("unique", "true"),
            ("optional", _) if flag => self.optional = true,
            ("nothing", _) => {}
            ("default", _) => match value {
                Some("None" | "null" | "undefined") => self.optional = true,
                Some(value) if is_number(value) || value.starts_with('"') => {
                    self.other("default", value);
                }
                Some(value @ ("true" | "false" | "True" | "False")) => {
                    self.other("default", &value.to_lowercase());
                }
                _ => return false,
            },
            ("pattern" | "description", _) => match text {
                Some(text) => self.other(word, text),
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

/// The attribute that bounds the values of a type.
pub(crate) fn key_of(ty: &str) -> &'static str {
    let texts = ["Text", "String", "Email", "Uri", "Uuid", "Hostname"];
    let collections = ["Array", "List", "Map", "Object"];
    let collection = ty.ends_with(']') || ty.ends_with('}') || ty.starts_with("Map<");
    match ty.trim_end_matches('?') {
        ty if texts.contains(&ty) => "length",
        ty if collection || collections.contains(&ty) => "size",
        _ => "range",
    }
}

/// Whether a text is a number as gram and JSON write it.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    plain && !zero && digits.ends_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

impl Reader<'_> {
    /// A number, if that comes next.
    fn number(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        let sign = usize::from(rest.starts_with('-'));
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let whole = sign + digits(rest.get(sign..)?);
        let fraction = rest.get(whole..)?.strip_prefix('.').map_or(0, digits);
        let end = if fraction > 0 { whole + 1 + fraction } else { whole };
        let number = rest.get(..end)?;
        is_number(number).then(|| {
            self.rest = &rest[end..];
            number.to_owned()
        })
    }

    /// A range, of one bound at least: `1..5`, `1–5`, `1...`, `>= 1`.
    pub(super) fn range(&mut self) -> Option<Limits> {
        let start = self.rest;
        for read in [Self::comparison, Self::two_bounds] {
            if let Some(found) = read(self) {
                return Some(found);
            }
            self.rest = start;
        }
        None
    }

    fn two_bounds(&mut self) -> Option<Limits> {
        let least = self.number();
        TO.iter().find(|to| self.eat(to))?;
        let most = self.number();
        (least.is_some() || most.is_some()).then(|| Limits::range(least, most))
    }

    /// `>= 1`, `> 0`
    fn comparison(&mut self) -> Option<Limits> {
        let signs = [
            (">=", "least"),
            ("≥", "least"),
            (">", "above"),
            ("<=", "most"),
            ("≤", "most"),
            ("<", "below"),
        ];
        let (_, word) = signs.into_iter().find(|(sign, _)| self.eat(sign))?;
        let number = self.number()?;
        let mut limits = Limits::default();
        limits.add(word, Some(&number)).then_some(limits)
    }

    /// What follows a type in words: `where count > 0`, `>= 1`, `between 1 and 5`, `not null`.
    pub(super) fn condition(&mut self) -> Option<Limits> {
        let start = self.rest;
        let lead = ["where", "between", "from", "in", "if", "range", "with", "of", "max", "min"];
        match lead.into_iter().find(|word| self.eat_word(word)) {
            Some("where" | "if" | "with") => {
                // The name of the parameter.
                let _ = self.take_word();
            }
            Some("max") => return Some(Limits::range(None, Some(self.number()?))),
            Some("min") => return Some(Limits::range(Some(self.number()?), None)),
            _ => {}
        }
        let Some(mut limits) = self.range() else {
            self.rest = start;
            return None;
        };
        while self.eat("&&") || self.eat_word("and") || self.eat(",") {
            let at = self.rest;
            if !self.rest.trim_start().starts_with(['<', '>', '≤', '≥']) {
                let _ = self.take_word();
            }
            let Some(more) = self.range() else {
                self.rest = at;
                return Some(limits);
            };
            limits.join(more);
        }
        Some(limits)
    }

    /// An argument that is no type: `ge=1`, `Field(ge=1)`, `1..5`, `>= 1`.
    pub(super) fn limit(&mut self) -> Option<Limits> {
        let start = self.rest;
        let found = self.named_limit();
        if found.is_none() {
            self.rest = start;
            return self.range();
        }
        found
    }

    fn named_limit(&mut self) -> Option<Limits> {
        let name = self.take_word();
        let mut limits = Limits::default();
        if is("call", name) && self.eat("(") {
            while !self.at(")") {
                limits.join(self.limit().or_else(|| self.positional_default())?);
                if !self.eat(",") {
                    break;
                }
            }
            return self.eat(")").then_some(limits);
        }
        if name.is_empty() {
            // `Field(...)`
            return self.eat("...").then_some(limits);
        }
        let word = find("limit", name)?;
        let alone = self.rest.trim_start();
        let flag = matches!(word, "optional" | "unique" | "nothing");
        if flag && (alone.is_empty() || alone.starts_with([',', ')', ']', '>'])) {
            return limits.add(word, None).then_some(limits);
        }
        if self.eat("(") {
            let value = self.value()?;
            return (self.eat(")") && limits.add(word, Some(&value))).then_some(limits);
        }
        if self.at("==") || self.at("=>") || !(self.eat("=") || self.eat(":")) {
            return None;
        }
        let value = self.value()?;
        limits.add(word, Some(&value)).then_some(limits)
    }

    /// `Field(3, …)`
    fn positional_default(&mut self) -> Option<Limits> {
        let value = self.value()?;
        let mut limits = Limits::default();
        limits.add("default", Some(&value)).then_some(limits)
    }

    /// A value: a number, a word, or a text, as gram writes it.
    pub(super) fn value(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        self.rest = rest;
        let raw = rest.strip_prefix('r').filter(|rest| rest.starts_with(['"', '\'']));
        if let Some(text) = raw.or(Some(rest).filter(|rest| rest.starts_with('/'))) {
            let quote = text.chars().next()?;
            let (inner, after) = text[1..].split_once(quote)?;
            // A regular expression may have flags.
            let flags = after.trim_start_matches(|c: char| quote == '/' && c.is_ascii_lowercase());
            self.rest = flags;
            return Some(format!("\"{}\"", inner.replace('\\', "\\\\").replace('"', "\\\"")));
        }
        match rest.chars().next()? {
            quote @ ('"' | '\'') => self.string(quote),
            c if c.is_ascii_digit() || c == '-' => self.number(),
            _ => Some(self.take_word().to_owned()).filter(|word| !word.is_empty()),
        }
    }
}
