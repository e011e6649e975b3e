//! Sessions of edits: whatever was typed, in whichever order, the server finds in the end what a fresh
//! look at the texts finds.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use gramc_language_tests::rng::Rng;
use gramc_lsp::Workbench;
use gramc_syntax::{SourceFile, parse};
use serde_json::Value;

/// What is typed.
const PIECES: [&str; 24] = [
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "|",
    "::",
    "==>",
    ",",
    "`",
    "\"",
    "\n",
    "\r\n",
    "\r",
    "😀",
    "ä",
    "x",
    " ",
    "[a:Tool | (x::Text)==>(::Text)]\n",
    "[T::Record | (a::Int)]\n",
    "(x::T)\n",
    "T",
    "// gram-allow: naming\n",
];

const START: [&str; 3] = [
    "{imports: [\"b.gram\"]}\n\n/** Does a thing. 😀 */\n[one:Tool | (x)==>(y::Place)==>(::Text)]\n",
    "[Place::Record | (street::Text), (city::Text)]\r\n(x::Text {length: 1..9})\r\n",
    "[two:Agent {model: 'a/b'} | one, [three:Tool | (x::`Place[]`)==>(::Place)]]\n",
];

/// A text that is edited, and how often columns count.
struct Texts {
    bench: Workbench,
    bytes: bool,
    uris: Vec<String>,
    own: Vec<String>,
}

impl Texts {
    /// The line and column of an offset, as an editor counts them.
    fn position(&self, text: usize, offset: usize) -> (u32, u32) {
        let before = &self.own[text][..offset];
        // A break of two characters is one, and no place lies between them.
        let joined = before.replace("\r\n", "\n").replace('\r', "\n");
        let last = joined.rsplit('\n').next().unwrap();
        let width = if self.bytes { last.len() } else { last.encode_utf16().count() };
        (u32::try_from(joined.matches('\n').count()).unwrap(), u32::try_from(width).unwrap())
    }

    /// A place between two characters that an editor can name.
    fn place(&self, text: usize, rng: &mut Rng) -> usize {
        let own = &self.own[text];
        loop {
            let at = rng.below(own.len() + 1);
            if !own.is_char_boundary(at) {
                continue;
            }
            let in_break = own[..at].ends_with('\r') && own[at..].starts_with('\n');
            if !in_break {
                return at;
            }
        }
    }

    fn edit(&mut self, rng: &mut Rng) {
        let text = rng.below(self.own.len());
        let (one, other) = (self.place(text, rng), self.place(text, rng));
        // Most edits are small.
        let (from, mut to) = (one.min(other), one.max(other));
        if rng.below(4) > 0 {
            to = from;
        }
        let new = if to > from && rng.below(2) == 0 { "" } else { PIECES[rng.below(PIECES.len())] };
        let (start, end) = (self.position(text, from), self.position(text, to));
        self.own[text].replace_range(from..to, new);
        self.bench.change(&self.uris[text].clone(), start, end, new);
    }

    /// What a fresh look finds in a text: severity, code and message.
    fn fresh(&self) -> Vec<Vec<String>> {
        let names = ["a.gram", "b.gram", "c.gram"];
        let texts = names.iter().zip(&self.own);
        let texts: Vec<_> =
            texts.map(|(name, text)| parse(SourceFile::new(*name, text.clone()))).collect();
        let link = |import: gramc_check::Import| {
            let text = names.iter().position(|name| *name == import.path);
            let text = text.ok_or_else(|| {
                gramc_check::ImportFailure(match import.path.as_str() {
                    "" | "." => format!("`{}` is a folder; an import names a file", import.path),
                    path => format!("there is no file `{path}`"),
                })
            });
            gramc_check::ResolvedImport { span: import.span, text }
        };
        let of =
            texts.iter().map(|text| gramc_check::imports(text).into_iter().map(link).collect());
        let links = gramc_check::ImportGraph { of: of.collect() };
        let found = gramc_lint::check(&texts, &links, &gramc_lint::Settings::default());
        let own = |text: &gramc_syntax::Parse| {
            let found = found.diagnostics.iter();
            let own = found.filter(|one| std::sync::Arc::ptr_eq(&one.source, text.source()));
            let unknown = gramc_agent::unknown_references(text, None);
            let own = own.chain(&unknown);
            own.map(|one| {
                let help = one.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
                format!("{} {} {}{help}", one.severity.name(), one.code.name, one.message)
            })
            .collect()
        };
        texts.iter().map(own).collect()
    }

