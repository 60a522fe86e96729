"""One supervised program: how it is started, told to stop, and what it writes."""

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sinemora.embedded.service_user import ServiceUser

LOG_LIMIT_BYTES = 10 * 1024 * 1024
LOG_KEPT = 3
STABLE_S = 30.0
LONGEST_DELAY_S = 10.0
PROBE_EVERY_S = 5.0
_QUESTIONS = 3
HUNG_S = 60.0  # as long as a busy machine may need for an answer
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Program:
    """What to run. `needs` names programs that must be up first; `ready` asks whether it does its work.

    `responds` asks a program that is up whether it still answers at all, also when its answer is a refusal; one that
    has not for `hung_s` is killed and started again. It may block for seconds: it is asked on a thread of its own.
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
    before_start: Callable[[], None] | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_patience_s: float = 8.0
    once: bool = False  # ends when its work is done


def delay_s(failures: int) -> float:
    """Seconds to wait before start number `failures` in a row: the first at once, then doubling."""
    return 0.0 if failures <= 1 else min(LONGEST_DELAY_S, 0.25 * 2 ** (failures - 1))


class Pulse:
    """Asks a process again and again whether it responds, without ever making the supervisor wait.

    Only questions that were asked and not answered count: a supervisor that was busy itself proves nothing.
    """

    def __init__(self, responds: Callable[[], bool], now: float) -> None:
        self._responds = responds
        self._asked_at = now
        self._unanswered_since: float | None = None
        self._unanswered = 0
        self._asking: threading.Thread | None = None

    def silent_s(self, now: float) -> float:
        """Seconds for which all questions, several at least, were left unanswered; asks once more if it is time."""
        if self._asking is not None and not self._asking.is_alive():
            self._asking = None
        if self._asking is None and now - self._asked_at >= PROBE_EVERY_S:
            self._asked_at = now
            self._asking = threading.Thread(target=self._ask, args=(now,), name="pulse", daemon=True)
            self._asking.start()
        since = self._unanswered_since
        return now - since if since is not None and self._unanswered >= _QUESTIONS else 0.0

    def _ask(self, asked_at: float) -> None:
        if self._responds():
            self._unanswered_since, self._unanswered = None, 0
        else:
            self._unanswered_since = asked_at if self._unanswered_since is None else self._unanswered_since
            self._unanswered += 1


@dataclass
class Child:
    """A program and its present process. Time is an argument, in seconds of one monotonic clock."""

    program: Program
    log: Path
    pid: int | None = None
    started_at: float = 0.0
    is_up: bool = False
    restarts: int = 0
    failures: int = 0
    due_at: float | None = 0.0
    last_end: str = ""
    pulse: "Pulse | None" = None
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self, now: float) -> None:
        """Start the process in a group of its own; it dies with us, however we end."""
        if self.program.before_start:
            self.program.before_start()
        ours = os.getpid()
        last_wish = signal.SIGINT if self.program.stop_signal == signal.SIGINT else signal.SIGTERM

        def in_child() -> None:
            # After the change of user, which would clear it again (prctl(2)).
            _libc.prctl(_PR_SET_PDEATHSIG, int(last_wish))
            if os.getppid() != ours:  # the supervisor died before the call above
                os._exit(1)

        identity = self.program.user.popen_identity() if self.program.user else {}
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                list(self.program.command),
                cwd=self.program.cwd,
                env=dict(self.program.environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                process_group=0,
                preexec_fn=in_child,
                **identity,  # type: ignore[call-overload]
            )
        self.pid = self._process.pid
        self.pulse = None
        self.started_at = now
        self.is_up = False
        self.due_at = None

    def adopt(self, pid: int, now: float) -> None:
        """Take over a process that this one has started before; it leads a group of its own."""
        self.pid, self.started_at, self.due_at = pid, now, None

    def came_up(self, now: float) -> None:
        """Note that the program does its work now; from here on it has to respond."""
        self.is_up = True
        self.pulse = Pulse(self.program.responds, now) if self.program.responds else None

    def ended(self, status: int, now: float) -> None:
        """Note that the process ended with the wait status `status`, and when to start it again."""
        code = os.waitstatus_to_exitcode(status)
        self.last_end = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        self.kill_group(signal.SIGKILL)
        if self._process is not None:
            self._process.returncode = code  # waited for by the supervisor, not by subprocess
        self.failures = 1 if self.is_up and now - self.started_at >= STABLE_S else self.failures + 1
        self.pid = None
        self.is_up = False
        self.due_at = None if self.program.once else now + delay_s(self.failures)

    def kill_group(self, how: signal.Signals) -> None:
        """Send `how` to every process of the group, if any is left."""
        if self.pid is not None:
            try:
                os.killpg(self.pid, how)
            except (ProcessLookupError, PermissionError):
                return

    def ask_to_stop(self) -> None:
        """The polite signal, to the leader alone: it knows how to stop its own."""
        if self.pid is not None:
            os.kill(self.pid, self.program.stop_signal)

    def rotate_log(self) -> None:
        """Keep the log below its limit: copied aside, emptied in place, since the process holds it open to append."""
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
            return  # a full disk must not take the product down with it

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
        """What `status` shows."""
        return {
            "title": self.program.title,
            "pid": self.pid,
            "state": self._state(),
            "since": time.time() - (time.monotonic() - self.started_at),
            "restarts": self.restarts,
            "last_end": self.last_end,
            "log": str(self.log),
        }
