//! Values on the command line and their meaning: clap reads each of them, so that a wrong one is
//! refused with its flag before anything starts.

pub(crate) mod condition;
pub(crate) mod feed;
pub(crate) mod service;

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_base::problem::Problem;
use bakeoff_model::load::{ReactorChoice, TimeUnit};
use bakeoff_model::parse;
use bakeoff_model::suite::conditions;
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_model::text::{bound, duration_ns};
use clap::ValueEnum;

/// Where contenders run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuntimeKind {
    /// Local process in a separate cgroup.
    Process,
    /// Docker container.
    Docker,
    /// Pod of a Kubernetes cluster.
    Kubernetes,
    /// A service that runs already, at the contender's `url`: nothing is started or metered.
    External,
}

impl From<RuntimeKind> for conditions::RuntimeKind {
    fn from(kind: RuntimeKind) -> Self {
        match kind {
            RuntimeKind::Process => Self::Process,
            RuntimeKind::Docker => Self::Docker,
            RuntimeKind::Kubernetes => Self::Kubernetes,
            RuntimeKind::External => Self::External,
        }
    }
}

/// The effect of a condition that is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undecided {
    /// The condition passes, and the summary says so.
    Pass,
    /// The condition fails, as one that holds.
    Fail,
}

/// The kernel interface of the load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reactor {
    /// io_uring with kernel receive timestamps where the kernel allows it, otherwise epoll with
    /// them.
    Auto,
    /// io_uring with kernel receive timestamps.
    #[value(alias = "uring-stamped")]
    UringRxTimestamps,
    /// epoll with kernel receive timestamps.
    #[value(alias = "epoll-stamped")]
    EpollRxTimestamps,
    /// io_uring; a response is timed when it is read.
    Uring,
    /// epoll; a response is timed when it is read.
    Epoll,
}

impl From<Reactor> for ReactorChoice {
    fn from(reactor: Reactor) -> Self {
        match reactor {
            Reactor::Auto => Self::Auto,
            Reactor::UringRxTimestamps => Self::UringRxTimestamps,
            Reactor::EpollRxTimestamps => Self::EpollRxTimestamps,
            Reactor::Uring => Self::Uring,
            Reactor::Epoll => Self::Epoll,
        }
    }
}

/// The unit of the time that a message carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl From<Unit> for TimeUnit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Ms => Self::Milliseconds,
            Unit::Us => Self::Microseconds,
            Unit::Ns => Self::Nanoseconds,
        }
    }
}

/// A duration as suite files write it, `250ms`; never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Duration);

impl Time {
    /// In whole nanoseconds.
    pub(crate) fn as_ns(self) -> u64 {
        duration_ns::whole(self.0)
    }
}

impl FromStr for Time {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let duration = parse::duration(text)?;
        if duration.is_zero() {
            return Err("must be longer than nothing".into());
        }
        Ok(Self(duration))
    }
}

/// Time to warm up, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WarmUp(pub(crate) Option<Time>);

impl FromStr for WarmUp {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "none" => Ok(Self(None)),
            _ => text.parse().map(|time| Self(Some(time))),
        }
    }
}

/// The URL of a collector of metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collector(pub(crate) ServiceUrl);

impl FromStr for Collector {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let url = ServiceUrl::new(text).map_err(|error| error.message)?;
        Ok(Self(url))
    }
}

/// A number above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Positive(pub(crate) f64);

impl FromStr for Positive {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text.parse() {
            Ok(number) if f64::is_finite(number) && number > 0.0 => Ok(Self(number)),
            _ => Err("must be a number above zero".into()),
        }
    }
}

/// A size as suite files write it, `512MiB`, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        // As Docker and Kubernetes write it: `512m`, `1Gi`.
        let short = text.strip_suffix(['i', 'b']).unwrap_or(text);
        let units = [('k', "KiB"), ('m', "MiB"), ('g', "GiB")];
        let found = units.iter().find_map(|(letter, unit)| {
            let number = short.strip_suffix([*letter, letter.to_ascii_uppercase()])?;
            Some(format!("{number}{unit}"))
        });
        parse::size_bytes(found.as_deref().unwrap_or(text)).map(Self)
    }
}

/// Path and query of a request, escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestPath(pub(crate) String);

impl FromStr for RequestPath {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        if !text.starts_with('/') {
            return Err("begin with `/`, without scheme and host".into());
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("escape spaces and everything beyond ASCII with `%`".into());
        }
        Ok(Self(text.to_owned()))
    }
}

/// A variable of an environment, `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable(pub(crate) String, pub(crate) String);

impl FromStr for Variable {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self(name.to_owned(), value.to_owned())),
            _ => Err("no name and `=` in it; write it as NAME=VALUE".into()),
        }
    }
}

