//! The tables in a suite's files for services and requests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bakeoff_model::parse::DurationText;
use bakeoff_model::parse::files::{
    CheckExpect, CheckTable, ContenderFile, ContenderTable, DependencyTable, ImageTable,
    RequestTable,
};
use bakeoff_model::request::check::Expect;
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_model::suite::volume::Volume;

use crate::service::{DuelRequest, DuelService, ServiceSource};

/// The table of a dependency of a compose file.
pub(crate) fn dependency(dependency: &Dependency) -> DependencyTable {
    DependencyTable {
        name: dependency.name.clone(),
        image: dependency.image.clone(),
        entrypoint: dependency.entrypoint.clone(),
        command: dependency.command.clone(),
        env: dependency.env.clone(),
        port: dependency.port,
        volumes: texts(&dependency.volumes),
        container: dependency.container.clone(),
        ready: dependency.ready,
        healthcheck: dependency.healthcheck.clone(),
        start_timeout: (dependency.start_timeout != Dependency::START_TIMEOUT)
            .then_some(DurationText(dependency.start_timeout)),
        ..DependencyTable::default()
    }
}

fn texts(volumes: &[Volume]) -> Vec<String> {
    volumes.iter().map(ToString::to_string).collect()
}

/// A request of a benchmark with what must come back.
pub(crate) fn request(request: &DuelRequest, expect: Expect) -> RequestTable {
    RequestTable {
        name: None,
        method: request.method.clone(),
        path: request.path.clone(),
        headers: request.headers.iter().collect(),
        body: request.body.as_bytes().into(),
        body_repeat: 1,
        weight: request.weight,
        expect: Some(expect),
        same_length: false,
        events: None,
        pause: None,
        pause_up_to: None,
        extract: BTreeMap::new(),
    }
}

/// A check that sends a request.
pub(crate) fn check(group: &str, request: &DuelRequest, expect: Expect) -> CheckTable {
    CheckTable {
        group: group.to_owned(),
        name: request.name.clone(),
        method: request.method.clone(),
        path: request.path.clone(),
        headers: request.headers.iter().collect(),
        body: request.body.as_bytes().into(),
        body_repeat: 1,
        expect: CheckExpect {
            like: None,
            own: expect,
        },
    }
}

/// The file of a side; its command starts in `workdir` unless the side has another folder.
pub(crate) fn contender(side: &DuelService, workdir: &Path) -> ContenderFile {
    let mut file = ContenderFile {
        contender: ContenderTable {
            name: side.name.clone(),
            describe: side.text.clone(),
            ..ContenderTable::default()
        },
        ..ContenderFile::default()
    };
    match &side.service {
        ServiceSource::Command(words) => {
            let workdir: PathBuf = side.workdir.clone().unwrap_or_else(|| workdir.to_owned());
            file.contender.run.clone_from(words);
            file.contender.workdir = Some(workdir.display().to_string());
        }
        ServiceSource::Image(image) => {
            let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
            file.image = ImageTable {
                name: Some(image.reference.clone()),
                entrypoint: some(&image.entrypoint),
                arguments: some(&image.arguments),
                volumes: some(&texts(&image.volumes)),
                container: (!image.container.is_empty()).then(|| (*image.container).clone()),
                base: None,
            };
            file.env.clone_from(&image.env);
        }
        // One that was not looked up is nothing that can be started, and the checks say so.
        ServiceSource::Compose(_) | ServiceSource::Deployment(_) => {}
        ServiceSource::Url(url) => file.contender.url = Some(url.to_string()),
    }
    file
}
