//! Real packets through the box. Needs to make network namespaces: as root, or where users may have their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod boxed;
mod counts;
mod namespaces;
mod precision;
mod streams;
