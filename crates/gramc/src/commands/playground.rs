//! `gramc playground`

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::net::TcpListener;

use super::login::open_page;
use crate::args::Playground;
use crate::failure::{CLEAN, Failure, Outcome};
use crate::live;
use crate::output::say;

/// The variable that names the folder, which the packages set.
const VARIABLE: &str = "GRAMC_PLAYGROUND";

/// The files of the playground by path.
type Files = HashMap<String, (&'static str, Bytes)>;

pub(super) fn run(args: &Playground) -> Outcome {
    let folder = find_folder().ok_or_else(|| {
        Failure::new(
            "the playground is not installed: the npm package includes it, so run `npx gramc playground`, or \
             set GRAMC_PLAYGROUND to the folder that `node editors/playground/build.mjs` writes",
        )
    })?;
    let files = read(&folder).map_err(|error| Failure::path("read", &folder, &error))?;
    let fragment = match &args.file {
        Some(path) => {
            let text = fs::read_to_string(path);
            let text = text.map_err(|error| Failure::path("read", path, &error))?;
            format!("#text={}", utf8_percent_encode(&text, NON_ALPHANUMERIC))
        }
        None => String::new(),
    };
    live::run(serve(args.port, files, &fragment))?
}

/// Finds the folder that the variable names, or the one beside the program.
fn find_folder() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).map(PathBuf::from);
    let program = env::current_exe().and_then(|program| program.canonicalize()).ok();
    let beside = program.as_deref().and_then(Path::parent);
    let beside = beside
        .into_iter()
        .flat_map(|folder| [folder.join("playground"), folder.join("../share/gramc/playground")]);
    named.into_iter().chain(beside).find(|folder| folder.join("index.html").is_file())
}

fn read(folder: &Path) -> io::Result<Files> {
    let mut files = Files::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if let (Some(name), true) = (path.file_name().and_then(|it| it.to_str()), path.is_file()) {
            files.insert(format!("/{name}"), (media_type(name), fs::read(&path)?.into()));
        }
    }
    // The npm package has the module once.
    let module = folder.join("../web/gramc.wasm");
    if !files.contains_key("/gramc.wasm") && module.is_file() {
        files
            .insert("/gramc.wasm".to_owned(), (media_type("gramc.wasm"), fs::read(module)?.into()));
    }
    files.extend(files.get("/index.html").cloned().map(|page| ("/".to_owned(), page)));
    Ok(files)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

async fn serve(port: u16, files: Files, fragment: &str) -> Outcome {
    let cannot = |error: io::Error| {
        Failure::new(format!("cannot listen at port {port}: {error}; choose another --port"))
    };
    let socket = TcpListener::bind(("127.0.0.1", port)).await.map_err(cannot)?;
    let address = socket.local_addr().map_err(cannot)?;
    let page = format!("http://{address}/");
    say(format_args!("The playground is at {page} until you press Ctrl-C."));
    if io::stderr().is_terminal() {
        open_page(&format!("{page}{fragment}"));
    }
    let router = Router::new().fallback(answer).with_state(Arc::new(files));
    tokio::select! {
        served = axum::serve(socket, router).into_future() => served.map_err(cannot)?,
        // Browsers keep connections open, so they are cut.
        _ = live::next_signal() => {}
    }
    Ok(CLEAN)
}

async fn answer(State(files): State<Arc<Files>>, uri: Uri) -> Response {
    match files.get(uri.path()) {
        // Another version of gramc may have another playground.
        Some((media_type, content)) => {
            ([(CONTENT_TYPE, *media_type), (CACHE_CONTROL, "no-cache")], content.clone())
                .into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
