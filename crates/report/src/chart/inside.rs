//! Charts from inside contenders and databases, over the time of the load.

use crate::chart::curves::axis;
use crate::chart::steps::over_runs;
use crate::chart::{Chart, Point, Scale, Shape};
use bakeoff_analysis::data::benchmark::BenchmarkData;
use bakeoff_analysis::data::number::{as_f64, mib, milliseconds, seconds};
use bakeoff_analysis::explain::{cpu_parts, database, gc};

const SINCE: &str = "s since the load started";

/// The share of its CPU time that each contender compiled; no points if nothing does.
pub(crate) fn compiling(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = over_runs(benchmark, |run| {
        let slices = &run.records.intervals;
        let began_ns = slices.first().map_or(0, |slice| slice.load.start_ns);
        let points = slices.iter().filter_map(|slice| {
            let at_s = seconds(slice.load.end_ns.saturating_sub(began_ns));
            let share = cpu_parts::of_slice(slice)?.jit_share();
            let mut point = Point::new(at_s, Some(share * 100.0));
            point.label = slice.warm_up.then(|| "warm-up".to_owned());
            Some(point)
        });
        let points: Vec<Point> = points.collect();
        let compiles = points.iter().any(|point| point.y > Some(0.0));
        if compiles { points } else { Vec::new() }
    });
    Chart {
        id: "compiling",
        title: "Share of CPU time spent compiling".to_owned(),
        note: "Compiler threads in each time slice. Above 5 % in a measured step the contender was \
               not warm.",
        shape: Shape::Lines,
        x: axis(SINCE, Scale::Linear),
        y: axis("%", Scale::Linear),
        series,
    }
}

/// How long each pause of the garbage collector took.
pub(crate) fn gc_pauses(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = over_runs(benchmark, |run| {
        let pauses = gc::pauses(run).into_iter().map(|(at_s, pause)| {
            let mut point = Point::new(at_s, Some(milliseconds(pause.pause_ns)));
            point.label = pause.is_full.then(|| "full collection".to_owned());
            point
        });
        pauses.collect()
    });
    Chart {
        id: "gc-pauses",
        title: "Pauses of garbage collection".to_owned(),
        note: "Each point is a pause in the JVM's own log; before 0 are start-up and checks. \
               Lower, and fewer, is better.",
        shape: Shape::Lines,
        x: axis(SINCE, Scale::Linear),
        y: axis("ms", Scale::Linear),
        series,
    }
}

/// Returns the chart of the heap in use after each collection.
pub(crate) fn heap_after_gc(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = over_runs(benchmark, |run| {
        let pauses = gc::pauses(run).into_iter();
        let points = pauses.map(|(at_s, pause)| Point::new(at_s, pause.heap_after_bytes.map(mib)));
        points.collect()
    });
    Chart {
        id: "heap-after-gc",
        title: "Heap after garbage collection".to_owned(),
        note: "What was in use after each collection. A line that only rises is a leak, or data \
               that the service keeps.",
        shape: Shape::Lines,
        x: axis(SINCE, Scale::Linear),
        y: axis("MiB", Scale::Linear),
        series,
    }
}

/// Connections to the database with something to do.
pub(crate) fn database_connections(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = over_runs(benchmark, |run| {
        let points = database::in_use(run).into_iter();
        let points = points.map(|(at_s, active)| Point::new(at_s, Some(as_f64(active))));
        points.collect()
    });
    Chart {
        id: "database-connections",
        title: "Database connections in use".to_owned(),
        note: "Connections with a statement or transaction under way at the end of each time \
               slice. A line at the size of the pool says that requests wait for connections.",
        shape: Shape::Lines,
        x: axis(SINCE, Scale::Linear),
        y: axis("connections", Scale::Linear),
        series,
    }
}
