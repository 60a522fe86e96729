"""Child process of a worker that does a job and can be killed at any moment.

Native code does not look up: a search that is cancelled ends soon only if its process is killed. The child also takes
the memory, and the death for lack of it, from the worker. It is forked: imports take seconds, a fork milliseconds.
"""

import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import NoReturn, TypeVar, cast

from sinemora.jobs.heartbeat import Reporter
from sinemora.kit.db import dispose

T = TypeVar("T")

_LOOK_S = 0.1


class ChildDied(Exception):
    """The child ended without an outcome: killed, or out of memory."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        code = os.waitstatus_to_exitcode(status)
        self.reason = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


@dataclass(frozen=True, slots=True)
class _Progress:
    share: float | None
    note: str


class _Relay:
    """Reporter in the child: sends progress to the worker, which kills the child when the job must stop."""

    def __init__(self, to_worker: "Connection[object, object]") -> None:
        self._to_worker = to_worker
        self._sent: tuple[float, str] | None = None

    def report(self, share: float | None, note: str) -> None:
        # Work that reports each of its smallest steps would otherwise spend its time here.
        now = time.monotonic()
        if self._sent is None or note != self._sent[1] or now - self._sent[0] >= _LOOK_S:
            self._sent = (now, note)
            self._to_worker.send(_Progress(share, note))

    def check(self) -> None:
        return


def run_isolated(work: Callable[[Reporter], T], reporter: Reporter) -> T:
    """Do `work` in a child process and return its value, which must pickle.

    Raises `ChildDied`, and what `reporter.check` raises, after the child was killed. `work` must turn its own errors
    into values.
    """
    worker = os.getpid()
    mine, its = Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads at a fork. The child takes no lock of theirs: its connections are new.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        mine.close()
        _be_child(work, its, worker)
    its.close()
    status: int | None = None
    try:
        while True:
            reporter.check()
            if mine.poll(0 if status is not None else _LOOK_S):
                message = mine.recv()
                if not isinstance(message, _Progress):
                    return cast("T", message)
                reporter.report(message.share, message.note)
            elif status is not None:
                raise ChildDied(status)
            else:
                status = _status_of(child)  # what it sent before its end is read first
    except (EOFError, ConnectionResetError):
        if status is None:
            status = os.waitpid(child, 0)[1]
        raise ChildDied(status) from None
    finally:
        mine.close()
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _status_of(child: int) -> int | None:
    """Return the wait status of a child that has ended; None while it runs."""
    ended, status = os.waitpid(child, os.WNOHANG)
    return status if ended else None


def _be_child(work: Callable[[Reporter], object], to_worker: "Connection[object, object]", worker: int) -> NoReturn:
    status = 1
    gc.freeze()  # a collection would write to, and so copy, every page shared with the worker
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        dispose(close=False)  # these connections are the worker's
        threading.Thread(target=_end_with, args=(worker,), name="lifeline", daemon=True).start()
        to_worker.send(work(_Relay(to_worker)))
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # no code of the worker runs in the child


def _end_with(worker: int) -> None:
    """End this process when its worker has died."""
    while os.getppid() == worker:
        time.sleep(1)
    os._exit(1)
