//! Contenders that speak gRPC, as `suite.toml` says it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{KeyPath, Reading};
use super::transport;
use crate::load::Protocol;
use crate::request::Body;
use crate::request::grpc::POST;
use crate::suite::{Benchmark, Grpc};

/// Contenders speak gRPC on their port.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GrpcTable {
    /// Files that describe services and messages, relative to the suite: `.proto` sources, or sets
    /// of descriptors as `protoc --descriptor_set_out --include_imports` writes them.
    #[schemars(length(min = 1))]
    pub files: Vec<String>,
}

/// The settings at `suite.grpc`.
pub(super) fn grpc(reading: &mut Reading<'_>, table: GrpcTable) -> Grpc {
    let place = KeyPath::root().key("suite").key("grpc").key("files");
    for (index, file) in table.files.iter().enumerate() {
        reading.check_inside(&place.index(index), file, "suite");
    }
    Grpc {
        files: table.files,
        descriptors: Body::default(),
    }
}

/// Makes the requests of a benchmark calls over HTTP/2.
pub(super) fn call(reading: &mut Reading<'_>, index: usize, benchmark: &mut Benchmark) {
    let place = KeyPath::root().key("benchmark").index(index);
    if let Protocol::Websocket(_) = benchmark.transport.protocol {
        let place = place.key("transport").key("protocol");
        reading.complain(&place, "contenders that speak gRPC speak HTTP/2", None);
        return;
    }
    benchmark.transport.protocol = Protocol::Http2;
    benchmark.transport.grpc = true;
    for request in &mut benchmark.requests {
        POST.clone_into(&mut request.method);
    }
    if let Some(why) = benchmark.transport.contradiction() {
        let message = format!("`{place}`: {why}");
        reading.complain(&place.key("transport"), &message, None);
    }
    let transport_place = place.key("transport");
    let (transport, requests) = (&benchmark.transport, &benchmark.requests);
    transport::check_events(reading, &transport_place, transport, requests);
    if let Some(scenario) = &benchmark.scenario
        && let Some(why) = benchmark.transport.contradiction_to(scenario)
    {
        let message = format!("`{place}`: {why}");
        reading.complain(&place.key("scenario"), &message, None);
    }
}
