//! Names, keys and texts.

use super::{Schemas, Style};

const VERBS: [&str; 16] = [
    "get", "list", "create", "update", "delete", "search", "send", "read", "write", "run", "fetch",
    "move", "count", "export", "add", "resolve",
];

const NOUNS: [&str; 24] = [
    "issue",
    "file",
    "repository",
    "user",
    "message",
    "page",
    "invoice",
    "event",
    "query",
    "document",
    "channel",
    "order",
    "branch",
    "comment",
    "image",
    "report",
    "task",
    "label",
    "record",
    "project",
    "ticket",
    "table",
    "device",
    "route",
];

/// Keys of the ordinary kind, in the spellings that are in use.
const KEYS: [&str; 48] = [
    "id",
    "name",
    "query",
    "limit",
    "offset",
    "page",
    "per_page",
    "perPage",
    "path",
    "url",
    "owner",
    "repo",
    "branch",
    "title",
    "body",
    "content",
    "message",
    "user_id",
    "userId",
    "email",
    "start_date",
    "endDate",
    "timezone",
    "language",
    "tags",
    "labels",
    "filters",
    "options",
    "metadata",
    "headers",
    "status",
    "state",
    "sort",
    "order",
    "direction",
    "recursive",
    "force",
    "dry_run",
    "includeArchived",
    "max_results",
    "cursor",
    "encoding",
    "width",
    "height",
    "temperature",
    "columns",
    "payload",
    "recipients",
];

/// Keys that are words of the language, or of JSON Schema.
const OWN_WORDS: [&str; 20] = [
    "type",
    "description",
    "format",
    "properties",
    "range",
    "items",
    "default",
    "required",
    "enum",
    "const",
    "title",
    "examples",
    "optional",
    "pattern",
    "length",
    "size",
    "true",
    "null",
    "anyOf",
    "additionalProperties",
];

/// Keys that are no identifiers.
const ODD_KEYS: [&str; 36] = [
    "Content-Type",
    "$vectorSearch",
    "MA(5)",
    "año",
    "",
    " ",
    " edge ",
    "a b",
    "a.b.c",
    "x/y",
    "~tilde",
    "~1",
    "100%",
    "3d",
    "-1",
    "0",
    "with`backtick",
    "with\"quote",
    "with'apostrophe",
    "back\\slash",
    "trailing\\",
    "new\nline",
    "tab\tkey",
    "名前",
    "имя",
    "اسم",
    "emoji🙂",
    "$ref",
    "$schema",
    "@type",
    "#anchor",
    "a,b",
    "{brace}",
    "[0]",
    "a::b",
    "__proto__",
];

const SENTENCES: [&str; 20] = [
    "The unique identifier.",
    "Maximum number of results to return (default: 20, max: 100)",
    "Path to the file, relative to the project's root",
    "ISO 8601 timestamp, e.g. 2024-01-31T10:00:00Z",
    "Search query. Supports `author:` and \"exact phrases\".",
    "Whether to include archived items",
    "One of: open, closed, all",
    "Optional. If omitted, the default branch is used.",
    "A list of tags",
    "Name of the repository (case-insensitive)",
    "The user's e-mail address",
    "Sort order; newest first unless you say otherwise",
    "Number of days to look back. Must be between 1 and 365.",
    "Text in Markdown: **bold**, _italic_, [links](https://example.org/a?b=c#d)",
    "The page's cursor, as the last answer gave it",
    "Filter expression, such as {\"status\": {\"$in\": [\"a\", \"b\"]}}",
    "Use '*' for everything",
    "Timeout in ms",
    "Grüße an Zoë — naïve façade",
    "DEPRECATED: use `query` instead",
];

/// Pieces that are hard to quote.
const ODD_PIECES: [&str; 40] = [
    "\"",
    "'",
    "`",
    "```",
    "````",
    "```json\n{\"a\": 1}\n```",
    "~~~",
    "*/",
    "/*",
    "/** doc */",
    "//",
    "//cdn.example/x",
    "{",
    "}",
    "{{mustache}}",
    "${shell}",
    "[",
    "]",
    "(a)==>(b)",
    "<k: v>",
    "@at",
    "\\",
    "\\n",
    "\\u0041",
    "\\\\",
    "\r\n",
    "\n",
    "\n\n",
    "\r",
    "\t",
    "\u{1}",
    "\u{8}\u{c}",
    "\u{1b}[1m",
    "\u{7f}\u{85}\u{2028}",
    "\u{feff}",
    "🙂👩‍👩‍👧‍👦",
    "مرحبا بالعالم",
    "日本語の説明",
    "e\u{301}",
    "\u{10ffff}",
];

/// Names of definitions, those that are no identifiers among them.
const DEFINITIONS: [&str; 24] = [
    "Address",
    "Filter",
    "User",
    "Node",
    "SortOrder",
    "Item",
    "Range",
    "Condition",
    "Status",
    "Text",
    "Integer",
    "Date",
    "address_line",
    "Foo-Bar",
    "a.b.C",
    "Foo[Bar]",
    "Page_User_",
    "2fa",
    "über",
    "a/b",
    "til~de",
    "with space",
    "app__models__Team-Input",
    "Tool",
];

