//! Names of parts of the page in addresses, so that a reader can link to them.

/// The part about a contender with its parameters.
pub(super) fn contender(label: &str) -> String {
    let kept = |letter: char| match letter {
        letter if letter.is_whitespace() => '_',
        // A browser would decode what follows it.
        '%' => '_',
        letter => letter,
    };
    let label: String = label.chars().map(kept).collect();
    format!("contender-{label}")
}

/// The anchor of a chart of a panel.
pub(super) fn figure(panel: usize, id: &str) -> String {
    format!("b{panel}-{id}")
}

/// A step of a case of a benchmark with load.
pub(super) fn step(benchmark: usize, case: usize, step: usize) -> String {
    format!("b{benchmark}-c{case}-s{step}")
}
