//! Describes who may ask: the token in the path, the name in `Host`, the page in `Origin`.

use axum::http::{HeaderMap, header};
use std::net::{IpAddr, SocketAddr};

/// Bytes of the token.
const TOKEN: usize = 16;

/// Knows who may ask.
#[derive(Debug, Clone)]
pub struct Guard {
    token: String,
    /// `Host` without the port, in small letters.
    names: Vec<String>,
    /// True if any address as `Host` does: the server listens on all of them.
    any_address: bool,
    port: u16,
    shown: String,
}

impl Guard {
    /// For a server that was asked to listen on `host` and does so at `address`.
    pub fn new(host: &str, address: SocketAddr) -> Result<Guard, String> {
        let mut bytes = [0_u8; TOKEN];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers: {error}"))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let bracketed = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let mut names = vec![bracketed(address.ip()), host.to_ascii_lowercase()];
        if address.ip().is_loopback() {
            names.push("localhost".into());
        }
        let any_address = address.ip().is_unspecified();
        if any_address {
            names.push("localhost".into());
        }
        let shown = if any_address { "127.0.0.1".into() } else { bracketed(address.ip()) };
        Ok(Guard { token, names, any_address, port: address.port(), shown })
    }

    /// Returns where the page is.
    pub fn url(&self) -> String {
        format!("http://{}:{}/{}/", self.shown, self.port, self.token)
    }

    /// Returns whether a `Host`, or what follows `http://` in an `Origin`, is this server.
    fn is_us(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse::<u16>().ok()),
            _ => (host.as_str(), Some(80)),
        };
        if port != Some(self.port) {
            return false;
        }
        let inner = name.trim_start_matches('[').trim_end_matches(']');
        self.names.iter().any(|known| known == name) || self.any_address && inner.parse::<IpAddr>().is_ok()
    }

    /// Refuses requests that were meant for someone else or that another page sends.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        match (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) {
            (Some(host), None) if self.is_us(host) => {}
            _ => return Err("this server has another name; give its name with --host"),
        }
        for origin in headers.get_all(header::ORIGIN) {
            let ours =
                origin.to_str().ok().and_then(|o| o.strip_prefix("http://")).is_some_and(|o| self.is_us(o));
            if !ours {
                return Err("another page asks");
            }
        }
        // browsers say this of themselves, and no page can change it; `none` is an address typed or clicked elsewhere
        match headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default()) {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) if headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate") => Ok(()),
            Some(_) => Err("another page asks"),
        }
    }

    /// Returns what follows the token in a path; none where it is not the right one.
    pub fn strip<'a>(&self, path: &'a str) -> Option<&'a str> {
        let path = path.strip_prefix('/')?;
        let (given, rest) = path.split_at_checked(self.token.len())?;
        // as long for every wrong one, so that the time tells nothing
        let differs = given.bytes().zip(self.token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        (differs == 0 && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn guard(host: &str, address: &str) -> Guard {
        Guard::new(host, address.parse().unwrap()).unwrap()
    }

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in list {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    #[test]
    fn only_its_own_name_and_port_are_host() {
        let guard = guard("127.0.0.1", "127.0.0.1:4321");
        for good in ["127.0.0.1:4321", "localhost:4321", "LOCALHOST:4321"] {
            assert!(guard.check(&headers(&[("host", good)])).is_ok(), "{good}");
        }
        for bad in [
            "evil.example:4321",
            "127.0.0.1",
            "127.0.0.1:4322",
            "localhost.evil.example:4321",
            "",
            ":4321",
            "10.0.0.1:4321",
        ] {
            assert!(guard.check(&headers(&[("host", bad)])).is_err(), "{bad}");
        }
        assert!(guard.check(&headers(&[])).is_err());
        assert!(guard.check(&headers(&[("host", "127.0.0.1:4321"), ("host", "127.0.0.1:4321")])).is_err());
    }

    #[test]
    fn a_server_on_all_addresses_takes_addresses_but_no_foreign_names() {
        let guard = guard("0.0.0.0", "0.0.0.0:80");
        assert!(guard.check(&headers(&[("host", "192.168.1.5")])).is_ok());
        assert!(guard.check(&headers(&[("host", "[fe80::1]:80")])).is_ok());
        assert!(guard.check(&headers(&[("host", "evil.example")])).is_err());
    }

    #[test]
    fn other_pages_are_refused() {
        let guard = guard("localhost", "[::1]:99");
        let ask = |name, value: &str| guard.check(&headers(&[("host", "[::1]:99"), (name, value)]));
        assert!(ask("origin", "http://[::1]:99").is_ok() && ask("origin", "http://localhost:99").is_ok());
        for bad in [
            "http://evil.example",
            "null",
            "https://[::1]:99",
            "http://[::1]:98",
            "http://[::1]:99.evil.example",
        ] {
            assert!(ask("origin", bad).is_err(), "{bad}");
        }
        assert!(ask("sec-fetch-site", "cross-site").is_err() && ask("sec-fetch-site", "same-site").is_err());
        assert!(ask("sec-fetch-site", "same-origin").is_ok() && ask("sec-fetch-site", "none").is_ok());
    }

    #[test]
    fn the_token_must_be_whole() {
        let guard = guard("127.0.0.1", "127.0.0.1:1");
        let token = guard.token.clone();
        assert_eq!(token.len(), 32);
        assert_eq!(guard.strip(&format!("/{token}/view.json")), Some("/view.json"));
        assert_eq!(guard.strip(&format!("/{token}")), Some(""));
        for bad in [
            "/",
            "/x",
            "",
            &format!("/{token}x"),
            &format!("/{}/", &token[1..]),
            &format!("//{token}/"),
            "/éééééééééééééééé/",
        ] {
            assert_eq!(guard.strip(bad), None, "{bad}");
        }
        assert_ne!(token, self::guard("127.0.0.1", "127.0.0.1:1").token);
    }
}
