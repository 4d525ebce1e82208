//! The winner of a round: by the rule, with its interval; ties are said and broken.

use bakeoff_model::suite::{Winner, WinnerRule};
use bakeoff_report::{html, markdown};

use crate::synthetic::contender;
use crate::synthetic::winners::{analysis, qualification, results};

#[test]
fn documents_link_to_the_rounds() {
    let mut results = results(&[contender("synthetic-a", 6001.0, 200.0)], 2);
    let winner = Winner {
        rule: WinnerRule::PeakThroughput,
        at: None,
    };
    let mut found = qualification(results.clone(), winner);
    found.folder = "../engines".to_owned();
    results.qualifications.push(found);
    results
        .skipped
        .push("synthetic-jvm: needs a JDK".to_owned());
    results.round = Some("main".to_owned());
    let analysis = analysis(&results);
    let page = html(&analysis);
    for text in [
        "<summary>engines: <b>synthetic-a</b>",
        "<a href=\"../../engines/report/index.html\">The report of engines</a>",
        "No other contender could be compared with it.",
        "Took no part",
        "needs a JDK",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let text = markdown(&analysis);
    assert!(text.contains("- [engines](../engines/results.md): **synthetic-a** by highest"));
    assert!(text.contains("- synthetic-jvm: needs a JDK"));
}
