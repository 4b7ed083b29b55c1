//! A Dubbo URL: `protocol://[user[:password]@]host[:port][/path][?key=value&...]`. A value at the
//! edge only: parsed once when a list or a configuration is read, never on the way of a call.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Left as they are in values, as `java.net.URLEncoder` does, plus those that no parser of such
/// URLs trips over.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'*')
    .remove(b'/')
    .remove(b':')
    .remove(b',')
    .remove(b'~');

/// One parsed URL.
#[derive(Clone, Debug, Default, Eq, PartialEq, Hash)]
pub struct Url {
    /// Scheme; empty when the text named none.
    pub protocol: String,
    /// User name, or empty.
    pub user: String,
    /// Password, or empty.
    pub password: String,
    /// Host name or IP address, without brackets and (outside `fe80::/10`) without a zone.
    pub host: String,
    /// Port, 0 when the text named none.
    pub port: u16,
    /// Path without its leading slash, or empty.
    pub path: String,
    /// Parameters in the order of the text; the last of equal keys wins.
    pub params: Vec<(String, String)>,
}

/// What is wrong with a URL.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("bad address {text:?}: {reason}")]
pub struct UrlError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Url {
    /// Reads a URL. The scheme may be left out (`10.0.0.1:20880?weight=5`).
    ///
    /// # Errors
    /// No host, an unclosed bracket, a port outside 1..=65535.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let bad = |reason| UrlError { text: text.to_owned(), reason };
        let trimmed = text.trim();
        let (protocol, rest) = match trimmed.split_once("://") {
            Some((p, rest)) => (p.to_owned(), rest),
            None => (String::new(), trimmed),
        };
        if !protocol.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
            return Err(bad("the scheme has a character that no scheme has"));
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, query),
            None => (rest, ""),
        };
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, path),
            None => (rest, ""),
        };
        let (login, authority) = match authority.rsplit_once('@') {
            Some((login, authority)) => (login, authority),
            None => ("", authority),
        };
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = host_and_port(authority).map_err(bad)?;
        let mut url = Self {
            protocol,
            user: decode(user),
            password: decode(password),
            host,
            port,
            path: decode(path),
            params: Vec::new(),
        };
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            url.set(&decode_form(key), &decode_form(value));
        }
        Ok(url)
    }

    /// The value of `key`; an empty value counts as absent.
    pub fn param(&self, key: &str) -> Option<&str> {
        let (_, value) = self.params.iter().rev().find(|(k, _)| k == key)?;
        (!value.is_empty()).then_some(value.as_str())
    }

    /// The value of `method.key`, else of `key`.
    pub fn method_param(&self, method: &str, key: &str) -> Option<&str> {
        self.own_method_param(method, key).or_else(|| self.param(key))
    }

    /// The value of `method.key` alone. With a `methods=a,b` parameter only the methods it lists
    /// have keys of their own.
    pub fn own_method_param(&self, method: &str, key: &str) -> Option<&str> {
        let listed = match self.param("methods") {
            Some(methods) => methods.split(',').any(|m| m.trim() == method),
            None => true,
        };
        let is_own = |k: &str| {
            k.strip_prefix(method).and_then(|k| k.strip_prefix('.')).is_some_and(|k| k == key)
        };
        let (_, value) = self.params.iter().rev().find(|(k, _)| listed && is_own(k))?;
        (!value.is_empty()).then_some(value.as_str())
    }

    /// Sets a parameter, replacing an earlier value.
    pub fn set(&mut self, key: &str, value: &str) {
        match self.params.iter_mut().find(|(k, _)| k == key) {
            Some((_, v)) => value.clone_into(v),
            None => self.params.push((key.to_owned(), value.to_owned())),
        }
    }

    /// `host:port` with brackets around an IPv6 host; the host alone without a port. This text is
    /// what hash rings, reports and rules use.
    pub fn address(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == 0 { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.protocol.is_empty() {
            write!(f, "{}://", self.protocol)?;
        }
        if !self.user.is_empty() || !self.password.is_empty() {
            write!(f, "{}", utf8_percent_encode(&self.user, NON_ALPHANUMERIC))?;
            if !self.password.is_empty() {
                write!(f, ":{}", utf8_percent_encode(&self.password, NON_ALPHANUMERIC))?;
            }
            f.write_str("@")?;
        }
        f.write_str(&self.address())?;
        if !self.path.is_empty() {
            write!(f, "/{}", utf8_percent_encode(&self.path, VALUE))?;
        }
        for (i, (key, value)) in self.params.iter().enumerate() {
            let sign = if i == 0 { '?' } else { '&' };
            let (key, value) = (utf8_percent_encode(key, VALUE), utf8_percent_encode(value, VALUE));
            write!(f, "{sign}{key}={value}")?;
        }
        Ok(())
    }
}

