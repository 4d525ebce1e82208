//! Services of compose files, read from the smallest files that have the point in question.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::dependency::Ready;
use tempfile::TempDir;

use crate::duel::compose::image::Build;
use crate::duel::compose::project::Project;
use crate::duel::compose::service::{Composed, Needed, Reading};
use crate::duel::compose::variables::tests::variable;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let top = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = top.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    top
}

/// A service in the first of these files, with those that it depends on, and why it is refused.
fn read(
    top: &Path,
    files: &[&str],
    name: &str,
) -> Result<(Composed, Vec<Needed>, Vec<String>), Problem> {
    let paths: Vec<_> = files.iter().map(|file| top.join(file)).collect();
    let mut reading = Reading {
        project: Project::read(&paths, &variable)?,
        notes: Vec::new(),
        refused: Vec::new(),
        texts: BTreeMap::new(),
    };
    let composed = reading.service(name)?;
    let needed = reading.needed(&composed)?;
    let refused = reading.refused.into_iter().flat_map(|(_, reasons)| reasons);
    Ok((composed, needed, refused.collect()))
}

/// The service `a` of these files, of which the first is the compose file.
fn service(files: &[(&str, &str)]) -> Composed {
    let top = folder(files);
    let (composed, _, refused) = read(top.path(), &[files[0].0], "a").unwrap();
    assert_eq!(refused, Vec::<String>::new());
    composed
}

fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn the_image_comes_from_the_variables_of_the_caller_and_of_the_file() {
    let check = |dotenv: &str, image: &str, expect: &str| {
        let text = format!("services: {{a: {{image: \"{image}\"}}}}");
        let found = service(&[("c.yaml", &text), (".env", dotenv)]);
        assert_eq!(found.image.as_deref(), Some(expect));
    };
    check("V=1.5 # stable\nIMAGE=shop:${V}", "$IMAGE", "shop:1.5");
    check("TAG=2", "shop:$TAG", "shop:1.5");
    check("", "${A:-${B:-shop}}", "shop");
    check("B=2", "${A-x${B}y}", "x2y");
    check("A=", "${A:+no}shop", "shop");
    check("", "${COMPOSE_PROJECT_NAME:+shop}", "shop");
}

#[test]
fn the_environment_comes_from_files_lists_tables_and_the_caller() {
    let check = |service: &str, expect: &[(&str, &str)]| {
        let text = format!("services: {{a: {{image: a, {service}}}}}");
        let files = [
            ("c.yaml", text.as_str()),
            (
                "web.env",
                "# of the web\nKEY=\"a b\" # c\nMODE=x\nSUM=${MODE}${TAG}\n",
            ),
            ("raw.env", "MODE='$x' # y\n"),
        ];
        assert_eq!(self::service(&files).env, env(expect), "{service}");
    };
    check(
        "environment: {A: 1, TAG: , GONE: , B: true}",
        &[("A", "1"), ("B", "true"), ("TAG", "1.5")],
    );
    check(
        "environment: [A=1=2, TAG, GONE]",
        &[("A", "1=2"), ("TAG", "1.5")],
    );
    let of_file = [("KEY", "a b"), ("MODE", "slow"), ("SUM", "x1.5")];
    check("env_file: web.env, environment: [MODE=slow]", &of_file);
    let both = [("KEY", "a b"), ("MODE", "'$x' # y"), ("SUM", "x1.5")];
    check("env_file: [web.env, {path: raw.env, format: raw}]", &both);
    check("env_file: [{path: gone.env, required: false}]", &[]);
}

#[test]
fn commands_replace_entry_points_and_arguments() {
    let check = |service: &str, entrypoint: &[&str], arguments: &[&str]| {
        let text = format!("services: {{a: {{image: a, {service}}}}}");
        let found = self::service(&[("c.yaml", &text)]);
        assert_eq!(
            (found.entrypoint.as_slice(), found.arguments.as_slice()),
            (
                entrypoint
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect::<Vec<_>>()
                    .as_slice(),
                arguments
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect::<Vec<_>>()
                    .as_slice(),
            ),
            "{service}"
        );
    };
    check(
        "command: \"serve --name 'a b' $$HOME\"",
        &[],
        &["serve", "--name", "a b", "$HOME"],
    );
    check("command: [a, 1]", &[], &["a", "1"]);
    check("entrypoint: sh -c, command: [x]", &["sh", "-c"], &["x"]);
    check("entrypoint: [sh]", &["sh"], &[]);
    check("entrypoint: [], command: a b", &["a", "b"], &[]);
    check("command: null, entrypoint: null", &[], &[]);
}

