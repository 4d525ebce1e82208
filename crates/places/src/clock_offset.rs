//! The offset of another machine's clock from this one's.

use std::time::Instant;

use bakeoff_model::load::ClockOffset;

use crate::ready::wall_ns;

/// Questions for the time; the quickest reply gives the best offset.
const QUESTIONS: u32 = 15;

/// Asks for the wall clock of another machine several times. The reply was written at some moment
/// between question and reply, so half of the time between them is how far off that may be. `None`
/// if no reply is a time.
///
/// # Errors
/// The first of `ask`.
pub(crate) async fn clock_offset<E>(
    mut ask: impl AsyncFnMut() -> Result<Option<u64>, E>,
) -> Result<Option<ClockOffset>, E> {
    let mut best: Option<ClockOffset> = None;
    for _ in 0..QUESTIONS {
        let (asked_ns, began) = (wall_ns(), Instant::now());
        let reply = ask().await?;
        let took = began.elapsed();
        let Some(there_ns) = reply else {
            continue;
        };
        let half_ns = u64::try_from((took / 2).as_nanos()).unwrap_or(u64::MAX);
        let here_ns = asked_ns.saturating_add(half_ns);
        let ahead = i128::from(there_ns) - i128::from(here_ns);
        let offset = ClockOffset {
            ahead_ns: i64::try_from(ahead).unwrap_or(i64::MAX),
            error_ns: half_ns,
        };
        if best.is_none_or(|best| half_ns < best.error_ns) {
            best = Some(offset);
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::clock_offset;
    use crate::ready::wall_ns;

    #[tokio::test]
    async fn the_quickest_reply_tells_the_offset() {
        let asked = std::cell::Cell::new(0);
        let ask = async || {
            asked.set(asked.get() + 1);
            // The others come late by less than the offset may be off.
            if asked.get() != 7 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok::<_, ()>(Some(wall_ns() + 3_600_000_000_000))
        };
        let offset = clock_offset(ask).await.unwrap().unwrap();
        let off = offset.ahead_ns.abs_diff(3_600_000_000_000);
        // A little passes between the readings of the two clocks here.
        assert!(off <= offset.error_ns + 1_000_000, "{offset:?}");
        assert!(offset.error_ns < 10_000_000, "{offset:?}");
        assert_eq!(clock_offset(async || Ok::<_, ()>(None)).await, Ok(None));
    }
}
