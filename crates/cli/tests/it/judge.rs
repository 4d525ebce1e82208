//! `judge`: statuses, names of sides, texts and JSON.

use crate::world::World;

/// Six blocks in turns, in which the second side takes `ratio` times as long.
fn table(ratio: f64) -> String {
    let paces = [10.0, 13.0, 9.0, 12.0, 11.0, 10.5];
    let spreads = [1.0, 1.002, 0.998, 1.001, 0.999, 1.0];
    let rows = paces.iter().zip(spreads).enumerate();
    let rows = rows.map(|(block, (pace, spread))| {
        let old = format!("{block},old,{pace}\n");
        let new = format!("{block},new,{}\n", pace * ratio * spread);
        match block % 2 {
            0 => old + &new,
            _ => new + &old,
        }
    });
    format!("block,side,value\n{}", rows.collect::<String>())
}

#[test]
fn numbers_of_others_have_a_verdict_or_a_reason() {
    let world = World::new(&[]);
    world.write("slower.csv", &table(1.1));
    let at = |file: &str| world.path().join(file).display().to_string();
    let table = at("slower.csv");
    let slower = format!("judge --lower-is-better {table}");
    world.run(&slower).check(
        0,
        &[
            "new has 12.0, old 10.9: 1.10 times (95 %: ",
            "6 blocks): worse",
        ],
    );
    let failing = format!("{slower} --fail-if worse>5%");
    world
        .run(&failing)
        .check(3, &["FAILED: new is worse than old by more than 5 %"]);
    world
        .run(&format!(
            "judge --higher-is-better {table} --fail-if worse>5%"
        ))
        .check(0, &[": better", "passed: new is not worse than old"]);
    world
        .run(&format!("judge {table}"))
        .check(1, &["whether a lower or a higher", "--lower-is-better"]);
    world
        .run(&format!("{slower} --fail-if slower>5%"))
        .check(1, &["write worse>2%"]);
    let json = world.run(&format!("{slower} --json"));
    let judged: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(judged[0]["verdict"], "worse");
    assert_eq!(judged[0]["repetitions"], 6);

    let go = |ns: u32| format!("BenchmarkSum-8 1000 {ns} ns/op\n").repeat(5);
    world.write("o.txt", &go(100));
    world.write("n.txt", &go(90));
    let (old, new) = (at("o.txt"), at("n.txt"));
    world.run(&format!("judge old={old} new={new}")).check(
        2,
        &[
            "Sum-8: new has 90.0 ns/op, old 100: 0.90",
            "no verdict: all values of one side come before those of the other",
        ],
    );
    world.run(&format!("judge {old} {new}")).check(
        1,
        &["o.txt: it does not say which side", "old=FILE new=FILE"],
    );
    world
        .run("judge missing.json")
        .check(1, &["missing.json", "No such file"]);
}
