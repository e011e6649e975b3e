//! Generates the documentation page of each target from its specification.

use std::fmt::Write as _;

use serde_json::json;

use super::patterns::PatternRule;
use super::target::Target;
use super::target_spec::{
    AnyOfRule, BoundRule, First, Limits, NameRule, OutputRule, Recursion, RefRule, SeveralTypes,
    TargetSpec, ToolField, ToolShape,
};
use super::{Names, ToolJson, lower, request};
use gramc_json_schema::keywords::{Keyword as K, Keywords};

/// The page of a target, in Markdown: its output format, the supported keywords, and how
/// unsupported keywords are rewritten.
pub fn page(target: Target) -> String {
    let spec = target.spec();
    let mut page = format!("# The target `{}`\n\n", target.name());
    let option = if spec.shape.is_output() { " --type NAME" } else { "" };
    let name = target.name();
    line(&mut page, &format!("`gramc compile --target {name}{option}` writes {}.", spec.about));
    shape(&mut page, spec);
    names(&mut page, spec);
    if spec.root.object {
        root(&mut page, spec);
        keywords(&mut page, spec);
        forms(&mut page, spec);
    } else {
        page.push_str("\n## Schemas\n\nSchemas are not changed.\n");
    }
    limits(&mut page, &spec.limits);
    page
}

/// The maximum line length, where a line can be broken.
const WIDTH: usize = 100;

/// Appends a wrapped paragraph.
fn line(page: &mut String, text: &str) {
    wrap(page, "", text);
}

/// Appends a wrapped list item.
fn item(page: &mut String, text: &str) {
    wrap(page, "- ", text);
}

fn wrap(page: &mut String, start: &str, text: &str) {
    page.push_str(start);
    let mut width = start.len();
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && width + 1 + length > WIDTH {
            page.push('\n');
            page.extend(std::iter::repeat_n(' ', start.len()));
            width = start.len();
        } else if at > 0 {
            page.push(' ');
            width += 1;
        }
        page.push_str(word);
        width += length;
    }
    page.push('\n');
}

/// The example has an optional parameter, a bound, and a map.
fn shape(page: &mut String, spec: &TargetSpec) {
    let parameters = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "default": 3},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}}
        },
        "required": ["city", "labels"]
    });
    let tool = ToolJson::new("forecast", Some("Returns the weather forecast"), parameters.clone());
    let mut shown = lower(spec, &Names::default(), tool).value;
    let mut introduction = "A tool `forecast` with the parameters";
    match spec.shape {
        ToolShape::Schema => shown = json!({ "forecast": shown }),
        shape if shape.is_output() => introduction = "A type `forecast` with the schema",
        _ => shown = request(spec, vec![shown]),
    }
    page.push_str("\n## Example\n\n");
    line(page, introduction);
    let _ =
        write!(page, "\n```json\n{parameters:#}\n```\n\ncompiles to\n\n```json\n{shown:#}\n```\n");
    if spec.needs_description {
        page.push('\n');
        line(page, "The description of a tool defaults to its title, or to its name.");
    }
    if spec.shape.is_output() {
        return;
    }
    let (own, renamed): (Vec<ToolField>, Vec<ToolField>) =
        spec.fields.iter().copied().partition(|field| field.attribute == field.key);
    if !own.is_empty() {
        page.push('\n');
        let keys = code_list(own.iter().map(|field| field.key));
        line(page, &format!("Other supported attributes of a tool: {keys}."));
    }
    for ToolField { attribute, key } in renamed {
        page.push('\n');
        line(page, &format!("The attribute `{attribute}` becomes `{key}`."));
    }
    if let Some(OutputRule { key, only_objects, .. }) = spec.output {
        page.push('\n');
        let only = if only_objects { ", if it is an object" } else { "" };
        line(page, &format!("The type of the result becomes `{key}`{only}."));
    }
}

fn names(page: &mut String, spec: &TargetSpec) {
    page.push_str("\n## Names\n\n");
    match &spec.names {
        None if spec.shape.is_output() => {
            line(page, "The output does not contain the name of the type.");
        }
        None => line(page, "Tools can have any name."),
        Some(rule) => line(
            page,
            &format!(
                "The name of a {} {}. gramc replaces other names with valid, unique names.",
                if spec.shape.is_output() { "type" } else { "tool" },
                name_rule(rule)
            ),
        ),
    }
    page.push('\n');
    match &spec.keys {
        None => line(page, "Properties can have any key."),
        Some(keys) => {
            let subject = if keys.root_only {
                "The key of a parameter (not of the properties within it)"
            } else {
                "The key of a property"
            };
            let rule = name_rule(&keys.rule);
            let rest = "gramc replaces other keys, and restores them in calls.";
            line(page, &format!("{subject} {rule}. {rest}"));
        }
    }
}

