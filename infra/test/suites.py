"""Runs the project's checks and tests one after the other and adds them up: `suites.py [--lint] [NAME …]`.

The last line is `N passed, N failed`. A check that fails counts as one failed test; so does a suite that dies, takes
too long or runs no test at all. The exit code is 0 only when nothing failed.

Tests with real packets, databases and browsers now and then fail for what the machine did meanwhile. So the few tests
that failed in such a suite run again, alone, at most twice; when all pass then, they count as passed, and the sum
names them.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "infra" / "toolchain"))

from common import environment  # noqa: E402

LIMIT_S = 1800
# More failures than this are no accident, and are not tried again.
AGAIN_AT_MOST = 10
AGAIN_TIMES = 2
# The sum names this many failed tests of a suite, each with this much of its message: it may be all that is kept.
SHOWN_AT_MOST = 10
SHOWN_CHARACTERS = 600
# Stands for the names of the tests that failed, where a runner does not remember them.
FAILED_NAMES = "{failed}"
PYTEST_AGAIN = ("--last-failed", "--last-failed-no-failures=none")
NPX = ("npx", "--no-install")
# Where Python of ours is, from the backend.
PYTHON = (".", "../infra", "../migrations", "../agent/bench", "../agent/fuzz", "../agent/interop")


@dataclass(frozen=True)
class Suite:
    """One command. `counts` says how its tests are counted: one for the whole, a JUnit report, or cargo's lines.

    `again` are the arguments with which only the tests that just failed are run; none: they are not run again.
    """

    name: str
    folder: str
    command: tuple[str, ...]
    counts: str = "one"
    env: dict[str, str] = field(default_factory=dict)
    again: tuple[str, ...] = ()


@dataclass
class Tally:
    """What came out of a suite."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    took_s: float = 0.0
    note: str = ""
    # Name and message of each test that failed, as far as its runner tells.
    failures: list[str] = field(default_factory=list)


SUITES = [
    Suite(
        "ruff",
        "backend",
        ("ruff", "check", "--quiet", *PYTHON),
    ),
    Suite(
        "ruff-format",
        "backend",
        (
            "ruff",
            "format",
            "--quiet",
            "--check",
            ".",
            "../infra",
            "../migrations",
            "../agent/bench",
            "../agent/interop",
        ),
    ),
    Suite("mypy", "backend", ("mypy",)),
    Suite("mypy-tests", "backend", ("mypy", "tests/embedded", "tests/toolchain")),
    Suite("mypy-infra", "infra", ("mypy", "--strict", "toolchain", "test", "packages", "prose")),
    Suite("mypy-bench", "agent/bench", ("mypy", "--strict", ".")),
    Suite("import-linter", "backend", ("lint-imports",)),
    Suite("rustfmt", "agent", ("cargo", "fmt", "--check")),
    Suite("clippy", "agent", ("cargo", "clippy", "--locked", "--all-targets", "--quiet", "--", "-D", "warnings")),
    Suite("biome", "frontend", (*NPX, "biome", "check", ".")),
    Suite("tsc", "frontend", (*NPX, "tsc", "--noEmit")),
    Suite("biome-e2e", "e2e", (*NPX, "biome", "check", ".")),
    Suite("tsc-e2e", "e2e", (*NPX, "tsc", "--noEmit")),
    Suite("openapi-drift", "backend", ("sinemora", "openapi", "--check", "openapi.json")),
    Suite("types-drift", "frontend", ("npm", "run", "--silent", "gen:check")),
    Suite(
        "cargo-test",
        "agent",
        ("cargo", "test", "--locked", "--no-fail-fast"),
        "cargo",
        again=("--", "--exact", FAILED_NAMES),
    ),
    Suite("fuzz", "agent/fuzz", (sys.executable, "run.py", "5")),
    Suite("interop", "agent/interop", ("pytest", "--junitxml={report}"), "junit", again=PYTEST_AGAIN),
    Suite(
        "vitest",
        "frontend",
        (*NPX, "vitest", "run", "--reporter=default", "--reporter=junit", "--outputFile.junit={report}"),
        "junit",
    ),
    Suite("pytest", "backend", ("pytest", "--junitxml={report}"), "junit", again=PYTEST_AGAIN),
    Suite(
        "playwright",
        "e2e",
        (*NPX, "playwright", "test", "--reporter=list,junit"),
        "junit",
        {"PLAYWRIGHT_JUNIT_OUTPUT_FILE": "{report}"},
        ("--last-failed",),
    ),
]
TESTS = ("cargo-test", "fuzz", "interop", "vitest", "pytest", "playwright")


