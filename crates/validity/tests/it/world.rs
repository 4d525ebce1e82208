//! A good slice, to be spoilt in one way or the other.

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{Connections, CpuTime, ErrorClass, ErrorCount, LoadInterval, MinMax};
use bakeoff_model::measure::resource::{
    CoreTime, HostTime, Memory, Pressure, ResourceSample, TcpCounters, Throttling,
};
use bakeoff_model::plan::Work;
use bakeoff_model::record::{Cores, Others, Unloaded};
use bakeoff_model::suite::Limits;
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_validity::{Evidence, Phase, Reading, Setting, Slice, judge};

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const MS: u64 = 1_000_000;

/// A slice with all that was read around it.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) setting: Setting,
    pub(crate) load: LoadInterval,
    pub(crate) contender: Option<(ResourceSample, ResourceSample)>,
    pub(crate) backend: Option<(ResourceSample, ResourceSample)>,
    pub(crate) host: Option<HostTime>,
    pub(crate) tcp: Option<TcpCounters>,
    pub(crate) others: Option<Others>,
    pub(crate) unloaded: Option<Unloaded>,
}

impl World {
    /// A second in which each connection had a response every millisecond; the contender had core
    /// 0 almost full, load generator and backend shared core 1.
    pub(crate) fn good(connections: u32) -> Self {
        let mut world = Self {
            setting: Setting {
                cores: Cores {
                    contender: vec![0],
                    generator: vec![1],
                    backend: vec![1],
                },
                core_sharing: None,
                host_cores: 2,
                nodes: None,
                limits: Limits {
                    cpus: Some(1.0),
                    memory_bytes: Some(512 << 20),
                },
                closed_loop: true,
                keep_alive: true,
                metered: true,
                backend: Reading::Known(()),
                work: Work::default(),
                phase: Phase::Measured { warmth: None },
                not_recorded: Vec::new(),
            },
            load: load(connections),
            contender: Some(used(0.95)),
            backend: Some(used(0.2)),
            host: Some(HostTime {
                wall_ns: SECOND,
                own_ns: 0,
                cores: vec![core(0, 0.96, 0.0), core(1, 0.35, 0.0)],
            }),
            tcp: Some(TcpCounters {
                sent_segments: 16_000,
                ..TcpCounters::default()
            }),
            others: None,
            unloaded: None,
        };
        world.serve(connections, u64::from(connections) * 1000, MS);
        world
    }

    /// Sets connections and all their responses, each after a time.
    pub(crate) fn serve(&mut self, connections: u32, requests: u64, each_ns: u64) {
        self.load.requests = requests;
        self.load.service_time = times(requests, each_ns);
        let asked = u64::from(self.load.connections.asked);
        self.load.censored = times(u64::from(connections), each_ns / 2);
        self.load
            .censored
            .merge(&times(asked - u64::from(connections), SECOND));
        let mean = requests / u64::from(connections.max(1));
        let min = if connections < self.load.connections.asked {
            0
        } else {
            mean
        };
        self.load.requests_per_connection = Some(MinMax { min, max: mean });
    }

    /// Sets the failed requests of a class, each after a time.
    pub(crate) fn fail(&mut self, class: ErrorClass, count: u64, each_ns: u64) {
        self.load.errors.insert(
            class,
            ErrorCount {
                count,
                time_ns_sum: count * each_ns,
                example: None,
                ..ErrorCount::default()
            },
        );
    }

    /// Open load: sets the requests that were due, and the lag of their sends.
    pub(crate) fn offer(&mut self, offered: u64, lag_ns: u64, response_ns: u64) {
        self.setting.closed_loop = false;
        self.load.turnaround_ns = None;
        self.load.requests_per_connection = None;
        self.load.offered = Some(offered);
        self.load.send_lag = Some(times(self.load.requests, lag_ns));
        self.load.response_time = Some(times(self.load.requests, response_ns));
    }

    pub(crate) fn evidence(&self) -> Evidence {
        let pair = |pair: &'_ Option<(ResourceSample, ResourceSample)>| pair.clone();
        let (contender, backend) = (pair(&self.contender), pair(&self.backend));
        Evidence::of(
            &self.setting,
            &Slice {
                load: &self.load,
                contender: contender.as_ref().map(|(before, after)| (before, after)),
                backend: backend.as_ref().map(|(before, after)| (before, after)),
                host: self.host.as_ref(),
                tcp: self.tcp.as_ref(),
                others: self.others,
                unloaded: self.unloaded,
            },
        )
    }

    pub(crate) fn judge(&self) -> Validity {
        judge(&self.evidence())
    }

    /// The verdict is this one, and its worst reason says so.
    pub(crate) fn check(&self, verdict: FairnessVerdict, words: &str) {
        let validity = self.judge();
        assert_eq!(validity.verdict(), verdict, "{validity}");
        assert!(validity.to_string().contains(words), "{validity}");
    }
}

fn load(connections: u32) -> LoadInterval {
    LoadInterval {
        end_ns: SECOND,
        connections: Connections {
            asked: connections,
            established: connections,
            in_flight_max: connections,
            reconnects: 0,
            on_arrival: false,
        },
        turnaround_ns: Some(0),
        connecting_ns: Some(0),
        generator_cpu: CpuTime {
            user_ns: SECOND / 10,
            system_ns: 0,
        },
        generator_threads: 1,
        ..LoadInterval::default()
    }
}

pub(crate) fn times(count: u64, each_ns: u64) -> Histogram {
    let mut times = Histogram::new();
    for _ in 0..count {
        times.record(each_ns);
    }
    times
}

pub(crate) fn core(core: usize, busy: f64, stolen: f64) -> CoreTime {
    CoreTime {
        core,
        busy_ns: nanoseconds(busy),
        stolen_ns: nanoseconds(stolen),
    }
}

/// Two samples of a part that used `cores` cores for a second, with everything readable.
pub(crate) fn used(cores: f64) -> (ResourceSample, ResourceSample) {
    let sample = |at_ns: u64, used_ns: u64| ResourceSample {
        at_ns,
        cpu: Some(CpuTime {
            user_ns: used_ns,
            system_ns: 0,
        }),
        throttling: Some(Throttling::default()),
        memory: Some(Memory {
            now_bytes: 1 << 20,
            peak_bytes: 1 << 20,
            ..Memory::default()
        }),
        pressure: Some(Pressure::default()),
        ..ResourceSample::default()
    };
    (sample(0, 0), sample(SECOND, nanoseconds(cores)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test"
)]
pub(crate) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
