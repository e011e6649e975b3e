//! Types as other languages write them, and how gram does.

use crate::limits::MAX_TYPE_DEPTH;
use crate::parse::is_type;

/// Maximum length of a translated type in bytes. Longer ones are not written by hand.
const MAX_TRANSLATED: usize = 2_000;

/// Type names of other languages, and the built-in types.
const NAMES: &[(&str, &[&str])] = &[
    ("Text", &["string", "str", "char", "Char", "varchar", "text", "Str"]),
    (
        "Int",
        &[
            "int", "integer", "long", "bigint", "short", "i32", "i64", "u32", "u64", "usize",
            "int32", "int64", "uint32", "uint64",
        ],
    ),
    ("Number", &["number", "float", "double", "decimal", "Decimal", "f32", "f64", "real"]),
    ("Bool", &["bool", "boolean"]),
    ("Object", &["object", "dict", "Dict", "struct"]),
    ("Array", &["array", "list", "tuple"]),
    ("Map", &["map"]),
    ("Any", &["any", "unknown", "mixed", "interface"]),
    (
        "Null",
        &["null", "void", "Void", "Unit", "None", "NoneType", "nil", "undefined", "never", "unit"],
    ),
    ("Bytes", &["bytes", "bytearray", "blob", "Blob", "Buffer"]),
    ("DateTime", &["datetime", "timestamp", "Timestamp"]),
    ("Uri", &["URL", "Url", "url"]),
    ("Uuid", &["UUID", "uuid", "guid", "Guid"]),
];

const LISTS: &[&str] = &[
    "List",
    "Array",
    "Set",
    "Vec",
    "Sequence",
    "Iterable",
    "Collection",
    "ReadonlyArray",
    "list",
    "set",
    "array",
    "frozenset",
    "slice",
];
const MAPS: &[&str] = &["Map", "Record", "Dict", "HashMap", "dict", "map", "Mapping", "Dictionary"];
const OPTIONS: &[&str] = &["Optional", "Maybe", "Option", "Nullable"];
const WRAPPERS: &[&str] = &["Readonly", "Required", "Final", "Annotated", "Box"];

/// The built-in type that a name of another language means.
pub fn foreign_type_name(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(_, foreign)| foreign.contains(&name)).map(|(ours, _)| *ours)
}

/// A type of another language, in gram.
#[derive(Debug, PartialEq, Eq)]
pub struct Translation {
    /// The type expression.
    pub text: String,
    /// What is not gram in the original.
    pub reason: String,
}

/// Reads a type that is written as in another language, or with a slip.
pub fn translate_type(text: &str) -> Option<Translation> {
    if text.len() > MAX_TRANSLATED {
        return None;
    }
    let mut reader = Reader { rest: text.trim(), depth: 0, reason: None, name: None };
    let text = reader.union(true)?;
    let name = reader.name.map(|(word, ours)| format!("`{word}` is `{ours}` in gram"));
    let reason = reader.reason.map(str::to_owned).or(name).filter(|_| reader.rest.is_empty())?;
    is_type(&text).then_some(Translation { text, reason })
}

struct Reader<'e> {
    rest: &'e str,
    depth: u32,
    /// The first thing that is not gram.
    reason: Option<&'static str>,
    /// The first name of another language, and gram's.
    name: Option<(&'e str, &'static str)>,
}

/// What is read of a member of a union.
struct Member {
    text: String,
    /// Whether it is `None`, `undefined` or the like.
    absent: bool,
    /// Whether it is a text in quotes.
    literal: bool,
}

impl<'e> Reader<'e> {
    fn note(&mut self, reason: &'static str) {
        self.reason.get_or_insert(reason);
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn at(&self, token: &str) -> bool {
        self.rest.trim_start().starts_with(token)
    }

    /// A word, if that comes next.
    fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(word).filter(|after| !after.starts_with(is_word));
        self.rest = after.unwrap_or(rest);
        after.is_some()
    }

