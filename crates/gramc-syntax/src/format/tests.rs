use super::*;
use crate::parse;

fn read(text: &str) -> Parse {
    parse(SourceFile::new("text", text))
}

fn formatted(text: &str, width: u32) -> Result<String, FormatError> {
    format(&read(text), FormatOptions { width })
}

/// The formatted text, without the line break at its end.
fn at(width: u32, text: &str) -> String {
    formatted(text, width).unwrap().trim_end().to_owned()
}

#[test]
fn tokens_are_spaced_as_people_space_them() {
    for (text, expected) in [
        ("[a:B{k:1}|(c),d]", "[a:B {k: 1} | (c), d]"),
        ("[ | a ]", "[| a]"),
        ("( a : B :: C { k : 1 , l :: 2 } )", "(a:B::C {k: 1, l::2})"),
        ("( { k : 1 } )", "({k: 1})"),
        ("(a < k : a- >)", "(a <k: a->)"),
        ("(a) - - > (b)", "(a) - - > (b)"),
        ("(a)- -> (b) < - [ r ] - (c)", "(a)- -> (b) < - [ r ] - (c)"),
        ("(a) - -> (b) <- [ r : R {k:1} ] - (c)", "(a)-->(b)<-[r:R {k: 1}]-(c)"),
        (
            "(a {r: 1 .. 2, s: -1 ..., t: ... 0x1f, u: [ 1 , [ ] ]})",
            "(a {r: 1..2, s: -1..., t: ...0x1f, u: [1, []]})",
        ),
        ("(a {t: json `{}`, u: date\n`x`})", "(a {t: json`{}`, u: date`x`})"),
        ("@@ id : L @ k ( 1 ) (a)", "@@id:L\n@k(1)\n(a)"),
        ("@ k ( [ 1 ] ) (a)", "@k([1]) (a)"),
        ("@@ id [a]", "@@id [a]"),
        ("{ gram : 1 } (a) (b)", "{gram: 1}\n(a)\n(b)"),
    ] {
        let expected = if read(text).has_errors() {
            Err(FormatError::Syntax)
        } else {
            Ok(format!("{expected}\n"))
        };
        assert_eq!(formatted(text, 100), expected, "{text}");
    }
}

#[test]
fn an_empty_text_stays_empty() {
    assert_eq!(formatted("", 100).as_deref(), Ok(""));
    assert_eq!(formatted(" \n\n ", 100).as_deref(), Ok(""));
    assert_eq!(formatted("\u{feff}\n(a)", 100).as_deref(), Ok("\u{feff}(a)\n"));
    assert_eq!(formatted("\n\n// c  \n\n\n", 100).as_deref(), Ok("// c\n"));
}

#[test]
fn lines_hold_as_much_as_fits_and_no_more() {
    let text = "[a:B | (cc {d: 1}), (e)]";
    assert_eq!(at(24, text), text);
    assert_eq!(at(23, text), "[a:B |\n  (cc {d: 1}),\n  (e)\n]");
    assert_eq!(at(14, text), "[a:B |\n  (cc {d: 1}),\n  (e)\n]");
    assert_eq!(at(13, text), "[a:B |\n  (cc {\n    d: 1\n  }),\n  (e)\n]");
    // Characters count, not bytes.
    let text = "[`äöü` | a, b]";
    assert_eq!(at(14, text), text);
    assert_eq!(at(13, text), "[`äöü` |\n  a, b\n]");
}

#[test]
fn a_text_with_errors_is_not_formatted() {
    assert_eq!(formatted("(a", 100), Err(FormatError::Syntax));
    assert_eq!(formatted("(a {k: 1,})", 100), Err(FormatError::Syntax));
    let range = format_range(&read("(a"), FormatOptions::default(), Span::new(0, 2));
    assert_eq!(range, Err(FormatError::Syntax));
}

#[test]
fn a_text_whose_reading_hangs_on_its_lines_is_not_formatted() {
    let text = r#"(a {k: "//x", ", c: ": '", e: 1 //'})"#;
    assert_eq!(at(100, text), text);
    assert!(matches!(formatted(text, 20), Err(FormatError::Changed(_))));
}

#[test]
fn what_nests_deep_is_formatted_in_time_and_place() {
    let depth = 100_000;
    let limits = Limits { max_depth: usize::MAX, ..Limits::default() };
    for (before, open, close, after) in
        [("(a {k: ", "[", "]", "})"), ("(a {k: ", "{k: ", "}", "})"), ("", "[a | ", "]", "")]
    {
        let inner =
            if open.starts_with('[') && close == "]" && before.is_empty() { "b" } else { "1" };
        let text = [before, &open.repeat(depth), inner, &close.repeat(depth), after].concat();
        let parse = parse_with(SourceFile::new("deep", text.clone()), &limits);
        let formatted = format(&parse, FormatOptions::default()).unwrap();
        assert!(formatted.len() < text.len() * 70, "{} of {}", formatted.len(), text.len());
        let again = parse_with(SourceFile::new("deep", formatted.clone()), &limits);
        assert_eq!(format(&again, FormatOptions::default()), Ok(formatted));
    }
}

#[test]
fn most_line_ends_win_and_strings_keep_theirs() {
    assert_eq!(formatted("(a)\r\n(b)\n(c)\r\n", 100).as_deref(), Ok("(a)\r\n(b)\r\n(c)\r\n"));
    assert_eq!(formatted("(a)\r\n(b)\n", 100).as_deref(), Ok("(a)\n(b)\n"));
    let text = "(a {\r\n  k: ```\nx\n```\r\n})\r\n";
    assert_eq!(formatted(text, 100).as_deref(), Ok(text));
    let text = "/**\r\n   * x\r\n   */\r\n(a)\r\n";
    assert_eq!(formatted(text, 100).as_deref(), Ok("/**\r\n * x\r\n */\r\n(a)\r\n"));
}

#[test]
fn a_range_touches_whole_patterns_and_gives_small_edits() {
    let parse = read("( a)\n(b )\n(c  {k:1})\n");
    let edits =
        |start, end| format_range(&parse, FormatOptions::default(), Span::new(start, end)).unwrap();
    let edit = |start, end, text: &str| Edit::new(Span::new(start, end), text.to_owned());
    let same = |found: Vec<Edit>, expected: &[Edit]| {
        let plain = |edits: &[Edit]| -> Vec<_> {
            edits.iter().map(|edit| (edit.span, edit.text.clone())).collect()
        };
        assert_eq!(plain(&found), plain(expected));
    };
    same(edits(0, 0), &[edit(1, 2, "")]);
    same(edits(6, 7), &[edit(7, 8, "")]);
    same(edits(12, 13), &[edit(13, 14, ""), edit(17, 17, " ")]);
    same(edits(0, 21), &[edit(1, 2, ""), edit(7, 8, ""), edit(13, 14, ""), edit(17, 17, " ")]);
}
