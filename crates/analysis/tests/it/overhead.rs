//! Contenders as a share of their baselines, and the benchmarks as rows.

use bakeoff_analysis::Quantity;

use crate::synthetic::overhead::{analyse, contenders, ratio, results, share};

#[test]
fn a_contender_is_held_against_its_baseline_at_every_step() {
    let results = results(&["get"], &contenders());
    let analysis = analyse(&results);
    for step in ["1", "3", "128"] {
        let share = share(&analysis, "fast/layer", step);
        assert_eq!(share.baseline, "fast/bare");
        assert_eq!(
            (share.is_stated, share.is_shown),
            (step == "128", step != "3")
        );
        for (quantity, truth) in [
            (Quantity::Throughput, 0.8),
            (Quantity::Cpu, 1.25),
            (Quantity::Memory, 1.0),
        ] {
            let found = &ratio(share, quantity).ratio;
            // Levels of runs differ by up to 3 %.
            assert!(
                (found.point / truth - 1.0).abs() < 0.03,
                "{step}: {found:?}"
            );
            assert_eq!(found.runs, 4);
        }
        let interval = ratio(share, Quantity::Throughput).ratio.interval.unwrap();
        assert!(
            interval.contains(0.8) && interval.low > 0.75,
            "{interval:?}"
        );
        // Equal to the last digit: memory of both is the same in each run, so there is no noise.
        assert_eq!(ratio(share, Quantity::Memory).ratio.interval, None);
    }
}

#[test]
fn a_baseline_has_the_parameters_of_its_contender() {
    let results = results(&["get"], &contenders());
    let analysis = analyse(&results);
    let share = share(&analysis, "fast/multi[ROUTES=8]", "128");
    assert_eq!(share.baseline, "fast/bare-multi[ROUTES=8]");
    let found = ratio(share, Quantity::Throughput);
    assert!((found.ratio.point - 0.9).abs() < 0.02, "{found:?}");
    assert!((found.contender / found.baseline - 0.9).abs() < 0.02);
}
