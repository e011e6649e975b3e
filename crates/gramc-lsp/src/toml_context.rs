//! Where an offset lies in TOML, also in a text that does not parse.

/// Where an offset lies.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TomlContext {
    /// The table around it.
    pub(crate) table: Vec<String>,
    pub(crate) place: TomlPlace,
    /// The start of the word before the offset, including an opening quote.
    pub(crate) start: usize,
    /// The word before the offset, without quotes.
    pub(crate) word: String,
}

/// What is written at an offset.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TomlPlace {
    /// The key of a value.
    Key,
    /// A key in the header of a table.
    Header,
    /// The value of a key, or an item of it.
    Value { key: String, in_list: bool },
    /// A comment, or behind a complete statement.
    Nothing,
}

/// An open bracket.
#[derive(Debug)]
enum Open {
    List,
    /// An inline table, and the keys of `Scanner` outside of it.
    Table {
        table: Vec<String>,
        keys: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Key,
    Header,
    Value,
    /// After a value or a header.
    After,
    Comment,
}

#[derive(Debug)]
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    mode: Mode,
    /// The table of the last header.
    header: Vec<String>,
    /// The table of keys at `at`: that of the header, or an inline table.
    table: Vec<String>,
    /// The parts of the current key.
    keys: Vec<String>,
    open: Vec<Open>,
    /// The last word and its start, if it may continue.
    word: Option<(usize, String)>,
}

/// Where the end of a text lies.
pub(crate) fn context(text: &str) -> TomlContext {
    let mut scanner = Scanner {
        text,
        at: usize::from(text.starts_with('\u{feff}')) * 3,
        mode: Mode::Key,
        header: Vec::new(),
        table: Vec::new(),
        keys: Vec::new(),
        open: Vec::new(),
        word: None,
    };
    while scanner.step() {}
    scanner.finish()
}

/// The end of the word at an offset: a bare word, or a string with its closing quote.
pub(crate) fn word_end(text: &str, context: &TomlContext, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let quote = text.get(context.start..at).and_then(|word| word.chars().next());
    match quote.filter(|quote| matches!(quote, '"' | '\'')) {
        Some(quote) => {
            let end = rest.find([quote, '\n', '\r']).unwrap_or(rest.len());
            let closed = rest.get(end..).is_some_and(|rest| rest.starts_with(quote));
            at + end + usize::from(closed)
        }
        None => at + rest.find(|c| !is_bare(c)).unwrap_or(rest.len()),
    }
}

fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

