//! `sinemora-agent`.

fn main() {}
