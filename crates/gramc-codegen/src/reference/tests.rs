#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use gramc_check::{Valid, check};
use gramc_model::Module;
use gramc_schema::Target;
use gramc_syntax::{SourceFile, parse};

use super::*;

fn module(texts: &[&str]) -> Valid<Module> {
    let texts = texts.iter().enumerate();
    let texts: Vec<_> =
        texts.map(|(at, text)| parse(SourceFile::new(format!("{at}.gram"), *text))).collect();
    check(&texts).module.unwrap()
}

fn pages(texts: &[&str], named: usize, targets: &[Target]) -> Vec<Page> {
    let options = ReferenceOptions { title: "Shop <1>", files: 0..named, targets };
    reference(&module(texts), &options)
}

#[track_caller]
fn page<'p>(pages: &'p [Page], name: &str) -> &'p str {
    pages.iter().find(|page| page.name == name).unwrap().html.as_str()
}

#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "there is no `{part}` in: {text}");
    }
}

const SHOP: &str = r#"
/** What is for sale */
[Item::Record | (name::Text {description: "Its name"}), (size?::Size), (rest?::Item[])]
[Size::Enum | small, large]
(count::Int {description: "How many", range: 1..9})
[buy:Tool {description: "Buys an item, `now`.\n\nAnd <script>alert(1)</script>", destructive: true} |
  (item::Item)==>(count)==>(note?::Text {examples: ["as a gift"]})==>(key::Text {injected: true})==>(::Item[])
]
[shelf:Container {description: "All items"} | buy]
"#;

#[test]
fn a_tool_has_a_page_with_links() {
    let pages = pages(&[SHOP], 1, &[Target::OpenAiStrict, Target::Anthropic, Target::Mcp]);
    let names: Vec<_> = pages.iter().map(|page| page.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "index.html",
            "tool-buy.html",
            "type-Item.html",
            "type-Size.html",
            "term-count.html",
            "container-shelf.html"
        ]
    );
    let tool = page(&pages, "tool-buy.html");
    assert_contains(
        tool,
        &[
            "<title>buy · Shop &lt;1&gt;</title>",
            "<code>now</code>",
            "And &lt;script&gt;alert(1)&lt;/script&gt;",
            r#"<span class="badge">destructive</span>"#,
            r#"in <a href="container-shelf.html">shelf</a>"#,
            r#"(item::<a href="type-Item.html">Item</a>)"#,
            r#"(<a href="term-count.html">count</a>)"#,
            "<td>from the library</td>",
            "&quot;note&quot;: &quot;as a gift&quot;",
            "openai-strict",
            "How many",
            "1 loss",
        ],
    );
    assert!(!tool.contains("<script>"), "only the overview has a script");
    let item = page(&pages, "type-Item.html");
    assert_contains(
        item,
        &[r#"<a href="tool-buy.html">buy</a>"#, "<h2>Fields</h2>", "&quot;$ref&quot;"],
    );
    assert!(!item.contains(r#"<li><a href="type-Item.html">"#), "a type is no user of its own");
    assert_contains(page(&pages, "type-Size.html"), &[r#"<a href="type-Item.html">Item</a>"#]);
}

#[test]
fn the_overview_lists_all_declarations() {
    let pages = pages(&[SHOP], 1, &[]);
    assert_contains(
        page(&pages, "index.html"),
        &[
            "1 tool, 2 types, 1 term, 1 container",
            r#"<h2><a href="container-shelf.html">shelf</a></h2><p>All items</p>"#,
            r#"<a href="tool-buy.html">buy</a>"#,
            "What is for sale",
            "item count note key",
        ],
    );
}

#[test]
fn imported_tools_have_no_pages() {
    let other = "[other:Tool | ()==>(::Null)] [Size::Enum | a, b]";
    let own = "[own:Tool | ()==>(::Null)]";
    let pages = pages(&[own, other], 1, &[]);
    let names: Vec<_> = pages.iter().map(|page| page.name.as_str()).collect();
    assert_eq!(names, ["index.html", "tool-own.html", "type-Size.html"]);
}

#[test]
fn every_name_has_a_file_of_its_own() {
    let long = "x".repeat(500);
    let text = format!(
        "[a:Tool | ()==>(::Null)] [A:Tool | ()==>(::Null)] [`a/b`:Tool | ()==>(::Null)]
         [`a.b`:Tool | ()==>(::Null)] [{long}:Tool | ()==>(::Null)] [`../é`:Tool | ()==>(::Null)]"
    );
    let pages = pages(&[&text], 1, &[]);
    let mut names: Vec<_> = pages.iter().map(|page| page.name.to_lowercase()).collect();
    assert!(
        names.iter().all(|name| name.len() < 120 && !name.contains(['/', '\\']) && name.is_ascii())
    );
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 7);
}

#[test]
fn examples_are_valid_calls() {
    let text = r#"
        [a:Tool | (n::Int {range: 5..9})==>(m::Text {length: 3...})==>(s::Text)==>(d::Int {default: 7})==>(::Null)]"#;
    let pages = pages(&[text], 1, &[]);
    let first = page(&pages, "tool-a.html");
    assert_contains(first, &["&quot;s&quot;: &quot;…&quot;", "&quot;n&quot;: 5"]);
    assert!(!first.contains("&quot;m&quot;: &quot;…&quot;"), "it is too short");
}
