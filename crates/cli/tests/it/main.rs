//! The program from outside: a suite is made in a temporary folder, the binary is run on it, and
//! what a person would see is asserted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod about;
mod about_tutorial;
mod action;
mod audit;
mod bad_input;
mod baseline;
mod bisect;
mod capacity;
mod capture;
mod contract;
mod crashes;
mod dependencies;
mod duel;
mod engine;
mod equal_work;
mod far_docker;
mod far_hosts;
mod flame;
mod generators;
mod grpc;
mod init;
mod interruption;
mod judge;
mod kubernetes;
mod load_ends;
mod otlp;
mod own_metrics;
mod pilot;
mod records;
mod rounds;
mod rows;
mod same_requests;
mod sessions;
mod size;
mod ssh_server;
mod stays_inside;
mod tls;
mod turns;
mod up;
mod validity;
mod world;
