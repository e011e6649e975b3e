//! The frame of all pages.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("search.js");

/// The policy of the pages: no requests, and no script or style but their own.
fn content_security_policy() -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// A page. `site` is the title of the reference, from which all pages but the overview are a step away.
pub(crate) fn page(site: &str, title: Option<&str>, content: &Markup) -> String {
    let whole = title.map_or_else(|| site.to_owned(), |title| format!("{title} · {site}"));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content="gramc doc";
                meta http-equiv="Content-Security-Policy" content=(content_security_policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Prevents a request for `/favicon.ico`.
                link rel="icon" href="data:,";
                title { (whole) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                @if title.is_some() {
                    nav aria-label="Reference" { a href="index.html" { (site) } }
                }
                main { (content) }
                footer { "Written by gramc" }
                @if title.is_none() { script { (PreEscaped(SCRIPT)) } }
            }
        }
    };
    page.into_string()
}

/// A description: its paragraphs, with the words in backticks as code.
pub(crate) fn prose(text: &str) -> Markup {
    let normal = text.replace("\r\n", "\n");
    let paragraphs = normal.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
    html! { @for paragraph in paragraphs { p.prose { (inline(paragraph)) } } }
}

/// A text with the words in backticks as code.
pub(crate) fn inline(text: &str) -> Markup {
    let parts: Vec<_> = text.split('`').collect();
    // Without its partner, the last backtick is one.
    let pairs = (parts.len() - 1) / 2 * 2;
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 1 && at < pairs { code { (part) } }
            @else if at > pairs { "`" (part) }
            @else { (part) }
        }
    }
}

/// The first line of a description.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}
