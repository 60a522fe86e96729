"""Runs one suite, counts its tests and its processor time, and keeps its output in `.tools/logs`."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "infra" / "toolchain"))

from common import LOGS as LOGS  # noqa: E402
from common import VERSIONS, environment, version_of  # noqa: E402

LIMIT_S = 2700
# After an interruption a suite may take this long to stop its servers.
GRACE_S = 20.0
# What whole.py needs to kill all that is left.
KILLED_S = 15.0
AGAIN_TIMES = 2
# A failed test is shown with this much of its message: it may be all that is kept.
SHOWN_CHARACTERS = 600
# Waits for all that a suite starts, so that its processor time is known.
WHOLE = (sys.executable, "-I", "-S", str(Path(__file__).with_name("whole.py")))
# Stands for the names of the tests that failed, where a runner does not remember them.
FAILED_NAMES = "{failed}"


@dataclass(frozen=True)
class Suite:
    """One command.

    `counts` is how its tests are counted: one for the whole, a JUnit report, or cargo's lines. `again` are the
    arguments with which only the tests that just failed are run. Suites of one `lane` run one after the other.
    `namespaces` marks a suite of which nothing can run where users get no network namespaces. A `realtime` suite
    judges delays: its processes run before those of the others where this user may ask for that.
    """

    name: str
    folder: str
    command: tuple[str, ...]
    counts: str = "one"
    env: dict[str, str] = field(default_factory=dict)
    again: tuple[str, ...] = ()
    lane: str = "backend"
    namespaces: bool = False
    realtime: bool = False


@dataclass
class Tally:
    """The outcome of a suite. `processor_s` is user and system time of all its processes."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    took_s: float = 0.0
    processor_s: float = 0.0
    note: str = ""
    failures: list[str] = field(default_factory=list)  # name and message
    failed_names: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)  # name and reason
    slowest: list[tuple[float, str]] = field(default_factory=list)


def listed_tests() -> dict[str, str]:
    """Return the tests that may run again, each with the reason: `infra/test/rerun.toml`."""
    entries = tomllib.loads((Path(__file__).parent / "rerun.toml").read_text("utf-8")).get("test", [])
    return {entry["name"]: entry["reason"] for entry in entries}


def run(suite: Suite, listed: dict[str, str], *, live: bool = False) -> Tally:
    """Run one suite; when all tests that failed are listed, run them again, at most twice."""
    log = LOGS / f"test-{suite.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    tally = _once(suite, log, live=live)
    left = tally
    for _ in range(AGAIN_TIMES):
        names = left.failed_names
        if not suite.again or left.note or not names or not all(may_run_again(name, listed) for name in names):
            return tally
        more = [part for given in suite.again for part in (names if given == FAILED_NAMES else [given])]
        left = _once(suite, log, more, live=live)
        tally.took_s += left.took_s
        tally.processor_s += left.processor_s
        tally.failures += [f"(again) {failure}" for failure in left.failures]
        if left.failed == 0:
            tally.note = f"(passed only when run again: {', '.join(tally.failed_names)})"
            tally.passed, tally.failed = tally.passed + tally.failed, 0
            break
    return tally


def versions() -> str:
    """Return the version of each language that the tests run with, and the oldest one that is promised."""
    path = environment()["PATH"]
    shown = []
    for language, command in (("python", "python"), ("rust", "rustc"), ("node", "node")):
        program = shutil.which(command, path=path)
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False) if program else None
        found = ".".join(map(str, version_of(done.stdout))) if done else "not here"
        shown.append(f"{language.capitalize()} {found} (promised from {VERSIONS[language]['minimum']})")
    return "Tests run with " + ", ".join(shown)


def may_run_again(name: str, listed: dict[str, str]) -> bool:
    """Return True when a test is listed, by its whole name or by that without its parameters."""
    return name in listed or name.partition("[")[0] in listed


def _once(suite: Suite, log: Path, more: Sequence[str] = (), *, live: bool) -> Tally:
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [part.format(report=report) for part in suite.command]
        if suite.counts != "one":
            command += shlex.split(os.environ.get("ARGS", ""))
        command = [*WHOLE, *command, *more]
        if suite.realtime:
            command = [*before_others(), *command]
        env = environment() | {key: value.format(report=report) for key, value in suite.env.items()}
        started = time.monotonic()
        code, output, processor_s = _shown(command, ROOT / suite.folder, env, log, live=live)
        tally = _one(code) if suite.counts == "one" else _cargo(output) if suite.counts == "cargo" else _junit(report)
    tally.took_s, tally.processor_s = time.monotonic() - started, processor_s
    # What only root can run is left out with its reason when a user runs the tests.
    left_out = tally.skipped > 0 and os.geteuid() != 0
    if code == 0 and tally.passed == 0 and tally.failed == 0 and not left_out:
        tally.failed, tally.note = 1, "(ran no test)"
    elif code != 0 and tally.failed == 0:
        tally.failed, tally.note = 1, f"(ended with {code})"
    return tally


