use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Fix, Node, NodeKind, Span};

use crate::context::{FieldView, Linter, ToolView};
use crate::lint::{Lint, LintPass};
use gramc_model::attributes::{AttributeOwner, find};
use gramc_model::print::type_expression;
use gramc_model::{Field, Type};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "suspicious-type",
        page: r#"# A type is probably a mistake

- `"single" | "double"[]`: the brackets apply only to the last alternative. A
  list of all of them is `("single" | "double")[]`.
- `"a" | "b" | {description: "Kind"}`: after a `|`, braces are a record, which
  is one more alternative. Attributes follow the type without a `|`.
- `Integer | Number`: every integer is a number.

If the type is intended, allow it with a comment, `// gram-allow:
suspicious-type`.

```gram bad
[book:Tool | (rooms::`"single" | "double"[]`)==>(::Null)]
```

```gram good
[book:Tool | (rooms::`("single" | "double")[]`)==>(::Null)]
```
"#,
    },
    fix: Some(NeedsLook),
    passes: &[LintPass::Field(run), LintPass::Tool(result)],
    ..Lint::COMMON
};

/// What is likely meant by a type.
struct Suspicion {
    message: String,
    help: String,
    meant: Option<String>,
}

fn run(cx: &Linter<'_>, field: &FieldView<'_>) {
    check_type(cx, field.file, &field.type_use.ty, || (field.node(), field.place()));
}

fn result(cx: &Linter<'_>, view: &ToolView<'_>) {
    let ty = &view.tool.result.type_use.ty;
    check_type(cx, view.file, ty, || (view.result(), view.name));
}

/// `place` has the node of the typed item and the span of its name.
fn check_type<'n>(
    cx: &Linter<'_>,
    file: usize,
    ty: &Type,
    place: impl Fn() -> (Option<Node<'n>>, Span),
) {
    let Some(Suspicion { message, help, meant }) = suspicion(cx, ty) else { return };
    let (node, name) = place();
    let label = node.and_then(|node| node.subject().labels().next());
    let span = label.map_or(name, Node::span);
    let mut diagnostic = cx.diagnostic(file, span, message).help(help);
    let is_expression = label.is_some_and(|label| label.kind() == NodeKind::TypeExpression);
    if let Some(meant) = meant.filter(|_| is_expression) {
        let fix = Fix::replace(NeedsLook, format!("write `{meant}`"), span, meant);
        diagnostic = diagnostic.fix(fix);
    }
    cx.add(file, diagnostic);
}

fn suspicion(cx: &Linter<'_>, ty: &Type) -> Option<Suspicion> {
    let print = |ty: &Type| type_expression(cx.known.types, ty);
    let written = |message: &str, meant: String| Suspicion {
        message: message.to_owned(),
        help: format!("write `{meant}`"),
        meant: Some(meant),
    };
    let Type::Union(members) = ty else { return None };
    let (last, others) = members.split_last()?;
    if let Type::List(Some(item)) = last
        && let literal @ Type::Literal(_) = &**item
        && others.iter().all(|it| matches!(it, Type::Literal(_)))
    {
        let all = others.iter().chain([literal]).cloned().collect();
        let list = print(&Type::List(Some(Box::new(Type::Union(all)))))?;
        return Some(written("the `[]` belongs to the last alternative alone", list));
    }
    if are_attributes(last) {
        return Some(Suspicion {
            message: "this record is an alternative of the type".to_owned(),
            help: "remove the `|` before it if its fields are attributes".to_owned(),
            meant: None,
        });
    }
    if !members.contains(&Type::Integer) || !members.contains(&Type::Number) {
        return None;
    }
    let left: Vec<_> = members.iter().filter(|it| **it != Type::Integer).cloned().collect();
    let left = if let [only] = &left[..] { only.clone() } else { Type::Union(left) };
    Some(written("every integer is a number", print(&left)?))
}

/// Whether a record has nothing but attributes with their values, which it has as literal types.
fn are_attributes(ty: &Type) -> bool {
    let Type::Object(object) = ty else { return false };
    let is_attribute = |field: &Field| {
        let literal = matches!(field.type_use.ty, Type::Literal(_));
        literal && find(AttributeOwner::Field, &field.name).is_some()
    };
    object.fields.as_deref().is_some_and(|it| !it.is_empty() && it.iter().all(is_attribute))
}
