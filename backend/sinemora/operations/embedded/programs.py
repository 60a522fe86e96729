"""Supervised program: its start, its stop signal and its log."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sinemora.operations.embedded.servers.service_user import ServiceUser

LOG_LIMIT_BYTES = 10 * 1024 * 1024
LOG_KEPT = 3
STABLE_S = 30.0
LONGEST_DELAY_S = 10.0
PROBE_EVERY_S = 5.0
_PROBES_MIN = 3
HUNG_S = 15.0
STUCK_S = 60.0  # a busy machine may take this long to respond
_START_S = 300.0
_FORK_S = 5.0
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Program:
    """Program to run. `needs` names programs that must be up first; `ready` checks whether it works.

    `responds` checks whether a program that is up still responds, also with an error. One that does not is killed and
    started again: after `hung_s` if it has used no processor time since, else after `stuck_s`. So a busy program is not
    taken for a hung one. The check may block for seconds: it runs on a separate thread.

    `template`: socket of the process that a program of Python, `-m` a module, is forked from while it answers.
    """

    name: str
    title: str
    command: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    user: ServiceUser | None = None
    needs: tuple[str, ...] = ()
    ready: Callable[[], bool] | None = None
    responds: Callable[[], bool] | None = None
    hung_s: float = HUNG_S
    stuck_s: float = STUCK_S
    before_start: Callable[[], None] | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_s: float = 8.0
    template: Path | None = None
    once: bool = False  # ends after its work; with `ready` it is up until then


def ends_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    """Return the `preexec_fn` of a child that the kernel sends a signal when the thread that starts it ends."""
    parent = os.getpid()

    def in_child() -> None:
        # After the change of user, which would clear it again (prctl(2)).
        _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:  # the parent died before the call above
            os._exit(1)

    return in_child


def forked(template: Path, request: Mapping[str, object], logs: Sequence[int] = ()) -> int | None:
    """Let the template of that socket fork a child of this process with a log; return its id, None without an answer.

    Without a log nothing is forked: the id is the template's.
    """
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(_FORK_S)
        connection.connect(str(template))
        socket.send_fds(connection, [json.dumps(request).encode()], logs)
        pid = int(connection.recv(20) or 0)
        if pid and (not logs or connection.send(b"1")):
            return pid
    return None


def children_of(pid: int) -> list[int]:
    """Return the children of a process; those of all its threads."""
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(child) for child in listed.read_text().split()]
    return found


def delay_s(failures: int) -> float:
    """Return the delay before restart number `failures` in a row, s: 0 at first, then doubling."""
    return 0.0 if failures <= 1 else min(LONGEST_DELAY_S, 0.25 * 2 ** (failures - 1))


class PulseCheck:
    """Check of a file that a program touches after each unit of work: has it been touched since the last check?

    Only changes count, so that a step of the clock has no effect. `excused` returns whether no work is expected.
    """

    def __init__(self, path: Path, excused: Callable[[], bool] = lambda: False) -> None:
        self._path = path
        self._excused = excused
        self._seen: int | None = None
        self._begun_at = 0.0

    def begin(self) -> None:
        """Forget the file of an earlier process. The next one touches it first when it has loaded."""
        self._path.unlink(missing_ok=True)
        self._seen, self._begun_at = None, time.monotonic()

    def responds(self) -> bool:
        """Return whether the program has worked since the last check, still loads, or is excused."""
        try:
            touched = self._path.stat().st_mtime_ns
        except OSError:
            return time.monotonic() - self._begun_at < _START_S or self._excused()
        has_changed, self._seen = touched != self._seen, touched
        return has_changed or self._excused()


def processor_time(pid: int) -> tuple[int, ...] | None:
    """Return the processor time of a process, ticks; None while it waits for a processor or has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "R" else (int(fields[11]), int(fields[12]))


class Pulse:
    """Periodic check whether a process responds, on a thread, so that the supervisor never waits.

    Only failed checks count: if the supervisor itself was busy, nothing is known about the process.
    """

    def __init__(self, program: Program, pid: int, now: float) -> None:
        self._program = program
        self._pid = pid
        self._checked_at = now
        self._failing_since: float | None = None
        self._idle_since = now
        self._used = processor_time(pid)
        self._failed = 0
        self._check: threading.Thread | None = None

    @property
    def fails(self) -> bool:
        """Return whether the last check failed."""
        return self._failed > 0

    def hung_s(self, now: float) -> float:
        """Return the time for which a hung program has not responded, s; 0 if it is not hung. Start a due check."""
        if self._check is not None and not self._check.is_alive():
            self._check = None
        if self._check is None and now - self._checked_at >= PROBE_EVERY_S:
            self._checked_at = now
            self._check = threading.Thread(target=self._run_check, args=(now,), name="pulse", daemon=True)
            self._check.start()
        since = self._failing_since
        if since is None or self._failed < _PROBES_MIN:
            return 0.0
        is_hung = now - max(since, self._idle_since) > self._program.hung_s or now - since > self._program.stuck_s
        return now - since if is_hung else 0.0

    def excuse(self) -> None:
        """Forget failed checks: what the program needs does not respond itself."""
        self._failing_since, self._failed = None, 0

    def _run_check(self, checked_at: float) -> None:
        responds, used = bool(self._program.responds and self._program.responds()), processor_time(self._pid)
        if used is None or used != self._used:
            self._used, self._idle_since = used, checked_at
        if responds:
            self.excuse()
        else:
            self._failing_since = checked_at if self._failing_since is None else self._failing_since
            self._failed += 1


