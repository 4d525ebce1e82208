//! A PostgreSQL in a Pod, with its administrator.

use std::path::Path;
use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::LogParams;

use crate::api::BoxFuture;
use crate::kubernetes::cluster::error::ClusterError;
use crate::kubernetes::pods::exec::output;
use crate::kubernetes::pods::running::is_over;
use crate::services::postgres::{READY, psql_in_image};
use crate::services::psql::failed;
use crate::services::{Administrator, Databases};

/// The port on which PostgreSQL listens.
pub(crate) const PORT: u16 = 5432;
/// Pause between two checks whether PostgreSQL responds.
const POLL: Duration = Duration::from_millis(250);
/// Lines of PostgreSQL's output that say why it ended.
const LAST_LINES: i64 = 6;

/// The way to the server.
#[derive(Debug)]
struct InPod {
    pods: Api<Pod>,
    name: String,
}

impl Administrator for InPod {
    fn run<'a>(
        &'a self,
        database: &'a str,
        statements: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>> {
        Box::pin(async move {
            let command = psql_in_image(PORT, database, statements);
            let done = output(&self.pods, &self.name, &command).await;
            done.map_err(failed)
        })
    }

    fn process(&self) -> Option<u32> {
        None
    }
}

/// Waits until the server in a Pod responds, and makes there what is copied for each contender.
pub(crate) async fn databases(
    pods: &Api<Pod>,
    name: &str,
    data: &Path,
) -> Result<Databases, ClusterError> {
    let databases = Databases::ours(InPod {
        pods: pods.clone(),
        name: name.to_owned(),
    });
    let begun = Instant::now();
    while !databases.answer().await {
        let found = pods.get_opt(name).await;
        let has_ended = found.is_ok_and(|pod| pod.is_none_or(|pod| is_over(&pod)));
        if has_ended || begun.elapsed() > READY {
            return Err(not_ready(pods, name, has_ended).await);
        }
        tokio::time::sleep(POLL).await;
    }
    let filled = databases.fill_template(data).await;
    filled.map_err(ClusterError::new)?;
    Ok(databases)
}

async fn not_ready(pods: &Api<Pod>, name: &str, has_ended: bool) -> ClusterError {
    let what = match has_ended {
        true => "ended before it was ready".to_owned(),
        false => format!("is not ready after {} s", READY.as_secs()),
    };
    let parameters = LogParams {
        tail_lines: Some(LAST_LINES),
        ..LogParams::default()
    };
    let said = pods.logs(name, &parameters).await.unwrap_or_default();
    ClusterError::new(format!(
        "PostgreSQL in the Pod {name} {what}\n{}",
        said.trim()
    ))
}
