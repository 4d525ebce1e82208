//! Small functions that several crates need and that must be the same everywhere: conversion of
//! numbers and their text, seeded random numbers, the order of names, percent-encoding, problems,
//! counted nouns. The crate knows nothing of suites, records or HTTP, so `stats` and `load` can use
//! it as well as `model`.

pub mod hint;
pub mod natural;
pub mod number;
pub mod percent;
pub mod problem;
pub mod random;
pub mod text;
