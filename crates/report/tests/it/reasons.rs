//! Reasons why requests of one contender cost more CPU than those of another.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::measure::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::measure::layers::NamedSamples;
use bakeoff_model::measure::resource::{Network, ResourceSample, ThreadGroup};
use bakeoff_model::plan::Parameters;
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_report::{html, markdown, terminal_table};

use crate::synthetic::{contender, run};

/// Additional costs of each request of a made-up contender.
#[derive(Debug, Clone, Copy, Default)]
struct Extra {
    collector_ns: u64,
    kernel_ns: u64,
    log_lines: u64,
    sent_bytes: u64,
    /// CPU that its own code takes in the first run alone.
    noise_ns: u64,
    /// CPU that the other contender's own code takes in its first run alone.
    noise_of_plain_ns: u64,
}

/// Five runs of two services that use as much CPU, the second one besides what is given.
fn results(extra: Extra) -> Results {
    let mut runs = Vec::new();
    let plain = Extra {
        noise_ns: extra.noise_of_plain_ns,
        ..Extra::default()
    };
    for repetition in 1..=5 {
        for (name, extra) in [("plain", plain), ("dear", extra)] {
            let one = contender(name, 5000.0, 100.0);
            let mut records = run("city-get", &one, repetition, runs.len());
            take(&mut records, extra);
            runs.push(records);
        }
    }
    Results {
        runs,
        ..Results::default()
    }
}

/// Adds to the counters of a run what its requests take besides. All have one log line.
fn take(records: &mut RunRecords, extra: Extra) {
    let mut requests = 0;
    let extra = Extra {
        noise_ns: extra.noise_ns * u64::from(records.begin.run.repetition == 1),
        ..extra
    };
    for slice in &mut records.intervals {
        count(slice.contender_before.as_mut().unwrap(), requests, extra);
        requests += slice.load.requests;
        count(slice.contender_after.as_mut().unwrap(), requests, extra);
    }
}

fn count(sample: &mut ResourceSample, requests: u64, extra: Extra) {
    let cpu = sample.cpu.as_mut().unwrap();
    let collector_ns = extra.collector_ns * requests;
    cpu.user_ns += collector_ns + extra.noise_ns * requests;
    cpu.system_ns += extra.kernel_ns * requests;
    let threads = [("GC Thread#", collector_ns), ("main", cpu.user_ns)];
    let threads = threads.map(|(name, cpu_ns)| (name.to_owned(), ThreadGroup { count: 1, cpu_ns }));
    sample.threads = threads.into_iter().collect();
    sample.log_lines = Some((1 + extra.log_lines) * requests);
    sample.network = Some(Network {
        received_bytes: 70 * requests,
        sent_bytes: (200 + extra.sent_bytes) * requests,
    });
}

fn analysed<T>(results: &Results, document: impl Fn(&Analysis<'_>) -> T) -> T {
    document(&Analysis::of(&AnalysisInput {
        results,
        title: "Synthetic",
        rounds: &[],
    }))
}

/// The sentence about the two, if any.
fn said(extra: Extra) -> Option<String> {
    analysed(&results(extra), |analysis| {
        analysis.loads[0].summary.tables[0].reasons[0].sentence()
    })
}

#[track_caller]
fn check(extra: Extra, texts: &[&str]) {
    let said = said(extra).unwrap();
    for text in texts {
        assert!(said.contains(text), "{text:?} is missing in: {said}");
    }
}

#[test]
fn the_largest_part_is_named_first() {
    let extra = Extra {
        collector_ns: 9_000,
        kernel_ns: 21_000,
        ..Extra::default()
    };
    let said = said(extra).unwrap();
    assert!(said.starts_with("dear needs "), "{said}");
    let (kernel, collector) = (said.find("in the kernel"), said.find("collecting garbage"));
    assert!(kernel.unwrap() < collector.unwrap(), "{said}");
    check(
        extra,
        &[
            "µs more CPU per request than plain (95 %: ",
            ", 5 runs) at ",
        ],
    );
}

#[test]
fn what_a_request_does_besides_is_counted() {
    let extra = Extra {
        kernel_ns: 21_000,
        log_lines: 2,
        sent_bytes: 300,
        ..Extra::default()
    };
    let counts = [
        "For each request dear has ",
        "2.00 more log lines (3.00 against 1.00)",
        "300 more bytes sent (500 against 200)",
    ];
    check(extra, &counts);
    assert!(!said(extra).unwrap().contains("bytes received"));
}

#[test]
fn services_that_take_as_much_have_no_reasons() {
    assert_eq!(said(Extra::default()), None);
}

#[test]
fn a_part_is_found_that_a_scattered_total_hides() {
    let noisy = Extra {
        noise_ns: 60_000,
        ..Extra::default()
    };
    assert_eq!(said(noisy), None);
    let extra = Extra {
        collector_ns: 5_000,
        log_lines: 1,
        ..noisy
    };
    check(
        extra,
        &[
            "The CPU per request of dear and plain does not differ significantly at ",
            ", but parts of it do: dear needs ",
            " µs more collecting garbage (95 %: ",
            "For each request dear has 1.00 more log lines (2.00 against 1.00).",
        ],
    );
    let counted = Extra {
        log_lines: 1,
        ..noisy
    };
    check(
        counted,
        &[", but other things do. For each request dear has 1.00 more log lines"],
    );
}

#[test]
fn where_totals_are_alike_the_one_that_has_more_is_named() {
    let extra = Extra {
        log_lines: 1,
        noise_of_plain_ns: 60_000,
        ..Extra::default()
    };
    check(
        extra,
        &[
            "The CPU per request of plain and dear does not differ significantly at ",
            "For each request dear has 1.00 more log lines (2.00 against 1.00).",
        ],
    );
    let collecting = Extra {
        collector_ns: 5_000,
        ..extra
    };
    check(
        collecting,
        &[", but parts of it do: dear needs 5.00 µs more collecting garbage (95 %: "],
    );
}

#[test]
fn documents_say_it_and_have_the_parts() {
    let extra = Extra {
        collector_ns: 30_000,
        ..Extra::default()
    };
    let (results, sentence) = (results(extra), said(extra).unwrap());
    assert!(analysed(&results, html).contains(&sentence));
    let text = analysed(&results, markdown);
    assert!(text.contains(&sentence), "{text}");
    assert!(text.contains("| garbage collection, µs |"), "{text}");
    let terminal = analysed(&results, |analysis| terminal_table(analysis, 80));
    let unwrapped = terminal.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains(&sentence), "{terminal}");
}

