//! What follows a type: `[]`, `?`, arguments, methods and conditions.

use super::limits::is_number;
use super::names::{HELP_INTERSECTIONS, INTERSECTIONS, find, is};
use super::reader::{Member, Reader, add_suffix, is_word, list_of};

impl Reader<'_> {
    /// What follows a type: `[]`, `?`, arguments, methods and conditions.
    pub(super) fn suffix(&mut self, member: &mut Member) -> Option<bool> {
        if self.eat("[]") {
            member.text = list_of(&member.text);
            self.limits_inside(member)?;
        } else if member.name && self.at_arguments() {
            let name = member.text.clone();
            *member = self.arguments(&name)?;
        } else if self.at("[") {
            self.eat("[");
            if let Some(limits) = self.range() {
                self.close("]").then_some(())?;
                let number = matches!(member.text.as_str(), "Int" | "Integer" | "Number");
                if number {
                    self.note("a range is an attribute");
                } else {
                    self.note("the size of a list is an attribute");
                    member.text = list_of(&member.text);
                }
                member.limits.join(limits);
                return Some(true);
            }
            if self.at("\"") || self.at("'") {
                return self.lacks(
                    "gram has no types of single fields",
                    "write the type of the field itself",
                );
            }
            let digits = self.take(|c| c.is_ascii_digit());
            self.close("]").then_some(())?;
            member.text = list_of(&member.text);
            self.limits_inside(member)?;
            if is_number(digits) {
                self.note("the size of a list is an attribute");
                member.limits.add("exactly", Some(digits));
            }
        } else if self.at("?.") {
            return None;
        } else if self.eat("?") {
            member.text.push('?');
        } else if self.eat("!") {
            self.note("every type excludes null, so it needs no `!`");
        } else if self.at("...") && !self.number_follows("...") {
            self.eat("...");
            self.note("a list is written `T[]`");
            member.text = list_of(&member.text);
        } else if self.at("*") || self.at("+") {
            let some = self.eat("+") || !self.eat("*");
            self.note("a list is written `T[]`");
            member.text = list_of(&member.text);
            if some {
                member.limits.add("at-least-one", None);
            }
        } else if self.at(".") {
            self.eat(".");
            return self.method(member).map(|()| true);
        } else {
            return self.words_after(member);
        }
        member.name = false;
        Some(true)
    }

    /// Words after a type: `not null`, `optional`, `where count > 0`.
    fn words_after(&mut self, member: &mut Member) -> Option<bool> {
        let words = [
            ("not null", ""),
            ("NOT NULL", ""),
            ("or null", "?"),
            ("nullable", "?"),
            ("required", ""),
        ];
        for (words, suffix) in words {
            if self.eat_word(words) {
                self.note(if suffix.is_empty() {
                    "a type excludes null and is required without a word for that"
                } else {
                    "a type that may be null is written `T?`"
                });
                member.text.push_str(suffix);
                return Some(true);
            }
        }
        if ["list", "array"].iter().any(|word| self.eat_word(word)) {
            self.note("a list is written `T[]`");
            member.text = list_of(&member.text);
            return Some(true);
        }
        if self.at("=") && !self.at("=>") {
            self.eat("=");
            member.limits.join(self.limit()?);
            self.note("limits are attributes");
            return Some(true);
        }
        let matches = ["matches", "like", "LIKE"].iter().any(|word| self.eat_word(word));
        if matches || (!member.literal && self.at_pattern()) {
            let pattern = self.value()?;
            self.note("a pattern is an attribute");
            return member.limits.add("pattern", Some(&pattern)).then_some(true);
        }
        if !member.literal && self.number_follows("%") {
            let (_, step) = self.rest.split_once('%')?;
            self.rest = step;
            let step = self.value()?;
            let _ = self.eat("==") && self.value()? == "0";
            self.note("a step is an attribute");
            return member.limits.add("multipleOf", Some(&step)).then_some(true);
        }
        let listed = self.rest.trim_start().strip_prefix("in").map(str::trim_start);
        if listed.is_some_and(|rest| rest.starts_with(['[', '('])) {
            self.eat_word("in");
            let closer = if self.eat("[") { "]" } else { ")" };
            let _ = closer == "]" || self.eat("(");
            member.text = self.items(closer)?.join(" | ");
            self.note("a union is written `T | U`");
            return Some(true);
        }
        if self.eat_word("optional") {
            self.note("an optional parameter has a `?` after its name");
            member.limits.optional = true;
            return Some(true);
        }
        // A text in quotes is no type that is bounded.
        let bounded = !member.literal && !member.text.is_empty() && !is_number(&member.text);
        let Some(limits) = bounded.then(|| self.condition()).flatten() else { return Some(false) };
        self.note("a condition on the value is an attribute");
        member.limits.join(limits);
        Some(true)
    }

    /// Whether a regular expression between slashes comes next, and not a `/` between two types.
    pub(super) fn at_pattern(&self) -> bool {
        let inner = self.rest.trim_start().strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        inner.is_some_and(|(inner, _)| inner.contains(|c: char| !is_word(c) && !" |/".contains(c)))
    }

    /// `A & B`, after the first member.
    pub(super) fn intersection(&mut self, first: Member) -> Option<Member> {
        let mut names = vec![first];
        while self.eat("&&") || self.eat("&") || self.eat_word("and") {
            names.push(self.member()?);
        }
        let scalar = |member: &Member| is("scalar", member.text.as_str());
        let all_names = names.iter().all(|member| member.name && member.limits.is_empty());
        let texts: Vec<_> = names.iter().map(|member| member.text.as_str()).collect();
        if all_names && names.iter().any(scalar) {
            let reason = format!("no value is of the types {} at once", texts.join(" and "));
            let help = format!("write `{}` for a value of one of them", texts.join(" | "));
            return self.lacks(&reason, help);
        }
        if !all_names {
            return self.lacks(INTERSECTIONS, HELP_INTERSECTIONS);
        }
        let record = format!("[Both::Record {{extends: [{}]}}]", texts.join(", "));
        self.lacks(INTERSECTIONS, format!("declare a record, such as {record}, and use its name"))
    }

    /// The limits of the items of a list.
    fn limits_inside(&mut self, member: &mut Member) -> Option<()> {
        if member.limits.is_empty() {
            return Some(());
        }
        let inner = Member {
            text: member.text.trim_end_matches("[]").to_owned(),
            limits: std::mem::take(&mut member.limits),
            ..Member::default()
        };
        self.without_limits(inner).map(|_| ())
    }

    /// `.min(1)`, `.optional()`
    fn method(&mut self, member: &mut Member) -> Option<()> {
        let name = self.take_word();
        let word = find("method", name).or_else(|| find("limit", name))?;
        let mut value = None;
        if self.eat("(") {
            if !self.at(")") {
                value = Some(self.value()?);
                // A message for people.
                if self.eat(",") {
                    self.value()?;
                }
            }
            self.eat(")").then_some(())?;
        }
        self.note("a type has no methods");
        match word {
            ty if ty.starts_with(char::is_uppercase) => ty.clone_into(&mut member.text),
            "list" => {
                member.text = list_of(&member.text);
                self.limits_inside(member)?;
            }
            "nullable" => member.text = add_suffix(&member.text, "?"),
            "nullish" => {
                member.text = add_suffix(&member.text, "?");
                member.limits.optional = true;
            }
            _ => return member.limits.add(word, value.as_deref()).then_some(()),
        }
        Some(())
    }
}
