//! The port on which a service listens in its container.

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use serde_json::{Map, Value};

/// The first TCP port of the container that is published, or else exposed.
///
/// # Errors
/// A port is not one.
pub(super) fn port(service: &Map<String, Value>) -> Result<Option<u16>, Problem> {
    let lists = ["ports", "expose"].map(|key| service.get(key).and_then(Value::as_array));
    for entry in lists.into_iter().flatten().flatten() {
        if let Some(port) = tcp(entry)? {
            return Ok(Some(port));
        }
    }
    Ok(None)
}

/// The port of an entry: `[[ADDRESS:]HOST:]CONTAINER[/PROTOCOL]`, where each may be a range, or a
/// table with `target`. `None` if it is of another protocol.
fn tcp(entry: &Value) -> Result<Option<u16>, Problem> {
    let of = |key: &str| entry.get(key).and_then(as_text);
    let text = of("target").or_else(|| as_text(entry)).unwrap_or_default();
    let inside = text.rsplit(':').next().unwrap_or_default();
    let (numbers, protocol) = match inside.split_once('/') {
        Some((numbers, protocol)) => (numbers, Some(protocol.to_owned())),
        None => (inside, of("protocol")),
    };
    if protocol.is_some_and(|name| !name.eq_ignore_ascii_case("tcp")) {
        return Ok(None);
    }
    let first = numbers.split('-').next().unwrap_or_default();
    match first.trim().parse() {
        Ok(0) | Err(_) => {
            let entry = as_text(entry).unwrap_or_else(|| entry.to_string());
            Err(format!("`{entry}` is not a port that a duel understands").into())
        }
        Ok(port) => Ok(Some(port)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::port;

    #[test]
    fn the_first_tcp_port_of_the_container_counts() {
        let check = |service: Value, expect: Option<u16>| {
            let found = port(service.as_object().unwrap());
            assert_eq!(found.ok(), Some(expect), "{service}");
        };
        check(json!({"ports": ["6000:6000/udp", "8000:8000"]}), Some(8000));
        check(
            json!({"ports": ["127.0.0.1:80:9000/tcp", "81:9001"]}),
            Some(9000),
        );
        check(json!({"ports": ["[::1]:80:9000", 9001]}), Some(9000));
        check(json!({"ports": [9001]}), Some(9001));
        check(json!({"ports": ["3000-3005"]}), Some(3000));
        check(json!({"ports": ["9090-9091:8080-8081", "x"]}), Some(8080));
        check(
            json!({"ports": [{"target": 53, "protocol": "udp"}, {"target": "80"}]}),
            Some(80),
        );
        check(
            json!({"ports": ["53/udp"], "expose": ["8080/tcp"]}),
            Some(8080),
        );
        check(json!({"ports": [], "expose": ["7000-7001"]}), Some(7000));
        check(json!({"ports": ["53/UDP"], "expose": null}), None);
        for wrong in [
            json!({"ports": ["web"]}),
            json!({"ports": [{"published": 1}]}),
        ] {
            assert!(port(wrong.as_object().unwrap()).is_err(), "{wrong}");
        }
    }
}
