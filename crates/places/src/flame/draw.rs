//! Folded stacks as a picture. Pure.

use bakeoff_base::problem::Problem;
use inferno::differential;
use inferno::flamegraph::{self, Options};

use crate::flame::Stacks;

/// How many samples folded stacks stand for.
pub(super) fn samples(folded: &str) -> u64 {
    let counts = folded
        .lines()
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
    counts.sum()
}

pub(super) fn svg(stacks: &Stacks, title: &str) -> Result<Vec<u8>, Problem> {
    let mut options = Options::default();
    title.clone_into(&mut options.title);
    options.subtitle = Some(format!("{} samples by {}", stacks.samples, stacks.sampler));
    "samples".clone_into(&mut options.count_name);
    // The same function has the same colour in every graph.
    options.deterministic = true;
    let mut svg = Vec::new();
    let drawn = flamegraph::from_lines(&mut options, stacks.folded.lines(), &mut svg);
    drawn.map_err(|error| format!("the stacks cannot be drawn: {error}"))?;
    Ok(svg)
}

pub(super) fn svg_of_difference(
    stacks: &Stacks,
    from: &Stacks,
    title: &str,
) -> Result<Vec<u8>, Problem> {
    let undrawn = |error: &dyn std::fmt::Display| format!("the stacks cannot be drawn: {error}");
    let options = differential::Options {
        normalize: true,
        ..differential::Options::default()
    };
    let mut folded = Vec::new();
    let (before, after) = (from.folded.as_bytes(), stacks.folded.as_bytes());
    differential::from_readers(options, before, after, &mut folded)
        .map_err(|error| undrawn(&error))?;
    let folded = String::from_utf8_lossy(&folded);
    let mut options = Options::default();
    title.clone_into(&mut options.title);
    "samples".clone_into(&mut options.count_name);
    let mut svg = Vec::new();
    let drawn = flamegraph::from_lines(&mut options, folded.lines(), &mut svg);
    drawn.map_err(|error| undrawn(&error))?;
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::{samples, svg};
    use crate::flame::Stacks;

    #[test]
    fn stacks_become_a_picture() {
        let folded = "main;work one;sum 3\nmain;wait 1\n".to_owned();
        assert_eq!(samples(&folded), 4);
        let stacks = Stacks {
            samples: samples(&folded),
            folded,
            sampler: "perf",
        };
        let text = String::from_utf8(svg(&stacks, "actix-4 & more").unwrap()).unwrap();
        for part in [
            "<svg",
            "actix-4 &amp; more",
            "4 samples by perf",
            "sum (3 samples, 75.00%)",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert_eq!(svg(&stacks, "a").unwrap(), svg(&stacks, "a").unwrap());
        let none = Stacks {
            folded: String::new(),
            ..stacks
        };
        assert!(svg(&none, "a").is_err());
    }
}