fn name_rule(rule: &NameRule) -> String {
    let mut signs = String::new();
    for (at, sign) in rule.signs.chars().enumerate() {
        let last = at + 1 == rule.signs.len();
        let _ = write!(signs, "{}`{sign}`", if last { " and " } else { ", " });
    }
    let first = match rule.first {
        First::Any => "",
        First::Letter => "starts with a letter, ",
        First::LetterOrUnderscore => "starts with a letter or `_`, ",
    };
    let longest = rule.longest;
    format!("{first}contains only letters, digits{signs}, and has at most {longest} characters")
}

fn root(page: &mut String, spec: &TargetSpec) {
    if spec.shape.is_output() {
        page.push_str("\n## The schema of the type\n\n");
        line(
            page,
            "The schema always has `type: object`. Any other type becomes the property `value` \
             of an object.",
        );
    } else {
        page.push_str("\n## The schema of all parameters\n\n");
        line(page, "The schema always has `type: object`.");
    }
    let refused = keyword_list(|k| spec.root.refused.has(k));
    if !refused.is_empty() {
        page.push('\n');
        line(
            page,
            &format!(
                "The root schema cannot contain {refused}, even if nested schemas can. `allOf` is \
                 merged into it, the properties of a union are moved into it, and the rest becomes \
                 a sentence of the tool's description."
            ),
        );
    }
    let more = keyword_list(|k| spec.root.allowed.has(k));
    if !more.is_empty() {
        page.push('\n');
        line(page, &format!("Only the root can contain {more}."));
    }
    if let ToolShape::Declaration { parameters, omit_empty: true } = spec.shape {
        page.push('\n');
        line(page, &format!("A tool without parameters has no `{parameters}`."));
    }
}

fn keywords(page: &mut String, spec: &TargetSpec) {
    page.push_str("\n## Keywords\n\n");
    if spec.keep == Keywords::ALL {
        line(page, "All keywords are supported, and unknown keys are kept.");
        return;
    }
    if spec.is_open() {
        let refused = keyword_list(|k| !spec.keeps(k));
        line(page, &format!("All keywords are supported except {refused}."));
    } else {
        line(page, &format!("Supported keywords: {}.", keyword_list(|k| spec.keeps(k))));
    }
    page.push('\n');
    line(page, "Other keywords are replaced or removed:");
    page.push('\n');
    let rewritten = list_rewritten(spec);
    for (keyword, becomes) in &rewritten {
        item(page, &format!("`{}` {becomes};", keyword.name()));
    }
    let moved = keyword_list(|k| {
        !spec.keeps(k)
            && !k.is_bookkeeping()
            && !rewritten.iter().any(|(known, _)| *known == k)
            && !matches!(k, K::Defs | K::Definitions | K::Nullable)
    });
    if !moved.is_empty() {
        item(page, &format!("{moved} become sentences of the description;"));
    }
    let dropped = keyword_list(|k| !spec.keeps(k) && k.is_bookkeeping());
    let dropped = match (dropped.is_empty(), spec.is_open()) {
        (true, _) => "unknown keys".to_owned(),
        (false, true) => dropped,
        (false, false) => format!("{dropped} and unknown keys"),
    };
    item(page, &format!("{dropped} are removed, because they do not constrain values."));
    page.push('\n');
    line(page, "`--losses` reports each of these changes.");
    formats(page, spec);
}

/// The unsupported keywords of a target and their replacements.
fn list_rewritten(spec: &TargetSpec) -> Vec<(K, &'static str)> {
    let constant = if spec.enum_of_text_only {
        "becomes an `enum` of one value if it is text, and a sentence otherwise"
    } else {
        "becomes an `enum` of one value"
    };
    let mut all = vec![
        (K::OneOf, "becomes `anyOf`, with a sentence if a value could match two alternatives"),
        (
            K::AllOf,
            "is merged into the enclosing schema; parts that cannot be merged become a sentence",
        ),
        (K::Const, constant),
        (K::Ref, "is replaced by the referenced schema"),
        (K::ExclusiveMinimum, "becomes `minimum`, with a sentence for numbers other than integers"),
        (K::ExclusiveMaximum, "becomes `maximum`, with a sentence for numbers other than integers"),
        (
            K::PrefixItems,
            "becomes `items` that accept each of its schemas, with a sentence about the order",
        ),
    ];
    let is_bound = |k| matches!(k, K::ExclusiveMinimum | K::ExclusiveMaximum);
    all.retain(|(keyword, _)| {
        !spec.keeps(*keyword)
            && (*keyword == K::OneOf || !spec.is_open())
            && (spec.keeps(K::Minimum) || !is_bound(*keyword))
    });
    all
}

