//! Strategies under test, in virtual time: the code of `equipoise-core` that production runs, with
//! a clock that is moved by hand and chance that comes from a seed.
//!
//! - [`conformance::check`] puts a strategy, built in or your own, to every claim that it makes
//!   about itself.
//! - [`world`] lets calls arrive at simulated endpoints and reports who got how many and how long
//!   they took.
//! - [`scene`] is what both are built on: one service, a list of providers and the view of them.
//! - [`chi_square`] tells whether counts fit shares.
//!
//! # Not here
//!
//! No socket, no runtime and no clock of the system. Nothing here is used by a running client.

pub mod chi_square;
pub mod conformance;
pub mod scene;
pub mod world;
