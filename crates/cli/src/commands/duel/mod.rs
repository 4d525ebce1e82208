//! `bakeoff duel`: services of the user's own against each other. Writes a suite for them and makes
//! a session of it, as `bakeoff run` would.

pub(crate) mod side;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bakeoff_import::{Described, Operation, another};
use bakeoff_model::conditions::RuntimeKind;
use bakeoff_model::suite::Limits;
use bakeoff_runtime::kubernetes::ClusterSettings;
use bakeoff_session::clock;
use bakeoff_session::duel::{
    self, Agreement, Duel, DuelRuns, DuelWarmUp, Request, Service, Unprepared,
};
use bakeoff_session::hint::hinted;
use bakeoff_session::run::run as run_session;
use bakeoff_session::selection::Selection;
use bakeoff_session::session::{Audience, NewSession, Order};
use bakeoff_session::store::recorder::refuse_session;

use super::imported;
use super::run::status;
use super::signals::interrupted;
use crate::args::DuelArgs;
use crate::output::text::{columns, wrapped};
use crate::{exit, output};

/// The method unless another is named.
const GET: &str = "GET";
/// The limits of services that are started here, unless others are named: those of a small pod.
const CPUS: f64 = 1.0;
const MEMORY_BYTES: u64 = 512 << 20;

/// Runs the command.
pub(crate) fn duel(args: &DuelArgs) -> anyhow::Result<u8> {
    let results = args.out.clone().unwrap_or_else(|| {
        let name = format!("{}-{}", duel::NAME, clock::now_compact());
        PathBuf::from("results").join(name)
    });
    let suite = args.save.clone().unwrap_or_else(|| results.join("suite"));
    refuse_session(&results)?;
    let wanted = wanted(args)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        let agreement = tokio::select! {
            agreement = agree(args, &wanted, &suite) => agreement,
            () = interrupted() => return Ok(exit::INTERRUPTED),
        };
        let agreement = match agreement {
            Ok(agreement) => agreement,
            Err(Unprepared::Services(error)) => {
                exit::show(&error);
                return Ok(exit::CHECK_FAILED);
            }
            Err(Unprepared::Order(error)) => return Err(error),
        };
        let order = order(args, agreement.runtime, suite, results);
        let mut watcher = output::watcher(&args.output);
        let mut audience = Audience {
            watcher: &mut *watcher,
            interruption: || Box::pin(interrupted()),
            sitting: None,
        };
        run_session(&order, &mut audience).await.map(status)
    })
}

/// What would let the sides take turns.
const TURNS_HINT: &str = "turns decide sooner: listen on 0.0.0.0 and the port in PORT";