/// A share of something, `3%` or `0.03`, above zero and up to a half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match bound::share(text) {
            Some(share) if (0.002..=0.5).contains(&share) => Ok(Self(share)),
            _ => Err("must be from 0.2% to 50%".into()),
        }
    }
}

/// Requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate(pub(crate) f64);

impl FromStr for Rate {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text.parse() {
            Ok(rate) if f64::is_finite(rate) && rate > 0.0 => Ok(Self(rate)),
            _ => Err("must be a positive number of requests per second".into()),
        }
    }
}

/// How many times as fast something is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Factor(pub(crate) f64);

impl FromStr for Factor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text.trim_end_matches('x').parse() {
            Ok(factor) if (0.001..=1000.0).contains(&factor) => Ok(Self(factor)),
            _ => Err("must be a factor from 0.001 to 1000".into()),
        }
    }
}

/// A header, `Name: value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header(pub(crate) String, pub(crate) String);

impl FromStr for Header {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let (name, value) = text
            .split_once(':')
            .ok_or("no colon in it; write it as 'Name: value'")?;
        Ok(Self(name.trim().to_owned(), value.trim().to_owned()))
    }
}

/// A body, or the file that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// As typed.
    Text(String),
    /// `@FILE`; `@@` at the start stands for one `@` of a text.
    File(PathBuf),
}

impl Body {
    /// The bytes.
    pub(crate) fn read(&self) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::File(file) => {
                std::fs::read(file).with_context(|| format!("--body {}", file.display()))
            }
        }
    }
}

impl FromStr for Body {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.strip_prefix('@') {
            Some(text) if text.starts_with('@') => Self::Text(text.to_owned()),
            Some(file) => Self::File(file.into()),
            None => Self::Text(text.to_owned()),
        })
    }
}

/// Two revisions: `GOOD..BAD`, or `GOOD..` up to HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) good: String,
    pub(crate) bad: String,
}

impl FromStr for Range {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = "write GOOD..BAD, as in v1.4..main";
        let (good, bad) = text.split_once("..").ok_or(wanted)?;
        let is_revision = |name: &str| !name.starts_with(['.', '-']);
        if good.is_empty() || !is_revision(good) || !is_revision(bad) {
            return Err(wanted);
        }
        let bad = if bad.is_empty() { "HEAD" } else { bad };
        Ok(Self {
            good: good.to_owned(),
            bad: bad.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Body, Header, Positive, Range, Rate, RequestPath, Share, Size, Time, Variable, WarmUp,
    };

    #[test]
    fn what_a_flag_cannot_take_is_refused() {
        for wrong in ["", "0s", "10", "fast", "-1s"] {
            assert!(wrong.parse::<Time>().is_err(), "{wrong}");
        }
        for wrong in ["", "0", "-1", "nan", "inf", "many"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
            assert!(wrong.parse::<Positive>().is_err(), "{wrong}");
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
            assert!(wrong.parse::<WarmUp>().is_err(), "{wrong}");
        }
        for wrong in ["", "3 percent", "0", "-1%", "51%", "1"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
        for wrong in ["", "items", "http://a/", "/a b", "/Plzeň"] {
            assert!(wrong.parse::<RequestPath>().is_err(), "{wrong}");
        }
        for wrong in ["", "main", "..main", "a...b", "a..-b"] {
            assert!(wrong.parse::<Range>().is_err(), "{wrong}");
        }
        assert!("=a".parse::<Variable>().is_err());
        assert!("no colon".parse::<Header>().is_err());
    }

    #[test]
    fn values_mean_what_they_say() {
        assert_eq!("250ms".parse::<Time>().unwrap().as_ns(), 250_000_000);
        assert_eq!("3%".parse(), Ok(Share(0.03)));
        assert_eq!("1e3".parse(), Ok(Rate(1000.0)));
        assert_eq!("none".parse(), Ok(WarmUp(None)));
        let range: Range = "v1.2..".parse().unwrap();
        assert_eq!((&*range.good, &*range.bad), ("v1.2", "HEAD"));
        for text in ["512MiB", "512m", "512M", "512Mi", "512mb"] {
            assert_eq!(text.parse(), Ok(Size(512 << 20)), "{text}");
        }
        assert_eq!("1g".parse(), Ok(Size(1 << 30)));
        let variable = Variable("A".to_owned(), "b=c".to_owned());
        assert_eq!("A=b=c".parse(), Ok(variable));
        let header = Header("A".to_owned(), "b:c".to_owned());
        assert_eq!("A: b:c".parse(), Ok(header));
        assert_eq!("@a".parse(), Ok(Body::File("a".into())));
        assert_eq!("a@".parse(), Ok(Body::Text("a@".to_owned())));
        assert_eq!("@@a".parse(), Ok(Body::Text("@a".to_owned())));
    }
}
