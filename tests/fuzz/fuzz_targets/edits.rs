//! Whatever is typed into a text: the server holds the text that the edits make, finds in it what a
//! fresh look finds, and answers what is asked about any place of it.
#![no_main]

use gramc_lsp::Workbench;
use gramc_syntax::{SourceFile, parse};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

const URI: &str = "untitled:fuzz";

/// What is asked about a place.
const ASKED: [&str; 6] =
    ["hover", "completion", "definition", "references", "prepareRename", "signatureHelp"];

fuzz_target!(|bytes: &[u8]| {
    // The first line is the text; each further one an edit: three bytes that say where, and a text.
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split('\u{1}');
    let mut own = parts.next().unwrap_or_default().to_owned();
    let mut bench = Workbench::with_bytes();
    bench.open(URI, &own);
    for part in parts {
        let mut numbers = part.bytes();
        let [line, column, length] = [(); 3].map(|()| usize::from(numbers.next().unwrap_or(0)));
        let new: String = part.chars().skip(3).collect();
        // The place, as an editor names it: lines end with \n, \r\n or \r.
        let lines: Vec<usize> = std::iter::once(0)
            .chain(own.char_indices().filter_map(|(at, c)| {
                let next = own[at + c.len_utf8()..].starts_with('\n');
                (c == '\n' || (c == '\r' && !next)).then_some(at + c.len_utf8())
            }))
            .collect();
        let line = line % lines.len();
        let start = lines[line];
        let rest = own[start..].find(['\n', '\r']).map_or(own.len(), |end| start + end);
        let place = |mut at: usize| {
            at = at.min(rest);
            while !own.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (place(start + column), place(start + column + length % 8));
        let at = |offset: usize| {
            (u32::try_from(line).unwrap_or(0), u32::try_from(offset - start).unwrap_or(0))
        };
        bench.change(URI, at(from), at(to), &new);
        let (line, character) = at(from);
        own.replace_range(from..to, &new);
        let params = json!({
            "textDocument": {"uri": URI},
            "position": {"line": line, "character": character},
            "context": {"includeDeclaration": true},
        });
        for method in ASKED {
            let _ = bench.request(&format!("textDocument/{method}"), params.clone());
        }
    }
    assert_eq!(bench.text(URI).as_deref(), Some(own.as_str()));
    let fresh = parse(SourceFile::new(URI, own));
    let links = gramc_check::ImportGraph {
        of: vec![
            gramc_check::imports(&fresh)
                .into_iter()
                .map(|import| gramc_check::ResolvedImport {
                    span: import.span,
                    text: Err(gramc_check::ImportFailure(
                        "this text has no folder to import from".to_owned(),
                    )),
                })
                .collect(),
        ],
    };
    let settings = gramc_lint::Settings::default();
    let found = gramc_lint::check(&[fresh], &links, &settings).diagnostics;
    let served = bench.diagnostics(URI);
    let served: Vec<_> =
        served.as_array().into_iter().flatten().filter_map(|one| one["code"].as_str()).collect();
    assert_eq!(served, found.iter().map(|one| one.code.name).collect::<Vec<_>>());
});
