//! Contenders without a rank and runs that failed, with the reasons.

use maud::{Markup, html};

use bakeoff_analysis::tables::failures::{FailedRun, Unranked};

pub(super) fn unranked(list: &[Unranked]) -> Markup {
    html! {
        ul.reasons {
            @for one in list { li { b { (one.label) } ": " (one.reason) } }
        }
    }
}

pub(super) fn failed_runs(list: &[FailedRun]) -> Markup {
    html! {
        @if !list.is_empty() {
            h4.unfair { "Failed runs" }
            ul.reasons {
                @for failure in list {
                    li {
                        b { (failure.label) } " " (failure.runs_text()) ", at " (failure.stage)
                        ": " (failure.message) (failure.log_text())
                        @if !failure.evidence.trim().is_empty() {
                            details { summary { "evidence" } pre { (failure.evidence) } }
                        }
                    }
                }
            }
        }
    }
}
