//! What a service depends on, and when that counts as ready.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use bakeoff_model::parse::DurationText;
use bakeoff_model::suite::container::Healthcheck;
use bakeoff_model::suite::dependency::Ready;
use serde_json::{Map, Value};

use crate::duel::compose::values::{asks, duration, is_true, texts};

/// A service on which another one depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) name: String,
    pub(super) ready: Ready,
    /// The service that depends on it starts without it, too.
    pub(super) is_optional: bool,
    /// Another name by which the service reaches it.
    pub(super) alias: Option<String>,
}

/// The services that a service depends on, those that it links to among them.
///
/// # Errors
/// A condition is unknown.
pub(super) fn needs(service: &Map<String, Value>) -> Result<Vec<Need>, Problem> {
    let need = |name: String, ready| Need {
        name,
        ready,
        is_optional: false,
        alias: None,
    };
    let mut needs: BTreeMap<String, Need> = BTreeMap::new();
    let mut order = Vec::new();
    let depends = match service.get("depends_on") {
        Some(Value::Object(table)) => {
            let entries = table.iter();
            let needs = entries.map(|(name, one)| {
                let is_optional = one.get("required").is_some_and(|value| !is_true(value));
                Ok(Need {
                    is_optional,
                    ..need(name.clone(), ready(one.get("condition"), name)?)
                })
            });
            needs.collect::<Result<Vec<_>, Problem>>()?
        }
        value => {
            let names = texts(value).into_iter();
            names.map(|name| need(name, Ready::Started)).collect()
        }
    };
    let links = texts(service.get("links")).into_iter().map(|link| {
        let (name, alias) = match link.split_once(':') {
            Some((name, alias)) => (name.to_owned(), Some(alias.to_owned())),
            None => (link, None),
        };
        Need {
            alias,
            ..need(name, Ready::Started)
        }
    });
    for one in depends.into_iter().chain(links) {
        match needs.get_mut(&one.name) {
            Some(known) => known.alias = one.alias.or(known.alias.take()),
            None => {
                order.push(one.name.clone());
                needs.insert(one.name.clone(), one);
            }
        }
    }
    Ok(order.iter().filter_map(|name| needs.remove(name)).collect())
}

fn ready(condition: Option<&Value>, name: &str) -> Result<Ready, Problem> {
    match condition.and_then(as_text).as_deref() {
        None | Some("service_started") => Ok(Ready::Started),
        Some("service_healthy") => Ok(Ready::Healthy),
        Some("service_completed_successfully") => Ok(Ready::Completed),
        Some(other) => Err(format!("`depends_on`: {name} has the condition {other}").into()),
    }
}

/// The health check of a service; `None` for that of its image.
///
/// # Errors
/// A time or a number is not one.
pub(super) fn healthcheck(service: &Map<String, Value>) -> Result<Option<Healthcheck>, Problem> {
    let Some(Value::Object(table)) = service.get("healthcheck") else {
        return Ok(None);
    };
    let time = |key: &str| {
        let text = table.get(key).and_then(as_text);
        let time = text.map(|text| duration(&text)).transpose();
        let time = time.map_err(|why| why.context(format_args!("`healthcheck.{key}`")))?;
        // Zero is the usual time.
        Ok::<_, Problem>(time.filter(|time| !time.is_zero()).map(DurationText))
    };
    let test = match table.get("test") {
        _ if table.get("disable").is_some_and(is_true) => vec!["NONE".to_owned()],
        Some(Value::Array(list)) => list.iter().filter_map(as_text).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(text) => vec!["CMD-SHELL".to_owned(), as_text(text).unwrap_or_default()],
    };
    let known = ["NONE", "CMD", "CMD-SHELL"];
    if test
        .first()
        .is_some_and(|first| !known.contains(&first.as_str()))
    {
        return Err("`healthcheck.test` begins with none of NONE, CMD and CMD-SHELL".into());
    }
    let retries = table.get("retries").filter(|value| asks(value));
    let retries = retries.and_then(as_text).map(|text| text.parse());
    Ok(Some(Healthcheck {
        test,
        interval: time("interval")?,
        timeout: time("timeout")?,
        retries: retries
            .transpose()
            .map_err(|_| "`healthcheck.retries` is not a number")?,
        start_period: time("start_period")?,
        start_interval: time("start_interval")?,
    }))
}

#[cfg(test)]
mod tests {
    use bakeoff_model::parse::DurationText;
    use bakeoff_model::suite::container::Healthcheck;
    use bakeoff_model::suite::dependency::Ready;
    use serde_json::{Value, json};
    use std::time::Duration;

    use super::{healthcheck, needs};

    #[test]
    fn services_are_needed_in_the_state_that_is_named() {
        let check = |service: Value, expect: &[(&str, Ready, bool, Option<&str>)]| {
            let found = needs(service.as_object().unwrap()).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|one| {
                    (
                        one.name.as_str(),
                        one.ready,
                        one.is_optional,
                        one.alias.as_deref(),
                    )
                })
                .collect();
            assert_eq!(found, expect, "{service}");
        };
        check(json!({}), &[]);
        check(
            json!({"depends_on": ["b", "a"]}),
            &[
                ("b", Ready::Started, false, None),
                ("a", Ready::Started, false, None),
            ],
        );
        check(
            json!({"depends_on": {
                "db": {"condition": "service_healthy"},
                "job": {"condition": "service_completed_successfully", "required": false},
                "a": null
            }, "links": ["db:database", "c"]}),
            &[
                ("db", Ready::Healthy, false, Some("database")),
                ("job", Ready::Completed, true, None),
                ("a", Ready::Started, false, None),
                ("c", Ready::Started, false, None),
            ],
        );
        let odd = json!({"depends_on": {"a": {"condition": "ready"}}});
        let odd = needs(odd.as_object().unwrap()).unwrap_err();
        assert_eq!(odd.message(), "`depends_on`: a has the condition ready");
    }

    #[test]
    fn a_health_check_is_a_command_with_times() {
        let check = |check: Value, expect: Option<Healthcheck>| {
            let service = json!({"healthcheck": check});
            assert_eq!(
                healthcheck(service.as_object().unwrap()).ok(),
                Some(expect),
                "{check}"
            );
        };
        let test = |words: &[&str]| Healthcheck {
            test: words.iter().map(|word| (*word).to_owned()).collect(),
            ..Healthcheck::default()
        };
        check(Value::Null, None);
        check(json!({"test": "a b"}), Some(test(&["CMD-SHELL", "a b"])));
        check(json!({"test": ["CMD", "a"]}), Some(test(&["CMD", "a"])));
        check(
            json!({"disable": true, "test": ["CMD", "a"]}),
            Some(test(&["NONE"])),
        );
        let seconds = |seconds| Some(DurationText(Duration::from_secs(seconds)));
        check(
            json!({"interval": "5s", "timeout": "0s", "retries": "3", "start_period": "1m30s"}),
            Some(Healthcheck {
                interval: seconds(5),
                retries: Some(3),
                start_period: seconds(90),
                ..Healthcheck::default()
            }),
        );
        for wrong in [
            json!({"test": ["a"]}),
            json!({"interval": "x"}),
            json!({"retries": "x"}),
        ] {
            let service = json!({"healthcheck": wrong});
            assert!(
                healthcheck(service.as_object().unwrap()).is_err(),
                "{wrong}"
            );
        }
    }
}
