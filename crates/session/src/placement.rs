//! Which cores each part may use, and what the user must know about it. Pure.

use bakeoff_base::number::length_as_f64;
use bakeoff_base::text::counted;
use bakeoff_model::record::Cores;
use bakeoff_model::suite::Limits;

/// Where the parts run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Which cores each part may use.
    pub cores: Cores,
    /// What cannot be a fair measurement here, one sentence each.
    pub warnings: Vec<String>,
}

/// Cores that the backend gets for each of the contender's, where the host has them: Elasticsearch
/// took twelve beside a quota of 1.5 before it was no bottleneck.
const BACKEND_CORES_EACH: usize = 8;

/// Divides the host's cores: the contender gets as many as its quota needs, the load generator one
/// in four of the rest, the backend what it can use of the others; what is left is the contender's
/// too, which then is held by its quota alone. Where that does not fit, load generator and backend
/// share, and the plan says so.
#[must_use]
pub fn place(host_cores: usize, limits: &Limits, has_backend: bool) -> Placement {
    let wanted = limits.cpus.map_or(host_cores, whole_cores);
    let mut warnings = Vec::new();
    if host_cores < 2 {
        warnings.push(
            "one core: contender, load generator and backend share it; numbers compare contenders \
             on this host only"
                .to_owned(),
        );
        return Placement {
            cores: Cores::default(),
            warnings,
        };
    }
    if wanted >= host_cores {
        warnings.push(format!(
            "the contender may use all {host_cores} cores, so load generator and backend share \
             them with it: time slices in which the host is full are marked host-bound"
        ));
        return Placement {
            cores: Cores::default(),
            warnings,
        };
    }
    let rest = host_cores - wanted;
    // A reactor thread drives hundreds of thousands of requests a second; one in four is ample.
    let generators = (rest / 4).max(1);
    let backends = match has_backend {
        true => (rest - generators).min(wanted * BACKEND_CORES_EACH),
        false => 0,
    };
    let contenders = host_cores - generators - backends;
    let range = |from: usize, count: usize| (from..from + count).collect::<Vec<usize>>();
    let generator = range(contenders, generators);
    let backend = match (has_backend, backends) {
        (true, 0) => generator.clone(),
        _ => range(contenders + generators, backends),
    };
    if backend == generator {
        warnings.push(format!(
            "load generator and backend share core {contenders}: time slices in which it is full \
             are marked"
        ));
    }
    if contenders == wanted && limits.cpus.is_some() {
        warnings.push(format!(
            "the contender is pinned to {}, as many as its quota: its threads take turns on them, \
             where in a cluster they would run at once and then be throttled",
            counted(contenders as u64, "core")
        ));
    }
    let cores = Cores {
        contender: range(0, contenders),
        generator,
        backend,
    };
    Placement { cores, warnings }
}

/// Cores that a quota needs at least: 1.5 needs two.
fn whole_cores(cpus: f64) -> usize {
    (1..=4096usize)
        .find(|cores| cpus <= length_as_f64(*cores))
        .unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::place;
    use bakeoff_model::suite::Limits;

    fn check(host: usize, cpus: Option<f64>, backend: bool, expect: [&[usize]; 3], warned: bool) {
        let limits = Limits {
            cpus,
            memory_bytes: None,
        };
        let placement = place(host, &limits, backend);
        let cores = &placement.cores;
        assert_eq!(
            [
                &cores.contender[..],
                &cores.generator[..],
                &cores.backend[..]
            ],
            expect
        );
        assert_eq!(
            !placement.warnings.is_empty(),
            warned,
            "{:?}",
            placement.warnings
        );
    }

    #[test]
    fn cores_are_divided_and_sharing_is_said() {
        check(1, Some(1.0), true, [&[], &[], &[]], true);
        check(2, Some(1.0), true, [&[0], &[1], &[1]], true);
        check(2, Some(1.0), false, [&[0], &[1], &[]], true);
        check(2, Some(1.5), true, [&[], &[], &[]], true);
        check(4, Some(1.5), true, [&[0, 1], &[2], &[3]], true);
        check(
            12,
            Some(4.0),
            true,
            [&[0, 1, 2, 3], &[4, 5], &[6, 7, 8, 9, 10, 11]],
            true,
        );
    }

    #[test]
    fn a_contender_with_cores_to_spare_is_held_by_its_quota() {
        check(4, Some(1.0), false, [&[0, 1, 2], &[3], &[]], false);
        let backend: Vec<usize> = (8..16).collect();
        let contender: Vec<usize> = (0..5).collect();
        check(
            16,
            Some(1.0),
            true,
            [&contender, &[5, 6, 7], &backend],
            false,
        );
    }

    #[test]
    fn unlimited_contenders_share_the_host() {
        check(4, None, true, [&[], &[], &[]], true);
    }
}
