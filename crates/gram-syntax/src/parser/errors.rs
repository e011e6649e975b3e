//! What is said about text that fits no production: what was found, what belongs there, what
//! the likely cause is, and where there is one right answer, the fix.

use super::Parser;
use super::group::{Group, Items, is_arrow, is_closer};
use crate::codes;
use crate::diagnostic::{Applicability, Code, Diagnostic, Fix};
use crate::lexer::{LexicalError, LexicalErrorKind};
use crate::span::{Span, offset};
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

use Applicability::{NeedsLook, Safe};

/// Arrows of other alphabets, as people paste them.
const FOREIGN_ARROWS: [&str; 4] = ["→", "⇒", "⟶", "⟹"];

impl Parser<'_> {
    // Reporting.

    fn error(&self, code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.source, span, message)
    }

    /// Records an error about the next token, unless there is one about it already.
    fn report(&mut self, diagnostic: Diagnostic) {
        let known = self.reported == Some(self.at) || self.kind() == T::Unclosed;
        self.reported = Some(self.at);
        if !known && self.diagnostics.len() <= self.limits.max_diagnostics {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The place of the next token; at the end of the text, right behind the last token.
    fn here(&self) -> Span {
        if self.kind() == T::End { self.gap() } else { self.span(self.at) }
    }

    /// The empty place behind the last token.
    fn gap(&self) -> Span {
        Span::empty(self.span(self.last).end)
    }

    /// What the next token is, for a message.
    fn found(&self) -> String {
        if self.kind() == T::End {
            return "the end of the file".to_owned();
        }
        let text = self.text(self.at);
        let line = text.lines().next().unwrap_or_default();
        if line.chars().count() > 32 || line.len() < text.trim_end().len() {
            let start: String = line.chars().take(28).collect();
            return format!("`{start}…`");
        }
        if line.contains('`') { line.to_owned() } else { format!("`{line}`") }
    }

    // What the lexer found.

    pub(super) fn lexical_error(&mut self, error: LexicalError) {
        let LexicalError { kind, span } = error;
        let text = self.source.slice(span);
        let diagnostic = match kind {
            LexicalErrorKind::UnclosedString => {
                let quote = text.get(..1).unwrap_or("\"");
                self.error(&codes::UNCLOSED_STRING, Span::new(span.start, span.start + 1),
                    format!("this string has no closing {quote} on its line"))
                    .here("the string begins here")
                    .help(format!(
                        "close it with {quote}; a text of several lines stands between lines of three backticks"
                    ))
            }
            LexicalErrorKind::UnclosedFence => self
                .error(&codes::UNCLOSED_STRING, span, "this string has no closing ```")
                .here("the string begins here")
                .help("close it with three backticks"),
            LexicalErrorKind::UnclosedComment => self
                .error(&codes::UNCLOSED_COMMENT, span, "this comment has no end")
                .here("the comment begins here")
                .help("end it with `*/`"),
            LexicalErrorKind::BlockComment => {
                let inner = text.trim_start_matches("/*").trim_end_matches("*/").trim();
                let fix = Fix::replace(
                    NeedsLook,
                    "make it a doc comment",
                    span,
                    format!("/** {inner} */"),
                );
                self.error(&codes::UNCLOSED_COMMENT, span, "gram has no `/* … */` comments")
                    .help("write `// …` for a comment, or `/** … */` to document what follows")
                    .fix(fix)
            }
            LexicalErrorKind::FenceLine => self
                .error(&codes::FENCE, span, "the text of this string begins on the opening line")
                .here("only a tag may stand behind the three backticks")
                .help("begin the text on the next line"),
            LexicalErrorKind::Escape => {
                let shown = text.escape_debug().to_string().replace("\\\\", "\\");
                self.error(&codes::ESCAPE, span, format!("`{shown}` is no escape"))
                    .help("escapes are \\\\ \\/ \\b \\f \\n \\r \\t, the string's own quote, and \\u with four hexadecimal digits; write \\\\ for a backslash")
                    .fix(Fix::replace(NeedsLook, "make it a backslash", Span::empty(span.start), "\\"))
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// NUL characters, which the reference grammar accepts nowhere.
    pub(super) fn nul_characters(&mut self) {
        if let Some(at) = memchr::memchr(0, self.source.text().as_bytes()) {
            let span = Span::new(offset(at), offset(at + 1));
            let error = self
                .error(&codes::NUL_CHARACTER, span, "the text holds a NUL character")
                .help("is this a text file in UTF-8? Remove the character");
            self.diagnostics.push(error);
        }
    }

    // Brackets.

    pub(super) fn unclosed(&mut self, group: &Group) {
        let closer = closer_text(group.closer);
        let opener = self.span(group.opener);
        let shown = self.text(group.opener).to_owned();
        let message = format!("this `{shown}` is never closed");
        let error = self
            .error(&codes::UNCLOSED_BRACKET, opener, message)
            .here("opened here")
            .label(self.here(), format!("found {} before its `{closer}`", self.found()))
            .help(format!("close it with `{closer}`"))
            .fix(Fix::replace(NeedsLook, format!("insert `{closer}`"), self.gap(), closer));
        self.report(error);
    }

    pub(super) fn wrong_closer(&mut self, group: &Group) {
        let closer = closer_text(group.closer);
        let shown = self.text(group.opener).to_owned();
        let message = format!("found {} where `{closer}` belongs", self.found());
        let error = self
            .error(&codes::UNCLOSED_BRACKET, self.here(), message)
            .label(self.span(group.opener), format!("this `{shown}` wants a `{closer}`"))
            .help(format!("close it with `{closer}`"))
            .fix(Fix::replace(NeedsLook, format!("write `{closer}`"), self.here(), closer));
        self.report(error);
    }

    pub(super) fn too_deep(&mut self) {
        let most = self.limits.max_depth;
        let error = self
            .error(&codes::TOO_DEEP, self.here(), format!("brackets nest more than {most} deep"))
            .help("split what is nested into declarations of their own");
        self.report(error);
        let node = self.open(N::Error);
        self.skip_token_tree();
        self.close(node);
    }

    // Commas.

    pub(super) fn missing_comma(&mut self) {
        let gap = self.gap();
        let message = format!("a comma is missing before {}", self.found());
        let error = self
            .error(&codes::MISSING_COMMA, gap, message)
            .here("the comma belongs here")
            .help("items are separated by commas")
            .fix(Fix::replace(Safe, "insert the comma", gap, ","));
        self.report(error);
    }

    pub(super) fn extra_comma(&mut self, comma: u32) {
        let span = self.span(comma);
        let error = self
            .error(&codes::EXTRA_COMMA, span, "there is a comma, but no item behind it")
            .help("remove the comma")
            .fix(Fix::replace(Safe, "remove the comma", span, ""));
        self.report(error);
    }

    // Things in the wrong place.

    pub(super) fn unexpected_in_group(&mut self, group: &Group, items: Items) {
        let closer = closer_text(group.closer);
        let wanted =
            if items == Items::One { format!("`{closer}`") } else { format!("`,` or `{closer}`") };
        let message = format!("found {} where {wanted} belongs", self.found());
        let mut error = self
            .error(&codes::UNEXPECTED_TOKEN, self.here(), message)
            .label(self.span(group.opener), "inside this bracket");
        if let Some(help) = self.cause() {
            error = error.help(help);
        }
        if self.text(self.at) == ";" && items != Items::One {
            error = error.fix(Fix::replace(Safe, "write a comma", self.here(), ","));
        }
        self.report(error);
    }

    /// A likely cause of an unexpected token.
    fn cause(&self) -> Option<String> {
        let text = self.text(self.at);
        let name = self.adjacent_name();
        match self.kind() {
            T::Unknown if name.is_some() => {
                let name = name.unwrap_or_default();
                Some(format!(
                    "a name with other characters than A–Z, a–z, 0–9, `_`, `.`, `-`, `@` stands in backticks: `{name}`"
                ))
            }
            T::Unknown if text == ";" => Some("items are separated by commas".to_owned()),
            T::Unknown if text.starts_with(['“', '”', '„', '‘', '’']) => {
                Some("strings stand in straight quotes: \"…\"".to_owned())
            }
            T::Unknown if text == "#" => Some("a comment begins with `//`".to_owned()),
            T::Unknown if text == "?" => Some(
                "a type that may be null stands in backticks: (a::`Text?`); a parameter that may be left out has {optional: true}"
                    .to_owned(),
            ),
            T::Equals => Some("a key and its value are joined by `:`".to_owned()),
            T::At | T::AtAt => {
                Some("annotations stand at the top level only, before what they annotate".to_owned())
            }
            T::Pipe => Some("one `|` separates a subject from its elements".to_owned()),
            T::LBracket => Some(
                "a list type stands in backticks: (tags::`Text[]`)".to_owned(),
            ),
            _ => None,
        }
    }

    /// The word that the next token is part of, where it touches another token of the word.
    fn adjacent_name(&self) -> Option<&str> {
        let text = self.source.text();
        let at = self.span(self.at);
        if self.kind() != T::Unknown
            || !text[at.range()].chars().all(|c| c.is_alphanumeric() || c == '$')
        {
            return None;
        }
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
        let before = text[..at.start as usize].trim_end_matches(part).len();
        let behind = text[at.end as usize..].trim_start_matches(part).len();
        text.get(before..text.len() - behind)
    }

    pub(super) fn stray_error(&mut self, code: &'static Code) {
        let found = self.found();
        let mut error = if is_closer(self.kind()) {
            let message = format!("found {found}, but no bracket is open");
            self.error(&codes::UNCLOSED_BRACKET, self.here(), message)
                .help("remove it, or open its bracket before")
                .fix(Fix::replace(NeedsLook, "remove it", self.here(), ""))
        } else {
            let message = format!("found {found} where a declaration belongs");
            self.error(code, self.here(), message)
        };
        error.help = error.help.or_else(|| self.cause()).or_else(|| {
            Some(
                match self.kind() {
                    T::Comma => "declarations stand one after the other, without commas",
                    kind if is_arrow(kind) => {
                        "an arrow stands between two nodes: (a::Text)==>(::Text)"
                    }
                    T::Symbol => "a declaration stands in brackets: [name:Tool | …]",
                    _ => "a declaration begins with `[`, `(` or `@`",
                }
                .to_owned(),
            )
        });
        self.report(error);
    }

    pub(super) fn misplaced_header(&mut self) {
        let error = self
            .error(
                &codes::HEADER,
                self.here(),
                "a record belongs at the start of the file or inside a declaration",
            )
            .help("move it to the start of the file, or into the `[…]` or `(…)` that it describes");
        self.report(error);
    }

    // Subject patterns.

    pub(super) fn missing_bar(&mut self, group: &Group) {
        if self.kind() == T::LParen {
            let gap = self.gap();
            let error = self
                .error(&codes::MISSING_BAR, gap, "a `|` is missing before the elements")
                .here("the `|` belongs here")
                .label(self.span(group.opener), "in this declaration")
                .help("a declaration is [name:Label | elements]")
                .fix(Fix::replace(Safe, "insert the `|`", gap, " |"));
            self.report(error);
        } else if self.kind() != T::RBracket {
            self.after_subject();
        }
    }

    pub(super) fn no_elements(&mut self) {
        let bar = self.span(self.last);
        let error = self
            .error(&codes::MISSING_BAR, bar, "there is a `|`, but nothing behind it")
            .help("add elements, or remove the `|`")
            .fix(Fix::replace(Safe, "remove the `|`", bar, ""));
        self.report(error);
    }

    pub(super) fn no_element(&mut self) {
        let message = format!("found {} where an element belongs", self.found());
        let help = self.cause().unwrap_or_else(|| {
            "an element is a node (name::Type), a path of nodes and arrows, a pattern […] or a name"
                .to_owned()
        });
        let error = self.error(&codes::UNEXPECTED_TOKEN, self.here(), message).help(help);
        self.report(error);
    }

    /// Something behind an identifier, labels and a record that is neither the end nor a `|`.
    pub(super) fn after_subject(&mut self) {
        let previous = self.text(self.last).to_owned();
        let span = self.here();
        let error = match self.kind() {
            T::Symbol | T::Backticked if previous.ends_with(|c: char| c.is_alphanumeric()) => {
                let found = self.text(self.at).to_owned();
                let gap = Span::new(self.span(self.last).end, span.start);
                self.error(
                    &codes::MISSING_TYPE,
                    span,
                    format!("found `{found}` behind `{previous}`"),
                )
                .help(format!("a name and its type are joined by `::`: ({previous}::{found})"))
                .fix(Fix::replace(NeedsLook, "insert `::`", gap, "::"))
            }
            T::Colon | T::ColonColon => self
                .error(&codes::UNEXPECTED_TOKEN, span, "a label belongs before the record")
                .help("the order is name, labels, record: (name::Type {key: value})"),
            T::Unknown if self.adjacent_name().is_some() => {
                let name = self.adjacent_name().unwrap_or_default().to_owned();
                self.error(&codes::NAME, span, format!("`{name}` is no plain name"))
                    .help(format!("quote it with backticks: `{name}`"))
            }
            kind if kind.is_number()
                || self.text(self.last).starts_with(|c: char| c.is_ascii_digit()) =>
            {
                self.error(&codes::NAME, span, "a name does not begin with a digit")
                    .help("quote it with backticks")
            }
            _ => return,
        };
        self.report(error);
    }

    // Labels, keys and values.

    pub(super) fn missing_type(&mut self) {
        let colons = self.span(self.last);
        let message = format!("found {} where a label belongs", self.found());
        let mut error = self
            .error(&codes::MISSING_TYPE, colons, message)
            .here("no type or label behind this")
            .help("write a type, as in (name::Text), or remove the colon");
        if self.kind() == T::LBracket {
            error = error.help("a list type stands in backticks: (tags::`Text[]`)");
        } else if matches!(self.kind(), T::DoubleQuoted | T::SingleQuoted) {
            error = error.help("a quoted type stands in backticks: (size::`\"s\" | \"m\"`)");
        }
        self.report(error);
    }

    pub(super) fn missing_key(&mut self, group: &Group) -> bool {
        let message = format!("found {} where a key belongs", self.found());
        let help = match self.kind() {
            T::SingleQuoted => "a quoted key stands in double quotes or backticks",
            kind if kind.is_number() => "quote the key: {\"1\": …}",
            _ => "an entry is key: value",
        };
        let mut error = self
            .error(&codes::UNEXPECTED_TOKEN, self.here(), message)
            .label(self.span(group.opener), "in this record")
            .help(self.cause().unwrap_or_else(|| help.to_owned()));
        if self.kind() == T::SingleQuoted {
            let text = self.text(self.at);
            let key = format!("\"{}\"", text.trim_matches('\'').replace('"', "\\\""));
            error = error.fix(Fix::replace(NeedsLook, "use double quotes", self.here(), key));
        }
        self.report(error);
        false
    }

    pub(super) fn missing_colon(&mut self) {
        let gap = self.gap();
        let key = self.text(self.last).to_owned();
        let message = format!("found {} where the `:` of `{key}` belongs", self.found());
        let mut error = self.error(&codes::MISSING_VALUE, self.here(), message);
        if self.kind() == T::Equals {
            error = error.help("a key and its value are joined by `:`").fix(Fix::replace(
                Safe,
                "write `:`",
                self.here(),
                ":",
            ));
        } else if self.kind() == T::Greater && self.type_argument() {
            error = error.help("a type with arguments stands in backticks: (m::`Map<Text>`)");
        } else if self.value_follows() {
            error = error.help("a key and its value are joined by `:`").fix(Fix::replace(
                NeedsLook,
                "insert the `:`",
                gap,
                ":",
            ));
        } else {
            error = error.help(format!("give it a value: {key}: true"));
        }
        self.report(error);
        if self.kind() == T::Equals {
            self.error_token();
            self.value();
        } else if self.value_follows() {
            self.value();
        }
    }

    /// Whether `<Name` stands right behind a label, as in `List<Text>`.
    fn type_argument(&self) -> bool {
        let start = self.span(self.last).start as usize;
        let text = self.source.text().as_bytes();
        start >= 2 && text[start - 1] == b'<' && text[start - 2].is_ascii_alphanumeric()
    }

    fn value_follows(&self) -> bool {
        let kind = self.kind();
        kind.is_number() || matches!(kind, T::DoubleQuoted | T::SingleQuoted | T::Backticked)
    }

    pub(super) fn missing_value(&mut self) {
        let message = format!("found {} where a value belongs", self.found());
        let text = self.text(self.at);
        let help = self.cause().unwrap_or_else(|| {
            match (self.kind(), text) {
                (T::LParen, _) => "a value is a string, number, range, word, [list] or {map}",
                (T::DotDot, _) => "a range without a lower bound is ...10",
                (_, "+" | ".") => "a number begins with a digit or `-`: 0.5",
                _ => "a value is a string, number, range, word, [list] or {map}; quote it if it is a text",
            }
            .to_owned()
        });
        let error = self.error(&codes::MISSING_VALUE, self.here(), message).help(help);
        self.report(error);
        if self.kind() == T::Unclosed {
            self.leaf(N::Error);
        }
    }

    pub(super) fn missing_bound(&mut self) {
        let message = format!("found {} where the range's end belongs", self.found());
        let error = self
            .error(&codes::NUMBER, self.here(), message)
            .help("a range is 1..10, 1... (no upper bound) or ...10 (no lower bound)");
        self.report(error);
    }

    /// A number that runs into something: `1e5`, `08`, `1.`.
    pub(super) fn after_number(&mut self) {
        let touching = self.span(self.last).end == self.span(self.at).start;
        let kind = self.kind();
        let runs_on =
            kind.is_number() || matches!(kind, T::Symbol | T::Unknown | T::DotDot | T::DotDotDot);
        if !touching || !runs_on {
            return;
        }
        let start = self.span(self.last).start as usize;
        let text = self.source.text();
        let len = text[start..]
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '+' | '-' | '_'))
            .unwrap_or(text.len() - start);
        let number = &text[start..start + len];
        let span = Span::new(offset(start), offset(start + len));
        let mut error = self.error(&codes::NUMBER, span, format!("`{number}` is no number"));
        error =
            if number.contains(['e', 'E']) && number.parse::<f64>().is_ok() {
                error
                    .help("write the exponent out, or as JSON in a tagged string")
                    .fix(Fix::replace(Safe, "tag it as JSON", span, format!("json`{number}`")))
            } else if number.starts_with('0') && number.parse::<u64>().is_ok() {
                let plain = number.trim_start_matches('0').to_owned();
                error
                    .help("a leading 0 makes a number octal, whose digits are 0 to 7")
                    .fix(Fix::replace(NeedsLook, "remove the leading 0", span, plain))
            } else {
                error.help(
                "numbers are 5, -5, 0.5, 0x1f, 017, or with a unit 2s; quote it if it is a text",
            )
            };
        self.report(error);
        let node = self.open(N::Error);
        while self.span(self.at).start < span.end && self.kind() != T::End {
            self.bump();
        }
        self.close(node);
    }

    pub(super) fn double_colon_in_map(&mut self) {
        let error = self
            .error(&codes::MISSING_VALUE, self.here(), "`::` joins no key and value inside a map")
            .help("write `:`")
            .fix(Fix::replace(Safe, "write `:`", self.here(), ":"));
        self.report(error);
    }

    // Arrows.

    /// Whether `=>`, `->`, `~>` or an arrow of another alphabet comes.
    pub(super) fn at_foreign_arrow(&self) -> bool {
        self.kind() == T::Unknown && FOREIGN_ARROWS.contains(&self.text(self.at))
    }

    pub(super) fn short_arrow(&mut self) {
        let arrow = match self.kind() {
            T::DashGreater => "-->",
            T::TildeGreater => "~~>",
            _ => "==>",
        };
        let message = format!("{} is no arrow", self.found());
        let error = self
            .error(&codes::ARROW, self.here(), message)
            .help(format!("write `{arrow}`"))
            .fix(Fix::replace(Safe, format!("write `{arrow}`"), self.here(), arrow));
        self.report(error);
    }

    /// An arrow that begins in one family and ends in another.
    pub(super) fn mixed_arrow(&mut self, arrow: u32) {
        let first = self.node(arrow).first;
        let stroke = stroke(self.text(first));
        let found = self.text(self.at);
        let end = if found.len() == 2 { format!("{stroke}>") } else { stroke.to_owned() };
        let message = format!("this arrow begins with `{stroke}` and ends with `{found}`");
        let error = self
            .error(&codes::ARROW, self.here(), message)
            .label(self.span(first), "begins here")
            .help(format!("end it with `{end}`"))
            .fix(Fix::replace(Safe, format!("write `{end}`"), self.here(), end));
        self.report(error);
    }

    /// An arrow without its second half.
    pub(super) fn half_arrow(&mut self, arrow: u32) {
        let first = self.node(arrow).first;
        let span = Span::new(self.span(first).start, self.span(self.last).end);
        let stroke = stroke(self.text(first));
        let text = self.source.slice(span);
        let mut error = self
            .error(&codes::ARROW, span, format!("`{text}` is half an arrow"))
            .help(format!("write `{stroke}{stroke}>` for an arrow to the right"));
        if self.kind() == T::LParen && span.len() <= 2 {
            let whole = format!("{stroke}{stroke}>");
            error = error.fix(Fix::replace(NeedsLook, format!("write `{whole}`"), span, whole));
        }
        self.report(error);
    }

    /// Something else than a node behind an arrow. `true` when the path may go on.
    pub(super) fn arrow_leads_nowhere(&mut self) -> bool {
        let mut message = format!("found {} where the arrow's node belongs", self.found());
        let arrow = self.span(self.last);
        let span = self.here();
        let text = self.text(self.at).to_owned();
        let mut error = if matches!(self.kind(), T::Symbol | T::Backticked) {
            self.error(&codes::ARROW, span, message)
                .help(format!("a node stands in parentheses: (::{text})"))
                .fix(Fix::replace(NeedsLook, "make it a node", span, format!("(::{text})")))
        } else if matches!(self.kind(), T::Colon | T::ColonColon) {
            self.error(&codes::ARROW, span, message).help("a node stands in parentheses: (::Text)")
        } else if is_arrow(self.kind()) {
            message = "this arrow is too long, or one of two".to_owned();
            self.error(&codes::ARROW, span, message)
                .help("an arrow is `-->`, `==>` or `~~>`, and leads from one node to one node")
        } else {
            self.error(&codes::ARROW, span, message)
                .help("a path ends with a node: (a::Text)==>(::Text)")
        };
        error = error.label(arrow, "behind this arrow");
        self.report(error);
        match self.kind() {
            T::Symbol | T::Backticked => {
                self.error_token();
                true
            }
            kind if is_arrow(kind) => {
                let node = self.open(N::Error);
                while is_arrow(self.kind()) {
                    self.bump();
                }
                self.close(node);
                // Where a node follows, the path goes on with it as if the arrow were whole.
                self.kind() == T::LParen && {
                    self.path();
                    false
                }
            }
            _ => false,
        }
    }

    // Annotations.

    pub(super) fn annotates_nothing(&mut self) {
        let message = format!("found {} where an annotated pattern belongs", self.found());
        let error = self
            .error(&codes::ANNOTATION, self.here(), message)
            .label(self.span(self.last), "the annotation ends here")
            .help("an annotation stands before a declaration: @key(value) [name:Tool | …]");
        self.report(error);
    }

    pub(super) fn late_identified_annotation(&mut self) {
        let error = self
            .error(&codes::ANNOTATION, self.here(), "`@@` comes first among annotations, and once")
            .help("move it before the `@key(value)` annotations");
        self.report(error);
    }

    pub(super) fn nameless_annotation(&mut self, at: &str) {
        let message = format!("found {} where the annotation's name belongs", self.found());
        let form = if at == "@" { "@key(value)" } else { "@@name:Label" };
        let error = self
            .error(&codes::ANNOTATION, self.here(), message)
            .label(self.span(self.last), "of this annotation")
            .help(format!("an annotation is {form}"));
        self.report(error);
    }

    pub(super) fn annotation_without_value(&mut self) {
        let key = self.text(self.last).to_owned();
        let message = format!("found {} where the value of `@{key}` belongs", self.found());
        let error = self
            .error(&codes::ANNOTATION, self.here(), message)
            .help(format!("an annotation is @{key}(value), as in @{key}(true)"));
        self.report(error);
    }
}

fn closer_text(closer: T) -> &'static str {
    match closer {
        T::RBracket => "]",
        T::RParen => ")",
        T::Greater => ">",
        _ => "}",
    }
}

/// The stroke of an arrow's token: `-`, `=` or `~`.
fn stroke(token: &str) -> &'static str {
    match token.trim_start_matches('<').chars().next() {
        Some('=') => "=",
        Some('~') => "~",
        _ => "-",
    }
}
