//! Implementations that bind all tools of an MCP server: `` (`*`:Mcp {url: "https://…"}) ``.

use gramc_syntax::Node;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use gramc_model::{ImplementationKind, WHOLE_SERVER};

/// The attributes that only an implementation of a whole server has.
const OF_SERVER: [&str; 3] = ["only", "except", "prefix"];
/// The attributes that only an implementation of one tool has.
const OF_TOOL: [&str; 2] = ["tool", "signature"];

impl<'t> Checker<'t> {
    /// Reports attributes of whole servers on an implementation of one tool, and the other way
    /// round.
    pub(super) fn check_whole_server(
        &mut self,
        name: Node<'t>,
        kind: ImplementationKind,
        attributes: &[Attribute<'t>],
    ) {
        let is_whole_server = name.content() == WHOLE_SERVER;
        if is_whole_server && kind != ImplementationKind::Mcp {
            let message = format!("`*` names the tools of an MCP server, not of a {}", kind.name());
            let error = self.error(&codes::IMPLEMENTATION_KIND, name.span(), message);
            let help = "name a tool, or write (`*`:Mcp {command: [\"npx\", \"…\"]})";
            return self.report(error.help(help));
        }
        if kind != ImplementationKind::Mcp {
            return;
        }
        let excluded: &[&str] = if is_whole_server { &OF_TOOL } else { &OF_SERVER };
        for attribute in attributes.iter().filter(|it| excluded.contains(&&*it.key)) {
            let key = &attribute.key;
            let (message, help) = if is_whole_server {
                let message = format!("`{key}` belongs to one tool, and `*` names all of a server");
                (message, "remove it, or name the tool instead of `*`".to_owned())
            } else {
                let tool = name.content();
                let message =
                    format!("`{key}` belongs to a whole server, and `{tool}` is one tool");
                (message, "remove it, or write `*` instead of the tool".to_owned())
            };
            self.reject(&codes::CONFLICTING_ATTRIBUTES, attribute.key_span, message, help);
        }
        let given = |key: &str| attributes.iter().find(|attribute| attribute.key == key);
        if is_whole_server && let (Some(only), Some(except)) = (given("only"), given("except")) {
            self.exclusive(only, except);
        }
    }
}
