//! Builds of contenders: which can be built here, where, how many at once, and their outcomes.

use std::pin::pin;
use std::time::Duration;

use bakeoff_base::hint::hinted;
use bakeoff_build::BuildOptions;
use bakeoff_model::record::failure::Failure;
use bakeoff_model::suite::Suite;
use bakeoff_model::text::duration_ns;
use bakeoff_places::contender::Ready;
use bakeoff_store::event::Event;
use futures_util::stream::{self, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval};

/// Builds that run at the same time: compilers use all cores for most of a build, and one core
/// while they link or fetch.
const BUILDS_AT_ONCE: usize = 2;

/// The interval of progress reports.
const SECOND: Duration = Duration::from_secs(1);

/// News about builds. Each is meant by its position among them, from 0.
#[derive(Debug)]
pub enum News<T> {
    /// A build command starts.
    Began(usize),
    /// A contender was built, or not, and how long that took.
    Ended(usize, T, Duration),
    /// A second has passed.
    TimePasses,
}

/// Builds contenders, some at the same time, and reports when each starts and ends. `build` gets a
/// function to call when a build command starts; those that are up to date do not call it.
///
/// # Errors
/// Errors of `tell`; the remaining builds are not made, or are ended.
pub async fn build_all<C, T>(
    contenders: &[C],
    build: impl AsyncFn(&C, &(dyn Fn() + Sync)) -> T,
    mut tell: impl FnMut(News<T>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (began, mut begins) = mpsc::unbounded_channel();
    let (began, build) = (&began, &build);
    let all = contenders
        .iter()
        .enumerate()
        .map(|(index, contender)| async move {
            let started = Instant::now();
            // The other end lives as long as this function.
            let begun = || {
                let _ = began.send(index);
            };
            let built = build(contender, &begun).await;
            (index, built, started.elapsed())
        });
    let mut all = pin!(stream::iter(all).buffer_unordered(BUILDS_AT_ONCE));
    let mut seconds = interval(SECOND);
    loop {
        tokio::select! {
            biased;
            Some(index) = begins.recv() => tell(News::Began(index))?,
            ended = all.next() => {
                while let Ok(index) = begins.try_recv() {
                    tell(News::Began(index))?;
                }
                let Some((index, built, took)) = ended else {
                    return Ok(());
                };
                tell(News::Ended(index, built, took))?;
            }
            _ = seconds.tick() => tell(News::TimePasses)?,
        }
    }
}

/// Where and how contenders of a suite are built.
#[must_use]
pub fn build_options(suite: &Suite) -> BuildOptions {
    BuildOptions {
        cache: bakeoff_build::cache_dir(),
        suite: suite.name.clone(),
        limit: bakeoff_build::BUILD_LIMIT,
    }
}

/// Which of the contenders a build is of.
#[derive(Debug, Clone)]
pub struct Which<'a> {
    /// Name of the contender.
    pub contender: &'a str,
    /// Position of the contender, from 0.
    pub index: usize,
    /// How many there are.
    pub contenders: usize,
}

impl Which<'_> {
    /// The build of a contender starts.
    #[must_use]
    pub fn building(&self) -> Event {
        Event::Building {
            contender: self.contender.to_owned(),
            index: self.index,
            contenders: self.contenders,
        }
    }

    /// Returns the event with the result of the build; nothing if there was nothing to build.
    pub(super) fn built(&self, built: &Result<Ready, Failure>, took: Duration) -> Option<Event> {
        let (contender, took_ns) = (self.contender.to_owned(), duration_ns::whole(took));
        match built {
            Ok(ready) if ready.built.is_nothing() => None,
            Ok(ready) => Some(Event::Built {
                contender,
                index: self.index,
                contenders: self.contenders,
                took_ns,
                fresh: ready.built.fresh,
                version: ready.built.version.clone(),
            }),
            Err(failure) => Some(Event::BuildFailed {
                contender,
                index: self.index,
                contenders: self.contenders,
                took_ns,
                failure: failure.clone(),
            }),
        }
    }
}

/// The contenders whose toolchains are here, and for each other one the line that says why not.
#[must_use]
pub fn buildable(suite: &Suite, names: &[String]) -> (Vec<String>, Vec<(String, String)>) {
    let mut here = Vec::new();
    let mut skipped = Vec::new();
    for contender in suite
        .contenders
        .iter()
        .filter(|one| names.contains(&one.name))
    {
        match bakeoff_build::toolchains(contender) {
            Ok(_) => here.push(contender.name.clone()),
            Err(missing) => {
                skipped.push((
                    contender.name.clone(),
                    format!("{missing}: {}", missing.how),
                ));
            }
        }
    }
    (here, skipped)
}

/// Returns the error when nothing can be built; one line says why for each contender.
#[must_use]
pub fn none_here(why: &[String]) -> anyhow::Error {
    hinted("no contender can be built on this machine", why.join("; "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::sleep;

    use super::{News, build_all};

    /// Returns the news about builds that take this number of seconds; those that take none are up
    /// to date.
    async fn told(builds: &[u64]) -> Vec<String> {
        let build = async |seconds: &u64, begun: &(dyn Fn() + Sync)| {
            if *seconds > 0 {
                begun();
                sleep(Duration::from_secs(*seconds)).await;
            }
            *seconds
        };
        let mut told = Vec::new();
        let tell = |news| {
            told.push(match news {
                News::Began(index) => format!("{index} started"),
                News::Ended(index, built, took) => {
                    assert_eq!(took.as_secs(), built);
                    format!("{index} ended")
                }
                News::TimePasses => "second".to_owned(),
            });
            Ok(())
        };
        build_all(builds, build, tell).await.unwrap();
        told
    }

    #[tokio::test(start_paused = true)]
    async fn two_are_built_at_a_time_and_each_is_told_when_it_begins_and_ends() {
        let mut told = told(&[0, 3, 1, 1]).await;
        told.retain(|word| word != "second");
        assert_eq!(
            told,
            [
                "0 ended",
                "1 started",
                "2 started",
                "2 ended",
                "3 started",
                "3 ended",
                "1 ended"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn time_passes_meanwhile() {
        let told = told(&[10]).await;
        let seconds = told.iter().filter(|word| *word == "second").count();
        assert!((9..=11).contains(&seconds), "{told:?}");
    }
}
