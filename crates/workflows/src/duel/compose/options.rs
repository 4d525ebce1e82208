//! The settings of a service's container.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use bakeoff_model::parse::SizeText;
use bakeoff_model::suite::container::{ContainerSettings, Ulimit};
use serde_json::{Map, Value};

use crate::duel::compose::mounts::Mounts;
use crate::duel::compose::values::{bytes, is_true, pairs, texts};

/// The settings of a service's container. The names by which others reach it are not among them.
///
/// # Errors
/// A value is not of its kind.
pub(super) fn settings(
    service: &Map<String, Value>,
    mounts: &Mounts,
) -> Result<ContainerSettings, Problem> {
    let text = |key: &str| {
        service
            .get(key)
            .and_then(as_text)
            .filter(|text| !text.is_empty())
    };
    let list = |key: &str| texts(service.get(key));
    let is = |key: &str| service.get(key).is_some_and(is_true);
    let shm_size = text("shm_size").map(|text| bytes(&text)).transpose()?;
    let sysctls = pairs(service.get("sysctls"), "sysctls")?.into_iter();
    // -1 is no limit.
    let pids = text("pids_limit").and_then(|text| text.parse().ok());
    Ok(ContainerSettings {
        user: text("user"),
        workdir: text("working_dir"),
        hostname: text("hostname"),
        aliases: Vec::new(),
        read_only: is("read_only"),
        tmpfs: list("tmpfs")
            .into_iter()
            .chain(mounts.tmpfs.clone())
            .collect(),
        empty_volumes: mounts.empty.clone(),
        init: is("init"),
        stop_signal: text("stop_signal"),
        shm_size: shm_size.filter(|size| *size > 0).map(SizeText),
        pids_max: pids.filter(|pids| *pids > 0),
        ulimits: ulimits(service.get("ulimits"))?,
        sysctls: sysctls
            .filter_map(|(name, value)| Some((name, value?)))
            .collect(),
        cap_add: list("cap_add"),
        cap_drop: list("cap_drop"),
        security_opt: list("security_opt"),
        group_add: list("group_add"),
        extra_hosts: hosts(service.get("extra_hosts"), "extra_hosts")?,
        dns: list("dns"),
        dns_options: list("dns_opt"),
        dns_search: list("dns_search"),
    })
}

/// The names by which other services reach this one, besides its own.
pub(super) fn aliases(service: &Map<String, Value>) -> Vec<String> {
    let names = ["container_name", "hostname"].map(|key| service.get(key).and_then(as_text));
    let mut aliases: Vec<String> = names.into_iter().flatten().collect();
    let networks = service.get("networks").and_then(Value::as_object);
    for network in networks.into_iter().flat_map(Map::values) {
        aliases.extend(texts(network.get("aliases")));
    }
    aliases
}

fn ulimits(value: Option<&Value>) -> Result<BTreeMap<String, Ulimit>, Problem> {
    let Some(Value::Object(table)) = value else {
        return Ok(BTreeMap::new());
    };
    let limits = table.iter().map(|(name, value)| {
        let number = |value: Option<&Value>| value.and_then(as_text)?.parse::<i64>().ok();
        let both = number(Some(value));
        let soft = both.or_else(|| number(value.get("soft")));
        let hard = both.or_else(|| number(value.get("hard")));
        let wrong = || Problem::new(format!("`ulimits.{name}` is not a limit"));
        let soft = soft.or(hard).ok_or_else(wrong)?;
        let hard = hard.unwrap_or(soft);
        Ok((name.clone(), Ulimit { soft, hard }))
    });
    limits.collect()
}

