//! The TLS settings for connections to contenders.

use bakeoff_model::load::tls::Tls;
use bakeoff_model::suite::Contender;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_store::suite_folder::SuiteFolder;

/// Returns how a contender is reached over TLS: as the suite says, or its URL if it runs already.
pub(super) fn of(folder: &SuiteFolder, contender: &Contender, runtime: RuntimeKind) -> Option<Tls> {
    let suite = folder.suite.tls.as_ref();
    let suite = suite.map(|tls| tls.in_folder(&folder.path));
    let is_external = runtime == RuntimeKind::External;
    match contender.url.as_ref().filter(|_| is_external) {
        Some(url) => url.is_tls().then(|| Tls {
            // The name in the URL, which is not the one of contenders that are started here.
            name: None,
            ..suite.unwrap_or_default()
        }),
        None => suite,
    }
}
