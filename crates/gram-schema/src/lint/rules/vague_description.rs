use gram_syntax::{Code, Span};

use crate::lint::context::{Context, Report, ToolView};
use crate::lint::rule::{Look, Rule};
use crate::lint::rules::missing_description::is_brought;
use crate::lint::words::{is_blank, stem, stems, words};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "vague-description",
        page: r#"# A description says no more than the name

A description that only repeats the name, or holds a place for one that was
never written, helps no model to decide: not when to call the tool, and not what
to put into the parameter. It costs tokens at every request all the same.

Say what the name does not: what comes back, when to use it and when not, the
unit, the format, where the value comes from.

```gram bad
/** Gets the user */
[getUser:Tool | (id::Text {description: "The id"})==>(::Object)]
```

```gram good
/** Looks up who belongs to an id: name, e-mail address, team and manager */
[getUser:Tool | (id::Text {description: "As in the directory, such as `ab123`"})
  ==>(::Object)
]
```
"#,
    },
    looks: &[Look::Tool(look), Look::Module(terms)],
    ..Rule::COMMON
};

/// Words that say nothing, without an `s` at the end.
#[rustfmt::skip] // Words to look for, which read better in rows.
const EMPTY: [&str; 62] = [
    "a", "an", "the", "thi", "that", "it", "its", "my", "your", "our", "some", "any", "given",
    "of", "to", "for", "from", "with", "in", "on", "by", "and", "or", "be", "is", "are", "will",
    "can", "do", "doe", "use", "used", "using", "get", "tool", "function", "method", "api",
    "endpoint", "parameter", "param", "argument", "arg", "input", "value", "thing", "stuff",
    "something", "string", "text", "you", "information", "info", "data", "detail", "specified",
    "specific", "certain", "which", "object", "here", "all",
];

/// Words that say nothing of a tool: every tool does that. Of a parameter they say what for.
#[rustfmt::skip] // Words to look for, which read better in rows.
const DEEDS: [&str; 19] = [
    "set", "run", "call", "perform", "execute", "handle", "process", "manage", "return",
    "retrieve", "fetch", "fetche", "obtain", "provide", "provided", "give", "allow", "let", "new",
];

/// Marks of what is still to be written, in capitals at the start or alone.
const MARKS: [&str; 4] = ["TODO", "TBD", "FIXME", "XXX"];

/// Words that are no description when they stand alone.
const PLACEHOLDERS: [&str; 9] =
    ["todo", "tbd", "fixme", "xxx", "placeholder", "description", "desc", "none", "lorem"];

fn look(cx: &Context<'_>, view: &ToolView<'_>, report: &mut Report) {
    let tool = view.tool;
    judge(cx, view.file, ("tool", &tool.name), tool.description.as_deref(), || view.name, report);
    for field in &tool.parameters {
        // What a term brings is said there.
        let text = field.slot.description.as_deref();
        let text = text.filter(|_| !is_brought(cx, view.file, field));
        judge(cx, view.file, ("parameter", &field.name), text, || view.place(field), report);
    }
}

fn terms(cx: &Context<'_>, report: &mut Report) {
    for (term, file, name) in cx.terms() {
        let text = term.slot.description.as_deref();
        judge(cx, file, ("term", &term.name), text, || name, report);
    }
}

fn judge(
    cx: &Context<'_>,
    file: usize,
    (what, name): (&str, &str),
    text: Option<&str>,
    place: impl Fn() -> Span,
    report: &mut Report,
) {
    // An empty description is a missing one; a long one says something.
    let Some(text) = text.filter(|text| text.len() <= LONG && !is_blank(text)) else {
        return;
    };
    let message = if is_placeholder(text) {
        format!("the description of the {what} `{name}` is still to be written")
    } else if says_no_more(what, name, text) {
        format!("the description of the {what} `{name}` says no more than its name")
    } else {
        return;
    };
    let help = match what {
        "tool" => "say what it does, what comes back, and when to use it",
        _ => "say what to put there: the unit, the format, where it comes from",
    };
    report.add(file, cx.finding(&RULE, file, place(), message).help(help));
}

/// The most bytes of a description that might say nothing.
const LONG: usize = 80;

fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return true };
    let alone =
        words.next().is_none() || text.get(first.len()..).is_some_and(|rest| rest.starts_with(':'));
    // A list of what is to do is called so, too, but not in capitals.
    MARKS.contains(&first)
        || (alone && PLACEHOLDERS.iter().any(|word| first.eq_ignore_ascii_case(word)))
        || ["n/a", "lorem ipsum"].iter().any(|start| begins(text, start))
}

/// Whether a text begins so, in capitals or not.
fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// Whether all words of a description stand in the name, or say nothing.
fn says_no_more(what: &str, name: &str, text: &str) -> bool {
    // Most descriptions say more, mostly at their end, and that is seen without taking them apart.
    let mut parts = text.rsplit(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    if !parts.all(|part| is_empty_word(what, part) || is_near(name, part)) {
        return false;
    }
    let mut own = None;
    stems(text).all(|word| {
        let known = |list: &[&str]| list.contains(&word.as_str());
        if known(&EMPTY) || (what == "tool" && known(&DEEDS)) {
            return true;
        }
        let own: &Vec<String> =
            own.get_or_insert_with(|| words(name).iter().map(|word| stem(word)).collect());
        own.iter().any(|known| *known == word || inflected(known, &word))
    })
}

/// By first letter, how long the words are that say nothing: a bit for each length, that of the word
/// with an `s` included.
static LENGTHS: [u32; 26] = lengths();

const fn lengths() -> [u32; 26] {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < EMPTY.len() + DEEDS.len() {
        let word = if at < EMPTY.len() { EMPTY[at] } else { DEEDS[at - EMPTY.len()] };
        // They are in lower case, and short.
        lengths[(word.as_bytes()[0] - b'a') as usize] |= 0b11 << word.len();
        at += 1;
    }
    lengths
}

/// Whether a word may be one that says nothing; if not, it is none. This costs next to nothing.
fn may_be_empty(word: &str) -> bool {
    let first = word.bytes().next().unwrap_or_default().to_ascii_lowercase();
    let lengths = LENGTHS.get(usize::from(first.wrapping_sub(b'a')));
    lengths.is_some_and(|lengths| word.len() < 32 && lengths & (1 << word.len()) != 0)
}

/// Whether a word says nothing, whatever the name.
fn is_empty_word(what: &str, word: &str) -> bool {
    if !may_be_empty(word) {
        return false;
    }
    let is = |known: &&str| {
        let singular = word.strip_suffix(['s', 'S']).unwrap_or(word);
        word.eq_ignore_ascii_case(known) || singular.eq_ignore_ascii_case(known)
    };
    EMPTY.iter().any(&is) || (what == "tool" && DEEDS.iter().any(is))
}

/// Whether a word may be one of a name's, in some form: what it begins with stands there. Words of
/// other letters than those of English may be anything.
fn is_near(name: &str, word: &str) -> bool {
    let start = word.as_bytes().get(..3).unwrap_or(word.as_bytes());
    // In a text, words may be joined as they are in names.
    let joined = word.chars().skip(1).any(char::is_uppercase);
    !word.is_ascii()
        || joined
        || name.as_bytes().windows(start.len()).any(|part| part.eq_ignore_ascii_case(start))
}

/// Whether a word is another one with an ending: `create`, `created`, `creating`.
fn inflected(known: &str, word: &str) -> bool {
    let root = known.strip_suffix('e').unwrap_or(known);
    root.len() > 2
        && word.strip_prefix(root).is_some_and(|end| matches!(end, "" | "e" | "ed" | "ing" | "es"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_that_say_no_more_are_found() {
        for (name, text) in [
            ("path", "The path"),
            ("readFile", "Reads a file."),
            ("create_user", "Creating users"),
            ("name", "name of the parameter"),
            ("weather", "Get the weather"),
        ] {
            assert!(says_no_more("tool", name, text), "{name}: {text}");
        }
        for (name, text) in [
            ("path", "Relative to the root"),
            ("readFile", "Reads a text file whole"),
            ("city", "Vienna, for example"),
            ("日付", "いつ"),
        ] {
            assert!(!says_no_more("tool", name, text), "{name}: {text}");
        }
        assert!(!says_no_more("parameter", "folder", "The folder to run it in"));
        for text in ["TODO", "TODO write", "tbd: later", "...", "description", "-", "N/A"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["Descriptions of pictures", "Todos of a person", "todo list", "Nonempty"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