def before_others() -> list[str]:
    """Return the prefix of a command that runs in the kernel's real-time class (sched(7)); empty without the right to.

    Its processes inherit that. They wait for packets nearly always, so the other suites lose next to nothing.
    """
    prefix = ["chrt", "--rr", "1"]
    try:
        allowed = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        allowed = False
    return prefix if allowed else []


def _shown(command: list[str], folder: Path, env: dict[str, str], log: Path, *, live: bool) -> tuple[int, str, float]:
    """Run `command`, keep what it prints in `log`; the limit ends all of it.

    Return the exit code, the output, and the processor time in seconds.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    kept: list[bytes] = []
    limit = threading.Timer(LIMIT_S, _end_late, (process,))
    limit.start()
    try:
        _register(process)
        assert process.stdout is not None
        with log.open("ab") as out:
            for line in process.stdout:
                kept.append(line)
                out.write(line)
                out.flush()
                if live:
                    sys.stdout.buffer.write(line)
                    sys.stdout.buffer.flush()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        limit.cancel()
        _running.discard(process)
        _end(process)
    return process.returncode, b"".join(kept).decode(errors="replace"), used.ru_utime + used.ru_stime


_running: set["subprocess.Popen[bytes]"] = set()
_stopping = threading.Event()
# Held while a suite is registered and while the registered ones are interrupted: each is interrupted once.
_registering = threading.Lock()


def is_stopping() -> bool:
    """Return True once `end_all` was called: no further suite starts."""
    return _stopping.is_set()


def end_all() -> None:
    """Interrupt every suite that runs, so that it stops its servers; kill those left after `GRACE_S`."""
    with _registering:
        _stopping.set()
        for process in list(_running):
            _signal(process, signal.SIGINT)
    until_s = time.monotonic() + GRACE_S
    while _running and time.monotonic() < until_s:
        time.sleep(0.1)
    for process in list(_running):
        _end(process)


def _register(process: "subprocess.Popen[bytes]") -> None:
    """Count a suite as running; interrupt it if `end_all` was called while it started."""
    with _registering:
        _running.add(process)
        if _stopping.is_set():
            _signal(process, signal.SIGINT)


def _end_late(process: "subprocess.Popen[bytes]") -> None:
    """Interrupt a suite at its limit, so that it stops its servers; end what is left of it after `GRACE_S`."""
    _signal(process, signal.SIGINT)
    if not _ends_within(process, GRACE_S):
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a suite with all that it started: servers have groups of their own, which `whole.py` finds."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)
        _ends_within(process, KILLED_S)
    _signal(process, signal.SIGKILL)


def _ends_within(process: "subprocess.Popen[bytes]", limit_s: float) -> bool:
    until_s = time.monotonic() + limit_s
    while _runs(process):
        if time.monotonic() > until_s:
            return False
        time.sleep(0.05)
    return True


def _runs(process: "subprocess.Popen[bytes]") -> bool:
    """Return True until a suite has ended, waited for or not."""
    try:
        return Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _one(code: int) -> Tally:
    return Tally(passed=int(code == 0), failed=int(code != 0))


def _junit(report: Path) -> Tally:
    """Return the sum of a JUnit file as pytest, vitest and Playwright write it; empty when there is none."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return Tally()
    tally = Tally()
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        trouble = [part for part in case if part.tag in ("failure", "error")]
        skipped = case.find("skipped")
        if trouble:
            tally.failed += 1
            tally.failed_names.append(name)
            tally.failures.append(f"{name}: {_message(trouble[0])}")
        elif skipped is not None:
            tally.skipped += 1
            tally.not_run.append(f"{name}: {skipped.get('message') or 'skipped'}")
        else:
            tally.passed += 1
        tally.slowest.append((float(case.get("time") or 0), name))
    return tally


def _message(trouble: ElementTree.Element) -> str:
    """Return the message of a failure in brief and then at length, cut, in one line."""
    parts = [re.sub(r"\x1b\[[0-9;]*m", "", part or "") for part in (trouble.get("message"), trouble.text)]
    return " | ".join(" ".join(part.split())[:SHOWN_CHARACTERS] for part in parts)


def _cargo(output: str) -> Tally:
    """Return the sum of the closing lines of every test binary of `cargo test`."""
    tally = Tally()
    for passed, failed, ignored in re.findall(r"test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored", output):
        tally.passed += int(passed)
        tally.failed += int(failed)
        tally.skipped += int(ignored)
    tally.failures = sorted(set(re.findall(r"^test (\S+) \.\.\. FAILED$", output, re.MULTILINE)))
    tally.failed_names = list(tally.failures)
    return tally
