"""Runs the project's checks and tests in lanes and adds them up: `suites.py [--lint | --check] [NAME …]`.

The last line is `N passed, N failed`. A check that fails counts as one failed test; so does a suite that dies, takes
too long or runs no test at all. The exit code is 0 only when nothing failed. Each suite's output is kept in
`.tools/logs/test-NAME.log`; a single suite shows it as it comes.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import running
from running import FAILED_NAMES, ROOT, Suite, Tally

SLOWEST = 15
# The sum names this many failed tests of a suite; its log is shown to this many lines when it fails.
SHOWN_AT_MOST = 10
TAIL_LINES = 150
RUNS = ROOT / ".tools" / "test-runs.json"
BEGAN = ROOT / ".tools" / "test-began.json"
PYTEST_AGAIN = ("--last-failed", "--last-failed-no-failures=none")
NPX = ("npx", "--no-install")
VITEST = (*NPX, "vitest", "run", "--reporter=default", "--reporter=junit", "--outputFile.junit={report}")
# Benchmarks outside the backend print their figures as those of its lab do; mypy keeps what it finds for all folders.
BACKEND = ROOT / "backend"
LAB = {"MYPYPATH": os.pathsep.join(str(BACKEND / folder) for folder in (".", "client", "typings"))}
MYPY = ("mypy", f"--config-file={BACKEND / 'pyproject.toml'}", f"--cache-dir={BACKEND / '.mypy_cache'}")
AGENT = {"SINEMORA_BUILD_FOLDER": "debug"}  # the quick build, not the one for release
# Where Python of ours is, from the backend.
PYTHON = (".", "../infra", "../migrations", "../agent/bench", "../agent/fuzz", "../agent/guests", "../agent/interop")
TYPED = (
    *("sinemora", "lab", "client/sinemora_client", "tests/operations/embedded", "tests/toolchain"),
    *(f"../infra/{folder}" for folder in ("toolchain", "test", "packages", "prose", "supply_chain")),
)
# The lane next to that of the backend, and the suites that are run by whichever lane has nothing else left: on two
# cores both end at about the same time.
OTHERS = "others"
EITHER = "either"
# Two lanes for tests in real time, which need a tenth of a processor: those that wait for packets of a laboratory, and
# those that wait for a product and for emulated machines.
PACKETS = "packets"
PRODUCT = "product"
NO_NAMESPACES = "not run: this machine gives users no network namespaces; run it as root"
NO_TAPS = "not run: this machine gives users no TAP interfaces; run them as root"
TAP = Path("/dev/net/tun")

SUITES = [
    Suite("ruff", "backend", ("ruff", "check", "--quiet", *PYTHON)),
    Suite("ruff-format", "backend", ("ruff", "format", "--quiet", "--check", *PYTHON)),
    # One run for all that shares modules: each run reads what mypy keeps of them.
    Suite("mypy", "backend", ("mypy", *TYPED), env=LAB),
    Suite("mypy-bench", "agent/bench", (*MYPY, "."), env=LAB),
    Suite("import-linter", "backend", ("lint-imports",)),
    Suite("rust-modules", "backend", ("python", "../infra/test/rust_modules.py")),
    Suite("manifests", "backend", ("python", "../infra/test/manifests.py")),
    Suite("openapi-drift", "backend", ("sinemora", "openapi", "--check", "openapi.json")),
    Suite(
        "pytest",
        "backend",
        ("pytest", "--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder", "--junitxml={report}"),
        "junit",
        again=PYTEST_AGAIN,
    ),
    # A part of `make bench-badday`: faults that no other test injects. It waits more than it computes.
    Suite(
        "badday",
        "backend",
        ("python", "-m", "lab.soak.badday"),
        env={"RECORD": "0", "ONE_OF": "stop-postgres,disk-full+kill-api,queue-full"},
        lane=PRODUCT,
    ),
    Suite("rustfmt", "agent", ("cargo", "fmt", "--check"), lane=OTHERS),
    Suite("vitest", "frontend", VITEST, "junit", lane=EITHER),
    Suite("tsc", "frontend", (*NPX, "tsc", "--noEmit"), lane=EITHER),
    Suite("biome", "frontend", (*NPX, "biome", "check", "."), lane=EITHER),
    Suite("tsc-e2e", "e2e", (*NPX, "tsc", "--noEmit"), lane=EITHER),
    Suite("biome-e2e", "e2e", (*NPX, "biome", "check", "."), lane=EITHER),
    Suite(
        "openapi-lint",
        "frontend",
        (*NPX, "redocly", "lint", "--config=../backend/redocly.yaml", "../backend/openapi.json"),
        env={"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"},  # it asks nobody
        lane=EITHER,
    ),
    Suite("conformance", "backend", ("python", "-m", "lab.conformance"), lane=EITHER),
    Suite(
        "cargo-test",
        "agent",
        ("cargo", "test", "--locked", "--no-fail-fast"),
        "cargo",
        again=("--", "--exact", FAILED_NAMES),
        lane=OTHERS,
    ),
    # It waits for agents more than the suites behind it, which keep both cores busy to the end.
    Suite(
        "playwright",
        "e2e",
        (*NPX, "playwright", "test", "--reporter=list,junit"),
        "junit",
        {"PLAYWRIGHT_JUNIT_OUTPUT_FILE": "{report}"},
        ("--last-failed",),
        lane=OTHERS,
    ),
    Suite(
        "clippy",
        "agent",
        ("cargo", "clippy", "--locked", "--all-targets", "--quiet", "--", "-D", "warnings"),
        env={"CARGO_INCREMENTAL": "0"},  # without what a later change of a crate would need
        lane=OTHERS,
    ),
    Suite("fuzz", "agent/fuzz", (sys.executable, "run.py", "2"), lane=OTHERS),
    # Each laboratory has namespaces of its own, and packets wait: two files side by side disturb one another no more
    # than other suites do.
    Suite(
        "interop",
        "agent/interop",
        ("pytest", "--numprocesses=2", "--dist=loadfile", "--junitxml={report}"),
        "junit",
        AGENT,
        PYTEST_AGAIN,
        lane=PACKETS,
        namespaces=True,
        realtime=True,
    ),
    Suite("guests", "agent/guests", ("pytest", "--junitxml={report}"), "junit", AGENT, PYTEST_AGAIN, lane=PRODUCT),
]
TESTS = ("badday", "cargo-test", "fuzz", "interop", "guests", "vitest", "pytest", "playwright")
# `make check`: no database, no browser, no packets, no rendered components. The plug-in keeps the tests of pure code.
CHECKS = (
    *("ruff", "ruff-format", "mypy", "import-linter", "rust-modules", "manifests"),
    *("biome", "tsc", "rustfmt", "clippy"),
)
QUICK = (
    Suite(
        "pytest-pure",
        "backend",
        ("pytest", "-p", "pure_tests", "--hypothesis-profile=quick", "--numprocesses=2", "--junitxml={report}"),
        "junit",
        {"PYTHONPATH": str(ROOT / "infra" / "test")},
    ),
    Suite("vitest-units", "frontend", (*VITEST, "--project=units"), "junit", lane=OTHERS),
)


def main(arguments: list[str]) -> int:
    """Run the suites named (all by default) and print the sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="suites to run; all without a name")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--lint", action="store_true", help="linters and type checks")
    only.add_argument("--check", action="store_true", help="the quick part, as `make check` runs it")
    options = parser.parse_args(arguments)
    names = set(options.names)
    if unknown := names - {suite.name for suite in (*SUITES, *QUICK)}:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(suite.name for suite in SUITES)}")
    chosen = SUITES
    if options.lint:
        chosen = [suite for suite in SUITES if suite.name not in TESTS]
    elif options.check:
        chosen = [*(suite for suite in SUITES if suite.name in CHECKS), *QUICK]
    if names:
        chosen = [suite for suite in (*SUITES, *QUICK) if suite.name in names]
    print(running.versions())
    code = report(results := run_all(chosen))
    if arguments in ([], ["--check"]):
        record(results)
    return code