    /// What the server finds.
    fn served(&mut self) -> Vec<Vec<String>> {
        let show = |item: &Value| {
            let severity = ["", "error", "warning", "note"];
            let severity = severity[usize::try_from(item["severity"].as_u64().unwrap()).unwrap()];
            format!(
                "{severity} {} {}",
                item["code"].as_str().unwrap(),
                item["message"].as_str().unwrap()
            )
        };
        let uris = self.uris.clone();
        let found = uris.iter().map(|uri| self.bench.diagnostics(uri));
        found.map(|found| found.as_array().unwrap().iter().map(show).collect()).collect()
    }
}

fn sessions(bytes: bool) {
    let mut found = 0;
    for seed in 0..200 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::write(folder.join("gram.toml"), "").unwrap();
        let names = ["a.gram", "b.gram", "c.gram"];
        let mut bench = if bytes { Workbench::with_bytes() } else { Workbench::new() };
        let uris: Vec<_> =
            names.iter().map(|name| format!("file://{}", folder.join(name).display())).collect();
        for (name, text) in names.iter().zip(START) {
            std::fs::write(folder.join(name), text).unwrap();
        }
        for (uri, text) in uris.iter().zip(START) {
            bench.open(uri, text);
        }
        let own = START.map(str::to_owned).to_vec();
        let mut texts = Texts { bench, bytes, uris, own };
        let mut rng = Rng::new(seed);
        for round in 0..60 {
            texts.edit(&mut rng);
            // Asking in between must make no difference to what is found in the end.
            if rng.below(8) == 0 {
                let _ = texts.served();
            }
            if round % 20 == 19 {
                for (uri, own) in texts.uris.iter().zip(&texts.own) {
                    assert_eq!(texts.bench.text(uri).as_ref(), Some(own), "seed {seed}");
                }
                let served = texts.served();
                assert_eq!(served, texts.fresh(), "seed {seed}: {:#?}", texts.own);
                found += served.iter().flatten().count();
            }
        }
    }
    assert!(found > 1000, "only {found} diagnostics");
}

#[test]
fn after_any_edits_the_server_finds_what_a_fresh_look_finds() {
    sessions(false);
}

#[test]
fn so_it_does_where_columns_count_bytes() {
    sessions(true);
}

/// In a text of many declarations, a tool to which others make no difference is read alone when
/// it is requested, whatever the rest is.
#[test]
fn a_tool_among_many_is_shown_as_any_other() {
    let tool = |at: usize| format!("[tool{at}:Tool | (it::Text)==>(::Text)]\n");
    let mut own = (0..300).map(tool).collect::<String>();
    own += "[Place::Record | (street::Text)]\n[go:Tool | (to::Place)==>(::Text)]\n";
    let mut bench = Workbench::new();
    bench.open("untitled:many", &own);
    for (line, wanted) in [(7, "\"it\""), (301, "\"street\"")] {
        let params = serde_json::json!({
            "textDocument": {"uri": "untitled:many"},
            "position": {"line": line, "character": 2},
        });
        let shown = bench.request("textDocument/hover", params).expect("it is answered");
        let shown = shown["contents"]["value"].as_str().expect("there is something to say");
        assert!(shown.contains("\"properties\"") && shown.contains(wanted), "{shown}");
    }
}
