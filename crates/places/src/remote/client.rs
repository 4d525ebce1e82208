//! The client of this program elsewhere.

use std::future::Future;

use bakeoff_base::problem::Problem;

use crate::remote::protocol::{Numbered, RemoteReply, RemoteRequest};

/// A way for lines to the program and back. Dropping it ends the program there, and what that has
/// started.
pub(crate) trait Way: Send {
    /// Sends a line.
    ///
    /// # Errors
    /// The way is cut.
    fn say(&mut self, line: &str) -> impl Future<Output = Result<(), Problem>> + Send;

    /// Returns the next line that comes.
    ///
    /// # Errors
    /// The program has ended, or the way is cut.
    fn hear(&mut self) -> impl Future<Output = Result<String, Problem>> + Send;
}

/// A client over a way.
#[derive(Debug)]
pub(crate) struct RemoteClient<W> {
    way: W,
    /// The number of the last request.
    number: u64,
}

impl<W: Way> RemoteClient<W> {
    pub(crate) fn new(way: W) -> Self {
        Self { way, number: 0 }
    }

    /// Asks, and waits for the reply. Replies to earlier questions, for which nothing waits any
    /// more, are passed over.
    ///
    /// # Errors
    /// The way is cut, or the program there is another one.
    pub(crate) async fn ask(&mut self, question: &RemoteRequest) -> Result<RemoteReply, Problem> {
        self.number += 1;
        let asked = Numbered {
            number: self.number,
            line: question,
        };
        let line = serde_json::to_string(&asked).map_err(Problem::new)?;
        self.way.say(&line).await?;
        loop {
            let line = self.way.hear().await?;
            let reply: Numbered<RemoteReply> = serde_json::from_str(&line)
                .map_err(|error| format!("invalid reply of this program elsewhere: {error}"))?;
            if reply.number == self.number {
                return Ok(reply.line);
            }
        }
    }
}

/// The error of a reply that does not fit the question.
pub(crate) fn strange(reply: RemoteReply) -> Problem {
    match reply {
        RemoteReply::Failed(problem) => problem,
        _ => "it replied to another question".into(),
    }
}
