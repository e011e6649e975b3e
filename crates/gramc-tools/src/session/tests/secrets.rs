//! Secrets stay out of everything that is shown.

use super::*;

#[tokio::test]
async fn no_secret_reaches_a_verdict() {
    let password = "hunter2-hunter2";
    for fails in [false, true] {
        let seen = Seen::default();
        let library = library(&seen, patient(Undeclared::Strip), fails).validate(
            "deploy",
            |arguments: &Value| {
                if arguments["service"] == "web" {
                    return Vec::new();
                }
                vec![Problem::of_host("/password", "ODD", format!("{arguments} is odd"))]
            },
        );
        assert!(!format!("{library:?}").contains(TOKEN));
        let bound = library.bind(&module()).unwrap();
        let session = Session::new(&bound);
        for service in ["\"web\"", "\"odd\"", "5"] {
            let arguments = format!("{{\"service\": {service}, \"password\": \"{password}\"}}");
            let verdict = session.call(Call::new("deploy", arguments)).await;
            let told = format!("{} {}", verdict.json(), verdict.message());
            assert!(!told.contains(TOKEN) && !told.contains(password), "{told}");
            let judged = session.validate(Call::new(
                "deploy",
                format!("{{service: {service}, password: '{password}'}}"),
            ));
            let told = format!("{} {}", judged.json(), judged.message());
            assert!(!told.contains(password), "{told}");
        }
        let short = r#"{"service": "web", "password": "s3cret!"}"#;
        let verdict = session.call(Call::new("deploy", short)).await;
        assert!(!verdict.is_ok() && !verdict.json().to_string().contains("s3cret!"));
        // The implementation still received the secrets.
        assert!(seen.lock().unwrap().iter().all(|it| it["password"] == password));
    }
}

#[tokio::test]
async fn a_secret_of_any_shape_reaches_no_verdict() {
    let text = "[a:Tool | (keys::Object {secret: true})==>(pin::Int {secret: true})==>(::Any)]";
    let checked = check(&[parse(SourceFile::new("a.gram", text))]);
    let echo = async_function(async |arguments: Value| Ok::<_, String>(arguments));
    let library = ToolLibrary::new("a").settings(patient(Undeclared::Strip)).with("a", echo);
    let session = Session::new(&library.bind(&checked.module.unwrap()).unwrap());
    for keys in [r#"{"a": ["hunter2"]}"#, r#""{\"a\": [\"hunter2\"]}""#, r#"["hunter2"]"#] {
        let arguments = format!("{{\"keys\": {keys}, \"pin\": \"47110815\"}}");
        let told = session.call(Call::new("a", arguments)).await.json().to_string();
        assert!(!told.contains("hunter2") && !told.contains("47110815"), "{told}");
    }
}

#[tokio::test]
async fn a_secret_that_was_repaired_is_one_still() {
    let text = "[a:Tool | (token::Int {secret: true})==>(::Any)]";
    let checked = check(&[parse(SourceFile::new("a.gram", text))]);
    let tells = async_function(async |arguments: Value| {
        Err::<Value, _>(format!("no such token: {}", arguments["token"]))
    });
    let library = ToolLibrary::new("a").settings(patient(Undeclared::Strip)).with("a", tells);
    let session = Session::new(&library.bind(&checked.module.unwrap()).unwrap());
    for token in ["1234567", "1234567.0", "\"+1234567\"", "\"1234567.0\"", "1.234567e6"] {
        let arguments = format!("{{\"token\": {token}}}");
        let told = session.call(Call::new("a", arguments)).await.json().to_string();
        assert!(told.contains("no such token: ***"), "{told}");
    }
}

