//! Control groups of Linux, version 1 and 2: finding where ours may be made, making them with
//! limits, listing and killing what is in them, removing them.
//!
//! Reading the metrics of a group is the meter's business. The mount table and the membership are
//! arguments, so that a host of the other version can be played from a folder of fixtures.

mod group;
mod hierarchy;
mod mounts;
mod removal;

pub(crate) use group::Group;
pub(crate) use hierarchy::{Hierarchy, Version};
pub(crate) use mounts::{dir_of, membership, mounts};
pub(crate) use removal::{kill_group_dir, remove_dir};

/// Period over which the CPU quota is enforced, us: the kernel's default and Docker's.
pub(crate) const QUOTA_PERIOD_US: u64 = 100_000;
