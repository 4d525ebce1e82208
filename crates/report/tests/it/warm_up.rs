//! Warm-up that ends when a contender is warm: its cost, and contenders that were not warm.

use bakeoff_report::{csv, html, markdown};

use crate::synthetic::warm_up::{analysis, results};

#[test]
fn shares_of_cpu_time_are_in_every_document() {
    let results = results();
    let analysis = analysis(&results);
    let text = markdown(&analysis);
    let row = "| jvm | 30.0 % | 2.0 % | 2.0 % | 1.0 % | 97.0 % |";
    assert!(text.contains(row), "{text}");
    assert!(!text.contains("| native | 0.0 %"), "nothing compiles there");
    let page = html(&analysis);
    assert!(page.contains("What CPU time goes into"));
    assert!(page.contains("b0-compiling"));
    let table = csv(&analysis);
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|one| *one == name).unwrap();
    let cells = |contender: &str, step: &str| -> Vec<&str> {
        let mut rows = table
            .lines()
            .map(|line| line.split(',').collect::<Vec<&str>>());
        rows.find(|row| row[column("contender")] == contender && row[column("step")] == step)
            .unwrap()
    };
    let number = |row: &[&str], name: &str| row[column(name)].parse::<f64>().unwrap();
    let row = cells("jvm", "2");
    assert!((number(&row, "cpu_jit_share") - 0.02).abs() < 1e-4);
    assert!((number(&row, "cpu_gc_share") - 0.01).abs() < 1e-4);
    assert!((number(&row, "cpu_application_share") - 0.97).abs() < 1e-4);
    assert_eq!(number(&row, "rise_after_warm_up"), 0.002);
    // Both warm-up steps, of equally many slices.
    let (s, requests) = (
        number(&row, "until_warm_s"),
        number(&row, "until_warm_requests"),
    );
    let warm_up = cells("jvm", "0");
    let slices = number(&warm_up, "duration_s");
    assert_eq!(s, 2.0 * slices);
    let both = number(&warm_up, "requests") + number(&cells("jvm", "1"), "requests");
    assert_eq!(requests, both);
    assert_eq!(cells("jvm-slow", "2")[column("until_warm_s")], "", "never");
}
