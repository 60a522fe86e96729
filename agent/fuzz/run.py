"""Fuzzes what the agent reads from others: `run.py [SECONDS] [TARGET …]`. New inputs that reach further are kept.

Coverage counters need no compiler of another channel: they are a pass of LLVM, which the stable one offers too.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = ("message", "plan")
_PASS = "-Cpasses=sancov-module"
_COVERAGE = ["level=4", "inline-8bit-counters", "pc-table", "trace-compares"]


def main(arguments: list[str]) -> int:
    """Build the targets and run each for so long; the exit code says whether all survived."""
    seconds = next((int(argument) for argument in arguments if argument.isdecimal()), 10)
    targets = [argument for argument in arguments if not argument.isdecimal()] or list(TARGETS)
    flags = [_PASS, *(f"-Cllvm-args=-sanitizer-coverage-{option}" for option in _COVERAGE), "--cfg=fuzzing"]
    env = os.environ | {"RUSTFLAGS": " ".join(flags)}
    # A target triple of its own keeps the flags from build scripts.
    host = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    triple = next(line.split()[1] for line in host.splitlines() if line.startswith("host:"))
    build = ["cargo", "build", "--locked", "--release", "--quiet", "--target", triple]
    subprocess.run(build, cwd=HERE, env=env, check=True)
    failed = 0
    for target in targets:
        found = HERE / "target" / "found" / target
        found.mkdir(parents=True, exist_ok=True)
        corpus = HERE / "corpus" / target
        options = [f"-max_total_time={seconds}", "-max_len=8192", "-timeout=10", "-rss_limit_mb=1024"]
        command = [HERE / "target" / triple / "release" / target, found, corpus]
        done = subprocess.run([*command, *options, f"-artifact_prefix={found}-"], check=False)
        print(f"{target}: {'survived' if done.returncode == 0 else 'FAILED'} {seconds} s", flush=True)
        failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
