"""Runs the product for hours under load and injected faults: `make soak` (HOURS=24; or MINUTES=20).

    VMS=20      VMs of the simulated mesh that reports to the API; half as many report to a gateway
    AGENTS=2    real agents of the demonstration mesh
    FAULTS='api killed,queue full'    some faults; all by default

One JSON object a figure on stdout, a line of progress each minute on stderr; everything that was counted is in
`.tools/logs/soak.json` (another file: REPORT). Ctrl-C ends it with the figures so far.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lab.benchmarks.figures import comment, finish
from lab.soak import reporting, store
from lab.soak.faults import FAULTS, inject
from lab.soak.schedule import Planned, plan
from lab.soak.site import Site, running
from lab.soak.watch import Watch

REPORT = Path(__file__).resolve().parents[3] / ".tools" / "logs" / "soak.json"
_QUIET_S = 12.0
"""Shortest time without faults at the end: a window of the fleets, and its report."""


def main() -> None:
    """Soak the product, then print the figures; exit with 1 when a bar is missed."""
    minutes, hours = os.environ.get("MINUTES"), os.environ.get("HOURS")
    duration_s = 60 * float(minutes) if minutes else 3600 * float(hours or 24)
    file = Path(os.environ.get("REPORT") or REPORT)
    faults = list(filter(None, (os.environ.get("FAULTS") or "").split(","))) or list(FAULTS)
    if unknown := [name for name in faults if name not in FAULTS]:
        sys.exit(f"FAULTS={','.join(unknown)}: there are {', '.join(FAULTS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running(int(os.environ.get("VMS") or 20), int(os.environ.get("AGENTS") or 2)) as site:
        began_s, began_bytes = time.monotonic(), store.size_bytes()
        watch = Watch(site, lambda: duration_s - (time.monotonic() - began_s))
        watch.start()
        interrupted = _soak(site, watch, plan(duration_s, faults), began_s + duration_s)
        taken_s = time.monotonic() - began_s
        if interrupted:
            os.environ["RECORD"] = "0"
        reporting.report(site, watch, taken_s, began_bytes, file)
    finish()


def _soak(site: Site, watch: Watch, faults: Sequence[Planned], ends_s: float) -> bool:
    """Inject the planned faults until the time is over. Return whether Ctrl-C ended it before."""
    began_s = time.monotonic()
    try:
        for planned in faults:
            time.sleep(max(0.0, began_s + planned.at_s - time.monotonic()))
            injected = inject(site, planned.fault, watch.observed.injected)
            comment(f"{time.strftime('%H:%M:%S')} {planned.fault}: {reporting.in_words(site, injected)}")
        time.sleep(max(_QUIET_S, ends_s - time.monotonic()))
    except KeyboardInterrupt:
        comment("interrupted: these are the figures so far")
        return True
    return False


if __name__ == "__main__":
    main()
