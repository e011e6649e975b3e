//! Files of tools as people write them in a hurry.

use super::Files;
use crate::rng::Rng;

const TOOLS: &[&str] = &[
    "readFile",
    "write_file",
    "list-files",
    "DeletePage",
    "search",
    "sendMail",
    "getUser",
    "get_weather",
    "createIssue",
    "`find files`",
    "_hidden",
    "URL",
    "search_v2",
    "moveFile",
];
const NAMES: &[&str] = &[
    "path",
    "userId",
    "user_id",
    "max-results",
    "Query",
    "token",
    "apiKey",
    "limit",
    "dryRun",
    "force",
    "`Content-Type`",
    "place",
    "who",
    "amount",
    "currency",
    "x1",
    "pageToken",
];
const TYPES: &[&str] = &["Address", "Money", "Unit", "Person", "Page", "Day"];
const BUILT_IN: &[&str] =
    &["Text", "Text", "Int", "Bool", "Bool", "Number", "Date", "Any", "Email"];
const SECRETS: &[&str] = &[
    "hunter2hunter2",
    "sk-a1B2a1B2a1B2a1B2a1B2a1B2",
    "<your token>",
    "postgres://a:s3cr3t@h/d",
    "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
    "x",
];
const WORDS: &[&str] = &[
    "TODO",
    "Gets the user",
    "The path",
    "Reads a file from the workspace",
    "",
    "//cdn.example",
    "Looks up who belongs to an id, with team and manager",
    "tbd",
    "\\u0041 letter",
];

/// Some files, of which some import others.
pub fn project(rng: &mut Rng) -> Files {
    let count = rng.between(1, 5);
    let named = rng.between(1, count);
    let name = |at: usize| format!("f{at}.gram");
    let mut free: Vec<&str> = TOOLS.to_vec();
    let mut all = Vec::new();
    for at in 0..count {
        let imports: Vec<_> =
            (0..rng.below(4)).map(|_| format!("\"{}\"", name(rng.below(count)))).collect();
        let mut text = match rng.below(8) {
            0 if imports.is_empty() => "{gram: 1}\n\n".to_owned(),
            _ if imports.is_empty() => String::new(),
            1 => format!("{{\n  gram: 1, imports: [{}]\n}}\n\n\n", imports.join(",\n ")),
            2 => format!("{{imports: [{}], gram: 1}}\n", imports.join(" , ")),
            3 => format!("// a comment\n{{imports: [{}] // why\n}} // then\n", imports.join(", ")),
            _ => format!("{{imports: [{}]}}\n\n", imports.join(", ")),
        };
        let mut types = TYPES.to_vec();
        let mut terms = NAMES.to_vec();
        for _ in 0..rng.below(4) {
            declaration(rng, &mut text, (&mut free, &mut types, &mut terms));
        }
        all.push((name(at), text));
    }
    let mut files = Files { all, named };
    if rng.chance(90) {
        declare_the_rest(rng, &mut files);
    }
    files
}

/// Declares what is used and not declared, in files that are read.
fn declare_the_rest(rng: &mut Rng, files: &mut Files) {
    let whole = files.show();
    let read: Vec<String> =
        files.load().iter().map(|text| text.source().name().to_owned()).collect();
    let types = TYPES.iter().filter(|name| whole.contains(**name));
    let types =
        types.map(|name| (format!("\n[{name}::"), format!("[{name}::Record | (zip::Text)]\n\n")));
    let terms = NAMES.iter().filter(|name| whole.contains(&format!("({name})")));
    let terms = terms.map(|name| (format!("\n({name}::"), format!("({name}::Text)\n\n")));
    for (known, declaration) in types.chain(terms) {
        let name = &read[rng.below(read.len())];
        let Some((_, text)) = files.all.iter_mut().find(|(file, _)| file == name) else { continue };
        if !whole.contains(&known) {
            *text += &declaration;
        }
    }
}

fn take<'n>(rng: &mut Rng, names: &mut Vec<&'n str>) -> Option<&'n str> {
    (!names.is_empty()).then(|| names.swap_remove(rng.below(names.len())))
}

