//! A real Elasticsearch: built from the module in `backends/elasticsearch`, started, filled with
//! the suite's documents, and warmed, because a cold JVM would be measured with the contenders.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use bakeoff_build::{BuildOptions, Built};
use bakeoff_model::suite::Contender;
use bakeoff_model::suite::container::ContainerSettings;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::http::ask;
use crate::local::ProcessRuntime;
use crate::services::elasticsearch_data;
use crate::services::options::{BackendOptions, Elasticsearch};
use crate::services::request_count::Counter;
use crate::services::running::{Backend, address, spec, started};

const NAME: &str = "elasticsearch";

/// The JDK that builds and runs it.
const JDK: u32 = 17;

/// How long it may take until it responds: 5 to 15 s on an idle host, more on a busy small one.
const READY: Duration = Duration::from_secs(120);

/// Connections that warm Elasticsearch up.
const WARMERS: usize = 4;

pub(super) async fn start(
    runtime: &ProcessRuntime,
    options: &BackendOptions,
    own: &Elasticsearch,
) -> Result<Backend, Problem> {
    let java = bakeoff_build::java(JDK).map_err(failed)?;
    let built = built(own).await?;
    let address = address(options, NAME)?;
    let data = runtime
        .folder()
        .join(format!("elasticsearch-{}", address.port()));
    let artifact = built.artifact.expect("the module below names its artifact");
    let command = command(&java, &artifact.path, own.heap_mib, address, &data);
    let mut spec = spec(NAME, options, address, command);
    spec.workdir = built.workdir;
    let instance = started(runtime, &spec).await?;
    let mut backend = Backend::of(NAME, address, instance).with_scratch(data);
    backend.await_ready(READY, answers).await?;
    let node = backend.local_address();
    fill(node, &options.data, own.warm_up).await?;
    Ok(backend.with_counter(Counter::Statistics(node)))
}

fn failed(why: impl Into<Problem>) -> Problem {
    why.into().context(format_args!("backend {NAME}"))
}

async fn built(own: &Elasticsearch) -> Result<Built, Problem> {
    let build_options = BuildOptions {
        cache: own.cache.clone(),
        suite: "backends".to_owned(),
        limit: bakeoff_build::BUILD_LIMIT,
    };
    Ok(bakeoff_build::build(&module(), &own.sources, &build_options).await?)
}

async fn fill(node: SocketAddr, folder: &Path, warm_up: Duration) -> Result<(), Problem> {
    let documents = elasticsearch_data::load(node, folder)
        .await
        .map_err(failed)?;
    warm(node, documents, warm_up).await;
    Ok(())
}

/// The folder of its programs, built, for an image.
///
/// # Errors
/// It cannot be built here.
pub async fn artifact(own: &Elasticsearch) -> Result<PathBuf, Problem> {
    let built = built(own).await?;
    let artifact = built.artifact.expect("the module below names its artifact");
    Ok(artifact.path)
}

/// Returns the command of Elasticsearch in a container, which has its folder and its JDK.
#[must_use]
pub fn command_in_image(java: &str, artifact: &str, heap_mib: u32, port: u16) -> Vec<String> {
    let everywhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port);
    let data = Path::new("/tmp/elasticsearch");
    command(
        Path::new(java),
        Path::new(artifact),
        heap_mib,
        everywhere,
        data,
    )
}

/// Waits until a node responds, fills it with the documents of a folder and warms it.
///
/// # Errors
/// It does not respond, or refuses something.
pub(crate) async fn prepare(
    node: SocketAddr,
    folder: &Path,
    warm_up: Duration,
) -> Result<(), Problem> {
    let begun = Instant::now();
    while !answers(node).await {
        if begun.elapsed() > READY {
            return Err(failed(format!("not ready after {} s", READY.as_secs())));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    fill(node, folder, warm_up).await
}

/// Documents fetched and searches made up to now, as a node says it.
pub(crate) async fn requests(node: SocketAddr) -> Option<u64> {
    Counter::Statistics(node).read().await
}

/// The module as something that can be built. It is run by hand, because its address is only
/// known then.
fn module() -> Contender {
    Contender {
        name: NAME.to_owned(),
        folder: NAME.to_owned(),
        variant: None,
        describe: String::new(),
        language: "java".to_owned(),
        note: None,
        baseline: None,
        log_lines_min: None,
        needs: vec!["maven".to_owned(), format!("jdk-{JDK}")],
        build: ["mvn", "--quiet", "--batch-mode", "package"]
            .map(str::to_owned)
            .to_vec(),
        build_env: BTreeMap::new(),
        artifact: Some("target/app".to_owned()),
        run: Vec::new(),
        workdir: None,
        url: None,
        version: Vec::new(),
        probes: Vec::new(),
        jdk: Some(JDK),
        image: None,
        image_entrypoint: Vec::new(),
        image_arguments: Vec::new(),
        image_volumes: Vec::new(),
        container: ContainerSettings::default(),
        image_base: String::new(),
        env: BTreeMap::new(),
        matrix: BTreeMap::new(),
        is_base: false,
    }
}

fn command(
    java: &Path,
    artifact: &Path,
    heap_mib: u32,
    address: SocketAddr,
    data: &Path,
) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    vec![
        text(java),
        format!("-Xms{heap_mib}m"),
        format!("-Xmx{heap_mib}m"),
        "-jar".to_owned(),
        text(&artifact.join("elasticsearch-backend.jar")),
        "--host".to_owned(),
        address.ip().to_string(),
        "--port".to_owned(),
        address.port().to_string(),
        "--data".to_owned(),
        text(data),
    ]
}

/// Whether the node responds and reports itself healthy.
async fn answers(node: SocketAddr) -> bool {
    let path = "/_cluster/health";
    let answer = ask(node, "GET", path, &[], b"", Duration::from_secs(5)).await;
    answer.is_ok_and(|answer| answer.status == 200)
}

/// Fetches documents until the time is over, so that the node's compiler has seen its hot path. A
/// failure is not an error here: the checks that follow say it better.
async fn warm(node: SocketAddr, documents: Vec<String>, time: Duration) {
    let until = Instant::now() + time;
    let shared = Arc::new((documents, AtomicUsize::new(0)));
    let warmers: Vec<_> = (0..WARMERS)
        .map(|_| tokio::spawn(fetch_until(node, Arc::clone(&shared), until)))
        .collect();
    for warmer in warmers {
        let _ = warmer.await;
    }
}

async fn fetch_until(
    node: SocketAddr,
    shared: Arc<(Vec<String>, AtomicUsize)>,
    until: Instant,
) -> Option<()> {
    let (documents, next) = &*shared;
    let stream = TcpStream::connect(node).await.ok()?;
    let _ = stream.set_nodelay(true);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let driver = tokio::spawn(connection);
    while Instant::now() < until {
        let index = next.fetch_add(1, Ordering::Relaxed) % documents.len().max(1);
        // Like contenders' requests: their responses are small, and so must be those of the
        // warm-up.
        let path = format!(
            "{}?_source_excludes=geometry,population",
            documents.get(index)?
        );
        let request = Request::get(path).header(HOST, node.to_string());
        let answer = sender
            .send_request(request.body(Empty::<Bytes>::new()).ok()?)
            .await
            .ok()?;
        answer.into_body().collect().await.ok()?;
    }
    drop(sender);
    driver.abort();
    Some(())
}
