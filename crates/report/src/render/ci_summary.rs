//! The summary of a job of continuous integration, as Markdown: short, with the conclusion alone.

use std::fmt::Write as _;

use super::baseline::summary_for_pull_request;
use super::markdown::table::escape;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::outcome::conclusion::{self, TextSpan};

/// Returns the summary for a pull request if there is a baseline, else the conclusion of each
/// benchmark. Changed lines become links if `sources` is the address of the head's sources.
#[must_use]
pub fn summary_of_job(analysis: &Analysis<'_>, sources: Option<&str>) -> String {
    if analysis.against_base.is_some() {
        return summary_for_pull_request(analysis, sources);
    }
    let mut text = format!("### {}\n", escape(&analysis.title));
    for warning in &analysis.warnings {
        let _ = writeln!(text, "\n> **Note:** {}", escape(warning));
    }
    for answer in conclusion::answers(analysis) {
        let sentence: String = answer.sentence.iter().map(TextSpan::text).collect();
        let (name, sentence) = (escape(&answer.name), escape(&sentence));
        let _ = writeln!(text, "\n**{name}**: {sentence}");
        for one in &answer.two_best {
            let _ = writeln!(text, "\n{}", escape(one));
        }
        for (label, trouble) in &answer.troubles {
            let _ = writeln!(text, "- **{}**: {}", escape(label), escape(trouble));
        }
    }
    text
}
