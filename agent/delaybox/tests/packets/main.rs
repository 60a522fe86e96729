//! Real packets through the box. All but the relay need permission to create network namespaces: as root, or where users
//! have it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boxed;
mod counts;
mod namespaces;
mod precision;
mod relay;
mod streams;
mod treatment;
