//! Shell quoting of paths in commands that messages show.

use std::borrow::Cow;
use std::path::Path;

/// Returns a path as a shell takes it, quoted if necessary.
pub fn of_shell(path: &Path) -> String {
    let text = path.to_string_lossy();
    let quoted = shlex::try_quote(&text).map(Cow::into_owned);
    quoted.unwrap_or_else(|_| text.into_owned())
}