impl Schemas<'_> {
    /// A name for a tool: most are words with underscores, dashes, dots or humps between them.
    pub(super) fn tool_name(&mut self) -> String {
        let (verb, noun) = (self.rng.pick(&VERBS), self.rng.pick(&NOUNS));
        match self.rng.below(10) {
            0..4 => format!("{verb}_{noun}"),
            4..6 => format!("{verb}-{noun}"),
            6..8 => format!("{verb}{}", capital(noun)),
            8 => format!("{noun}.{verb}"),
            _ => format!("{noun}s.v{}.{verb}-{noun}_{}", self.rng.below(3), self.rng.below(100)),
        }
    }

    /// A key for a property.
    pub(super) fn key(&mut self) -> String {
        match self.rng.below(100) {
            0..82 => (*self.rng.pick(&KEYS)).to_owned(),
            82..88 => format!("{}_{}", self.rng.pick(&NOUNS), self.rng.pick(&KEYS)),
            88..94 => (*self.rng.pick(&OWN_WORDS)).to_owned(),
            94..98 => (*self.rng.pick(&ODD_KEYS)).to_owned(),
            98 => format!("{}-{}", self.rng.pick(&NOUNS), self.rng.pick(&KEYS)),
            _ => self.rng.pick(&KEYS).repeat(9),
        }
    }

    /// A name for a definition.
    pub(super) fn definition_name(&mut self) -> String {
        (*self.rng.pick(&DEFINITIONS)).to_owned()
    }

    /// The title that a generator makes of a key, or a hand-written one.
    pub(super) fn title(&mut self, key: &str) -> String {
        if self.rng.chance(5) {
            return self.text();
        }
        key.split('_').map(capital).collect::<Vec<_>>().join(" ")
    }

    /// A description: a sentence mostly, several lines sometimes, seldom a whole manual.
    pub(super) fn description(&mut self) -> String {
        match self.rng.below(200) {
            0..140 => (*self.rng.pick(&SENTENCES)).to_owned(),
            140..160 => {
                let mut lines = vec![(*self.rng.pick(&SENTENCES)).to_owned()];
                for _ in 0..self.rng.between(1, 6) {
                    lines.push(match self.rng.below(4) {
                        0 => String::new(),
                        1 => format!("  - {}: {}", self.rng.pick(&KEYS), self.sentence()),
                        2 => format!("    {}", self.sentence()),
                        _ => self.sentence(),
                    });
                }
                let line = if self.rng.chance(10) { "\r\n" } else { "\n" };
                let end = if self.rng.chance(30) { line } else { "" };
                lines.join(line) + end
            }
            160..165 => format!(
                "\n    {}\n\n    Args:\n        {}: {}\n    ",
                { self.sentence() },
                self.rng.pick(&KEYS),
                self.rng.pick(&SENTENCES)
            ),
            165..166 => {
                let mut text = String::new();
                while text.len() < 7_000 {
                    text.push_str(&self.sentence());
                    text.push(if self.rng.chance(20) { '\n' } else { ' ' });
                }
                text
            }
            166..170 => String::new(),
            _ => self.text(),
        }
    }

    fn sentence(&mut self) -> String {
        (*self.rng.pick(&SENTENCES)).to_owned()
    }

    /// A text with pieces in it that are hard to quote.
    pub(super) fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.rng.between(1, 4) {
            match self.rng.below(6) {
                0 => text.push_str(self.rng.pick(&SENTENCES)),
                1 => text.push_str(self.rng.pick(&NOUNS)),
                2 => text.push(' '),
                _ => text.push_str(self.rng.pick(&ODD_PIECES)),
            }
        }
        text
    }

    /// A word for a member of an enum.
    pub(super) fn member(&mut self) -> String {
        match self.rng.below(20) {
            0..10 => (*self.rng.pick(&NOUNS)).to_owned(),
            10..12 => self.rng.pick(&VERBS).to_uppercase(),
            12 => format!("{}, {}", self.rng.pick(&NOUNS), self.rng.pick(&NOUNS)),
            13 => format!("{} {}", self.rng.pick(&VERBS), self.rng.pick(&NOUNS)),
            14 => format!("{}-{}", self.rng.pick(&NOUNS), self.rng.below(9)),
            15 => {
                (*self.rng.pick(&["", "1", "1.5", "true", "null", "a/b", "*", "+1", "c++"])).into()
            }
            16 => (*self.rng.pick(&["日本", "Österreich", "Россия", "العربية", "🙂"])).into(),
            17 => (*self.rng.pick(&OWN_WORDS)).to_owned(),
            18 => self.text(),
            _ => (*self.rng.pick(&KEYS)).to_owned(),
        }
    }

    /// Whether a property of this style is described.
    pub(super) fn describes(&mut self) -> bool {
        let percent = match self.style {
            Style::Plain => 95,
            Style::Zod => 80,
            Style::Pydantic => 50,
            Style::Hand => 60,
        };
        self.rng.chance(percent)
    }
}

/// A word with its first letter in upper case.
pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