/// A flame graph with these samples outside of the kernel.
fn graph(
    contender: &str,
    layers: &[(&str, u64)],
    functions: &[(&str, u64)],
    inclusive: &[(&str, u64)],
) -> FlameGraph {
    let seen = |all: &[(&str, u64)]| {
        let all = all.iter().map(|(name, samples)| NamedSamples {
            name: (*name).to_owned(),
            samples: *samples,
            kernel: 0,
        });
        all.collect()
    };
    FlameGraph {
        benchmark: "city-get".to_owned(),
        contender: contender.to_owned(),
        parameters: Parameters::default(),
        connections: 64,
        outcome: FlameOutcome::Drawn {
            file: format!("flame/{contender}.svg"),
            sampler: "perf".to_owned(),
            samples: layers.iter().map(|(_, samples)| samples).sum(),
            layers: seen(layers),
            functions: seen(functions),
            inclusive: seen(inclusive),
            difference: None,
        },
    }
}

#[test]
fn with_samples_the_sentence_names_layers_and_the_function_that_grew() {
    let extra = Extra {
        collector_ns: 9_000,
        ..Extra::default()
    };
    let mut results = results(extra);
    // 9 % more, all of it JSON; what calls it grew as much.
    let of_dear = graph(
        "dear",
        &[("own code", 60_000), ("JSON", 49_000)],
        &[("main.order", 60_000), ("json.Marshal", 49_000)],
        &[
            ("main.serve", 109_000),
            ("main.order", 99_000),
            ("json.Marshal", 49_000),
        ],
    );
    let of_plain = graph(
        "plain",
        &[("own code", 60_000), ("JSON", 40_000)],
        &[("main.order", 60_000), ("json.Marshal", 40_000)],
        &[
            ("main.serve", 100_000),
            ("main.order", 90_000),
            ("json.Marshal", 40_000),
        ],
    );
    results.flame_graphs = vec![of_dear, of_plain];
    let said = analysed(&results, |analysis| {
        analysis.loads[0].summary.tables[0].reasons[0].sentence()
    });
    let said = said.unwrap();
    let by_layer = " at 64 connections: by samples of stacks 9.00 µs in JSON. json.Marshal grew \
                    most, by 9.00 µs with all that it calls.";
    assert!(said.contains(by_layer), "{said}");
    let terminal = analysed(&results, |analysis| terminal_table(analysis, 80));
    let unwrapped = terminal.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains(&said), "{terminal}");
}

#[test]
fn samples_of_stacks_divide_the_cpu_of_a_request() {
    let mut results = results(Extra::default());
    results.flame_graphs = vec![graph(
        "dear",
        &[("JSON", 300), ("own code", 100)],
        &[("encode", 250), ("rare", 3)],
        &[],
    )];
    let row = "| dear | 75.0 ± 4.24 | 25.0 ± 4.24 | 400 |";
    let text = analysed(&results, markdown);
    assert!(
        text.contains("| CPU µs/request | JSON | own code | samples |"),
        "{text}"
    );
    assert!(text.contains(row), "{text}");
    assert!(analysed(&results, html).contains("<td>75.0 ± 4.24</td>"));
    assert!(!text.contains("dear against"), "{text}");

    // Of two, those that differ are named: layers, functions, and neither what is alike nor rare.
    let plain = graph(
        "plain",
        &[("JSON", 100), ("own code", 100)],
        &[("encode", 20), ("rare", 1)],
        &[],
    );
    results.flame_graphs.push(plain);
    let text = analysed(&results, markdown);
    let (_, pair) = text.split_once("dear against plain.").unwrap();
    assert!(
        pair.contains("| CPU µs/request | dear | plain | difference |"),
        "{pair}"
    );
    assert!(
        pair.contains("| JSON | 75.0 |") && pair.contains("| encode | 62.5 |"),
        "{pair}"
    );
    assert!(!pair.contains("| rare |"), "{pair}");
    assert!(analysed(&results, html).contains("dear against plain."));
}
