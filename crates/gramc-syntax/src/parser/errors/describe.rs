//! Describes a mistake of the table: message, help and fixes from the texts of its row.

use super::engine::{Capture, Match};
use super::scan::is_plain_name;
use super::table::{Line, Row, TABLE};
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::foreign_ranges::translate_range;
use crate::foreign_types::{bounding_attribute, foreign_type_name, translate_type};
use crate::parse::is_type;
use crate::parser::Parser;
use crate::span::Span;
use crate::token::TokenKind as T;

impl Parser<'_> {
    pub(super) fn label(&self, found: &Match<'_>) -> &str {
        found.group.map_or("", |group| self.label_of(group))
    }

    pub(super) fn holder(&self, found: &Match<'_>) -> &str {
        let holder = found.group.and_then(|group| self.holder_of(group.opener));
        holder.map_or("", |holder| self.label_of(holder))
    }

    pub(super) fn describe(
        &self,
        row: &Row,
        found: &Match<'_>,
        base: Option<&Diagnostic>,
    ) -> Option<(Diagnostic, u32)> {
        let mut error = match row.error {
            Some((code, span, message)) => {
                let span = self.span_of(found, span, 0)?;
                self.error(code, span, self.render(found, message, 0)?)
            }
            None => base?.clone(),
        };
        let mut cover = found.next;
        let mut helped = false;
        for line in &row.lines {
            if line.condition.is_some_and(|condition| !self.meets(found, condition)) {
                continue;
            }
            match line.key {
                "labels" => {
                    let named = |it: &&Capture| it.name == line.argument && it.round > 0;
                    for capture in found.captures.iter().filter(named) {
                        error = error.label(capture.span, "");
                    }
                }
                "help" if helped => {}
                "help" => {
                    error = error.help(self.render(found, line.text, 0)?);
                    helped = true;
                }
                "here" => error = error.here(self.render(found, line.text, 0)?),
                "label" => {
                    let span = self.span_of(found, line.argument, 0)?;
                    error = error.label(span, self.render(found, line.text, 0)?);
                }
                "about" => error = error.about(self.render(found, line.text, 0)?),
                "cover" => {
                    cover = match line.text {
                        "none" => 0,
                        "next" => found.next + 1,
                        text => {
                            let (name, more) = match text.strip_suffix('+') {
                                Some(name) => (name, 1),
                                None => (text, 0),
                            };
                            let place = self.place_of(found, name, false, 0);
                            place.map_or(found.next, |place| self.tokens.at(place)) + more
                        }
                    };
                }
                _ => error = self.add_fix(found, *line, error, &mut helped)?,
            }
        }
        Some((error, cover))
    }

    fn add_fix(
        &self,
        found: &Match<'_>,
        line: Line,
        error: Diagnostic,
        helped: &mut bool,
    ) -> Option<Diagnostic> {
        let (edits, title, error) = match line.key {
            "write" | "write`" => {
                let text = self.render(found, line.text, 0)?;
                let quote = if line.key == "write`" { "`" } else { "" };
                let title = format!("write {quote}{text}{quote}");
                let error = if *helped { error } else { error.help(title.clone()) };
                *helped = true;
                (vec![Edit::new(self.span_of(found, line.argument, 0)?, text)], title, error)
            }
            _ => {
                let title = match line.argument {
                    "" => error.help.clone().unwrap_or_default(),
                    title => self.render(found, title, 0)?,
                };
                let mut edits = Vec::new();
                for edit in line.text.split(" ; ") {
                    self.add_edits(found, edit, &mut edits)?;
                }
                (edits, title, error)
            }
        };
        let applicability = if line.key == "safe" { Safe } else { NeedsLook };
        let fix = Fix { applicability, ..Fix::edits(title, edits) };
        Some(if fix.edits.is_empty() { error } else { error.fix(fix) })
    }

    /// Adds the edits `span = text`, one for each round of a repetition. Parts that were not found are
    /// not edited.
    fn add_edits(&self, found: &Match<'_>, line: &str, edits: &mut Vec<Edit>) -> Option<()> {
        let (place, text) = line.split_once(" =").unwrap_or((line, ""));
        let text = text.strip_prefix(' ').unwrap_or(text).replace('·', " ");
        let named = |capture: &&Capture| {
            place.split(|c: char| !c.is_alphanumeric()).any(|word| word == capture.name)
        };
        let mut rounds: Vec<u32> = found.captures.iter().filter(named).map(|it| it.round).collect();
        rounds.sort_unstable();
        rounds.dedup();
        if rounds.is_empty() {
            rounds.push(0);
        }
        for round in rounds {
            if let Some(record) = place.strip_prefix('+') {
                if let Some(capture) = self.capture(found, record, round) {
                    edits.push(self.added_entry(capture.last, &self.render(found, &text, round)?));
                }
            } else if let Some(span) = self.span_of(found, place.trim(), round) {
                let before = &self.source.text()[..span.start as usize];
                let bar = if before.ends_with(char::is_whitespace) { "|" } else { " |" };
                let comma = if before.ends_with(['|', ',']) { " " } else { ", " };
                let text = text.replace("$bar", bar).replace("$comma", comma);
                edits.push(Edit::new(span, self.render(found, &text, round)?));
            }
        }
        Some(())
    }

    fn capture(&self, found: &Match<'_>, name: &str, round: u32) -> Option<Capture> {
        let of = |index: u32| {
            let span = self.span(index);
            Some(Capture { name: "", round: 0, first: index, last: index, span })
        };
        let named = || found.captures.iter().filter(|capture| capture.name == name);
        let exact = named().find(|capture| capture.round == round);
        let outer = || named().find(|capture| round == 0 || capture.round == 0);
        if let Some(capture) = exact.or_else(outer) {
            return Some(*capture);
        }
        let opener = || found.group.map(|group| group.opener);
        let bar = || self.next_of(self.after(opener()?), &[T::Pipe]);
        match name {
            "at" => Some(Capture { span: self.here(), ..of(self.at)? }),
            "last" => of(self.last),
            "open" => of(opener()?),
            "close" => of(self.closer_of(opener()?)?),
            "bar" => of(bar()?),
            "head" => of(self.previous(bar()?)),
            "name" => of(self.after(opener()?)),
            "end" => of(self.previous(found.next)),
            _ => None,
        }
    }

    /// The span `a..b`, or that of one capture or place.
    pub(super) fn span_of(&self, found: &Match<'_>, expression: &str, round: u32) -> Option<Span> {
        let place = |text: &str, right| self.place_of(found, text, right, round);
        match expression.split_once("..") {
            Some((left, right)) => {
                let (start, end) = (place(left, false)?, place(right, true)?);
                (start <= end).then(|| Span::new(start, end))
            }
            None => Some(Span::new(place(expression, false)?, place(expression, true)?)),
        }
    }

    /// An offset: `<a` before a token, `a>` after it, `<<a` after the token before it, `a>>` before
    /// the one after it; `a.1` and `a.2` are its brackets. Without a mark, the side is that of `right`.
    fn place_of(&self, found: &Match<'_>, text: &str, right: bool, round: u32) -> Option<u32> {
        let (text, shift) = match text.rsplit_once(['+', '-']) {
            Some((name, count)) if !count.is_empty() && !name.is_empty() => {
                let count: i64 = count.parse().ok()?;
                (name, if text.contains('-') { -count } else { count })
            }
            _ => (text, 0),
        };
        let name = text.trim_matches(['<', '>']);
        let (name, part) = name.split_once('.').unwrap_or((name, ""));
        let capture = self.capture(found, name, round)?;
        let (first, last, span) = match part {
            "1" => (capture.first, capture.first, self.span(capture.first)),
            "2" => {
                let single = capture.first == capture.last;
                let last = if single { self.closer_of(capture.first)? } else { capture.last };
                (last, last, self.span(last))
            }
            _ => (capture.first, capture.last, capture.span),
        };
        let at = if text.starts_with("<<") {
            self.span(self.previous(first)).end
        } else if text.starts_with('<') {
            span.start
        } else if text.ends_with(">>") {
            self.span(self.after(last)).start
        } else if text.ends_with('>') || right {
            span.end
        } else {
            span.start
        };
        u32::try_from(i64::from(at) + shift).ok()
    }

    /// A text with `$name`, `$(span|filter)`, and `$<…$| separator$>` for each round of a repetition.
    fn render(&self, found: &Match<'_>, template: &str, round: u32) -> Option<String> {
        let (mut text, mut rest) = (String::new(), template);
        while let Some((before, after)) = rest.split_once('$') {
            text += before;
            if let Some(inner) = after.strip_prefix('<') {
                let (inner, after) = inner.split_once("$>")?;
                text += &self.render_rounds(found, inner)?;
                rest = after;
            } else if let Some(inner) = after.strip_prefix('(') {
                let (inner, after) = inner.split_once(')')?;
                text += &self.render_part(found, inner, round)?;
                rest = after;
            } else {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
                text += &self.render_part(found, &after[..end], round)?;
                rest = &after[end..];
            }
        }
        text += rest;
        Some(text)
    }

    fn render_rounds(&self, found: &Match<'_>, inner: &str) -> Option<String> {
        let (inner, separator) = inner.split_once("$|").unwrap_or((inner, ", "));
        let name = inner.split_once('$')?.1.trim_start_matches('(');
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let rounds = found.captures.iter().filter(|capture| capture.name == name);
        let texts: Option<Vec<_>> =
            rounds.map(|capture| self.render(found, inner, capture.round)).collect();
        Some(texts?.join(separator))
    }

    fn render_part(&self, found: &Match<'_>, part: &str, round: u32) -> Option<String> {
        let (name, filters) = part.split_once('|').unwrap_or((part, ""));
        let given = found.texts.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let mut text = match given.unwrap_or(name) {
            text if given.is_some() => text.to_owned(),
            "closer" => super::closer_text(found.group?.closer).to_owned(),
            "found" => self.found(),
            "label" => self.label(found).to_owned(),
            "article" => article(self.label(found)),
            "holder" => article(self.holder(found)),
            "declared" => TABLE.text(self.what_the_line_declares())?.to_owned(),
            name if name.starts_with(char::is_uppercase) => {
                self.render(found, TABLE.text(name)?, round)?
            }
            name => match (
                name.strip_suffix('?'),
                self.span_of(found, name.trim_end_matches('?'), round),
            ) {
                (Some(_), None) => return Some(String::new()),
                (_, span) => self.source.slice(span?).to_owned(),
            },
        };
        for filter in filters.split('|').filter(|filter| !filter.is_empty()) {
            text = filter_text(filter, &text)?;
        }
        Some(text)
    }
}

