//! The cores of each part, and notes on them for the user. Pure.
//!
//! Physical cores are given away whole, so that load generator and contender never take time from
//! each other inside of one; a part stays on one package and NUMA node if it fits.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bakeoff_base::number::length_as_f64;
use bakeoff_base::text::counted;
use bakeoff_model::record::Cores;
use bakeoff_model::suite::Limits;
use bakeoff_places::host::topology::Topology;

/// Where the parts run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Which cores each part may use.
    pub cores: Cores,
    /// Reasons why no measurement is fair here, one sentence each.
    pub warnings: Vec<String>,
}

/// Cores that the backend gets for each of the contender's, if the host has them: Elasticsearch
/// took twelve for a quota of 1.5 before it was no bottleneck.
const BACKEND_CORES_EACH: usize = 8;

/// The unit that is given away at once: the CPUs of a physical core, or a single one of them.
type Unit = Vec<usize>;

/// The units of a package and NUMA node.
type Domain = Vec<Unit>;

/// How many units of a domain each part gets.
#[derive(Debug, Clone, Copy, Default)]
struct CoreShare {
    contender: usize,
    generator: usize,
    backend: usize,
    free: usize,
}

/// Divides the host's physical cores: the contender gets the number that its quota needs, the load
/// generator one in four of the rest, the backend what it can use of the others; remaining cores of
/// the contender's node are the contender's too, which then is limited by its quota alone. If that
/// does not fit, load generator and backend share cores, and the plan says so. The contender shares
/// a physical core with the load generator only if its quota needs a part of each core.
#[must_use]
pub fn place(topology: &Topology, limits: &Limits, has_backend: bool) -> Placement {
    let host_cores = topology.cpus.len();
    let wanted = limits.cpus.map_or(host_cores, whole_cores);
    if let Some(warning) = undivided(host_cores, wanted) {
        return Placement {
            cores: Cores::default(),
            warnings: vec![warning],
        };
    }
    let mut warnings = Vec::new();
    let mut domains = domains(topology);
    let physical_cores: usize = domains.iter().map(Vec::len).sum();
    if home(&domains, wanted).1 == physical_cores {
        warnings.push(
            "contender and load generator share a physical core: each slows the other down, \
             whatever the contender does"
                .to_owned(),
        );
        domains.iter_mut().for_each(split_units);
    }
    let shares = shares(&domains, wanted, has_backend);
    let mut cores = cut(&domains, &shares);
    if has_backend && cores.backend.is_empty() {
        warnings.push(share_generator(&mut cores));
    }
    if cores.contender.len() == wanted && limits.cpus.is_some() {
        warnings.push(format!(
            "the contender is pinned to {}, equal to its quota: its threads take turns on them, \
             where in a cluster they would run at once and then be throttled",
            counted(wanted as u64, "core")
        ));
    }
    Placement { cores, warnings }
}

/// Returns why the host cannot be divided, if it cannot.
fn undivided(host_cores: usize, wanted: usize) -> Option<String> {
    if host_cores < 2 {
        return Some(
            "one core: contender, load generator and backend share it; numbers compare contenders \
             on this host only"
                .to_owned(),
        );
    }
    (wanted >= host_cores).then(|| {
        format!(
            "the contender may use all {host_cores} cores, so load generator and backend share \
             them with it: time slices in which the host is full are marked host-bound"
        )
    })
}

/// The physical cores of each package and NUMA node, those with the most hyper-threads first.
fn domains(topology: &Topology) -> Vec<Domain> {
    let mut domains = BTreeMap::<(usize, usize), BTreeMap<usize, Unit>>::new();
    for cpu in &topology.cpus {
        let domain = domains.entry((cpu.package, cpu.node)).or_default();
        domain.entry(cpu.core).or_default().push(cpu.number);
    }
    // Virtual machines often show each core as a separate package, which says nothing about
    // distance.
    if domains.values().all(|cores| cores.len() == 1) {
        let cores = domains.into_values().flatten().collect();
        domains = BTreeMap::from([((0, 0), cores)]);
    }
    let domains = domains.into_values().map(|cores| {
        let mut units: Domain = cores.into_values().collect();
        units.sort_by_key(|unit| Reverse(unit.len()));
        units
    });
    domains.collect()
}

/// Makes each CPU a separate unit.
fn split_units(domain: &mut Domain) {
    let cpus = domain.drain(..).flatten();
    *domain = cpus.map(|cpu| vec![cpu]).collect();
}