def main(arguments: list[str]) -> int:
    """Run the suites named (all by default) and print the sum."""
    chosen = [suite for suite in SUITES if suite.name not in TESTS] if "--lint" in arguments else SUITES
    names = [argument for argument in arguments if not argument.startswith("-")]
    if unknown := set(names) - {suite.name for suite in SUITES}:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(suite.name for suite in SUITES)}")
        return 2
    results = {suite.name: run(suite) for suite in chosen if not names or suite.name in names}
    print("\n── sum " + "─" * 53)
    for name, tally in results.items():
        word = "FAILED" if tally.failed else "ok"
        print(f"{name:16}{tally.passed:6} passed {tally.failed:4} failed {tally.took_s:7.1f} s  {word} {tally.note}")
        for failure in tally.failures[:SHOWN_AT_MOST]:
            print(f"    {failure}")
    passed = sum(tally.passed for tally in results.values())
    failed = sum(tally.failed for tally in results.values())
    skipped = sum(tally.skipped for tally in results.values())
    print(f"\n{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    return 1 if failed else 0


def run(suite: Suite) -> Tally:
    """Run one suite, its output shown as it comes; a few failed tests again where the suite can."""
    tally = _once(suite, suite.name)
    if not suite.again or tally.note or not 0 < tally.failed <= AGAIN_AT_MOST:
        return tally
    left = tally
    for _ in range(AGAIN_TIMES):
        more = [part for given in suite.again for part in (left.failures if given == FAILED_NAMES else [given])]
        left = _once(suite, f"{suite.name}, again", more)
        tally.took_s += left.took_s
        tally.failures += [f"(again) {failure}" for failure in left.failures]
        if left.failed == 0:
            tally.note = f"({tally.failed} passed only when run again)"
            tally.passed, tally.failed = tally.passed + tally.failed, 0
            break
    return tally


def _once(suite: Suite, title: str, more: Sequence[str] = ()) -> Tally:
    print(f"\n── {title} " + "─" * max(0, 56 - len(title)), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [part.format(report=report) for part in suite.command]
        if suite.counts != "one":
            command += shlex.split(os.environ.get("ARGS", ""))
        command += more
        env = environment() | {key: value.format(report=report) for key, value in suite.env.items()}
        started = time.monotonic()
        code, output = _shown(command, ROOT / suite.folder, env)
        tally = _one(code) if suite.counts == "one" else _cargo(output) if suite.counts == "cargo" else _junit(report)
    tally.took_s = time.monotonic() - started
    if code == 0 and tally.passed == 0 and tally.failed == 0:
        tally.failed, tally.note = 1, "(ran no test)"
    elif code != 0 and tally.failed == 0:
        tally.failed, tally.note = 1, f"(ended with {code})"
    return tally


def _shown(command: list[str], folder: Path, env: dict[str, str]) -> tuple[int, str]:
    """Run `command`, echo what it prints, return its exit code and output; all of it ends with the limit."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        print(f"{command[0]} cannot be run: {error}", flush=True)
        return 127, ""
    kept: list[bytes] = []
    previous = signal.signal(signal.SIGALRM, lambda *_: _end(process))
    signal.alarm(LIMIT_S)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            kept.append(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        code = process.wait()
    except BaseException:
        _end(process)
        raise
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    return code, b"".join(kept).decode(errors="replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _one(code: int) -> Tally:
    return Tally(passed=int(code == 0), failed=int(code != 0))


def _junit(report: Path) -> Tally:
    """Sum of a JUnit file as pytest, vitest and Playwright write it; empty when there is none."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return Tally()
    tally = Tally()
    for case in root.iter("testcase"):
        trouble = [part for part in case if part.tag in ("failure", "error")]
        if trouble:
            tally.failed += 1
            tally.failures.append(_told(case, trouble[0]))
        elif case.find("skipped") is not None:
            tally.skipped += 1
        else:
            tally.passed += 1
    return tally


def _told(case: ElementTree.Element, trouble: ElementTree.Element) -> str:
    """Name of a test and what its runner says of it in brief and then at length, cut, in one line."""
    parts = [re.sub(r"\x1b\[[0-9;]*m", "", part or "") for part in (trouble.get("message"), trouble.text)]
    brief, long = (" ".join(part.split())[:SHOWN_CHARACTERS] for part in parts)
    return f"{case.get('classname')} {case.get('name')}: {brief} | {long}"


def _cargo(output: str) -> Tally:
    """Sum of the closing lines of every test binary of `cargo test`."""
    tally = Tally()
    for passed, failed, ignored in re.findall(r"test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored", output):
        tally.passed += int(passed)
        tally.failed += int(failed)
        tally.skipped += int(ignored)
    tally.failures = sorted(set(re.findall(r"^test (\S+) \.\.\. FAILED$", output, re.MULTILINE)))
    return tally


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
