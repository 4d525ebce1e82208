//! First suites, as `bakeoff init` writes them.

use std::fs;

use crate::world::{Ran, World, program};

/// A description of the responses of the world's contenders.
const DESCRIPTION: &str = r#"
openapi: 3.1.0
paths:
  /item:
    get:
      responses:
        "200": { content: { application/json: { example: { name: Brno } } } }
    delete: { responses: {} }
"#;

/// A visit to a page that asks the world's contenders, as a browser records it.
const RECORDING: &str = r#"
{"log": {"version": "1.2", "creator": {"name": "a browser"}, "entries": [
  {"request": {"method": "GET", "url": "https://shop.example/logo.png", "headers": []},
   "response": {"status": 200, "content": {"mimeType": "image/png"}}},
  {"request": {"method": "GET", "url": "https://shop.example/item", "headers": [
     {"name": "Accept", "value": "application/json"}, {"name": "Cookie", "value": "sid=4711"}]},
   "response": {"status": 200, "content":
     {"mimeType": "application/json", "text": "{\"name\": \"Brno\"}"}}},
  {"request": {"method": "GET", "url": "https://shop.example/item", "headers": [
     {"name": "Accept", "value": "application/json"}, {"name": "Cookie", "value": "sid=4712"}]},
   "response": {"status": 200, "content": {"mimeType": "application/json"}}},
  {"request": {"method": "POST", "url": "https://shop.example/item", "headers": [],
     "postData": {"mimeType": "application/json", "text": "{}"}},
   "response": {"status": 201, "content": {"mimeType": "application/json", "text": "{}"}}},
  {"request": {"method": "GET", "url": "https://ads.example/pixel", "headers": []},
   "response": {"status": 200, "content": {"mimeType": "text/plain"}}}
]}}"#;

/// `bakeoff init` with arguments and, as its last one, a contender that is good.
fn init(world: &World, arguments: &str) -> Ran {
    let mut command = world.command(&format!("init {arguments}"));
    command.arg(format!("good=env MODE=good {}", program().display()));
    Ran::from(command.output().unwrap())
}

#[test]
fn recorded_traffic_becomes_requests_that_verify() {
    let world = World::new(&[]);
    fs::write(world.out().with_file_name("shop.har"), RECORDING).unwrap();
    let port = world.port();
    init(&world, &format!("shop --har shop.har --port {port}")).check(
        0,
        &[
            "1 request of the recording, 3 left out",
            "sent to shop.example, which is dropped",
            "1 static file (image/png)",
            "1 to other hosts (ads.example)",
            "1 that may change data; --writes takes them",
            "they may be credentials: cookie;",
            "bakeoff verify shop",
        ],
    );
    let suite = world.read("shop/suite.toml");
    assert!(suite.contains("weight = 2"), "{suite}");
    let checks = world.read("shop/checks/all.toml");
    assert!(
        checks.contains("#   GET /pixel: to ads.example"),
        "{checks}"
    );
    assert!(!format!("{suite}{checks}").contains("sid=47"), "{checks}");
    world.run("verify shop").check(0, &["good: functional 1/1"]);
    world.run("plan shop").check(0, &["good"]);
    let all = format!("all --har shop.har --secrets --writes --port {port}");
    init(&world, &all).check(
        0,
        &[
            "3 requests of the recording",
            "though they may be credentials",
        ],
    );
    assert!(
        world
            .read("all/checks/all.toml")
            .contains("ookie = \"sid=47")
    );
    init(&world, "other --har shop.har --host nobody.example").check(
        1,
        &["shop.har: no request to nobody.example", "ads.example"],
    );
    init(&world, "other --har shop.har --openapi api.yaml").check(1, &["cannot be used with"]);
    init(&world, "other").check(1, &["--har <FILE>"]);
    world
        .run("init other --har shop.har")
        .check(1, &["NAME=SERVICE"]);
}

#[test]
fn a_suite_like_locations_needs_no_clone() {
    let world = World::new(&[]);
    world.run("init shop --like locations").check(
        0,
        &["add yours: shop/contenders/README.md", "bakeoff run shop"],
    );
    world.run("list shop").check(
        0,
        &["actix-4", "city-get", "standard", "replay", "elasticsearch"],
    );
    world
        .run("plan shop")
        .check(0, &["actix-4", "backend replay"]);
    // What is filled in is right.
    let mine = world.out().with_file_name("shop/contenders/mine");
    fs::rename(
        mine.join("contender.toml.example"),
        mine.join("contender.toml"),
    )
    .unwrap();
    world.run("list shop").check(0, &["mine"]);
    init(&world, "other --like locations").check(0, &["bakeoff verify other"]);
    world.run("list other").check(0, &["actix-4", "good"]);
    world
        .run("init another --like nothing")
        .check(1, &["possible values: locations"]);
    world
        .run("init another --like locations --port 9000")
        .check(1, &["cannot be used with"]);
}

#[test]
fn the_template_can_be_planned_and_its_contenders_listed() {
    let world = World::new(&[]);
    world
        .run("init demo")
        .check(0, &["bakeoff verify demo", "bakeoff run demo"]);
    world
        .run("plan demo --profile smoke")
        .check(0, &["threads", "asyncio", "2 runs"]);
    let mut command = world.command("init");
    let ran = Ran::from(command.arg("my suite").output().unwrap());
    ran.check(0, &["bakeoff verify 'my suite'"]);
    world
        .run("plan demo")
        .check(0, &["threads", "asyncio", "6 runs", "no backend"]);
    world
        .run("init demo")
        .check(1, &["demo: holds a suite already", "hint:"]);
}

#[test]
fn the_template_verifies_where_there_is_python() {
    let world = World::new(&[]);
    world.run("init demo").check(0, &[]);
    let suite = world.read("demo/suite.toml");
    let port = world.port().to_string();
    let file = world.out().with_file_name("demo/suite.toml");
    fs::write(file, suite.replace("8080", &port)).unwrap();
    world
        .run("verify demo")
        .check(0, &["threads: functional 1/1", "asyncio: functional 1/1"]);
}

#[test]
fn a_description_becomes_requests_that_verify() {
    let world = World::new(&[]);
    fs::write(world.out().with_file_name("api.yaml"), DESCRIPTION).unwrap();
    let mut command = world.command(&format!(
        "init shop --openapi api.yaml --port {}",
        world.port()
    ));
    command.arg(format!("good=env MODE=good {}", program().display()));
    let ran = Ran::from(command.output().unwrap());
    ran.check(0, &["1 request of the description, 1 left out"]);
    let checks = world.read("shop/checks/all.toml");
    assert!(
        checks.contains("#   DELETE /item: it may change data"),
        "{checks}"
    );
    world.run("verify shop").check(0, &["good: functional 1/1"]);
    world
        .run("init other --openapi api.yaml")
        .check(1, &["NAME=SERVICE"]);
    // The file is looked at before the services are missed.
    world
        .run("init other --openapi nowhere.yaml")
        .check(1, &["nowhere.yaml: No such file"]);
    fs::write(world.out().with_file_name("none.json"), "{}").unwrap();
    let mut command = world.command("init other --openapi none.json");
    command.arg("a=b");
    Ran::from(command.output().unwrap()).check(1, &["none.json: no OpenAPI description"]);
}
