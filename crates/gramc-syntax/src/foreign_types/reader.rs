//! Reads a type of another language and writes it as gram does.

use super::limits::{Limits, find_limited};
use super::names::{FUNCTIONS, HELP_FUNCTIONS, PHRASES, PREFIXES, find, is};
use super::{Missing, Translation, foreign_type_name};
use crate::limits::MAX_TYPE_DEPTH;

pub(super) struct Reader<'e> {
    pub(super) rest: &'e str,
    pub(super) depth: u32,
    /// The first thing that is not gram.
    pub(super) reason: Option<&'static str>,
    /// The first name of another language, and gram's.
    pub(super) name: Option<(&'e str, &'static str)>,
    /// The first thing that gram has nothing like.
    pub(super) missing: Option<Missing>,
}

/// A member of a union, as far as it is read.
#[derive(Default)]
pub(super) struct Member {
    pub(super) text: String,
    /// Its attributes.
    pub(super) limits: Limits,
    /// Whether it is `None`, `undefined` or the like.
    pub(super) absent: bool,
    /// Whether it is a text in quotes.
    pub(super) literal: bool,
    /// Whether it is a name alone, which may have arguments.
    pub(super) name: bool,
    /// The items of a list in brackets.
    pub(super) items: Vec<String>,
}

/// The built-in type of a name of another language.
pub(super) fn ours(name: &str) -> Option<&'static str> {
    find_limited(name).map(|(ty, _)| ty).or_else(|| foreign_type_name(name))
}

impl Member {
    /// A name alone, in gram.
    pub(super) fn of_name(name: &str) -> Self {
        let absent = matches!(name, "None" | "undefined" | "nil" | "null");
        let text = ours(name).unwrap_or(name).to_owned();
        let mut limits = Limits::default();
        if let Some((_, word)) = find_limited(name) {
            limits.add(word, None);
        }
        Self { text, limits, absent, name: true, ..Self::default() }
    }

    pub(super) fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl<'e> Reader<'e> {
    pub(super) fn new(rest: &'e str) -> Self {
        Self { rest: rest.trim(), depth: 0, reason: None, name: None, missing: None }
    }

    pub(super) fn note(&mut self, reason: &'static str) {
        self.reason.get_or_insert(reason);
    }

    pub(super) fn lacks<T>(&mut self, reason: &str, help: impl Into<String>) -> Option<T> {
        self.missing.get_or_insert(Missing { reason: reason.to_owned(), help: help.into() });
        None
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    pub(super) fn at(&self, token: &str) -> bool {
        self.rest.trim_start().starts_with(token)
    }

    /// A word, if that comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(word).filter(|after| !after.starts_with(is_word));
        self.rest = after.unwrap_or(rest);
        after.is_some()
    }

    pub(super) fn take_word(&mut self) -> &'e str {
        self.rest = self.rest.trim_start();
        self.take(is_word)
    }

    /// A closing bracket, which may be missing at the end.
    pub(super) fn close(&mut self, token: &str) -> bool {
        if self.eat(token) {
            return true;
        }
        if token == "}" && self.rest.trim() == ")" {
            self.note("the `{` is closed with `}`");
            return self.eat(")");
        }
        let end = self.rest.trim().is_empty();
        if end {
            self.note(match token {
                "]" => "the `[` is never closed",
                ">" => "the `<` is never closed",
                ")" => "the `(` is never closed",
                _ => "the `{` is never closed",
            });
        }
        end
    }

    /// A type that is part of another one, which has no attributes of its own.
    pub(super) fn part(&mut self, outer: bool) -> Option<String> {
        let member = self.union(outer)?;
        self.without_limits(member)
    }

    pub(super) fn without_limits(&mut self, member: Member) -> Option<String> {
        let Member { text, limits, .. } = member;
        if limits.is_empty() {
            return Some(if limits.optional { add_suffix(&text, "?") } else { text });
        }
        let attributes = limits.attributes(&text);
        let reason = String::new();
        let missing = Missing::from(&Translation { text, attributes, optional: false, reason });
        self.missing.get_or_insert(missing);
        None
    }

