//! Deployments of a cluster as sides of a duel: copies of what they run, under their limits.

use std::collections::BTreeMap;

use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_model::suite::Limits;
use bakeoff_places::kubernetes::{Cluster, Deployed};

use crate::duel::definition::{Duel, USUAL_LIMITS, common_port};
use crate::service::{ServiceImage, ServiceSource};

/// Returns the duel with images in the place of Deployments, and what the user should know about
/// the copies, a sentence each. Sides that are images get the environment, the entry point and the
/// arguments of the first Deployment.
///
/// # Errors
/// A Deployment cannot be read, a variable of it is secret, or two of them have different ports.
pub(super) async fn look_up(duel: &Duel) -> anyhow::Result<(Duel, Vec<String>)> {
    let mut found = duel.clone();
    let mut notes = Vec::new();
    let is_deployed = |service: &ServiceSource| matches!(service, ServiceSource::Deployment(_));
    if !duel.sides.iter().any(|side| is_deployed(&side.service)) {
        return Ok((found, notes));
    }
    let settings = duel.cluster.clone().unwrap_or_default();
    let cluster = Cluster::find(settings.context.as_deref()).await;
    let cluster = cluster.map_err(with_hints)?;
    let mut first: Option<(String, Deployed)> = None;
    for side in &mut found.sides {
        let ServiceSource::Deployment(name) = &side.service else {
            continue;
        };
        let mut deployed = cluster.deployed(name).await.map_err(with_hints)?;
        // The environment that the user gives to all is the stronger one.
        deployed.env.retain(|name, _| !duel.env.contains_key(name));
        secrets(&duel.env, &side.name, &deployed)?;
        let own = deployed.notes.iter();
        notes.extend(own.map(|note| format!("{}: {note}", side.name)));
        let port = deployed.port.filter(|_| duel.port.is_none());
        found.port = common_port(&side.name, port, found.port)?;
        side.service = ServiceSource::Image(image(deployed.image.clone(), &deployed));
        match &first {
            Some((other, one)) if one.limits != deployed.limits => notes.push(format!(
                "{} has other limits than {other}; all copies get those of {other}",
                side.name
            )),
            Some(_) => {}
            None => first = Some((side.name.clone(), deployed)),
        }
    }
    let Some((name, deployed)) = first else {
        return Ok((found, notes));
    };
    for (side, wanted) in found.sides.iter_mut().zip(&duel.sides) {
        if let ServiceSource::Image(own) = &wanted.service {
            side.service = ServiceSource::Image(image(own.reference.clone(), &deployed));
            notes.push(format!(
                "{} gets the environment and the arguments of {name}",
                side.name
            ));
        }
    }
    found.limits = Limits {
        cpus: duel.limits.cpus.or(deployed.limits.cpus),
        memory_bytes: duel.limits.memory_bytes.or(deployed.limits.memory_bytes),
    };
    notes.extend(usual(&mut found.limits, &name));
    Ok((found, notes))
}

/// An image that is started as a Deployment starts its own.
fn image(reference: String, deployed: &Deployed) -> ServiceImage {
    ServiceImage {
        reference,
        entrypoint: deployed.entrypoint.clone(),
        arguments: deployed.arguments.clone(),
        env: deployed.env.clone(),
        volumes: Vec::new(),
        container: Box::default(),
    }
}

/// Refuses variables whose values are secret, unless the user gives them.
fn secrets(env: &BTreeMap<String, String>, side: &str, deployed: &Deployed) -> anyhow::Result<()> {
    let missing = deployed.secrets.iter();
    let missing = missing.filter(|(name, _)| !env.contains_key(*name));
    let (names, sources): (Vec<&String>, Vec<&String>) = missing.unzip();
    let (Some(name), Some(secret)) = (names.first(), sources.first()) else {
        return Ok(());
    };
    let all: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    Err(hinted(
        format_args!(
            "{side}: the Secret {secret} has the value of {}, and Secrets are not read",
            all.join(", ")
        ),
        format_args!("give values that are good for a test: --env {name}=VALUE"),
    ))
}

/// Fills in limits that are neither named nor those of the Deployment.
fn usual(limits: &mut Limits, name: &str) -> Option<String> {
    let lacks = [
        limits.cpus.is_none().then_some("CPU limit"),
        limits.memory_bytes.is_none().then_some("memory limit"),
    ];
    limits.cpus = limits.cpus.or(USUAL_LIMITS.cpus);
    limits.memory_bytes = limits.memory_bytes.or(USUAL_LIMITS.memory_bytes);
    let lacks: Vec<&str> = lacks.into_iter().flatten().collect();
    (!lacks.is_empty()).then(|| {
        format!(
            "{name} has no {}; copies get that of duels, unless --cpus and --memory name another",
            lacks.join(" and no ")
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bakeoff_model::suite::Limits;
    use bakeoff_places::kubernetes::Deployed;

    use super::{secrets, usual};
    use crate::duel::definition::USUAL_LIMITS;

    #[test]
    fn secrets_must_be_given() {
        let deployed = Deployed {
            secrets: BTreeMap::from([("KEY".to_owned(), "keys".to_owned())]),
            ..Deployed::default()
        };
        let mut env = BTreeMap::new();
        let error = secrets(&env, "live", &deployed).unwrap_err();
        assert_eq!(
            error.to_string(),
            "live: the Secret keys has the value of KEY, and Secrets are not read"
        );
        env.insert("KEY".to_owned(), "test".to_owned());
        secrets(&env, "live", &deployed).unwrap();
    }

    #[test]
    fn limits_that_are_missing_are_those_of_duels() {
        let mut limits = Limits {
            cpus: Some(2.0),
            memory_bytes: None,
        };
        let note = usual(&mut limits, "live").unwrap();
        assert!(note.starts_with("live has no memory limit; "), "{note}");
        assert_eq!(limits.memory_bytes, USUAL_LIMITS.memory_bytes);
        assert_eq!(usual(&mut limits, "live"), None);
    }
}