    /// A closing bracket, which may be missing at the end.
    fn close(&mut self, token: &str) -> bool {
        if self.eat(token) {
            return true;
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

    fn union(&mut self, outer: bool) -> Option<String> {
        while self.eat("|") {
            self.note("a `|` is written between two members only");
        }
        let mut members = vec![self.member()?];
        loop {
            if self.eat("||") {
                self.note("members are separated by one `|`");
            } else if self.eat_word("or") {
                self.note("members are separated by `|`");
            } else if self.eat("|") {
                if self.rest.trim().is_empty() {
                    self.note("a `|` is written between two members only");
                    break;
                }
            } else if outer && self.at(",") && members.iter().all(|member| member.literal) {
                self.eat(",");
                self.note("members are separated by `|`");
            } else {
                break;
            }
            members.push(self.member()?);
        }
        let absent = members.iter().filter(|member| member.absent).count();
        let mut present = members.iter().filter(|member| !member.absent);
        if let (1.., Some(only), None) = (absent, present.next(), present.next())
            && (self.reason.is_some() || self.name.is_some())
        {
            return Some(format!("{}?", only.text));
        }
        let texts: Vec<_> = members.iter().map(|member| member.text.as_str()).collect();
        Some(texts.join(" | "))
    }

    fn member(&mut self) -> Option<Member> {
        if self.eat_word("readonly") || self.eat_word("const") {
            self.note("a type has no modifiers");
        }
        let (mut nullable, mut lists) = (false, 0);
        loop {
            if self.eat("?") {
                self.note("the `?` follows the type");
                nullable = true;
            } else if self.eat("[]") {
                self.note("the `[]` follows the type");
                lists += 1;
            } else {
                break;
            }
        }
        self.depth += 1;
        if self.depth > MAX_TYPE_DEPTH {
            return None;
        }
        let mut member = self.primary()?;
        self.depth -= 1;
        loop {
            if self.eat("[]") {
                member.text = list_of(&member.text);
            } else if self.at("[") {
                self.eat("[");
                let digits = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
                if digits.len() < self.rest.len() {
                    self.note("a list has no size in its type: write {size: 3..3}");
                    self.rest = digits;
                }
                if !self.close("]") {
                    return None;
                }
                member.text = list_of(&member.text);
            } else if self.eat("?") {
                member.text.push('?');
            } else if self.eat("!") {
                self.note("every type excludes null, so it needs no `!`");
            } else if self.at("()") {
                self.eat("()");
                self.note("a type is not called");
            } else {
                break;
            }
            member.literal = false;
        }
        for _ in 0..lists {
            member.text = list_of(&member.text);
        }
        if nullable {
            member.text.push('?');
        }
        Some(member)
    }

    fn primary(&mut self) -> Option<Member> {
        let rest = self.rest.trim_start();
        self.rest = rest;
        let plain = |text: String| Some(Member { text, absent: false, literal: false });
        match rest.chars().next()? {
            quote @ ('"' | '\'') => {
                let text = self.string(quote)?;
                Some(Member { text, absent: false, literal: true })
            }
            '(' => {
                self.eat("(");
                let inner = self.union(false)?;
                self.close(")").then_some(())?;
                plain(format!("({inner})"))
            }
            '[' => {
                self.eat("[");
                let items = self.items("]")?;
                plain(format!("[{}]", items.join(", ")))
            }
            '{' => {
                self.eat("{");
                let fields = self.fields()?;
                plain(format!("{{{}}}", fields.join(", ")))
            }
            c if c.is_ascii_digit() || c == '-' => {
                let number =
                    self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
                plain(number.to_owned())
            }
            c if is_word(c) => self.named(),
            _ => None,
        }
    }

    fn take(&mut self, part: impl Fn(char) -> bool) -> &'e str {
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A text in quotes, as JSON.
    fn string(&mut self, quote: char) -> Option<String> {
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

    fn named(&mut self) -> Option<Member> {
        let word = self.take(is_word);
        let plain = |text: String| Some(Member { text, absent: false, literal: false });
        let ours = foreign_type_name(word);
        if LISTS.contains(&word) && self.eat_word("of") {
            self.note("a list is written `T[]`");
            let item = self.member()?;
            return plain(list_of(&item.text));
        }
        let generic = self.at("<") || (self.at("[") && !self.at("[]"));
        let known = [LISTS, MAPS, OPTIONS, WRAPPERS, &["Union", "Literal", "Tuple", "tuple"]];
        if generic && known.iter().any(|known| known.contains(&word)) {
            return self.generic(word).and_then(plain);
        }
        if let Some(ours) = ours {
            if word != "null" {
                self.name.get_or_insert((word, ours));
            }
            let absent = matches!(word, "None" | "undefined" | "nil" | "null");
            return Some(Member { text: ours.to_owned(), absent, literal: false });
        }
        plain(word.to_owned())
    }

    /// The arguments of a generic type, and what that is in gram.
    fn generic(&mut self, name: &str) -> Option<String> {
        let angle = self.eat("<") || !self.eat("[");
        let mut arguments = self.items(if angle { ">" } else { "]" })?;
        if name == "Map" && angle && arguments.len() == 1 {
            return Some(format!("Map<{}>", arguments.pop()?));
        }
        let last = arguments.last()?;
        let (reason, text) = if LISTS.contains(&name) {
            ("a list is written `T[]`", list_of(arguments.first()?))
        } else if MAPS.contains(&name) {
            ("a map is written `Map<T>`: its keys are always texts", format!("Map<{last}>"))
        } else if OPTIONS.contains(&name) {
            ("a type that may be null is written `T?`", suffixed(last, "?"))
        } else if WRAPPERS.contains(&name) {
            ("a type has no modifiers", arguments.first()?.clone())
        } else if name.eq_ignore_ascii_case("tuple") {
            ("a tuple is written `[T, U]`", format!("[{}]", arguments.join(", ")))
        } else {
            ("a union is written `T | U`", arguments.join(" | "))
        };
        self.note(reason);
        Some(text)
    }

    /// Types with commas between them, up to a closing bracket.
    fn items(&mut self, closer: &str) -> Option<Vec<String>> {
        let mut items = Vec::new();
        loop {
            if items.is_empty() || !self.at(closer) {
                items.push(self.union(false)?);
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

    /// The fields of a record, up to its `}`.
    fn fields(&mut self) -> Option<Vec<String>> {
        let mut fields = Vec::new();
        while !self.at("}") && !self.rest.trim().is_empty() {
            fields.push(self.field()?);
            if self.eat(",") {
                if self.at("}") {
                    self.note("no comma follows the last field");
                }
            } else if self.eat(";") {
                self.note("fields are separated by commas");
            } else if !self.at("}") && !self.rest.trim().is_empty() {
                self.note("a comma is missing between two fields");
            }
        }
        self.close("}").then_some(fields)
    }

    fn field(&mut self) -> Option<String> {
        if self.eat_word("readonly") {
            self.note("a field has no modifiers");
        }
        let start = self.rest.chars().next()?;
        let name = match start {
            '"' | '\'' => self.string(start)?,
            _ => self.take(is_word).to_owned(),
        };
        let optional = if self.eat("?") { "?" } else { "" };
        if !self.eat(":") {
            if name.is_empty() || self.rest.trim_start().starts_with([',', '}', ';']) {
                return None;
            }
            self.note("a `:` is missing between a field and its type");
        } else if self.eat(":") {
            self.note("a field of a type has one `:`");
        }
        let ty = self.union(false)?;
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
        Some(format!("{name}{optional}: {ty}{default}"))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn suffixed(ty: &str, suffix: &str) -> String {
    if ty.contains(" | ") && !ty.starts_with(['[', '{', '(']) {
        format!("({ty}){suffix}")
    } else {
        format!("{ty}{suffix}")
    }
}

fn list_of(ty: &str) -> String {
    suffixed(ty, "[]")
}

#[cfg(test)]
mod tests {
    use super::translate_type as translate;

    #[test]
    fn types_of_other_languages_are_translated() {
        let cases = [
            ("List[str]", "Text[]"),
            ("Record<string, number>", "Map<Number>"),
            ("dict[str, list[int]]", "Map<Int[]>"),
            ("Optional[str]", "Text?"),
            ("Union[str, int]", "Text | Int"),
            ("List[Union[str, int]]", "(Text | Int)[]"),
            ("Literal['a', 'b']", "\"a\" | \"b\""),
            ("string | null", "Text?"),
            ("Text | undefined", "Text?"),
            ("'c' | 'f'", "\"c\" | \"f\""),
            ("{a: Text; b?: Int;}", "{a: Text, b?: Int}"),
            ("{a Text}", "{a: Text}"),
            ("Map<Text", "Map<Text>"),
            ("readonly Text[]", "Text[]"),
            ("[]Text", "Text[]"),
            ("list of Text", "Text[]"),
            ("Tuple[int, str]", "[Int, Text]"),
            ("Promise", ""),
            ("Text[]", ""),
            ("{lat, lon}", ""),
            ("A & B", ""),
        ];
        for (foreign, gram) in cases {
            let text = translate(foreign).map(|it| it.text).unwrap_or_default();
            assert_eq!(text, gram, "{foreign}");
        }
    }

    #[test]
    fn deep_types_are_left_alone() {
        assert_eq!(translate(&"List[".repeat(100_000)), None);
    }
}
