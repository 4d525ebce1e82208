//! Part of bakeoff.
