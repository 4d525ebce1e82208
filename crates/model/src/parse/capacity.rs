//! Rules for a benchmark of kind `capacity` that a schema cannot express.

use super::raw::{BenchmarkTable, KindName};
use super::source::{KeyPath, Reading};
use crate::suite::capacity::{Arrivals, Capacity};
use crate::suite::slo::{self, Slo};
use crate::text::bound;

/// The keys of this kind alone, and whether they are given.
fn own_keys(table: &BenchmarkTable) -> [(&'static str, bool); 7] {
    [
        ("slo", !table.slo.is_empty()),
        ("rates", table.rates.is_some()),
        ("arrivals", table.arrivals.is_some()),
        ("connections", table.connections.is_some()),
        ("trial", table.trial.is_some()),
        ("trials-at-most", table.trials_at_most.is_some()),
        ("within", table.within.is_some()),
    ]
}

/// Returns the question of the benchmark at `place`; `None` for other kinds, which must not have
/// its keys.
pub(super) fn capacity(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &BenchmarkTable,
) -> Option<Capacity> {
    if table.kind != KindName::Capacity {
        for (key, _) in own_keys(table).iter().filter(|(_, given)| *given) {
            let message = format!("`{place}`: `{key}` is for `kind = \"capacity\"`");
            let hint = "steps define their own connections, durations and rates".to_owned();
            reading.complain(&place.key(key), &message, Some(hint));
        }
        return None;
    }
    let others = [
        ("ladder", table.ladder.is_some()),
        ("step", !table.step.is_empty()),
        ("scenario", table.scenario.is_some()),
        ("starts", table.starts.is_some()),
    ];
    for (key, _) in others.iter().filter(|(_, given)| *given) {
        let message = format!("`{place}`: kind `capacity` has no `{key}`");
        let hint = "its steps are trials of open load, whose rates the search chooses".to_owned();
        reading.complain(&place.key(key), &message, Some(hint));
    }
    let slos = slos(reading, place, table);
    if let Some(rates) = table.rates.filter(|rates| rates.from >= rates.to) {
        let place = place.key("rates");
        let message = format!(
            "`{place}`: `from` {} is not below `to` {}",
            rates.from, rates.to
        );
        reading.complain(&place, &message, None);
    }
    Some(Capacity {
        slos,
        rates: table.rates,
        arrivals: table.arrivals.unwrap_or(Arrivals::Constant),
        connections: table.connections.unwrap_or(Capacity::CONNECTIONS),
        trial: table.trial.map_or(Capacity::TRIAL, |trial| trial.0),
        trials_at_most: table.trials_at_most.unwrap_or(Capacity::TRIALS_AT_MOST),
        within: within(reading, place, table),
    })
}

fn slos(reading: &mut Reading<'_>, place: &KeyPath, table: &BenchmarkTable) -> Vec<Slo> {
    let list = place.key("slo");
    if table.slo.is_empty() && reading.is_whole(&list) {
        let message = format!("missing key `slo` in `{place}`");
        reading.complain(place, &message, Some(slo::HINT.to_owned()));
    }
    let mut slos: Vec<Slo> = Vec::new();
    for (index, text) in table.slo.iter().enumerate() {
        let place = list.index(index);
        match text.parse::<Slo>() {
            Ok(slo) if slos.contains(&slo) => {
                reading.complain(&place, &format!("`{place}`: {slo} is there twice"), None);
            }
            Ok(slo) => slos.push(slo),
            Err(why) => {
                let message = format!("`{place}`: {why}");
                reading.complain(&place, &message, Some(slo::HINT.to_owned()));
            }
        }
    }
    slos
}

fn within(reading: &mut Reading<'_>, place: &KeyPath, table: &BenchmarkTable) -> f64 {
    let Some(text) = &table.within else {
        return Capacity::WITHIN;
    };
    let share = bound::share(text).filter(|share| (0.002..=0.5).contains(share));
    if share.is_none() {
        let place = place.key("within");
        let message = format!("`{place}`: {text:?} is not from 0.2% to 50%");
        let hint = "how far the interval may reach from its middle: \"3%\"".to_owned();
        reading.complain(&place, &message, Some(hint));
    }
    share.unwrap_or(Capacity::WITHIN)
}
