//! Charts of what goes on inside of contenders and databases, over the time of the load.

use crate::analysis::benchmark::BenchmarkData;
use crate::analysis::{database, gc};
use crate::chart::curves::axis;
use crate::chart::steps::over_runs;
use crate::chart::{Chart, Point, Scale, Shape};
use crate::number::{as_f64, mib, milliseconds};

const SINCE: &str = "s since the load began";

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

/// What was still in use after each collection.
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
