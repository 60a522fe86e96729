"""Sign of life of a worker or of beat: a file that it touches after each unit of work.

The supervisor of `make up` and the probes of containers judge the process by it (`SINEMORA_WORKER_PULSE_FILE`).
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from celery.beat import PersistentScheduler

from sinemora.kit.config import settings

_EVERY_S = 1.0
_touched_s = -_EVERY_S
_BEGUN_WITHIN_S = 60.0
_waiting_since: dict[str, float] = {}


def touch() -> None:
    """Record that this process has done a unit of work; at most one access to the file per second."""
    global _touched_s
    now = time.monotonic()
    path = settings().worker_pulse_file
    if path is None or now - _touched_s < _EVERY_S:
        return
    with suppress(OSError):  # a full disk is no reason to stop working
        path.touch()
        _touched_s = now


def touch_unless_waiting(tasks: Iterable[str]) -> None:
    """Record a unit of work unless one of these tasks has waited for a minute: ids of those that idle processes got.

    Celery ends a process that is stopped inside a task at the limit of the task, and one that is stopped between tasks
    never.
    """
    global _waiting_since
    now = time.monotonic()
    _waiting_since = {task: _waiting_since.get(task, now) for task in tasks}
    if all(now - since < _BEGUN_WITHIN_S for since in _waiting_since.values()):
        touch()


class Scheduler(PersistentScheduler):
    """Scheduler of beat that records each round, also one in which the broker refused: a hung beat has none."""

    def tick(self, *args: Any, **options: Any) -> float:
        """Send due tasks; return the seconds until the next round.

        Celery would send none after the clock was stepped back, until it shows the time of their last runs again.
        """
        now = self.app.now()
        for entry in self.schedule.values():
            if entry.last_run_at is not None and entry.last_run_at > now:
                entry.last_run_at, self._heap = now, None
        wait_s: float = super().tick(*args, **options)
        touch()
        return wait_s
