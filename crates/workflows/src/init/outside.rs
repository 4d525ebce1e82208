//! What `init` takes from outside of its arguments: services of a compose file, whose images an
//! engine may have to build, and a description that a running service serves.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use bakeoff_base::hint::hinted;
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_places::http;

use crate::duel::compose;
use crate::init::Init;
use crate::service::{DuelService, ServiceSource};

/// How long a description may take to come.
const FETCH_LIMIT: Duration = Duration::from_secs(15);

impl Init {
    /// Looks the services of a compose file up: the one that is named, or the one in this folder.
    /// `port` is the one that the user names.
    ///
    /// # Errors
    /// There is no such file or service, a service needs what it is not given, or an image cannot
    /// be built.
    pub async fn with_composed(
        self,
        file: Option<&Path>,
        port: Option<u16>,
    ) -> anyhow::Result<Self> {
        let is_deployed =
            |side: &&DuelService| matches!(side.service, ServiceSource::Deployment(_));
        if let Some(side) = self.sides.iter().find(is_deployed) {
            return Err(hinted(
                format_args!("{} is a Deployment, which only `duel` can read", side.name),
                "`bakeoff duel ... --save SUITE` keeps the suite of its copies",
            ));
        }
        let workdir = std::env::current_dir().context("this folder is gone")?;
        let found = compose::look_up(&self.sides, file, &workdir, port).await?;
        Ok(Self {
            sides: found.sides,
            dependencies: found.dependencies,
            port: found.port.unwrap_or(self.port),
            ..self
        })
    }
}

/// Fetches the text of a running service at a URL.
///
/// # Errors
/// The response is not status 200 with a text.
pub async fn fetch(url: &ServiceUrl) -> anyhow::Result<String> {
    let mut addresses = tokio::net::lookup_host((url.name(), url.port()))
        .await
        .with_context(|| format!("{url}: no such host"))?;
    let address = addresses
        .next()
        .with_context(|| format!("{url}: no such host"))?;
    let headers = [("host".to_owned(), url.host().to_owned())];
    let answer = http::ask(address, "GET", url.prefix(), &headers, b"", FETCH_LIMIT)
        .await
        .map_err(|error| anyhow!("{url}: {error}"))?;
    if answer.status != 200 {
        bail!("{url}: the response has status {}", answer.status);
    }
    String::from_utf8(answer.body).with_context(|| format!("{url}: no text"))
}
