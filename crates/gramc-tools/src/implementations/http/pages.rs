//! Answers that a service gives in pages.

use gramc_model::Implementation;
use reqwest::header::{HeaderMap, LINK};
use reqwest::{Method, RequestBuilder, Url};
use serde_json::Value;

use super::exchange::Request;
use super::{Fetched, Http, not_called};
use crate::implementations::PagesError;
use crate::invocation::InvocationError;

/// The maximum number of pages, unless it is declared.
const DEFAULT_MAX_PAGES: u64 = 10;

/// How an answer in pages is declared.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    /// The pointer to the list of items of a page.
    items: String,
    next: NextPage,
    max: u64,
}

/// How a page says where the next one is.
#[derive(Debug, Clone)]
enum NextPage {
    /// In a link with the relation `next` in the header `Link`.
    Link,
    /// By its URL at a pointer.
    Url(String),
    /// By the value of a parameter of the query, at a pointer.
    Parameter { pointer: String, name: String },
}

impl Pages {
    /// Reads the attribute `pages`.
    pub(super) fn of(declared: &Implementation) -> Result<Option<Self>, PagesError> {
        let Some(pages) = declared.attribute("pages") else { return Ok(None) };
        let text = |key: &str| pages.get(key).and_then(Value::as_str).map(str::to_owned);
        let pointer = |key: &'static str, text: String| {
            if text.is_empty() || text.starts_with('/') {
                return Ok(text);
            }
            Err(PagesError::NoPointer { key, text })
        };
        let next = match (text("next").ok_or(PagesError::NoNext)?, text("parameter")) {
            (next, _) if next == "link" => NextPage::Link,
            (next, Some(name)) => NextPage::Parameter { pointer: pointer("next", next)?, name },
            (next, None) => NextPage::Url(pointer("next", next)?),
        };
        let max = declared.attribute("maxPages").and_then(Value::as_u64);
        let max = max.unwrap_or(DEFAULT_MAX_PAGES);
        let items = pointer("items", text("items").unwrap_or_default())?;
        Ok(Some(Self { items, next, max }))
    }

    /// The whole answer that begins with `first`, as JSON text. What is no page stays as it is.
    pub(super) async fn join(
        &self,
        http: &Http,
        who: &str,
        request: &Request,
        first: Fetched,
        max_answer: usize,
    ) -> Result<Vec<u8>, InvocationError> {
        let Ok(mut whole) = serde_json::from_slice::<Value>(&first.body) else {
            return Ok(first.body);
        };
        if whole.pointer(&self.items).is_none_or(|items| !items.is_array()) {
            return Ok(first.body);
        }
        let mut left = max_answer.saturating_sub(first.body.len());
        let mut next = self.next(&whole, first.next_link);
        let mut last = None;
        for _ in 1..self.max {
            let Some(place) = &next else { break };
            let Some(request) = self.request(http, who, request, place)? else { break };
            let page = http.fetch(who, &request, max_answer).await?;
            // What the model can still ask for is better than an error.
            let Some(rest) = left.checked_sub(page.body.len()) else { break };
            left = rest;
            let mut value: Value = serde_json::from_slice(&page.body).unwrap_or_default();
            next = self.next(&value, page.next_link);
            let items = value.pointer_mut(&self.items).and_then(Value::as_array_mut);
            let Some(items) = items else {
                return Err(InvocationError::invalid(format!(
                    "{who} returned a page without a list of items at `{}`",
                    self.items
                )));
            };
            if let Some(all) = whole.pointer_mut(&self.items).and_then(Value::as_array_mut) {
                all.append(items);
            }
            last = Some(value);
        }
        if let Some(last) = last {
            self.set_next(&mut whole, &last);
        }
        Ok(whole.to_string().into_bytes())
    }

    /// The URL of the next page, or the value of its parameter.
    fn next(&self, page: &Value, link: Option<String>) -> Option<String> {
        let pointer = match &self.next {
            NextPage::Link => return link,
            NextPage::Url(pointer) | NextPage::Parameter { pointer, .. } => pointer,
        };
        match page.pointer(pointer)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Says in the whole answer, as the last page does, where the page after it is.
    fn set_next(&self, whole: &mut Value, last: &Value) {
        let (NextPage::Url(pointer) | NextPage::Parameter { pointer, .. }) = &self.next else {
            return;
        };
        match (last.pointer(pointer), pointer.rsplit_once('/')) {
            (Some(next), _) => {
                if let Some(place) = whole.pointer_mut(pointer) {
                    *place = next.clone();
                }
            }
            (None, Some((holder, key))) => {
                let key = key.replace("~1", "/").replace("~0", "~");
                let holder = whole.pointer_mut(holder).and_then(Value::as_object_mut);
                holder.and_then(|holder| holder.remove(&key));
            }
            (None, None) => {}
        }
    }

    /// The request of the next page. `None` if that is on another server, which must not get the headers
    /// of this one.
    fn request(
        &self,
        http: &Http,
        who: &str,
        first: &Request,
        next: &str,
    ) -> Result<Option<Request>, InvocationError> {
        let failed = || not_called(who, &"the next page has no valid request");
        let request = first.builder.try_clone().ok_or_else(failed)?;
        let mut request = request.build().map_err(|_| failed())?;
        let url = match &self.next {
            NextPage::Parameter { name, .. } => with_parameter(request.url(), name, next),
            NextPage::Link | NextPage::Url(_) => {
                *request.method_mut() = Method::GET;
                *request.body_mut() = None;
                let mut url = request.url().join(next).map_err(|_| failed())?;
                // The page's URL lacks the injected parameters.
                for (name, value) in parse_query(&first.injected_query) {
                    if url.query_pairs().all(|(known, _)| known != name) {
                        url.query_pairs_mut().append_pair(&name, &value);
                    }
                }
                url
            }
        };
        if url.origin() != request.url().origin() {
            return Ok(None);
        }
        *request.url_mut() = url;
        let client = http.client.to(request.url())?;
        let builder = RequestBuilder::from_parts(client, request);
        Ok(Some(Request {
            builder,
            credentials: first.credentials.clone(),
            injected_query: first.injected_query.clone(),
            is_repeatable: first.is_repeatable,
        }))
    }
}

fn parse_query(query: &str) -> Vec<(String, String)> {
    let url = Url::parse(&format!("http://localhost/?{query}"));
    url.map(|url| url.query_pairs().into_owned().collect()).unwrap_or_default()
}

/// The URL with another value of a parameter of its query.
fn with_parameter(url: &Url, name: &str, value: &str) -> Url {
    let others: Vec<_> =
        url.query_pairs().into_owned().filter(|(known, _)| known != name).collect();
    let mut url = url.clone();
    url.query_pairs_mut().clear().extend_pairs(others).append_pair(name, value);
    url
}

/// The target of the link with the relation `next`.
pub(super) fn next_link(headers: &HeaderMap) -> Option<String> {
    let links = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    // A comma in a URL does not separate links.
    links.flat_map(|links| links.split('<').skip(1)).find_map(|link| {
        let (url, parameters) = link.split_once('>')?;
        let parameters = parameters.trim().trim_end_matches(',');
        let is_next = parameters.split(';').any(|parameter| {
            let (key, value) = parameter.split_once('=').unwrap_or_default();
            let relations = value.trim().trim_matches('"');
            key.trim().eq_ignore_ascii_case("rel")
                && relations.split(' ').any(|it| it.eq_ignore_ascii_case("next"))
        });
        is_next.then(|| url.to_owned())
    })
}