fn host_and_port(authority: &str) -> Result<(String, u16), &'static str> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("the bracket is not closed")?;
        match after.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if after.is_empty() => (host, None),
            None => return Err("only a port may follow the bracket"),
        }
    } else {
        match authority.split_once(':') {
            // More than one colon and no bracket: an IPv6 address without a port.
            Some((_, port)) if port.contains(':') => (authority, None),
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    if host.is_empty() {
        return Err("there is no host");
    }
    if host.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("the host has a blank in it");
    }
    if host.contains(['[', ']', '#', '"', '<', '>', '\\']) {
        return Err("the host has a character that no host has");
    }
    let port = match port {
        None => 0,
        Some(text) => match text.parse::<u16>() {
            Ok(port) if port > 0 && text.bytes().all(|b| b.is_ascii_digit()) => port,
            _ => return Err("the port is not a number from 1 to 65535"),
        },
    };
    Ok((without_zone(host).to_owned(), port))
}

/// A zone suffix (`%eth0`) names a network card of the machine that wrote it, so it is dropped
/// everywhere but in link-local addresses, which mean nothing without one.
fn without_zone(host: &str) -> &str {
    match host.split_once('%') {
        Some((bare, _)) if bare.contains(':') && !is_link_local(bare) => bare,
        _ => host,
    }
}

fn is_link_local(host: &str) -> bool {
    host.parse::<std::net::Ipv6Addr>().is_ok_and(|ip| ip.is_unicast_link_local())
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn decode_form(text: &str) -> String {
    decode(&text.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_part_and_writes_it_again() {
        let text = "dubbo://u:p@10.0.0.1:20880/com.foo.Bar?weight=5&version=1.0";
        let url = Url::parse(text).unwrap();
        assert_eq!((url.user.as_str(), url.password.as_str()), ("u", "p"));
        assert_eq!((url.host.as_str(), url.port), ("10.0.0.1", 20880));
        assert_eq!(url.path, "com.foo.Bar");
        assert_eq!(url.param("weight"), Some("5"));
        assert_eq!(url.to_string(), text);
    }

    // E 1.3
    #[test]
    fn method_parameters_win_where_the_method_is_listed() {
        let url = Url::parse("h:1?methods=a,b&weight=50&a.weight=10&c.weight=7").unwrap();
        assert_eq!(url.method_param("a", "weight"), Some("10"));
        assert_eq!(url.method_param("b", "weight"), Some("50"));
        assert_eq!(url.method_param("c", "weight"), Some("50"));
        let open = Url::parse("h:1?c.weight=7&c.hash.arguments=1").unwrap();
        assert_eq!(open.method_param("c", "weight"), Some("7"));
        assert_eq!(open.method_param("c", "hash.arguments"), Some("1"));
    }

    #[test]
    fn empty_values_count_as_absent() {
        let url = Url::parse("h:1?weight=").unwrap();
        assert_eq!(url.param("weight"), None);
    }

    #[test]
    fn bad_addresses_say_what_is_wrong() {
        for (text, reason) in [
            ("", "there is no host"),
            ("tri://:80", "there is no host"),
            ("h:0", "the port is not a number from 1 to 65535"),
            ("h:65536", "the port is not a number from 1 to 65535"),
            ("h:+80", "the port is not a number from 1 to 65535"),
            ("[::1", "the bracket is not closed"),
            ("[::1]80", "only a port may follow the bracket"),
            ("a b:80", "the host has a blank in it"),
        ] {
            assert_eq!(Url::parse(text).unwrap_err().reason, reason, "{text}");
        }
    }

    #[test]
    fn case_133_ipv6_addresses_are_cut_at_the_right_colon() {
        for (text, host, port, address) in [
            (
                "dubbo://[2001:db8::1]:20880/com.ex.Svc?weight=5",
                "2001:db8::1",
                20880,
                "[2001:db8::1]:20880",
            ),
            ("[::1]:20880", "::1", 20880, "[::1]:20880"),
            ("2001:db8::1", "2001:db8::1", 0, "[2001:db8::1]"),
            ("10.0.0.1:20880", "10.0.0.1", 20880, "10.0.0.1:20880"),
            ("host:20880", "host", 20880, "host:20880"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.host.as_str(), url.port), (host, port), "{text}");
            assert_eq!(url.address(), address, "{text}");
            assert_eq!(Url::parse(&url.to_string()).unwrap(), url, "{text}");
        }
    }

    #[test]
    fn case_134_the_zone_of_an_address_is_dropped_unless_link_local() {
        let host = |text| Url::parse(text).unwrap().host;
        assert_eq!(host("[2001:db8::1%eth0]:20880"), "2001:db8::1");
        assert_eq!(host("[fe80::1%eth0]:20880"), "fe80::1%eth0");
    }
}
