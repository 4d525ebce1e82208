//! What can be answered without Elasticsearch. Nobody listens where the store looks for it.

use elasticsearch::http::Url;
use rocket::{http::ContentType, local::Client};
use serde_json::Value;

use super::*;

fn ask(path: &str) -> (Status, Value) {
    let elastic = Url::parse("http://127.0.0.1:1").unwrap();
    let rocket = rocket::ignite().attach(stage(Bridge::PerWorker { elastic }));
    let client = Client::untracked(rocket).unwrap();
    let mut response = client.get(path).dispatch();
    assert_eq!(response.content_type(), Some(ContentType::JSON), "{path}");
    let body = serde_json::from_str(&response.body_string().unwrap());
    (response.status(), body.unwrap())
}

fn check_error(path: &str, status: u16, message: &str) {
    let (found, body) = ask(path);
    assert_eq!(found.code, status, "{path}");
    let text = body["message"].as_str().unwrap();
    assert!(text.contains(message), "{path}: {text}");
}

#[test]
fn errors_name_the_problem() {
    check_error("/", 404, "there is no GET /");
    check_error("/no/such/path", 404, "/no/such/path");
    check_error("/city/v1/get", 400, "`id`");
    check_error("/city/v1/get?id=123", 400, "`language`");
    check_error("/city/v1/get?id=blabla&language=cs", 400, "`id`");
    check_error("/city/v1/featured?language=xx", 400, "`language`");
    check_error("/city/v1/search?query=%20&language=cs", 400, "query");
    check_error("/city/v1/closest?lat=50&language=cs", 400, "without lon");
    check_error("/city/v1/closest?lon=14&language=cs", 400, "without lat");
    check_error("/city/v1/closest?lat=-90.3&lon=14&language=cs", 400, "lat");
    check_error("/city/v1/closest?lat=50&lon=192&language=cs", 400, "lon");
    check_error("/city/v1/closest?lat=50&lon=NaN&language=cs", 400, "lon");
    check_error("/city/v1/closest?lat=a&lon=b&language=cs", 400, "`lat`");
}

#[test]
fn an_unreachable_store_is_told_as_such() {
    check_error("/city/v1/get?id=1&language=cs", 503, "cannot be reached");
}

#[test]
fn the_api_describes_itself() {
    let (status, docs) = ask("/api-docs");
    assert_eq!(status, Status::Ok);
    assert_eq!(docs["openapi"], "3.0.3");
    for path in ["get", "closest", "associatedFeatured", "search", "featured"] {
        let operation = &docs["paths"][format!("/city/v1/{path}")]["get"];
        let parameters = operation["parameters"].as_array().unwrap();
        let language = parameters.iter().find(|p| p["name"] == "language").unwrap();
        assert_eq!(language["in"], "query", "{path}");
        assert_eq!(language["required"], true, "{path}");
    }
    let schemas = &docs["components"]["schemas"];
    let city = schemas["CityResponse"]["properties"].as_object().unwrap();
    let keys: Vec<_> = city.keys().collect();
    assert_eq!(
        keys,
        ["countryIso", "id", "isFeatured", "name", "regionName"]
    );
    assert!(schemas["MultiCityResponse"]["properties"]["cities"].is_object());
}
