//! The MCP server of one program that gramc runs.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use gramc_tools::approval::Approvals;
use smol_str::SmolStr;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::offer::OfferSource;
use crate::{CallObserver, Listener, ServeError, Server, ServerOptions};

/// Time for a program to say which server it means.
const MAX_HELLO_TIME: Duration = Duration::from_secs(5);
/// Maximum bytes of the line in which it does.
const MAX_HELLO_BYTES: u64 = 100;

/// A server for one program: over HTTP, and over a socket that [`bridge`] connects with standard
/// input and output. Both ends are on this machine and cannot be guessed. Dropping it ends it.
#[derive(Debug)]
pub struct ProgramServer {
    url: String,
    socket: SocketAddr,
    secret: String,
    _stop: DropGuard,
}

impl ProgramServer {
    /// The URL for clients of streamable HTTP.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The arguments of [`bridge`].
    pub fn bridge_arguments(&self) -> [String; 2] {
        [self.socket.to_string(), self.secret.clone()]
    }
}

impl Server {
    /// Serves the tools and containers of the given names to one program, until the result is
    /// dropped. Its calls are reported to the observer.
    pub async fn serve_program(
        &self,
        names: &[SmolStr],
        approvals: &Approvals,
        observer: Box<CallObserver>,
    ) -> Result<ProgramServer, ServeError> {
        let OfferSource::Fixed(offer) = &self.0.source else {
            return Err(ServeError::Tool("programs cannot use a live server".to_owned()));
        };
        let source = OfferSource::Fixed(Arc::clone(offer));
        let approvals = approvals.clone();
        let observer = Some(observer);
        let options = ServerOptions { approvals, observer, ..ServerOptions::default() };
        let server = Self::of_source(source, Some(names.into()), options);
        let secret = Uuid::new_v4().simple().to_string();
        let listener = Listener::bind_hidden(&secret).await?;
        let wrong = |error: io::Error| ServeError::Address(format!("no port is free: {error}"));
        let sockets = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(wrong)?;
        let (url, socket) = (listener.url(), sockets.local_addr().map_err(wrong)?);
        let stop = CancellationToken::new();
        let (over, http) = (stop.clone().cancelled_owned(), server.clone());
        // An error only ends the server early, of which its client hears.
        tokio::spawn(async move { http.over_http(listener, over).await });
        tokio::spawn(server.accept(sockets, secret.clone(), stop.clone()));
        Ok(ProgramServer { url, socket, secret, _stop: stop.drop_guard() })
    }

    /// Serves the clients that come to a socket.
    async fn accept(self, sockets: TcpListener, secret: String, stop: CancellationToken) {
        loop {
            let client = tokio::select! {
                () = stop.cancelled() => return,
                client = sockets.accept() => client,
            };
            // A client may have gone before it was accepted.
            let Ok((client, _)) = client else { continue };
            let (server, secret, stop) = (self.clone(), secret.clone(), stop.clone());
            tokio::spawn(async move {
                let (input, output) = client.into_split();
                let mut input = BufReader::new(input);
                let mut hello = String::new();
                let mut beginning = (&mut input).take(MAX_HELLO_BYTES);
                let read = beginning.read_line(&mut hello);
                if let Ok(Ok(_)) = tokio::time::timeout(MAX_HELLO_TIME, read).await
                    && hello.trim_end() == secret
                {
                    // A client that does not speak MCP only harms itself.
                    let _ = server.over(input, output, stop.cancelled()).await;
                }
            });
        }
    }
}

/// Connects standard input and output with a [`ProgramServer`] until one of them ends.
pub async fn bridge(address: &str, secret: &str) -> io::Result<()> {
    let (mut from_server, mut to_server) = TcpStream::connect(address).await?.into_split();
    to_server.write_all(format!("{secret}\n").as_bytes()).await?;
    let send = async {
        tokio::io::copy(&mut tokio::io::stdin(), &mut to_server).await?;
        to_server.shutdown().await
    };
    let receive = async {
        let mut output = tokio::io::stdout();
        let (mut part, mut length) = (vec![0; 64 << 10], 1);
        while length > 0 {
            length = from_server.read(&mut part).await?;
            output.write_all(&part[..length]).await?;
            output.flush().await?;
        }
        Ok(())
    };
    let mut receive = std::pin::pin!(receive);
    tokio::select! {
        received = &mut receive => received,
        // The last answers follow the end of the input.
        sent = send => match sent {
            Ok(()) => receive.await,
            Err(error) => Err(error),
        },
    }
}