/// A text after a filter; none if it is not of that kind, and so the row does not match.
fn filter_text(filter: &str, text: &str) -> Option<String> {
    let inner = || text.get(1..text.len().checked_sub(1)?);
    let all = |part: &dyn Fn(char) -> bool| !text.is_empty() && text.chars().all(part);
    let kept = |is: bool| is.then(|| text.to_owned());
    Some(match filter {
        "inner" => inner()?.trim().to_owned(),
        "entries" => format!(", {}", inner()?.trim()),
        "unquote" => inner()?.to_owned(),
        "quote" => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        "escape" => text.replace('"', "\\\""),
        "name" => {
            if is_plain_name(text) {
                text.to_owned()
            } else {
                format!("`{text}`")
            }
        }
        "names" => return kept(all(&|c| c.is_alphanumeric() || "_.-@`, \n\t".contains(c))),
        "upper" => {
            return kept(all(&|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()));
        }
        "raw" => return text.contains('\\').then(|| text.replace('\\', "\\\\")),
        "flip" => if text.eq_ignore_ascii_case("true") { "false" } else { "true" }.to_owned(),
        "type" if is_type(text) => text.to_owned(),
        "type" => translate_type(text)?,
        "foreign" => foreign_type_name(text).unwrap_or(text).to_owned(),
        "known" => foreign_type_name(text)?.to_owned(),
        "label" => return kept(super::LABELS.contains(&text)),
        "to-label" => {
            (*super::LABELS.iter().find(|label| label.to_lowercase() == text)?).to_owned()
        }
        "range" => translate_range(text)?,
        "hexadecimal" => {
            format!("{:x}", u64::from_str_radix(text.strip_prefix("0b")?, 2).ok()?)
        }
        "bound" => bounding_attribute(text).to_owned(),
        "countable" => return kept(text != "range"),
        "bars" => text.replace(", ", " | ").replace(',', " | "),
        "members" => super::types::members_of(text)?,
        "capital" => {
            let (head, rest) = text.split_at_checked(1)?;
            format!("{}{rest}", head.to_uppercase())
        }
        "thousands" => {
            let three = text.rsplit(',').next().is_some_and(|part| part.trim().len() == 3);
            return three.then(|| text.replace(',', ""));
        }
        "decimal" => text.replace(',', "."),
        "colons" => text.replace(" = ", ": ").replace('=', ": "),
        "unquoted-names" => text.replace(['"', '\''], ""),
        "uncolon" => text.trim_start_matches(':').to_owned(),
        "unbracket" => text.trim_matches(['[', ']']).to_owned(),
        "undashed" => text.trim_end_matches('-').to_owned(),
        "field-type" => text.trim_matches('`').replace('"', "\\\""),
        "node-type" if text.contains(['`', '\n']) => return None,
        "node-type" if all(&|c| c.is_ascii_alphanumeric()) => text.to_owned(),
        "node-type" => format!("`{text}`"),
        "single" => {
            format!("\"{}\"", inner()?.replace("\\'", "'").replace('"', "\\\""))
        }
        "requote" => format!("\"{}\"", inner()?.replace('"', "\\\"")),
        "parts" if text == "Record" => "fields of a record".to_owned(),
        "parts" => "elements of a declaration".to_owned(),
        "straight" => {
            let mut chars = text.chars();
            let _ = (chars.next(), chars.next_back());
            format!("\"{}\"", chars.as_str().replace('"', "\\\""))
        }
        "slashes" => {
            let (pattern, _) = text.strip_prefix('/')?.rsplit_once('/')?;
            format!("\"{}\"", pattern.replace('\\', "\\\\").replace('"', "\\\""))
        }
        _ => return None,
    })
}

/// A label as a word with its article.
fn article(label: &str) -> String {
    let article = if label.starts_with(['A', 'E']) { "an" } else { "a" };
    format!("{article} {}", label.to_lowercase())
}
