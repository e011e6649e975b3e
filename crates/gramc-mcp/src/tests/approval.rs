//! Approval by the users of clients.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    InitializeRequestParams,
};
use rmcp::service::{RequestContext, ServiceError};

use super::*;

const WIPE: &str = r#"
[wipe:Tool {approval: "always"} | (path::Text)==>(key::Text {secret: true})==>(::Text)]
[look:Tool | (path::Text)==>(::Text)]
"#;

fn wiping() -> Server {
    let library = ToolLibrary::new("test").with("wipe", echo("path")).with("look", echo("path"));
    bound(WIPE, &library)
}

/// A client whose user answers questions.
#[derive(Clone)]
struct Person {
    can_ask: bool,
    answer: Arc<Mutex<ElicitationAction>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Person {
    fn new(can_ask: bool) -> Self {
        let answer = Arc::new(Mutex::new(ElicitationAction::Accept));
        Self { can_ask, answer, asked: Arc::default() }
    }

    fn answers(&self, answer: ElicitationAction) {
        *self.answer.lock().unwrap() = answer;
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> InitializeRequestParams {
        let mut info = InitializeRequestParams::default();
        if self.can_ask {
            info.capabilities.elicitation = Some(ElicitationCapability::default());
        }
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("{request:?} is not a form")
        };
        self.asked.lock().unwrap().push(message);
        Ok(ElicitResult::new(self.answer.lock().unwrap().clone()))
    }
}

async fn connect(
    server: &Server,
    person: &Person,
    modern: bool,
) -> RunningService<RoleClient, Person> {
    if modern {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = ClientLifecycleMode::Discover { preferred_versions };
        return person.clone().serve_with_lifecycle(pipe(server), mode).await.unwrap();
    }
    person.clone().serve(pipe(server)).await.unwrap()
}

#[tokio::test]
async fn the_user_of_the_client_is_asked() {
    for modern in [false, true] {
        let person = Person::new(true);
        let client = connect(&wiping(), &person, modern).await;
        let call = async |name: &str, arguments: Value| {
            soon(client.call_tool(params(name, &arguments))).await.unwrap()
        };
        let wiped = call("wipe", json!({"path": "/data", "key": "hunter2"})).await;
        assert_eq!((text(&wiped), wiped.is_error), ("/data", Some(false)), "{modern}");
        let question = r#"Run `wipe` with {"path":"/data","key":"***"}?"#;
        assert_eq!(*person.asked.lock().unwrap(), [question]);
        person.answers(ElicitationAction::Decline);
        let refused = call("wipe", json!({"path": "/data", "key": "hunter2"})).await;
        assert_eq!(refused.is_error, Some(true), "{modern}");
        assert!(text(&refused).starts_with("the call of `wipe` was not approved."), "{refused:?}");
        person.answers(ElicitationAction::Cancel);
        let refused = call("wipe", json!({"path": "/data", "key": "hunter2"})).await;
        assert!(text(&refused).contains("the user dismissed the question"), "{refused:?}");
        // Other tools, and calls that the check refuses, need no approval.
        assert_eq!(text(&call("look", json!({"path": "/data"})).await), "/data");
        let refused = call("wipe", json!({"path": "/data"})).await;
        assert!(text(&refused).contains("`key` is required"), "{refused:?}");
        assert_eq!(person.asked.lock().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_refused() {
    for modern in [false, true] {
        let client = connect(&wiping(), &Person::new(false), modern).await;
        let arguments = json!({"path": "/data", "key": "hunter2"});
        let refused = soon(client.call_tool(params("wipe", &arguments))).await.unwrap();
        assert_eq!(refused.is_error, Some(true), "{modern}");
        assert!(text(&refused).contains("this session cannot ask for it"), "{refused:?}");
    }
}

/// The answer to one call approves no other one, and no answer approves nothing.
#[tokio::test]
async fn an_answer_belongs_to_its_call() {
    let (mut client, server) = (Person::new(true), wiping());
    client.can_ask = true;
    let client = connect(&server, &client, true).await;
    let ask = async |arguments: Value, more: Value| {
        let mut request = params("wipe", &arguments);
        request.input_responses = serde_json::from_value(more["inputResponses"].clone()).ok();
        request.request_state = more["requestState"].as_str().map(str::to_owned);
        match soon(client.call_tool_once(request)).await? {
            CallToolResponse::Complete(result) => {
                Ok::<_, ServiceError>(Ok(text(&result).to_owned()))
            }
            CallToolResponse::InputRequired(result) => Ok(Err(result.request_state)),
            other => panic!("{other:?}"),
        }
    };
    let one = json!({"path": "/data", "key": "hunter2"});
    let state = ask(one.clone(), json!({})).await.unwrap().unwrap_err().unwrap();
    let accepted = json!({"approval": {"action": "accept"}});
    let answer = json!({"inputResponses": accepted, "requestState": state});
    let other = json!({"path": "/etc", "key": "hunter2"});
    assert!(ask(other, answer.clone()).await.is_err());
    assert!(ask(one.clone(), json!({"inputResponses": accepted})).await.unwrap().is_err());
    let again = ask(one.clone(), json!({"requestState": state})).await.unwrap().unwrap_err();
    assert_eq!(again.as_ref(), Some(&state));
    assert_eq!(ask(one.clone(), answer.clone()).await.unwrap().unwrap(), "/data");
    // Nor does it approve the same call twice.
    assert!(ask(one, answer).await.is_err());
}
