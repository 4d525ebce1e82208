//! Reasons why requests of one contender cost more CPU than those of another.

use bakeoff_model::measure::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::measure::layers::NamedSamples;
use bakeoff_model::plan::Parameters;
use bakeoff_report::{html, markdown, terminal_table};

use crate::synthetic::reasons::{Extra, analysed, results, said};

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
            changes: Vec::new(),
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

/// The sentence on two versions whose changes have these shares in 109,000 and 100,000 samples.
fn said_of_changes(of_dear: &[(&str, u64)], of_plain: &[(&str, u64)]) -> String {
    let mut results = results(Extra {
        collector_ns: 9_000,
        ..Extra::default()
    });
    let with = |name: &str, all: u64, changes: &[(&str, u64)]| {
        let mut graph = graph(name, &[("own code", all)], &[("main.order", all)], &[]);
        if let FlameOutcome::Drawn { changes: own, .. } = &mut graph.outcome {
            own.extend(changes.iter().map(|(name, samples)| NamedSamples {
                name: (*name).to_owned(),
                samples: *samples,
                kernel: 0,
            }));
        }
        graph
    };
    results.flame_graphs = vec![
        with("dear", 109_000, of_dear),
        with("plain", 100_000, of_plain),
    ];
    let said = analysed(&results, |analysis| {
        analysis.loads[0].summary.tables[0].reasons[0].cpu_sentence()
    });
    said.unwrap()
}

#[test]
fn lines_that_cost_are_named_and_others_are_not() {
    let said = said_of_changes(
        &[("price.rs:41-48 (total)", 12_000), ("tax.rs:7 (vat)", 900)],
        &[("price.rs:41-48 (total)", 4_000), ("tax.rs:7 (vat)", 900)],
    );
    let named = " Of the changed lines dear takes 8.00 µs more in price.rs:41-48 (total) (95 %: ";
    assert!(
        said.contains(named) && said.ends_with("), of 109 µs."),
        "{said}"
    );
    assert!(!said.contains("tax.rs"), "{said}");
    let alike = [("price.rs:41-48 (total)", 4_000), ("tax.rs:7 (vat)", 900)];
    let said = said_of_changes(&alike, &alike);
    let none = " None of 2 changed places takes significantly more or less CPU.";
    assert!(said.contains(none), "{said}");
    let rare = [("price.rs:41-48 (total)", 3)];
    assert!(said_of_changes(&rare, &rare).contains(" are in too few samples to tell"));
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