/// Hosts as `NAME:ADDRESS`. In a file they are that, `NAME=ADDRESS`, or a table.
///
/// # Errors
/// An entry has no address.
pub(super) fn hosts(value: Option<&Value>, key: &str) -> Result<Vec<String>, Problem> {
    let pairs: Vec<(String, Vec<String>)> = match value {
        Some(Value::Object(table)) => {
            let entries = table.iter();
            entries
                .map(|(name, value)| (name.clone(), texts(Some(value))))
                .collect()
        }
        value => {
            let entries = texts(value).into_iter().map(|text| {
                let split = text.split_once('=').or_else(|| text.split_once(':'));
                let (name, address) = split.ok_or_else(|| {
                    Problem::new(format!("`{key}`: `{text}` is not NAME=ADDRESS"))
                })?;
                Ok((name.to_owned(), vec![address.to_owned()]))
            });
            entries.collect::<Result<_, Problem>>()?
        }
    };
    let hosts = pairs.iter().flat_map(|(name, addresses)| {
        let addresses = addresses.iter();
        addresses.map(move |address| format!("{name}:{}", address.trim_matches(['[', ']'])))
    });
    Ok(hosts.collect())
}

#[cfg(test)]
mod tests {
    use bakeoff_model::parse::SizeText;
    use bakeoff_model::suite::container::{ContainerSettings, Ulimit};
    use serde_json::{Value, json};

    use super::{aliases, settings};
    use crate::duel::compose::mounts::Mounts;

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn settings_are_taken_in_their_several_notations() {
        let check = |service: Value, expect: ContainerSettings| {
            let found = settings(service.as_object().unwrap(), &Mounts::default());
            assert_eq!(found.unwrap(), expect, "{service}");
        };
        let usual = ContainerSettings::default;
        check(
            json!({"pids_limit": -1, "shm_size": 0, "user": ""}),
            usual(),
        );
        check(
            json!({"user": 1000, "read_only": "true", "init": true, "working_dir": "/w"}),
            ContainerSettings {
                user: Some("1000".to_owned()),
                workdir: Some("/w".to_owned()),
                read_only: true,
                init: true,
                ..usual()
            },
        );
        check(
            json!({"ulimits": {"nproc": 9, "nofile": {"soft": 1, "hard": "2"}}, "shm_size": "64m"}),
            ContainerSettings {
                ulimits: [
                    ("nproc".to_owned(), Ulimit { soft: 9, hard: 9 }),
                    ("nofile".to_owned(), Ulimit { soft: 1, hard: 2 }),
                ]
                .into(),
                shm_size: Some(SizeText(64 << 20)),
                ..usual()
            },
        );
        check(
            json!({"sysctls": ["net.core.somaxconn=1"], "dns": "1.1.1.1", "tmpfs": "/tmp"}),
            ContainerSettings {
                sysctls: [("net.core.somaxconn".to_owned(), "1".to_owned())].into(),
                dns: list(&["1.1.1.1"]),
                tmpfs: list(&["/tmp"]),
                ..usual()
            },
        );
        check(
            json!({"extra_hosts": ["a:1.1.1.1", "b=[::1]", "c=host-gateway"]}),
            ContainerSettings {
                extra_hosts: list(&["a:1.1.1.1", "b:::1", "c:host-gateway"]),
                ..usual()
            },
        );
        check(
            json!({"extra_hosts": {"a": ["1.1.1.1", "2.2.2.2"]}, "group_add": [5, "mail"]}),
            ContainerSettings {
                extra_hosts: list(&["a:1.1.1.1", "a:2.2.2.2"]),
                group_add: list(&["5", "mail"]),
                ..usual()
            },
        );
        for wrong in [json!({"ulimits": {"a": "b"}}), json!({"shm_size": "x"})] {
            let found = settings(wrong.as_object().unwrap(), &Mounts::default());
            assert!(found.is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_service_has_the_names_of_its_container_and_networks() {
        let service = json!({
            "container_name": "c", "hostname": "h",
            "networks": {"n": {"aliases": ["x", "y"]}, "m": null}
        });
        assert_eq!(aliases(service.as_object().unwrap()), ["c", "h", "x", "y"]);
        assert!(aliases(json!({"networks": ["n"]}).as_object().unwrap()).is_empty());
    }
}
