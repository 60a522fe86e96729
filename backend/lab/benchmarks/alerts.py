"""Figures of alerts: `make bench-alerts` (other noise: SEED=2; some groups: ONLY=eval,scenarios).

eval        999,000 paths x 20 rules, one evaluation, on one core
scenarios   labelled scenarios against the default rules: recall, precision, culprit, delay, notifications
hard        weak and early faults, causes with many paths, faults among spikes: recall, incidents, onset, first notice
traces      weeks of the 18 published traces with their own events: recall, false incidents (DAYS=2 of each)
storm       a zone of 1,000 VMs fails: incidents
late        reports always late, and spikes in gaps of reporting: missed, windows later than in time (TRIALS=3 of each)
evaluators  meshes that one core evaluates (MESHES=100), and deadlocks with changes and deletions (PAIRS=2000)
webhook     a whole product watches 100 VMs: seconds from the end of a window to the webhook (WINDOWS=30 of them)
outage      a whole product watches 1,000 VMs, and a zone fails: seconds to the single notification
ends        random sequences of what happens to incidents and notices: last messages of receivers (SEQUENCES=10000)
"""

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from lab.benchmarks.alerting import ends, late
from lab.benchmarks.alerting.locks import Contention
from lab.benchmarks.alerting.stack import product, seconds_to_webhook
from lab.benchmarks.alerting.stack import storm as stack_storm
from lab.benchmarks.figures import comment, report
from lab.benchmarks.figures import run as run_groups
from lab.benchmarks.storing.product import running
from lab.incidents.events import HARMLESS, Event, mixed
from lab.incidents.hard import ONE_CAUSE, WEAK, Case, Hard, Verdict, judge_case, make_case
from lab.incidents.traces import TRACES
from lab.incidents.trial import Incident, Score, judge, judge_week, run, run_together
from lab.incidents.weeks import Week, make_week
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.rule import defaults
from sinemora.alerts.evaluation.tracking import Track, advance
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric, Statistic

SEED = int(os.environ.get("SEED") or 1)
PER_EVENT = int(os.environ.get("PER_EVENT") or 20)
DAYS = float(os.environ.get("DAYS") or 7)
VMS, ZONES = int(os.environ.get("VMS") or 1000), 3
SEQUENCES = int(os.environ.get("SEQUENCES") or 10_000)
TRIALS, MESHES, PAIRS = (
    int(os.environ.get(name) or usual) for name, usual in (("TRIALS", 3), ("MESHES", 100), ("PAIRS", 2000))
)
STACK_VMS, WINDOWS = int(os.environ.get("STACK_VMS") or 100), int(os.environ.get("WINDOWS") or 30)
# Weekend dips take as long as all others together.
FEWER = {Event.WEEKEND_DIP: 4}


