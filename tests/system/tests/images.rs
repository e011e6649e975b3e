//! Images that go to models: those of users and those of tools.

use serde_json::{Value, json};

use crate::model_server::{Server, calls, says};
use crate::providers::{ALL, Said};
use crate::support::{Folder, Run, folder, gramc};

const SPEC: &str = r#"
[painter:Agent {instruction: "You paint."} | [paint:Tool | (what::Text)==>(::Any)]]
[works:Library | (paint:Command {run: ["cat", "painted.json"], content: true})]
"#;
/// The images are `one` and `two` in base64, which occur nowhere else.
const PAINTED: &str = r#"[{"type": "text", "text": "Done:"},
    {"type": "image", "data": "b25l", "mimeType": "image/png"},
    {"type": "image", "data": "dHdv", "mimeType": "image/jpeg"}]"#;
const CALL: &str = r#"{"what": "a cat"}"#;

fn files(spec: &str) -> Folder {
    let files = folder(&[("spec.gram", spec), ("painted.json", PAINTED), ("note.txt", "Hello")]);
    std::fs::write(files.path().join("cat.png"), b"\x89PNG\r\n\x1a\n...").expect("it is written");
    files
}

fn run(files: &Folder, server: &Server, prefix: &str, options: &str) -> Run {
    let run = gramc("run spec.gram Paint --library works").args(options).within(files.path());
    run.env(&format!("{prefix}_BASE_URL"), &server.url())
        .env(&format!("{prefix}_API_KEY"), "k")
        .run()
}

/// All strings in a request, in order.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn has(request: &Value, part: &str) -> bool {
    texts(request).iter().any(|text| text.contains(part))
}

#[test]
fn every_provider_gets_the_images_of_users_and_results() {
    for provider in ALL {
        let server = Server::start(move |at, _| match at {
            0 => provider.says(Said::Calls(&[("paint", CALL)]), true),
            _ => provider.says(Said::Text("A cat."), true),
        });
        let options = format!("--image cat.png --model {}", provider.model());
        let run = run(&files(SPEC), &server, provider.variable(), &options).exits(0);
        assert_eq!(run.stdout, "A cat.\n", "{provider:?}");
        let requests = server.requests();
        assert!(has(&requests[0], "iVBORw0KGgouLi4="), "{provider:?}: {}", requests[0]);
        let after = &requests[1];
        for part in ["iVBORw0KGgouLi4=", "b25l", "dHdv", "image/jpeg", "result of `paint`"] {
            assert!(has(after, part), "{provider:?} {part}: {after}");
        }
        assert!(has(after, "Done:\n[image: image/png]\n[image: image/jpeg]"), "{after}");
        // The images follow the result.
        let all = texts(after);
        let place = |part: &str| all.iter().position(|text| text.contains(part));
        assert!(place("Done:") < place("b25l") && place("b25l") < place("dHdv"), "{after}");
    }
}

#[test]
fn chat_completions_have_them_in_a_message_of_the_user() {
    let image = |kind: &str, data: &str| {
        let url = format!("data:image/{kind};base64,{data}");
        json!({"type": "image_url", "image_url": {"url": url}})
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let shown = text("Image in the result of `paint`, not visible to the user:");
    for api in ["tools", "functions"] {
        let server = Server::start(|at, request| match at {
            0 => calls(request, &[("paint", CALL), ("paint", CALL)]),
            _ => says(request, "Two cats."),
        });
        let spec = SPEC.replace("instruction", &format!("api: \"{api}\", instruction"));
        run(&files(&spec), &server, "OPENAI", "--model openai/any --image cat.png").exits(0);
        let messages = server.requests()[1]["messages"].clone();
        let messages = messages.as_array().expect("a list");
        let first = [text("Paint"), image("png", "iVBORw0KGgouLi4=")];
        assert_eq!(messages[1]["content"], json!(first));
        let both = [shown.clone(), image("png", "b25l"), shown.clone(), image("jpeg", "dHdv")];
        let last = messages.last().expect("there is one");
        assert_eq!(last["role"], "user", "{api}: {last}");
        let shown: Vec<_> = [both.clone(), both].concat();
        assert_eq!(last["content"], Value::from(shown), "{api}");
    }
}

#[test]
fn models_of_other_servers_get_them_where_the_agent_says_so() {
    for (attributes, sends) in [("", false), ("images: true, ", true)] {
        let server = Server::start(|at, request| match at {
            0 => calls(request, &[("paint", CALL)]),
            _ => says(request, "A cat."),
        });
        let spec = SPEC.replace("instruction", &format!("{attributes}instruction"));
        let options = "--model ollama/any --image cat.png";
        let run = run(&files(&spec), &server, "OLLAMA", options).exits(0);
        let warning = "warning: the model is not sent images; the attribute `images: true`";
        assert_eq!(run.stderr.contains(warning), !sends, "{}", run.stderr);
        let after = &server.requests()[1];
        assert_eq!((has(after, "b25l"), has(after, "iVBORw0KGgo")), (sends, sends), "{after}");
        assert!(has(after, "[image: image/png]"), "{after}");
    }
    let server = Server::start(|_, request| says(request, "No."));
    let spec = SPEC.replace("instruction", "images: false, instruction");
    let options = "--model openai/any --image cat.png";
    run(&files(&spec), &server, "OPENAI", options).exits(0).says(&["is not sent images"]);
    assert!(!has(&server.requests()[0], "iVBORw0KGgo"));
}

#[test]
fn a_saved_conversation_keeps_its_images() {
    let files = files(SPEC);
    let options = "--model openai/any --conversation talk.json";
    let server = Server::start(|_, request| says(request, "A cat."));
    run(&files, &server, "OPENAI", &format!("{options} --image cat.png")).exits(0);
    run(&files, &server, "OPENAI", options).exits(0);
    let later = &server.requests()[1]["messages"];
    assert!(has(&later[1], "iVBORw0KGgo") && !has(&later[3], "iVBORw0KGgo"), "{later}");
}

#[test]
fn files_that_are_no_images_are_refused_before_anything_is_sent() {
    let files = files(SPEC);
    let server = Server::start(|_, request| says(request, "No."));
    for (file, why) in [
        ("note.txt", "note.txt is not a PNG, JPEG, GIF or WebP image"),
        ("none.png", "cannot read the image none.png: "),
    ] {
        let options = format!("--model openai/any --image {file}");
        run(&files, &server, "OPENAI", &options).exits(2).says(&[why]);
    }
    assert!(server.requests().is_empty());
}
