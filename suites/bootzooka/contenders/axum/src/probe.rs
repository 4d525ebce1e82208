//! What hashing a password costs alone: the CPU time of so many hashes as registrations make them.

use std::{fs, time::Duration};

use anyhow::Context;

use crate::user;

/// Hashes so many passwords and prints the CPU time of this thread for it, in seconds.
pub fn hash(operations: u32) -> anyhow::Result<()> {
    let salt = "S".repeat(user::SALT_LENGTH);
    // Once for the caches and the clock of the core, then to be measured.
    (0..operations).for_each(|index| drop(user::hash(&format!("secret{index}"), &salt)));
    let begun = cpu_time()?;
    (0..operations).for_each(|index| drop(user::hash(&format!("secret{index}"), &salt)));
    println!("{}", (cpu_time()? - begun).as_secs_f64());
    Ok(())
}

/// CPU time of this thread up to now, as the kernel's scheduler counts it.
fn cpu_time() -> anyhow::Result<Duration> {
    const FILE: &str = "/proc/thread-self/schedstat";
    let text = fs::read_to_string(FILE).context(FILE)?;
    let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
    Ok(Duration::from_nanos(ns.context(FILE)?))
}
