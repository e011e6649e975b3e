use gram_syntax::{Code, Span};

use crate::lint::context::{Context, Report, ToolView};
use crate::lint::rule::{Level, Look, Rule};
use crate::lint::words::{stem, stems, words};

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
    level: Level::Warn,
    fix: None,
    options: &[],
    target: None,
    looks: &[Look::Tool(look)],
};

/// Words that say nothing, without an `s` at the end.
const EMPTY: [&str; 58] = [
    "a",
    "an",
    "the",
    "thi",
    "that",
    "it",
    "its",
    "my",
    "your",
    "our",
    "some",
    "any",
    "given",
    "of",
    "to",
    "for",
    "from",
    "with",
    "in",
    "on",
    "by",
    "and",
    "or",
    "be",
    "is",
    "are",
    "will",
    "can",
    "do",
    "doe",
    "use",
    "used",
    "using",
    "get",
    "set",
    "run",
    "call",
    "perform",
    "execute",
    "handle",
    "process",
    "manage",
    "tool",
    "function",
    "method",
    "api",
    "endpoint",
    "parameter",
    "param",
    "argument",
    "arg",
    "input",
    "value",
    "thing",
    "stuff",
    "something",
    "string",
    "text",
];

/// What stands where a description is still to be written.
const PLACEHOLDERS: [&str; 8] =
    ["todo", "tbd", "fixme", "xxx", "lorem", "placeholder", "description", "desc"];

fn look(cx: &Context<'_>, view: &ToolView<'_>, report: &mut Report) {
    let tool = view.tool;
    judge(cx, view.file, ("tool", &tool.name), tool.description.as_deref(), || view.name, report);
    for field in &tool.parameters {
        let text = field.slot.description.as_deref();
        judge(cx, view.file, ("parameter", &field.name), text, || view.place(field), report);
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
    let Some(text) = text.filter(|text| !text.trim().is_empty() && text.len() <= LONG) else {
        return;
    };
    let message = if is_placeholder(text) {
        format!("the description of the {what} `{name}` is still to be written")
    } else if says_no_more(name, text) {
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
    let mut stems = stems(text);
    let first = stems.next();
    match first {
        None => true,
        Some(word) => {
            PLACEHOLDERS[..5].contains(&word.as_str())
                || (PLACEHOLDERS.contains(&word.as_str()) && stems.next().is_none())
        }
    }
}

/// Whether all words of a description stand in the name, or say nothing.
fn says_no_more(name: &str, text: &str) -> bool {
    let mut own = None;
    stems(text).all(|word| {
        if EMPTY.contains(&word.as_str()) {
            return true;
        }
        // Most descriptions say more in their first words.
        let own: &Vec<String> =
            own.get_or_insert_with(|| words(name).iter().map(|word| stem(word)).collect());
        own.iter().any(|known| *known == word || inflected(known, &word))
    })
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
            assert!(says_no_more(name, text), "{name}: {text}");
        }
        for (name, text) in [
            ("path", "Relative to the root"),
            ("readFile", "Reads a text file whole"),
            ("city", "Vienna, for example"),
            ("日付", "いつ"),
        ] {
            assert!(!says_no_more(name, text), "{name}: {text}");
        }
        for text in ["TODO", "tbd: later", "...", "description", "-"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["Descriptions of pictures", "Description of the picture", "Todos of a person"]
        {
            assert_eq!(is_placeholder(text), text.starts_with("Todos"), "{text}");
        }
    }
}
