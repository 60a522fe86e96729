//! The backend as the agent sees it: requests over HTTPS, and what their answers mean.

mod answer;
mod client;

pub use answer::{Answer, Problem, Verdict};
pub use client::{Body, CallError, Client};
