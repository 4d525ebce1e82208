//! Layers of whole profiles, at least one of each language. The files say how they were recorded.

use bakeoff_model::measure::layers::LayerRules;

/// Compares the layers of a profile, each with its share of the samples rounded to a percent.
#[track_caller]
fn check(profile: &str, expect: &[(&str, u64)]) {
    let layers = LayerRules::built_in().samples(profile);
    let all: u64 = layers.iter().map(|layer| layer.samples).sum();
    let percent = |samples: u64| (200 * samples + all) / (2 * all);
    let found = layers.iter();
    let found: Vec<(&str, u64)> = found
        .map(|layer| (layer.name.as_str(), percent(layer.samples)))
        .collect();
    assert_eq!(found, expect);
}

#[test]
fn reflection_buffers_and_numbers_under_json_in_go_are_json() {
    let expect = [
        ("JSON", 46),
        ("framework", 15),
        ("kernel: network", 14),
        ("allocation", 12),
        ("kernel: other", 9),
        ("HTTP parsing", 4),
    ];
    check(include_str!("profiles/go-json.folded"), &expect);
}

#[test]
fn what_go_clears_and_marks_for_an_allocation_is_allocation() {
    let expect = [
        ("allocation", 43),
        ("garbage collection", 18),
        ("runtime", 18),
        ("own code", 17),
        ("kernel: other", 3),
        ("kernel: network", 2),
    ];
    check(include_str!("profiles/go-allocation.folded"), &expect);
}

#[test]
fn builtins_of_node_belong_to_the_script_that_calls_them() {
    let expect = [
        ("own code", 51),
        ("JSON", 27),
        ("allocation", 6),
        ("framework", 4),
        ("kernel: network", 4),
        ("kernel: other", 3),
        ("HTTP parsing", 2),
        ("standard library", 2),
        ("runtime", 1),
    ];
    check(include_str!("profiles/node.folded"), &expect);
}

#[test]
fn functions_of_an_interpreter_belong_to_what_it_interprets() {
    let expect = [
        ("HTTP parsing", 28),
        ("JSON", 28),
        ("allocation", 15),
        ("framework", 15),
        ("own code", 9),
        ("runtime", 4),
    ];
    check(include_str!("profiles/python.folded"), &expect);
}

#[test]
fn the_client_of_python_is_neither_runtime_nor_standard_library() {
    let expect = [
        ("HTTP parsing", 32),
        ("JSON", 23),
        ("own code", 15),
        ("allocation", 15),
        ("database client", 6),
        ("framework", 6),
        ("runtime", 4),
    ];
    check(include_str!("profiles/python-client.folded"), &expect);
}

#[test]
fn crates_that_write_numbers_for_json_are_json() {
    let expect = [
        ("own code", 32),
        ("allocation", 22),
        ("kernel: network", 18),
        ("JSON", 13),
        ("framework", 7),
        ("kernel: other", 6),
        ("HTTP parsing", 2),
    ];
    check(include_str!("profiles/rust.folded"), &expect);
}

#[test]
fn collections_of_java_belong_to_their_callers() {
    let expect = [("own code", 78), ("framework", 19), ("HTTP parsing", 3)];
    check(include_str!("profiles/jvm.folded"), &expect);
}

#[test]
fn the_slow_path_of_a_jvm_is_allocation() {
    let expect = [
        ("own code", 28),
        ("compilation", 20),
        ("JSON", 15),
        ("allocation", 12),
        ("framework", 10),
        ("garbage collection", 10),
        ("kernel: other", 5),
    ];
    check(include_str!("profiles/jvm-native.folded"), &expect);
}

#[test]
fn libraries_of_dotnet_have_layers() {
    let expect = [
        ("own code", 30),
        ("JSON", 25),
        ("allocation", 20),
        ("HTTP parsing", 8),
        ("framework", 7),
        ("garbage collection", 6),
        ("compilation", 4),
    ];
    check(include_str!("profiles/dotnet.folded"), &expect);
}
