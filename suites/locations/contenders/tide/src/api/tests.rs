//! What can be answered without Elasticsearch. Nobody listens where the store looks for it.

use serde_json::Value;
use tide::{
    StatusCode,
    http::{self, Method, Url},
};

use super::*;
use crate::store::Store;

async fn ask(method: Method, path: &str) -> (StatusCode, Value) {
    let nobody = Url::parse("http://127.0.0.1:1").unwrap();
    let app = app(Locations::new(Store::new(nobody).unwrap()));
    let request = http::Request::new(method, format!("http://localhost{path}").as_str());
    let mut response: http::Response = app.respond(request).await.unwrap();
    assert_eq!(response.content_type(), Some(http::mime::JSON), "{path}");
    (response.status(), response.body_json().await.unwrap())
}

async fn check_error(path: &str, status: u16, message: &str) {
    let (found, body) = ask(Method::Get, path).await;
    assert_eq!(u16::from(found), status, "{path}");
    let text = body["message"].as_str().unwrap();
    assert!(text.contains(message), "{path}: {text}");
}

#[async_std::test]
async fn errors_name_the_problem() {
    check_error("/", 404, "there is no GET /").await;
    check_error("/no/such/path", 404, "/no/such/path").await;
    check_error("/city/v1/get", 400, "`id`").await;
    check_error("/city/v1/get?id=123", 400, "`language`").await;
    check_error("/city/v1/get?id=blabla&language=cs", 400, "invalid digit").await;
    check_error("/city/v1/featured?language=xx", 400, "`cs`").await;
    check_error("/city/v1/search?query=%20&language=cs", 400, "query").await;
    check_error("/city/v1/closest?lat=50&language=cs", 400, "without lon").await;
    check_error("/city/v1/closest?lon=14&language=cs", 400, "without lat").await;
    check_error("/city/v1/closest?lat=-90.3&lon=14&language=cs", 400, "lat").await;
    check_error("/city/v1/closest?lat=50&lon=192&language=cs", 400, "lon").await;
    check_error("/city/v1/closest?lat=50&lon=NaN&language=cs", 400, "lon").await;
}

#[async_std::test]
async fn a_wrong_method_is_told_as_such() {
    let (status, body) = ask(Method::Post, "/city/v1/get").await;
    assert_eq!(status, StatusCode::MethodNotAllowed);
    assert_eq!(body["message"], "/city/v1/get does not take POST");
}

#[async_std::test]
async fn an_unreachable_store_is_told_as_such() {
    check_error("/city/v1/get?id=1&language=cs", 503, "cannot be reached").await;
}

#[async_std::test]
async fn the_api_describes_itself() {
    let (status, docs) = ask(Method::Get, "/api-docs").await;
    assert_eq!(status, StatusCode::Ok);
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
