"""The runner of all suites, tried with suites of one command each."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waits import WAIT_MOST_S, until

ROOT = Path(__file__).resolve().parents[3]

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
COUNT = """
import sys
from pathlib import Path
sys.path.insert(0, "infra/test")
import running

running.LOGS = Path(sys.argv[1])
tally = running.run(running.Suite("one", ".", tuple(sys.argv[3:]), sys.argv[2]), {})
print(tally.passed, tally.failed, tally.processor_s, tally.note)
"""


def counted(folder: Path, *command: str, counts: str = "one") -> list[str]:
    """Run a suite of one command; return passed, failed, processor seconds and the note."""
    run = [sys.executable, "-c", COUNT, str(folder), counts, *command]
    printed = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return printed.removesuffix("\n").split(" ", 3)


def test_the_processor_time_of_a_suite_has_that_of_processes_left_behind(tmp_path: Path) -> None:
    passed, failed, processor_s, _ = counted(tmp_path, sys.executable, "-c", LEAVES)
    assert (passed, failed) == ("1", "0")
    assert 0.5 <= float(processor_s) < 5
    _, _, idle_s, _ = counted(tmp_path, "sleep", "0.5")
    assert float(idle_s) < 0.5


def test_a_suite_fails_with_the_end_of_its_command(tmp_path: Path) -> None:
    assert counted(tmp_path, "sh", "-c", "exit 3")[:2] == ["0", "1"]
    assert counted(tmp_path, "sh", "-c", "exit 3", counts="cargo")[3] == "(ended with 3)"
    assert counted(tmp_path, "sh", "-c", "kill -KILL $$", counts="cargo")[3] == "(ended with 137)"
    assert counted(tmp_path, "no-such-command", counts="cargo")[3] == "(ended with 127)"
    assert "no-such-command cannot be run" in (tmp_path / "test-one.log").read_text("utf-8")


@pytest.mark.parametrize(("uid", "failed"), [(0, "1"), (1000, "0")])
def test_tests_that_only_root_can_run_are_left_out_for_a_user(tmp_path: Path, uid: int, failed: str) -> None:
    write = (
        "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text("
        "'<testsuite><testcase><skipped message=\"as root\"/></testcase></testsuite>')"
    )
    run = [sys.executable, "-c", f"import os; os.geteuid = lambda: {uid}\n{COUNT}", str(tmp_path), "junit"]
    command = [sys.executable, "-c", write, "{report}"]
    printed = subprocess.run([*run, *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.split()[:2] == ["0", failed]


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
LIMITED = """
import sys, threading
from pathlib import Path
sys.path.insert(0, "infra/test")
import running

folder = Path(sys.argv[1])
running.LOGS, running.GRACE_S = folder, 0.5
# The limit comes when both servers run, however long that takes.
class Limit(threading.Thread):
    def __init__(self, limit_s, end, arguments):
        super().__init__(daemon=True)
        self.end, self.arguments = end, arguments
    def run(self):
        while len(list(folder.glob("*.server"))) < 2:
            threading.Event().wait(0.02)
        self.end(*self.arguments)
    def cancel(self):
        pass
running.threading.Timer = Limit
tally = running.run(running.Suite("one", ".", (sys.executable, "-c", sys.argv[2], str(folder))), {})
print(tally.failed)
"""


def test_a_suite_that_reaches_its_limit_leaves_no_server(tmp_path: Path) -> None:
    run = [sys.executable, "-c", LIMITED, str(tmp_path), HANGS]
    printed = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True, timeout=WAIT_MOST_S).stdout
    assert printed == "1\n"
    servers = [path.stem for path in tmp_path.glob("*.server")]
    assert len(servers) == 2
    assert [pid for pid in servers if _runs(pid)] == []


def _runs(pid: str) -> bool:
    """Return whether a process runs. One that has ended stays in the table until its new parent asks for it."""
    try:
        return psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