#[test]
fn a_service_has_what_it_extends() {
    let found = service(&[
        (
            "c.yaml",
            "x-b: &b {environment: {M: 1}}\nservices:\n  base: {<<: *b, image: base, \
             ports: [80]}\n  \
             a: {extends: {service: mid, file: sub/o.yaml}, command: c}\n  \
             own: {extends: base}",
        ),
        (
            "sub/o.yaml",
            "services:\n  low: {build: app, env_file: e.env, environment: [X=1, Y=1]}\n  \
             mid: {extends: low, environment: {Y: 2}, volumes: [\"./d:/d\"]}",
        ),
        ("sub/e.env", "E=5"),
        ("sub/d/x", ""),
    ]);
    assert_eq!(found.env, env(&[("E", "5"), ("X", "1"), ("Y", "2")]));
    assert!(found.build.unwrap().context.ends_with("/sub/app"));
    assert!(found.volumes[0].source.ends_with("/sub/d"));
    assert_eq!(found.arguments, ["c"]);
    let top = folder(&[(
        "c.yaml",
        "services: {a: {extends: b}, b: {extends: a}, c: {extends: gone}}",
    )]);
    let round = read(top.path(), &["c.yaml"], "a").unwrap_err();
    assert_eq!(round.message(), "a extends itself");
    let gone = read(top.path(), &["c.yaml"], "c").unwrap_err();
    assert!(
        gone.message()
            .starts_with("it extends gone, which is not in "),
        "{gone}"
    );
}

#[test]
fn services_of_other_files_are_there() {
    let files = [
        (
            "c.yaml",
            "name: p\ninclude: [sub/i.yaml, {path: [o/j.yaml], project_directory: sub}]\n\
             services: {a: {image: x, depends_on: [i, j]}}",
        ),
        ("c.override.yaml", "services: {a: {image: \"y${ONLY}\"}}"),
        (
            "sub/i.yaml",
            "services: {i: {image: \"i${OWN}\", build: .}}",
        ),
        ("sub/.env", "OWN=1\nTAG=3"),
        (
            "o/j.yaml",
            "services: {j: {image: \"j${OWN}-${TAG}\", build: .}}",
        ),
        (".env", "ONLY=2"),
    ];
    let top = folder(&files);
    let (a, needed, _) = read(top.path(), &["c.yaml", "c.override.yaml"], "a").unwrap();
    assert_eq!(a.image.as_deref(), Some("y2"));
    let images: Vec<_> = needed
        .iter()
        .filter_map(|one| one.composed.image.clone())
        .collect();
    assert_eq!(images, ["i1", "j1-1.5"]);
    for one in needed {
        assert!(
            one.composed.build.unwrap().context.ends_with("/sub"),
            "{}",
            one.name
        );
    }
}

#[test]
fn the_port_is_that_of_the_file_or_of_the_variable() {
    let check = |service: &str, expect: Option<u16>| {
        let text = format!("services: {{a: {{image: a, {service}}}}}");
        assert_eq!(
            self::service(&[("c.yaml", &text)]).port,
            expect,
            "{service}"
        );
    };
    check(
        "ports: [\"53:53/udp\", \"80:8000\"], environment: {PORT: 1}",
        Some(8000),
    );
    check("environment: {PORT: 3000}", Some(3000));
    check("environment: {PORT: http}", None);
}

#[test]
fn files_are_seen_where_they_are_named() {
    let found = service(&[
        (
            "c.yaml",
            "services:\n  a:\n    image: a\n    secrets: [key, {source: key, target: other}, \
             {source: key, target: /abs}]\n    configs: [conf]\n    \
             volumes: [\"./d:/d:ro\", \"kept:/k\", /anon, {type: tmpfs, target: /t, tmpfs: {size: \
             1000}}, {type: volume, source: v, target: /v}, \"./new:/new\", \
             bound:/bound]\n    tmpfs: [\"/tmp:size=1m\"]\n\
             secrets: {key: {file: \"./${NO:-key}.txt\"}}\n\
             configs: {conf: {file: key.txt}}\nvolumes: {bound: \
             {driver_opts: {type: none, o: bind, device: ./d}}}",
        ),
        ("key.txt", "1"),
        ("d/x", ""),
    ]);
    let targets: Vec<_> = found
        .volumes
        .iter()
        .map(|one| one.target.as_str())
        .collect();
    let expect = [
        "/d",
        "/bound",
        "/run/secrets/key",
        "/run/secrets/other",
        "/abs",
        "/conf",
    ];
    assert_eq!(targets, expect);
    assert!(
        found.volumes[2].source.ends_with("/key.txt"),
        "{:?}",
        found.volumes
    );
    assert_eq!(found.container.empty_volumes, ["/k", "/anon", "/v", "/new"]);
    assert_eq!(found.container.tmpfs, ["/tmp:size=1m", "/t:size=1000"]);
}

