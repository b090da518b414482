//! Which pages may talk to the server: those that it has served itself. (That a program may, its `token` says.)
//!
//! Any page in the user's browser can send requests to an address of this machine. Two headers that
//! a page cannot forge keep it out. `Origin` names the page: it must be the server's own. `Host`
//! is the name by which the browser knows the server: if it could be any name, a page could have its own
//! name point here (DNS rebinding), and be taken for the server's own.

use std::net::{IpAddr, Ipv6Addr};

/// Whether the server may be known by this name: an address, or `localhost`, with any port (that of a
/// tunnel may be another). A server that is for this machine alone is known by loopback addresses only.
pub(super) fn host_is_known(host: Option<&str>, is_loopback: bool) -> bool {
    let Some(host) = host else { return false };
    let Some(name) = name_of(host) else { return false };
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().map(IpAddr::V6).ok(),
        None => name.parse().ok().filter(IpAddr::is_ipv4),
    };
    address.is_some_and(|address| address.is_loopback() || !is_loopback)
}

/// Whether a page may talk to the server by this name: only one that came from there. Programs that are
/// no browsers name no origin.
pub(super) fn origin_is_own(origin: Option<&str>, host: Option<&str>) -> bool {
    match (origin, host) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.strip_prefix("http://").is_some_and(|o| o.eq_ignore_ascii_case(host)),
        (Some(_), None) => false,
    }
}

/// The name without its port.
fn name_of(host: &str) -> Option<&str> {
    let port_is_sound = |port: &str| port.parse::<u16>().is_ok();
    match host.rsplit_once(':') {
        // The last colon of an IPv6 address without a port stands inside the brackets.
        Some((name, port)) if !port.ends_with(']') => port_is_sound(port).then_some(name),
        _ => Some(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine() {
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost:8737", "LOCALHOST", "[::1]:1", "[::1]", "127.9.9.9:5"] {
            assert!(host_is_known(Some(host), true), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "192.168.1.7:80",
            "0.0.0.0",
            "[::1",
            "::1",
            "",
            ":80",
            "127.0.0.1:99999",
            "127.0.0.1:80:80",
            "user@127.0.0.1",
        ] {
            assert!(!host_is_known(Some(host), true), "{host}");
        }
        assert!(!host_is_known(None, true));
    }

    #[test]
    fn a_server_for_others_is_known_by_its_addresses_but_no_name() {
        assert!(host_is_known(Some("192.168.1.7:80"), false) && host_is_known(Some("[fe80::1]:80"), false));
        assert!(!host_is_known(Some("evil.example:80"), false));
    }

    #[test]
    fn only_the_own_page() {
        let host = Some("localhost:8737");
        assert!(origin_is_own(None, host) && origin_is_own(Some("http://localhost:8737"), host));
        for origin in ["http://localhost", "http://localhost:3000", "https://localhost:8737", "null", "file://", ""] {
            assert!(!origin_is_own(Some(origin), host), "{origin}");
        }
    }
}
