use gramc_syntax::{Code, Span};

use crate::context::{Linter, ToolView};
use crate::lint::{Lint, LintOption, LintPass};
use crate::lints::missing_description::is_brought;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "description-too-long",
        page: r"# A description is too long

Some deployments reject a tool with a description of more than 1,024 characters,
and the whole request with it. Other deployments send and bill it with every
request, and the important parts are lost in a long text.

Describe in a few sentences the purpose of the tool, when to use it, and when
not to use it. Move details about a parameter to its description, and examples
to attributes.

Set `max` in `gram.toml` to change the limit: `description-too-long = {max =
500}`.

```gram bad
/** Says how warm it is. How warm it is depends on the place, on the hour and on
    the season; it is warmest in the afternoon. The temperature is a number in
    degrees Celsius, as everywhere in this service. In Celsius, water freezes at
    0 and boils at 100; a room is about 20, a summer's day 30, a winter's night
    -10. A body has 37. The numbers come from stations near the place. A station
    is a small white box on a pole, two metres above the grass, with slits in
    its sides so that the air goes through and the sun stays out. There are some
    ten thousand of them in the world, and each tells its numbers once in an
    hour to the office of its country, which sends them on to all others. Where
    there is no station, the number is worked out from the next ones. On a
    mountain it is colder by about six degrees for each thousand metres, at the
    sea it changes less over the day, in a town it is warmer than around it.
    When two stations do not agree, the nearer one is right. When one is broken,
    it is omitted until it is repaired. All numbers are kept forever.
    */
[temperature:Tool | (city::Text)==>(::Number)]
```

```gram good
/** Says how warm it is in a city, in degrees Celsius. Not for forecasts. */
[temperature:Tool | (city::Text)==>(::Number)]
```
",
    },
    options: &[LintOption {
        name: "max",
        about: "the most characters of a description",
        default: "1024",
    }],
    passes: &[LintPass::Tool(run), LintPass::Module(others)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    let tool = view.tool;
    let own = tool.description.as_deref();
    check_length(cx, view.file, own, ("tool", &tool.name), || view.name);
    for field in view.parameters() {
        let text = field.type_use.description.as_deref();
        // Attributes of a term are reported at the term.
        let text = text.filter(|text| is_long(cx, text) && !is_brought(cx, &field));
        check_length(cx, view.file, text, ("parameter", &field.name), || field.place());
    }
}

/// The terms, and the containers, which models see as tools.
fn others(cx: &Linter<'_>) {
    for (term, file, name) in cx.terms() {
        let text = term.type_use.description.as_deref();
        check_length(cx, file, text, ("term", &term.name), || name);
    }
    for (container, place) in cx.module.containers.iter().zip(&cx.module.spans.containers) {
        let text = container.description.as_deref();
        check_length(cx, place.file, text, ("container", &container.name), || place.name);
    }
}

fn is_long(cx: &Linter<'_>, text: &str) -> bool {
    // A text has at most as many characters as bytes.
    text.len() > cx.settings.max_description
}

/// Checks a description. `name` has the kind of the described item before it.
fn check_length(
    cx: &Linter<'_>,
    file: usize,
    text: Option<&str>,
    name: (&str, &str),
    place: impl Fn() -> Span,
) {
    let limit = cx.settings.max_description;
    let Some(text) = text.filter(|text| is_long(cx, text)) else { return };
    let count = text.chars().count();
    if count > limit {
        let (kind, name) = name;
        let message = format!("the description of the {kind} `{name}` has {count} characters");
        let help = format!("shorten it to at most {limit}");
        cx.add(file, cx.diagnostic(file, place(), message).help(help));
    }
}