@dataclass
class Child:
    """Program and its current process. Time is an argument, in seconds of one monotonic clock."""

    program: Program
    log: Path
    pid: int | None = None
    started_at: float = 0.0
    is_up: bool = False
    restarts: int = 0
    failures: int = 0
    due_at: float | None = 0.0
    last_end: str = ""
    pulse: Pulse | None = None
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self, now: float) -> None:
        """Start the process in a separate group. The kernel stops it when the supervisor dies."""
        if self.program.before_start:
            self.program.before_start()
        death_signal = signal.SIGINT if self.program.stop_signal == signal.SIGINT else signal.SIGTERM
        identity = self.program.user.popen_identity() if self.program.user else {}
        with self.log.open("ab") as out:
            self.pid, self._process = self._forked(out.fileno()), None
            if self.pid is None:
                self._process = subprocess.Popen(
                    list(self.program.command),
                    cwd=self.program.cwd,
                    env=dict(self.program.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    process_group=0,
                    preexec_fn=ends_with_parent(death_signal),
                    **identity,  # type: ignore[call-overload]
                )
                self.pid = self._process.pid
        self.pulse = None
        self.started_at = now
        self.is_up = False
        self.due_at = None

    def _forked(self, log: int) -> int | None:
        """Let the template fork the process, if there is one; return its id."""
        if self.program.template is None:
            return None
        request = {"name": self.program.name, "arguments": self.program.command[2:], "parent": os.getpid()}
        return forked(self.program.template, request | {"environment": dict(self.program.environment)}, [log])

    def adopt(self, pid: int, now: float) -> None:
        """Take over a running child process that leads a separate group."""
        self.pid, self.started_at, self.due_at = pid, now, None

    @property
    def is_over(self) -> bool:
        """Return whether the program ended and is not started again."""
        return self.program.once and self.pid is None and bool(self.last_end)

    def mark_up(self, now: float) -> None:
        """Record that the program is up. From now on it has to respond."""
        self.is_up = True
        self.pulse = Pulse(self.program, self.pid, now) if self.program.responds and self.pid else None

    def ended(self, status: int, now: float) -> None:
        """Record that the process ended with the wait status `status`, and when to start it again."""
        code = os.waitstatus_to_exitcode(status)
        self.last_end = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        self.kill_group(signal.SIGKILL)
        if self._process is not None:
            self._process.returncode = code  # waited for by the supervisor, not by subprocess
        self.failures = 1 if self.is_up and now - self.started_at >= STABLE_S else self.failures + 1
        self.pid = None
        self.is_up = False
        self.due_at = None if self.program.once else now + delay_s(self.failures)

    def kill_tree(self) -> None:
        """Kill the program with all its descendants: those of PostgreSQL have groups of their own.

        Only SIGKILL reaches a stopped or stuck process. Committed data are safe.
        """
        found = [] if self.pid is None else [self.pid]
        for pid in found:  # grows meanwhile
            found += children_of(pid)
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self.kill_group(signal.SIGKILL)

    def kill_group(self, how: signal.Signals) -> None:
        """Send `how` to every process of the group, if any is left."""
        if self.pid is not None:
            try:
                os.killpg(self.pid, how)
            except (ProcessLookupError, PermissionError):
                return

    def request_stop(self) -> None:
        """Send the stop signal to the leader of the group, which stops its own children."""
        if self.pid is not None:
            os.kill(self.pid, self.program.stop_signal)

    def rotate_log(self) -> None:
        """Keep the log below its limit: copy it and truncate it, since the process has it open."""
        try:
            if self.log.stat().st_size < LOG_LIMIT_BYTES:
                return
            for number in range(LOG_KEPT - 1, 0, -1):
                older = self.log.with_name(f"{self.log.name}.{number}")
                if older.exists():
                    older.rename(self.log.with_name(f"{self.log.name}.{number + 1}"))
            self.log.with_name(f"{self.log.name}.1").write_bytes(self.log.read_bytes())
            os.truncate(self.log, 0)
        except OSError:
            return  # a full disk must not stop the product

    def _state(self) -> str:
        if self.program.once and self.pid is None:
            return "failed"
        return "up" if self.is_up else "starting" if self.pid else "waiting to start"

    def tail(self, lines: int = 12) -> str:
        """Return the end of the log."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def state(self) -> dict[str, object]:
        """Return the state that `status` shows."""
        return {
            "title": self.program.title,
            "pid": self.pid,
            "state": self._state(),
            "since": None if self.pid is None else time.time() - (time.monotonic() - self.started_at),
            "restarts": self.restarts,
            "last_end": self.last_end,
            "log": str(self.log),
        }