/// Returns the domain in which the contender fits (`None` if it needs several), and how many units
/// it takes.
fn home(domains: &[Domain], wanted: usize) -> (Option<usize>, usize) {
    let needed = |units: &mut dyn Iterator<Item = &Unit>| {
        let mut cpus = 0;
        let mut needed = 0;
        while cpus < wanted {
            cpus += units.next()?.len();
            needed += 1;
        }
        Some(needed)
    };
    let fits = |(index, domain): (usize, &Domain)| Some((index, needed(&mut domain.iter())?));
    match domains.iter().enumerate().find_map(fits) {
        Some((index, units)) => (Some(index), units),
        None => {
            let units = needed(&mut domains.iter().flatten());
            (None, units.unwrap_or_default())
        }
    }
}

/// Counts the units of each part in each domain.
fn shares(domains: &[Domain], wanted: usize, has_backend: bool) -> Vec<CoreShare> {
    let (home, contenders) = home(domains, wanted);
    let all: usize = domains.iter().map(Vec::len).sum();
    let rest = all - contenders;
    // A reactor thread drives hundreds of thousands of requests a second; one in four is ample.
    let generators = (rest / 4).max(1);
    let backends = match has_backend {
        true => (rest - generators).min(contenders * BACKEND_CORES_EACH),
        false => 0,
    };
    let empty = |domain: &Domain| CoreShare {
        free: domain.len(),
        ..CoreShare::default()
    };
    let mut shares: Vec<CoreShare> = domains.iter().map(empty).collect();
    let mut left = contenders;
    for (index, share) in shares.iter_mut().enumerate() {
        if home.is_none_or(|home| home == index) {
            share.contender = left.min(share.free);
            share.free -= share.contender;
            left -= share.contender;
        }
    }
    for (index, units) in one_domain(&shares, home, generators) {
        shares[index].generator = units;
        shares[index].free -= units;
    }
    for (index, units) in one_domain(&shares, home, backends) {
        shares[index].backend = units;
        shares[index].free -= units;
    }
    for (index, share) in shares.iter_mut().enumerate() {
        if home.is_none_or(|home| home == index) {
            share.contender += share.free;
        }
    }
    shares
}

/// Free units for a part that can use `wanted` of them: of the contender's domain if they fit
/// there, else of the first one in which they fit. If they fit nowhere, those of the largest domain
/// are enough when they are half of what it can use; otherwise it gets them of several.
fn one_domain(shares: &[CoreShare], home: Option<usize>, wanted: usize) -> Vec<(usize, usize)> {
    let fits = |index: &usize| shares[*index].free >= wanted;
    let mut fitting = home.into_iter().chain(0..shares.len()).filter(fits);
    if let Some(index) = fitting.next() {
        return vec![(index, wanted)];
    }
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by_key(|index| Reverse(shares[*index].free));
    if let [largest, ..] = order[..]
        && shares[largest].free * 2 >= wanted
    {
        return vec![(largest, shares[largest].free)];
    }
    let mut left = wanted;
    let parts = order.into_iter().map(|index| {
        let units = left.min(shares[index].free);
        left -= units;
        (index, units)
    });
    parts.collect()
}

/// Cuts each domain into the parts' shares.
fn cut(domains: &[Domain], shares: &[CoreShare]) -> Cores {
    let mut cores = Cores::default();
    for (domain, share) in domains.iter().zip(shares) {
        let (contender, rest) = domain.split_at(share.contender);
        let (generator, rest) = rest.split_at(share.generator);
        let backend = &rest[..share.backend];
        cores.contender.extend(contender.iter().flatten());
        cores.generator.extend(generator.iter().flatten());
        cores.backend.extend(backend.iter().flatten());
    }
    cores.contender.sort_unstable();
    cores.generator.sort_unstable();
    cores.backend.sort_unstable();
    cores
}

