//! The number of requests that a backend has completed, for other processes. The replay backend
//! reports it over a separate Unix socket: on its port the query would wait behind the contender's
//! requests.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;

use crate::http::ask;

/// How long a reply may take; a busy backend needs milliseconds.
const LIMIT: Duration = Duration::from_secs(2);

/// The counters of Elasticsearch for its indices: documents fetched by id, and searches of a shard.
const STATISTICS: &str = "/_stats/get,search?filter_path=_all.total.get.total,\
                          _all.total.search.query_total";

/// Where to read a backend's count.
#[derive(Debug)]
pub(super) enum Counter {
    /// The socket of a replay backend.
    Socket(PathBuf),
    /// The statistics of an Elasticsearch: what its indices were asked.
    Statistics(SocketAddr),
}

impl Counter {
    /// Requests completed up to now; `None` when it does not report them.
    pub(super) async fn read(&self) -> Option<u64> {
        let reading = async {
            match self {
                Self::Socket(path) => told(path).await,
                Self::Statistics(node) => counted(*node).await,
            }
        };
        tokio::time::timeout(LIMIT, reading).await.ok().flatten()
    }
}

async fn told(path: &Path) -> Option<u64> {
    let mut text = String::new();
    let mut stream = UnixStream::connect(path).await.ok()?;
    stream.read_to_string(&mut text).await.ok()?;
    text.parse().ok()
}

async fn counted(node: SocketAddr) -> Option<u64> {
    let answer = ask(node, "GET", STATISTICS, &[], b"", LIMIT).await.ok()?;
    sum(&serde_json::from_slice(&answer.body).ok()?)
}

fn sum(statistics: &serde_json::Value) -> Option<u64> {
    let total = &statistics["_all"]["total"];
    let fetched = total["get"]["total"].as_u64()?;
    Some(fetched + total["search"]["query_total"].as_u64()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use bakeoff_replay::Answered;

    use super::{Counter, sum};

    #[tokio::test]
    async fn whoever_connects_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("count");
        let counter = Counter::Socket(path.clone());
        assert_eq!(counter.read().await, None);
        let answered = Answered::default();
        answered.tell_at(&path).unwrap();
        assert_eq!(counter.read().await, Some(0));
        answered.one();
        answered.one();
        assert_eq!(counter.read().await, Some(2));
    }

    #[test]
    fn the_statistics_of_elasticsearch_are_added_up() {
        let statistics = json!({ "_all": { "total": {
            "get": { "total": 40 }, "search": { "query_total": 2 } } } });
        assert_eq!(sum(&statistics), Some(42));
        assert_eq!(sum(&json!({ "_all": { "total": {} } })), None);
    }
}
