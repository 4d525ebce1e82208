//! Output of a session: events in, text, JSON Lines and documents out.

mod builds;
pub(crate) mod capacity;
pub(crate) mod documents;
mod json;
mod notes;
mod otlp;
pub(crate) mod progress;
mod set_lines;
pub(crate) mod shown;
mod sizing;
mod step_total;
pub(crate) mod terminal;
pub(crate) mod text;
mod time_left;

use bakeoff_session::event::Observer;

use crate::args::OutputArgs;
use documents::WithDocuments;
use json::JsonLines;
use otlp::Otlp;
use progress::Progress;
use shown::Shown;
use terminal::Terminal;

/// The observer that the arguments ask for.
///
/// # Errors
/// Metrics cannot be sent.
pub(crate) fn watcher(args: &OutputArgs) -> anyhow::Result<Box<dyn Observer>> {
    let watcher: Box<dyn Observer> = match args.json {
        true => Box::new(WithDocuments(JsonLines(std::io::stdout()))),
        false => {
            let shown = match (args.quiet, args.verbose) {
                (true, _) => Shown::Errors,
                (_, true) => Shown::Everything,
                _ => Shown::Sets,
            };
            Box::new(WithDocuments(Terminal::new(Progress::stderr(shown), shown)))
        }
    };
    Ok(match &args.otlp {
        Some(url) => Box::new(Otlp::new(watcher, &url.0)?),
        None => watcher,
    })
}
