//! The viewer's server: a page and its runs, on loopback unless asked.
//!
//! Who may read: the caller that knows the address, which has 128 random bits in its path. Beside that every request must name this server as its
//! `Host` (a foreign name that resolves here does not do), and come from the page itself or from nowhere (`Origin`,
//! `Sec-Fetch-Site`). Paths are compared, never opened: there is no file to reach. Only GET and HEAD.
//!
//! It runs on a thread of its own and ends with the program.

mod guard;

pub use guard::Guard;

use crate::live::Live;
use crate::page;
use crate::scene::FORMAT;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Defines what a page may do: load its own files, and draw.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Bytes handed to a connection at once; more wait where they are.
const QUEUE: usize = 8;

/// Marks the point to which listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOptions {
    /// Address or name; loopback where nothing else is said.
    pub host: String,
    /// 0 for any that is free.
    pub port: u16,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions { host: "127.0.0.1".into(), port: 0 }
    }
}

/// The server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    /// The name means no address.
    #[error("`{host}` is no address of this machine: {source}")]
    Host {
        /// As it was given.
        host: String,
        /// Reason why not.
        source: io::Error,
    },
    /// The port is taken, or may not be used.
    #[error("cannot listen on {host} port {port}: {source}")]
    Listen {
        /// As it was given.
        host: String,
        /// As it was given.
        port: u16,
        /// Reason why not.
        source: io::Error,
    },
    /// The system refuses random numbers or threads.
    #[error("the viewer cannot start: {0}")]
    Start(String),
}

/// A server that runs.
#[derive(Debug)]
pub struct Viewer {
    url: String,
    address: SocketAddr,
}

struct ServerState {
    guard: Guard,
    runs: Vec<(String, Arc<Live>)>,
}

impl Viewer {
    /// Serves runs, each with a name, from now on.
    pub fn start(options: &ServerOptions, runs: Vec<(String, Arc<Live>)>) -> Result<Viewer, ViewerError> {
        let ServerOptions { host, port } = options.clone();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found = (bare, port)
            .to_socket_addrs()
            .map_err(|source| ViewerError::Host { host: host.clone(), source })?;
        let addresses: Vec<SocketAddr> = found.collect();
        let listener = TcpListener::bind(&addresses[..])
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|source| ViewerError::Listen { host: host.clone(), port, source })?;
        let address = listener.local_addr().map_err(|error| ViewerError::Start(error.to_string()))?;
        let guard = Guard::new(bare, address).map_err(ViewerError::Start)?;
        let url = guard.url();
        let shared = Arc::new(ServerState { guard, runs });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ViewerError::Start(error.to_string()))?;
        let serve = move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let app = Router::new().fallback(answer).with_state(shared);
                // it ends with the program only
                let _ = axum::serve(listener, app).await;
            });
        };
        let thread = std::thread::Builder::new().name("viewer".into());
        thread.spawn(serve).map_err(|error| ViewerError::Start(error.to_string()))?;
        Ok(Viewer { url, address })
    }

    /// Returns where the page is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns whether only this machine can reach it.
    pub fn is_private(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Opens a browser; returns whether there is one to ask.
    pub fn open(&self) -> bool {
        use std::process::{Command, Stdio};
        let mut command = if cfg!(target_os = "macos") {
            Command::new("open")
        } else if cfg!(windows) {
            let mut command = Command::new("cmd");
            command.args(["/C", "start", ""]);
            command
        } else {
            if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
                return false;
            }
            Command::new("xdg-open")
        };
        let command = command.arg(&self.url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(mut child) => {
                // so that no zombie stays
                std::thread::spawn(move || child.wait());
                true
            }
            Err(_) => false,
        }
    }
}

async fn answer(State(shared): State<Arc<ServerState>>, request: Request) -> Response {
    let mut response = route(&shared, &request);
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn route(shared: &ServerState, request: &Request) -> Response {
    if let Err(why) = shared.guard.check(request.headers()) {
        return text(StatusCode::FORBIDDEN, why);
    }
    let path = request.uri().path();
    let Some(rest) = shared.guard.strip(path) else {
        return text(StatusCode::FORBIDDEN, "wrong address: take the whole one that `sarrus` printed");
    };
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return text(StatusCode::METHOD_NOT_ALLOWED, "only GET");
    }
    match rest {
        // relative addresses of the page need the slash
        "" => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, format!("{path}/"))]).into_response(),
        "/" | "/index.html" => page_file("index.html"),
        "/view.json" => json_bytes(manifest(shared).into()),
        _ => match rest.strip_prefix("/run/").and_then(|run| run.split_once('/')) {
            Some((number, file)) => run_file(shared, number, file, request),
            None => page_file(&rest[1..]),
        },
    }
}

fn run_file(shared: &ServerState, number: &str, file: &str, request: &Request) -> Response {
    let run = number.parse::<usize>().ok().and_then(|number| shared.runs.get(number));
    match (run, file) {
        (Some((_, live)), "scene.json") => json_bytes(live.scene()),
        (Some((_, live)), "frames.bin") => {
            let query = request.uri().query().unwrap_or_default();
            let from = query.split('&').find_map(|pair| pair.strip_prefix("from="));
            match from.map_or(Ok(0), str::parse::<usize>) {
                Ok(from) => frames(live, from, request.method() == Method::HEAD),
                Err(_) => text(StatusCode::BAD_REQUEST, "`from` is the number of a frame"),
            }
        }
        _ => text(StatusCode::NOT_FOUND, "there is no such thing here"),
    }
}

fn manifest(shared: &ServerState) -> String {
    let runs: Vec<_> = shared
        .runs
        .iter()
        .enumerate()
        .map(|(i, (name, live))| {
            json!({
                "name": name,
                "scene": format!("run/{i}/scene.json"),
                "frames": format!("run/{i}/frames.bin"),
                "live": !live.is_done(),
            })
        })
        .collect();
    json!({ "format": FORMAT, "runs": runs }).to_string()
}

fn text(status: StatusCode, message: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{message}\n")).into_response()
}

fn json_bytes(bytes: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}

fn page_file(name: &str) -> Response {
    let kind = match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        _ => "application/octet-stream",
    };
    match page::file(name) {
        Some(bytes) => ([(header::CONTENT_TYPE, kind)], Bytes::from_static(bytes)).into_response(),
        None => text(StatusCode::NOT_FOUND, "there is no such thing here"),
    }
}

/// The frames so far, and those to come, in one answer.
fn frames(live: &Arc<Live>, from: usize, head: bool) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    if head {
        return (kind, ()).into_response();
    }
    let (sender, receiver) = mpsc::channel(QUEUE);
    let live = live.clone();
    tokio::spawn(async move {
        let mut news = live.subscribe();
        if sender.send(live.header()).await.is_err() {
            return;
        }
        let mut index = 0;
        loop {
            news.borrow_and_update();
            let (blocks, next, done) = live.after(index, from);
            index = next;
            for block in blocks {
                // those who asked has gone
                if sender.send(block).await.is_err() {
                    return;
                }
            }
            if done {
                return;
            }
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    });
    (kind, Body::from_stream(FrameStream(receiver))).into_response()
}

/// Blocks as they come.
struct FrameStream(mpsc::Receiver<Bytes>);

impl futures_core::Stream for FrameStream {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|block| block.map(Ok))
    }
}
