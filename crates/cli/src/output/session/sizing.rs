//! Sizing in a terminal: the next measurement, and the table of shapes.

use std::io::Write;
use std::time::Duration;

use bakeoff_analysis::data::number::significant;
use bakeoff_store::event::sizing::{Shape, Sizing};

use crate::output::text;

/// Says which limits are measured next.
pub(super) fn measures(
    output: &mut impl Write,
    cpus: f64,
    memory_bytes: u64,
) -> std::io::Result<()> {
    writeln!(output, "\nwith {cpus} CPU and {} MiB:", memory_bytes >> 20)
}

/// Writes the table and the conclusion.
pub(super) fn end(output: &mut impl Write, sizing: &Sizing) -> anyhow::Result<()> {
    writeln!(output, "\n{}", sizing.slo)?;
    writeln!(
        output,
        "   CPU  MiB    req/s        95 %  held throttled start s replicas $/month"
    )?;
    for shape in &sizing.shapes {
        writeln!(output, "{}", row(shape))?;
        if let Some(why) = &shape.without {
            for line in text::wrapped(why, text::columns() - 10) {
                writeln!(output, "          {line}")?;
            }
        }
    }
    for why in &sizing.not_measured {
        for line in text::wrapped(why, text::columns()) {
            writeln!(output, "{line}")?;
        }
    }
    writeln!(output)?;
    for line in text::wrapped(&sizing.sentence, text::columns()) {
        writeln!(output, "{line}")?;
    }
    writeln!(
        output,
        "took {}; reports: {}/*/report/index.html",
        text::human(Duration::from_secs_f64(sizing.took_s)),
        sizing.results.display()
    )?;
    Ok(())
}

fn row(shape: &Shape) -> String {
    const NONE: &str = "\u{2013}";
    let text = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), significant);
    let interval = shape
        .capacity_per_s
        .and_then(|rate| Some((rate.low?, rate.high?)))
        .map(|(low, high)| format!("{}\u{2013}{}", significant(low), significant(high)));
    let found = shape.capacity_per_s.map(|rate| significant(rate.point));
    let at_least = |rate: f64| format!("\u{2265}{}", significant(rate));
    let rate = found.or_else(|| shape.at_least_per_s.map(at_least));
    let held = match shape.confirmed {
        [_, 0] => NONE.to_owned(),
        [met, held] => format!("{met}/{held}"),
    };
    let throttled = shape
        .throttled
        .map(|share| format!("{:.0} %", 100.0 * share));
    let replicas = shape.replicas.map(|count| count.to_string());
    format!(
        "{:>6} {:>4} {:>8} {:>11} {:>5} {:>9} {:>7} {:>8} {:>7}",
        shape.cpus,
        shape.memory_bytes >> 20,
        rate.unwrap_or_else(|| NONE.to_owned()),
        interval.unwrap_or_else(|| NONE.to_owned()),
        held,
        throttled.unwrap_or_else(|| NONE.to_owned()),
        text(shape.start_s),
        replicas.unwrap_or_else(|| NONE.to_owned()),
        text(shape.dollars_per_month),
    )
}
