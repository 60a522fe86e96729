"""Ordered trials of a product, one fault or a pair at a time: `make bench-badday` (some: ONE_OF=stop-api,disk-full).

Each trial slows a path of a small mesh for three windows, injects its faults, and waits until reports are accepted and
the incident is notified. Senders keep a book of what was acknowledged; /readyz is read every second.
A run of some trials replaces their outcomes in `.tools/logs/badday.json`; the figures are those of all in it.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lab.benchmarks.figures import comment, finish, report
from lab.soak import faults, store
from lab.soak import neighbours as other
from lab.soak import product_faults as own
from lab.soak.day import Day, day
from lab.soak.fleet import WINDOW_S
from lab.soak.outages import gap_s
from lab.soak.product_faults import Disk, Lasts
from lab.soak.senders import SLOW_WINDOWS

OUTCOMES = Path(__file__).resolve().parents[3] / ".tools" / "logs" / "badday.json"
STOPPED_S, HELD_S = 90.0, 30.0
TOLD_S = 60.0
"""Time within which people are told, and in which a notice is due."""
GAP_S, LATE_S = 10.0, 30.0
"""Time without an acknowledgement, and delay of a notice, from which a fault matters to people."""
_GIVEN_UP_S = 150.0
_REPORTED_S = 5.0
"""Time after a window until it is reported and evaluated."""


@dataclass(frozen=True)
class Fault:
    """Fault of a product. `held_s`: how long it lasts, None until the end of the trial.

    `ours`: only we can end it, so that the product is asked to work from then on; else from the beginning on.
    """

    inject: Callable[[Day], AbstractContextManager[Lasts]]
    held_s: float | None = 0.0
    ours: bool = False


@dataclass
class Trial:
    """Outcome of a trial. `reports_s`: longest time without an acknowledgement; `notice_s`: until the notice, None if
    none came; `told`: whether /readyz reported a fault that mattered, None for one that did not.
    """

    name: str
    reports_s: float
    notice_s: float | None
    told: bool | None
    lost: int
    acknowledged: int
    wrong: list[str]

    @property
    def failed(self) -> bool:
        """Return whether it misses a bar."""
        late = self.notice_s is None or self.notice_s > TOLD_S or self.reports_s > TOLD_S / 2
        return late or self.told is False or self.lost > 0 or bool(self.wrong)


def _disk(part: Callable[[Disk], AbstractContextManager[Lasts]]) -> Fault:
    def inject(running: Day) -> AbstractContextManager[Lasts]:
        assert running.disk is not None
        return part(running.disk)

    return Fault(inject, HELD_S, ours=True)


def _program(part: Callable[..., AbstractContextManager[Lasts]], name: str, held_s: float, *, ours: bool) -> Fault:
    return Fault(lambda running: part(running.product, name), held_s, ours)


@contextmanager
def _sent(running: Day, part: Callable[[Day], None]) -> Iterator[Lasts]:
    part(running)
    yield lambda: False


_PROGRAMS = ("api", "worker", "watcher", "notifier", "mover", "beat", "template", "postgres", "valkey", "gateway")
_TABLES = ("incidents", "probe_frames", "meshes")
_VMS, _LINES = int(os.environ.get("NEIGHBOUR_VMS") or 1000), int(os.environ.get("LINES") or 2_200_000)
FAULTS: dict[str, Fault] = {
    "none": Fault(lambda running: own.busy(0)),
    "replace": Fault(lambda running: own.replaced(running.product)),
    **{f"kill-{name}": _program(own.killed, name, 0, ours=False) for name in _PROGRAMS},
    "kill-backend": Fault(lambda running: own.backend_killed(running.product)),
    **{f"stop-{name}": _program(own.stopped, name, STOPPED_S, ours=False) for name in _PROGRAMS},
    "stop-backends": Fault(lambda running: own.backends_stopped(running.product), STOPPED_S),
    **{f"slow-{name}": _program(own.slowed, name, HELD_S, ours=True) for name in ("api", "postgres", "watcher")},
    **{f"lock-{table}": _program(own.locked, table, HELD_S, ours=True) for table in _TABLES},
    "connections": Fault(lambda running: own.connections_used(running.product), HELD_S, ours=True),
    "disk-full": _disk(Disk.full),
    "disk-inodes": _disk(Disk.without_inodes),
    "disk-unchangeable": _disk(Disk.unchangeable),
    "disk-hanging": _disk(Disk.hanging),
    "proxy-gone": Fault(other.proxy_gone, HELD_S, ours=True),
    "certificate-expired": Fault(other.certificate_expired, HELD_S, ours=True),
    "second-instance": Fault(other.second_instance),
    "clock-ahead": Fault(other.ahead),
    "clock-late": Fault(lambda running: _sent(running, faults.clock_late)),
    "queue-full": Fault(lambda running: _sent(running, faults.queue_full), ours=True),
    "drip": Fault(lambda running: other.receiver_that(running, other.drip), None),
    "slow-receiver": Fault(lambda running: other.receiver_that(running, other.slow), None),
    "error-text": Fault(lambda running: other.receiver_that(running, other.error_text), None),
    "evaluators": Fault(lambda running: other.evaluators(running, 4), None),
    "imports": Fault(lambda running: other.imports(running, _LINES), None),
    "deletion": Fault(lambda running: other.deletion(running, 30), None),
    "busy": Fault(lambda running: own.busy(10), None),
    "many-meshes": Fault(lambda running: other.neighbours(running, 3, 50), None),
    "large-neighbour": Fault(lambda running: other.neighbours(running, _VMS, 1), None),
}
_PAIRS = (
    *("kill-postgres+kill-valkey", "kill-api+kill-postgres", "stop-postgres+kill-api", "kill-watcher+kill-beat"),
    *("disk-full+kill-api", "disk-full+kill-postgres", "disk-inodes+kill-api", "disk-unchangeable+kill-postgres"),
    *("lock-meshes+kill-watcher", "stop-valkey+kill-worker"),
    *("busy+kill-api", "busy+kill-postgres", "busy+stop-api", "busy+stop-watcher", "busy+disk-full"),
)
TRIALS = [
    *(name for name in FAULTS if name not in ("busy", "many-meshes", "large-neighbour")),
    *_PAIRS,
    *("many-meshes", "large-neighbour"),  # these last for the rest of the day
]


def run(running: Day, name: str) -> Trial:
    """Run a trial: a path is slow for three windows from the beginning of its faults."""
    vm, target = running.small.pairs[running.trials % len(running.small.pairs)]
    running.trials += 1
    start_s = (int(time.time()) // WINDOW_S + 1) * WINDOW_S
    bad_s = start_s + WINDOW_S
    running.small.slow_down(vm, target, start_s)
    running.wrong.clear()
    before = sum(len(record.acknowledged) for record in running.records().values())
    began_at = time.time()
    with ExitStack() as rest:
        over_at = inject(running, [FAULTS[part] for part in name.split("+")], rest)
        due_at, works_from = max(bad_s, over_at or 0.0), over_at or began_at
        at = _notice(running, bad_s, due_at + _GIVEN_UP_S)
        while not works(running, works_from) and time.time() < due_at + _GIVEN_UP_S:
            time.sleep(0.2)
        ended_at = time.time()
        time.sleep(max(0.0, start_s + SLOW_WINDOWS * WINDOW_S + _REPORTED_S - time.time()))
    dark_s, reports_s = (_gap_s(running, began_at, since, ended_at) for since in (began_at, works_from))
    late_s = (at or ended_at) - bad_s
    acknowledged = sum(len(record.acknowledged) for record in running.records().values())
    trial = Trial(
        name,
        round(reports_s, 1),
        None if at is None else round(at - (due_at if at > due_at else bad_s), 1),
        _told(running, began_at, bad_s, at or ended_at) if dark_s > GAP_S or late_s > LATE_S else None,
        running.newly_lost(),
        acknowledged - before,
        list(running.wrong),
    )
    statuses = sorted({status for seen, status in running.samples if seen >= began_at})
    comment(
        f"{time.strftime('%H:%M:%S')} {'FAILED' if trial.failed else 'ok'}: {trial}, {dark_s:.0f} s dark, {statuses}"
    )
    return trial


def inject(running: Day, chosen: list[Fault], rest: ExitStack) -> float | None:
    """Inject faults and wait until they are over. Return when that was for those that only we could end, else None."""
    with ExitStack() as held:
        for fault in chosen:
            if fault.held_s is None:
                rest.enter_context(fault.inject(running))
        own_ones = [fault for fault in chosen if fault.held_s is not None]
        lasting = [(fault, held.enter_context(fault.inject(running))) for fault in own_ones]
        until_s = time.monotonic() + max((fault.held_s or 0.0 for fault in own_ones), default=0.0)
        while time.monotonic() < until_s and any(lasts() for _, lasts in lasting):
            time.sleep(0.2)
    return time.time() if any(fault.ours for fault in chosen) else None


def _notice(running: Day, bad_s: float, until_at: float) -> float | None:
    """Wait for the notice of the incident. Return its time, None if none came."""
    while True:
        about = ("opened", "returned", "late")
        at = next((at for at, body in running.listener.got if at > bad_s and body["about"] in about), None)
        if at is not None or time.time() > until_at:
            return at
        time.sleep(0.2)


def works(running: Day, since: float) -> bool:
    """Return whether reports have been acknowledged since a time, and all programs are up."""
    newest = running.fleets["steady"].record.latencies[-1:]
    up = all(child["state"] == "up" for child in running.product.children().values())
    return up and any(at + taken_s > since for at, taken_s in newest)


def _gap_s(running: Day, began_at: float, since: float, ended_at: float) -> float:
    """Return the longest time without an acknowledgement after `since`, of those who report all the time."""
    steady = [fleet.record.acknowledged for name, fleet in running.fleets.items() if name != "small"]
    return max(gap_s([*acknowledged.values()], began_at, since, ended_at) for acknowledged in steady)


def _told(running: Day, began_at: float, bad_s: float, at: float) -> bool:
    """Return whether /readyz reported the fault in time, and reported nothing else while a notice was overdue."""
    soon = [status for seen, status in running.samples if began_at <= seen < began_at + TOLD_S]
    overdue = [status for seen, status in running.samples if bad_s + TOLD_S <= seen < at - 2]
    return any(status != "ready" for status in soon) and all(status != "ready" for status in overdue)


def main() -> None:
    """Run the trials, then print the figures; exit with 1 when a bar is missed."""
    wanted = [name for name in (os.environ.get("ONE_OF") or "").split(",") if name]
    is_kept = os.environ.get("RECORD") != "0"
    known = _outcomes() if wanted and is_kept else {}
    if unknown := [name for name in wanted if any(part not in FAULTS for part in name.split("+"))]:
        sys.exit(f"unknown trial: {', '.join(unknown)}; known: {', '.join(TRIALS)}")
    with day() as running:
        names = [name for name in wanted or TRIALS if running.disk or "disk" not in name]
        for name in names:
            known[name] = run(running, name)
            if is_kept:
                OUTCOMES.write_text(json.dumps({name: asdict(each) for name, each in known.items()}, indent=1))
        twice = sum(store.merged_wrongly(world)[0] for world in running.worlds.values())
    _report(list(known.values()), twice, judges_speed=is_kept or not wanted)
    if missed := [trial.name for trial in known.values() if trial.notice_s is None or trial.wrong]:
        sys.exit(f"no notice, or a wrong answer: {', '.join(missed)}")


def _report(trials: list[Trial], twice: int, *, judges_speed: bool) -> None:
    """Print the figures; `make test` may run on a machine that is too busy for times."""
    acknowledged = sum(trial.acknowledged for trial in trials)
    failed = [trial.name for trial in trials if trial.failed]
    report("badday_acknowledged_lost", sum(trial.lost for trial in trials), acknowledged=acknowledged, failed=failed)
    report("badday_stored_twice", twice)
    if judges_speed:
        report("badday_reports_back_s_p99", _p99([trial.reports_s for trial in trials]))
        report("badday_alerts_back_s_p99", _p99([trial.notice_s or _GIVEN_UP_S for trial in trials]))
        mattered = [trial.told for trial in trials if trial.told is not None]
        report("badday_told_percent", 100 * float(np.mean(mattered or [True])), mattered=len(mattered))
        report("badday_trials", len(trials))
    finish()


def _outcomes() -> dict[str, Trial]:
    """Return the outcomes of earlier runs."""
    kept = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    return {name: Trial(**each) for name, each in kept.items()}


def _p99(values: list[float]) -> float:
    return round(float(np.percentile(values, 99)), 1)


if __name__ == "__main__":
    main()
