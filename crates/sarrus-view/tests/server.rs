//! The server as a stranger finds it: raw bytes over TCP.

mod common;

use common::{live, read, request, shipped};
use sarrus_view::{Live, ServerOptions, Viewer, page};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// Defines what an answer may take on a machine that is busy.
const LONG: Duration = Duration::from_secs(20);

struct Server {
    viewer: Viewer,
    live: Arc<Live>,
    /// `/TOKEN`
    base: String,
}

fn server() -> Server {
    let (model, system) = shipped("pendulum");
    let (_, live, _) = live(&model, &system, &request(0.1, 1e-3), 1 << 28);
    let viewer = Viewer::start(&ServerOptions::default(), vec![("pendulum".into(), live.clone())]).unwrap();
    let path = viewer.url().splitn(4, '/').nth(3).unwrap().trim_end_matches('/').to_string();
    Server { viewer, live, base: format!("/{path}") }
}

impl Server {
    /// Sends bytes and reads until the other side closes, or says nothing for so long.
    fn send(&self, bytes: &[u8], patience: Duration) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.viewer.address()).unwrap();
        stream.set_read_timeout(Some(patience)).unwrap();
        // the other side may have closed already
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn ask(&self, method: &str, path: &str, more: &str) -> (u16, String, Vec<u8>) {
        let host = self.viewer.address();
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
        split(&self.send(request.as_bytes(), LONG))
    }

    fn get(&self, rest: &str) -> (u16, String, Vec<u8>) {
        self.ask("GET", &format!("{}{rest}", self.base), "")
    }
}

fn split(answer: &[u8]) -> (u16, String, Vec<u8>) {
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(answer.len());
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut body = answer.get(end + 4..).unwrap_or_default().to_vec();
    if head.contains("transfer-encoding: chunked") {
        body = unchunk(&body);
    }
    (status, head, body)
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(line) = bytes.windows(2).position(|w| w == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        whole.extend_from_slice(&bytes[line + 2..line + 2 + size]);
        bytes = &bytes[line + 4 + size..];
    }
    whole
}

#[test]
fn who_knows_the_address_gets_page_scene_and_frames_with_strict_headers() {
    let server = server();
    let (status, head, body) = server.get("/");
    assert_eq!(status, 200);
    assert_eq!(body, page::file("index.html").unwrap());
    for line in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(head.contains(line), "{line} in\n{head}");
    }
    let (_, _, manifest) = server.get("/view.json");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!((&manifest["format"], &manifest["runs"][0]["live"]), (&"sarrus-view/1".into(), &false.into()));
    let (_, _, scene) = server.get(&format!("/{}", manifest["runs"][0]["scene"].as_str().unwrap()));
    assert_eq!(scene, server.live.scene());
    let (status, _, frames) = server.get(&format!("/{}", manifest["runs"][0]["frames"].as_str().unwrap()));
    assert_eq!((status, read(&frames).t.len()), (200, 101));
    let (status, _, late) = server.get("/run/0/frames.bin?from=101");
    assert_eq!((status, read(&late).t.len()), (200, 0));
    let (status, head, body) = server.ask("HEAD", &format!("{}/view.json", server.base), "");
    assert_eq!((status, body.len()), (200, 0), "{head}");
    // relative addresses need the slash
    let (status, head, _) = server.get("");
    assert!(status == 308 && head.contains(&format!("location: {}/", server.base)), "{head}");
}

#[test]
fn a_wrong_token_or_none_is_refused() {
    let server = server();
    let token = &server.base[1..];
    let mut wrong = token.to_string();
    wrong.replace_range(31.., if token.ends_with('0') { "1" } else { "0" });
    for path in [
        "/",
        "/view.json",
        &format!("/{wrong}/"),
        &format!("/{wrong}/view.json"),
        &format!("/{}/", &token[..31]),
        &format!("//{token}/"),
    ] {
        let (status, head, body) = server.ask("GET", path, "");
        assert_eq!(status, 403, "{path}");
        assert!(head.contains("content-security-policy"), "{head}");
        assert!(!String::from_utf8_lossy(&body).contains(token));
    }
    let other = self::server();
    assert_ne!(other.base, server.base);
}

#[test]
fn foreign_hosts_and_origins_are_refused_though_the_token_is_right() {
    let server = server();
    let (address, base) = (server.viewer.address(), &server.base);
    let raw = |lines: &str| {
        split(
            &server
                .send(format!("GET {base}/ HTTP/1.1\r\n{lines}Connection: close\r\n\r\n").as_bytes(), LONG),
        )
        .0
    };
    assert_eq!(raw(&format!("Host: {address}\r\n")), 200);
    assert_eq!(
        raw(&format!(
            "Host: localhost:{}\r\nOrigin: http://localhost:{}\r\n",
            address.port(),
            address.port()
        )),
        200
    );
    assert_eq!(raw("Host: evil.example\r\n"), 403);
    assert_eq!(raw(&format!("Host: evil.example:{}\r\n", address.port())), 403);
    assert_eq!(raw(&format!("Host: {address}\r\nOrigin: http://evil.example\r\n")), 403);
    assert_eq!(raw(&format!("Host: {address}\r\nOrigin: null\r\n")), 403);
    assert_eq!(raw(&format!("Host: {address}\r\nSec-Fetch-Site: cross-site\r\n")), 403);
    assert!([400, 403].contains(&raw("")));
}

