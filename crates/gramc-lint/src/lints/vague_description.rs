use gramc_syntax::{Code, Span};

use crate::context::{Linter, ToolView};
use crate::lint::{Lint, LintPass};
use crate::lints::missing_description::is_brought;
use crate::words::{is_blank, words};
use gramc_model::words::singular;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "vague-description",
        page: r#"# A description adds nothing to the name

A description that only repeats the name, or is a placeholder, does not help a
model to decide when to call the tool or which value to pass. It still uses
tokens in every request.

Add information that the name does not contain: the result, when to use the tool
and when not, the unit, the format, the source of the value.

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
    passes: &[LintPass::Tool(run), LintPass::Module(terms)],
    ..Lint::COMMON
};

/// Whether a word is filler. The word is in lower case, in the singular.
#[rustfmt::skip] // Word lists are more readable in rows.
fn is_empty(word: &[u8]) -> bool {
    matches!(
        word,
        b"a" | b"all" | b"an" | b"and" | b"any" | b"api" | b"are" | b"arg" | b"argument" | b"be"
            | b"by" | b"can" | b"certain" | b"data" | b"detail" | b"do" | b"doe" | b"endpoint"
            | b"for" | b"from" | b"function" | b"get" | b"given" | b"here" | b"in" | b"info"
            | b"information" | b"input" | b"is" | b"it" | b"its" | b"method" | b"my" | b"object"
            | b"of" | b"on" | b"or" | b"our" | b"param" | b"parameter" | b"some" | b"something"
            | b"specific" | b"specified" | b"stuff" | b"that" | b"the"
            | b"thing" | b"this" | b"to" | b"tool" | b"use" | b"used" | b"using" | b"value"
            | b"which" | b"will" | b"with" | b"you" | b"your"
    )
}

/// Whether a word says nothing of a tool: every tool does that. Of a parameter it says what for.
#[rustfmt::skip] // Word lists are more readable in rows.
fn is_deed(word: &[u8]) -> bool {
    matches!(
        word,
        b"allow" | b"call" | b"execute" | b"fetch" | b"give" | b"handle" | b"let"
            | b"manage" | b"new" | b"obtain" | b"perform" | b"process" | b"provide" | b"provided"
            | b"retrieve" | b"return" | b"run" | b"set"
    )
}

/// Whether a word says nothing of a parameter but its type. Of a tool it says what it works on.
fn is_type(word: &[u8]) -> bool {
    matches!(word, b"string" | b"text")
}

/// Marks of what is a placeholder, in capitals at the start or alone.
const MARKS: [&str; 4] = ["TODO", "TBD", "FIXME", "XXX"];

/// Words that are placeholders when used alone.
const PLACEHOLDERS: [&str; 9] =
    ["todo", "tbd", "fixme", "xxx", "placeholder", "description", "desc", "none", "lorem"];

/// What a placeholder begins with, in capitals or not.
const STARTS: [&str; 2] = ["lorem ipsum", "n/a"];

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    let tool = view.tool;
    let own = tool.description.as_deref();
    check_description(cx, view.file, own, ("tool", &tool.name), || view.name);
    for field in view.parameters() {
        // Attributes of a term are reported at the term.
        let text = field.type_use.description.as_deref().filter(|_| !is_brought(cx, &field));
        check_description(cx, view.file, text, ("parameter", &field.name), || field.place());
    }
}

fn terms(cx: &Linter<'_>) {
    for (term, file, name) in cx.terms() {
        let text = term.type_use.description.as_deref();
        check_description(cx, file, text, ("term", &term.name), || name);
    }
}

/// Checks a description. `name` has the kind of the described item before it.
fn check_description(
    cx: &Linter<'_>,
    file: usize,
    text: Option<&str>,
    name: (&str, &str),
    place: impl Fn() -> Span,
) {
    let (kind, name) = name;
    // An empty description counts as missing; a long one is never vague.
    let Some(text) = text.filter(|text| text.len() <= LONG && !is_blank(text)) else { return };
    let problem = if is_placeholder(text) {
        "is a placeholder"
    } else if repeats_name(kind, name, text) {
        "adds nothing to its name"
    } else {
        return;
    };
    let message = format!("the description of the {kind} `{name}` {problem}");
    let help = match kind {
        "tool" => "describe what it does, what it returns and when to use it",
        _ => "describe the value: its unit, format and source",
    };
    cx.add(file, cx.diagnostic(file, place(), message).help(help));
}

/// The maximum length in bytes of a vague description.
const LONG: usize = 80;

fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return true };
    let mut is_alone = || {
        let rest = text.get(first.len()..).unwrap_or_default();
        rest.starts_with(':') || words.next().is_none()
    };
    // In lower case, `todo` may be the subject: a todo list.
    MARKS.contains(&first)
        || (PLACEHOLDERS.iter().any(|word| first.eq_ignore_ascii_case(word)) && is_alone())
        || STARTS.iter().any(|start| begins(text, start))
}

/// Whether a text begins so, in capitals or not.
fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// Whether all words of a description occur in the name or are filler.
fn repeats_name(what: &str, name: &str, text: &str) -> bool {
    let of_kind = if what == "tool" { is_deed } else { is_type };
    let is_filler = |word: &[u8]| is_empty(word) || of_kind(word);
    words(text).all(|word| is_filler(singular(&word).as_bytes()) || is_in(name, &singular(&word)))
}

/// Whether a word, in some form, is one of a name's.
fn is_in(name: &str, word: &str) -> bool {
    // Most are not, which their beginnings show.
    let start = word.as_bytes().get(..3).unwrap_or(word.as_bytes());
    let mut parts = name.as_bytes().windows(start.len());
    (!word.is_ascii() || parts.any(|part| part.eq_ignore_ascii_case(start)))
        && words(name).any(|own| singular(&own) == word || is_inflection(&singular(&own), word))
}

/// Whether a word is another one with an ending: `create`, `created`, `creating`.
fn is_inflection(known: &str, word: &str) -> bool {
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
            assert!(repeats_name("tool", name, text), "{name}: {text}");
        }
        for (name, text) in [
            ("path", "Relative to the root"),
            ("readFile", "Reads a text file whole"),
            ("city", "Vienna, for example"),
            ("日付", "いつ"),
        ] {
            assert!(!repeats_name("tool", name, text), "{name}: {text}");
        }
        assert!(!repeats_name("parameter", "folder", "The folder to run it in"));
        for text in ["TODO", "TODO write", "tbd: later", "...", "description", "-", "N/A"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["Descriptions of pictures", "Todos of a person", "todo list", "Nonempty"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
