//! HTTPS client of the backend: requests, and the meaning of their answers.

mod answer;
mod client;
mod no_answer;
pub mod pinned;

pub use answer::{Answer, Problem, Verdict};
pub use client::{Body, CallError, Client};
