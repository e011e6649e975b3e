use std::collections::HashSet;

use gramc_syntax::{Code, Span};

use crate::context::{Linter, ListedTool};
use crate::lint::{Lint, LintOption, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "too-many-tools",
        page: r#"# Too many tools are on one level

The more tools a model sees, the more often it calls a wrong or invented one.
All schemas are sent with every request. OpenAI recommends fewer than 20 tools.
The lint counts the members of each agent; a container or another agent counts
as one. Without agents, it counts all tools outside of containers.

Group tools in containers: a model sees a container as one tool and expands it
to see the tools inside. Or limit the tools of an agent to those that it needs.

Set `max` in `gram.toml` to change the limit: `too-many-tools = {max = 40}`.

```gram bad
[a1:Tool | ()==>(::Text)] [a2:Tool | ()==>(::Text)] [a3:Tool | ()==>(::Text)]
[b1:Tool | ()==>(::Text)] [b2:Tool | ()==>(::Text)] [b3:Tool | ()==>(::Text)]
[c1:Tool | ()==>(::Text)] [c2:Tool | ()==>(::Text)] [c3:Tool | ()==>(::Text)]
[d1:Tool | ()==>(::Text)] [d2:Tool | ()==>(::Text)] [d3:Tool | ()==>(::Text)]
[e1:Tool | ()==>(::Text)] [e2:Tool | ()==>(::Text)] [e3:Tool | ()==>(::Text)]
[f1:Tool | ()==>(::Text)] [f2:Tool | ()==>(::Text)] [f3:Tool | ()==>(::Text)]
[g1:Tool | ()==>(::Text)] [g2:Tool | ()==>(::Text)] [g3:Tool | ()==>(::Text)]
```

```gram good
[files:Container {description: "Reads and writes files"} |
  [readFile:Tool | (path::Text)==>(::Text)],
  [writeFile:Tool | (path::Text)==>(text::Text)==>(::Null)]
]

[mail:Container {description: "Reads and sends mail"} |
  [readMail:Tool | (id::Text)==>(::Text)],
  [sendMail:Tool | (to::Email)==>(text::Text)==>(::Null)]
]
```
"#,
    },
    options: &[LintOption {
        name: "max",
        about: "the maximum number of tools at one level",
        default: "20",
    }],
    passes: &[LintPass::Module(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>) {
    let (module, most) = (cx.module, cx.settings.max_tools);
    if module.agents.is_empty() {
        let grouped: HashSet<_> =
            module.containers.iter().flat_map(|container| &container.members).collect();
        let is_single =
            |it: &&ListedTool<'_>| grouped.is_empty() || !grouped.contains(&it.tool().name);
        let mut single = cx.project.tools.iter().filter(is_single);
        // A container is one tool to a model, too, until it is expanded.
        let before = most.saturating_sub(module.containers.len());
        if let Some(first) = single.nth(before) {
            let count = module.containers.len() + before + 1 + single.count();
            let message = format!("{count} tools at one level");
            add(cx, first.file, first.place(), &message);
        }
        return;
    }
    for (agent, place) in module.agents.iter().zip(&module.spans.agents) {
        // So are containers and other agents.
        let count = agent.members.len();
        if count > most {
            let message = format!("the agent `{}` has {count} tools at one level", agent.name);
            add(cx, place.file, place.name, &message);
        }
    }
}

fn add(cx: &Linter<'_>, file: usize, span: Span, message: &str) {
    let most = cx.settings.max_tools;
    let diagnostic = cx.diagnostic(file, span, message).help(format!(
        "limit them to {most}, or group related tools: [name:Container {{description: \"…\"}} | tool, tool]"
    ));
    cx.add(file, diagnostic);
}
