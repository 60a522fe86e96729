//! Real packets through the box. Needs permission to create network namespaces: as root, or where users have it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boxed;
mod counts;
mod namespaces;
mod precision;
mod streams;
mod treatment;
