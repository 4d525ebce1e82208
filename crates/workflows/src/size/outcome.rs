//! The outcome of sizing, as an object for programs and a sentence for the user.

use bakeoff_analysis::WithInterval;
use bakeoff_analysis::data::number::{counted, significant};
use bakeoff_base::number::as_f64;
use bakeoff_store::event::sizing::{MemoryNeed, Shape};

/// Hours of a month on average.
const HOURS_PER_MONTH: f64 = 730.5;

/// Dollars for one CPU and one GiB of memory for an hour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// One CPU.
    pub cpu_hour: f64,
    /// One GiB of memory.
    pub gib_hour: f64,
}

/// Returns the shape without a capacity, because a process was killed for memory.
pub(super) fn killed(shape: Shape) -> Shape {
    Shape {
        capacity_per_s: None,
        at_least_per_s: None,
        without: Some(format!(
            "killed for memory with {}",
            mib(shape.memory_bytes)
        )),
        ..shape
    }
}

/// Returns the shape with replicas and their price.
pub(super) fn priced(shape: Shape, rate_per_s: f64, prices: Prices) -> Shape {
    let lower_end = |rate: WithInterval| rate.low.unwrap_or(rate.point);
    let sustained = shape.capacity_per_s.map(lower_end).or(shape.at_least_per_s);
    let replicas = sustained.filter(|rate| *rate > 0.0).map(|rate| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of machines"
        )]
        let replicas = (rate_per_s / rate).ceil() as u64;
        replicas.max(1)
    });
    let gib = as_f64(shape.memory_bytes) / f64::from(1 << 30);
    let each = shape.cpus * prices.cpu_hour + gib * prices.gib_hour;
    Shape {
        replicas,
        dollars_per_month: replicas.map(|count| as_f64(count) * each * HOURS_PER_MONTH),
        ..shape
    }
}

/// The cheapest shape; of equally cheap ones that with fewer replicas.
pub(super) fn cheapest(shapes: &[Shape]) -> Option<&Shape> {
    let priced = shapes
        .iter()
        .filter(|shape| shape.dollars_per_month.is_some());
    priced.min_by(|a, b| {
        let price = |shape: &Shape| shape.dollars_per_month.unwrap_or(f64::INFINITY);
        price(a)
            .total_cmp(&price(b))
            .then(a.replicas.cmp(&b.replicas))
    })
}

/// The conclusion, by the shapes and the memory.
pub(super) fn sentence(
    service: &str,
    rate_per_s: f64,
    slo: &str,
    shapes: &[Shape],
    memory: &MemoryNeed,
) -> String {
    let rate = significant(rate_per_s);
    let lived = mib(memory.lived_bytes);
    let lives = match (memory.died_bytes, memory.outgrown_bytes) {
        (_, Some(outgrown)) => format!(
            "It survives a few seconds with {lived}, but was killed for memory with {} later.",
            mib(outgrown)
        ),
        (Some(died), None) => format!("It runs with {lived} and fails with {}.", mib(died)),
        (None, None) => format!("It runs with {lived}; less was not tried."),
    };
    let found = cheapest(shapes).and_then(|best| {
        Some((
            best,
            sustained(best)?,
            best.replicas?,
            best.dollars_per_month?,
        ))
    });
    let Some((best, sustained, replicas, dollars)) = found else {
        return format!(
            "{service} meets {slo} with none of the shapes that were measured. {lives}"
        );
    };
    let each = match replicas {
        1 => "it sustains",
        _ => "each sustains",
    };
    format!(
        "{service} serves {rate} requests/s within {slo} cheapest with {} of {} CPU and {} of \
         memory, for {} dollars a month: {each} {sustained} requests/s. {lives}",
        counted(usize::try_from(replicas).unwrap_or(usize::MAX), "replica"),
        best.cpus,
        mib(best.memory_bytes),
        significant(dollars),
    )
}

/// `820 (800–840)`, or `at least 12600`.
fn sustained(shape: &Shape) -> Option<String> {
    let Some(capacity) = shape.capacity_per_s else {
        let met = shape.at_least_per_s?;
        return Some(format!("at least {}", significant(met)));
    };
    let interval = match (capacity.low, capacity.high) {
        (Some(low), Some(high)) => format!(" ({}\u{2013}{})", significant(low), significant(high)),
        _ => String::new(),
    };
    Some(format!("{}{interval}", significant(capacity.point)))
}