fn declaration<'n>(
    rng: &mut Rng,
    text: &mut String,
    (tools, types, terms): (&mut Vec<&'n str>, &mut Vec<&'n str>, &mut Vec<&'n str>),
) {
    if rng.chance(40) {
        text.extend(["/** ", rng.pick(WORDS), " */\n"]);
    }
    match rng.below(10) {
        0..=1 => {
            let Some(name) = take(rng, types) else { return };
            *text += &ty(rng, name);
            *text += "\n\n";
        }
        2 => {
            let Some(name) = take(rng, terms) else { return };
            let ty = rng.pick(BUILT_IN);
            text.extend(["(", name, "::", ty, &attributes(rng, ty), ")\n\n"]);
        }
        3 => {
            let Some(name) = take(rng, tools) else { return };
            let label = rng.pick(&["Container", "Agent"]);
            let mut members = Vec::new();
            for _ in 0..rng.below(3) {
                if let Some(member) = take(rng, tools) {
                    members.push(tool(rng, member));
                }
            }
            *text += &format!("[{name}:{label} | {}]\n\n", members.join(", ")).replace(" | ]", "]");
        }
        _ => {
            let Some(name) = take(rng, tools) else { return };
            *text += &tool(rng, name);
            *text += "\n\n";
        }
    }
}

fn ty(rng: &mut Rng, name: &str) -> String {
    match rng.below(4) {
        0 => format!("[{name}::Enum | a, b{}]", if rng.chance(50) { ", c" } else { "" }),
        1 => format!("[{name}::Alias | (::Text {{length: ...20}})]"),
        2 => format!("[{name}::Record {{deprecated: true}} | (a::Text), (b::Int)]"),
        _ => {
            let field = rng.pick(NAMES);
            let ty = if rng.chance(60) { rng.pick(BUILT_IN) } else { rng.pick(TYPES) };
            format!("[{name}::Record | (zip::Text), ({field}::`{ty}?`)]")
        }
    }
}

fn tool(rng: &mut Rng, name: &str) -> String {
    let record = rng.pick(&["", "", " {deprecated: true}", " <readOnly: true>", " {m: [[1], []]}"]);
    let mut nodes = Vec::new();
    let mut free = NAMES.to_vec();
    for _ in 0..rng.below(5) {
        nodes.extend(take(rng, &mut free).map(|name| parameter(rng, name)));
    }
    if nodes.is_empty() {
        nodes.push("()".to_owned());
    }
    let result = if rng.chance(70) { rng.pick(BUILT_IN) } else { rng.pick(TYPES) };
    nodes.push(format!("(::{result})"));
    let arrow = rng.pick(&["==>", "==>", "\n  ==>", "-->", "~~>", " /** D */ -[x]->"]);
    let inner = if rng.chance(20) {
        let name = rng.pick(TYPES);
        format!(",\n  {}", ty(rng, name))
    } else {
        String::new()
    };
    format!("[{name}:Tool{record} | {}{inner}]", nodes.join(arrow))
}

fn parameter(rng: &mut Rng, name: &str) -> String {
    match rng.below(8) {
        0 => format!("({name})"),
        1 | 2 => format!("({name}::{})", rng.pick(TYPES)),
        3 => format!("({name}::`{}[]` {{default: [], description: \"{}\"}})", rng.pick(TYPES), rng.pick(WORDS)),
        4 => format!(
            "({name}::Object {{fields: [{{name: \"a\", type: \"Text\"}}, {{name: \"{name}\", type: \"{}\"}}]}})",
            rng.pick(TYPES)
        )
        .replace("\"`", "\"")
        .replace("`\"", "\""),
        _ => {
            let ty = rng.pick(BUILT_IN);
            format!("({name}::{ty}{})", attributes(rng, ty))
        }
    }
}

fn attributes(rng: &mut Rng, ty: &str) -> String {
    let mut list = Vec::new();
    if rng.chance(30) {
        list.push(format!("description: \"{}\"", rng.pick(WORDS)));
    }
    if ty == "Text" && rng.chance(30) {
        list.push(format!("default: \"{}\"", rng.pick(SECRETS)));
    }
    if rng.chance(15) {
        list.push(rng.pick(&["deprecated: true", "optional: true", "secret: true"]).to_owned());
    }
    match (list.is_empty(), rng.chance(20)) {
        (true, _) => String::new(),
        (_, true) => format!(" <{}>", list.join(", ")),
        _ => format!(" {{{}}}", list.join(", ")),
    }
}
