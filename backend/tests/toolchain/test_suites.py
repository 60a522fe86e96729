"""The runner of all suites, tried with suites of one command each."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import running
from running import Suite, Tally

from tests.processes import is_alive
from tests.waits import WAIT_MOST_S, until

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.usefixtures("logs")

# A suite that runs until it is interrupted, and leaves a file for each.
PATIENT = """
import pathlib, sys, time
started = pathlib.Path(sys.argv[1])
try:
    started.touch()
    time.sleep(60)
except KeyboardInterrupt:
    started.with_name(started.name + "-interrupted").touch()
"""
# Two lanes, of which one has another suite to run.
RUN = """
import subprocess, sys, time
from pathlib import Path
sys.path.insert(0, "infra/test")
import running, suites

folder, patient, hesitates_s = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
running.LOGS = folder
start = subprocess.Popen

def start_slowly(*args, **options):
    process = start(*args, **options)
    time.sleep(hesitates_s)
    return process

subprocess.Popen = start_slowly

def suite(name, lane):
    return running.Suite(name, ".", (sys.executable, "-c", patient, str(folder / name)), lane=lane)

suites.take_signals()
try:
    suites.run_all([suite("first", "one"), suite("second", "two"), suite("after", "one")])
except KeyboardInterrupt:
    sys.exit(130)
"""


# Runs its arguments as a shell runs a background job.
IN_BACKGROUND = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.mark.parametrize(
    ("before", "hesitates_s"),
    [([sys.executable, "-c", IN_BACKGROUND], 0), ([], 2)],
    ids=["background", "while its suites start"],
)
def test_an_interrupted_run_lets_its_suites_stop_and_starts_no_other(
    tmp_path: Path, before: list[str], hesitates_s: int
) -> None:
    run = [*before, sys.executable, "-c", RUN, str(tmp_path), PATIENT, str(hesitates_s)]
    process = subprocess.Popen(run, cwd=ROOT)
    until(lambda: all((tmp_path / name).exists() for name in ("first", "second")), "two suites")
    process.send_signal(signal.SIGTERM)
    assert process.wait(WAIT_MOST_S) == 130
    assert {path.name for path in tmp_path.iterdir() if path.suffix != ".log"} == {
        *("first", "first-interrupted", "second", "second-interrupted")
    }


# Has burnt processor time in a process that its parent leaves behind, as servers do that start in the background. It
# ends after its parent, which waits for the burning: a busy machine takes long for that.
BURN = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
LEAVES = f"""
import subprocess, sys
pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
left = subprocess.Popen([sys.executable, "-c", {BURN!r}], start_new_session=True, **pipes)
left.stdout.readline()
"""


def counted(*command: str, counts: str = "one") -> Tally:
    """Run a suite of one command."""
    return running.run(Suite("one", ".", command, counts), {})


def test_the_processor_time_of_a_suite_has_that_of_processes_left_behind() -> None:
    tally = counted(sys.executable, "-c", LEAVES)
    assert (tally.passed, tally.failed) == (1, 0)
    assert 0.5 <= tally.processor_s < 5
    assert counted("sleep", "0.5").processor_s < 0.5


def test_a_suite_fails_with_the_end_of_its_command(logs: Path) -> None:
    assert counted("sh", "-c", "exit 3", counts="cargo").note == "(ended with 3)"
    assert counted("sh", "-c", "kill -KILL $$", counts="cargo").note == "(ended with 137)"
    assert counted("no-such-command", counts="cargo").note == "(ended with 127)"
    assert "no-such-command cannot be run" in (logs / "test-one.log").read_text("utf-8")


@pytest.mark.parametrize(("uid", "failed"), [(0, 1), (1000, 0)])
def test_tests_that_only_root_can_run_are_left_out_for_a_user(
    monkeypatch: pytest.MonkeyPatch, uid: int, failed: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    write = "echo '<testsuite><testcase><skipped message=\"as root\"/></testcase></testsuite>' > {report}"
    tally = counted("sh", "-c", write, counts="junit")
    assert (tally.passed, tally.failed) == (0, failed)


# Leaves a server in a session of its own, and one below that, which ignore interruptions; then hangs.
HANGS = """
import subprocess, sys, time
server = (
    "import os, pathlib, signal, subprocess, sys, time; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    "folder, deeper = sys.argv[1:];"
    "deeper and subprocess.Popen([sys.executable, '-c', sys.orig_argv[2], folder, ''], start_new_session=True);"
    "(pathlib.Path(folder) / (str(os.getpid()) + '.server')).touch(); time.sleep(600)"
)
subprocess.Popen([sys.executable, "-c", server, sys.argv[1], "deeper"], start_new_session=True)
time.sleep(600)
"""


def test_a_suite_that_reaches_its_limit_leaves_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Limit(threading.Thread):
        """The limit comes when both servers run, however long that takes."""

        def __init__(self, _limit_s: float, end: Callable[..., None], arguments: tuple[object, ...]) -> None:
            super().__init__(daemon=True)
            self.end, self.arguments = end, arguments

        def run(self) -> None:
            until(lambda: len(list(tmp_path.glob("*.server"))) == 2, "both servers")
            self.end(*self.arguments)

        def cancel(self) -> None:
            """It is never early."""

    monkeypatch.setattr(threading, "Timer", Limit)
    monkeypatch.setattr(running, "GRACE_S", 0.5)
    assert counted(sys.executable, "-c", HANGS, str(tmp_path)).failed == 1
    servers = [int(path.stem) for path in tmp_path.glob("*.server")]
    assert len(servers) == 2
    assert [pid for pid in servers if is_alive(pid)] == []
