"""Whether the profile has the machine to itself: what else runs takes processors from the benchmark, and wakes it late.

Runs beside other work are slower by factors, for as long as that work lasts. That is no noise that more runs average
out, so such runs are done again once the machine is quiet, as long as there is patience.
"""

import time
from collections.abc import Callable

import psutil

QUIET_BELOW = 0.1
"""Processors that other work may use without a run counting as disturbed."""

_LOOK_S = 0.5


class Watch:
    """Counts from its making on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._all_s, self._ours_s = _busy_s(), _ours_s()

    def others(self) -> float:
        """How many processors others than this process and its descendants have used in the mean, steal included."""
        all_s, ours_s = _busy_s() - self._all_s, _ours_s() - self._ours_s
        return max(all_s - ours_s, 0.0) / (time.monotonic() - self._began)


class Patience:
    """Time left, in seconds, for runs done again and for waiting until the machine is quiet."""

    def __init__(self, left_s: float, say: Callable[[str], None]) -> None:
        self._left_s, self._say = left_s, say

    def again(self, others: float, took_s: float) -> bool:
        """Return whether a run beside `others` is to be done again; waits until it makes sense."""
        if others <= QUIET_BELOW or self._left_s <= 0:
            return False
        self._say(f"other work uses {others:.1f} processors: this run is done again when the machine is quiet")
        self._left_s -= took_s
        while self._left_s > 0:
            watch = Watch()
            time.sleep(_LOOK_S)
            self._left_s -= _LOOK_S
            if watch.others() <= QUIET_BELOW:
                return True
        self._say("the machine does not become quiet: runs are taken as they are from now on")
        return False


def _busy_s() -> float:
    """Processor time of everything since the machine began. Without interrupts: nobody is charged with theirs."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + getattr(times, "steal", 0.0))


def _ours_s() -> float:
    """Processor time of this process and all its descendants, those that have ended included."""
    me = psutil.Process()
    total = 0.0
    for one in [me, *me.children(recursive=True)]:
        try:
            total += sum(one.cpu_times()[:4])
        except psutil.Error:
            continue
    return total
