//! Brackets: the arguments of types, and the fields of records.

use super::limits::{Limits, is_number};
use super::names::{find, is};
use super::reader::{Member, Reader, add_suffix, is_word, list_of, ours};

impl<'e> Reader<'e> {
    pub(super) fn arguments(&mut self, name: &str) -> Option<Member> {
        self.absent_generic(name)?;
        let closer = if self.eat("<") {
            ">"
        } else if self.eat("(") {
            ")"
        } else {
            let _ = self.eat("[");
            "]"
        };
        let number = matches!(ours(name).unwrap_or(name), "Int" | "Number" | "Integer");
        if closer == "]"
            && !number
            && !is("list", name)
            && let Some(size) = self.range()
        {
            self.note("the size of a list is an attribute");
            self.close(closer).then_some(())?;
            let mut member = Member::plain(list_of(&Member::of_name(name).text));
            member.limits.join(size);
            return Some(member);
        }
        let (mut members, mut limits) = (Vec::new(), Limits::default());
        while !self.at(closer) && !self.rest.trim().is_empty() {
            if let Some(found) = self.limit() {
                limits.join(found);
            } else {
                self.key_of_map(name);
                members.push(self.union(false)?);
            }
            if !self.eat(",") {
                break;
            }
            if self.at(closer) {
                self.note("no comma follows the last item");
            }
        }
        self.close(closer).then_some(())?;
        let mut member = self.apply_arguments(name, closer, members, &limits)?;
        member.limits.join(limits);
        Some(member)
    }

    /// Notes what gram has nothing like.
    fn absent_generic(&mut self, name: &str) -> Option<()> {
        let reason = format!("gram has no `{name}`");
        if let Some(help) = find("operator", name) {
            return self.lacks(&reason, help);
        }
        let Some(attribute) = find("of-record", name) else { return Some(()) };
        let arguments = self.rest.trim_start().get(1..).unwrap_or_default();
        let of = &arguments[..arguments.find(|c| !is_word(c)).unwrap_or(arguments.len())];
        let of = if of.is_empty() { "Address" } else { of };
        let names = arguments.split(['"', '\'']).skip(1).step_by(2).take(9);
        let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
        let value = match (attribute, names.as_slice()) {
            ("partial", _) => "true".to_owned(),
            (_, []) => "[\"street\"]".to_owned(),
            (_, names) => format!("[{}]", names.join(", ")),
        };
        let record = format!("[Part::Record {{extends: [{of}], {attribute}: {value}}}]");
        self.lacks(&reason, format!("declare a record, such as {record}, and use its name"))
    }

    /// The key of a map that is written before a colon: `Map<Text: Int>`.
    fn key_of_map(&mut self, name: &str) {
        let start = self.rest;
        let key = is("map", name) && !self.take_word().is_empty() && self.eat(":");
        if key {
            self.note("a map is written `Map<T>`: its keys are always texts");
        } else {
            self.rest = start;
        }
    }

    /// What a name means with its arguments.
    fn apply_arguments(
        &mut self,
        name: &str,
        closer: &str,
        members: Vec<Member>,
        limits: &Limits,
    ) -> Option<Member> {
        if members.is_empty() {
            self.note(if limits.is_empty() {
                "a type is not called"
            } else {
                "limits are attributes"
            });
            return Some(Member::of_name(name));
        }
        if members.iter().all(|member| is_number(&member.text)) && !is("union", name) {
            return Some(self.size_type(name, &members));
        }
        if is("option", name) || is("wrapper", name) {
            let mut member = members.into_iter().next()?;
            if is("option", name) {
                self.note("a type that may be null is written `T?`");
                member.text = add_suffix(&member.text, "?");
            } else {
                self.note("a type has no modifiers");
            }
            return Some(member);
        }
        let items = match members.as_slice() {
            [member] => member.items.clone(),
            _ => Vec::new(),
        };
        let count = members.len();
        let field = closer == "]" && members.iter().all(|member| member.text.starts_with('"'));
        if field && !is("union", name) {
            let help = "write the type of the field itself";
            return self.lacks("gram has no types of single fields", help);
        }
        let mut parts = Vec::new();
        for member in members {
            parts.push(self.without_limits(member)?);
        }
        let mut listed = if items.is_empty() { parts.clone() } else { items };
        if matches!(name, "Enum" | "enum" | "Literal" | "literal") {
            // Names of members, which are texts.
            for item in &mut listed {
                let plain = item.starts_with(char::is_lowercase) && item.chars().all(is_word);
                if plain && !matches!(item.as_str(), "true" | "false" | "null") {
                    *item = format!("\"{item}\"");
                }
            }
        }
        let last = parts.last()?;
        let (reason, text) = if is("list", name) {
            ("a list is written `T[]`", list_of(parts.first()?))
        } else if is("map", name) {
            if name == "Map" && closer == ">" && count == 1 && self.reason.is_none() {
                return Some(Member::plain(format!("Map<{last}>")));
            }
            ("a map is written `Map<T>`: its keys are always texts", format!("Map<{last}>"))
        } else if is("tuple", name) {
            ("a tuple is written `[T, U]`", format!("[{}]", listed.join(", ")))
        } else if is("union", name) {
            ("a union is written `T | U`", listed.join(" | "))
        } else if last.starts_with('{') && count == 1 {
            ("a record is written `{name: T}`", last.clone())
        } else {
            return None;
        };
        self.note(reason);
        Some(Member::plain(text))
    }

