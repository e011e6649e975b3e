//! Requests that are repeated, those with an access token, and answers in pages.

use gramc_model::RequestPlace;
use serde_json::json;

use super::*;

/// A service at `/pets` with its authorization server at `/token`. Each token is good for two requests.
async fn shop(expires_in: u32, in_body: bool) -> Service {
    let tokens = Mutex::new((0, 0));
    Service::start(move |request| {
        let mut tokens = tokens.lock().unwrap();
        if request.starts_with("POST /token") {
            let in_header = request.contains(&format!("Basic {}", STANDARD.encode("shop:s3cret")));
            if in_header == in_body {
                return good("401 Unauthorized", "", r#"{"error":"invalid_client"}"#);
            }
            tokens.0 += 1;
            let body = json!({
                "access_token": format!("token-{}", tokens.0),
                "token_type": "Bearer",
                "expires_in": expires_in,
            });
            return good("200 OK", "", &body.to_string());
        }
        tokens.1 += 1;
        let has_token = request.contains(&format!("Bearer token-{}\r\n", tokens.0));
        if has_token && tokens.1 <= 2 * tokens.0 {
            good("200 OK", "", &json!({"you sent": request}).to_string())
        } else {
            good("401 Unauthorized", "", &format!("not {request}"))
        }
    })
    .await
}

/// The same service with an argument `login` that holds the credentials.
fn with_login(service: &Service) -> Http {
    let place = format!("oauth http://127.0.0.1:{}/token; scope=pets:read", service.port);
    let place = ArgumentPlace {
        argument: "login".to_owned(),
        place: RequestPlace::parse(&place).unwrap(),
        is_injected: false,
    };
    let plan = RequestPlan::new(&Method::POST, BodyFormat::Json, vec![place]);
    Http { plan: Arc::new(plan), ..service.http("/pets") }
}

fn seen(service: &Service) -> Vec<String> {
    let seen = service.seen.lock().unwrap();
    seen.iter().map(|request| request.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn credentials_become_a_token_that_calls_share() {
    let service = shop(3600, false).await;
    let http = with_login(&service);
    for _ in 0..2 {
        let answer = run(&http, invocation("pets", r#"{"login": "shop:s3cret", "a": 1}"#)).await;
        let text = format!("{:?}", answer.unwrap());
        assert!(text.contains("Bearer ***") && !text.contains("token-1"), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
    assert_eq!(seen(&service), ["/token", "/pets", "/pets"]);
    let first = service.seen.lock().unwrap()[0].clone();
    assert!(first.ends_with("grant_type=client_credentials&scope=pets%3Aread"), "{first}");
    // The service now rejects the token, so that another one is requested.
    run(&http, invocation("pets", r#"{"login": "shop:s3cret"}"#)).await.unwrap();
    assert_eq!(seen(&service)[3..], ["/pets", "/token", "/pets"]);
}

#[tokio::test]
async fn a_token_is_renewed_before_it_expires() {
    let service = shop(0, true).await;
    let http = with_login(&service);
    for _ in 0..2 {
        run(&http, invocation("pets", r#"{"login": "shop:s3cret"}"#)).await.unwrap();
    }
    // The first request for a token has the credentials in its header, which this server refuses.
    let one = ["/token", "/token", "/pets"];
    assert_eq!(seen(&service), [one, one].concat());
}

#[tokio::test]
async fn refused_credentials_are_reported_without_the_secret() {
    let service = Service::start(|request| {
        let body = json!({"error": "invalid_client", "error_description": request});
        good("400 Bad Request", "", &body.to_string())
    })
    .await;
    let http = with_login(&service);
    let error = run(&http, invocation("pets", r#"{"login": "shop:s3cret"}"#)).await.unwrap_err();
    let start = format!(
        "the service at http://127.0.0.1:{0}/pets is not called: the authorization server at http://127.0.0.1:{0}/token gives no access token: invalid_client",
        service.port
    );
    assert!(error.detail.starts_with(&start), "{error}");
    assert!(!error.detail.contains("s3cret"), "{error}");
    assert!(!error.detail.contains(&STANDARD.encode("shop:s3cret")), "{error}");
    let error = run(&http, invocation("pets", r#"{"login": "s3cret"}"#)).await.unwrap_err();
    assert!(error.detail.ends_with(
        "the value of `login` is not the ID and the secret of a client, with a colon between them"
    ));
}

#[tokio::test]
async fn a_failure_that_passes_is_not_seen() {
    let answers = Mutex::new(vec![
        good("200 OK", "", "1"),
        good("429 Too Many Requests", "Retry-After: 0\r\n", ""),
        (Vec::new(), Then::HangUp),
    ]);
    let service = Service::start(move |_| answers.lock().unwrap().pop().unwrap()).await;
    let http = Http { retries: 2, ..service.http("/x") };
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Raw("1".to_owned())));
    assert_eq!(service.seen.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_failure_that_stays_is_reported() {
    for (status, headers, requests) in [
        ("503 Service Unavailable", "Retry-After: 0\r\n", 2),
        ("503 Service Unavailable", "Retry-After: 3600\r\n", 1),
        ("500 Internal Server Error", "", 1),
        ("404 Not Found", "", 1),
    ] {
        let service = Service::start(move |_| good(status, headers, "")).await;
        let http = Http { retries: 1, ..service.http("/x") };
        let error = run(&http, invocation("x", "{}")).await.unwrap_err();
        assert!(error.detail.ends_with(status), "{error}");
        assert_eq!(service.seen.lock().unwrap().len(), requests, "{status} {headers}");
    }
}

/// A service with pages of two numbers, and what it was asked for.
async fn pages(
    declared: &str,
    body: impl Fn(u32, &str) -> (String, Value) + Send + Sync + 'static,
) -> (Service, Http) {
    let service = Service::start(move |request| {
        let page =
            request.split(['=', ' ', '&']).nth(2).and_then(|it| it.parse().ok()).unwrap_or(1);
        let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        let (headers, body) = body(page, host);
        good("200 OK", &headers, &body.to_string())
    })
    .await;
    let url = format!("http://127.0.0.1:{}/x", service.port);
    let text = format!("[l:Library | (x:Http {{method: \"GET\", url: \"{url}\", {declared}}})]");
    let module =
        gramc_check::check(&[gramc_syntax::parse(gramc_syntax::SourceFile::new("a", text))]);
    let module = module.module.unwrap();
    let library = module.library("l").unwrap();
    let declaration = Declaration {
        implementation: &library.implementations[0],
        library: &library.attributes,
        folder: std::path::Path::new("."),
    };
    let http = Http::load(&HttpClient::default(), declaration).unwrap();
    (service, http)
}

#[tokio::test]
async fn pages_become_one_answer() {
    let all = |items: Value, next: Value| {
        Ok(Answer::Raw(json!({"value": items, "next": next}).to_string()))
    };
    let urls = |page, host: &str| {
        let next = (page < 3).then(|| format!("http://{host}/x?page={}", page + 1));
        (String::new(), json!({"value": [page, page], "next": next}))
    };
    let declared = "pages: {items: \"/value\", next: \"/next\"}";
    let (service, http) = pages(declared, urls).await;
    assert_eq!(
        run(&http, invocation("x", "{}")).await,
        all(json!([1, 1, 2, 2, 3, 3]), Value::Null)
    );
    assert_eq!(seen(&service), ["/x", "/x?page=2", "/x?page=3"]);
    let (service, http) = pages(&format!("{declared}, maxPages: 2"), urls).await;
    let next = format!("http://127.0.0.1:{}/x?page=3", service.port);
    assert_eq!(run(&http, invocation("x", "{}")).await, all(json!([1, 1, 2, 2]), next.into()));
    // The page after the last one, by the value of a parameter.
    let tokens = |page, _: &str| (String::new(), json!({"value": [page], "next": page + 1}));
    let declared =
        format!("{}, parameter: \"page\"}}, maxPages: 3", declared.trim_end_matches('}'));
    let (service, http) = pages(&declared, tokens).await;
    assert_eq!(run(&http, invocation("x", r#"{"a": "b"}"#)).await, all(json!([1, 1, 1]), 2.into()));
    assert_eq!(seen(&service), ["/x?a=b", "/x?a=b&page=2", "/x?a=b&page=2"]);
    let links = |page, _: &str| {
        let next =
            format!("Link: </x?page=1>; rel=first, </x?page={}&a=b,c>; rel=\"next\"\r\n", page + 1);
        (if page < 2 { next } else { String::new() }, json!([page]))
    };
    let (_service, http) = pages("pages: {items: \"\", next: \"link\"}", links).await;
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Raw("[1,2]".to_owned())));
}

#[tokio::test]
async fn pages_of_other_servers_are_not_requested() {
    let elsewhere =
        |_, _: &str| (String::new(), json!({"value": [1], "next": "http://localhost:1/x"}));
    let (_service, http) = pages("pages: {items: \"/value\", next: \"/next\"}", elsewhere).await;
    let kept = json!({"value": [1], "next": "http://localhost:1/x"}).to_string();
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Raw(kept)));
    let other = |_, _: &str| (String::new(), json!({"error": "none"}));
    let (_service, http) = pages("pages: {items: \"/value\", next: \"/next\"}", other).await;
    let kept = json!({"error": "none"}).to_string();
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Raw(kept)));
}

#[tokio::test]
async fn a_page_without_items_is_an_error() {
    let broken = |page, host: &str| {
        let next = format!("http://{host}/x?page=2");
        let first = json!({"value": [1], "next": next});
        (String::new(), if page == 1 { first } else { json!({"error": "busy"}) })
    };
    let (_service, http) = pages("pages: {items: \"/value\", next: \"/next\"}", broken).await;
    let error = run(&http, invocation("x", "{}")).await.unwrap_err();
    assert!(
        error.detail.ends_with("returned a page without a list of items at `/value`"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_injected_is_in_the_query_of_every_page() {
    let urls = |page, host: &str| {
        let next = (page == 1).then(|| format!("http://{host}/x?page=2"));
        (String::new(), json!({"value": [page], "next": next}))
    };
    let (service, http) = pages("pages: {items: \"/value\", next: \"/next\"}", urls).await;
    let arguments = r#"{"key": "a b", "q": "c"}"#;
    let call = Invocation { hidden: ["key".into()].into(), ..invocation("x", arguments) };
    run(&http, call).await.unwrap();
    assert_eq!(seen(&service), ["/x?key=a+b&q=c", "/x?page=2&key=a+b"]);
}

#[tokio::test]
async fn a_call_that_must_run_once_is_not_repeated() {
    let service = Service::start(|_| good("503 Busy", "Retry-After: 0\r\n", "")).await;
    let http = Http { retries: 2, ..service.http("/x") };
    let call = Invocation { is_repeatable: false, ..invocation("x", "{}") };
    run(&http, call).await.unwrap_err();
    assert_eq!(service.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn tokens_of_lenient_servers_are_used_and_busy_servers_are_asked_again() {
    let answers = Mutex::new(vec![
        good("200 OK", "", "1"),
        good("201 Created", "", r#"{"access_token":"t","token_type":"bearer","expires_in":"60"}"#),
        good("503 Busy", "", ""),
    ]);
    let service = Service::start(move |_| answers.lock().unwrap().pop().unwrap()).await;
    let http = Http { retries: 1, ..with_login(&service) };
    let answer = run(&http, invocation("pets", r#"{"login": "shop:s3cret"}"#)).await;
    assert_eq!(answer, Ok(Answer::Raw("1".to_owned())));
    assert_eq!(seen(&service), ["/token", "/token", "/pets"]);
}