/// Divides the load generator's CPUs with the backend, or lets it use the same. Returns what the
/// user must know about that.
fn share_generator(cores: &mut Cores) -> String {
    if cores.generator.len() > 1 {
        let generators = (cores.generator.len() / 4).max(1);
        cores.backend = cores.generator.split_off(generators);
        return "load generator and backend are hyper-threads of one physical core: each slows \
                the other down"
            .to_owned();
    }
    cores.backend.clone_from(&cores.generator);
    let numbers: Vec<String> = cores.generator.iter().map(usize::to_string).collect();
    format!(
        "load generator and backend share core {}: time slices in which it is full are marked",
        numbers.join(",")
    )
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
    use bakeoff_places::host::topology::{Cpu, Topology};

    fn check(host: usize, cpus: Option<f64>, backend: bool, expect: [&[usize]; 3], warned: bool) {
        let placement = check_on(&Topology::flat(host), cpus, backend, expect);
        assert_eq!(!placement.is_empty(), warned, "{placement:?}");
    }

    /// Returns the warnings.
    fn check_on(
        host: &Topology,
        cpus: Option<f64>,
        backend: bool,
        expect: [&[usize]; 3],
    ) -> Vec<String> {
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
            expect,
            "{cpus:?} of {host:?}"
        );
        placement.warnings
    }

    /// A host of CPUs, each with its physical core, package and node.
    fn host(cpus: usize, each: impl Fn(usize) -> (usize, usize, usize)) -> Topology {
        let cpus = (0..cpus).map(|number| {
            let (core, package, node) = each(number);
            Cpu {
                number,
                core,
                package,
                node,
            }
        });
        Topology {
            cpus: cpus.collect(),
        }
    }

    fn warns(warnings: &[String], words: &str) -> bool {
        warnings.iter().any(|warning| warning.contains(words))
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

    #[test]
    fn two_hyper_threads_of_one_core_are_shared_and_said() {
        let host = host(2, |_| (0, 0, 0));
        let warnings = check_on(&host, Some(1.0), true, [&[0], &[1], &[1]]);
        assert!(warns(&warnings, "share a physical core"));
        assert!(warns(&warnings, "share core 1"));
    }

    #[test]
    fn two_cores_with_hyper_threads() {
        let beside = host(4, |cpu| (cpu / 2 * 2, 0, 0));
        let across = host(4, |cpu| (cpu % 2, 0, 0));
        let backend = check_on(&beside, Some(1.5), true, [&[0, 1], &[2], &[3]]);
        assert!(warns(
            &backend,
            "load generator and backend are hyper-threads"
        ));
        check_on(&across, Some(1.5), true, [&[0, 2], &[1], &[3]]);
        let alone = check_on(&across, Some(1.0), false, [&[0, 2], &[1, 3], &[]]);
        assert!(alone.is_empty(), "{alone:?}");
        // A quota of three needs a part of each core.
        let shared = check_on(&across, Some(3.0), false, [&[0, 1, 2], &[3], &[]]);
        assert!(warns(&shared, "share a physical core"));
        check_on(&across, None, false, [&[], &[], &[]]);
    }

    #[test]
    fn four_cores_with_siblings_four_numbers_away() {
        let host = host(8, |cpu| (cpu % 4, 0, 0));
        check_on(&host, Some(1.5), true, [&[0, 4], &[1, 5], &[2, 3, 6, 7]]);
        check_on(&host, Some(2.0), false, [&[0, 1, 2, 4, 5, 6], &[3, 7], &[]]);
        check_on(&host, Some(3.0), true, [&[0, 1, 4, 5], &[2, 6], &[3, 7]]);
        check_on(&host, Some(6.0), true, [&[0, 1, 2, 4, 5, 6], &[3], &[7]]);
        check_on(&host, Some(7.0), true, [&[0, 1, 2, 3, 4, 5, 6], &[7], &[7]]);
    }

    #[test]
    fn parts_stay_on_one_package_where_they_fit() {
        let packages = host(8, |cpu| (cpu, cpu / 4, cpu / 4));
        // The remaining cores of the other package stay idle.
        check_on(&packages, Some(2.0), false, [&[0, 1, 2], &[3], &[]]);
        check_on(
            &packages,
            Some(2.0),
            true,
            [&[0, 1, 2], &[3], &[4, 5, 6, 7]],
        );
        check_on(
            &packages,
            Some(4.0),
            true,
            [&[0, 1, 2, 3], &[4], &[5, 6, 7]],
        );
        // Five fit on no package.
        check_on(
            &packages,
            Some(5.0),
            true,
            [&[0, 1, 2, 3, 4], &[5], &[6, 7]],
        );
        let interleaved = host(8, |cpu| (cpu, cpu % 2, 0));
        check_on(
            &interleaved,
            Some(2.0),
            true,
            [&[0, 2, 4], &[6], &[1, 3, 5, 7]],
        );
        let nodes = host(8, |cpu| (cpu % 4, 0, cpu % 4 / 2));
        check_on(&nodes, Some(2.0), true, [&[0, 4], &[1, 5], &[2, 3, 6, 7]]);
    }

    #[test]
    fn a_package_for_each_core_is_no_package() {
        let host = host(4, |cpu| (cpu, cpu, 0));
        check_on(&host, Some(1.0), false, [&[0, 1, 2], &[3], &[]]);
    }

    #[test]
    fn a_core_with_hyper_threads_is_the_contenders_before_one_without() {
        let hybrid = host(4, |cpu| (cpu.max(2), 0, 0));
        // CPUs 2 and 3 are separate cores, 0 and 1 of core 2 with it.
        check_on(&hybrid, Some(3.0), false, [&[0, 1, 2], &[3], &[]]);
        let last = host(3, |cpu| (cpu.min(1), 0, 0));
        check_on(&last, Some(2.0), true, [&[1, 2], &[0], &[0]]);
    }

    #[test]
    fn only_the_cores_that_a_process_may_use_are_given_away() {
        let mut topology = Topology::flat(8);
        topology.cpus.retain(|cpu| cpu.number >= 5);
        check_on(&topology, Some(1.0), true, [&[5], &[6], &[7]]);
    }
}
