//! Small functions that several crates need and that must be the same everywhere: conversion of
//! numbers and their text, seeded random numbers, the order of names, percent-encoding, compressed
//! bodies, problems, counted nouns. The crate knows nothing of suites and records, so `stats` and
//! `load` can use it as well as `model`.

pub mod content_encoding;
pub mod hint;
pub mod natural;
pub mod number;
pub mod percent;
pub mod problem;
pub mod random;
pub mod text;
