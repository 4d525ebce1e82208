//! The requests to the user's services and their load, for `duel` and `bisect`.

use std::time::Duration;

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_import::{Described, Operation, another};
use bakeoff_model::request::{Body, grpc};
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_workflows::duel::{Duel, DuelRuns, DuelWarmUp, USUAL_LIMITS};
use bakeoff_workflows::service::DuelRequest;

use super::proto;
use crate::args::linux::AskedArgs;
use crate::commands::imported;

/// The method unless another is named.
const GET: &str = "GET";

/// Returns the duel that the arguments describe, without sides.
pub(crate) fn duel(args: &AskedArgs) -> anyhow::Result<Duel> {
    let imported = imported::read(&args.imported)?;
    let curl = imported::curl(&args.curl)?;
    let of_curl = curl.iter().flat_map(|request| request.notes.clone());
    let mut notes = imported
        .as_ref()
        .map(notes)
        .transpose()?
        .unwrap_or_default();
    notes.extend(of_curl);
    let curl: Vec<Operation> = curl.into_iter().map(|request| request.operation).collect();
    let requests = requests(args, curl, imported.as_ref())?;
    let grpc = proto::read(&args.proto)?;
    // A call of any method shows that a service is ready.
    let is_asked = |request: &&DuelRequest| {
        grpc.is_some() || request.method == GET && !request.path.contains("${env:")
    };
    let mut gets = requests.iter().filter(is_asked);
    let ready_path = match (&args.ready, gets.next()) {
        (Some(ready), _) => ready.0.clone(),
        (None, Some(first)) => first.path.clone(),
        (None, None) => "/".to_owned(),
    };
    let variables = args.env.iter();
    let limits = named_limits(args);
    Ok(Duel {
        sides: Vec::new(),
        requests,
        grpc,
        notes,
        scrape: args.scrape.as_ref().map(|path| path.0.clone()),
        ignored: args.ignore.clone(),
        port: args.port,
        ready_path,
        start_timeout: args.start_timeout.map(|time| time.0),
        env: variables
            .map(|variable| (variable.0.clone(), variable.1.clone()))
            .collect(),
        limits: Limits {
            cpus: limits.cpus.or(USUAL_LIMITS.cpus),
            memory_bytes: limits.memory_bytes.or(USUAL_LIMITS.memory_bytes),
        },
        workdir: std::env::current_dir().context("this folder is gone")?,
        cluster: None,
        hosts: FarHosts::default(),
        compose_file: None,
        dependencies: Vec::new(),
        connections: args.connections,
        warm_up: match &args.warm_up {
            None => DuelWarmUp::UntilWarm,
            Some(warm_up) => match warm_up.0 {
                None => DuelWarmUp::Skipped,
                Some(time) => DuelWarmUp::For(time.0),
            },
        },
        duration: args.duration.0,
        runs: DuelRuns::Within(Duration::ZERO),
        may_differ: args.differ,
        control: true,
        latency: true,
    })
}

/// Returns the limits that are named.
pub(crate) fn named_limits(args: &AskedArgs) -> Limits {
    Limits {
        cpus: args.cpus.map(|cpus| cpus.0),
        memory_bytes: args.memory.map(|size| size.0),
    }
}

/// Returns notes for the user about requests that are written down elsewhere.
fn notes(described: &Described) -> anyhow::Result<Vec<String>> {
    let left_out = described.left_out_in_short().into_iter();
    let left_out: Vec<String> = left_out.map(|one| format!("left out: {one}")).collect();
    if described.operations.is_empty() {
        let why = match left_out.is_empty() {
            true => "there is none in it".to_owned(),
            false => match described.remedy() {
                Some(remedy) => format!("{}; {remedy}", left_out.join("; ")),
                None => left_out.join("; "),
            },
        };
        return Err(hinted(
            format_args!("no request can be made of the {}", described.source.noun()),
            why,
        ));
    }
    Ok(described.notes.iter().cloned().chain(left_out).collect())
}

/// Every request that is named, each by another name.
fn requests(
    args: &AskedArgs,
    curl: Vec<Operation>,
    imported: Option<&Described>,
) -> anyhow::Result<Vec<DuelRequest>> {
    let body = Body::from(args.body.read()?);
    let is_call = !args.proto.is_empty();
    let method = match is_call {
        true => grpc::POST.to_owned(),
        false => args.method.to_uppercase(),
    };
    let headers = args.headers.iter();
    let headers: Vec<(String, String)> = headers
        .map(|header| (header.0.clone(), header.1.clone()))
        .collect();
    let typed = args.get.iter().map(|path| DuelRequest {
        name: match is_call {
            true => proto::name(&path.0),
            false => format!("{method} {}", path.0),
        },
        weight: 1,
        method: method.clone(),
        path: path.0.clone(),
        headers: headers.clone(),
        body: body.clone(),
    });
    let imported = imported.map(|all| all.operations.clone());
    let mut imported = imported.unwrap_or_default();
    // A description says which credentials it asks for, and not what they are.
    if args.imported.source.openapi.is_some() {
        for operation in &mut imported {
            operation.headers.extend(headers.iter().cloned());
        }
    }
    let mut requests: Vec<DuelRequest> = Vec::new();
    for mut request in typed.chain(curl.into_iter().chain(imported).map(DuelRequest::from)) {
        let is_taken = |name: &str| requests.iter().any(|one| one.name == name);
        request.name = another(request.name, is_taken);
        requests.push(request);
    }
    Ok(requests)
}
