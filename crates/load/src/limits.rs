//! Limits of the load generator's own process: open files and cores.

#![expect(
    unsafe_code,
    reason = "a system call that the crates for them do not have"
)]

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::LoadError;

/// Raises the soft limit of open files to the hard limit and returns the result, `u64::MAX` if
/// there is none.
///
/// A limit that is silently too low shows up as refused connections of the service, so the number
/// belongs into every record.
pub fn raise_nofile() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        // A refusal is not an error: the returned number shows it.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Gives the calling thread a separate table of open files, with only the standard streams in it:
/// in a table shared by threads, each use of a file is counted in memory that they share too.
pub(crate) fn own_files() {
    const FIRST: libc::c_uint = 3;
    // A refusal (Linux before 5.9) is not an error: the thread is a little slower then.
    // SAFETY: no memory is involved, and the thread has not opened anything yet.
    let _ = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_UNSHARE,
        )
    };
}

/// Returns the number of cores that this process may use.
pub(crate) fn usable_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Binds the calling thread to these cores and returns the cores it was allowed to use before.
///
/// # Errors
/// When the kernel refuses, for example because a core does not exist.
pub(crate) fn pin(cores: &[usize]) -> Result<CpuSet, LoadError> {
    let system = |source| LoadError::System {
        what: format!("cannot pin a thread to cores {cores:?}"),
        source,
    };
    let before = sched_getaffinity(None).map_err(|error| system(error.into()))?;
    let mut set = CpuSet::new();
    for &core in cores {
        if core >= CpuSet::MAX_CPU {
            return Err(system(rustix::io::Errno::INVAL.into()));
        }
        set.set(core);
    }
    sched_setaffinity(None, &set).map_err(|error| system(error.into()))?;
    Ok(before)
}

/// Restores the cores of the calling thread from before [`pin`].
pub(crate) fn unpin(before: &CpuSet) {
    // Undoing what was allowed a moment ago can only fail when the cores went away meanwhile.
    let _ = sched_setaffinity(None, before);
}
