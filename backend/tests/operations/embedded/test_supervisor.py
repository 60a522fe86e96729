"""The supervisor with small real processes: restarted, stopped in order, never left behind."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.programs import Program, Pulse, PulseCheck
from tests.processes import is_alive
from tests.waits import WAIT_MOST_S, until


class Product:
    """Separate process with a supervisor of `programs`; the line `first` runs before they are added."""

    def __init__(self, folder: Path, programs: str, first: str = "") -> None:
        self.folder = DataFolder(folder)
        self.out = folder / "out.txt"
        script = f"""
        import sys
        from pathlib import Path
        from sinemora.operations.embedded.data_folder import DataFolder
        from sinemora.operations.embedded.programs import Program
        from sinemora.operations.embedded.servers.service_user import ServiceUser
        from sinemora.operations.embedded.supervisor import StopRequestedError, Supervisor
        import os, subprocess, time
        from sinemora.operations.embedded import programs
        programs.PROBE_EVERY_S = 0.5
        folder = DataFolder(Path(sys.argv[1]))
        me = ServiceUser("me", os.geteuid(), os.getegid())
        folder.claim(me)
        def sh(name, line, **more):
            return Program(name, name, ["/bin/sh", "-c", line], folder.path, dict(os.environ), **more)
        with folder.held():
            supervisor = Supervisor(folder, "nowhere", lambda text: print(text, flush=True))
            supervisor.install()
            {first}
            supervisor.add([{programs}])
            try:
                supervisor.run()
            finally:
                supervisor.stop()
        """
        with self.out.with_suffix(".err").open("w") as err, self.out.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(script), str(folder / "data")], stdout=out, stderr=err
            )
        self.folder = DataFolder(folder / "data")

    def state(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = self.folder.read_state().get("processes", {}).get(name, {})
        return result

    def until(self, true: Callable[[], bool], what: str) -> None:
        until(true, lambda: f"{what}: {json.dumps(self.folder.read_state())} {self.out.read_text()}")

    def until_up(self, *names: str) -> None:
        self.until(lambda: all(self.state(name).get("state") == "up" for name in names), f"{names} come up")

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_MOST_S)


Start = Callable[..., Product]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    collected: list[Product] = []

    def run(programs: str, first: str = "") -> Product:
        collected.append(Product(tmp_path, programs, first))
        return collected[-1]

    yield run
    for product in collected:
        product.stop()


def test_a_killed_program_is_started_again_and_its_group_goes_with_it(start: Start) -> None:
    product = start("sh('one', 'sleep 1000 & echo $! > helper; wait')")
    product.until_up("one")
    first = product.state("one")["pid"]
    helper = int((product.folder.path / "helper").read_text())
    os.kill(first, signal.SIGKILL)
    product.until(lambda: product.state("one").get("restarts") == 1, "it is started again")
    assert product.state("one")["last_end"] == "killed by SIGKILL"
    product.until(lambda: not is_alive(helper), "the helper of the killed program is gone")
    second = product.state("one")["pid"]
    assert second != first
    assert product.stop() == 0
    assert not is_alive(second)


def test_a_full_disk_does_not_end_the_supervisor(start: Start) -> None:
    product = start('sh("server", "exec sleep 1000")')
    product.until_up("server")
    fresh = product.folder.path / "run" / "supervisor.new"
    fresh.symlink_to("/dev/full")
    os.kill(product.state("server")["pid"], signal.SIGKILL)
    product.until(lambda: "started again" in product.out.read_text(), "the server is started again")
    fresh.unlink()
    product.until(lambda: product.state("server")["restarts"] == 1, "the state is written when there is room")


def test_what_needs_another_waits_for_it(start: Start) -> None:
    product = start(
        "sh('base', 'sleep 0.5; touch ready; exec sleep 1000', ready=lambda: (folder.path / 'ready').exists()),"
        "sh('top', 'test -e ready && exec sleep 1000', needs=('base',))"
    )
    product.until_up("base", "top")
    assert product.state("top")["restarts"] == 0


def test_one_that_ignores_the_signal_is_killed_within_its_patience(start: Start) -> None:
    product = start("sh('deaf', 'trap \"\" TERM; sleep 1000 & while :; do wait; done', stop_timeout_s=0.5)")
    product.until_up("deaf")
    pid = product.state("deaf")["pid"]
    assert product.stop() == 0
    assert not is_alive(pid)
    assert "killed" in product.out.read_text()


def test_a_second_signal_forces(start: Start) -> None:
    product = start("sh('slow', 'trap \"\" TERM; sleep 1000 & while :; do wait; done', stop_timeout_s=3600)")
    product.until_up("slow")
    product.process.send_signal(signal.SIGINT)
    product.until(lambda: product.folder.read_state()["phase"] == "stopping", "it stops")
    time.sleep(0.3)
    product.process.send_signal(signal.SIGINT)
    assert product.process.wait(WAIT_MOST_S) == 0


def test_nothing_outlives_a_supervisor_that_was_killed(start: Start) -> None:
    product = start("sh('one', 'exec sleep 1000'), sh('two', 'exec sleep 1000')")
    product.until_up("one", "two")
    pids = [product.state(name)["pid"] for name in ("one", "two")]
    product.process.kill()
    product.process.wait()
    product.until(lambda: not any(is_alive(pid) for pid in pids), "the children are gone")
    assert product.folder.running() is None  # the lock went with it


def test_one_that_hangs_is_killed_with_all_its_descendants(start: Start) -> None:
    # It touches a file after each unit of work, until it is stopped (SIGSTOP). Its helper has a session of its own,
    # like a backend of PostgreSQL.
    product = start(
        "sh('one', 'setsid sh -c \"echo \\$\\$ > helper; exec sleep 1000\" & while :; do touch beat; sleep 0.1; done',"
        " ready=(folder.path / 'helper').exists, before_start=beats.begin, responds=beats.responds, hung_s=2.0),"
        "sh('busy', 'while :; do :; done', responds=lambda: False, hung_s=2.0),"
        "sh('calm', 'exec sleep 1000', responds=lambda: True, hung_s=2.0)",
        "beats = programs.PulseCheck(folder.path / 'beat')",
    )
    product.until_up("one", "busy", "calm")
    first = product.state("one")["pid"]
    helper = int((product.folder.path / "helper").read_text())
    time.sleep(3)
    assert product.state("one")["pid"] == first
    for pid in (first, helper):
        os.kill(pid, signal.SIGSTOP)
    stopped = time.monotonic()
    product.until(lambda: product.state("one").get("restarts") == 1, "it is started again")
    assert time.monotonic() - stopped < WAIT_MOST_S / 2
    assert product.state("one")["last_end"] == "killed by SIGKILL"
    assert "one has not responded for" in product.out.read_text()
    product.until(lambda: not is_alive(first) and not is_alive(helper), "all its processes are gone")
    # Busy is not hung; neither is one that responds.
    assert [product.state(name)["restarts"] for name in ("busy", "calm")] == [0, 0]


def test_one_that_waits_for_a_hung_program_is_not_taken_for_hung(start: Start) -> None:
    product = start(
        "sh('base', 'exec sleep 1000', responds=lambda: False, hung_s=4.0),"
        "sh('top', 'exec sleep 1000', needs=('base',), responds=lambda: False, hung_s=2.0)"
    )
    product.until(lambda: product.state("base").get("restarts") == 1, "the hung program is started again")
    assert "top has not responded" not in product.out.read_text()


def test_a_supervisor_that_was_busy_itself_takes_nobody_for_hung() -> None:
    def pulse(responds: bool) -> Pulse:
        program = Program("one", "One", [], Path("/"), {}, responds=lambda: responds, hung_s=15.0, stuck_s=60.0)
        return Pulse(program, 0, 0.0)

    assert pulse(True).hung_s(100.0) == 0  # not asked for 100 s, as during a long migration
    failing = pulse(False)
    for now in (10.0, 20.0, 30.0):  # one or two questions without an answer may be bad luck
        assert failing.hung_s(now) == 0
        assert failing._check is not None
        failing._check.join()
    assert failing.hung_s(71.0) == 61.0


def test_a_step_of_the_clock_is_no_sign_of_life_or_death(tmp_path: Path) -> None:
    path = tmp_path / "pulse"
    beats = PulseCheck(path)
    beats.begin()
    assert beats.responds()  # it loads
    path.touch()
    assert beats.responds()
    assert not beats.responds()
    for clock_s in (time.time() - 86400, time.time() + 86400):
        os.utime(path, (clock_s, clock_s))
        assert beats.responds()
        assert not beats.responds()
    assert PulseCheck(path, excused=lambda: True).responds()


def test_a_build_that_fails_is_reported_and_not_tried_again(start: Start) -> None:
    product = start('sh("build", "exit 3", once=True), sh("agent", "exec sleep 100", needs=("build",))')
    product.until(lambda: product.state("build").get("state") == "failed", "the failure is shown")
    time.sleep(0.5)
    assert product.out.read_text().count("build ended with 3; its log:") == 1
    assert product.state("agent")["pid"] is None


@pytest.mark.parametrize("code", [0, 3])
def test_a_build_may_end_before_it_is_adopted(start: Start, code: int) -> None:
    build = f'subprocess.Popen(["/bin/sh", "-c", "exit {code}"], process_group=0)'
    adopt = 'supervisor.adopt(sh("build", "", once=True), build.pid, folder.path / "build.log")'
    product = start('sh("agent", "exec sleep 100", needs=("build",))', f"build = {build}; supervisor.pause(1); {adopt}")
    if code == 0:
        product.until_up("agent")
        assert product.out.read_text().count("build: done") == 1
    else:
        product.until(lambda: product.state("build").get("state") == "failed", "the failure is shown")
        assert "build ended with 3; its log:" in product.out.read_text()