/// `64 MiB`.
pub(super) fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use bakeoff_analysis::WithInterval;
    use bakeoff_store::event::sizing::{MemoryNeed, Shape};

    use super::{Prices, cheapest, killed, priced, sentence};

    fn shape(cpus: f64, capacity: Option<[f64; 3]>) -> Shape {
        let shape = Shape {
            cpus,
            memory_bytes: 64 << 20,
            capacity_per_s: capacity.map(|[low, point, high]| WithInterval {
                point,
                low: Some(low),
                high: Some(high),
            }),
            at_least_per_s: None,
            confirmed: [1, 1],
            replicas: None,
            dollars_per_month: None,
            throttled: None,
            start_s: None,
            cpu_us: None,
            without: None,
            results: "r".into(),
        };
        priced(shape, 800.0, PRICES)
    }

    const PRICES: Prices = Prices {
        cpu_hour: 0.04,
        gib_hour: 0.0,
    };

    const MEMORY: MemoryNeed = MemoryNeed {
        limit_bytes: 64 << 20,
        lived_bytes: 48 << 20,
        died_bytes: Some(32 << 20),
        outgrown_bytes: None,
        peak_bytes: None,
    };

    #[test]
    fn replicas_follow_from_the_lower_end_and_the_cheapest_shape_wins() {
        let shapes = [
            shape(0.25, None),
            // Four of a half are dearer than one of one: 799 is not enough for 800 of one.
            shape(0.5, Some([250.0, 260.0, 270.0])),
            shape(1.0, Some([800.0, 820.0, 840.0])),
        ];
        assert_eq!(
            shapes.each_ref().map(|one| one.replicas),
            [None, Some(4), Some(1)]
        );
        let best = cheapest(&shapes).unwrap();
        assert_eq!(best.cpus, 1.0);
        assert_eq!(
            sentence("shop", 800.0, "p99 <= 50ms", &shapes, &MEMORY),
            "shop serves 800 requests/s within p99 <= 50ms cheapest with 1 replica of 1 CPU and \
             64 MiB of memory, for 29.2 dollars a month: it sustains 820 (800\u{2013}840) \
             requests/s. It runs with 48 MiB and fails with 32 MiB."
        );
    }

    #[test]
    fn a_rate_that_every_process_met_answers_without_a_capacity() {
        let bounded = |cpus: f64, met: f64| {
            let without = Some("the search was given up, at least 12608/s: host-bound".to_owned());
            let shape = Shape {
                at_least_per_s: Some(met),
                without,
                ..shape(cpus, None)
            };
            priced(shape, 3000.0, PRICES)
        };
        let shapes = [bounded(0.5, 12_608.0), bounded(1.0, 15_585.0)];
        assert_eq!(cheapest(&shapes).unwrap().cpus, 0.5);
        assert_eq!(
            sentence("shop", 3000.0, "p99 <= 100ms", &shapes, &MEMORY),
            "shop serves 3000 requests/s within p99 <= 100ms cheapest with 1 replica of 0.5 CPU \
             and 64 MiB of memory, for 14.6 dollars a month: it sustains at least 12608 \
             requests/s. It runs with 48 MiB and fails with 32 MiB."
        );
        // What is less than the rate bounds the replicas, too.
        assert_eq!(bounded(0.5, 1000.0).replicas, Some(3));
        assert!(cheapest(&[priced(killed(bounded(0.5, 1000.0)), 800.0, PRICES)]).is_none());
    }

    #[test]
    fn a_limit_that_a_shape_outgrew_is_in_the_sentence() {
        let outgrown = MemoryNeed {
            outgrown_bytes: Some(60 << 20),
            ..MEMORY
        };
        let lives = shape(1.0, Some([800.0, 820.0, 840.0]));
        let said = sentence(
            "shop",
            800.0,
            "p99 <= 50ms",
            std::slice::from_ref(&lives),
            &outgrown,
        );
        assert!(
            said.ends_with(
                "It survives a few seconds with 48 MiB, but was killed for memory with 60 MiB \
                 later."
            ),
            "{said}"
        );
        let killed = killed(lives);
        assert!(cheapest(&[priced(killed.clone(), 800.0, PRICES)]).is_none());
        assert_eq!(
            killed.without.as_deref(),
            Some("killed for memory with 64 MiB")
        );
    }

    #[test]
    fn a_service_that_meets_no_objective_has_no_shape() {
        let shapes = [shape(0.5, None)];
        assert!(cheapest(&shapes).is_none());
        let said = sentence("shop", 800.0, "p99 <= 1us", &shapes, &MEMORY);
        assert!(
            said.starts_with("shop meets p99 <= 1us with none of the shapes"),
            "{said}"
        );
    }
}
