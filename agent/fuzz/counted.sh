#!/bin/sh
# Runs a compiler with coverage counters: cargo's RUSTC_WORKSPACE_WRAPPER, which compiles the workspace's crates alone.
# The counters need no nightly compiler: they are a pass of LLVM, which the stable one offers too.
exec "$@" --cfg=fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