def run_all(chosen: list[Suite]) -> dict[str, Tally]:
    """Run the suites of each lane one after the other, the lanes side by side; return what came of each.

    A lane that has ended takes the suites of `EITHER`, one at a time. Those that wait take none: two busy lanes are
    enough for two cores.
    """
    listed = running.listed_tests()
    allowed, taps = namespaces_allowed(), taps_allowed()
    results: dict[str, Tally] = {}
    shared = deque(suite for suite in chosen if suite.lane == EITHER)

    def turns(name: str, suites: list[Suite]) -> Iterator[Suite]:
        yield from suites
        if name in (PACKETS, PRODUCT):
            return
        with suppress(IndexError):  # the other lane took the last one
            while True:
                yield shared.popleft()

    def lane(name: str, suites: list[Suite]) -> None:
        for suite in turns(name, suites):
            if running.is_stopping():
                return
            results[suite.name] = _run(suite if taps else without_namespaces(suite), listed, len(chosen) == 1, allowed)

    lanes: dict[str, list[Suite]] = {"backend": [], OTHERS: []}
    for suite in chosen:
        if suite.lane != EITHER:
            lanes.setdefault(suite.lane, []).append(suite)
    with ThreadPoolExecutor(len(lanes)) as pool:
        futures = [pool.submit(lane, name, suites) for name, suites in lanes.items()]
        try:
            for future in futures:
                future.result()
        except BaseException:
            running.end_all()  # here: leaving the pool waits for its lanes
            raise
    return {suite.name: results[suite.name] for suite in chosen}