fn formats(page: &mut String, spec: &TargetSpec) {
    if !spec.keeps(K::Format) {
        return;
    }
    page.push('\n');
    match spec.formats {
        None => line(page, "Every `format` is kept."),
        Some(kinds) => {
            let kinds: Vec<String> = kinds
                .iter()
                .map(|rule| format!("{} for `{}`", code_list(rule.formats.split(' ')), rule.kind))
                .collect();
            let kinds = kinds.join("; ");
            line(page, &format!("Supported formats: {kinds}. Other formats become sentences."));
        }
    }
}

fn forms(page: &mut String, spec: &TargetSpec) {
    let mut all: Vec<String> = Vec::new();
    let mut add = |text: &str| all.push(text.to_owned());
    let objects = spec.objects;
    if objects.closed {
        add("Every object has `additionalProperties: false`, so undeclared properties are no \
             longer accepted.");
    }
    if objects.never_closed {
        add("`additionalProperties: false` is not supported and becomes a sentence.");
    }
    if objects.all_required {
        add("Every property is `required`. Optional properties also accept null for an omitted \
             value; gramc removes these nulls before it validates a call. The description of a \
             pinned parameter asks for null.");
    }
    if objects.empty_as_text {
        add("Maps and objects without properties become `type: string`: the model passes the \
             object as JSON text, the description states its structure, and gramc parses the \
             text before it validates the call.");
    }
    if spec.types.always {
        add("Every schema has a type. A schema that accepts any value becomes JSON text in the \
             same way.");
    }
    if spec.types.with_constraints {
        add(
            "A schema with constraints has a type. If none is declared, the type that the constraints \
             apply to is added, and values of other types are no longer accepted.",
        );
    }
    match spec.types.several {
        SeveralTypes::List => {}
        SeveralTypes::AnyOf => add(
            "A schema has one type. Several types become `anyOf`, with an alternative for each, \
             null included.",
        ),
        SeveralTypes::Nullable => {
            add("A schema has one type. Null becomes `nullable`, and several types become \
                 `anyOf`.");
        }
    }
    if spec.arrays_need_items {
        add("Every array has `items`, which accept any value by default.");
    }
    if spec.enum_of_text_only {
        add("`enum` contains only text that is not empty; other values become a sentence.");
    }
    if spec.enum_alone {
        add("Keywords next to `enum` and `const` are applied to its values.");
    }
    all.extend(patterns(spec).map(str::to_owned));
    all.extend(bounds(spec.bounds));
    let union = match spec.any_of {
        AnyOfRule::Anything => None,
        AnyOfRule::Annotations => Some(
            "Keywords next to `anyOf` that constrain values move into its alternatives or become \
             a sentence.",
        ),
        AnyOfRule::Nothing => Some(
            "`anyOf` has no sibling keywords: its description moves to the enclosing schema, and \
             a union of one type and null becomes that type.",
        ),
    };
    all.extend([union, references(spec.refs)].into_iter().flatten().map(str::to_owned));
    if all.is_empty() {
        return;
    }
    page.push_str("\n## Rewritten keywords\n\n");
    for text in all {
        item(page, &text);
    }
}

/// How bounds are lowered.
fn bounds(rule: BoundRule) -> Vec<String> {
    let mut all = Vec::new();
    for (key, largest) in [("minItems", rule.min_items), ("minLength", rule.min_length)] {
        if let Some(largest) = largest {
            all.push(format!(
                "`{key}` is at most {largest}; a larger value also becomes a sentence."
            ));
        }
    }
    if let Some(largest) = rule.max_items {
        all.push(format!("`maxItems` is at most {largest}; a larger value becomes a sentence."));
    }
    if rule.whole {
        all.push(
            "Bounds of integers are 64-bit integers. Other bounds are rounded or become \
             sentences. Bounds that no number, text, list or object with the declared properties \
             can satisfy become sentences."
                .to_owned(),
        );
    }
    if rule.integers_only {
        all.push("Bounds of numbers that are not integers become sentences.".to_owned());
    }
    if !rule.length_with_pattern {
        all.push("Lengths next to a `pattern` or a `format` become sentences.".to_owned());
    }
    all
}