#[tokio::test]
async fn no_part_of_a_secret_is_left_where_a_message_is_cut() {
    let text = r#"[a:Tool |
      (list::`Int[]` {optional: true})
      ==>(password::Text {secret: true, default: "initial-secret"})
      ==>(::Int)
    ]
    [Box:Container | a]"#;
    let checked = check(&[parse(SourceFile::new("a.gram", text))]);
    let echo = async_function(async |arguments: Value| {
        let password = arguments["password"].clone();
        let password = password.as_str().unwrap_or_default();
        Ok::<_, String>(json!({"x".repeat(80): password, format!("by {password}"): 1}))
    });
    let library = ToolLibrary::new("a").settings(patient(Undeclared::Strip)).with("a", echo);
    let session = Session::new(&library.bind(&checked.module.unwrap()).unwrap());
    let wrong = session.call(Call::new("Box", r#"{"x": [{"password": "hunter2"}]}"#)).await.json();
    assert_eq!(wrong["error"]["attempted_parameters"], json!({"x": [{"password": "***"}]}));
    let wrong = session.call(Call::new("Box", r#"{"x": "{\"password\": \"hunter2\"}"}"#)).await;
    assert!(!wrong.json().to_string().contains("hunter2"), "{}", wrong.json());
    session.call(Call::new("Box", "{}")).await;
    let password = "hunter2".repeat(20);
    for arguments in [
        // The result is not an integer, and its message is truncated.
        json!({"password": password}),
        // The arguments are longer than a message shows.
        json!({"password": password, "list": {"x".repeat(60): password, "y": "y".repeat(1_000)}}),
        json!({"password": 5, "list": 1}),
    ] {
        let told = session.call(Call::new("a", arguments.to_string())).await.json().to_string();
        assert!(!told.contains("hunt") && !told.contains("initial-secret"), "{told}");
    }
}

#[tokio::test]
async fn no_secret_of_a_library_is_in_any_output() {
    use gramc_language_tests::rng::Rng;

    const LETTERS: &[&str] =
        &["a", "Z", "7", "-", "_", "=", "\"", "\\", "/", "\n", "\t", "ä", "€", "😀", "&", "<"];
    let module = check(&[parse(SourceFile::new(
        "a.gram",
        "[f:Tool | (way::Int)==>(x::Any {optional: true})==>(::`{a?: Text[]} | Text`)]",
    ))]);
    let module = module.module.unwrap();
    for case in 0..200 {
        let mut rng = Rng::for_case(4711, case);
        let mut word = || {
            let count = rng.between(8, 40);
            let text: String = (0..count).map(|_| rng.pick(LETTERS)).collect();
            format!("k{text}k")
        };
        let secrets = vec![word(), word()];
        let library = ToolLibrary::new("l")
            .settings(patient(Undeclared::Keep))
            .with("f", Leaky(secrets.clone()));
        let bound = library.bind(&module).unwrap();
        assert_eq!(bound.secrets().len(), 2);
        let session = Session::new(&bound);
        for way in 0..5 {
            // A model may know a secret, too.
            for x in [json!(null), json!(secrets[0]), json!({"y": [secrets[1]]})] {
                for way in [json!(way), json!(format!("no {}", secrets[0]))] {
                    let arguments = json!({"way": way, "x": x}).to_string();
                    let verdict = session.call(Call::new("f", arguments)).await;
                    let (json, message) = (verdict.json(), verdict.message());
                    let mut texts = Vec::new();
                    crate::bind::texts(&json, &mut texts);
                    texts.extend([json.to_string(), message]);
                    for secret in &secrets {
                        let quoted = Value::from(secret.as_str()).to_string();
                        for form in [secret.as_str(), quoted.trim_matches('"')] {
                            let shown = texts.iter().find(|text| text.contains(form));
                            assert_eq!(shown, None, "case {case}: {form}");
                        }
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_secret_under_another_name_is_one_still() {
    let text = "[login:Tool | (user::Text)==>(password::Text {secret: true})
                  ==>(options::`{mode?: Text}` {optional: true})==>(labels::`Map<Text>` {optional: true})
                  ==>(::Any)]";
    let module = check(&[parse(SourceFile::new("a.gram", text))]).module.unwrap();
    for undeclared in [Undeclared::Strip, Undeclared::Reject, Undeclared::Keep, Undeclared::Schema]
    {
        for correct_names in [false, true] {
            let mut settings = patient(undeclared);
            settings.check.correct_names = correct_names;
            let echo = async_function(async |arguments: Value| Ok::<_, String>(arguments));
            let library = ToolLibrary::new("l").settings(settings).with("login", echo);
            let session = Session::new(&library.bind(&module).unwrap());
            for arguments in [
                json!({"user": "ada", "passwrd": "hunter2"}),
                json!({"user": "ada", "pw": "hunter2", "password": "x-hunter2-x"}),
                json!({"user": "ada", "pw": {"a": ["hunter2"]}, "password": "secret-1"}),
                json!({"user": 5, "secret": "hunter2", "password": "secret-1"}),
                json!({"user": "ada", "password": "secret-1", "options": {"password": "hunter2"}}),
                json!({"user": "ada", "password": "secret-1", "options": {"pw": "hunter2"}}),
            ] {
                let arguments = arguments.to_string();
                let verdict = session.call(Call::new("login", arguments.clone())).await;
                let told = format!("{} {}", verdict.json(), verdict.message());
                assert!(!told.contains("hunter2"), "{undeclared:?} {arguments}: {told}");
                let traced = session.redact("login", &arguments).unwrap();
                assert!(!traced.arguments.contains("hunter2"), "{arguments}: {traced:?}");
                assert!(!traced.arguments.contains("secret-1"), "{arguments}: {traced:?}");
            }
            // What is declared stays.
            let declared = json!({"user": "ada", "password": "secret-1", "labels": {"a": "bcdef"}});
            let verdict = session.call(Call::new("login", declared.to_string())).await.json();
            assert_eq!(verdict["result"]["labels"], json!({"a": "bcdef"}), "{verdict}");
            let traced = session.redact("login", &declared.to_string()).unwrap().arguments;
            assert!(traced.contains("bcdef") && traced.contains("ada"), "{traced}");
        }
    }
}