def _run(suite: Suite, listed: dict[str, str], live: bool, allowed: bool) -> Tally:
    if suite.namespaces and not allowed:
        return Tally(skipped=1, not_run=[f"{suite.name}: {NO_NAMESPACES}"])
    if live:
        print(f"\n── {suite.name} " + "─" * max(0, 56 - len(suite.name)), flush=True)
    else:
        print(f"   {suite.name} …", flush=True)
    tally = running.run(suite, listed, live=live)
    left_out = suite.command.count("--skip")
    tally.skipped += left_out
    tally.not_run += [f"{suite.name}: {left_out} tests {NO_TAPS}"] if left_out else []
    lines = [_line(suite.name, tally)]
    if tally.failed and not live:
        log = running.LOGS / f"test-{suite.name}.log"
        kept = log.read_text("utf-8", errors="replace").splitlines()
        cut = [f"… the whole log: {log}"] if len(kept) > TAIL_LINES else []
        title = f"── {suite.name} " + "─" * max(0, 56 - len(suite.name))
        lines = ["", title, *cut, *kept[-TAIL_LINES:], *lines, ""]
    print("\n".join(lines), flush=True)
    return tally


def _line(name: str, tally: Tally) -> str:
    word = "FAILED" if tally.failed else "not run" if tally.skipped and not tally.passed else "ok"
    counts = f"{name:16}{tally.passed:6} passed {tally.failed:4} failed"
    return f"{counts} {tally.took_s:7.1f} s {tally.processor_s:7.1f} s of processors  {word} {tally.note}"


def namespaces_allowed() -> bool:
    """Return True when tests may make network namespaces: as root, or in a user namespace of their own."""
    if os.geteuid() == 0:
        return True
    try:
        return subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def taps_allowed() -> bool:
    """Return True when tests may make TAP interfaces: as root, or in a user namespace where users open the device."""
    return os.geteuid() == 0 or (os.access(TAP, os.R_OK | os.W_OK) and namespaces_allowed())


def without_namespaces(suite: Suite) -> Suite:
    """Return `suite` without the tests of cargo that need TAP interfaces in network namespaces."""
    if suite.counts != "cargo":
        return suite
    folder = ROOT / "agent" / "delaybox" / "tests"
    found = {
        path: re.findall(r"fn (\w+)\(\) \{\n +with_namespaces\(", path.read_text("utf-8"))
        for path in folder.rglob("*.rs")
    }
    names = [f"{path.stem}::{name}" for path, tests in found.items() for name in tests]
    skips = [part for name in names for part in ("--skip", name)]
    return replace(suite, command=(*suite.command, "--", *skips), again=())


def report(results: dict[str, Tally]) -> int:
    """Print the slowest tests, what was not run, what failed and the sum; return the exit code."""
    print("\n── sum " + "─" * 53)
    for name, tally in results.items():
        print(_line(name, tally))
    used_s = sum(tally.processor_s for tally in results.values())
    print(f"\n{used_s:.0f} s of processor time on {os.cpu_count()} cores")
    slowest = sorted((case for tally in results.values() for case in tally.slowest), reverse=True)[:SLOWEST]
    if slowest:
        print(f"\nthe slowest {len(slowest)} tests:")
        print(*(f"{took:7.1f} s  {name}" for took, name in slowest), sep="\n")
    if not_run := [line for tally in results.values() for line in tally.not_run]:
        print("\nnot run:")
        print(*(f"    {line}" for line in not_run), sep="\n")
    # Checks alone have no test that might.
    if slowest and (listed := running.listed_tests()):
        print("\nmay run again when they fail (infra/test/rerun.toml):")
        print(*(f"    {name}: {reason}" for name, reason in listed.items()), sep="\n")
    # Last, since the end of a long output is what is kept of it.
    if failing := {name: tally for name, tally in results.items() if tally.failed}:
        print("\nfailed:")
        for name, tally in failing.items():
            print(*(f"    {name}: {failure}" for failure in tally.failures[:SHOWN_AT_MOST] or [tally.note]), sep="\n")
    passed = sum(tally.passed for tally in results.values())
    failed = sum(tally.failed for tally in results.values())
    skipped = sum(tally.skipped for tally in results.values())
    print(f"\n{passed} passed, {failed} failed" + (f", {skipped} not run" if skipped else ""), flush=True)
    return 1 if failed else 0


def record(results: dict[str, Tally]) -> None:
    """Keep how long `make test` or `make check` took, set-up and builds included, and its processor time without them.

    `make bench-size` reads it.
    """
    try:
        began = json.loads(BEGAN.read_text("utf-8"))
        kept = json.loads(RUNS.read_text("utf-8")) if RUNS.exists() else {}
    except (OSError, ValueError):
        return
    kind = "check" if began["goal"] == "check" else "clean" if began["clean"] else "again"
    kept[kind] = {
        "seconds": round(time.time() - began["at"]),
        "failed": sum(tally.failed for tally in results.values()),
        "cores": os.cpu_count(),
        "suites": {name: round(tally.took_s, 1) for name, tally in results.items()},
        "processor_seconds": round(sum(tally.processor_s for tally in results.values())),
        "processor": {name: round(tally.processor_s, 1) for name, tally in results.items()},
    }
    RUNS.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


def take_signals() -> None:
    """End the run on SIGTERM as on SIGINT, and let SIGINT reach the suites.

    A shell starts its background jobs with SIGINT ignored, and they hand that on: suites of `make test &` would not
    hear that they are to stop their servers.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    take_signals()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