impl Scanner<'_> {
    /// Reads a token. Returns false at the end.
    fn step(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(c) = rest.chars().next() else { return false };
        match c {
            '\n' | '\r' => self.end_line(rest),
            _ if self.mode == Mode::Comment => {}
            ' ' | '\t' => self.end_word(),
            '#' => {
                self.end_word();
                self.mode = Mode::Comment;
            }
            '"' | '\'' => {
                self.string(rest, c);
                return true;
            }
            _ if is_bare(c) => {
                let length = rest.find(|c| !is_bare(c)).unwrap_or(rest.len());
                self.push_word(rest.get(..length).unwrap_or_default());
                self.at += length;
                return true;
            }
            _ => self.punctuation(c),
        }
        self.at += c.len_utf8();
        true
    }

    /// Reads a string. One without an end ends with its line.
    fn string(&mut self, rest: &str, quote: char) {
        let triple = [quote; 3].iter().collect::<String>();
        if let Some(inner) = rest.strip_prefix(&triple) {
            self.end_word();
            let end = inner.find(&triple).map_or(rest.len(), |end| end + 6);
            self.at += end.min(rest.len());
            return;
        }
        let inner = rest.get(1..).unwrap_or_default();
        let mut escaped = false;
        let end = inner.find(|c| {
            let ends = (c == quote && !escaped) || matches!(c, '\n' | '\r');
            escaped = c == '\\' && quote == '"' && !escaped;
            ends
        });
        let end = end.unwrap_or(inner.len());
        self.word = Some((self.at, inner.get(..end).unwrap_or_default().to_owned()));
        let closed = inner.get(end..).is_some_and(|rest| rest.starts_with(quote));
        self.at += 1 + end + usize::from(closed);
        if closed && self.at < self.text.len() {
            self.end_word();
        }
    }

    fn push_word(&mut self, part: &str) {
        let (start, mut word) = self.word.take().unwrap_or((self.at, String::new()));
        word.push_str(part);
        self.word = Some((start, word));
    }

    /// Ends the word: a part of the key, or a value.
    fn end_word(&mut self) {
        let Some((_, word)) = self.word.take() else { return };
        match self.mode {
            Mode::Key | Mode::Header => self.keys.push(word),
            Mode::Value if self.open.is_empty() => self.mode = Mode::After,
            _ => {}
        }
    }

    fn punctuation(&mut self, c: char) {
        // The fraction of a number is a part of its word.
        if c == '.' && self.mode == Mode::Value || matches!(c, '+' | ':') {
            return self.push_word(&c.to_string());
        }
        self.end_word();
        match (c, self.mode) {
            ('[', Mode::Key) if self.open.is_empty() && self.keys.is_empty() => {
                self.mode = Mode::Header;
            }
            (']', Mode::Header) => {
                self.header = std::mem::take(&mut self.keys);
                self.table = self.header.clone();
                self.mode = Mode::After;
            }
            ('=', Mode::Key) => self.mode = Mode::Value,
            ('[', Mode::Value) => self.open.push(Open::List),
            ('{', Mode::Value) => {
                let keys = std::mem::take(&mut self.keys);
                let table = self.table.clone();
                self.table.extend(keys.iter().cloned());
                self.open.push(Open::Table { table, keys });
                self.mode = Mode::Key;
            }
            (',', _) if matches!(self.open.last(), Some(Open::Table { .. })) => {
                self.keys.clear();
                self.mode = Mode::Key;
            }
            (']' | '}', _) => self.close(),
            _ => {}
        }
    }

    /// Closes the innermost bracket.
    fn close(&mut self) {
        if let Some(Open::Table { table, keys }) = self.open.pop() {
            (self.table, self.keys) = (table, keys);
        }
        self.mode = if self.open.is_empty() { Mode::After } else { Mode::Value };
    }

    /// Ends a line. What is still open continues, unless the next line begins a statement.
    fn end_line(&mut self, rest: &str) {
        self.end_word();
        let next = rest.trim_start();
        let line = next.lines().next().unwrap_or_default();
        let begins = match self.open.last() {
            None => true,
            Some(Open::List) => is_header(line) || is_entry(line),
            Some(Open::Table { .. }) => is_header(line),
        };
        if begins {
            self.open.clear();
            self.keys.clear();
            self.table = self.header.clone();
            self.mode = Mode::Key;
        } else if self.mode == Mode::Comment {
            let in_list = matches!(self.open.last(), Some(Open::List));
            self.mode = if in_list { Mode::Value } else { Mode::Key };
        }
    }

    fn finish(self) -> TomlContext {
        let (start, word) = self.word.unwrap_or((self.text.len(), String::new()));
        let mut table = self.table;
        let place = match self.mode {
            Mode::Key => {
                table.extend(self.keys);
                TomlPlace::Key
            }
            Mode::Header => {
                table = self.keys;
                TomlPlace::Header
            }
            Mode::Value => {
                let mut keys = self.keys;
                let key = keys.pop().unwrap_or_default();
                table.extend(keys);
                TomlPlace::Value { key, in_list: matches!(self.open.last(), Some(Open::List)) }
            }
            Mode::After | Mode::Comment => TomlPlace::Nothing,
        };
        TomlContext { table, place, start, word }
    }
}