#[test]
fn an_image_is_built_of_what_the_file_says() {
    let found = service(&[
        (
            "c.yaml",
            "services: {a: {build: {context: ./app, dockerfile: D, args: [\"A=1\", TAG], \
             cache_from: [x], tags: [y], network: host, secrets: [s], platforms: [linux]}}}\n\
             secrets: {s: {file: k}}",
        ),
        ("app/D", ""),
    ]);
    let build = found.build.unwrap();
    assert!(build.context.ends_with("/app"), "{build:?}");
    assert_eq!(build.options[..3], ["--network", "host", "--secret"]);
    assert!(build.options[3].starts_with("id=s,src=/"), "{build:?}");
    let Build {
        dockerfile, args, ..
    } = build;
    assert_eq!(dockerfile.as_deref(), Some("D"));
    assert_eq!(args, env(&[("A", "1"), ("TAG", "1.5")]));
}

#[test]
fn what_a_service_depends_on_comes_before_it() {
    let top = folder(&[(
        "c.yaml",
        "services:\n  a: {image: a, depends_on: {job: {condition: service_completed_successfully}, \
         cache: {}, gone: {required: false}}}\n  \
         job: {image: j, depends_on: {db: {condition: service_healthy}}}\n  \
         cache: {image: c, depends_on: [db], links: [\"db:store\"]}\n  \
         db: {image: d, container_name: pg}\n  circle: {image: a, depends_on: [round]}\n  \
         round: {image: a, depends_on: [circle]}",
    )]);
    let (_, needed, _) = read(top.path(), &["c.yaml"], "a").unwrap();
    let states: Vec<_> = needed
        .iter()
        .map(|one| (one.name.as_str(), one.ready))
        .collect();
    let expect = [
        ("db", Ready::Healthy),
        ("job", Ready::Completed),
        ("cache", Ready::Started),
    ];
    assert_eq!(states, expect);
    assert_eq!(needed[0].aliases, ["store"]);
    assert_eq!(needed[0].composed.aliases, ["pg"]);
    let circle = read(top.path(), &["c.yaml"], "circle").unwrap_err();
    assert_eq!(circle.message(), "round depends on itself");
}

#[test]
fn what_a_container_here_would_lack_is_refused_at_once() {
    let top = folder(&[(
        "c.yaml",
        "services:\n  a: {image: a, privileged: true, secrets: [gone, out], build: {ssh: [x]}, \
         depends_on: [b]}\n  b: {devices: [x]}\n  \
         lost: {image: a, volumes: [\"./lost.sql:/lost\"]}\n\
         secrets: {out: {external: true}}",
    )]);
    let (_, _, refused) = read(top.path(), &["c.yaml"], "a").unwrap();
    assert_eq!(
        refused,
        [
            "`privileged`: a container here has no rights on its host",
            "`secrets`: gone is not in the file",
            "`secrets`: out is outside of the file",
            "`build.ssh`: a duel does not know it",
            "`devices`: a container here gets no devices",
            "it has neither `image` nor `build`",
        ]
    );
    let lost = read(top.path(), &["c.yaml"], "lost").unwrap_err();
    assert!(lost.message().starts_with("there is no /"), "{lost}");
    assert!(lost.message().ends_with("/lost.sql"), "{lost}");
    let unknown = read(top.path(), &["c.yaml"], "unknown").unwrap_err();
    assert_eq!(unknown.message(), "no service unknown; it has a, b, lost");
    let top = folder(&[("c.yaml", "a: 1")]);
    let none = read(top.path(), &["c.yaml"], "a").unwrap_err();
    assert_eq!(none.message(), "no compose file: it has no `services`");
}

#[test]
fn texts_of_configs_and_secrets_are_kept_for_the_container() {
    let top = folder(&[(
        "c.yaml",
        "services:\n  a: {image: a, configs: [conf], secrets: [key, none], command: $NO $TAG}\n\
         configs: {conf: {content: \"tag=${TAG}\"}}\n\
         secrets: {key: {environment: TAG}, none: {environment: NO}}",
    )]);
    let paths = [top.path().join("c.yaml")];
    let mut reading = Reading {
        project: Project::read(&paths, &variable).unwrap(),
        notes: Vec::new(),
        refused: Vec::new(),
        texts: BTreeMap::new(),
    };
    let composed = reading.service("a").unwrap();
    let seen = composed.volumes.iter().map(|one| {
        let text = reading.texts.get(Path::new(&one.source));
        (one.target.as_str(), text.unwrap().as_str())
    });
    let seen: Vec<_> = seen.collect();
    assert_eq!(seen, [("/run/secrets/key", "1.5"), ("/conf", "tag=1.5")]);
    let reasons = ["`secrets`: none is a variable that is not set"];
    assert_eq!(reading.refused[0].1, reasons);
    assert_eq!(Vec::from_iter(reading.project.unset()), ["NO"]);
}
