//! Messages as lines, in sequences that no client of rmcp sends.

use tokio::io::{Lines, ReadHalf, WriteHalf};

use super::*;

/// A client that sends any text.
struct RawClient {
    lines: Lines<BufReader<ReadHalf<tokio::io::DuplexStream>>>,
    input: WriteHalf<tokio::io::DuplexStream>,
}

impl RawClient {
    fn new(server: &Server) -> Self {
        let (output, input) = tokio::io::split(pipe(server));
        Self { lines: BufReader::new(output).lines(), input }
    }

    /// A client that has introduced itself.
    async fn introduced(server: &Server) -> Self {
        let mut client = Self::new(server);
        let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"}}});
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        client.send(&[hello, initialized]).await;
        assert_eq!(client.receive().await["id"], "hello");
        client
    }

    /// Sends messages in one piece.
    async fn send(&mut self, messages: &[Value]) {
        let text: Vec<_> = messages.iter().map(Value::to_string).collect();
        self.input.write_all((text.join("\n") + "\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        serde_json::from_str(&soon(self.lines.next_line()).await.unwrap().unwrap()).unwrap()
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn wait(id: u64) -> Value {
    request(id, "tools/call", &json!({"name": "wait", "arguments": {}}))
}

#[tokio::test]
async fn a_request_is_cancelled_by_the_next_line() {
    let waiting = Waiting::default();
    let mut client = RawClient::introduced(&server(&waiting)).await;
    let params = json!({"requestId": 1});
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.send(&[wait(1), cancelled, request(2, "ping", &json!({}))]).await;
    assert_eq!(client.receive().await["id"], 2);
    soon(async {
        while waiting.running() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The id is free again, and nothing else was sent.
    client.send(&[request(1, "ping", &json!({}))]).await;
    assert_eq!(client.receive().await, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let waiting = Waiting::default();
    let mut client = RawClient::introduced(&server(&waiting)).await;
    client.send(&[wait(1)]).await;
    soon(waiting.begun.notified()).await;
    client.send(&[wait(1)]).await;
    assert_eq!(client.receive().await["error"]["code"], -32600);
    waiting.go_on.notify_one();
    assert_eq!(client.receive().await["result"]["content"][0]["text"], "waited");
}

#[tokio::test]
async fn an_unreadable_response_is_not_answered() {
    let mut client = RawClient::introduced(&server(&Waiting::default())).await;
    client.send(&[json!({"id": 77, "error": "no"}), request(1, "ping", &json!({}))]).await;
    assert_eq!(client.receive().await["id"], 1);
}

#[tokio::test]
async fn a_subscription_ends_with_the_input() {
    let mut client = RawClient::new(&server(&Waiting::default()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    client.send(&[request(1, "subscriptions/listen", &params)]).await;
    let acknowledged = client.receive().await;
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}));
    client.input.shutdown().await.unwrap();
    let result = client.receive().await;
    assert_eq!(result["result"]["resultType"], "complete", "{result}");
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert!(soon(client.lines.next_line()).await.unwrap().is_none());
}
