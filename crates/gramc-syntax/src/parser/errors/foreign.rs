//! Text of other languages: JSON files, and code between declarations.

use super::names::OF_DECLARATIONS;
use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
use crate::parser::Parser;
use crate::span::Span;
use crate::token::TokenKind as T;

/// What is written in gram instead of the text of another language.
const TOOL: &str = "write a tool as [add:Tool | (a::Int)==>(b::Int)==>(::Int)]";
const RECORD: &str = "write a record as [Address::Record | (street::Text), (city::Text)]";
const ENUM: &str = "write an enum as [Unit::Enum | celsius, fahrenheit]";
const ALIAS: &str = "write an alias of a type as [Zip::Alias | (::Text)]";
const IMPORTS: &str =
    "write imports in the header, at the start of the file: {imports: [\"types.gram\"]}";
const COMMENT: &str = "start a comment with `//`";

impl Parser<'_> {
    /// Whether the whole text is JSON, or nearly: it begins as JSON does, and has nothing that only
    /// gram has.
    pub(in crate::parser) fn is_json(&self) -> bool {
        let mut first = 0;
        while self.tokens.kind(first).is_trivia() {
            first += 1;
        }
        let second = self.after(first);
        let begins = match self.tokens.kind(first) {
            T::LBrace => {
                self.tokens.kind(second) == T::DoubleQuoted
                    && self.tokens.kind(self.after(second)) == T::Colon
            }
            T::LBracket => match self.tokens.kind(second) {
                T::LBrace => true,
                kind => {
                    (kind == T::DoubleQuoted || kind.is_number())
                        && matches!(self.tokens.kind(self.after(second)), T::Comma | T::RBracket)
                }
            },
            _ => false,
        };
        let only_gram = [
            T::LParen,
            T::RParen,
            T::Pipe,
            T::ColonColon,
            T::At,
            T::AtAt,
            T::Backticked,
            T::Fenced,
            T::FencedTagged,
            T::DotDot,
            T::Equals,
            T::EqualsGreater,
        ];
        begins && !self.tokens.may_have(&only_gram)
    }

    /// The error about text of another language at the top level, if it is recognized.
    pub(super) fn foreign_text(&self) -> Option<Diagnostic> {
        let here = self.here();
        let error =
            |message: &str, help: &str| self.error(&codes::FOREIGN_TEXT, here, message).help(help);
        let next = self.after(self.at);
        let second = self.tokens.kind(next);
        Some(match (self.kind(), self.text(self.at)) {
            (T::Symbol, word) if self.begins_line(self.at) || self.indented() => {
                return self.foreign_word(word, second);
            }
            (T::Tilde, _) if self.line_from(here.start).starts_with("~~~") => {
                error("a fence of Markdown is not part of gram", "remove the lines of `~~~`")
            }
            _ if self.line_from(here.start).starts_with("<<<<<<<") => {
                error("this is the mark of a merge conflict", "resolve the conflict")
            }
            (T::Less, _) if matches!(second, T::Symbol) => error("this is XML, not gram", TOOL),
            (T::Less, _) if self.text(next) == "!" => {
                error("gram has no `<!-- … -->` comments", COMMENT)
            }
            (T::Dash, _) if second == T::LBracket && self.begins_line(self.at) => self
                .list_marks("- [", error("a declaration has no mark before it", "remove the `-`")),
            (T::Dash, _) if self.begins_line(self.at) => {
                let line = self.line_from(here.start);
                let dashes = Span::new(here.start, here.start + 2);
                let first = self.source.text()[..here.start as usize].trim().is_empty();
                if line.trim_start_matches('-').trim().is_empty() && !first {
                    let end = here.start + crate::span::offset(line.trim_end().len());
                    let span = Span::new(here.start, end);
                    error("a gram file has no `---` lines", "remove it").fix(Fix::replace(
                        NeedsLook,
                        "remove it",
                        span,
                        "",
                    ))
                } else if line.trim_start_matches('-').trim().is_empty() {
                    error(
                        "a gram file has no `---` lines",
                        "write keys of the file in its header: {imports: [\"types.gram\"]}",
                    )
                } else if second == T::Symbol && !line.starts_with("--") {
                    error("this is YAML, not gram", TOOL)
                } else if line.starts_with("--") {
                    error("gram has no `--` comments", COMMENT).fix(Fix::replace(
                        Safe,
                        "write `//`",
                        dashes,
                        "//",
                    ))
                } else {
                    return None;
                }
            }
            (T::Unknown, "#") if self.text(next) == "include" => {
                error("this is C, not gram", IMPORTS)
            }
            (T::Unknown, "#") if second == T::LBracket => error(
                "gram has no `#[…]` attributes",
                "write an annotation before a declaration: @readOnly(true)",
            ),
            (T::Unknown, mark @ (";" | "%")) if self.begins_line(self.at) => error(
                &format!("gram has no `{mark}` comments"),
                COMMENT,
            )
            .fix(Fix::replace(NeedsLook, "write `//`", here, "//")),
            (T::Unknown, "$") if second == T::Symbol => {
                error("this is a shell command, not gram", TOOL)
            }
            (T::DoubleQuoted, text) if text == "\"\"" || self.begins_line(self.at) => error(
                "text between declarations",
                "document a declaration with `/** … */` before it",
            ),
            _ => return None,
        })
    }

    /// Code or prose that begins with a word.
    fn foreign_word(&self, word: &str, second: T) -> Option<Diagnostic> {
        let next = self.after(self.at);
        let third = self.tokens.kind(self.after(next));
        let named = second == T::Symbol;
        let (language, help) = match word {
            _ if second == T::LBracket && self.is_declaring_label(self.at) => {
                return Some(self.label_before_bracket());
            }
            "CREATE" | "MERGE" | "MATCH" | "INSERT" if second == T::LParen => {
                let span = Span::new(self.here().start, self.span(next).start);
                let message = format!("`{word}` is not part of gram, which only declares");
                let error = self.error(&codes::FOREIGN_TEXT, self.here(), message);
                let fix = Fix::replace(NeedsLook, format!("remove `{word}`"), span, "");
                return Some(error.help("remove it").fix(fix));
            }
            _ if second == T::ColonColon || (second == T::Equals && self.is_term()) => {
                return self.term();
            }
            _ if second == T::LBracket && OF_DECLARATIONS.contains(&word) => {
                let span = Span::new(self.here().start, self.span(next).start);
                let message = format!("`{word}` is not part of a declaration");
                let error = self.error(&codes::FOREIGN_TEXT, self.here(), message);
                let fix = Fix::replace(NeedsLook, format!("remove `{word}`"), span, "");
                return Some(error.help("remove it").fix(fix));
            }
            "def" if named => ("Python", TOOL),
            "class" if named && matches!(third, T::LParen | T::Colon) => ("Python", RECORD),
            "from" if named => ("Python", IMPORTS),
            "async" if self.text(next) == "def" => ("Python", TOOL),
            "package" | "module" | "namespace" if named => return Some(self.block(word)),
            "syntax" if second == T::Equals => ("Protobuf", "remove the line"),
            "import" | "use" | "using" | "require" | "include" | "load" => {
                let message = format!("gram has no `{word}` statement");
                let error = self.error(&codes::FOREIGN_TEXT, self.here(), message).help(IMPORTS);
                let path = self.text(next);
                if second == T::DoubleQuoted && path.ends_with(".gram\"") {
                    let span = self.span_between(self.at, next);
                    let header = format!("{{imports: [{path}]}}");
                    let first = self.source.text()[..span.start as usize].trim().is_empty();
                    return Some(if first {
                        error.fix(Fix::replace(NeedsLook, format!("write {header}"), span, header))
                    } else {
                        error
                    });
                }
                return Some(error);
            }
            "function" | "export" | "async" | "const" | "let" | "var" | "declare" => {
                ("TypeScript or JavaScript", self.what_the_line_declares())
            }
            "interface" | "class" if named => ("TypeScript", RECORD),
            "type" if named && third == T::Equals => {
                let value = self.after(self.after(next));
                let texts = matches!(self.tokens.kind(value), T::DoubleQuoted | T::SingleQuoted);
                ("TypeScript", if texts || self.text(value) == "|" { ENUM } else { ALIAS })
            }
            "type" | "input" if named && third == T::LBrace => ("GraphQL", RECORD),
            "enum" if named => ("code of another language", ENUM),
            "struct" | "message" | "record" | "model" | "trait" | "impl" if named => {
                ("code of another language", RECORD)
            }
            "fn" | "func" | "pub" | "fun" | "public" | "service" | "tool" | "rpc" if named => {
                ("code of another language", self.what_the_line_declares())
            }
            "imports" => return Some(self.header_without_braces(word)),
            "gram" if matches!(second, T::Colon | T::Equals | T::Integer) => {
                return Some(self.header_without_braces(word));
            }
            _ if self.is_declaring_label(self.after(next)) => return Some(self.unbracketed()),
            _ if self.rest_of_comment() => {
                let error = self.error(
                    &codes::COMMENT,
                    self.here(),
                    "the comment that ends on this line has no beginning",
                );
                let start = Span::empty(self.here().start);
                return Some(error.help("write `/**` before it").fix(Fix::replace(
                    NeedsLook,
                    "write `/**`",
                    start,
                    "/** ",
                )));
            }
            _ if second == T::Equals && !self.line_from(self.here().start).contains('=') => {
                return Some(self.heading(word));
            }
            _ if second == T::Equals => ("TOML", TOOL),
            _ if second == T::Colon && self.line_is_entry() => ("YAML", TOOL),
            _ if named && matches!(third, T::Symbol | T::Comma | T::Colon | T::Unknown) => {
                let error = self
                    .error(
                        &codes::FOREIGN_TEXT,
                        self.here(),
                        "this text is outside of a declaration",
                    )
                    .help("write a comment after `//`, or remove the text");
                let start = Span::empty(self.here().start);
                return Some(error.fix(Fix::replace(NeedsLook, "make it a comment", start, "// ")));
            }
            _ => return None,
        };
        let message = format!("this is {language}, not gram");
        let mut error = self.error(&codes::FOREIGN_TEXT, self.here(), message).help(help);
        if named && matches!(help, RECORD | ENUM | ALIAS) {
            // What uses the name is not wrong as well.
            error = error.about(self.text(next));
        }
        Some(error)
    }

    /// What the line of the next token declares in another language, in gram.
    fn what_the_line_declares(&self) -> &'static str {
        let line = self.line_from(self.here().start);
        let mut words = line.split(|c: char| !c.is_alphanumeric()).take(4);
        let kind = words.find_map(|word| match word {
            "struct" | "interface" | "class" | "message" => Some(RECORD),
            "enum" => Some(ENUM),
            "type" => Some(ALIAS),
            "fn" | "function" | "rpc" => Some(TOOL),
            _ => None,
        });
        let record = line.contains("object({") || line.contains("Object({");
        kind.unwrap_or(if record { RECORD } else { TOOL })
    }

    /// `Tool [add | …]`: a label before the bracket.
    fn label_before_bracket(&self) -> Diagnostic {
        let (label, here) = (self.text(self.at), self.here());
        let open = self.after(self.at);
        let name = self.after(open);
        let error = self
            .error(&codes::UNEXPECTED_TOKEN, here, "a label follows the name of its declaration")
            .about(self.text(name))
            .help(format!("write [{}:{label} | …]", self.text(name)));
        if !matches!(self.tokens.kind(name), T::Symbol | T::Backticked) {
            return error;
        }
        let gap = Span::new(here.start, self.span(open).start);
        let end = Span::empty(self.span(name).end);
        error.fix(likely("move the label", vec![edit(gap, ""), edit(end, format!(":{label}"))]))
    }

    /// Whether the line of the next token ends with `*/`.
    fn rest_of_comment(&self) -> bool {
        self.line_from(self.here().start).trim_end().ends_with("*/")
    }

    /// A word with a line of `=` below it, as in Markdown.
    fn heading(&self, word: &str) -> Diagnostic {
        let text = &self.source.text()[self.here().start as usize..];
        let below = text.split_once('\n').map_or("", |(_, below)| below);
        let len = text.len() - below.len() + below.find('\n').unwrap_or(below.len());
        let span = Span::new(self.here().start, self.here().start + crate::span::offset(len));
        self.error(&codes::FOREIGN_TEXT, span, "this is a heading of Markdown, not gram")
            .help(format!("write a comment: // {word}"))
            .fix(Fix::replace(NeedsLook, "make it a comment", span, format!("// {word}")))
    }

    /// Whether a name and a type with `=` between them are the whole line.
    fn is_term(&self) -> bool {
        let ty = self.after(self.after(self.at));
        let line = self.line_from(self.here().start);
        self.tokens.kind(ty) == T::Symbol
            && self.text(ty).starts_with(char::is_uppercase)
            && line.trim_end().ends_with(self.text(ty))
    }

    /// `name::Text` or `name = Text`: a term without parentheses.
    fn term(&self) -> Option<Diagnostic> {
        let (here, sign) = (self.here(), self.after(self.at));
        let line = self.line_from(self.span(sign).end).trim();
        if line.is_empty() || line.contains(['(', ')', '|']) {
            return None;
        }
        let node = format!("({}::{line})", self.text(self.at));
        let end = here.start + crate::span::offset(self.line_from(here.start).trim_end().len());
        let span = Span::new(here.start, end);
        Some(
            self.error(&codes::UNEXPECTED_TOKEN, span, "a term is written in parentheses")
                .about(self.text(self.at))
                .help(format!("write {node}"))
                .fix(Fix::replace(NeedsLook, format!("write {node}"), span, node)),
        )
    }

    /// `package hotel` or `module hotel {`
    fn block(&self, word: &str) -> Diagnostic {
        let line = self.line_from(self.here().start).trim_end();
        let span =
            Span::new(self.here().start, self.here().start + crate::span::offset(line.len()));
        let message = format!("gram has no `{word}` statement");
        let help = if line.ends_with('{') { "remove it and its braces" } else { "remove it" };
        let mut edits = vec![edit(span, "")];
        let rest = self.source.text();
        if line.ends_with('{') && rest.trim_end().ends_with('}') {
            let end = crate::span::offset(rest.trim_end().len());
            edits.push(edit(Span::new(end - 1, end), ""));
        }
        self.error(&codes::FOREIGN_TEXT, span, message).help(help).fix(likely(help, edits))
    }

    /// Adds the edits that remove a mark before each declaration.
    fn list_marks(&self, mark: &str, error: Diagnostic) -> Diagnostic {
        // One error is about all of them, and the whole text is looked through for it once.
        if self.diagnostics.iter().any(|found| found.help == error.help) {
            return error;
        }
        let text = self.source.text();
        let lines = memchr::memmem::find_iter(text.as_bytes(), mark.as_bytes());
        let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
        let edits = lines.filter(begins).map(|at| {
            let at = crate::span::offset(at);
            edit(Span::new(at, at + crate::span::offset(mark.len()) - 1), "")
        });
        error.fix(likely("remove the marks", edits.collect()))
    }

    /// `imports: […]` without the braces of the header.
    fn header_without_braces(&self, key: &str) -> Diagnostic {
        let message = format!("`{key}` is not in a header");
        let help = if key == "gram" {
            "write the version in the header, at the start of the file: {gram: 1}"
        } else {
            IMPORTS
        };
        let error = self.error(&codes::FOREIGN_TEXT, self.here(), message).help(help);
        let sign = self.after(self.at);
        let signed = matches!(self.tokens.kind(sign), T::Colon | T::Equals);
        let value = if signed { self.after(sign) } else { sign };
        let close = match self.tokens.kind(value) {
            T::LBracket => self.closer_of(value),
            _ => self.is_literal(value).then_some(value),
        };
        match close {
            Some(close) => {
                let start = Span::empty(self.here().start);
                let end = Span::empty(self.span(close).end);
                let colon = Span::new(self.here().end, self.span(value).start);
                let edits = vec![edit(start, "{"), edit(colon, ": "), edit(end, "}")];
                error.fix(likely("write a header", edits))
            }
            None => error,
        }
    }

    /// A declaration without its brackets: `add:Tool | …`.
    fn unbracketed(&self) -> Diagnostic {
        let here = self.here();
        let line = self.line_from(here.start).trim_end();
        let end = here.start + crate::span::offset(line.len());
        let edits = vec![edit(Span::empty(here.start), "["), edit(Span::empty(end), "]")];
        self.error(&codes::UNEXPECTED_TOKEN, here, "a declaration is written in `[ ]`")
            .help("write it in brackets: [name:Tool | …]")
            .fix(likely("put it into brackets", edits))
    }

    /// Whether the line of the next token consists of a key and perhaps a value, as in YAML.
    fn line_is_entry(&self) -> bool {
        let line = self.line_from(self.here().start);
        let (_, value) = line.split_once(':').unwrap_or_default();
        value.is_empty() || value.starts_with(' ')
    }

    /// The rest of a line from an offset on.
    pub(super) fn line_from(&self, start: u32) -> &str {
        self.source.text()[start as usize..].lines().next().unwrap_or_default()
    }

    /// Whether only blanks precede the next token on its line.
    fn indented(&self) -> bool {
        let before = &self.source.text()[..self.here().start as usize];
        before.trim_end_matches([' ', '\t']).ends_with('\n')
    }
}