/// Whether a line is the header of a table.
fn is_header(line: &str) -> bool {
    let inner = line.trim_end().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    inner.is_some_and(|inner| {
        inner.starts_with(is_bare) && inner.chars().all(|c| is_bare(c) || "[].\"'/".contains(c))
    })
}

/// Whether a line begins with a key and `=`.
fn is_entry(line: &str) -> bool {
    let rest = line.trim_start_matches(|c| is_bare(c) || c == '.');
    rest.len() < line.len() && rest.trim_start().starts_with('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The context of a text at `¦`: its table, its place and the word.
    fn at(text: &str) -> String {
        let (before, _) = text.split_once('¦').unwrap_or((text, ""));
        let TomlContext { table, place, start, word } = context(before);
        assert!(before.get(start..).is_some_and(|rest| rest.contains(&word)), "{text}");
        let place = match place {
            TomlPlace::Value { key, in_list: true } => format!("item of {key}"),
            TomlPlace::Value { key, .. } => format!("value of {key}"),
            place => format!("{place:?}"),
        };
        format!("{} {place} {word}", table.join("/"))
    }

    #[test]
    fn places_are_found() {
        for (text, wanted) in [
            ("¦", " Key "),
            ("ta¦", " Key ta"),
            ("[li¦", " Header li"),
            ("[lints]¦", "lints Nothing "),
            ("[lints]\r\nna¦", "lints Key na"),
            ("[lints]\nnaming = ¦", "lints value of naming "),
            ("[lints]\nnaming = \"d¦\"", "lints value of naming d"),
            ("[lints]\nnaming = {¦}", "lints/naming Key "),
            ("[lints]\nnaming = {level = 'deny', to¦}", "lints/naming Key to"),
            ("[lints]\nnaming = {tools = \"¦", "lints/naming value of tools "),
            ("[lints]\nnaming = {tools = \"a\"}\nx¦", "lints Key x"),
            ("lints.naming.¦", "lints/naming Key "),
            ("lints.naming.level = ¦", "lints/naming value of level "),
            ("targets = [\"mcp\", \"¦\"]", " item of targets "),
            ("targets = [\n  'mcp', # one\n  '¦", " item of targets "),
            ("targets = [\n  'mcp',\n[format]\nw¦", "format Key w"),
            ("targets = [\nformat.width = ¦", "format value of width "),
            ("targets = ['a'\n\n[lints\nna¦", " item of targets na"),
            ("targets = [ # x¦", " Nothing "),
            ("targets = [] ¦", " Nothing "),
            ("# ta¦", " Nothing "),
            ("[prices]\n\"openai/g¦", "prices Key openai/g"),
            ("[prices.\"a.b\"]\nin¦", "prices/a.b Key in"),
            ("[prices]\na = {input = 0.15, out¦", "prices/a Key out"),
            ("a = '''\n[x]\n'''\nb¦", " Key b"),
            ("a = \"no end\nb¦", " Key b"),
            ("}]=,¦", " Nothing "),
        ] {
            assert_eq!(at(text), wanted, "{text}");
        }
    }

    #[test]
    fn words_end_where_they_should() {
        let end = |text: &str| {
            let (before, after) = text.split_once('¦').unwrap_or((text, ""));
            let whole = format!("{before}{after}");
            let end = word_end(&whole, &context(before), before.len());
            whole.get(end..).unwrap_or_default().to_owned()
        };
        assert_eq!(end("wi¦dth = 3"), " = 3");
        assert_eq!(end("a = \"de¦ny\" # x"), " # x");
        assert_eq!(end("a = \"de¦ny\r\nb"), "\r\nb");
        assert_eq!(end("a = ¦\n"), "\n");
    }

    #[test]
    fn any_text_has_a_context() {
        let text = "é[a.\"b\\\"c\"]\r\nx = {y = [1, {z = '''q''' }], \u{1F600} = \"\\";
        for (at, _) in text.char_indices() {
            let context = context(text.get(..at).unwrap_or_default());
            assert!(context.start <= at && word_end(text, &context, at) <= text.len());
        }
    }
}
