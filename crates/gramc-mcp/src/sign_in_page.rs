//! The page where a browser ends after a sign-in.

use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::client::{PendingSignIn, SignInError};

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

    /// Waits for the browser, completes the sign-in, and shows the outcome. Answers of other sign-ins
    /// are ignored.
    pub async fn complete(self, sign_in: PendingSignIn) -> Result<(), SignInError> {
        let (sender, arrivals) = mpsc::channel(1);
        let app = Router::new().route(PATH, get(show)).with_state(sender);
        let stop = CancellationToken::new();
        // The page is sent before the server ends.
        let served =
            axum::serve(self.socket, app).with_graceful_shutdown(stop.clone().cancelled_owned());
        let address = format!("http://{}", self.address);
        let handled = async {
            let outcome = handle(arrivals, &address, sign_in).await;
            stop.cancel();
            outcome
        };
        let (served, outcome) = tokio::join!(served, handled);
        served.map_err(SignInError::NoBrowser)?;
        outcome
    }
}

/// A request of a browser, and where its page goes.
struct Arrival {
    uri: Uri,
    page: oneshot::Sender<(StatusCode, String)>,
}

async fn handle(
    mut arrivals: mpsc::Receiver<Arrival>,
    address: &str,
    sign_in: PendingSignIn,
) -> Result<(), SignInError> {
    let state = parameter(sign_in.page(), "state");
    while let Some(Arrival { uri, page }) = arrivals.recv().await {
        let url = format!("{address}{uri}");
        let is_answer = ["code", "error"].iter().any(|name| parameter(&url, name).is_some());
        if !is_answer || parameter(&url, "state") != state {
            let text = "This is not an answer to the sign-in that gramc waits for.".to_owned();
            // The browser may have gone.
            let _ = page.send((StatusCode::BAD_REQUEST, text));
            continue;
        }
        let outcome = sign_in.complete(&url).await;
        let text = match &outcome {
            Ok(()) => "You are signed in.".to_owned(),
            Err(error) => format!("The sign-in failed: {error}."),
        };
        let _ = page.send((StatusCode::OK, format!("{text} You can close this page.")));
        return outcome;
    }
    Err(SignInError::NoBrowser(io::ErrorKind::UnexpectedEof.into()))
}

fn parameter(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let found = url.query_pairs().find(|(key, _)| key == name);
    found.map(|(_, value)| value.into_owned())
}

async fn show(State(sender): State<mpsc::Sender<Arrival>>, uri: Uri) -> (StatusCode, String) {
    let (page, shown) = oneshot::channel();
    // A browser may request the page twice; the first request counts.
    let ended = || (StatusCode::OK, "The sign-in has ended. You can close this page.".to_owned());
    if sender.send(Arrival { uri, page }).await.is_err() {
        return ended();
    }
    shown.await.unwrap_or_else(|_| ended())
}