#[test]
fn nothing_but_the_page_and_the_runs_can_be_reached() {
    let server = server();
    for rest in [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/run/0/../../../etc/passwd",
        "/run/0/",
        "/run/",
        "/run/1/scene.json",
        "/run/-1/scene.json",
        "/run/99999999999999999999/scene.json",
        "/run/0/trajectory.csv",
        "/src/main.ts",
        "/dist/",
        "//etc/passwd",
        "/index.html/",
        "/\\..\\..\\x",
        "/%00",
    ] {
        let (status, _, body) = server.get(rest);
        assert!([400, 404].contains(&status), "{rest}: {status}");
        assert!(!body.windows(5).any(|w| w == b"root:"), "{rest}");
    }
    assert_eq!(server.get("/run/0/frames.bin?from=x").0, 400);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        assert_eq!(server.ask(method, &format!("{}/view.json", server.base), "").0, 405, "{method}");
    }
}

#[test]
fn malformed_requests_are_answered_and_the_server_lives_on() {
    let server = server();
    let address = server.viewer.address();
    let huge =
        format!("GET {}/ HTTP/1.1\r\nHost: {address}\r\nX: {}\r\n\r\n", server.base, "a".repeat(2 << 20));
    let many = format!("GET {}/ HTTP/1.1\r\nHost: {address}\r\n{}\r\n", server.base, "A: b\r\n".repeat(5000));
    let long = format!("GET /{} HTTP/1.1\r\nHost: {address}\r\n\r\n", "a".repeat(1 << 20));
    let noise: Vec<u8> = (0..4096_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let bad: Vec<Vec<u8>> = vec![
        b"\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"GET /\x00\xff HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_vec(),
        b"GET * HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        huge.into_bytes(),
        many.into_bytes(),
        long.into_bytes(),
        noise,
    ];
    let mut answered = 0;
    for (i, bytes) in bad.iter().enumerate() {
        // what could still become a request is waited for, so its sender hears nothing
        let (status, ..) = split(&server.send(bytes, Duration::from_millis(700)));
        assert!(status == 0 || (400..600).contains(&status), "request {i}: {status}");
        answered += usize::from(status != 0);
        assert_eq!(server.get("/view.json").0, 200, "after request {i}");
    }
    assert!(answered >= bad.len() - 3, "{answered} of {} answered", bad.len());
}

/// A reader that takes nothing holds up no one, and one that comes later gets everything.
#[test]
fn a_browser_that_does_not_read_keeps_nobody_waiting() {
    let server = server();
    let mut idle = TcpStream::connect(server.viewer.address()).unwrap();
    let request =
        format!("GET {}/run/0/frames.bin HTTP/1.1\r\nHost: {}\r\n\r\n", server.base, server.viewer.address());
    idle.write_all(request.as_bytes()).unwrap();
    let (model, system) = shipped("pendulum");
    let (_, slow, _) = live(&model, &system, &common::request(0.5, 1e-4), 1 << 28);
    assert!(slow.is_done());
    assert_eq!(read(&server.get("/run/0/frames.bin").2).t.len(), 101);
}

/// The answer stays open while the run continues and ends with it.
#[test]
fn frames_of_a_run_that_goes_on_come_as_they_are_made() {
    use sarrus_view::motion::drawn;
    let (model, system) = shipped("pendulum");
    let (scene, _) = common::scene(&model, &system, &request(0.1, 1e-3));
    let live = Live::begin(&scene, drawn(&system.directory).count());
    let viewer = Viewer::start(&ServerOptions::default(), vec![("a".into(), live.clone())]).unwrap();
    let path = format!("/{}run/0/frames.bin", viewer.url().splitn(4, '/').nth(3).unwrap());
    let mut stream = TcpStream::connect(viewer.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", viewer.address());
    stream.write_all(request.as_bytes()).unwrap();
    let mut got = Vec::new();
    let until = |stream: &mut TcpStream, word: &[u8], got: &mut Vec<u8>| {
        let mut part = [0; 4096];
        while !got.windows(word.len()).any(|w| w == word) {
            let n = stream.read(&mut part).expect("more comes within seconds");
            assert!(n > 0, "the answer ended early");
            got.extend_from_slice(&part[..n]);
        }
    };
    until(&mut stream, b"SRSF", &mut got);
    live.note(&serde_json::json!({ "type": "progress", "t": 0.05, "t_end": 0.1 }));
    until(&mut stream, b"progress", &mut got);
    live.finish(&scene, None);
    stream.read_to_end(&mut got).unwrap();
    let notes = read(&split(&got).2).notes;
    let kinds: Vec<&str> = notes.iter().map(|note| note["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["progress", "end"]);
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let server = server();
    let port = server.viewer.address().port();
    let error = Viewer::start(&ServerOptions { port, ..ServerOptions::default() }, vec![]).unwrap_err();
    assert!(error.to_string().contains(&port.to_string()), "{error}");
    let error = Viewer::start(&ServerOptions { host: "no such host".into(), port: 0 }, vec![]).unwrap_err();
    assert!(error.to_string().contains("no such host"), "{error}");
}