class Large:
    """Windows of a mesh of 1,000 VMs."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)
        self.base = self.rng.uniform(5e4, 5e5, (VMS, VMS)).astype(np.float32)
        self.zone_of = np.sort(np.arange(VMS) % ZONES)
        self.planned = ~np.eye(VMS, dtype=bool)
        self.none = np.zeros(VMS, bool)

    def window(self, number: int, dead: np.ndarray, silent: np.ndarray) -> EvaluationWindow:
        """Return a window in which the VMs `dead` neither respond nor report."""
        touched = np.logical_or.outer(dead, dead)
        half = np.triu(np.ones((VMS, VMS), bool)) ^ (np.add.outer(np.arange(VMS), np.arange(VMS)) % 2 == 0)
        asked_by_dead = np.where(half, dead[:, None], dead[None, :])
        known: dict[tuple[Metric, Statistic], np.ndarray] = {}
        for series in series_of_rules():
            if series[0] is Metric.LOSS:
                values = np.zeros((VMS, VMS), np.float32)
                values[touched] = 1.0
                values[asked_by_dead] = np.nan
            else:
                values = self.base + self.rng.standard_normal((VMS, VMS), np.float32) * np.float32(5e3)
                values[touched] = np.nan
            np.fill_diagonal(values, np.nan)
            known[series] = values
        return EvaluationWindow(
            number * 10, 10, np.arange(VMS), self.zone_of, self.planned, lambda *series: known[series], silent
        )


def series_of_rules() -> list[tuple[Metric, Statistic]]:
    series = [(rule.condition.metric, rule.condition.statistic) for rule in defaults()]
    return list(dict.fromkeys([*series, (Metric.ONE_WAY_DELAY, Statistic.MAX), (Metric.LOSS, Statistic.MEAN)]))


def evaluation() -> None:
    large, state = Large(), EvaluationState(np.arange(VMS))
    rules = [replace(rule, id=f"{rule.id}-{number}") for rule in defaults() for number in (1, 2)]
    spent = []
    window = large.window(1, large.none, large.none)
    for number in range(1, 135):  # long enough for baselines to have data
        if number > 126:
            window = large.window(number, large.none, large.none)
        began = time.process_time()
        step(state, rules, replace(window, ended_at_s=number * 10))
        if number > 128:
            spent.append(time.process_time() - began)
    more = {"paths": VMS * (VMS - 1), "rules": len(rules), "worst": round(max(spent), 3)}
    taken = float(np.median(spent))
    report("alerts_eval_999k_x20_s", round(taken, 3), **more)


def storm() -> None:
    large, state = Large(), EvaluationState(np.arange(VMS))
    dead = large.zone_of == 1
    tracks: dict[str, Track] = {}
    most, cells = 0, 0
    for number in range(1, 16):
        gone = number > 5
        window = large.window(number, dead if gone else large.none, dead if number > 9 else large.none)
        evaluation = step(state, defaults(), window)
        for change in advance(list(tracks.values()), evaluation.detections, large.zone_of, number * 10, 10):
            tracks[change.track.id] = change.track
        most, cells = max(most, len(tracks)), max(cells, evaluation.firing)
    report("alerts_storm_incidents", most, paths_firing=cells)


def scenarios() -> None:
    counts = {event: FEWER.get(event, PER_EVENT) for event in Event}
    scores: dict[Event, list[Score]] = defaultdict(list)
    shown = 0
    for scenario in mixed(counts, SEED):
        found = run(scenario.mesh, scenario.windows, defaults(scenario.mesh.window_s))
        score = judge(scenario, found)
        scores[scenario.truth.event].append(score)
        shown += len({incident.id for incident in found})
        if scenario.truth.event not in HARMLESS and (not score.detected or not score.right or score.wrong):
            comment(f"{scenario.truth} detected {score.detected} right {score.right} wrong {score.wrong}")
    every = [score for of_event in scores.values() for score in of_event]
    events = sum(score.detected is not None for score in every)
    detected, right = (sum(bool(getattr(score, name)) for score in every) for name in ("detected", "right"))
    incidents, wrong, notified = (
        sum(getattr(score, name) for score in every) for name in ("incidents", "wrong", "notified")
    )
    delays = [score.windows for score in every if score.windows is not None]
    more = {"scenarios": sum(counts.values()), "seed": SEED}
    report("alerts_recall", round(detected / events, 4), **more)
    report("alerts_precision", round((incidents - wrong) / max(incidents, 1), 4), **more)
    report("alerts_culprit_accuracy", round(right / max(detected, 1), 4), **more)
    report("alerts_detection_windows_p50", float(np.percentile(delays, 50)), **more)
    report("alerts_detection_windows_p90", float(np.percentile(delays, 90)), **more)
    each = round(notified / max(shown, 1), 3)
    report("alerts_notifications_per_incident", each, **more)


def hard() -> None:
    """Put the hard cases to the rules, one process a processor."""
    verdicts: dict[Hard, list[Verdict]] = {}
    with ProcessPoolExecutor(os.cpu_count() or 1) as pool:
        for kind, of_kind in zip(Hard, pool.map(_hard, Hard), strict=True):
            verdicts[kind] = of_kind
            comment(f"{kind}: {of_kind}")
    more = {"cases": PER_EVENT * len(Hard), "seed": SEED}
    every = [one for of_kind in verdicts.values() for one in of_kind]
    weak, one_cause = ([one for kind in kinds for one in verdicts[kind]] for kinds in (WEAK, ONE_CAUSE))
    seen = {str(kind): sum(one.windows is not None for one in of_kind) for kind, of_kind in verdicts.items()}
    report("alerts_weak_recall", round(float(np.mean([one.windows is not None for one in weak])), 4), seen=seen, **more)
    early = [9999 if one.windows is None else one.windows for one in verdicts[Hard.EARLY]]
    report("alerts_early_detection_windows_p90", float(np.percentile(early, 90)), **more)
    number = [one.incidents for one in one_cause]
    report("alerts_incidents_per_cause_p90", float(np.percentile(number, 90)), worst=max(number), **more)
    errors = [one.onset_error for one in every if one.onset_error is not None]
    report("alerts_onset_error_windows_p90", float(np.percentile(errors, 90)), worst=max(errors), **more)
    told_s = [9999 if one.told_s is None else one.told_s for one in every if one.windows is not None]
    report("alerts_true_incident_told_s_p99", float(np.percentile(told_s, 99)), worst=max(told_s), **more)


def _hard(kind: Hard) -> list[Verdict]:
    """Return the verdicts of all cases of a kind, a few at once: those of hours take much memory."""
    verdicts: list[Verdict] = []
    for first in range(0, PER_EVENT, 5):
        cases: list[Case] = [make_case(kind, SEED + number) for number in range(first, min(first + 5, PER_EVENT))]
        found = run_together([one.mesh for one in cases], [one.windows for one in cases], defaults())
        verdicts += [judge_case(case, incidents) for case, (incidents, _) in zip(cases, found, strict=True)]
    return verdicts


@dataclass(frozen=True, slots=True)
class WeekResult:
    """Own events of a trace (timescale, whether detected), false incidents, notices a week with ends, and a comment."""

    events: list[tuple[str, bool]]
    false: int
    a_week: float
    text: str


def _weeks(numbers: Sequence[int]) -> list[WeekResult]:
    """Return the results of some traces, which are evaluated together."""
    weeks = [make_week(TRACES[number], np.random.default_rng([SEED, number]), DAYS) for number in numbers]
    meshes, windows = [week.mesh for week in weeks], [week.windows for week in weeks]
    found = run_together(meshes, windows, defaults(meshes[0].window_s))
    return [_judged(week, incidents, sent) for week, (incidents, sent) in zip(weeks, found, strict=True)]


def _judged(week: Week, incidents: list[Incident], sent: int) -> WeekResult:
    score = judge_week(week, incidents)
    lasted_s = week.windows.median_ns.shape[0] * week.mesh.window_s
    shown, weeks = len({incident.id for incident in incidents}), lasted_s / (7 * 86_400)
    events = [(event.timescale.value, found) for event, found in zip(score.events, score.detected, strict=True)]
    false = [(incident.opened, incident.first, incident.rules) for incident in score.false[:4]]
    text = f"{len(events)} events, {sum(found for _, found in events)} detected; seen {len(incidents)} times"
    text += f", {shown} incidents ({shown / weeks:.0f} a week), {sent / weeks:.0f} notifications a week"
    text += f", {len(score.false)} false {false}"
    return WeekResult(events, len(score.false), sent / weeks, f"{week.mesh.trace.name}: {text}")


def own_events() -> None:
    """Put the 18 published traces with their own events to the rules, one process a processor."""
    events: list[tuple[str, bool]] = []
    false, a_week = 0, []
    processes = os.cpu_count() or 1
    with ProcessPoolExecutor(processes) as pool:
        groups = [range(first, len(TRACES), processes) for first in range(processes)]
        results = {
            number: result
            for numbers, of_group in zip(groups, pool.map(_weeks, groups), strict=True)
            for number, result in zip(numbers, of_group, strict=True)
        }
    for _, result in sorted(results.items()):
        comment(result.text)
        a_week.append(result.a_week)
        events += result.events
        false += result.false
    more = {"traces": len(TRACES), "days": DAYS, "seed": SEED}
    shares = {
        f"recall_{name}": round(float(np.mean([found for timescale, found in events if timescale == name])), 4)
        for name in ("long", "short")
        if any(timescale == name for timescale, _ in events)
    }
    recall = round(float(np.mean([found for _, found in events])), 4)
    report("alerts_recall_own_events", recall, events=len(events), **shares, **more)
    weeks = len(TRACES) * DAYS / 7
    report("alerts_false_incidents_per_mesh_week", round(false / weeks, 2), paths=72, **more)
    usual = round(float(np.median(a_week)), 1)
    report("alerts_notifications_per_mesh_week_worst", round(max(a_week), 1), median=usual, paths=72, **more)


def webhook() -> None:
    with product() as (stack, listener):
        spent = seconds_to_webhook(stack, listener, STACK_VMS, WINDOWS, SEED)
    more = {"vms": STACK_VMS, "notifications": len(spent), "seed": SEED}
    p50, p99 = np.percentile(spent, (50, 99)).round(2).tolist()
    report("alerts_window_to_webhook_p99_s", p99, p50=p50, worst=round(max(spent), 2), **more)


def outage() -> None:
    with product() as (stack, listener):
        notified_s, paths = stack_storm(stack, listener, VMS, SEED)
    if not notified_s:
        sys.exit("no notification of the failed zone arrived")
    report("alerts_storm_s", round(notified_s[0], 2), vms=VMS, paths=paths)
    report("alerts_storm_notifications", len(notified_s), vms=VMS)


def told_of_ends() -> None:
    counts: Counter[str] = Counter()
    parts = -(-SEQUENCES // 250)
    with running(), ProcessPoolExecutor(os.cpu_count() or 1) as pool:
        for counted in pool.map(ends.run, range(SEED, SEED + parts), [-(-SEQUENCES // parts)] * parts):
            counts += counted
            comment(str(dict(counts)))
    more = {"sequences": counts["sequences"], "incidents": counts["incidents"], "seed": SEED}
    report("alerts_last_message_wrong", counts["last message wrong"] + counts["sent after the end"], **more)
    report("alerts_open_without_subject", counts["open without subject"], **more)


def lateness() -> None:
    found = {
        (late_s, window_s): [late.extra_windows(late_s, window_s, SEED + number) for number in range(TRIALS)]
        for late_s in (0, 5, 15, 30, 60)
        for window_s in (5, 10, 60)
    }
    trials = [one for each in found.values() for one in each]
    for (late_s, window_s), each in found.items():
        comment(
            f"{late_s:2} s late, windows of {window_s:2} s: {[None if one is None else round(one, 2) for one in each]}"
        )
    extra = [one for one in trials if one is not None]
    more = {"trials": len(trials), "seed": SEED}
    report("alerts_late_missed", len(trials) - len(extra), **more)
    report(
        "alerts_late_extra_windows_p90", round(float(np.percentile(extra, 90)), 2), worst=round(max(extra), 2), **more
    )
    with running() as stack:
        gaps = [(gap_s, whole) for gap_s in (10, 30, 60, 100, 160, 200, 300, 600) for whole in (True, False)]
        missed = [gap for gap in gaps if late.gap_spike_missed(stack, gap[0], SEED, whole=gap[1])]
    for gap_s, whole in missed:
        comment(f"missed: a spike in a gap of {gap_s} s of {'the mesh' if whole else 'one agent'}")
    report("alerts_gap_spikes_missed", len(missed), gaps=len(gaps), seed=SEED)


def evaluators() -> None:
    with running() as stack:
        meshes, database = late.meshes_per_core(stack, MESHES, 6)
        more = {"meshes": MESHES, "vms": 10, "database_share": round(database, 2)}
        report("alerts_meshes_per_core_window", round(meshes), **more)
        worlds = [stack.world(f"locks-{number}", 3).mesh_id for number in range(40)]
        contention = Contention(
            lambda method, path, body: stack.call(method, path, body, "*")[0], stack.tenant_id, worlds, SEED
        )
        deadlocks = contention.run(PAIRS)
        statuses = {str(status): count for status, count in sorted(contention.statuses.items())}
        report("alerts_deadlocks", deadlocks, pairs=PAIRS, statuses=statuses, seed=SEED)


GROUPS = {
    "late": lateness,
    "evaluators": evaluators,
    "ends": told_of_ends,
    "webhook": webhook,
    "outage": outage,
    "eval": evaluation,
    "storm": storm,
    "scenarios": scenarios,
    "hard": hard,
    "traces": own_events,
}

if __name__ == "__main__":
    run_groups(GROUPS)
