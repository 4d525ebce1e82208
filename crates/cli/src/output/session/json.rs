//! The event stream: one event a line, as in `docs/schema/event.schema.json`.

use std::io::Write;

use bakeoff_analysis::Analysis;
use bakeoff_store::event::{Event, Observer};

use super::with_documents::Watcher;

/// Prints every event as a line of JSON.
pub(crate) struct JsonLines<W>(pub(crate) W);

impl<W: Write> Observer for JsonLines<W> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.0.write_all(&line)?;
        Ok(())
    }
}

impl<W: Write> Watcher for JsonLines<W> {
    fn ended(&mut self, event: &Event, _analysis: &Analysis<'_>) -> anyhow::Result<()> {
        self.observe(event)
    }
}