    pub(super) fn union(&mut self, outer: bool) -> Option<Member> {
        while self.eat("|") {
            self.note("a `|` is written between two members only");
        }
        let mut members = vec![self.member()?];
        loop {
            if self.eat("||") {
                self.note("members are separated by one `|`");
            } else if self.eat_word("or") || (!self.at_pattern() && self.eat("/")) {
                self.note("members are separated by `|`");
            } else if self.eat("|") {
                if self.rest.trim().is_empty() {
                    self.note("a `|` is written between two members only");
                    break;
                }
            } else if outer && self.at(",") && members.iter().all(|member| member.literal) {
                self.eat(",");
                self.note("members are separated by `|`");
            } else if self.at("&") || self.at_word("and") {
                let first = members.pop()?;
                return self.intersection(first);
            } else if self.at("=>") || self.at("->") {
                return self.lacks(FUNCTIONS, HELP_FUNCTIONS);
            } else if self.at_word("extends") || self.at_word("is") {
                return self.lacks("gram has no conditional types", "write the type itself");
            } else {
                break;
            }
            members.push(self.member()?);
        }
        if members.len() == 1 {
            return members.pop();
        }
        let absent = members.iter().filter(|member| member.absent).count();
        let other = self.reason.is_some() || self.name.is_some();
        if let (1, true, Some(only)) =
            (members.len() - absent, other, members.iter().position(|it| !it.absent))
        {
            let mut only = members.swap_remove(only);
            only.text = add_suffix(&only.text, "?");
            return Some(only);
        }
        let mut texts = Vec::new();
        for member in members {
            texts.push(self.without_limits(member)?);
        }
        Some(Member::plain(texts.join(" | ")))
    }

    fn at_word(&self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
    }

    pub(super) fn member(&mut self) -> Option<Member> {
        self.depth += 1;
        if self.depth > MAX_TYPE_DEPTH {
            return None;
        }
        let (mut nullable, mut lists) = (false, 0);
        let (mut of_item, mut of_whole) = (Limits::default(), Limits::default());
        loop {
            if self.eat("?") {
                self.note("the `?` follows the type");
                nullable = true;
            } else if self.eat("[]") {
                self.note("the `[]` follows the type");
                lists += 1;
            } else if self.at("...") && !self.number_follows("...") {
                self.eat("...");
                self.note("a list is written `T[]`");
                lists += 1;
            } else if ["&", "*", "@", "$", "#", "~", "^"].iter().any(|mark| self.eat(mark)) {
                self.note("a type has no mark before its name");
            } else if self.at_word("nullable") && self.eat_word("nullable") {
                self.note("a type that may be null is written `T?`");
                nullable = true;
            } else if !self.modifier(&mut of_item, &mut of_whole)? {
                break;
            }
        }
        let mut member = self.primary()?;
        member.limits.join(of_item);
        while self.suffix(&mut member)? {
            member.literal = false;
        }
        for _ in 0..lists {
            member.text = list_of(&member.text);
        }
        member.limits.join(of_whole);
        if nullable {
            member.text.push('?');
        }
        self.depth -= 1;
        Some(member)
    }

    /// Whether the arguments of a name follow: not `[]`, `[3]` or an unclosed `[`.
    pub(super) fn at_arguments(&self) -> bool {
        let rest = self.rest.trim_start();
        let list = rest.strip_prefix('[').map(|rest| {
            let size = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
            size.is_empty() || size.starts_with(']')
        });
        match list {
            Some(list) => !list,
            // A comparison has a number after its sign.
            None => rest.starts_with('(') || (rest.starts_with('<') && !rest.starts_with("<=")),
        }
    }

    pub(super) fn number_follows(&self, mark: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(mark).unwrap_or_default();
        rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-')
    }

