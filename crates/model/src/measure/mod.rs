//! The measured costs of a contender and of its host: resources, CPU time by threads, layers and
//! functions, and cores that are shared. Reading them is the business of places.

pub mod changed;
pub mod core_sharing;
pub mod cpu_parts;
pub mod flame_graph;
pub mod layers;
pub mod resource;
