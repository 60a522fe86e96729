"""Runs the product for hours under load and injected faults: `make soak` (HOURS=24; or MINUTES=20).

    AGENTS=2    real agents of the demonstration mesh
    FAULTS='kill-api,queue-full'    some faults of bad days

One JSON object a figure on stdout, a line of progress each minute on stderr; everything that was counted is in
`.tools/logs/soak.json` (another file: REPORT). Ctrl-C ends it with the figures so far.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from lab.benchmarks.figures import comment, finish
from lab.soak import badday, reporting, store
from lab.soak.day import OWNER, Day, day
from lab.soak.outages import Injected, Planned, plan
from lab.soak.readers import Person, Reader
from lab.soak.watch import Watch

REPORT = Path(__file__).resolve().parents[3] / ".tools" / "logs" / "soak.json"
FAULTS = (
    *("replace", "kill-api", "clock-late", "kill-worker", "kill-valkey", "stop-postgres", "kill-gateway"),
    *("kill-postgres", "queue-full", "stop-worker", "kill-watcher"),
)
_EVERY_S = 2.0
"""Time between old windows of a VM: a day of them is not too old."""
_RECOVERED_WITHIN_S = 180.0
_QUIET_S = 12.0
"""Shortest time without faults at the end: a window of the fleets, and its report."""


def main() -> None:
    """Soak the product, then print the figures; exit with 1 when a bar is missed."""
    minutes, hours = os.environ.get("MINUTES"), os.environ.get("HOURS")
    duration_s = 60 * float(minutes) if minutes else 3600 * float(hours or 24)
    file = Path(os.environ.get("REPORT") or REPORT)
    faults = list(filter(None, (os.environ.get("FAULTS") or "").split(","))) or list(FAULTS)
    if unknown := [name for name in faults if name not in badday.FAULTS]:
        sys.exit(f"FAULTS={','.join(unknown)}: there are {', '.join(badday.FAULTS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with day(on_small_disk=False, agents=int(os.environ.get("AGENTS") or 2), every_s=_EVERY_S) as running:
        _open_console(running)
        began_s, began_bytes = time.monotonic(), store.size_bytes()
        watch = Watch(running, lambda: duration_s - (time.monotonic() - began_s))
        watch.start()
        interrupted = _soak(running, watch, plan(duration_s, faults), began_s + duration_s)
        taken_s = time.monotonic() - began_s
        if interrupted:
            os.environ["RECORD"] = "0"
        reporting.report(running, watch, taken_s, began_bytes, file)
    finish()


def _open_console(running: Day) -> None:
    """Let the owner and a colleague read, each another mesh."""
    owner = Person(running.product.address, OWNER)
    for person, name in ((owner, "small"), (owner.colleague("viewer@sinemora.example"), "steady")):
        world = running.worlds[name]
        reader = Reader(person, world.mesh_id, world.vm_ids, starts_jobs=person is owner)
        reader.start()
        running.ends.callback(reader.stop)
        running.readers.append(reader)


def _soak(running: Day, watch: Watch, faults: Sequence[Planned], ends_s: float) -> bool:
    """Inject the planned faults until the time is over. Return whether Ctrl-C ended it before."""
    began_s = time.monotonic()
    try:
        for planned in faults:
            time.sleep(max(0.0, began_s + planned.at_s - time.monotonic()))
            injected = _inject(running, planned.fault, watch.observed.injected)
            comment(f"{time.strftime('%H:%M:%S')} {planned.fault}: {reporting.in_words(running, injected)}")
        time.sleep(max(_QUIET_S, ends_s - time.monotonic()))
    except KeyboardInterrupt:
        comment("interrupted: these are the figures so far")
        return True
    return False


def _inject(running: Day, fault: str, injected: list[Injected]) -> Injected:
    """Inject a fault and wait until it is over and everything works; add when that was to `injected`, and return it.

    An interrupted one is added as if it had recovered then.
    """
    began_at, over_at = time.time(), 0.0
    recovered = True
    try:
        with ExitStack() as rest:
            over_at = badday.inject(running, [badday.FAULTS[fault]], rest) or time.time()
        until_s = time.monotonic() + _RECOVERED_WITHIN_S
        while recovered and not _works(running, over_at):
            time.sleep(0.2)
            recovered = time.monotonic() < until_s
    finally:
        now = time.time()
        injected.append(Injected(fault, began_at, over_at or now, now if recovered else None))
    return injected[-1]


def _works(running: Day, since_at: float) -> bool:
    """Return whether all programs are up and ready, and reports and pages succeeded since a time."""
    seen_at, status = running.samples[-1]
    answered = all(reader.seen.answered_at > since_at for reader in running.readers)
    return badday.works(running, since_at) and answered and seen_at > since_at and status == "ready"


if __name__ == "__main__":
    main()