    /// A word before a type: `readonly`, `optional`, `unsigned`.
    fn modifier(&mut self, of_item: &mut Limits, of_whole: &mut Limits) -> Option<bool> {
        let rest = self.rest.trim_start();
        let (first, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let known = PREFIXES.iter().find(|(words, ..)| words.contains(&first));
        if let Some((_, reason, help)) = known
            && after.starts_with([' ', '(', '[', '<'])
        {
            return self.lacks(reason, *help);
        }
        let type_follows = after.starts_with(char::is_whitespace)
            && after.trim_start().starts_with(|c: char| is_word(c) || matches!(c, '[' | '{' | '"'));
        let joined = ["or ", "of ", "and ", "where ", "in ", "between "];
        if !type_follows || joined.iter().any(|word| after.trim_start().starts_with(word)) {
            return Some(false);
        }
        match first {
            "optional" => of_whole.optional = true,
            "unique" => {
                of_whole.add("unique", None);
            }
            "unsigned" | "nonnegative" | "positive" | "negative" => {
                of_item.add(find("limit", first)?, None);
            }
            _ if is("modifier", first) => {}
            _ => return Some(false),
        }
        self.rest = after;
        self.note("a type has no modifiers");
        Some(true)
    }

    fn primary(&mut self) -> Option<Member> {
        let rest = self.rest.trim_start();
        self.rest = rest;
        let plain = |text: String| Some(Member::plain(text));
        match rest.chars().next()? {
            quote @ ('"' | '\'') => {
                let text = self.string(quote)?;
                Some(Member { text, literal: true, ..Member::default() })
            }
            quote @ ('“' | '”' | '„' | '‘' | '’' | '«') => {
                let inner = &rest[quote.len_utf8()..];
                let end = inner.find(['”', '“', '’', '‘', '»', '"', '\''])?;
                let close = inner[end..].chars().next()?.len_utf8();
                self.rest = &inner[end + close..];
                self.note("texts in types have straight quotes");
                let text = format!("\"{}\"", &inner[..end]);
                Some(Member { text, literal: true, ..Member::default() })
            }
            '/' => {
                let pattern = self.value()?;
                self.note("a pattern is an attribute");
                let mut member = Member::plain("Text".to_owned());
                member.limits.add("pattern", Some(&pattern)).then_some(member)
            }
            '(' => self.read_parenthesized(),
            '[' => {
                self.eat("[");
                let items = self.items("]")?;
                Some(Member { text: format!("[{}]", items.join(", ")), items, ..Member::default() })
            }
            '{' => {
                self.eat("{");
                if self.eat("[") {
                    return self.index_signature();
                }
                if self.at("\"") || self.at("'") {
                    let start = (self.rest, self.reason);
                    if let Some(members) =
                        self.items("}").filter(|it| it.iter().all(|it| it.starts_with('"')))
                    {
                        self.note("a union is written `T | U`");
                        return plain(members.join(" | "));
                    }
                    (self.rest, self.reason) = start;
                }
                let fields = self.fields("}")?;
                plain(format!("{{{}}}", fields.join(", ")))
            }
            c if c.is_ascii_digit() || matches!(c, '-' | '.' | '>' | '<') => {
                let start = self.rest;
                if let Some(limits) = self.range() {
                    self.note("a range is an attribute");
                    let whole = !start[..start.len() - self.rest.len()]
                        .replace("...", "")
                        .replace("..", "")
                        .contains('.');
                    let text = if whole { "Int" } else { "Number" }.to_owned();
                    return Some(Member { text, limits, ..Member::default() });
                }
                let number =
                    self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
                plain(number.to_owned())
            }
            c if is_word(c) => self.read_named(),
            _ => None,
        }
    }

    /// A type in parentheses, a tuple, a record, or the parameters of a function.
    fn read_parenthesized(&mut self) -> Option<Member> {
        self.eat("(");
        let start = self.rest;
        let _ = self.take_word();
        let _ = self.eat("?");
        let named = self.at(":");
        self.rest = start;
        let member = if self.eat(")") {
            self.note("the type of nothing is `Null`");
            Member { text: "Null".to_owned(), absent: true, ..Member::default() }
        } else if named {
            let fields = self.fields(")")?;
            self.note("a record is written `{name: T}`");
            Member::plain(format!("{{{}}}", fields.join(", ")))
        } else {
            let mut items = self.items(")")?;
            if items.len() == 1 {
                Member::plain(format!("({})", items.pop()?))
            } else {
                let texts = items.iter().all(|item| item.starts_with('"'));
                if texts {
                    self.note("one of several texts is written `\"a\" | \"b\"`");
                    Member::plain(items.join(" | "))
                } else {
                    self.note("a tuple is written `[T, U]`");
                    Member::plain(format!("[{}]", items.join(", ")))
                }
            }
        };
        if self.at("=>") || self.at("->") {
            return self.lacks(FUNCTIONS, HELP_FUNCTIONS);
        }
        Some(member)
    }

    /// `{[key: string]: Text}`, after the second bracket.
    fn index_signature(&mut self) -> Option<Member> {
        let (_, rest) = self.rest.split_once(']')?;
        self.rest = rest;
        let _ = self.eat("?");
        self.eat(":").then_some(())?;
        let value = self.part(false)?;
        let _ = self.eat(";") || self.eat(",");
        self.note("a map is written `Map<T>`: its keys are always texts");
        self.close("}").then(|| Member::plain(format!("Map<{value}>")))
    }

    pub(super) fn take(&mut self, part: impl Fn(char) -> bool) -> &'e str {
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A text in quotes, as JSON.
    pub(super) fn string(&mut self, quote: char) -> Option<String> {
        let inner = &self.rest[1..];
        let mut escaped = false;
        let end = inner.find(|c| {
            let closes = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        })?;
        self.rest = &inner[end + 1..];
        if quote == '"' {
            return Some(format!("\"{}\"", &inner[..end]));
        }
        self.note("texts in types have double quotes");
        let text = inner[..end].replace("\\'", "'").replace('"', "\\\"");
        Some(format!("\"{text}\""))
    }

    /// Whether a name in a module follows the name of one: `google`, before `.protobuf.Timestamp`.
    fn at_member_of(&self, module: &str) -> bool {
        let path = self.rest.find(|c| !is_word(c) && c != '.').unwrap_or(self.rest.len());
        let name = self.rest[..path].rsplit('.').next().unwrap_or_default();
        module.starts_with(char::is_lowercase)
            && foreign_type_name(module).is_none()
            && name.starts_with(char::is_uppercase)
    }

    fn read_named(&mut self) -> Option<Member> {
        let phrase = PHRASES.iter().find(|(words, _)| {
            let start = self.rest.get(..words.len()).unwrap_or_default();
            let ends = !self.rest[start.len()..].starts_with(is_word);
            start.to_lowercase() == *words && ends
        });
        if let Some((words, ours)) = phrase {
            self.name.get_or_insert((&self.rest[..words.len()], ours));
            self.rest = &self.rest[words.len()..];
            return Some(Member { text: (*ours).to_owned(), name: true, ..Member::default() });
        }
        let mut word = self.take(is_word);
        while (is("module", word) || self.at_member_of(word))
            && self.rest.starts_with('.')
            && self.rest[1..].starts_with(is_word)
        {
            self.note("a type has no module before its name");
            self.rest = &self.rest[1..];
            word = self.take(is_word);
        }
        if matches!(word, "one" | "any") && self.eat_word("of") {
            self.note("a union is written `T | U`");
            return self.union(true);
        }
        if is("list", word) && self.eat_word("of") {
            self.note("a list is written `T[]`");
            let item = self.member()?;
            let mut item = self.without_limits(item)?;
            if let Some(ours) = item.strip_suffix('s').and_then(ours) {
                item = ours.to_owned();
            }
            return Some(Member::plain(list_of(&item)));
        }
        if is("map", word) && self.eat_word("of") {
            self.note("a map is written `Map<T>`");
            let value = self.part(false)?;
            return Some(Member::plain(format!("Map<{value}>")));
        }
        if self.at_arguments() {
            return self.arguments(word);
        }
        let ty = Member::of_name(word);
        if ty.text != word && word != "null" {
            self.name.get_or_insert((word, ours(word)?));
        }
        Some(ty)
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

pub(super) fn add_suffix(ty: &str, suffix: &str) -> String {
    if ty.contains(" | ") && !ty.starts_with(['[', '{', '(']) {
        format!("({ty}){suffix}")
    } else {
        format!("{ty}{suffix}")
    }
}

pub(super) fn list_of(ty: &str) -> String {
    add_suffix(ty, "[]")
}
