"""Observation of a soak while it runs: samples of processes, errors in logs, a line of progress each minute."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from lab.benchmarks.figures import comment
from lab.soak import processes
from lab.soak.day import Day
from lab.soak.logs import LogError, LogReader
from lab.soak.outages import Injected

PROGRESS_S = 60.0
SAMPLE_S = 15.0
_LOGS_S = 1.0


@dataclass
class Observed:
    """Injected faults, samples of processes, and errors in logs."""

    injected: list[Injected] = field(default_factory=list)
    samples: list[processes.Sample] = field(default_factory=list)
    errors: list[LogError] = field(default_factory=list)


class Watch:
    """Thread that observes a day until it is stopped. `left_s` returns the planned time that is left."""

    def __init__(self, day: Day, left_s: Callable[[], float]) -> None:
        self.observed = Observed()
        self._day, self._left_s = day, left_s
        self._logs = LogReader([day.product.folder.logs])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin. Errors from before, of the start of the product, count as well."""
        self._thread.start()

    def stop(self) -> Observed:
        """End with a last sample. Return what was observed."""
        self._stopped.set()
        self._thread.join(60)
        self._sample()
        self._read_logs()
        return self.observed

    def _run(self) -> None:
        sample_s = progress_s = time.monotonic()
        while True:
            now_s = time.monotonic()
            self._read_logs()
            if now_s >= sample_s:
                sample_s += SAMPLE_S
                self._sample()
            if now_s >= progress_s:
                progress_s += PROGRESS_S
                comment(progress(self._day, self.observed, self._left_s()))
            if self._stopped.wait(_LOGS_S):
                return

    def _sample(self) -> None:
        pids = {name: child["pid"] for name, child in self._day.product.children().items() if child["pid"]}
        self.observed.samples += processes.sample(pids, time.time())

    def _read_logs(self) -> None:
        self.observed.errors += self._logs.read(time.time())


def progress(day: Day, observed: Observed, left_s: float) -> str:
    """Return the line of progress."""
    records = list(day.records().values())
    failures = sum(len(record.failures) for record in records)
    acknowledged = sum(len(record.acknowledged) for record in records)
    read = sum(len(reader.seen.latencies) for reader in day.readers)
    errors = sum(one.is_traceback for one in observed.errors)
    newest = {one.name: one for one in observed.samples}
    memory = sum(one.memory_mib for one in newest.values())
    return (
        f"{time.strftime('%H:%M:%S')} {left_s / 60:.0f} min left: {acknowledged:,} reports acknowledged,"
        f" {failures} attempts failed, {read:,} pages read, {len(observed.injected)} faults,"
        f" {errors} tracebacks, {memory:.0f} MiB"
    )
