//! Output of a session: events in, text, JSON Lines and documents out.

mod builds;
pub(crate) mod capacity;
mod json;
mod notes;
mod otlp;
pub(crate) mod progress;
mod set_lines;
pub(crate) mod shown;
mod sizing;
mod step_total;
pub(crate) mod terminal;
mod time_left;
mod with_documents;

use bakeoff_store::event::Observer;

use crate::args::linux::OutputArgs;
use json::JsonLines;
use otlp::Otlp;
use progress::Progress;
use shown::Shown;
use terminal::Terminal;
use with_documents::WithDocuments;

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
