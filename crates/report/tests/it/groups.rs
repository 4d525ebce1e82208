//! Groups of sets: contenders that were never alive concurrently, compared through one that was in
//! every group, on a host that is slower during one of them.

use bakeoff_report::{html, markdown, terminal_table};

use crate::synthetic::groups::sets;
use crate::synthetic::turns::analyse;

#[test]
fn documents_say_how_groups_are_compared() {
    let results = sets(5);
    let analysis = analyse(&results);
    let said = "each set has 2 groups, each with synthetic-common. Contenders of different groups \
                are compared through synthetic-common, set by set";
    for document in [
        markdown(&analysis),
        terminal_table(&analysis, 400),
        html(&analysis),
    ] {
        assert!(document.contains(said), "{document}");
        assert!(document.contains("5 sets, each with fresh processes"));
    }
    assert!(html(&analysis).contains("5, group 2"));
}
