"""Detect interference: other work takes processors from the benchmark and delays its wake-ups.

Other work slows runs down by factors as long as it lasts. More runs do not average that out, so disturbed runs are
repeated when the machine is quiet, within a retry budget.
"""

import time
from collections.abc import Callable

import psutil

QUIET_BELOW = 0.1
"""Processors that other work may use before a run counts as disturbed."""

_SAMPLE_S = 0.5


class LoadMonitor:
    """Processor time of other processes since its creation."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._all_s, self._ours_s = _busy_s(), _ours_s()

    def other_processors(self) -> float:
        """Return the mean number of processors used by other processes (not descendants), steal included."""
        all_s, ours_s = _busy_s() - self._all_s, _ours_s() - self._ours_s
        return max(all_s - ours_s, 0.0) / (time.monotonic() - self._began)


class RetryBudget:
    """Time left, in seconds, to repeat runs and to wait for a quiet machine."""

    def __init__(self, left_s: float, say: Callable[[str], None]) -> None:
        self._left_s, self._say = left_s, say

    def retry(self, others: float, took_s: float) -> bool:
        """Return whether to repeat a run disturbed by `others` processors of other work, after waiting for quiet."""
        if others <= QUIET_BELOW or self._left_s <= 0:
            return False
        self._say(f"other work uses {others:.1f} processors: run repeated when the machine is quiet")
        self._left_s -= took_s
        while self._left_s > 0:
            monitor = LoadMonitor()
            time.sleep(_SAMPLE_S)
            self._left_s -= _SAMPLE_S
            if monitor.other_processors() <= QUIET_BELOW:
                return True
        self._say("the machine does not become quiet: further runs are not repeated")
        return False


def _busy_s() -> float:
    """Return the processor time of all processes since boot, without interrupts, which no process is charged with."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + getattr(times, "steal", 0.0))


def _ours_s() -> float:
    """Return the processor time of this process and all its descendants, including ended ones."""
    me = psutil.Process()
    total = 0.0
    for process in [me, *me.children(recursive=True)]:
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.Error:
            continue
    return total
