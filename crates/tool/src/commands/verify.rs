//! `bakeoff verify`: lifecycle and functional checks, without load.
