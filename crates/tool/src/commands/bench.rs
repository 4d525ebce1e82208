//! The bench on which contenders are put: the runtime, the built contenders, the backend. Shared
//! by `run`, `verify`, `build` and `record`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_model::check::{Answer, Check};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Begin, FORMAT, Host, Outcome};
use bakeoff_model::suite::{Contender, Suite};
use bakeoff_runtime::build::{self, BuildError, BuildOptions, Built};
use bakeoff_runtime::{BoxFuture, Runtime, StartSpec};

use crate::clock;
use crate::session::case::{self, BackendAddress, Case};
use crate::session::event::{Event, Observer};
use crate::session::placement::Placement;
use crate::session::{Cases, Client, PendingRun};
use crate::suite_folder::{self, SuiteFolder};

/// The documents' own bound on an answer, also for checks.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);
