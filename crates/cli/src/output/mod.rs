//! What the user sees of a session: events in, text, JSON Lines and documents out.

mod builds;
pub(crate) mod capacity;
pub(crate) mod documents;
mod json;
mod pace;
pub(crate) mod progress;
mod set;
mod sizing;
mod so_far;
mod step_total;
pub(crate) mod terminal;
pub(crate) mod text;

use bakeoff_session::event::Observer;

use crate::args::OutputArgs;
use documents::WithDocuments;
use json::JsonLines;
use progress::Progress;
use terminal::Terminal;

/// The observer that the arguments ask for.
pub(crate) fn watcher(args: &OutputArgs) -> Box<dyn Observer> {
    if args.json {
        return Box::new(WithDocuments(JsonLines(std::io::stdout())));
    }
    let progress = Progress::stderr(args.quiet);
    Box::new(WithDocuments(Terminal::new(progress)))
}