/// Asks every side, and tells the user about it.
async fn agree(args: &DuelArgs, wanted: &Duel, suite: &Path) -> Result<Agreement, Unprepared> {
    let quiet = args.output.quiet || args.output.json;
    let say = |text: &str| {
        if !quiet {
            // A closed terminal must not end a measurement.
            let text = wrapped(text, columns()).join("\n");
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    };
    for note in &wanted.notes {
        say(&format!("note: {note}"));
    }
    say(&format!("asking each twice: {}", wanted.asked()));
    let agreement = duel::prepare(wanted, suite).await?;
    agreement.words.lines().for_each(say);
    if let Some(why) = &agreement.no_turns {
        say(&format!("note: {why}; {TURNS_HINT}"));
    }
    if args.save.is_some() {
        say(&format!("suite: {}", suite.display()));
    }
    Ok(agreement)
}

/// What the arguments ask for.
pub(crate) fn wanted(args: &DuelArgs) -> anyhow::Result<Duel> {
    let imported = imported::read(&args.imported)?;
    let notes = imported.as_ref().map(notes).transpose()?;
    let requests = requests(args, imported.as_ref())?;
    let mut gets = requests.iter().filter(|request| request.method == GET);
    let ready_path = match (&args.ready, gets.next()) {
        (Some(ready), _) => ready.0.clone(),
        (None, Some(first)) => first.path.clone(),
        (None, None) => "/".to_owned(),
    };
    let sides = args.sides.iter();
    let variables = args.env.iter();
    Ok(Duel {
        sides: sides.map(|side| side.0.clone()).collect(),
        requests,
        notes: notes.unwrap_or_default(),
        ignored: args.ignore.clone(),
        port: args.port,
        ready_path,
        env: variables
            .map(|variable| (variable.0.clone(), variable.1.clone()))
            .collect(),
        limits: limits(args),
        workdir: std::env::current_dir().context("this folder is gone")?,
        compose_file: args.compose.clone(),
        connections: args.connections,
        warm_up: match &args.warm_up {
            None => DuelWarmUp::UntilWarm,
            Some(warm_up) => match warm_up.0 {
                None => DuelWarmUp::Skipped,
                Some(time) => DuelWarmUp::For(time.0),
            },
        },
        duration: args.duration.0,
        runs: match args.runs {
            Some(runs) => DuelRuns::Fixed(runs),
            None => DuelRuns::Within(args.within.0),
        },
        may_differ: args.differ,
    })
}

/// What the user should know about requests that are written down elsewhere.
fn notes(described: &Described) -> anyhow::Result<Vec<String>> {
    let left_out = described.left_out.iter();
    let left_out: Vec<String> = left_out.map(|one| format!("left out: {one}")).collect();
    if described.operations.is_empty() {
        let why = match left_out.is_empty() {
            true => "there is none in it".to_owned(),
            false => left_out.join("; "),
        };
        return Err(hinted(
            format_args!("no request can be made of the {}", described.source.noun()),
            why,
        ));
    }
    Ok(described.notes.iter().cloned().chain(left_out).collect())
}

/// Every request that is named, each by another name.
fn requests(args: &DuelArgs, imported: Option<&Described>) -> anyhow::Result<Vec<Request>> {
    let body = String::from_utf8(args.body.read()?)
        .context("--body: a suite file holds text, and this is none")?;
    let method = args.method.to_uppercase();
    let headers = args.headers.iter();
    let headers: Vec<(String, String)> = headers
        .map(|header| (header.0.clone(), header.1.clone()))
        .collect();
    let typed = args.get.iter().map(|path| Request {
        name: format!("{method} {}", path.0),
        weight: 1,
        method: method.clone(),
        path: path.0.clone(),
        headers: headers.clone(),
        body: body.clone(),
    });
    let imported = imported.map(|all| all.operations.clone());
    let imported = imported.into_iter().flatten();
    let curl = args.curl.iter().map(|curl| curl.0.clone());
    let mut requests: Vec<Request> = Vec::new();
    for mut request in typed.chain(curl.chain(imported).map(request)) {
        let is_taken = |name: &str| requests.iter().any(|one| one.name == name);
        request.name = another(request.name, is_taken);
        requests.push(request);
    }
    Ok(requests)
}

fn request(operation: Operation) -> Request {
    Request {
        name: operation.name,
        weight: operation.weight,
        method: operation.method,
        path: operation.path,
        headers: operation.headers.into_iter().collect(),
        body: operation.body,
    }
}

/// The limits that are named, and for what is started here those that are not.
fn limits(args: &DuelArgs) -> Limits {
    let (cpus, memory) = (args.cpus.map(|cpus| cpus.0), args.memory.map(|size| size.0));
    let is_url = |service: &Service| matches!(service, Service::Url(_));
    if args.sides.iter().any(|side| is_url(&side.0.service)) {
        return Limits {
            cpus,
            memory_bytes: memory,
        };
    }
    Limits {
        cpus: cpus.or(Some(CPUS)),
        memory_bytes: memory.or(Some(MEMORY_BYTES)),
    }
}

/// The session of the suite that was written.
fn order(args: &DuelArgs, runtime: RuntimeKind, suite: PathBuf, results: PathBuf) -> Order {
    Order::Begin(Box::new(NewSession {
        cluster: ClusterSettings::default(),
        suite,
        selection: Selection {
            contenders: Vec::new(),
            benchmarks: Vec::new(),
            profile: Some(duel::NAME.to_owned()),
            runtime,
            backend: None,
            backend_delay: None,
            runs: None,
            seed: args.seed.unwrap_or_else(clock::fresh_seed),
        },
        slice: None,
        out: Some(results),
        round: None,
        flame_graphs: args.profile_cpu,
        backend_url: None,
        baseline: None,
    }))
}