/// How regular expressions are lowered.
fn patterns(spec: &TargetSpec) -> Option<&'static str> {
    if !spec.keeps(K::Pattern) {
        return None;
    }
    match spec.patterns {
        PatternRule::Any => None,
        PatternRule::NoLookaround => Some(
            "A `pattern` with lookaround (such as `(?=`), backreferences (such as `\\1`), or syntax that \
             Python does not have (such as `\\p{L}` and `(?<name>`) becomes a sentence.",
        ),
        PatternRule::WholeText => Some(
            "A `pattern` begins with `^` and ends with `$`, because it is matched with the whole text. \
             Another pattern, and one with lookaround, backreferences, word boundaries or Unicode \
             properties, becomes a sentence.",
        ),
        PatternRule::Anchored => Some(
            "A `pattern` begins with `^` and ends with `$`. Escapes such as `\\d` become classes \
             such as `[0-9]`. A pattern with lookaround, backreferences, word boundaries or Unicode \
             properties becomes a sentence.",
        ),
    }
}

/// How references and recursive schemas are lowered.
fn references(rule: RefRule) -> Option<&'static str> {
    match rule {
        RefRule::Any => None,
        RefRule::Inline => Some(
            "References are replaced by the referenced schemas. A recursive schema is expanded \
             once; nested occurrences become JSON text.",
        ),
        RefRule::Defs { root: false, .. } => Some(
            "References point to `#/$defs/NAME` and have no sibling keywords: a description is \
             placed next to an `anyOf` with one reference. Schemas can be recursive.",
        ),
        RefRule::Defs { recursion: Recursion::Any, .. } => Some(
            "References point to `#` or `#/$defs/NAME` and have no sibling keywords: a \
             description is placed next to an `anyOf` with one reference. Schemas can be recursive.",
        ),
        RefRule::Defs { recursion: Recursion::Optional, .. } => Some(
            "References point to `#` or `#/$defs/NAME` and have no sibling keywords. A schema can \
             contain itself in optional properties; elsewhere, the recursive part becomes JSON \
             text.",
        ),
        RefRule::Defs { recursion: Recursion::Never, .. } => Some(
            "References point to `#/$defs/NAME`. Nested occurrences of a recursive schema become \
             JSON text.",
        ),
    }
}

fn limits(page: &mut String, limits: &Limits) {
    let rows = [
        (limits.tools, "tools in a request"),
        (limits.optional_properties, "optional properties in all tools of a request"),
        (limits.unions, "properties with a union type in all tools of a request"),
        (limits.properties, "properties of a tool"),
        (limits.enum_values, "members of enums of a tool"),
        (
            limits.characters,
            "characters in the names of properties and the values of enums of a tool",
        ),
        (limits.depth, "levels of nested objects"),
        (limits.description, "characters of a description (some deployments)"),
    ];
    if rows.iter().all(|(limit, _)| limit.is_none()) {
        return;
    }
    page.push_str("\n## Limits\n\n| maximum | |\n| --- | --- |\n");
    for (limit, description) in rows {
        if let Some(limit) = limit {
            let _ = writeln!(page, "| {limit} | {description} |");
        }
    }
    page.push('\n');
    line(page, "If a limit is exceeded, gramc reports a warning and compiles the tools.");
}

/// The names of some keywords.
fn keyword_list(which: impl Fn(K) -> bool) -> String {
    code_list(K::ALL.iter().copied().filter(|k| which(*k)).map(K::name))
}

/// `a`, `b` and `c`.
fn code_list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_PAGES=1` writes the pages.
    #[test]
    fn the_pages_in_the_repository_are_those_of_the_rules() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/targets");
        let update = std::env::var_os("UPDATE_PAGES").is_some();
        let targets = Target::ALL.into_iter().chain(Target::OUTPUTS);
        let pages = targets.map(|target| (target.name(), page(target)));
        let typescript = (crate::typescript::NAME, crate::typescript::page());
        for (name, page) in pages.chain([typescript]) {
            let path = format!("{folder}/{name}.md");
            if update {
                assert!(std::fs::write(&path, &page).is_ok(), "{path}");
            }
            let stored = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(stored, page, "{path}: UPDATE_PAGES=1 writes it");
        }
    }

    #[test]
    fn a_page_names_every_limit_and_keeps_its_lines_short() {
        for target in Target::ALL.into_iter().chain(Target::OUTPUTS) {
            let page = page(target);
            let long = page.lines().find(|line| line.chars().count() > WIDTH + 10);
            assert_eq!(long, None, "{}", target.name());
        }
        let page = page(Target::OpenAiStrict);
        for number in ["128", "5000", "1000", "120000", "10", "1024"] {
            assert!(page.contains(&format!("| {number} |")), "{number}");
        }
    }
}
