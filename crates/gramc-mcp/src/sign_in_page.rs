//! The page where a browser ends after a sign-in.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const PATH: &str = "/callback";

/// Waits for a browser that an authorization server sends back to this machine.
pub struct SignInPage {
    socket: TcpListener,
    address: SocketAddr,
}

impl SignInPage {
    /// Listens on the loopback interface. Port 0 selects a free port.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let socket = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Waits for the browser, and returns the address with the parameters of the authorization
    /// server.
    pub async fn wait(self) -> io::Result<String> {
        let (arrived, stop) = (Arc::new(OnceLock::new()), CancellationToken::new());
        let app =
            Router::new().route(PATH, get(show)).with_state((Arc::clone(&arrived), stop.clone()));
        // The page is sent before the server ends.
        axum::serve(self.socket, app).with_graceful_shutdown(stop.cancelled_owned()).await?;
        let arrived = arrived.get().map(ToString::to_string).unwrap_or_default();
        Ok(format!("http://{}{arrived}", self.address))
    }
}

type Arrival = (Arc<OnceLock<Uri>>, CancellationToken);

async fn show(State((arrived, stop)): State<Arrival>, uri: Uri) -> (StatusCode, &'static str) {
    let names =
        uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split('=').next());
    if !names.into_iter().any(|name| matches!(name, "code" | "error")) {
        return (StatusCode::BAD_REQUEST, "This address has no answer of an authorization server.");
    }
    // A second answer changes nothing.
    let _ = arrived.set(uri);
    stop.cancel();
    (StatusCode::OK, "gramc has received the answer. You can close this page.")
}
