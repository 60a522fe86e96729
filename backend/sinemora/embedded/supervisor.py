"""Keeps programs running: starts them in order, restarts what dies, stops everything in reverse.

One thread, one loop. The wait for signals is interruptible, so a death is noticed at once. Orphans of our children are
handed to us by the kernel (PR_SET_CHILD_SUBREAPER) and reaped with the rest; nothing outlives us.
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

from sinemora.embedded.data_folder import DataFolder
from sinemora.embedded.errors import TroubleError
from sinemora.embedded.programs import Child, Program

_PR_SET_CHILD_SUBREAPER = 36
_ALIVE_S = 1.0  # a program that cannot be asked counts as up once it has lived this long
_TICK_S = 0.25
_ROTATE_EVERY_S = 5.0
_LAST_PATIENCE_S = 3.0  # between a kill and the next, harder one


class StopRequestedError(Exception):
    """The operator asked to stop while something was being waited for."""


class Supervisor:
    """The programs of one product.

    `say` tells the operator; `address` is where the product can be opened, `local_address` where this machine reaches
    its API.
    """

    def __init__(self, folder: DataFolder, address: str, say: Callable[[str], None], local_address: str = "") -> None:
        self.folder = folder
        self.address = address
        self.local_address = local_address
        self.say = say
        self.children: dict[str, Child] = {}
        self.phase = "starting"
        self._stop_signals = 0
        self._forced: set[str] = set()
        self._rotated_at = 0.0
        self._written: dict[str, object] = {}
        self._wake, wake = socket.socketpair()
        for end in (self._wake, wake):
            end.setblocking(False)
        self._waker = wake

    def install(self) -> None:
        """Take over the signals of this process and become the one its orphans are handed to."""
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(one, self._on_stop)
        self.write_state()

    def add(self, programs: Iterable[Program]) -> None:
        """Supervise `programs`, after those already there."""
        for program in programs:
            self.children[program.name] = Child(program, self.folder.logs / f"{program.name}.log")

    def adopt(self, program: Program, pid: int, log: Path) -> None:
        """Watch a process of ours that ends when its work is done; programs that need it start then."""
        child = Child(program, log)
        child.adopt(pid, time.monotonic())
        self.children[program.name] = child

    def wait_up(self, names: Iterable[str], patience_s: float) -> None:
        """Run the loop until the named programs are up.

        Raises TroubleError with the end of the log when one keeps dying or takes too long, StopRequestedError when the
        operator has had enough.
        """
        wanted = [self.children[name] for name in names]
        deadline = time.monotonic() + patience_s
        while not all(child.is_up for child in wanted):
            self.pump()
            if self._stop_signals:
                raise StopRequestedError
            for child in wanted:
                if child.is_up or (child.failures < 4 and time.monotonic() < deadline):
                    continue
                how = child.last_end or f"is not ready after {patience_s:.0f} s"
                raise TroubleError(
                    f"{child.program.title} does not start ({how}). The end of its log:\n{child.tail()}",
                    f"Mend what the log names, then again. The whole log: {child.log}",
                )

    def pause(self, seconds: float) -> None:
        """Keep everything running for a while; raises StopRequestedError on Ctrl-C."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.pump()
            if self._stop_signals:
                raise StopRequestedError

    def run(self) -> None:
        """Keep everything running until somebody asks to stop."""
        self.phase = "up"
        while not self._stop_signals:
            self.pump()

    def pump(self) -> None:
        """One round: reap, start what is due, ask what starts whether it is ready, then wait for news."""
        now = time.monotonic()
        self._reap(now)
        for child in self.children.values():
            if child.pid is None and child.due_at is not None and child.due_at <= now and self._may_start(child):
                self._start(child, now)
            elif child.pid is not None and not child.is_up and not child.program.once:
                ready = child.program.ready
                if ready() if ready else now - child.started_at >= _ALIVE_S:
                    child.came_up(now)
            elif child.pid is not None and child.pulse and child.pulse.silent_s(now) > child.program.hung_s:
                self.say(f"{child.program.title} has not answered for {child.program.hung_s:.0f} s: killed")
                child.pulse = None
                # Nothing gentler reaches a process that is stopped or stuck; what it had committed is committed.
                child.kill_group(signal.SIGKILL)
        if now - self._rotated_at > _ROTATE_EVERY_S:
            self._rotated_at = now
            for child in self.children.values():
                child.rotate_log()
        self.write_state()
        self._sleep(_TICK_S)

    def stop(self) -> None:
        """Stop every program, each once nothing running needs it, within its patience; a second Ctrl-C forces."""
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
                    self._force(child, "killed as asked")
                    deadlines[name] = now + _LAST_PATIENCE_S
                elif name not in deadlines:
                    child.ask_to_stop()
                    deadlines[name] = now + child.program.stop_patience_s
                elif now > deadlines[name]:
                    self._force(child, "does not stop in time: killed")
                    deadlines[name] = now + _LAST_PATIENCE_S
            self.write_state()
            self._sleep(_TICK_S)
            self._reap(time.monotonic(), restart=False)
        self._end_orphans()
        self.phase = "stopped"
        self.write_state()

    def write_state(self) -> None:
        """Tell `status`, `down` and `wait` how things stand."""
        state: dict[str, object] = {
            "pid": os.getpid(),
            "phase": self.phase,
            "address": self.address,
            "local_address": self.local_address,
            "processes": {name: child.state() for name, child in self.children.items()},
        }
        # `since` wanders by microseconds; what matters is pids and states.
        key = {name: (child.pid, child.is_up, child.restarts) for name, child in self.children.items()}
        marker: dict[str, object] = {"phase": self.phase, "key": key}
        if marker != self._written:
            self._written = marker
            self.folder.write_state(state)

    def _may_start(self, child: Child) -> bool:
        return all(self.children[name].is_up for name in child.program.needs if name in self.children)

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
            self.say(f"{child.program.title} {child.last_end}; started again (process {child.pid})")

    def _reap(self, now: float, *, restart: bool = True) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for child in list(self.children.values()):
                if child.pid == pid:
                    child.ended(status, now)
                    if not restart:
                        child.due_at = None
                    elif child.program.once and status == 0:
                        self.say(f"{child.program.title}: done")
                        del self.children[child.program.name]
                    elif child.program.once:
                        self.say(f"{child.program.title} {child.last_end}; its log: {child.log}")
                    elif child.failures > 1:
                        self.say(f"{child.program.title} {child.last_end} again; its log: {child.log}")

    def _force(self, child: Child, how: str) -> None:
        """Kill a program's group; PostgreSQL first gets the chance to end without a checkpoint (immediate shutdown)."""
        again = child.program.name in self._forced
        self._forced.add(child.program.name)
        gently = child.program.stop_signal == signal.SIGINT and not again
        self.say(f"{child.program.title} {how}")
        child.kill_group(signal.SIGQUIT if gently else signal.SIGKILL)

    def _end_orphans(self) -> None:
        deadline = time.monotonic() + 3
        while left := _children_of(os.getpid()):
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
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the terminal is gone: it cannot be told anything more
        self._stop_signals += 1


def stoppable(children: list[Child]) -> list[Child]:
    """Return the running programs that no other running one needs."""
    running = [child for child in children if child.pid]
    needed = {name for child in running for name in child.program.needs}
    return [child for child in running if child.program.name not in needed]


def _children_of(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(one) for one in listed.split()]