    /// A name with numbers: `Text(80)`, `decimal(10, 2)`.
    fn size_type(&mut self, name: &str, numbers: &[Member]) -> Member {
        let mut member = Member::of_name(name);
        let fraction = member.text == "Number";
        let number = member.text == "Int";
        match numbers {
            [most] if !fraction && !number => {
                self.note("limits are attributes");
                let exact = matches!(name, "char" | "Char");
                let word = if exact { "exactly" } else { "most" };
                member.limits.add(word, Some(&most.text));
            }
            [least, most] if !fraction => {
                self.note("limits are attributes");
                member.limits.add("least", Some(&least.text));
                member.limits.add("most", Some(&most.text));
            }
            _ => self.note("a type has no arguments"),
        }
        member
    }

    /// A word before the name of a field.
    fn field_modifier(&mut self) -> Option<&'e str> {
        let start = self.rest;
        let word = self.take_word();
        let after = self.rest.trim_start();
        let name = after.trim_start_matches(is_word).trim_start();
        let named = name.len() < after.len() && name.starts_with([':', '?']);
        let modifier = is("modifier", word) || word == "optional";
        self.rest = if modifier && named { after } else { start };
        (modifier && named).then_some(word)
    }

    /// Types with commas between them, up to a closing bracket.
    pub(super) fn items(&mut self, closer: &str) -> Option<Vec<String>> {
        let mut items = Vec::new();
        loop {
            if self.at("...") && !self.number_follows("...") {
                let help = "write a list of one type: (Text | Int)[]";
                return self.lacks("a tuple has a fixed number of items", help);
            }
            if items.is_empty() || !self.at(closer) {
                items.push(self.part(false)?);
            }
            if !self.eat(",") {
                break;
            }
            if self.at(closer) {
                self.note("no comma follows the last item");
            }
        }
        self.close(closer).then_some(items)
    }

    /// The fields of a record, up to a closing bracket.
    pub(super) fn fields(&mut self, closer: &str) -> Option<Vec<String>> {
        let mut fields = Vec::new();
        while !self.at(closer) && !self.rest.trim().is_empty() {
            if self.at("...") && self.rest.trim_start()[3..].starts_with(is_word) {
                self.eat("...");
                let name = self.take_word();
                let record = format!("[Part::Record {{extends: [{name}]}} | (field::Text)]");
                let help = format!("declare a record, such as {record}, and use its name");
                return self.lacks("a record type has no other record in it", help);
            }
            if self.at("...") || self.at("[") {
                let help = "write `open: true` after the type: (name::{street: Text} {open: true})";
                return self.lacks("a record type lists its fields", help);
            }
            fields.push(self.field()?);
            if self.eat(",") {
                if self.at(closer) {
                    self.note("no comma follows the last field");
                }
            } else if self.eat(";") {
                self.note("fields are separated by commas");
            } else if !self.at(closer) && !self.rest.trim().is_empty() {
                self.note("a comma is missing between two fields");
            }
        }
        self.close(closer).then_some(fields)
    }

    /// The text in double quotes that comes next.
    fn string_here(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        self.string('"')
    }

    fn field(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        let mut optional = "";
        while let Some(word) = self.field_modifier() {
            self.note("a field has no modifiers");
            if word == "optional" {
                optional = "?";
            }
        }
        let start = self.rest.chars().next()?;
        let name = match start {
            '"' | '\'' => self.string(start)?,
            _ => self.take(is_word).to_owned(),
        };
        if self.eat("?") {
            optional = "?";
        }
        if self.eat("!") {
            self.note("a field is required without a mark");
        }
        if self.eat("=>") || self.eat("->") || self.eat("=") {
            self.note("a `:` is between a field and its type");
        } else if !self.eat(":") {
            if name.is_empty() || self.rest.trim_start().starts_with([',', '}', ';']) {
                return None;
            }
            self.note("a `:` is missing between a field and its type");
        } else if self.eat(":") {
            self.note("a field of a type has one `:`");
        }
        let member = self.union(false)?;
        if member.limits.optional {
            optional = "?";
        }
        let mut attributes = member.limits.attributes(&member.text);
        let mut default = String::new();
        if self.eat("=") {
            let value = self.rest.trim_start();
            self.rest = value;
            let text = match value.chars().next()? {
                quote @ ('"' | '\'') => self.string(quote)?,
                _ => self.take(|c| is_word(c) || matches!(c, '.' | '-')).to_owned(),
            };
            default = format!(" = {text}");
        }
        let ty = member.text;
        let rest = self.rest.trim_start();
        if default.is_empty() && rest.starts_with("default ") {
            self.note("a default follows a `=`");
            self.rest = rest["default".len()..].trim_start_matches([' ', ':', '=']);
            default = format!(" = {}", self.value()?);
        }
        if let Some(text) = rest.strip_prefix('"').and_then(|_| self.string_here()) {
            self.note("a description is an attribute");
            attributes.push(format!("description: {text}"));
        }
        let record = match attributes.join(", ") {
            record if record.is_empty() => record,
            record => format!(" {{{record}}}"),
        };
        Some(format!("{name}{optional}: {ty}{record}{default}"))
    }
}
