//! A value that may be missing, and why: a value that could not be read does not count as good.

/// A value, or why there is none. The reasons are in the order of their precedence when readings
/// are added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reading<T> {
    /// The value cannot exist: no quota, no backend, no closed loop.
    #[default]
    NotApplicable,
    /// The value was read.
    Known(T),
    /// The value was not meant to be read: bakeoff does not run the service.
    NotMetered,
    /// The records go without it, as their `begin` says.
    NotRecorded,
    /// The value should have been read and could not be.
    Unreadable,
}

impl<T> Reading<T> {
    /// Returns a reading that is due.
    pub fn due(value: Option<T>) -> Self {
        value.map_or(Self::Unreadable, Self::Known)
    }

    /// Returns the value.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the reading without its value.
    pub(crate) fn state(&self) -> Reading<()> {
        self.then(|| Reading::Known(()))
    }

    /// Adds the reading of another stretch of time: the sum is known if both are.
    pub(crate) fn add(&mut self, other: &Self, sum: impl FnOnce(&mut T, &T))
    where
        T: Clone,
    {
        match (&mut *self, other) {
            (Self::Known(own), Self::Known(other)) => sum(own, other),
            (own, other) if other.rank() > own.rank() => *own = other.clone(),
            _ => {}
        }
    }

    /// Returns another reading if this one was made, otherwise why there is none.
    pub(crate) fn then<U>(&self, reading: impl FnOnce() -> Reading<U>) -> Reading<U> {
        match self {
            Self::Known(_) => reading(),
            Self::NotApplicable => Reading::NotApplicable,
            Self::NotMetered => Reading::NotMetered,
            Self::NotRecorded => Reading::NotRecorded,
            Self::Unreadable => Reading::Unreadable,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::NotApplicable => 0,
            Self::Known(_) => 1,
            Self::NotMetered => 2,
            Self::NotRecorded => 3,
            Self::Unreadable => 4,
        }
    }
}
