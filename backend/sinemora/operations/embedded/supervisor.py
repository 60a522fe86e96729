"""Supervisor of programs: starts them in order, restarts those that die, stops them in reverse order.

It has one thread and one loop. Signals interrupt its waits, so the end of a program is noticed at once. The kernel
makes it the parent of orphaned grandchildren (PR_SET_CHILD_SUBREAPER), so that no process outlives it.
"""

import ctypes
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import FrameType

from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.programs import Child, Program, children_of

_PR_SET_CHILD_SUBREAPER = 36
_ALIVE_S = 1.0  # a program without `ready` counts as up after this time
_TICK_S = 0.25
_ROTATE_EVERY_S = 5.0
_KILL_INTERVAL_S = 3.0  # between a kill and the next


class StopRequestedError(Exception):
    """Stop requested by the operator during a wait."""


class Supervisor:
    """Supervisor of the product's programs.

    `report` prints a message; `address` is the URL of the product, `local_address` its URL on this machine.
    """

    def __init__(
        self, folder: DataFolder, address: str, report: Callable[[str], None], local_address: str = ""
    ) -> None:
        self.folder = folder
        self.address = address
        self.local_address = local_address
        self.report = report
        self.children: dict[str, Child] = {}
        self.phase = "starting"
        self._stop_signals = 0
        self._forced: set[str] = set()
        # Wait statuses of processes that ended before they were adopted.
        self._unclaimed: dict[int, int] = {}
        self._rotated_at = 0.0
        self._written: dict[str, object] = {}
        self._wake, wake = socket.socketpair()
        for end in (self._wake, wake):
            end.setblocking(False)
        self._waker = wake

    def install(self) -> None:
        """Install the signal handlers and become the parent of orphaned processes."""
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_stop)
        self.write_state()

    def add(self, programs: Iterable[Program]) -> None:
        """Supervise `programs` too."""
        for program in programs:
            self.children[program.name] = Child(program, self.folder.logs / f"{program.name}.log")

    def adopt(self, program: Program, pid: int, log: Path) -> None:
        """Watch a running process that ends after its work; programs that need it start then."""
        child = Child(program, log)
        child.adopt(pid, time.monotonic())
        self.children[program.name] = child
        if pid in self._unclaimed:
            self._end(child, self._unclaimed.pop(pid), time.monotonic())

    def wait_up(self, names: Iterable[str], timeout_s: float) -> None:
        """Run the loop until the named programs are up, or over.

        Raises EmbeddedError with the end of the log when one keeps dying or takes too long, StopRequestedError when
        the operator stops the product.
        """
        children = [self.children[name] for name in names]
        deadline = time.monotonic() + timeout_s
        while not all(child.is_up or child.is_over for child in children):
            self.pump()
            if self._stop_signals:
                raise StopRequestedError
            for child in children:
                if child.is_up or child.is_over or (child.failures < 4 and time.monotonic() < deadline):
                    continue
                how = child.last_end or f"is not ready after {timeout_s:.0f} s"
                raise EmbeddedError(
                    f"{child.program.title} does not start ({how}). The end of its log:\n{child.tail()}",
                    f"Fix what the log reports, then start again. The whole log: {child.log}",
                )

    def pause(self, seconds: float) -> None:
        """Keep everything running for a while; raises StopRequestedError on Ctrl-C."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.pump()
            if self._stop_signals:
                raise StopRequestedError

    def run(self) -> None:
        """Keep everything running until a stop is requested."""
        self.phase = "up"
        while not self._stop_signals:
            self.pump()

    def pump(self) -> None:
        """Run one round: reap ended processes, start due ones, check readiness and response, then wait for a signal."""
        now = time.monotonic()
        self._reap(now)
        for child in self.children.values():
            if child.pid is None and child.due_at is not None and child.due_at <= now and self._may_start(child):
                self._start(child, now)
            elif child.pid is not None and not child.is_up and (child.program.ready or not child.program.once):
                ready = child.program.ready
                if ready() if ready else now - child.started_at >= _ALIVE_S:
                    child.mark_up(now)
            elif child.pid is not None and child.pulse and (hung_s := child.pulse.hung_s(now)):
                if self._waits_for_another(child):
                    child.pulse.excuse()
                    continue
                self.report(f"{child.program.title} has not responded for {hung_s:.0f} s: killed")
                child.pulse = None
                child.kill_tree()
        if now - self._rotated_at > _ROTATE_EVERY_S:
            self._rotated_at = now
            for child in self.children.values():
                child.rotate_log()
        self.write_state()
        self._sleep(_TICK_S)

    def stop(self) -> None:
        """Stop every program once no running one needs it, within its timeout. A second Ctrl-C kills."""
        self.phase = "stopping"
        before = self._stop_signals
        deadlines: dict[str, float] = {}
        for child in self.children.values():
            child.due_at = None
        while any(child.pid for child in self.children.values()):
            now = time.monotonic()
            for child in stoppable(list(self.children.values())):
                name = child.program.name
                if self._stop_signals > before and name not in self._forced:
                    self._force(child, "killed on request")
                    deadlines[name] = now + _KILL_INTERVAL_S
                elif name not in deadlines:
                    child.request_stop()
                    deadlines[name] = now + child.program.stop_timeout_s
                elif now > deadlines[name]:
                    self._force(child, "does not stop in time: killed")
                    deadlines[name] = now + _KILL_INTERVAL_S
            self.write_state()
            self._sleep(_TICK_S)
            self._reap(time.monotonic(), restart=False)
        self._end_orphans()
        self.phase = "stopped"
        self.write_state()

    def write_state(self) -> None:
        """Write the state that `status`, `down` and `wait` read."""
        state: dict[str, object] = {
            "pid": os.getpid(),
            "phase": self.phase,
            "address": self.address,
            "local_address": self.local_address,
            "processes": {name: child.state() for name, child in self.children.items()},
        }
        # `since` varies by microseconds; only changes of pids and states are written.
        key = {name: (child.pid, child.is_up, child.restarts) for name, child in self.children.items()}
        marker: dict[str, object] = {"phase": self.phase, "key": key}
        if marker != self._written:
            with suppress(OSError):  # a full disk must not stop the product: the next round tries again
                self.folder.write_state(state)
                self._written = marker

    def _may_start(self, child: Child) -> bool:
        return all(self.children[name].is_up for name in child.program.needs if name in self.children)

    def _waits_for_another(self, child: Child) -> bool:
        """Return whether a program that this one needs is down or does not respond."""
        needed = [self.children[name] for name in child.program.needs if name in self.children]
        return any(not each.is_up or (each.pulse is not None and each.pulse.fails) for each in needed)

    def _start(self, child: Child, now: float) -> None:
        again = bool(child.last_end)
        try:
            child.start(now)
        except OSError as error:
            child.last_end, child.failures = f"cannot be run: {error}", child.failures + 1
            child.due_at = now + 10
            return
        if again:
            child.restarts += 1
            self.report(f"{child.program.title} {child.last_end}; started again (process {child.pid})")

    def _reap(self, now: float, *, restart: bool = True) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = next((each for each in self.children.values() if each.pid == pid), None)
            if child is None:
                self._unclaimed[pid] = status  # perhaps of a process that is adopted later
            else:
                self._end(child, status, now, restart=restart)

    def _end(self, child: Child, status: int, now: float, *, restart: bool = True) -> None:
        """Record that a program ended, and report it unless it is started again for the first time."""
        child.ended(status, now)
        if not restart:
            child.due_at = None
        elif child.program.once and status == 0:
            self.report(f"{child.program.title}: done")
            del self.children[child.program.name]
        elif child.program.once:
            self.report(f"{child.program.title} {child.last_end}; its log: {child.log}")
        elif child.failures > 1:
            self.report(f"{child.program.title} {child.last_end} again; its log: {child.log}")

    def _force(self, child: Child, how: str) -> None:
        """Kill a program's group. PostgreSQL first gets an immediate shutdown (no checkpoint)."""
        again = child.program.name in self._forced
        self._forced.add(child.program.name)
        gently = child.program.stop_signal == signal.SIGINT and not again
        self.report(f"{child.program.title} {how}")
        child.kill_group(signal.SIGQUIT if gently else signal.SIGKILL)

    def _end_orphans(self) -> None:
        deadline = time.monotonic() + 3
        while left := children_of(os.getpid()):
            self._reap(time.monotonic(), restart=False)
            if time.monotonic() > deadline:
                for pid in left:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                deadline += 3
            time.sleep(0.02)

    def _sleep(self, seconds: float) -> None:
        readable, _, _ = select.select([self._wake], [], [], seconds)
        if readable:
            with suppress(BlockingIOError):
                self._wake.recv(4096)

    def _on_stop(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGHUP:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the terminal is closed
        self._stop_signals += 1


def stoppable(children: list[Child]) -> list[Child]:
    """Return the running programs that no other running one needs."""
    running = [child for child in children if child.pid]
    needed = {name for child in running for name in child.program.needs}
    return [child for child in running if child.program.name not in needed]
