//! Lexing, parsing and formatting take time in proportion to the text.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::{Slashes, lex};
use crate::{FormatOptions, SourceFile, format, parse};

const SMALL: usize = 20_000;
const GROWTH: usize = 16;
/// How much longer one large text may take than `GROWTH` small ones, which have the same size in
/// all. Quadratic time takes `GROWTH` times as long.
const MAX_RATIO: u32 = 6;

fn fastest(run: impl Fn()) -> Duration {
    let time = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..2).map(|_| time()).min().unwrap_or_default()
}

/// Fails if `run` takes more than linear time in texts that `text` makes of a size.
fn assert_linear(name: &str, text: impl Fn(usize) -> String, run: impl Fn(&str)) {
    let (small, large) = (text(SMALL), text(SMALL * GROWTH));
    let mut times = Vec::new();
    // Another process may slow down a whole attempt.
    for _ in 0..5 {
        let base = fastest(|| (0..GROWTH).for_each(|_| run(&small)));
        let grown = fastest(|| run(&large));
        if grown < base * MAX_RATIO {
            return;
        }
        times.push((base, grown));
    }
    panic!("{name}: {GROWTH} small texts and one of their size take {times:?}");
}

/// As many repetitions of `unit` as fit into a size.
fn repeated(unit: &'static str) -> impl Fn(usize) -> String {
    move |size| unit.repeat(size / unit.len())
}

/// Repetitions of `unit`, then `middle`, then repetitions of `tail`, then `end`.
fn halves(unit: &str, middle: &str, tail: &str, end: &str, size: usize) -> String {
    let half = size / 2;
    unit.repeat(half / unit.len()) + middle + &tail.repeat(half / tail.len()) + end
}

fn lex_both(text: &str) {
    black_box(lex(text, Slashes::Text));
    black_box(lex(text, Slashes::Comment));
}

fn parse_text(text: &str) {
    let parse = parse(SourceFile::new("x.gram", text));
    black_box(parse.tree());
}

/// A text for each state of the lexer.
const STATES: &[&str] = &[
    "`",
    "``",
    "```",
    "````",
    "``` x",
    "```x\n",
    "```x y\n",
    "```\n",
    "```\n//`",
    "```// ",
    "```/**",
    "```/** ```",
    "```/** */",
    "```x/** ```",
    "\"",
    "'",
    "\"a",
    "'a\n",
    "\"a\n",
    "`a\n",
    "\"\\",
    "\"\\q",
    "\"/** \\q */ ",
    "'/** ' */ ",
    "\"//\" ",
    "'//' ",
    "`//` ",
    "\"//\"\n",
    "\"// \n",
    "\"//\" ```\n// ``` ",
    "\"//\" ```\n/** ``` ",
    "\"/**\" ",
    "\"/** \n",
    "\\u00e9",
    "\"\\u00e9",
    "/",
    "/ ",
    "//",
    "// x\n",
    "/*",
    "/* ",
    "/* */",
    "/*\n",
    "/**",
    "/** x\n",
    "/** x */",
    "*/",
    "/*/",
    " ",
    "\n",
    "\t \r\n",
    "0",
    "0x",
    "0xfg ",
    "1.",
    "1..",
    "-",
    "-1",
    "1e",
    "1/2 ",
    "5x",
    "1999-",
    "12:30",
    "a",
    "a.",
    "a ",
    "`a` ",
    "`a`:",
    "@",
    "a@",
    ":",
    "::",
    ".",
    "..",
    "...",
    "<",
    "<-",
    "<~",
    "=",
    "=>",
    "~",
    "|",
    ",",
    "[",
    "]",
    "[]",
    "(",
    ")",
    "{",
    "}",
    "{a: ",
    "[(",
    "(a)-->",
    "(a)<--",
    "[a | ",
    "[a:",
    "a: ",
    "<a: ",
    "tag`x`",
    "x\"y\"",
    "x'y' ",
    "x```\ny``` ",
    "\u{e4}",
    "\u{1}",
    "#",
    "\u{feff}",
    "(a::\"",
    "(a::\"Text",
    "(a::Array<",
    "{a: 1, ",
    "a, ",
];

#[test]
fn each_lexer_state_takes_linear_time() {
    for unit in STATES {
        assert_linear(unit, repeated(unit), lex_both);
    }
}

#[test]
fn texts_that_are_lexed_again_take_linear_time() {
    for (unit, middle, tail, end) in [
        // Fences inside one comment, of which each finds the trivia behind it.
        ("```/** ```", "*/", "/***/ ", "x"),
        ("```/**\n", "*/", "/***/ ", "\n"),
        ("```/**\n", "*/ \n /** ``` */", "/***/\n", "x"),
        ("```x /** ``````/** ```", "*/", "/***/ ", "x"),
        ("```/** ```", "*/", "\n", ""),
        ("\"//\" ```\n/** ``` ", "*/", "/***/ ", "x"),
        ("\"//\" ```\n// ``` ", "\n", "// x\n", "\""),
        ("\"/** \\q */", "", "/** \\q */", "\""),
        ("\"\n", "", "/** */\n", "\""),
    ] {
        assert_linear(unit, |size| halves(unit, middle, tail, end, size), lex_both);
    }
}

#[test]
fn texts_of_one_kind_parse_in_linear_time() {
    for unit in STATES {
        assert_linear(unit, repeated(unit), parse_text);
    }
}

#[test]
fn formatting_takes_linear_time() {
    for unit in [
        "[a:Tool | (b::Text)==>(::Null)]\n",
        "/** x */\n",
        "// x\n",
        "(a)-->(b)\n",
        "{a: 1}\n",
        "[a | [b]]\n",
        "```\nx\n```\n",
        "(a {b: \"c\"})\n",
        "\n",
    ] {
        assert_linear(unit, repeated(unit), |text| {
            let parse = parse(SourceFile::new("x.gram", text));
            black_box(format(&parse, FormatOptions::default()).ok());
        });
    }
    let long = |size: usize| String::from("[a | ") + &"b, ".repeat(size / 3) + "b]\n";
    assert_linear("a long list", long, |text| {
        let parse = parse(SourceFile::new("x.gram", text));
        black_box(format(&parse, FormatOptions::default()).ok());
    });
}
